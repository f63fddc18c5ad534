"""What comes of a call to Stripe, whatever becomes of it on the way."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import pytest
import stripe

from admitone.finance.gateways.api import Charge, NotSent, Refused, Unknown
from admitone.finance.gateways.stripe.gateway import StripeGateway
from admitone.finance.gateways.stripe.keys import Keys
from admitone.finance.gateways.stripe.way import STRIPE
from admitone.kernel.breaker import DependencyUnavailable
from admitone.kernel.db import Database
from admitone.kernel.ids import OrganizationId
from admitone.kernel.outbound import CallInsideTransaction, DependencyUnreachable, Outbound
from admitone.kernel.scope import Caller, Scope
from tests.desk import free_port
from tests.finance.gateways.builders import (
    a_charge_order,
    a_hand_on_order,
    a_payout_order,
    a_pix_order,
    a_refund_order,
    a_reversal_order,
    an_account_order,
    an_evidence_order,
    kinds,
    sure,
)
from tests.finance.gateways.stripe.stages import KEYS, StripeStage
from tests.peer import read_request, send


def asking(gateway: StripeGateway) -> list[Callable[[], Awaitable[Any]]]:
    """Everything that can be asked."""
    order = a_charge_order(return_url="http://127.0.0.1:8000/back")
    payout = a_payout_order("acct_1", OrganizationId.new())
    return [
        lambda: gateway.open_charge(order),
        lambda: gateway.open_charge(a_charge_order()),
        lambda: gateway.open_charge(a_pix_order()),
        lambda: gateway.find_charge(Caller(), "pi_1"),
        lambda: gateway.find_charge(Caller(), "cs_1"),
        lambda: gateway.find_ordered(order),
        lambda: gateway.cancel_charge(Caller(), "pi_1"),
        lambda: gateway.cancel_charge(Caller(), "cs_1"),
        lambda: gateway.refund(_refund("pi_1")),
        lambda: gateway.find_refund(_refund("cs_1")),
        lambda: gateway.take_back(a_reversal_order(order, type("Opened", (), {"id": "pi_1"})(), "dp_1")),
        lambda: gateway.hand_on(a_hand_on_order(order, type("Opened", (), {"id": "pi_1"})(), "re_1")),
        lambda: gateway.find_dispute(Caller(), "dp_1"),
        lambda: gateway.answer_dispute(an_evidence_order(order, "dp_1")),
        lambda: gateway.open_account(an_account_order()),
        lambda: gateway.link_account(Caller(), "acct_1", "http://127.0.0.1:8000/back"),
        lambda: gateway.find_account(Caller(), "acct_1"),
        lambda: gateway.pay_out(payout),
        lambda: gateway.find_payout(payout),
        lambda: gateway.list_events(Caller(), None, datetime.now(UTC)),
        lambda: gateway.list_events(Caller(), "evt_1", datetime.now(UTC)),
        lambda: gateway.list_movements(Caller(), OrganizationId.new(), None),
    ]


def _refund(charge: str) -> Any:
    return a_refund_order(a_charge_order(), type("Opened", (), {"id": charge})(), 100)


@asynccontextmanager
async def answering(outbound: Outbound, status: int, body: bytes, *headers: str) -> AsyncIterator[StripeGateway]:
    """Somebody who says the same to everything."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await read_request(reader):
            await send(writer, body, *headers, status=status)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield StripeGateway(KEYS, f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", outbound)
    finally:
        server.close()


# -- Which trouble it is


@pytest.mark.covers("FUN-041")
@pytest.mark.parametrize(
    ("fate", "trouble"),
    [("lost", Unknown), ("gone", Unknown), ("error_before", Unknown), ("error_after", Unknown), ("in_use", Unknown)],
)
async def test_what_may_have_been_done_is_unknown(stage: StripeStage, fate: str, trouble: type[Any]):
    stage.peer.script = [fate]
    assert isinstance(await stage.gateway.open_charge(a_charge_order()), trouble)


@pytest.mark.parametrize("fate", ["lost", "error_after"])
async def test_an_unknown_outcome_is_found_by_its_order(stage: StripeStage, fate: str):
    order = a_charge_order()
    stage.peer.script = [fate]
    sure(Unknown, await stage.gateway.open_charge(order))
    found = sure(Charge, await stage.gateway.find_ordered(order))
    assert kinds(found) == ["PENDING"]
    assert len(stage.peer.simulator.list_newest(type(stage.peer.simulator.get(found.id)))) == 1


@pytest.mark.covers("PAY-042")
@pytest.mark.parametrize("fate", ["lost", "gone", "busy", "error_before", "in_use"])
async def test_repeated_under_its_key_an_order_is_done_once(stage: StripeStage, fate: str):
    """Also while the search that would find it is behind; and of a session, which it never finds before it is tried."""
    order = a_charge_order(return_url="http://127.0.0.1:8000/back")
    stage.peer.script = [fate]
    assert not isinstance(await stage.gateway.open_charge(order), Charge)
    assert await stage.gateway.find_ordered(order) is None
    first = sure(Charge, await stage.gateway.open_charge(order))
    assert sure(Charge, await stage.gateway.open_charge(order)) == first
    keys = {headers["idempotency-key"] for verb, _, headers, _ in stage.peer.received if verb == "POST"}
    assert keys == {str(order.key)}


async def test_too_many_at_once_were_never_looked_at(stage: StripeStage):
    stage.peer.script = ["busy"]
    said = sure(NotSent, await stage.gateway.open_charge(a_charge_order()))
    assert isinstance(said.refusal, DependencyUnavailable)
    assert said.refusal.retryable


@pytest.mark.parametrize("status", [401, 429])
@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ((), 1),
        (("Retry-After: 0",), 1),
        (("Retry-After: 7",), 7),
        (("Retry-After: 86400",), 300),
        (("Retry-After: -5",), 1),
        (("Retry-After: soon",), 1),
        (("Retry-After: Mon, 16 Nov 2026 10:00:42 GMT", "Date: Mon, 16 Nov 2026 10:00:00 GMT"), 42),
        (("Retry-After: Mon, 16 Nov 2026 09:00:00 GMT", "Date: Mon, 16 Nov 2026 10:00:00 GMT"), 1),
    ],
    ids=str,
)
async def test_who_is_told_when_to_come_again_comes_then(
    outbound: Outbound, status: int, headers: tuple[str, ...], seconds: int
):
    async with answering(outbound, status, b'{"error": {"code": "rate_limit"}}', *headers) as gateway:
        said = sure(NotSent, await gateway.open_charge(a_charge_order()))
    assert isinstance(said.refusal, DependencyUnavailable)
    assert said.refusal.retry_after_seconds == seconds


async def test_where_nobody_listens_nothing_was_sent(outbound: Outbound):
    gateway = StripeGateway(KEYS, f"http://127.0.0.1:{free_port()}", outbound)
    said = sure(NotSent, await gateway.open_charge(a_charge_order()))
    assert isinstance(said.refusal, DependencyUnreachable)


@pytest.mark.covers("FUN-046", "FUN-040")
async def test_what_stripe_refuses_never_opens_its_breaker(stage: StripeStage):
    for _ in range(7):
        assert sure(Refused, await stage.gateway.open_charge(a_charge_order(amount_minor=0))).code
    sure(Charge, await stage.gateway.open_charge(a_charge_order()))


@pytest.mark.covers("FUN-044", "FUN-046")
async def test_who_keeps_failing_is_left_alone(stage: StripeStage, outbound: Outbound):
    assert STRIPE.name == "stripe"
    stage.peer.script = ["error_before"] * 5
    for _ in range(5):
        sure(Unknown, await stage.gateway.open_charge(a_charge_order()))
    asked = len(stage.peer.received)
    said = sure(NotSent, await stage.gateway.open_charge(a_charge_order()))
    assert isinstance(said.refusal, DependencyUnavailable)
    assert len(stage.peer.received) == asked, "nothing was sent"


async def test_a_key_that_is_not_right_refuses_nobodys_order(stage: StripeStage, outbound: Outbound):
    """Whoever rolled it will set it; until then everything waits, and nothing is closed or given up."""
    gateway = StripeGateway(Keys("sk_test_of_somebody_else", "whsec_a", "whsec_b"), stage.peer.url, outbound)
    sure(NotSent, await gateway.open_charge(a_charge_order()))
    sure(NotSent, await gateway.refund(_refund("pi_1")))
    sure(NotSent, await gateway.find_charge(Caller(), "pi_1"))


async def test_a_refusal_repeats_nothing_that_people_wrote(outbound: Outbound):
    said = (
        b'{"error": {"type": "invalid_request_error", "param": "email", "message": "Invalid email: ana@example.org"}}'
    )
    async with answering(outbound, 400, said) as gateway:
        refused = sure(Refused, await gateway.open_account(an_account_order()))
    assert refused == Refused("invalid_request_error", "email")


async def test_nothing_is_asked_while_a_transaction_is_open(stage: StripeStage, database: Database):
    async def inside(tx: Any) -> None:
        await stage.gateway.find_charge(Caller(), "pi_1")

    with pytest.raises(CallInsideTransaction):
        await database.run(Scope(OrganizationId.new(), "a test"), inside)


# -- Whatever is answered, nothing is raised


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"null", b"[]", b'"pi_1"', b"{}", b'{"id": 1}', b'{"object": ["list"]}', b"\xff\xfe", b'{"data": [1]}'],
)
async def test_an_answer_that_cannot_be_read_is_unknown(outbound: Outbound, body: bytes):
    async with answering(outbound, 200, body) as gateway:
        for ask in asking(gateway):
            assert isinstance(await ask(), Unknown)


@pytest.mark.parametrize(
    ("status", "body", "trouble"),
    [
        (400, b'{"error": 5}', Unknown),
        (400, b'{"error": "invalid_client"}', Unknown),
        (403, b"<html>a proxy</html>", Unknown),
        (418, b'{"error": {"type": "teapot"}}', Refused),
        (302, b"", Unknown),
        (503, b'{"error": {"code": "resource_missing"}}', Unknown),
        (409, b'{"error": {"type": "idempotency_error", "code": "idempotency_key_in_use"}}', Unknown),
        (424, b'{"error": {"type": "api_error", "message": "somebody else did not answer"}}', Unknown),
        (408, b'{"error": {"type": "api_error"}}', Unknown),
        (429, b'{"error": {"code": "lock_timeout"}}', NotSent),
    ],
)
async def test_whatever_is_answered_is_trouble_and_nothing_is_raised(
    outbound: Outbound, status: int, body: bytes, trouble: type[Any]
):
    async with answering(outbound, status, body) as gateway:
        for ask in asking(gateway):
            said = await ask()
            assert isinstance(said, trouble if status < 500 else Unknown | NotSent), said


async def test_what_is_not_there_is_nothing_or_refused(outbound: Outbound):
    said = b'{"error": {"type": "invalid_request_error", "code": "resource_missing", "message": "No such thing"}}'
    async with answering(outbound, 404, said) as gateway:
        assert await gateway.find_charge(Caller(), "pi_1") is None
        assert await gateway.find_charge(Caller(), "cs_1") is None
        assert await gateway.find_dispute(Caller(), "dp_1") is None
        assert await gateway.find_account(Caller(), "acct_1") is None
        assert await gateway.find_refund(_refund("pi_1")) is None
        for refused in (
            await gateway.cancel_charge(Caller(), "pi_1"),
            await gateway.cancel_charge(Caller(), "cs_1"),
            await gateway.refund(_refund("pi_1")),
            await gateway.refund(_refund("cs_1")),
        ):
            assert sure(Refused, refused).code == "resource_missing"


# -- The SDK


def test_the_sdk_tells_nobody_anything(tmp_path: Any, capfd: pytest.CaptureFixture[str]):
    assert stripe.enable_telemetry is False
    assert not logging.getLogger("stripe").isEnabledFor(logging.ERROR)
    stripe._util.log_info("a whole request", body="card")
    assert capfd.readouterr() == ("", "")


async def test_the_sdk_repeats_nothing_by_itself(stage: StripeStage):
    for fate in ("in_use", "error_before", "gone"):
        stage.peer.script, before = [fate], len(stage.peer.received)
        await stage.gateway.open_charge(a_charge_order())
        assert len(stage.peer.received) - before <= 1
        assert stage.peer.script == []
