"""Transactions with a scope, on a real server."""

import asyncio
from datetime import timedelta

import asyncpg
import pytest

from admitone.kernel import failpoints
from admitone.kernel.clock import Clock
from admitone.kernel.db import Database, Tx, WrongCount
from admitone.kernel.driver import ConnectionLost, DatabaseUnavailable
from admitone.kernel.errors import OutcomeUnknown
from admitone.kernel.ids import IdentityId, OrganizationId
from admitone.kernel.scope import Caller, IdentityScope, PeopleScope, PlatformScope, Role, Scope
from tests.builders import an_increment, an_organization, at_the_same_time, rows_of, value_of
from tests.proxy import Cut, a_wire
from tests.toy import commands, store
from tests.toy.model import Counter, Increment

ALL_COUNTERS = "SELECT organization_id, name FROM toy.counter WHERE $1::uuid IS NOT NULL"
"""Forgets to name the organisation: what row level security must catch."""


async def test_a_command_locks_decides_and_writes(database: Database) -> None:
    scope = await an_organization(database)
    [outcome] = await database.run(scope, lambda tx: commands.increment(tx, [an_increment(amount=3)]))
    assert outcome.value == 3
    assert await value_of(database, scope) == 3


@pytest.mark.covers("TEN-010", "TEN-T02", "INV-I05")
async def test_a_statement_that_forgets_the_organisation_sees_only_its_own_rows(database: Database) -> None:
    ours, theirs = await an_organization(database, "ours"), await an_organization(database, "theirs")
    rows = await database.read(ours, lambda tx: tx.fetch(ALL_COUNTERS))
    assert {row["organization_id"] for row in rows} == {ours.organization.uuid}
    assert theirs.organization.uuid not in {row["organization_id"] for row in rows}


@pytest.mark.covers("TEN-T09")
async def test_without_a_scope_there_are_no_rows(database: Database, database_url: str) -> None:
    await an_organization(database)
    connection = await asyncpg.connect(database_url, server_settings={"role": Role.APP.value})
    try:
        assert await connection.fetch("SELECT * FROM toy.counter") == []
        assert await connection.fetch("SELECT * FROM kernel.tenant") == []
        await connection.execute("SET app.organization_id = ''")
        assert await connection.fetch("SELECT * FROM toy.counter") == []
    finally:
        await connection.close()


async def test_the_login_itself_may_touch_nothing(database_url: str) -> None:
    connection = await asyncpg.connect(database_url)
    try:
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await connection.fetch("SELECT * FROM toy.counter")
    finally:
        await connection.close()


@pytest.mark.covers("TEN-010")
async def test_a_row_of_another_organisation_cannot_be_written(database: Database) -> None:
    ours, theirs = await an_organization(database), await an_organization(database)

    async def smuggle(tx: Tx) -> None:
        await tx.execute(
            "INSERT INTO toy.counter (organization_id, name, ceiling) SELECT $2, 'smuggled', 1 WHERE $1::uuid IS NOT NULL",
            theirs.organization.uuid,
        )

    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await database.run(ours, smuggle)


async def test_time_is_the_databases_and_stands_still_within_a_transaction(database: Database) -> None:
    scope = await an_organization(database)

    async def look(tx: Tx) -> tuple[object, object]:
        await asyncio.sleep(0.01)
        [row] = await tx.fetch("SELECT transaction_timestamp() AS at WHERE $1::uuid IS NOT NULL")
        return tx.now, row["at"]

    ours, theirs = await database.read(scope, look)
    assert ours == theirs


async def test_tests_may_shift_the_clock(database_url: str) -> None:
    async with Database(database_url) as now, Database(database_url, clock=Clock(timedelta(days=3))) as later:
        scope = await an_organization(now)

        async def look(tx: Tx) -> object:
            return tx.now

        assert timedelta(days=2) < await later.read(scope, look) - await now.read(scope, look) < timedelta(days=4)


async def test_a_guard_that_disagrees_with_policy_commits_nothing(database: Database) -> None:
    scope = await an_organization(database)

    async def overreach(tx: Tx) -> None:
        await store.add(tx, [("visits", 1)])
        await tx.execute_exactly(1, store.ADD, ["visits"], [10**15])

    with pytest.raises(WrongCount):
        await database.run(scope, overreach)
    assert await value_of(database, scope) == 0


async def test_many_rows_go_in_with_arrays_documents_and_nulls(database: Database) -> None:
    scope = await an_organization(database)
    made = [
        Counter("a", 0, 5, labels=("x", 'quo"te', "com,ma", ""), note={"deep": {"list": [1, None, "é"]}}),
        Counter("b", 0, 5, labels=(), note=None),
        Counter("c", 0, 5, labels=None, note={}),
    ]
    await database.run(scope, lambda tx: commands.create(tx, made))
    found = {c.name: c for c in await database.read(scope, store.list_counters, "", 10)}
    assert found["a"].labels == made[0].labels
    assert found["a"].note == made[0].note
    assert found["b"].labels == ()
    assert found["c"].note == {}


async def test_two_transactions_that_deadlock_both_succeed(database: Database) -> None:
    scope = await an_organization(database, "a", "b")
    turns = iter((("a", "b"), ("b", "a")))
    order: dict[int, tuple[str, str]] = {}
    touch = "UPDATE toy.counter SET value = value + 1 WHERE organization_id = $1 AND name = $2"

    async def cross(tx: Tx) -> None:
        first, second = order.setdefault(id(asyncio.current_task()), next(turns, ("a", "b")))
        await tx.execute(touch, first)
        await asyncio.sleep(0.05)
        await tx.execute(touch, second)

    class Patiently(Database):
        async def run(self, scope, work, *, patient=False):
            return await super().run(scope, work, patient=True)

    async with Patiently(database._url) as patient:
        outcomes = await at_the_same_time(2, cross, patient, scope)
    assert outcomes == [None, None]
    assert await value_of(database, scope, "a") == await value_of(database, scope, "b") == 2


async def test_a_swallowed_error_is_not_taken_for_success(database: Database) -> None:
    scope = await an_organization(database)

    async def careless(tx: Tx) -> None:
        with pytest.raises(asyncpg.PostgresError):
            await tx.execute("SELECT 1 / 0 WHERE $1::uuid IS NOT NULL")

    with pytest.raises(AssertionError, match="swallowed"):
        await database.run(scope, careless)


@pytest.mark.covers("CON-010")
async def test_a_failure_before_commit_leaves_no_trace(database: Database) -> None:
    scope = await an_organization(database)

    def explode() -> None:
        raise RuntimeError("planned")

    with failpoints.armed("commit.before", explode), pytest.raises(RuntimeError):
        await database.run(scope, lambda tx: commands.increment(tx, [an_increment()]))
    assert await value_of(database, scope) == 0
    assert await rows_of(database, scope, "toy.increment") == 0


@pytest.mark.parametrize("cut", [Cut.BEFORE_COMMIT, Cut.AFTER_COMMIT])
@pytest.mark.covers("INV-I06")
async def test_a_lost_answer_to_commit_is_looked_up_and_counts_once(
    database: Database, database_url: str, cut: Cut
) -> None:
    scope = await an_organization(database)
    async with a_wire(database_url) as (wire, through), Database(through) as remote:
        await value_of(remote, scope)
        wire.cut = cut
        [outcome] = await remote.run(scope, lambda tx: commands.increment(tx, [an_increment()]))
    assert wire.cuts == 1
    assert outcome.value == 1
    assert await value_of(database, scope) == 1
    assert await rows_of(database, scope, "toy.increment") == 1


async def test_what_nobody_can_tell_is_unknown_and_not_a_failure(
    database: Database, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("admitone.kernel.db.RESOLVE_SECONDS", 0.3)
    scope = await an_organization(database)
    async with a_wire(database_url) as (wire, through), Database(through) as remote:
        await value_of(remote, scope)
        wire.cut, wire.refuse = Cut.AFTER_COMMIT, True
        with pytest.raises(OutcomeUnknown):
            await remote.run(scope, lambda tx: commands.increment(tx, [an_increment()]))
    assert await value_of(database, scope) == 1


async def test_a_database_that_is_away_is_unavailable() -> None:
    async with Database("postgresql://nobody@/nothing?host=/nowhere") as away:
        with pytest.raises(DatabaseUnavailable):
            await away.run(Scope(OrganizationId.new()), lambda tx: commands.increment(tx, [an_increment()]))


async def test_connections_that_the_server_ended_are_replaced(database_url: str, superuser: asyncpg.Connection) -> None:
    async with Database(database_url) as ours:
        scope = await an_organization(ours)
        for _ in range(3):
            await superuser.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1 AND datname = current_database()",
                Role.APP.value,
            )
            await ours.run(scope, lambda tx: commands.increment(tx, [an_increment()]))
        assert await value_of(ours, scope) == 3


async def test_bad_values_are_not_mistaken_for_a_lost_connection(database: Database) -> None:
    scope = await an_organization(database)
    for poison in (an_increment("nul\0"), an_increment(amount=-1)):
        with pytest.raises(Exception) as raised:
            await database.run(
                scope, lambda tx, poison=poison: commands.increment(tx, [poison, an_increment(amount=1)])
            )
        assert not isinstance(raised.value, (ConnectionLost, DatabaseUnavailable))


async def test_a_person_reads_their_own_rows_across_organisations_and_nobody_elses(database: Database) -> None:
    me, somebody = IdentityId.new(), IdentityId.new()
    for person in (me, me, somebody):
        scope = await an_organization(database)
        each = Increment(Caller(actor=person), "visits", 1)
        await database.run(scope, lambda tx, each=each: commands.increment(tx, [each]))
    assert len(await database.read(IdentityScope(me), store.list_own_increments)) == 2
    assert len(await database.read(IdentityScope(somebody), store.list_own_increments)) == 1
    assert await database.read(IdentityScope(IdentityId.new()), store.list_own_increments) == []


@pytest.mark.covers("TEN-T03")
async def test_a_registry_is_written_through_its_function_and_read_by_nobody(database: Database) -> None:
    scope = PeopleScope("claim a nickname")
    me, you = IdentityId.new(), IdentityId.new()
    name = f"nick-{me}"
    [first] = await database.run(scope, lambda tx: tx.fetch(store.CLAIM_NICKNAME, name, me.uuid))
    [second] = await database.run(scope, lambda tx: tx.fetch(store.CLAIM_NICKNAME, name, you.uuid))
    assert first[0] == second[0] == me.uuid
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await database.read(scope, lambda tx: tx.fetch("SELECT * FROM toy.nickname"))


@pytest.mark.parametrize("reason", ["", "  "])
def test_platform_work_without_a_reason_is_refused(reason: str) -> None:
    with pytest.raises(ValueError, match="reason"):
        PlatformScope(reason, Role.RELAY)


def test_a_service_role_cannot_pose_as_an_organisation() -> None:
    with pytest.raises(ValueError, match="organisation"):
        PlatformScope("because", Role.APP)


async def test_a_read_cannot_write(database: Database) -> None:
    scope = await an_organization(database)
    with pytest.raises(Exception, match="read-only"):
        await database.read(scope, lambda tx: store.add(tx, [("visits", 1)]))


async def test_an_id_that_the_server_never_heard_of_is_unknown(
    database: Database, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It lost its tail: the transaction is gone, but its id will be another's."""
    monkeypatch.setattr("admitone.kernel.db.RESOLVE_SECONDS", 0.3)
    scope = await an_organization(database)

    async def forget(tx: Tx) -> None:
        await store.add(tx, [("visits", 1)])
        tx.id = str(2**62)

    async with a_wire(database_url) as (wire, through), Database(through) as remote:
        await value_of(remote, scope)
        wire.cut = Cut.AFTER_COMMIT
        with pytest.raises(OutcomeUnknown):
            await remote.run(scope, forget)


async def test_an_error_of_the_work_itself_is_not_taken_for_a_lost_connection(database: Database) -> None:
    scope = await an_organization(database)
    tries: list[int] = []

    async def clumsy(tx: Tx) -> None:
        tries.append(1)
        raise FileNotFoundError("a file, not the database")

    with pytest.raises(FileNotFoundError):
        await database.run(scope, clumsy)
    assert len(tries) == 1


async def test_a_statement_that_takes_too_long_is_told_at_once(database_url: str, monkeypatch) -> None:
    monkeypatch.setattr("admitone.kernel.driver.STATEMENT_TIMEOUT_MS", 50)
    async with Database(database_url) as hasty:
        scope = await an_organization(hasty)
        with pytest.raises(DatabaseUnavailable):
            await hasty.run(scope, lambda tx: tx.fetch("SELECT pg_sleep(5) WHERE $1::uuid IS NOT NULL"))


async def test_a_server_without_a_free_connection_is_unavailable(database_url: str, superuser) -> None:
    role = f"crowded_{OrganizationId.new().uuid.hex}"
    await superuser.execute(f"CREATE ROLE {role} LOGIN CONNECTION LIMIT 0 IN ROLE admitone_app")
    try:
        async with Database(database_url.replace("//admitone@", f"//{role}@")) as crowded:
            with pytest.raises(DatabaseUnavailable):
                await value_of(crowded, Scope(OrganizationId.new()))
    finally:
        await superuser.execute(f"DROP ROLE {role}")


async def test_a_type_that_a_migration_changed_is_no_error(database: Database, database_url: str, superuser) -> None:
    scope = await an_organization(database)
    note = "SELECT note FROM toy.counter WHERE organization_id = $1"
    async with Database(database_url) as ours:
        await ours.run(scope, lambda tx: tx.fetch(note))
        await superuser.execute("ALTER TABLE toy.counter ALTER COLUMN note TYPE text")
        try:
            await ours.run(scope, lambda tx: tx.fetch(note))
        finally:
            await superuser.execute("ALTER TABLE toy.counter ALTER COLUMN note TYPE jsonb USING note::jsonb")


async def test_a_busy_process_still_answers_a_ping(database_url: str, monkeypatch) -> None:
    async with Database(database_url) as busy:
        scope = await an_organization(busy)
        sleep = "SELECT pg_sleep(2) WHERE $1::uuid IS NOT NULL"
        reads = [asyncio.create_task(busy.read(scope, lambda tx: tx.fetch(sleep))) for _ in range(14)]
        await asyncio.sleep(0.2)
        await asyncio.wait_for(busy.ping(), 1.7)
        await asyncio.gather(*reads)
