"""What can be asked about payouts."""

from datetime import datetime
from typing import Final
from uuid import UUID

import msgspec

from admitone.finance.ledger import api as ledger
from admitone.finance.ledger.api import Account
from admitone.finance.payments import api as payments
from admitone.finance.payments.api import KnownAccount
from admitone.finance.payouts.commands.batching import destinations
from admitone.finance.payouts.model import Destination, KnownSchedule, O, P, Schedule
from admitone.finance.payouts.policy import OWNER_DEFAULT, Schedules, following
from admitone.finance.payouts.store import obligations as obligation_store
from admitone.finance.payouts.store import owners as owner_store
from admitone.finance.payouts.store import payouts as payout_store
from admitone.kernel.db import Tx


class Standing(msgspec.Struct, frozen=True):
    """Whether and when an owner is paid."""

    blocked_since: datetime | None
    accounts: tuple[KnownAccount, ...]
    destination: Destination | None
    schedule: Schedule
    next_payout_at: datetime


async def find_standing(tx: Tx, owner: UUID) -> Standing:
    schedule = Schedules(await owner_store.find_schedules(tx, [owner])).of(owner, OWNER_DEFAULT)
    known = await payments.find_accounts(tx)
    return Standing(
        await obligation_store.find_block(tx),
        tuple(known[own] for own in sorted(known)),
        next(iter(await destinations(tx)), None),
        schedule,
        following(schedule, tx.now),
    )


class Summary(msgspec.Struct):
    """What is owed and was paid in one currency."""

    currency: str
    waiting_minor: int = 0
    """May not be paid yet."""
    eligible_minor: int = 0
    """In the next batch, if it is enough."""
    frozen_minor: int = 0
    processing_minor: int = 0
    """The provider is asked for it, or will be."""
    in_transit_minor: int = 0
    completed_minor: int = 0
    recovered_minor: int = 0
    """What was owed by the owner, and kept from payouts that arrived."""
    ledger_minor: int = 0
    """What the ledger owes; negative: what the owner owes."""


IN_SUMMARY: Final = {
    P.PAYOUT_PENDING: "processing_minor",
    P.PROCESSING: "processing_minor",
    P.TRANSFERRED: "in_transit_minor",
    P.COMPLETED: "completed_minor",
}
"""Under what a payout stands in a summary; one that failed is owed again."""


async def summarise(tx: Tx, owner: UUID | None) -> list[Summary]:
    """Of one owner, or of all of the organisation's."""
    found: dict[str, Summary] = {}

    def add(currency: str, name: str, minor: int) -> None:
        summary = found.setdefault(currency, Summary(currency))
        setattr(summary, name, getattr(summary, name) + minor)

    for row in await obligation_store.sum_states(tx, owner, tx.now):
        if row["state"] in (O.DUE, O.FROZEN):
            waits = "eligible_minor" if row["is_eligible"] else "waiting_minor"
            add(row["currency"], waits if row["state"] == O.DUE else "frozen_minor", row["amount_minor"])
    for row in await payout_store.sum_payout_states(tx, owner):
        if name := IN_SUMMARY.get(P(row["state"])):
            add(row["currency"], name, row["amount_minor"])
        if row["state"] == P.COMPLETED:
            add(row["currency"], "recovered_minor", row["recovered_minor"])
    for balance in await ledger.balances(tx, [Account.ORG, Account.SETL], owner):
        sign = 1 if balance.holding.account is Account.ORG else -1
        add(balance.holding.currency, "ledger_minor", balance.minor * sign)
    return [found[currency] for currency in sorted(found)]


class Settings(msgspec.Struct, frozen=True):
    """When an owner is paid, and what of it they said."""

    said: tuple[KnownSchedule, ...]
    effective: Schedule
    """Of what has no schedule of its own."""


async def find_settings(tx: Tx, owner: UUID) -> Settings:
    known = await owner_store.find_schedules(tx, [owner])
    return Settings(tuple(sorted(known, key=lambda each: each.property_key)), Schedules(known).of(owner, OWNER_DEFAULT))
