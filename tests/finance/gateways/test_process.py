"""`admitone sandbox`: a provider that loses its answers and its life, and has what it said it had."""

import asyncio
import os
import signal
from pathlib import Path

import pytest

from admitone.entrypoints.asking import Misunderstood
from admitone.entrypoints.sandbox import sandbox
from admitone.finance.gateways.api import Charge, Unknown
from admitone.finance.gateways.sandbox.gateway import SandboxGateway
from admitone.kernel.batch import Batcher
from admitone.kernel.breaker import Breakers, Dependency
from admitone.kernel.ids import uuid7
from admitone.kernel.outbound import Outbound, Outcome, Request
from admitone.kernel.scope import Caller
from admitone.kernel.telemetry import Metrics
from tests.desk import free_port
from tests.finance.gateways.builders import a_charge_order, sure
from tests.finance.gateways.stages import HTTP_KEYS, PATIENCE_SECONDS, a_client, a_listener, a_sandbox_process
from tests.peer import read_request, send


def reached(outbound: Outbound, port: int) -> SandboxGateway:
    """Through a breaker of its own: what goes wrong here is nobody else's trouble."""
    dependency = Dependency(f"test_{uuid7().hex}", failures=1_000)

    async def send(request: Request, caller: Caller) -> Outcome:
        return await outbound.call(dependency, request, caller)

    return SandboxGateway(HTTP_KEYS, f"http://127.0.0.1:{port}", send)


async def test_a_provider_that_loses_its_answers_and_is_killed_still_has_each_charge_once(
    batcher: Batcher, tmp_path: Path
):
    home, orders = tmp_path / "home", [a_charge_order() for _ in range(5)]
    async with a_listener() as (listener, _), Outbound(Breakers(batcher, Metrics()), Metrics()) as outbound:
        async with a_sandbox_process(home, "--faults", "lost=10000", listener=listener) as (port, process):
            gateway = reached(outbound, port)
            for order in orders:
                sure(Unknown, await gateway.open_charge(order))
            os.kill(process.pid, signal.SIGKILL)
        async with a_sandbox_process(home, listener=listener) as (port, _):
            gateway = reached(outbound, port)
            found = [sure(Charge, await gateway.find_ordered(order)) for order in orders]
            assert [await gateway.open_charge(order) for order in orders] == found
            assert len({charge.id for charge in found}) == 5


async def test_it_tells_what_happens_until_somebody_listens(tmp_path: Path, batcher: Batcher):
    nobody = free_port()
    async with (
        a_sandbox_process(tmp_path / "home", "--fees-after", "0", listener=nobody) as (port, process),
        Outbound(Breakers(batcher, Metrics()), Metrics()) as outbound,
        a_client(port) as client,
    ):
        gateway = reached(outbound, port)
        charge = sure(Charge, await gateway.open_charge(a_charge_order()))
        await client.post(f"/v1/test_helpers/{charge.id}/pay")
        await asyncio.sleep(0.5)
        heard: list[bytes] = []

        async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            while request := await read_request(reader):
                heard.append(request.body)
                await send(writer, b"{}")
            writer.close()

        server = await asyncio.start_server(listen, "127.0.0.1", nobody)
        async with asyncio.timeout(PATIENCE_SECONDS):
            while len({gateway.read(body, "sandbox").envelope.type for body in heard}) < 3:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        assert {gateway.read(body, "sandbox").envelope.type for body in heard} == {
            "payment_intent.created",
            "payment_intent.succeeded",
            "balance.available",
        }
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE_SECONDS) == 0
        server.close()


def test_faults_that_do_not_exist_are_refused_in_a_sentence(tmp_path: Path):
    with pytest.raises(Misunderstood, match="'lots=1' is no fault; there are"):
        sandbox(faults="lots=1", data=tmp_path / "home")
