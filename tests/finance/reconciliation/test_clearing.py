"""Accounts through which money only passes return to zero, or somebody is told what stayed."""

from datetime import UTC, datetime, timedelta
from functools import partial

import asyncpg
import pytest

from admitone.finance.ledger import api as ledger
from admitone.finance.ledger.api import Account, Event, Uncleared
from admitone.finance.payments.api import RefundWanted, begin_refunds
from admitone.finance.reconciliation.api import Look
from admitone.finance.reconciliation.clearing import has_stayed, list_stayed
from admitone.finance.sources.api import PaymentId
from admitone.kernel.ids import uuid7
from tests.finance.lives import DISPUTE, FEES, PAY, a_busy_life, deed, live
from tests.finance.reconciliation.books import AN_HOUR, Sides

DAY = timedelta(days=1)


async def test_whatever_payments_live_through_they_leave_nothing_behind(sides: Sides, monkeypatch: pytest.MonkeyPatch):
    """Also when the transfers of a payment fall into two pages, wherever they are cut."""
    await a_busy_life(sides.world, only=lambda life: "refund" in life or life in ("won", "lost", "late and back"))
    await live(sides.world, (PAY, deed("refund", amount=1000), deed("return_refund")))
    assert (await sides.run(later=AN_HOUR)).counts["STAYED"] == 0
    real = ledger.list_uncleared
    for most in range(13, 30):
        monkeypatch.setattr(ledger, "list_uncleared", partial(real, most=most))
        look = Look(sides.world.organization, sides.world.owner.caller, partial(sides.database.read, sides.world.scope))
        assert await list_stayed(look, datetime.now(UTC) + DAY) == []


async def test_what_is_under_way_may_stand_there(sides: Sides):
    """A dispute, one of what had gone back, and a refund that was ordered and is not answered."""
    await live(sides.world, (PAY, FEES, DISPUTE))
    await live(sides.world, (PAY, deed("refund"), DISPUTE))
    payment = await live(sides.world, (PAY,))
    await sides.world.submit(begin_refunds, RefundWanted(sides.world.owner.caller, payment, uuid7(), 1000))
    balances = await sides.database.read(sides.world.scope, ledger.balances, [Account.DSP, Account.REF])
    assert {each.holding.account: each.minor for each in balances} == {Account.DSP: 10_000, Account.REF: 1000}
    assert (await sides.run(later=DAY)).counts["STAYED"] == 0


async def test_what_stayed_is_told_of_until_it_is_gone(sides: Sides, superuser: asyncpg.Connection):
    refund = await sides.posted(Event.REFUND_ACCRUED, "re_1", gross=1000, fee=0, transfer=0)
    await sides.paid_out(Event.PAYOUT_PAID, "po_1", 700)
    await sides.run(later=AN_HOUR)
    found = {each for each in await sides.open() if each[0] == "STAYED"}
    assert found == {
        ("STAYED", "refunds_payable", str(refund), 1000, 0),
        ("STAYED", "payouts_in_transit", "po_1", -700, 0),
    }
    assert "reconciliation.stayed" in await sides.alerts(superuser)
    await sides.posted(Event.REFUND_FAILED, "re_1", payment=refund, gross=1000, fee=0, transfer=0, cause="evt_2")
    await sides.paid_out(Event.PAYOUT_INITIATED, "po_1", 700)
    run = await sides.run(later=2 * AN_HOUR)
    assert run.counts["STAYED"] == 0
    assert "reconciliation.stayed" not in await sides.alerts(superuser)


@pytest.mark.parametrize(
    ("account", "minor", "hours", "stayed"),
    [
        (Account.GFP, 100, 2, True),
        (Account.GFP, 100, 0, False),
        (Account.REF, 100, 2, True),
        (Account.REF, -100, 2, True),
        (Account.REF, -100, 0, False),
        (Account.DSP, 100, 2, True),
        (Account.TRN, 100, 24 * 13, False),
        (Account.TRN, 100, 24 * 15, True),
        (Account.TRN, -100, 2, True),
    ],
)
def test_how_long_money_may_pass(account: Account, minor: int, hours: int, stayed: bool):
    now = datetime(2026, 11, 16, tzinfo=UTC)
    uncleared = Uncleared(account, "EUR", minor, now - hours * AN_HOUR, PaymentId.new())
    assert has_stayed(uncleared, now) is stayed


def test_a_dispute_may_last_for_as_long_as_it_is_open():
    now, payment = datetime(2026, 11, 16, tzinfo=UTC), PaymentId.new()
    uncleared = Uncleared(Account.DSP, "EUR", 100, now - 100 * DAY, payment)
    assert has_stayed(uncleared, now)
    assert not has_stayed(uncleared, now, disputed={payment})
