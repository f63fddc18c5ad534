"""Deltas are folded once, balances are the fold at every moment, and what was sealed cannot be changed unseen."""

import asyncio
import random
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID

import asyncpg
import pytest

from admitone.finance.ledger.api import (
    Account,
    Balance,
    ChainPage,
    Event,
    Fault,
    FaultKind,
    Posting,
    TailPage,
    TransferId,
    balance_as_of,
    balances,
    count_transfers,
    post,
    roll,
    roll_everybody,
    verify_chain,
    verify_tail,
)
from admitone.finance.ledger.rolling import Turn, roll_for_a_minute
from admitone.finance.sources.api import Flow, PaymentId
from admitone.kernel.clock import Clock
from admitone.kernel.db import Database, Tx
from admitone.kernel.ids import OrganizationId
from admitone.kernel.jobs import Desk, Job, enqueue
from admitone.kernel.jobs.schedules import Firing
from admitone.kernel.jobs.worker import Rhythm
from admitone.kernel.scope import Caller, Scope
from tests import jobs
from tests.builders import an_organization, at_the_same_time, rows_of
from tests.finance.ledger.books import a_posting, booked, standing, the_trial


async def rolled(database: Database, scope: Scope) -> None:
    while (await database.run(scope, roll)).deltas:
        pass


async def verified(database: Database, scope: Scope) -> tuple[ChainPage, TailPage]:
    return (
        await database.read(scope, partial(verify_chain, most=100)),
        await database.read(scope, verify_tail),
    )


async def captures(database: Database, scope: Scope, times: int) -> None:
    for number in range(1, times + 1):
        amounts = {"gross": 500, "fee": 30, "transfer": 470}
        await booked(database, scope, a_posting(Event.CAPTURED, payment=PaymentId(UUID(int=number)), **amounts))


async def test_rolling_changes_no_balance_and_leaves_no_delta(database: Database):
    scope = await an_organization(database)
    await captures(database, scope, 5)
    before = await database.read(scope, balances)
    await rolled(database, scope)
    assert await rows_of(database, scope, "ledger.delta") == 0
    assert await rows_of(database, scope, "ledger.seal_member") == 15
    assert await database.read(scope, balances) == before
    await captures(database, scope, 6)  # Five of them are replays.
    await rolled(database, scope)
    assert standing(await the_trial(database, scope)) == {
        Account.MA: 180,
        Account.ORG: -2820,
        Account.FEER: -180,
        Account.SETL: 2820,
    }


@pytest.mark.covers("MOR-001")
@pytest.mark.parametrize("seed", range(4))
async def test_a_balance_is_the_fold_however_posting_and_rolling_interleave(
    database: Database, superuser: asyncpg.Connection, seed: int
):
    scope, chance = await an_organization(database), random.Random(seed)
    kinds = [(Event.REFUND_SETTLED, Flow.SALE), (Event.REFUND_SETTLED, Flow.STAY), (Event.DISPUTE_OPENED, Flow.STAY)]

    def a_movement(number: int) -> Posting:
        event, flow = chance.choice(kinds)
        currency, city = ("EUR", "BRL")[number % 2], chance.choice(("GLOBAL", "LIS", "PRT"))
        return a_posting(event, flow, cause=f"c{number}", gross=7, payment=None, city_code=city, currency=currency)

    async def step() -> None:
        if chance.random() < 0.4:
            await database.run(scope, partial(roll, most=chance.randrange(1, 4)), patient=True)
        else:
            postings = [a_movement(chance.randrange(400)) for _ in range(chance.randrange(1, 6))]
            await database.run(scope, partial(post, postings=postings), patient=True)

    for _ in range(12):
        await asyncio.gather(*(step() for _ in range(4)))
        assert await the_fold(superuser, scope) == await the_balances(database, scope)
    await rolled(database, scope)
    assert await the_fold(superuser, scope) == await the_balances(database, scope)
    chain, tail = await verified(database, scope)
    assert (chain.faults, tail.faults, tail.unsealed) == ((), (), ())
    assert chain.transfers == tail.looked_at == await rows_of(database, scope, "ledger.transfer")


async def the_fold(superuser: asyncpg.Connection, scope: Scope) -> dict[tuple[str, str], tuple[int, int]]:
    rows = await superuser.fetch(
        """
        SELECT account, currency, sum(debit)::bigint AS debits, sum(credit)::bigint AS credits
          FROM (SELECT debit_account AS account, currency, amount_minor AS debit, 0 AS credit
                  FROM ledger.transfer WHERE organization_id = $1
                 UNION ALL
                SELECT credit_account, currency, 0, amount_minor FROM ledger.transfer WHERE organization_id = $1) AS m
         GROUP BY account, currency
        """,
        scope.organization.uuid,
    )
    return {(row["account"], row["currency"]): (row["debits"], row["credits"]) for row in rows}


async def the_balances(database: Database, scope: Scope) -> dict[tuple[str, str], tuple[int, int]]:
    found = await database.read(scope, balances)
    return {(b.holding.account, b.holding.currency): (b.debits_minor, b.credits_minor) for b in found}


async def test_two_rollers_fold_everything_once(database: Database, superuser: asyncpg.Connection):
    scope = await an_organization(database)
    await captures(database, scope, 24)
    outcomes = await at_the_same_time(4, partial(_roll_patiently, most=6), database, scope)
    assert not [each for each in outcomes if isinstance(each, BaseException)]
    await rolled(database, scope)
    assert await the_fold(superuser, scope) == await the_balances(database, scope)
    chain, _ = await verified(database, scope)
    assert (chain.transfers, chain.faults) == (72, ())


async def _roll_patiently(tx: Tx, most: int) -> None:
    tx.patient = True
    await roll(tx, most=most)


async def test_a_balance_is_known_as_of_any_instant(database_url: str, superuser: asyncpg.Connection):
    """Posted over four days, some of them rolled, and asked for at, before and between every posting."""
    async with Database(database_url) as today:
        scope = await an_organization(today)
    for hours in (-75, -73, -49, -48, -26, 0):
        async with Database(database_url, clock=Clock(timedelta(hours=hours))) as then:
            posting = a_posting(Event.CAPTURED, cause=f"h{hours}", gross=1000 + hours, fee=30, transfer=470)
            await booked(then, scope, posting)
            if hours == -48:  # Of more than one day, and more than one day stays open.
                await rolled(then, scope)
    rows = await superuser.fetch(
        "SELECT posted_at, debit_account, credit_account, amount_minor FROM ledger.transfer WHERE organization_id = $1",
        scope.organization.uuid,
    )
    moments = sorted({row["posted_at"] + timedelta(microseconds=by) for row in rows for by in (-1, 0, 1)})
    async with Database(database_url) as today:
        for rolled_all in (False, True):
            if rolled_all:
                await rolled(today, scope)
            for moment in (datetime(2020, 1, 1, tzinfo=UTC), *moments):
                for account in (Account.ORG, Account.MA):
                    found = await today.read(scope, balance_as_of, account, scope.organization.uuid, "EUR", moment)
                    until = [row for row in rows if row["posted_at"] <= moment]
                    debits = sum(row["amount_minor"] for row in until if row["debit_account"] == account)
                    credits_ = sum(row["amount_minor"] for row in until if row["credit_account"] == account)
                    assert found == Balance(found.holding, debits, credits_)


async def test_a_chain_that_nobody_touched_holds_in_pages(database: Database):
    scope = await an_organization(database)
    for number in range(5):
        await booked(database, scope, a_posting(Event.FEES_FINAL, cause=str(number), fee=1))
        await rolled(database, scope)
    await booked(database, scope, a_posting(Event.FEES_FINAL, cause="open", fee=1))
    last, seals = 0, 0
    while (page := await database.read(scope, partial(verify_chain, after=last, most=2))).seals:
        assert page.faults == ()
        last, seals = page.last, seals + page.seals
    assert (last, seals) == (5, 5)
    tail = await database.read(scope, verify_tail)
    assert (tail.looked_at, len(tail.unsealed), tail.faults) == (6, 1, ())


async def test_what_one_roll_seals_in_parts_is_one_chain(database: Database, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("admitone.finance.ledger.sealing.SEAL_SIZE", 4)
    scope = await an_organization(database)
    for times in (5, 7):
        await captures(database, scope, times)
        await rolled(database, scope)
    chain, _ = await verified(database, scope)
    assert (chain.seals, chain.transfers, chain.faults) == (6, 21, ())


@pytest.mark.parametrize(
    ("tampering", "kind", "names"),
    [
        ("UPDATE ledger.transfer SET amount_minor = amount_minor + 1 WHERE id = $1", FaultKind.CHANGED, True),
        ("UPDATE ledger.transfer SET payee_id = gen_random_uuid() WHERE id = $1", FaultKind.CHANGED, True),
        ("UPDATE ledger.transfer SET reference = 'ch_2' WHERE id = $1", FaultKind.CHANGED, True),
        ("UPDATE ledger.transfer SET metadata = '{\"rate\": 1}' WHERE id = $1", FaultKind.CHANGED, True),
        ("UPDATE ledger.transfer SET posted_at = posted_at + '1 us' WHERE id = $1", FaultKind.CHANGED, True),
        ("DELETE FROM ledger.transfer WHERE id = $1", FaultKind.MISSING, True),
        ("DELETE FROM ledger.seal_member WHERE transfer_id = $1", FaultKind.BROKEN_SEAL, False),
        ("UPDATE ledger.seal_member SET digest = sha256(digest) WHERE transfer_id = $1", FaultKind.BROKEN_SEAL, False),
        (
            "DELETE FROM ledger.seal s USING ledger.seal_member m WHERE (s.organization_id, number, transfer_id) = (m.organization_id, seal, $1)",
            FaultKind.BROKEN_LINK,
            False,
        ),
    ],
)
async def test_what_was_sealed_cannot_be_changed_unseen(
    database: Database, superuser: asyncpg.Connection, tampering: str, kind: FaultKind, names: bool
):
    scope = await an_organization(database)
    for number in range(3):
        await captures(database, scope, number + 1)
        await rolled(database, scope)
    victim = await superuser.fetchval(
        "SELECT transfer_id FROM ledger.seal_member WHERE organization_id = $1 AND seal = 2 AND ordinal = 2",
        scope.organization.uuid,
    )
    await superuser.execute(tampering, victim)
    chain, tail = await verified(database, scope)
    seen = [*chain.faults, *tail.faults]
    assert kind in {fault.kind for fault in seen}
    assert not names or Fault(kind, 2, TransferId(victim)) in seen


async def test_a_last_seal_that_is_gone_leaves_strays(database: Database, superuser: asyncpg.Connection):
    """Nothing stands on it yet, so no link breaks."""
    scope = await an_organization(database)
    await captures(database, scope, 1)
    await rolled(database, scope)
    await superuser.execute("DELETE FROM ledger.seal WHERE organization_id = $1", scope.organization.uuid)
    chain, tail = await verified(database, scope)
    assert (chain.faults, [fault.kind for fault in tail.faults]) == ((), [FaultKind.STRAY] * 3)


async def test_a_transfer_that_nobody_posted_is_a_stray(database: Database, superuser: asyncpg.Connection):
    scope = await an_organization(database)
    await captures(database, scope, 1)
    await superuser.execute(
        "UPDATE ledger.delta SET transfers = transfers[1:2] WHERE organization_id = $1", scope.organization.uuid
    )
    await rolled(database, scope)
    _, tail = await verified(database, scope)
    assert [fault.kind for fault in tail.faults] == [FaultKind.STRAY, FaultKind.MISFIT]
    await superuser.execute("DELETE FROM ledger.delta WHERE organization_id = $1", scope.organization.uuid)


async def test_the_errand_rolls_every_organisation_that_has_something_open(
    database: Database, monkeypatch: pytest.MonkeyPatch
):
    scopes = [await an_organization(database) for _ in range(3)]
    for scope in scopes:
        await captures(database, scope, 2)
    monkeypatch.setattr("admitone.finance.ledger.rolling.MINUTE_SECONDS", 0.01)
    for _ in range(1000):  # A minute as short as that may be over after one organisation.
        await roll_for_a_minute.work(Desk(database, None), None)  # type: ignore[arg-type]
        if not sum([await rows_of(database, scope, "ledger.delta") for scope in scopes]):
            break
    else:
        pytest.fail("an organisation never had its turn")


async def test_one_organisation_that_cannot_be_rolled_stops_no_other_and_no_minute(
    database: Database, superuser: asyncpg.Connection, monkeypatch: pytest.MonkeyPatch
):
    broken, sound = sorted([await an_organization(database) for _ in range(2)], key=lambda s: s.organization.uuid)
    for scope in (broken, sound):
        await captures(database, scope, 1)
    whose = broken.organization.uuid
    await superuser.execute("UPDATE ledger.delta SET accounts[1] = 'nonsense' WHERE organization_id = $1", whose)
    passes = 0

    async def one_more(*args: Any, **said: Any) -> int:
        nonlocal passes
        passes += 1
        if passes == 3:
            raise asyncio.CancelledError
        return await roll_everybody(*args, **said)

    monkeypatch.setattr("admitone.finance.ledger.rolling.roll_everybody", one_more)
    monkeypatch.setattr("admitone.finance.ledger.rolling.MINUTE_SECONDS", 600)
    monkeypatch.setattr("admitone.finance.ledger.rolling.PAUSE_SECONDS", 0.01)
    try:
        with pytest.raises(ExceptionGroup):
            await roll_everybody(database)
        with pytest.raises(asyncio.CancelledError):
            await roll_for_a_minute.work(Desk(database, None), None)  # type: ignore[arg-type]
    finally:
        await superuser.execute("DELETE FROM ledger.delta WHERE organization_id = $1", whose)
    assert passes == 3
    assert await rows_of(database, sound, "ledger.delta") == 0


async def test_a_worker_that_is_told_to_stop_does_not_wait_for_the_minute(database: Database):
    """What is open then is rolled by whoever works next; the job itself has ended, and does not begin anew."""
    scope = await an_organization(database)
    duties = jobs.duties(roll_for_a_minute)
    fired = Job.of(roll_for_a_minute, Firing("ledger.roll", datetime.now(UTC)), Caller(), key=str(scope.organization))
    await database.run(scope, lambda tx: enqueue(tx, [fired]))
    async with jobs.a_worker(database, duties, Rhythm(poll_seconds=0.02, grace_seconds=3600)):
        await captures(database, scope, 1)
        async with asyncio.timeout(60):
            while await rows_of(database, scope, "ledger.delta"):  # noqa: ASYNC110  Another task tells nobody.
                await asyncio.sleep(0.02)
    assert await rows_of(database, scope, "kernel.job") == 0


OLDEST = "(SELECT min(id::text)::uuid FROM ledger.delta WHERE organization_id = $1)"
NAMED = f"(SELECT transfers[1] FROM ledger.delta WHERE organization_id = $1 AND id = {OLDEST})"


@pytest.mark.parametrize(
    ("tampering", "kind"),
    [
        (f"DELETE FROM ledger.transfer WHERE organization_id = $1 AND id = {NAMED}", FaultKind.MISSING),
        (
            f"UPDATE ledger.delta SET transfers = transfers || transfers[1] WHERE organization_id = $1 AND id = {OLDEST}",
            FaultKind.MISFIT,
        ),
        (
            f"UPDATE ledger.delta SET transfers = transfers || {NAMED} WHERE organization_id = $1 AND id <> {OLDEST}",
            FaultKind.MISFIT,
        ),
        (
            f"UPDATE ledger.transfer SET amount_minor = 9 WHERE organization_id = $1 AND id = {NAMED}",
            FaultKind.MISFIT,
        ),
        (
            f"UPDATE ledger.transfer SET payee_id = id WHERE organization_id = $1 AND id = {NAMED}",
            FaultKind.MISFIT,
        ),
    ],
)
async def test_a_delta_that_does_not_fit_its_transfers_is_set_aside_and_seen(
    database: Database, superuser: asyncpg.Connection, monkeypatch: pytest.MonkeyPatch, tampering: str, kind: FaultKind
):
    """What was changed before it was sealed is not sealed as it is now; and the others do not wait for it."""
    monkeypatch.setattr("admitone.finance.ledger.rolling.DELTAS", 1)
    scope = await an_organization(database)
    await captures(database, scope, 3)
    await superuser.execute(tampering, scope.organization.uuid)
    bad = 2 if "<>" in tampering else 1
    try:
        await roll_everybody(database)
        assert await rows_of(database, scope, "ledger.delta") == bad
        assert await rows_of(database, scope, "ledger.seal_member") == 3 * (3 - bad)
        chain, tail = await verified(database, scope)
        assert chain.faults == ()
        assert {fault.kind for fault in tail.faults} == {kind, FaultKind.MISFIT}
    finally:
        await superuser.execute("DELETE FROM ledger.delta WHERE organization_id = $1", scope.organization.uuid)


async def test_a_pass_begins_where_the_last_one_ended_and_ends_with_its_time(
    database: Database, monkeypatch: pytest.MonkeyPatch
):
    scopes = [await an_organization(database) for _ in range(4)]
    for scope in scopes:
        await captures(database, scope, 1)
    visited: list[OrganizationId] = []

    async def visit(_: Database, organization: OrganizationId, **said: Any) -> int:
        visited.append(organization)
        return 1

    monkeypatch.setattr("admitone.finance.ledger.rolling.roll_out", visit)
    here = Turn()
    await roll_everybody(database, here)
    everybody = len(visited)
    assert {scope.organization for scope in scopes} <= {*visited}
    visited.clear()
    for _ in range(2 * everybody):
        await roll_everybody(database, here, lambda: True)
    assert len({*visited[:everybody]}) == everybody
    assert visited[:everybody] == visited[everybody:]


async def test_a_page_of_the_chain_is_so_many_transfers_and_not_so_many_seals(
    database: Database, superuser: asyncpg.Connection, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("admitone.finance.ledger.verification.SEALED", 6)
    scope = await an_organization(database)
    for number in range(1, 8):
        await captures(database, scope, number)
        await rolled(database, scope)
    pages, last = [], 0
    while (page := await database.read(scope, verify_chain, last)).seals:
        assert page.faults == ()
        pages.append((page.seals, page.transfers))
        last = page.last
    assert pages == [(2, 6), (2, 6), (2, 6), (1, 3)]
    await captures(database, scope, 8)
    assert await database.read(scope, count_transfers) == 24
    await superuser.execute(
        "UPDATE ledger.seal SET total = total + 1 WHERE organization_id = $1 AND number = 4", scope.organization.uuid
    )
    monkeypatch.undo()
    chain, _ = await verified(database, scope)
    assert {(fault.kind, fault.seal) for fault in chain.faults} == {(FaultKind.BROKEN_LINK, n) for n in (4, 5)}
