"""What is left of customers' money is the platform's own once everybody has their share, and moves to its own account.

Promise: what is swept of a payment is what was taken in for it, less what is the authority's and the owner's and what
is on its way back to the customer; what a payout recovered was advanced by the platform, and comes back to it, and goes
back if it is the owner's after all. So customers' money returns to nothing when nothing of it is a customer's, an
owner's or an authority's (S1, S2, S8).
"""

from collections.abc import Mapping, Sequence
from typing import Final

from admitone.finance.ledger import api as ledger
from admitone.finance.ledger.api import Account, Event, Posting
from admitone.finance.payouts.model import Obligation, Payout
from admitone.finance.payouts.policy import swept
from admitone.finance.sources.api import Flow, PaymentId
from admitone.kernel.db import Tx
from admitone.kernel.scope import Caller

AT_A_TIME: Final = 500
HELD: Final = frozenset({Account.CASH, Account.DEP, Account.SUS})
"""What was ordered back before it was owed goes back from customers' money, and nothing else does."""


async def sweep(tx: Tx, shares: Mapping[Obligation, int], caller: Caller, cause: str) -> None:
    """Of the payments of these obligations, whose owners have so much of them for good."""
    ordered = sorted((each for each in shares if not each.is_returned), key=lambda each: each.id)
    for start in range(0, len(ordered), AT_A_TIME):
        page = ordered[start : start + AT_A_TIME]
        stands = await ledger.accounts_of(tx, [each.payment for each in page])
        going = await _going_back(tx, [own for (own, _), on in stands.items() if on.get(Account.REF)])
        postings = []
        for each in page:
            on = stands.get((each.payment, each.currency), {})
            cash = on.get(Account.CASH, 0) - going.get(each.payment, 0)
            minor = swept(cash, on.get(Account.TAX, 0), shares[each])
            if minor:
                postings.append(_posting(each, minor, caller, cause))
        await ledger.post(tx, postings)


async def _going_back(tx: Tx, payments: Sequence[PaymentId]) -> dict[PaymentId, int]:
    """What customers have not got back yet, of what was held when it was ordered."""
    found: dict[PaymentId, int] = {}
    for each in await ledger.list_transfers_of(tx, payments) if payments else ():
        sides = each.debit_account, each.credit_account
        if each.payment_id is not None and Account.REF in sides and HELD & {*sides}:
            owed = each.amount_minor if each.credit_account is Account.REF else -each.amount_minor
            found[each.payment_id] = found.get(each.payment_id, 0) + owed
    return found


def recovery(payout: Payout, caller: Caller) -> Sequence[Posting]:
    """What a payout that arrived was smaller by."""
    if not payout.recovered_minor:
        return []
    return [
        Posting(
            caller=caller,
            event=Event.COMMISSION_SWEPT,
            flow=Flow.STAY,
            currency=payout.currency,
            amounts={"commission": payout.recovered_minor},
            cause=f"recovered:{payout.id}",
            payee=payout.owner,
            city_code=payout.city_code,
            metadata={"recovered": payout.recovered_minor},
        )
    ]


def returns(payout: Payout, items: Sequence[Obligation], caller: Caller) -> Sequence[Posting]:
    """What had been recovered, and is paid with this: it was the platform's own meanwhile."""
    minor = sum(each.amount_minor for each in items if each.is_returned)
    if not minor:
        return []
    return [
        Posting(
            caller=caller,
            event=Event.RECOVERY_RETURNED,
            flow=Flow.STAY,
            currency=payout.currency,
            amounts={"recovered": minor},
            cause=f"returned:{payout.id}",
            payee=payout.owner,
            city_code=payout.city_code,
        )
    ]


def _posting(obligation: Obligation, minor: int, caller: Caller, cause: str) -> Posting:
    return Posting(
        caller=caller,
        event=Event.COMMISSION_SWEPT,
        flow=Flow.STAY,
        currency=obligation.currency,
        amounts={"commission": minor},
        cause=cause,
        payment=obligation.payment,
        payee=obligation.owner,
        city_code=obligation.city_code,
    )
