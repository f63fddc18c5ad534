"""One run: buyers under trouble, sweeps under trouble, then quiet, then the books."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import asyncpg
from tests.people import a_person

from admitone.finance.gateways.sandbox.faults import Faults
from admitone.finance.payments import errands
from admitone.finance.payments.asking import Clerk
from admitone.finance.payments.commands.receipts import Decision
from admitone.finance.payments.errors import NotReturnable
from admitone.finance.sources.api import PaymentId
from admitone.finance.webhooks.polling import poll
from admitone.kernel.ids import OrganizationId
from admitone.kernel.jobs.dead import DeadLetterId, Replay, replay
from admitone.kernel.scope import Caller, Scope
from bench.faults.money import buyers
from bench.faults.money.books import Books, complaints
from bench.faults.money.buyers import Case
from bench.faults.money.market import Market, a_market

TROUBLE = Faults(
    unreachable=700,
    error_before=700,
    error_after=700,
    lost=700,
    slow=500,
    slow_ms=2,
    refund_pending=3_000,
    dropped=1_500,
    repeated=2_000,
    late=2_000,
    late_ms=60_000,
    shuffled=5_000,
    forged=500,
)
AT_ONCE = 48
ROUNDS = 12
PATIENCE_SECONDS = 20
MOST = 5
REFUSALS = ("PAYMENT_IN_PROGRESS", "ALREADY_PAID")
"""What a buyer may be told who begins anew; nobody may be refused because we repeated ourselves."""
REPEATED = 40
"""How many keys are asked for once more at the end."""

LEFT = """
    SELECT (SELECT count(*) FROM kernel.job WHERE organization_id = $1 OR kind LIKE 'webhooks.%')
           + (SELECT count(*) FROM kernel.outbox WHERE organization_id = $1 AND published_at IS NULL)
"""
JOBS = "SELECT kind, key, attempts, run_at FROM kernel.job WHERE organization_id = $1 OR kind LIKE 'webhooks.%'"
DEAD = """
    SELECT organization_id, id, kind, error
      FROM kernel.dead_letter
     WHERE (organization_id = $1 OR kind LIKE 'webhooks.%') AND replayed_at IS NULL
"""
RETURNING = """
    SELECT DISTINCT payment_id
      FROM payments.unapplied_receipt
     WHERE organization_id = $1 AND state = 'RETURNING'
"""
LATE = "SELECT id, source_id, status FROM payments.payment WHERE organization_id = $1 AND manual_reason = 'LATE'"
UNREAD = "SELECT position FROM webhooks.cursor WHERE provider = 'sandbox'"
STATES = "SELECT status, count(*) FROM payments.payment WHERE organization_id = $1 GROUP BY status ORDER BY status"


@dataclass(frozen=True)
class Verdict:
    seed: int
    cases: int
    figures: dict[str, int] = field(default_factory=dict)
    broken: dict[str, list[str]] = field(default_factory=dict)

    def __str__(self) -> str:
        lines = [f"{'FAIL' if self.broken else 'ok  '} money seed {self.seed}: {self.cases:,} cases"]
        lines += [f"     {number:>8,} {name}" for name, number in self.figures.items()]
        for name, wrong in self.broken.items():
            lines += [f"     BROKEN: {name}", *(f"       {each}" for each in wrong)]
        return "\n".join(lines)


async def play(database_url: str, superuser_url: str, home: Path, *, cases: int, seed: int) -> Verdict:
    async with a_market(database_url, home, seed) as market:
        books = await asyncpg.connect(superuser_url)
        try:
            wanted = [buyers.a_case(market, number, seed) for number in range(cases)]
            await _trouble(market, wanted)
            await _time_passes(market, wanted)
            left = await _quiet(market, books, wanted)
            repeated = await _ask_again(market, wanted)
            broken = await complaints(Books(market.file, books, market.world.organization))
            broken |= left | repeated | said(market, wanted) | await _late(market, books, wanted)
            return Verdict(seed, cases, await _figures(market, books, wanted), broken)
        finally:
            await books.close()


async def _trouble(market: Market, wanted: Sequence[Case]) -> None:
    """All buy, some at once, while webhooks come and what follows from them is done."""
    market.misbehave(TROUBLE)
    places = asyncio.Semaphore(AT_ONCE)
    over = asyncio.Event()

    async def one(case: Case) -> None:
        async with places:
            await buyers.buy(market, case)

    async def listen() -> None:
        while not over.is_set():
            await market.hear()
            await market.sweep(errands.complete_intents)
            await asyncio.sleep(0.05)

    async with market.working():
        listening = asyncio.create_task(listen())
        await asyncio.gather(*(one(case) for case in wanted))
        over.set()
        await listening


async def _time_passes(market: Market, wanted: Sequence[Case]) -> None:
    """What lost its caller is found, then what nobody paid is closed; all while the provider misbehaves."""
    market.later(errands.PATIENCE * 2)
    async with market.working():
        for _ in range(2):
            await market.sweep(errands.complete_intents)
            await market.hear()
    market.later(timedelta(hours=2))
    market.world.simulator.tick()
    async with market.working():
        await market.sweep(errands.expire)
        for case in wanted:
            buyers.come_back(market, case)
        for _ in range(2):
            await market.hear()
            await market.sweep()


async def _quiet(market: Market, books: asyncpg.Connection, wanted: Sequence[Case]) -> dict[str, list[str]]:
    """Nothing breaks any more: all must settle, and nothing may be buried again. What is left, if it does not."""
    market.misbehave(None)
    await _see_to_the_dead(market, books)
    for case in wanted:
        buyers.let_the_bank_answer(market, case)
    organization = market.world.organization.uuid
    for _ in range(ROUNDS):
        market.later(timedelta(minutes=10))
        async with market.working():
            while await market.hear():
                pass
            await market.sweep()
            await _poll_to_the_end(market, books)
            await _until_idle(books, organization)
        if not await market.hear() and not await books.fetchval(LEFT, organization):
            break
    dead = [str(dict(row)) for row in await books.fetch(DEAD, organization)]
    jobs = [str(dict(row)) for row in await books.fetch(JOBS, organization)]
    return {name: rows[:MOST] for name, rows in (("nothing is buried", dead), ("no job is left", jobs)) if rows}


async def _see_to_the_dead(market: Market, books: asyncpg.Connection) -> None:
    """Three times without an answer, and a return waits for a person (PAY-069); there are enough of them here that one
    does. Whoever runs this sees that the provider is well again, and does what the runbooks say."""
    organization = market.world.organization
    for row in await books.fetch(RETURNING, organization.uuid):
        decision = Decision(Caller(), PaymentId(row["payment_id"]), reason_code="PROVIDER_IS_WELL")
        with suppress(NotReturnable):  # The provider has it already, and will tell.
            await Clerk.at(market.desk).give_back(organization, decision)
    for row in await books.fetch(DEAD, organization.uuid):
        scope = Scope(OrganizationId(row["organization_id"]), "replay what the provider's trouble buried")
        wanted = Replay(Caller(), DeadLetterId(row["id"]), "operator", "the provider is well again")
        await market.application.batcher.submit(replay, scope, wanted)


async def _poll_to_the_end(market: Market, books: asyncpg.Connection) -> None:
    """A run reads so many pages; there may be more."""
    await market.sweep(poll)
    while await books.fetchval(UNREAD):
        await market.sweep(poll)


async def _until_idle(books: asyncpg.Connection, organization: object) -> None:
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            while await books.fetchval(LEFT, organization):
                await asyncio.sleep(0.05)
    except TimeoutError:
        return  # What is left is said in the end.


async def _ask_again(market: Market, wanted: Sequence[Case]) -> dict[str, list[str]]:
    """The same key answers the same payment, also hours later."""
    people = {
        each.identity: await a_person(market.application.database, identity=each.identity) for each in market.buyers
    }
    wrong = []
    for case in wanted:
        for key, told in case.answers.items():
            if len({answer["paymentId"] for answer in told}) > 1 or len({answer["amountMinor"] for answer in told}) > 1:
                wrong.append(f"{key}: {told}")
    for case in [each for each in wanted if each.answers][:REPEATED]:
        case.buyer = people[case.buyer.identity]
        before = case.answers[case.key][0]["paymentId"]
        async with market.client(case.number) as http:
            await buyers.begin(market, http, case, case.key)
        again = case.answers[case.key][-1]
        if again["paymentId"] != before:
            wrong.append(f"{case.key}: {before}, then {again['paymentId']}")
    return {"the same key answers the same payment": wrong} if wrong else {}


async def _late(market: Market, books: asyncpg.Connection, wanted: Sequence[Case]) -> dict[str, list[str]]:
    """Nobody is told that they came late who paid while the provider still took it (PAY-053)."""
    rows = await books.fetch(LATE, market.world.organization.uuid)
    sources = {each.source.id for each in wanted if each.fate == "pays_late"}
    wrong = [str(dict(row)) for row in rows if row["source_id"] not in sources]
    return {"only who pays late is late": wrong[:MOST]} if wrong else {}


def said(market: Market, wanted: Sequence[Case]) -> dict[str, list[str]]:
    wrong = [f"{case.key}: {code}" for case in wanted for code in case.refused if code not in REFUSALS]
    wrong += market.troubles
    return {"every answer is one that the contract allows": wrong[:MOST]} if wrong else {}


async def _figures(market: Market, books: asyncpg.Connection, wanted: Sequence[Case]) -> dict[str, int]:
    organization = market.world.organization
    states = {row["status"].lower(): row["count"] for row in await books.fetch(STATES, organization.uuid)}
    moved = Counter(each.kind.lower() for each in Books(market.file, books, organization).moved())
    refused = Counter(code for case in wanted for code in case.refused)
    return {
        "payments": sum(states.values()),
        **{f"  {name}": number for name, number in sorted(states.items())},
        **{f"{name}s at the provider": number for name, number in sorted(moved.items())},
        "buyers who were told nothing": sum(not case.answers for case in wanted),
        **{f"refused {name}": number for name, number in sorted(refused.items())},
    }
