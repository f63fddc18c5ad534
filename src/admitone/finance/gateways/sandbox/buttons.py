"""Which deeds the page offers for what it shows: those that are possible now, and no others."""

from dataclasses import dataclass
from typing import Final

from admitone.finance.gateways.sandbox.accounts import may_come_back
from admitone.finance.gateways.sandbox.charges import Card
from admitone.finance.gateways.sandbox.objects import Account, Intent, Kept, Payout


@dataclass(frozen=True, slots=True)
class Button:
    """A form with one button, perhaps with an amount to be typed."""

    deed: str
    label: str
    card: str = ""
    amount: str = ""
    """What the amount is called; none is asked for when this is empty."""
    pending: str = ""


Group = tuple[str, list[Button]]

PAY: Final = [
    Button("pay", "Pay", card=Card.GOOD),
    Button("pay", "Pay with a card that is declined", card=Card.DECLINED),
    Button("pay", "Pay with an empty card", card=Card.EMPTY),
    Button("pay", "Pay with a card that asks (3DS)", card=Card.ASKS),
    Button("pay", "Pay with a slow card", card=Card.SLOW),
]
PAY_PIX: Final = [Button("pay", "Pay by PIX"), Button("pay", "Pay another amount by PIX", amount="Minor units")]
PROVE: Final = [
    Button("authenticate", "Prove who I am (3DS succeeds)"),
    Button("fail_authentication", "Fail to prove it (3DS fails)"),
]
CLEAR: Final = [Button("clear", "The bank pays"), Button("fail_clearing", "The bank declines")]
ANSWER: Final = [Button("answer_dispute", "The organisation submits evidence here")]
DECIDE: Final = [Button("win", "The organisation wins"), Button("lose", "The cardholder wins")]
ARRIVING: Final = [Button("settle_refund", "The refund arrives"), Button("fail_refund", "The refund comes back")]
ARRIVED: Final = [Button("return_refund", "The refund that had arrived comes back")]
REFUND: Final = [
    Button("refund", "Refund", amount="Minor units (empty: all that is left)"),
    Button("refund", "Refund, slowly", amount="Minor units (empty: all that is left)", pending="true"),
]


def buttons_of(thing: Kept) -> list[Group]:
    if isinstance(thing, Account):
        deeds = [Button("complete", "Tell everything (KYC done)"), Button("restrict", "Want to know more (restrict)")]
        return [("Onboarding", deeds)]
    if isinstance(thing, Payout):
        arrives = [Button("arrive", "It arrives")] if thing.status == "pending" else []
        returns = [Button("fail", "It comes back")] if may_come_back(thing) else []
        return [("The bank", [*arrives, *returns])] if returns else []
    groups = [*_customer(thing), *_provider(thing)]
    return [group for group in groups if group[1]]


def _customer(intent: Intent) -> list[Group]:
    offered = {
        "requires_payment_method": PAY,
        "pending": PAY_PIX,
        "requires_action": PROVE,
        "processing": [],
    }
    is_open = intent.status in ("requires_payment_method", "pending", "requires_action")
    ends = [Button("expire", "Let it expire")] if is_open and (intent.pix or intent.session) else []
    closes = [Button("cancel", "Cancel")] if is_open else []
    bank = CLEAR if intent.status == "processing" else []
    return [("The customer", offered.get(intent.status, [])), ("The bank", bank), ("Closing", [*ends, *closes])]


def _provider(intent: Intent) -> list[Group]:
    paid = intent.paid
    if paid is None:
        return []
    fees = (
        [Button("adjust_fee", "Change the fee", amount="By how many minor units (may be negative)")]
        if paid.balance_transaction
        else [Button("tell_fees", "Tell the fee")]
    )
    dispute = paid.disputes[-1] if paid.disputes else None
    is_disputed = dispute is not None and dispute.is_open
    answer = ANSWER if dispute is not None and dispute.status == "needs_response" else []
    arriving = ARRIVING if any(each.status == "pending" for each in paid.refunds) else []
    arrived = ARRIVED if any(each.status == "succeeded" for each in paid.refunds) else []
    opens = [] if intent.pix or is_disputed else [Button("dispute", "Open a dispute")]
    return [
        ("Fees", fees),
        ("Refunds", [*(REFUND if paid.refundable else []), *arriving, *arrived]),
        ("Disputes", [*answer, *DECIDE] if is_disputed else opens),
    ]
