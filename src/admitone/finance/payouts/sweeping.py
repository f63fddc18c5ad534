"""What is left of customers' money is the platform's own once everybody has their share, and moves to its own account.

Promise: what is swept of a payment is what was taken in for it, less what is the authority's and the owner's; what a
payout recovered was advanced by the platform, and comes back to it. So customers' money returns to nothing when nothing
of it is a customer's, an owner's or an authority's (S1, S2, S8).
"""

from collections.abc import Mapping, Sequence
from typing import Final

from admitone.finance.ledger import api as ledger
from admitone.finance.ledger.api import Account, Event, Posting
from admitone.finance.payouts.model import Obligation, Payout
from admitone.finance.payouts.policy import swept
from admitone.finance.sources.api import Flow
from admitone.kernel.db import Tx
from admitone.kernel.scope import Caller

AT_A_TIME: Final = 500


async def sweep(tx: Tx, shares: Mapping[Obligation, int], caller: Caller, cause: str) -> None:
    """Of the payments of these obligations, whose owners have so much of them for good."""
    ordered = sorted(shares, key=lambda each: each.id)
    for start in range(0, len(ordered), AT_A_TIME):
        page = ordered[start : start + AT_A_TIME]
        stands = await ledger.accounts_of(tx, [each.payment for each in page])
        postings = []
        for each in page:
            on = stands.get((each.payment, each.currency), {})
            minor = swept(on.get(Account.CASH, 0), on.get(Account.TAX, 0), shares[each])
            if minor:
                postings.append(_posting(each, minor, caller, cause))
        await ledger.post(tx, postings)


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
