"""Accounts through which money only passes, and what stayed there although its object is over.

A refund is owed until it arrived or was given up; a fee that is owed is paid at once; disputed funds are away until the
dispute is decided; a payout is under way until it arrived or came back. Whose object is over, and whose account is not
at zero, has lost a posting. What was cleared by more than there was is wrong at any time.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from admitone.finance.ledger import api as ledger
from admitone.finance.ledger.api import Account, Uncleared
from admitone.finance.payments import api as payments
from admitone.finance.payments.api import Payment, RefundState
from admitone.finance.reconciliation.comparing.streams import Look
from admitone.finance.reconciliation.differences import Difference, DifferenceClass
from admitone.finance.sources.api import PaymentId
from admitone.kernel.db import Tx

OF_PAYMENTS: Final = (Account.REF, Account.GFP, Account.DSP)
GRACE: Final = timedelta(hours=1)
"""Longer than what follows from an answer takes."""
LONGEST_REFUND: Final = timedelta(days=30)
LONGEST_DISPUTE: Final = timedelta(days=180)
LONGEST_TRANSIT: Final = timedelta(days=14)
MOST_STAYED: Final = 10_000
CHUNK: Final = 500


async def list_stayed(look: Look, now: datetime) -> list[Difference]:
    """What stayed, of every payment and every payout; the first of them, if there are very many."""
    stayed: list[Difference] = []
    after = UUID(int=0)
    while (page := await look.read(ledger.list_uncleared, OF_PAYMENTS, after)).looked_at:
        look.tell(page.looked_at)
        for first in range(0, len(page.uncleared), CHUNK):
            stayed += await look.read(_over, page.uncleared[first : first + CHUNK], now)
        after = page.last
    in_transit: list[Uncleared] = await look.read(ledger.list_uncleared_by_reference, Account.TRN)
    stayed += [_stayed(each) for each in in_transit if has_stayed(each, now)]
    return stayed[:MOST_STAYED]


async def _over(tx: Tx, uncleared: Sequence[Uncleared], now: datetime) -> list[Difference]:
    own = sorted({each.payment for each in uncleared if each.payment})
    known, disputes = await payments.find_payments(tx, own), await payments.find_disputes(tx, own)
    disputed = {each for each, told in disputes.items() if any(not (one.won_at or one.lost_at) for one in told)}
    return [_stayed(each) for each in uncleared if has_stayed(each, now, known, disputed)]


def has_stayed(
    each: Uncleared, now: datetime, known: "dict[PaymentId, Payment] | None" = None, disputed: Iterable[PaymentId] = ()
) -> bool:
    """Whether its object is over, or it stands there for longer than anything takes."""
    if each.minor < 0:
        return now - each.last_at > GRACE
    payment = (known or {}).get(each.payment) if each.payment else None
    match each.account:
        case Account.REF:
            is_open, longest = payment is not None and payment.refund_state is RefundState.PENDING, LONGEST_REFUND
        case Account.DSP:
            is_open, longest = each.payment in {*disputed}, LONGEST_DISPUTE
        case Account.TRN:
            is_open, longest = True, LONGEST_TRANSIT
        case _:
            is_open, longest = False, GRACE
    return now - each.last_at > (longest if is_open else GRACE)


def _stayed(each: Uncleared) -> Difference:
    return Difference(
        DifferenceClass.STAYED,
        each.account.value,
        str(each.payment) if each.payment else each.reference or "",
        each.currency,
        each.minor,
        0,
        each.last_at,
        payment=each.payment,
    )
