"""Rows of Stripe's books, each for whom and for what."""

from typing import Any

import msgspec
import pytest

from admitone.finance.gateways.api import MovementKind, UnknownStatus
from admitone.finance.gateways.stripe.movements import movements_of
from admitone.finance.gateways.stripe.objects import Transaction
from admitone.finance.sources.api import PaymentId
from admitone.kernel.ids import PLATFORM_ORGANIZATION, OrganizationId
from tests.finance.gateways.builders import a_payout_order, an_account_order
from tests.finance.gateways.stage import all_movements, paid
from tests.finance.gateways.stripe.stages import StripeStage

OURS, PAYMENT = OrganizationId.new(), PaymentId.new()
CARRIED = {"orgId": str(OURS), "payment_id": str(PAYMENT)}
THING = {"id": "ch_1", "object": "charge", "created": 1, "amount": 5_000, "currency": "brl", "status": "succeeded"}
CHARGE = {**THING, "payment_intent": "pi_1", "metadata": CARRIED}
REFUND = {"id": "re_1", "object": "refund", "created": 1, "amount": 1_000, "currency": "brl", "status": "succeeded"}


def a_row(kind: str, source: Any, amount: int = 5_000, fee: int = 0, **more: Any) -> Transaction:
    row = {"id": "txn_1", "created": 7, "type": kind, "amount": amount, "fee": fee, "currency": "eur", "source": source}
    return msgspec.convert(row | more, Transaction)


def seen(row: Transaction, organization: OrganizationId = OURS) -> list[tuple[Any, ...]]:
    moved = [*movements_of(row, organization)]
    assert len({each.id for each in moved}) == len(moved)
    return [(each.kind, each.reference, each.amount_minor, each.currency, each.payment) for each in moved]


K = MovementKind
TRANSFER = {
    "id": "tr_1",
    "object": "transfer",
    "created": 1,
    "amount": 5_000,
    "currency": "eur",
    "destination": "acct_1",
}
FEE = {"id": "fee_1", "object": "application_fee", "created": 1, "amount": 300, "originating_transaction": CHARGE}
DISPUTE = {"id": "dp_1", "object": "dispute", "created": 1, "amount": 5_000, "currency": "eur", "status": "lost"}
BRL_DISPUTE = {**DISPUTE, "reason": "fraudulent", "currency": "brl"}
REVERSAL = {"id": "trr_1", "object": "transfer_reversal", "created": 1, "amount": 1_000}
HANDED_ON = {
    **TRANSFER,
    "metadata": {**CARRIED, "returned_refund": "re_1"},
    "source_transaction": None,
}
BANK_PAYOUT = {
    "id": "po_1",
    "object": "payout",
    "created": 1,
    "amount": 900,
    "currency": "eur",
    "status": "in_transit",
    "metadata": {"orgId": str(OURS)},
}
"""Whatever somebody wrote on it, it is of the platform's balance."""
PAYOUT = {**TRANSFER, "metadata": {"orgId": str(OURS)}, "source_transaction": None}


@pytest.mark.parametrize(
    ("row", "moved"),
    [
        (a_row("charge", CHARGE, fee=120), [(K.CHARGE, "pi_1", 5_000, "EUR"), (K.FEE, "txn_1", 120, "EUR")]),
        (a_row("payment", CHARGE), [(K.CHARGE, "pi_1", 5_000, "EUR")]),
        (a_row("payment", CHARGE, 800, exchange_rate=0.16), [(K.CHARGE, "pi_1", 5_000, "BRL")]),
        (a_row("refund", {**REFUND, "metadata": CARRIED}, -1_000), [(K.REFUND, "re_1", 1_000, "EUR")]),
        (
            a_row("refund", {**REFUND, "metadata": CARRIED}, -1_000, -25),
            [(K.REFUND, "re_1", 1_000, "EUR"), (K.FEE, "txn_1", -25, "EUR")],
        ),
        (
            a_row("payment_refund", {**REFUND, "charge": CHARGE}, -160, exchange_rate=0.16),
            [(K.REFUND, "re_1", 1_000, "BRL")],
        ),
        (a_row("refund_failure", {**REFUND, "charge": CHARGE}, 1_000), [(K.REFUND_RETURNED, "re_1", 1_000, "EUR")]),
        (a_row("adjustment", {**REFUND, "charge": CHARGE}, 1_000), [(K.REFUND_RETURNED, "re_1", 1_000, "EUR")]),
        (a_row("transfer", {**TRANSFER, "source_transaction": CHARGE}, -5_000), [(K.TRANSFER, "pi_1", 5_000, "EUR")]),
        (a_row("transfer", HANDED_ON, -5_000), [(K.TRANSFER_AGAIN, "re_1", 5_000, "EUR")]),
        (
            a_row("transfer_refund", {**REVERSAL, "transfer": HANDED_ON}, 5_000),
            [(K.TRANSFER_REVERSED, "re_1", 5_000, "EUR")],
        ),
        (a_row("application_fee", FEE, 300), [(K.APPLICATION_FEE, "pi_1", 300, "EUR")]),
        (
            a_row(
                "application_fee_refund",
                {"id": "fr_1", "object": "fee_refund", "created": 1, "amount": 9, "fee": FEE},
                -9,
            ),
            [(K.APPLICATION_FEE_REFUNDED, "fr_1", 9, "EUR")],
        ),
        (
            a_row(
                "transfer_refund",
                {**REVERSAL, "transfer": "tr_1", "source_refund": {**REFUND, "metadata": CARRIED}},
                1_000,
            ),
            [(K.TRANSFER_REVERSED, "re_1", 1_000, "EUR")],
        ),
        (
            a_row("transfer_refund", {**REVERSAL, "transfer": {**TRANSFER, "source_transaction": CHARGE}}, 1_000),
            [(K.TRANSFER_REVERSED, "pi_1", 1_000, "EUR")],
        ),
        (
            a_row("adjustment", {**DISPUTE, "reason": "fraudulent", "charge": CHARGE}, -5_000, 1_500),
            [(K.DISPUTE, "dp_1", 5_000, "EUR"), (K.DISPUTE_FEE, "dp_1", 1_500, "EUR")],
        ),
        (
            a_row("adjustment", {**BRL_DISPUTE, "charge": CHARGE}, -800, 1_500, exchange_rate=0.16),
            [(K.DISPUTE, "dp_1", 5_000, "BRL"), (K.DISPUTE_FEE, "dp_1", 1_500, "EUR")],
        ),
        (
            a_row("adjustment", {**DISPUTE, "reason": "fraudulent", "charge": CHARGE}, 5_000, -1_500),
            [(K.DISPUTE_RETURNED, "dp_1", 5_000, "EUR"), (K.DISPUTE_FEE_RETURNED, "dp_1", 1_500, "EUR")],
        ),
        (
            a_row("adjustment", {**DISPUTE, "reason": "fraudulent", "charge": CHARGE}, 5_000, 0),
            [(K.DISPUTE_RETURNED, "dp_1", 5_000, "EUR")],
        ),
    ],
)
def test_a_row_is_whose_its_charge_is(row: Transaction, moved: list[Any]):
    assert seen(row) == [(*each, PAYMENT) for each in moved]
    assert seen(row, OrganizationId.new()) == seen(row, PLATFORM_ORGANIZATION) == []


@pytest.mark.parametrize(
    ("row", "moved"),
    [
        (a_row("transfer", PAYOUT, -5_000), (K.PAYOUT, "tr_1", 5_000)),
        (a_row("transfer_refund", {**REVERSAL, "transfer": PAYOUT}, 5_000), (K.PAYOUT_RETURNED, "tr_1", 5_000)),
    ],
)
def test_a_transfer_by_itself_is_a_payout(row: Transaction, moved: tuple[Any, ...]):
    assert seen(row) == [(*moved, "EUR", None)]


@pytest.mark.parametrize(
    ("row", "moved"),
    [
        (a_row("stripe_fee", None, -40), [(K.ACCOUNT_FEE, "txn_1", 40, "EUR", None)]),
        (a_row("stripe_fee", "po_1", 40), [(K.ACCOUNT_FEE, "txn_1", -40, "EUR", None)]),
        (a_row("payout", "po_1", -900), [(K.BANK_PAYOUT, "po_1", 900, "EUR", None)]),
        (a_row("payout", BANK_PAYOUT, -900), [(K.BANK_PAYOUT, "po_1", 900, "EUR", None)]),
        (
            a_row("payout", BANK_PAYOUT, -900, 9),
            [(K.BANK_PAYOUT, "po_1", 900, "EUR", None), (K.ACCOUNT_FEE, "txn_1", 9, "EUR", None)],
        ),
        (a_row("payout_failure", "po_1", 900), [(K.BANK_PAYOUT_RETURNED, "po_1", 900, "EUR", None)]),
        (a_row("payout_cancel", "po_1", 900), [(K.BANK_PAYOUT_RETURNED, "po_1", 900, "EUR", None)]),
        (a_row("transfer", TRANSFER, -5_000), [(K.PAYOUT, "tr_1", 5_000, "EUR", None)]),
        (a_row("climate_order_purchase", "climorder_1", -5), []),
        (a_row("charge", THING), [(K.CHARGE, "ch_1", 5_000, "EUR", None)]),
    ],
)
def test_what_is_nobodys_is_the_platforms_own(row: Transaction, moved: list[Any]):
    assert seen(row, PLATFORM_ORGANIZATION) == moved
    assert seen(row) == []


@pytest.mark.covers("PAY-061")
def test_a_kind_of_row_that_we_do_not_know_is_not_left_out_of_somebodys_books():
    """Least of all as its opposite: a payment that failed after all takes money away."""
    for kind in ("reserve_hold", "payment_failure_refund"):
        with pytest.raises(UnknownStatus) as odd:
            seen(a_row(kind, CHARGE, -5_000))
        assert (odd.value.status, odd.value.organization) == (kind, OURS)
    with pytest.raises(UnknownStatus):
        seen(a_row("adjustment", {**REFUND, "charge": CHARGE}, -1_000))


async def test_the_books_are_read_from_an_instant_on(stage: StripeStage):
    order, _ = await paid(stage)
    later, _ = await paid(stage, organization=order.organization)
    rows = await all_movements(stage.gateway, order.organization)
    assert [each.payment for each in rows] == [order.payment, later.payment]
    page = await stage.gateway.list_movements(order.caller, order.organization, None, rows[1].at)
    assert [each.payment for each in page.movements] == [later.payment]


async def test_a_payout_is_told_by_its_transfer_and_apart_by_the_accounts_own(stage: StripeStage):
    """What an account pays to its owner's bank is nothing that we ordered, and is told as its own."""
    owner = an_account_order()
    account: Any = await stage.gateway.open_account(owner)
    await stage.do("complete", account.id)
    made: Any = await stage.gateway.pay_out(a_payout_order(account.id, owner.organization))
    await stage.do("arrive", made.id)
    events = [stage.gateway.read(each.body, "stripe") for each in await stage.webhooks()]
    told = {event.payout.id: event.envelope.account for event in events if event.payout}
    assert told[made.id] is None
    assert [account for own, account in told.items() if own != made.id] == [account.id]
