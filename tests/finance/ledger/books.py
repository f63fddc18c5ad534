"""Books, as tests need them: a committed organisation, postings on it, and what they come to."""

from typing import Any

from admitone.finance.ledger.api import CHART, Account, Event, Posted, Posting, TrialBalance, post, trial_balance
from admitone.finance.sources.api import Flow, PaymentId, Source, SourceType
from admitone.kernel.db import Database
from admitone.kernel.scope import Scope
from tests.builders import a_caller, an_organization

__all__ = ("a_posting", "an_organization", "booked", "standing", "the_trial")


def a_posting(event: Event, flow: Flow = Flow.SALE, cause: str = "evt_1", **said: Any) -> Posting:
    """Keywords that are whole numbers are amounts; the rest are fields."""
    amounts = {name: said.pop(name) for name in [*said] if name != "line" and isinstance(said[name], int)}
    said = {"payment": PaymentId.new(), "source": Source(SourceType.TICKET_ORDER, "to_1"), **said}
    return Posting(a_caller(), event, flow, said.pop("currency", "EUR"), amounts, cause, **said)


async def booked(database: Database, scope: Scope, *postings: Posting) -> list[Posted]:
    return await database.run(scope, lambda tx: post(tx, postings))


async def the_trial(database: Database, scope: Scope, currency: str = "EUR") -> TrialBalance:
    return next(each for each in await database.read(scope, trial_balance) if each.currency == currency)


def standing(trial: TrialBalance) -> dict[Account, int]:
    """Accounts on which something stands: debits positive, credits negative, as a trial balance is written."""
    signed = {a: m if CHART[a].grows_by_debit else -m for a, m in trial.accounts.items()}
    return {account: minor for account, minor in signed.items() if minor}
