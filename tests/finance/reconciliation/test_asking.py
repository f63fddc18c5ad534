"""What a provider moved for a payment that we know, and we do not have, is asked for before anybody is woken."""

import asyncpg
import pytest

from admitone.finance.gateways.api import MovementKind
from admitone.finance.ledger.api import Event
from admitone.finance.payments.model import FeesStatus, Status
from admitone.finance.sources.api import PaymentId
from tests.finance.lives import FEES, PAY, live
from tests.finance.reconciliation.books import AN_HOUR, Sides

FEES_POSTED = """
    SELECT entry_type, amount_minor FROM ledger.transfer
     WHERE organization_id = $1 AND entry_type LIKE 'PROCESSOR_FEES%' ORDER BY id
"""


@pytest.mark.covers("FIN-043")
async def test_a_lost_webhook_is_made_up_for_and_no_issue(sides: Sides, superuser: asyncpg.Connection):
    payment, charge = await sides.world.opened(sides.world.shop.sells(sides.world.buyer.identity, 5000))
    sides.world.simulator.act("pay", charge)
    run = await sides.run()
    assert (await sides.world.payment(payment)).status is Status.SUCCEEDED
    assert await sides.open() == set()
    assert (run.counts["ASKED"], run.counts["MISSING_HERE"]) == (1, 0)
    assert await sides.alerts(superuser) == []
    again = await sides.run(later=AN_HOUR)
    assert (again.counts["MATCHED"], again.counts["ASKED"]) == (2, 0)


@pytest.mark.covers("FIN-042")
async def test_fees_that_nobody_told_are_final_after_a_run_and_adjusted_after_another(
    sides: Sides, superuser: asyncpg.Connection
):
    own, world = sides.world.organization.uuid, sides.world
    payment = await live(world, (PAY,))
    charge = (await world.payment(payment)).charge_id
    assert (await world.payment(payment)).processor_fees_status is FeesStatus.PENDING
    world.simulator.act("tell_fees", charge)
    await sides.run()
    after = await world.payment(payment)
    assert (after.processor_fees_status, after.processor_fees_actual) == (FeesStatus.FINAL, 100)
    await sides.run()
    assert [tuple(row) for row in await superuser.fetch(FEES_POSTED, own)] == [("PROCESSOR_FEES_FINAL", 100)]
    world.simulator.act("adjust_fee", charge, amount=7)
    await sides.run()
    posted = [tuple(row) for row in await superuser.fetch(FEES_POSTED, own)]
    assert posted == [("PROCESSOR_FEES_FINAL", 100), ("PROCESSOR_FEES_ADJUSTMENT", 7)]
    assert await sides.open() == set()


async def test_what_the_answer_does_not_bring_is_an_issue(sides: Sides):
    """The provider's books have what its charge does not tell of."""
    payment = await live(sides.world, (PAY, FEES))
    sides.moved(1200, "re_untold", MovementKind.REFUND, payment=payment)
    run = await sides.run()
    assert await sides.open() == {("MISSING_HERE", "REFUND", "re_untold", 0, 1200)}
    assert run.counts["ASKED"] == 1


async def test_what_the_answer_brings_by_half_differs_by_the_rest(sides: Sides):
    payment, charge = await sides.world.opened(sides.world.shop.sells(sides.world.buyer.identity, 5000))
    sides.world.simulator.act("pay", charge)
    page = await sides.world.gateway.list_movements(sides.world.owner.caller, sides.world.organization, None)
    sides.moved(300, page.movements[0].reference, payment=payment)
    await sides.run()
    [(difference, kind, _, here, there)] = await sides.open()
    assert (difference, kind, here, there) == ("AMOUNT", "CHARGE", 5000, 5300)


async def test_nobody_is_asked_about_payments_that_are_not_ours(sides: Sides):
    sides.moved(777, "ch_nobody", payment=PaymentId.new())
    await sides.posted(Event.CAPTURED, "ch_invented", gross=500, fee=0, transfer=0)
    assert (await sides.run()).counts["ASKED"] == 0
    assert len(await sides.issues()) == 2


async def test_a_provider_that_does_not_answer_leaves_the_issue(sides: Sides, monkeypatch: pytest.MonkeyPatch):
    _, charge = await sides.world.opened(sides.world.shop.sells(sides.world.buyer.identity, 5000))
    sides.world.simulator.act("pay", charge)
    real = sides.world.gateway._get

    async def deaf(caller, path, **asked):
        if "payment_intents" not in path:
            return await real(caller, path, **asked)
        with sides.silent():
            return await real(caller, path, **asked)

    monkeypatch.setattr(sides.world.gateway, "_get", deaf)
    await sides.run()
    assert {each[:2] for each in await sides.open()} == {("MISSING_HERE", "CHARGE"), ("MISSING_HERE", "TRANSFER")}
    monkeypatch.undo()
    await sides.run(later=AN_HOUR)
    assert await sides.open() == set()
