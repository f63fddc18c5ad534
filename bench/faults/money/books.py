"""The invariants of money: the provider's own file against our ledger, and our tables against themselves.

Promise: what is compared is read by nobody's code that is under test: the provider's rows from its file, ours by a
superuser. Each invariant lists what is wrong, and says nothing when nothing is.
"""

import json
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import asyncpg

from admitone.finance.payments.model import CLOSABLE
from admitone.kernel.ids import OrganizationId

MOST = 5

ENTRIES = {
    "CHARGE": ("GROSS", "CAMPAIGN_PREPAYMENT", "UNAPPLIED_RECEIPT"),
    "FEE": ("PROCESSOR_FEES_FINAL", "PROCESSOR_FEES_ADJUSTMENT"),
    "REFUND": ("REFUND_SETTLED",),
}
"""Which of our entries say that the provider moved money, by its own word for it."""

POSTED = """
    SELECT reference, payment_id, entry_type, currency, sum(amount_minor)::bigint AS amount, count(*) AS times
      FROM ledger.transfer
     WHERE organization_id = $1 AND entry_type = ANY($2)
     GROUP BY reference, payment_id, entry_type, currency
"""
PAYMENTS = """
    SELECT id, source_type || ':' || source_id AS source, idempotency_key, status, applied, amount_minor, currency,
           captured_minor, refunded_minor, expires_at, charge_id, manual_reason
      FROM payments.payment
     WHERE organization_id = $1
"""
UNBALANCED = """
    SELECT currency, sum(debit)::bigint AS debits, sum(credit)::bigint AS credits
      FROM (SELECT currency, amount_minor AS debit, 0 AS credit FROM ledger.transfer WHERE organization_id = $1
             UNION ALL
            SELECT currency, 0, amount_minor FROM ledger.transfer WHERE organization_id = $1) AS lines
     GROUP BY currency
    HAVING sum(debit) <> sum(credit)
"""
OPEN_INTENTS = """
    SELECT i.payment_id, i.action, i.created_at, p.status
      FROM payments.gateway_intent AS i
      JOIN payments.payment AS p ON p.organization_id = i.organization_id AND p.id = i.payment_id
     WHERE i.organization_id = $1 AND i.state = 'OPEN'
"""
RECEIPTS = """
    SELECT r.payment_id, r.reason, r.policy, r.state, p.status
      FROM payments.unapplied_receipt AS r
      JOIN payments.payment AS p ON p.organization_id = r.organization_id AND p.id = r.payment_id
     WHERE r.organization_id = $1
"""


REFUNDS = """
    SELECT payment_id, sum(amount_minor)::bigint AS ordered, array_agg(DISTINCT state) AS states
      FROM refunds.refund
     WHERE organization_id = $1
     GROUP BY payment_id
"""


@dataclass(frozen=True)
class Moved:
    """One row of the provider's books."""

    kind: str
    reference: str
    payment: UUID
    amount: int
    currency: str


@dataclass(frozen=True)
class Books:
    file: Path
    ours: asyncpg.Connection
    organization: OrganizationId

    def moved(self) -> list[Moved]:
        with sqlite3.connect(f"file:{self.file}?mode=ro", uri=True) as theirs:
            rows = theirs.execute("SELECT body FROM movement WHERE organization = ?", (str(self.organization),))
            bodies = [json.loads(body) for (body,) in rows]
        return [
            Moved(
                each["kind"],
                each["reference"],
                UUID(each["payment"].removeprefix("pay_")),
                each["amount"],
                each["currency"].upper(),
            )
            for each in bodies
            if each["payment"]
        ]

    def opened(self) -> Counter[str]:
        """How many charges the provider has for each payment of ours."""
        with sqlite3.connect(f"file:{self.file}?mode=ro", uri=True) as theirs:
            bodies = [json.loads(body) for (body,) in theirs.execute("SELECT body FROM object WHERE key IS NOT NULL")]
        return Counter(
            each["metadata"]["payment_id"]
            for each in bodies
            if each["metadata"].get("orgId") == str(self.organization) and "payment_id" in each["metadata"]
        )

    async def posted(self) -> list[asyncpg.Record]:
        wanted = [entry for entries in ENTRIES.values() for entry in entries]
        return await self.ours.fetch(POSTED, self.organization.uuid, wanted)

    async def payments(self) -> list[asyncpg.Record]:
        return await self.ours.fetch(PAYMENTS, self.organization.uuid)


Check = Callable[[Books], Awaitable[list[str]]]
INVARIANTS: dict[str, Check] = {}


def invariant(name: str) -> Callable[[Check], Check]:
    def keep(check: Check) -> Check:
        INVARIANTS[name] = check
        return check

    return keep


@invariant("the provider's books and the ledger agree, row by row")
async def journal_is_ledger(books: Books) -> list[str]:
    theirs: Counter[tuple[str, str, UUID, str]] = Counter()
    for each in books.moved():
        if each.kind in ENTRIES:
            theirs[each.kind, each.reference, each.payment, each.currency] += each.amount
    ours: Counter[tuple[str, str, UUID, str]] = Counter()
    kinds = {entry: kind for kind, entries in ENTRIES.items() for entry in entries}
    for row in await books.posted():
        ours[kinds[row["entry_type"]], row["reference"], row["payment_id"], row["currency"]] += row["amount"]
    return [
        f"{row[0]} {row[1]} of {row[2]}: {theirs[row]} {row[3]} at the provider, {ours[row]} here"
        for row in sorted({*theirs, *ours}, key=str)
        if theirs[row] != ours[row]
    ]


@invariant("a payment is charged at most once")
async def charged_once(books: Books) -> list[str]:
    captures = Counter(each.payment for each in books.moved() if each.kind == "CHARGE")
    return [f"{payment}: {times} captures" for payment, times in captures.items() if times > 1]


@invariant("a payment has at most one charge at the provider")
async def opened_once(books: Books) -> list[str]:
    return [f"{payment}: {times} charges" for payment, times in books.opened().items() if times > 1]


@invariant("nobody pays more than the price of what they buy")
async def paid_once(books: Books) -> list[str]:
    payments = {row["id"]: row for row in await books.payments()}
    prices = {row["source"]: row["amount_minor"] for row in payments.values()}
    paid: defaultdict[str, int] = defaultdict(int)
    for each in books.moved():
        sign = {"CHARGE": 1, "REFUND": -1}.get(each.kind, 0)
        if each.payment in payments:
            paid[payments[each.payment]["source"]] += sign * each.amount
    return [f"{source}: {amount} of {prices[source]}" for source, amount in paid.items() if amount > prices[source]]


@invariant("no payment that somebody made is lost")
async def none_lost(books: Books) -> list[str]:
    payments = {row["id"]: row for row in await books.payments()}
    captured = {each.payment: each.amount for each in books.moved() if each.kind == "CHARGE"}
    return [
        f"{payment}: {amount} was captured, we say {dict(payments[payment]) if payment in payments else 'nothing'}"
        for payment, amount in captured.items()
        if payment not in payments or payments[payment]["captured_minor"] != amount
    ]


@invariant("nothing that we asked the provider is without an answer")
async def intents_settled(books: Books) -> list[str]:
    return [str(dict(row)) for row in await books.ours.fetch(OPEN_INTENTS, books.organization.uuid)]


@invariant("no payment is open past its time")
async def closed_in_time(books: Books) -> list[str]:
    """Run when the time of all of them is over."""
    return [str(dict(row)) for row in await books.payments() if row["status"] in CLOSABLE]


@invariant("money that paid for nothing went back, or waits for somebody because it must")
async def unapplied_seen_to(books: Books) -> list[str]:
    return [
        str(dict(row))
        for row in await books.ours.fetch(RECEIPTS, books.organization.uuid)
        if row["policy"] == "AUTO_REFUND" and row["state"] not in ("RETURNED", "LOST")
    ]


@invariant("what was ordered to go back went back, once")
async def refunded_once(books: Books) -> list[str]:
    """Each, to the cent; nothing here was refused."""
    there = Counter(dict.fromkeys((each.payment for each in books.moved()), 0))
    for each in books.moved():
        there[each.payment] += each.amount if each.kind == "REFUND" else 0
    rows = await books.ours.fetch(REFUNDS, books.organization.uuid)
    return [
        f"{row['payment_id']}: {row['ordered']} was ordered ({row['states']}), {there[row['payment_id']]} went back"
        for row in rows
        if row["states"] != ["SUCCEEDED"] or row["ordered"] != there[row["payment_id"]]
    ]


@invariant("debits equal credits")
async def balanced(books: Books) -> list[str]:
    return [str(dict(row)) for row in await books.ours.fetch(UNBALANCED, books.organization.uuid)]


async def complaints(books: Books, names: Sequence[str] = ()) -> dict[str, list[str]]:
    """By the invariant that does not hold."""
    broken = {}
    for name in names or INVARIANTS:
        if wrong := await INVARIANTS[name](books):
            left = [f"… and {len(wrong) - MOST} more"] if len(wrong) > MOST else []
            broken[name] = [*wrong[:MOST], *left]
    return broken
