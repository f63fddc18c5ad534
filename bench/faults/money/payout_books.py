"""The invariants of payouts: the provider's own file against our ledger and against what each owner must have.

Promise: as in `books`: the provider's rows are read from its file, ours by a superuser, and what an owner must have was
written down before anything was broken.
"""

import json
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from uuid import UUID

import asyncpg

from bench.faults.money.books import MOST, UNBALANCED
from bench.faults.money.owners import Owner

POSTED: Final = {"PAYOUT": "PAYOUT_INITIATED", "PAYOUT_RETURNED": "PAYOUT_FAILED"}
"""Which of our entries say that the provider moved money, by its own word for it."""

PAYOUTS = "SELECT id, payee_id, period, currency, reference, state, amount_minor FROM payouts.payout"
TRANSFERS = """
    SELECT entry_type, reference, payee_id, amount_minor
      FROM ledger.transfer
     WHERE entry_type = ANY($1)
"""
# What is payable less what was settled, which is a debit.
OWED = """
    SELECT payee_id, sum(minor)::bigint AS owed
      FROM (SELECT payee_id, amount_minor AS minor FROM ledger.transfer
             WHERE credit_account IN ('org_payable', 'org_settlements')
             UNION ALL
            SELECT payee_id, -amount_minor FROM ledger.transfer
             WHERE debit_account IN ('org_payable', 'org_settlements')) AS lines
     GROUP BY payee_id
"""
IN_TRANSIT = """
    SELECT reference, sum(CASE WHEN credit_account = 'payouts_in_transit' THEN amount_minor ELSE -amount_minor END)
           AS minor
      FROM ledger.transfer
     WHERE 'payouts_in_transit' IN (debit_account, credit_account)
     GROUP BY reference
    HAVING sum(CASE WHEN credit_account = 'payouts_in_transit' THEN amount_minor ELSE -amount_minor END) <> 0
"""
FROZEN = """
    SELECT payee_id, sum(amount_minor)::bigint AS held
      FROM payouts.obligation
     WHERE state NOT IN ('PAID', 'REVERSED')
     GROUP BY payee_id
"""


@dataclass(frozen=True)
class Paid:
    """A payout as the provider has it."""

    reference: str
    key: UUID
    """Of our order."""
    amount: int
    status: str


@dataclass(frozen=True)
class PayoutBooks:
    file: Path
    ours: asyncpg.Connection
    owners: Sequence[Owner]

    def paid(self) -> list[Paid]:
        """By the last version of each."""
        last: dict[str, Paid] = {}
        for (body,) in self._look("SELECT body FROM object WHERE id LIKE 'po\\_%' ESCAPE '\\' ORDER BY sequence"):
            told = json.loads(body)
            last[told["id"]] = Paid(told["id"], UUID(told["order_key"]), told["amount"], told["status"])
        return [*last.values()]

    def moved(self) -> list[dict[str, str | int]]:
        return [json.loads(body) for (body,) in self._look("SELECT body FROM movement")]

    def _look(self, statement: str) -> list[tuple[bytes]]:
        with sqlite3.connect(f"file:{self.file}?mode=ro", uri=True) as theirs:
            return theirs.execute(statement).fetchall()


Check = Callable[[PayoutBooks], Awaitable[list[str]]]


async def _paid_once(books: PayoutBooks) -> list[str]:
    """By the provider's own file: to each what they must have, and not two payouts that arrived for one Monday."""
    ours = {row["id"]: row for row in await books.ours.fetch(PAYOUTS)}
    got: Counter[UUID] = Counter()
    arrived: defaultdict[tuple[object, ...], list[str]] = defaultdict(list)
    wrong = [f"{each.reference}: nobody here ordered it" for each in books.paid() if each.key not in ours]
    for each in books.paid():
        if each.key in ours and each.status != "failed":
            row = ours[each.key]
            got[row["payee_id"]] += each.amount
            arrived[row["payee_id"], row["period"], row["currency"]].append(each.reference)
    wrong += [f"{own}: {names}" for own, names in arrived.items() if len(names) > 1]
    return wrong + [
        f"{each.fate} {each.id} of {each.organization}: {got[each.id]} instead of {each.paid_minor}"
        for each in books.owners
        if got[each.id] != each.paid_minor
    ]


async def _journal_is_ledger(books: PayoutBooks) -> list[str]:
    theirs = Counter(
        {
            (POSTED[str(each["kind"])], str(each["reference"])): int(each["amount"])
            for each in books.moved()
            if each["kind"] in POSTED
        }
    )
    ours: Counter[tuple[str, str]] = Counter()
    for row in await books.ours.fetch(TRANSFERS, [*POSTED.values()]):
        ours[row["entry_type"], row["reference"]] += row["amount_minor"]
    return [
        f"{entry} {reference}: {theirs[entry, reference]} at the provider, {ours[entry, reference]} here"
        for entry, reference in sorted({*theirs, *ours})
        if theirs[entry, reference] != ours[entry, reference]
    ]


async def _holds_respected(books: PayoutBooks) -> list[str]:
    """What is held is owed and unpaid, and nobody is owed anything else."""
    owed = {row["payee_id"]: row["owed"] for row in await books.ours.fetch(OWED)}
    open_ = {row["payee_id"]: row["held"] for row in await books.ours.fetch(FROZEN)}
    return [
        f"{each.fate} {each.id}: owed {owed.get(each.id, 0)}, open {open_.get(each.id, 0)}, held {each.held_minor}"
        for each in books.owners
        if (owed.get(each.id, 0), open_.get(each.id, 0)) != (each.held_minor, each.held_minor)
    ]


async def _none_in_transit(books: PayoutBooks) -> list[str]:
    return [str(dict(row)) for row in await books.ours.fetch(IN_TRANSIT)]


async def _balanced(books: PayoutBooks) -> list[str]:
    organizations = sorted({each.organization for each in books.owners})
    rows = [row for each in organizations for row in await books.ours.fetch(UNBALANCED, each.uuid)]
    return [str(dict(row)) for row in rows]


INVARIANTS: Final[dict[str, Check]] = {
    "every owner is paid once, and what they must have": _paid_once,
    "the provider's payouts and the ledger agree, row by row": _journal_is_ledger,
    "what is held is not paid, and nothing else is owed": _holds_respected,
    "nothing is on its way for ever": _none_in_transit,
    "debits equal credits": _balanced,
}


async def complaints(books: PayoutBooks) -> dict[str, list[str]]:
    """By the invariant that does not hold."""
    found = {name: await check(books) for name, check in INVARIANTS.items()}
    return {name: wrong[:MOST] for name, wrong in found.items() if wrong}
