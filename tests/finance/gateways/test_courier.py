"""What is to be told reaches whoever listens, also while one of them takes their time."""

import asyncio

from admitone.finance.gateways.sandbox.courier import AT_ONCE, Courier
from tests.finance.gateways.builders import a_charge_order, a_sandbox
from tests.peer import read_request, send

PATIENCE_SECONDS = 30


async def test_one_that_is_slow_to_listen_keeps_nothing_else_waiting():
    simulator, gateway = a_sandbox()
    for _ in range(2 * AT_ONCE):
        await gateway.open_charge(a_charge_order())
    heard: set[bytes] = set()
    given_up = asyncio.Event()

    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while request := await read_request(reader):
            heard.add(request.body)
            if len(heard) == 1:
                await reader.read(1)  # Until the courier gives it up.
                given_up.set()
                break
            await send(writer, b"{}")
        writer.close()

    server = await asyncio.start_server(listen, "127.0.0.1", 0)
    courier = Courier(simulator, f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
    running = asyncio.create_task(courier.run())
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            while simulator.journal.count_deliveries() > 1:  # noqa: ASYNC110  Elsewhere.
                await asyncio.sleep(0.01)
        assert len(heard) == 2 * AT_ONCE
        assert not given_up.is_set()
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        server.close()
