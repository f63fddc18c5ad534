"""Providers of PIX that lose, break and do not answer, and what their adapters make of it; bad luck at one of them is
nobody else's (FUN-046)."""

from collections.abc import AsyncIterator

import pytest

from admitone.finance.gateways.api import Charge, NotSent, Refund, Refused, Unknown
from admitone.finance.gateways.pix import read
from admitone.finance.gateways.sandbox.gateway import SandboxGateway
from admitone.kernel.breaker import Dependency, DependencyUnavailable
from admitone.kernel.db import Database, Tx
from admitone.kernel.outbound import Answer, CallInsideTransaction
from admitone.kernel.scope import Caller
from tests.builders import an_organization
from tests.desk import free_port
from tests.finance.gateways.builders import KEYS, a_charge_order, a_refund_order, sure
from tests.finance.gateways.pix_peer import Fault
from tests.finance.gateways.pix_stage import STAGES, PixStage
from tests.finance.gateways.stage import an_order, facts_of, paid


@pytest.fixture(params=STAGES)
async def stage(request: pytest.FixtureRequest, database: Database) -> AsyncIterator[PixStage]:
    async with STAGES[request.param](database) as stage:
        yield stage


@pytest.mark.parametrize(
    ("fault", "acted"),
    [
        (Fault.LOST, 1),
        (Fault.ERROR_BEFORE, 0),
        (Fault.ERROR_AFTER, 1),
        (Fault.BUSY, 0),
        (Fault.KEY_IN_USE, 0),
        (Fault.GARBLED, 1),
    ],
)
async def test_what_may_have_been_done_is_unknown_and_found_by_its_order(stage: PixStage, fault: Fault, acted: int):
    order = an_order(stage)
    stage.peer.faults = [fault]
    sure(Unknown, await stage.gateway.open_charge(order))
    assert len(stage.peer.charges) == acted
    found = await stage.gateway.find_ordered(order)
    assert (found is not None) == bool(acted)
    again = sure(Charge, await stage.gateway.open_charge(order))
    assert found in (None, again)
    assert len(stage.peer.charges) == 1


@pytest.mark.parametrize("fault", [Fault.LOST, Fault.ERROR_AFTER, Fault.GARBLED])
async def test_a_refund_whose_answer_is_lost_is_made_once(stage: PixStage, fault: Fault):
    order, charge = await paid(stage)
    refund = a_refund_order(order, charge, 2_000)
    stage.peer.faults = [fault]
    sure(Unknown, await stage.gateway.refund(refund))
    made = sure(Refund, await stage.gateway.refund(refund))
    assert await stage.gateway.find_refund(refund) in (made, None)
    assert (await facts_of(stage, charge))[-1].total_minor == 2_000


async def test_a_refund_that_is_made_and_cannot_be_shown_is_not_called_unsent(stage: PixStage):
    order, charge = await paid(stage)
    refund = a_refund_order(order, charge, 2_000)
    stage.peer.faults = [Fault.NONE, Fault.BUSY]
    sure(Unknown, await stage.gateway.refund(refund))
    assert stage.peer.charges[charge.id].given_back == 2_000


@pytest.mark.parametrize("fault", [Fault.BUSY, Fault.ERROR_BEFORE, Fault.LOST, Fault.GARBLED])
async def test_who_could_not_ask_was_not_told_that_there_is_nothing(stage: PixStage, fault: Fault):
    order, charge = await paid(stage)
    for look in (lambda: stage.gateway.find_charge(Caller(), charge.id), lambda: stage.gateway.find_ordered(order)):
        for before in range(2):
            stage.peer.faults = [Fault.NONE] * before + [fault]
            sure(Unknown, await look())


async def test_who_is_not_there_was_sent_nothing(stage: PixStage):
    gateway = stage.peer.gateway(stage.outbound, url=f"http://127.0.0.1:{free_port()}")
    order, charge = await paid(stage)
    sure(NotSent, await gateway.open_charge(an_order(stage)))
    sure(NotSent, await gateway.find_charge(Caller(), charge.id))
    sure(NotSent, await gateway.refund(a_refund_order(order, charge, 100)))


@pytest.mark.covers("FUN-046")
async def test_five_failures_open_its_breaker_and_refusals_do_not(stage: PixStage, database: Database):
    order, charge = await paid(stage)
    for _ in range(6):
        sure(Refused, await stage.gateway.refund(a_refund_order(order, charge, 5_001)))
    stage.peer.faults = [Fault.ERROR_BEFORE] * 5
    for _ in range(5):
        sure(Unknown, await stage.gateway.find_charge(Caller(), charge.id))
    asked = len(stage.peer.received)
    stopped = sure(NotSent, await stage.gateway.find_charge(Caller(), charge.id))
    assert isinstance(stopped.refusal, DependencyUnavailable)
    assert len(stage.peer.received) == asked
    [other] = [open_stage for name, open_stage in STAGES.items() if name != stage.gateway.provider]
    async with other(database) as beside:
        # The same way out: what is broken is one provider, not the way.
        gateway = beside.peer.gateway(stage.outbound)
        sure(Charge, await gateway.open_charge(an_order(beside)))


async def test_no_call_is_made_while_a_transaction_is_open(stage: PixStage, database: Database):
    scope = await an_organization(database)

    async def call_inside(_: Tx) -> None:
        await stage.gateway.open_charge(an_order(stage))

    with pytest.raises(CallInsideTransaction):
        await database.run(scope, call_inside)


async def test_a_key_that_is_not_right_refuses_nobodys_order(stage: PixStage, monkeypatch: pytest.MonkeyPatch):
    """Whoever rolled it will set it; until then everything waits: no payment fails, and no refund is given up."""
    order, charge = await paid(stage)
    monkeypatch.setattr(f"tests.finance.gateways.{stage.gateway.provider}.peer.TOKEN", "another", raising=False)
    monkeypatch.setattr(f"tests.finance.gateways.{stage.gateway.provider}.peer.APP_ID", "another", raising=False)
    for said in (
        await stage.gateway.open_charge(an_order(stage)),
        await stage.gateway.find_charge(Caller(), charge.id),
        await stage.gateway.refund(a_refund_order(order, charge, 2_000)),
    ):
        assert sure(NotSent, said).refusal.retryable


@pytest.mark.covers("FUN-041")
@pytest.mark.parametrize("status", [302, 408, 409, 423, 424, 425, 429, 500, 503])
def test_what_says_neither_yes_nor_no_is_unknown(status: int):
    said = read(Answer(status, {}, b'{"message": "later", "error": "later"}'), dict, Dependency("pix"))
    sure(Unknown, said)


@pytest.mark.covers("FUN-046")
async def test_the_sandbox_that_breaks_opens_its_breaker_too(stage: PixStage):
    """Its name is one that the breaker can keep."""
    gateway = SandboxGateway.over_http(KEYS, stage.peer.url, stage.outbound)
    stage.peer.faults = [Fault.ERROR_BEFORE] * 5
    for _ in range(5):
        sure(Unknown, await gateway.open_charge(a_charge_order()))
    sure(NotSent, await gateway.open_charge(a_charge_order()))
