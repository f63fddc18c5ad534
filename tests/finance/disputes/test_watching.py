"""Somebody is told of what nobody has answered, louder the nearer its date; and what was left undone is done."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import asyncpg
import pytest

from admitone.finance.disputes import errands
from admitone.finance.disputes.model import Case, State, StepKind
from admitone.finance.disputes.policy import Urgency
from admitone.finance.gateways.sandbox.faults import CallFault, Faults
from admitone.finance.payments.errors import ProviderUnanswered
from admitone.kernel.alerts import AlertClass
from admitone.kernel.batch import Batcher
from admitone.kernel.clock import Clock
from admitone.kernel.db import Database
from tests.alerts import told_about
from tests.finance.disputes.cases import (
    a_disputed_sale,
    a_read_case,
    ended,
    filed,
    heard,
    open_alerts,
    read,
    says,
    the_case,
    trail,
    watched,
)
from tests.finance.world import World

HOUR = 3600


async def aged(superuser: asyncpg.Connection, case: Case, by: timedelta) -> None:
    """As if it had been touched so long ago."""
    await superuser.execute(
        "UPDATE disputes.dispute SET changed_at = changed_at - $2::interval WHERE id = $1", case.id.uuid, by
    )


@pytest.mark.covers("FIN-075")
@pytest.mark.parametrize(
    ("due_in", "rule", "kind"),
    [
        (80 * HOUR, "disputes.opened", AlertClass.TICKET),
        (71 * HOUR, "disputes.evidence_due", AlertClass.TICKET),
        (23 * HOUR, "disputes.evidence_due_very_soon", AlertClass.PAGER),
        (0, "disputes.evidence_overdue", AlertClass.TICKET),
    ],
)
async def test_somebody_is_told_as_urgently_as_it_is(
    world: World, superuser: asyncpg.Connection, due_in: int, rule: str, kind: AlertClass
):
    case = (await a_read_case(world, due_in=due_in)).case
    for _ in range(2):
        await watched(world)
        assert await open_alerts(superuser, case) == {rule: kind}
    told = [each for each in await told_about(superuser, str(case.id)) if each["rule"] == rule]
    assert len(told) == 1
    assert told[0]["entities"] == {"disputeId": str(case.id), "paymentId": str(case.payment)}
    assert told[0]["organization"] == str(world.organization)


@pytest.mark.covers("FIN-075")
async def test_a_draft_silences_nobody_and_a_submission_everybody(world: World, superuser: asyncpg.Connection):
    case = (await a_read_case(world, due_in=23 * HOUR)).case
    case = await filed(world, await says(world, case))
    await watched(world)
    assert [*await open_alerts(superuser, case)] == ["disputes.evidence_due_very_soon"]
    case = await says(world, case, submit=True)
    await watched(world)
    assert [*await open_alerts(superuser, case)] == ["disputes.evidence_due_very_soon"], "it is not there yet"
    await filed(world, case)
    await watched(world)
    assert await open_alerts(superuser, case) == {}


async def test_the_same_dispute_grows_louder(world: World, superuser: asyncpg.Connection):
    """By the same clock: its date comes nearer, and who was told less loudly is told no more."""
    disputed = await a_disputed_sale(world, due_in=80 * HOUR)
    await read(world, disputed.case)
    rules = []
    for due_in in (80, 50, 10, -1):
        due_at = datetime.now(UTC) + timedelta(hours=due_in)
        await superuser.execute("UPDATE disputes.dispute SET due_at = $2 WHERE id = $1", disputed.case.id.uuid, due_at)
        world.simulator.misbehave(Faults(unreachable=10_000))  # The file would say otherwise.
        await watched(world)
        [rule] = await open_alerts(superuser, disputed.case)
        rules.append(rule)
    assert rules == [errands.RULES[urgency].name for urgency in Urgency]


async def test_whoever_is_told_when_it_opens_is_told_before_the_file_is_read(
    world: World, superuser: asyncpg.Connection
):
    disputed = await a_disputed_sale(world)
    world.simulator.misbehave(Faults(script=(CallFault.ERROR_BEFORE,)))
    with pytest.raises(ProviderUnanswered):
        await read(world, disputed.case)
    assert await open_alerts(superuser, disputed.case) == {"disputes.opened": "TICKET"}


async def test_a_file_that_nobody_could_read_is_read_by_the_watch(world: World):
    disputed = await a_disputed_sale(world)
    await watched(world)
    case = await the_case(world, disputed.case)
    assert case.told_at is not None
    assert await trail(world, case) == [StepKind.OPENED, StepKind.FILE_READ]


async def test_a_date_that_nobody_told_us_is_taken_for_the_shortest(world: World, superuser: asyncpg.Connection):
    disputed = await a_disputed_sale(world)
    world.simulator.misbehave(Faults(unreachable=10_000))
    await superuser.execute(
        "UPDATE disputes.dispute SET due_at = $2 WHERE id = $1",
        disputed.case.id.uuid,
        datetime.now(UTC) + timedelta(hours=20),
    )
    await watched(world)
    assert [*await open_alerts(superuser, disputed.case)] == ["disputes.evidence_due_very_soon"]


async def test_who_answered_at_the_providers_own_page_wakes_nobody(world: World, superuser: asyncpg.Connection):
    disputed = await a_read_case(world, due_in=23 * HOUR)
    world.simulator.act("answer_dispute", disputed.charge)
    await watched(world)
    assert (await the_case(world, disputed.case)).state is State.EVIDENCE_SUBMITTED
    assert "disputes.evidence_due_very_soon" not in await open_alerts(superuser, disputed.case)


async def test_what_a_crash_left_on_its_way_arrives(world: World, superuser: asyncpg.Connection):
    """The job that should have sent it is gone; nothing of it is sent twice."""
    disputed = await a_read_case(world)
    case = await says(world, disputed.case, submit=True)
    await watched(world)
    assert (await the_case(world, case)).is_being_submitted, "the job may still be at it"
    await aged(superuser, case, errands.PATIENCE)
    await watched(world)
    assert (await the_case(world, case)).state is State.EVIDENCE_SUBMITTED
    await filed(world, case)
    assert (await trail(world, case)).count(StepKind.SUBMITTED) == 1


async def test_what_is_decided_is_over_for_everybody(world: World, superuser: asyncpg.Connection):
    disputed = await a_read_case(world, due_in=23 * HOUR)
    await watched(world)
    world.simulator.act("lose", disputed.charge)
    await heard(world, disputed.payment)
    closed = await the_case(world, disputed.case)
    await ended(world, closed)
    assert await open_alerts(superuser, closed) == {}
    await watched(world)
    assert await open_alerts(superuser, closed) == {}


async def test_one_that_cannot_be_seen_to_keeps_nobody_waiting(
    world: World, superuser: asyncpg.Connection, monkeypatch: pytest.MonkeyPatch
):
    first, second = await a_disputed_sale(world), await a_disputed_sale(world)
    find = world.gateway.find_dispute

    async def broken(caller: object, dispute: str) -> object:
        if dispute == first.case.reference:
            raise RuntimeError("a bug")
        return await find(caller, dispute)  # type: ignore[arg-type]

    monkeypatch.setattr(world.gateway, "find_dispute", broken)
    await watched(world)
    assert (await the_case(world, first.case)).told_at is None
    assert (await the_case(world, second.case)).told_at is not None
    assert [*await open_alerts(superuser, first.case)] == ["disputes.opened"], "and somebody is told of it"


async def test_dates_are_those_of_the_database(world: World, database_url: str, superuser: asyncpg.Connection):
    """Three days later, by its clock, the same case is more urgent."""
    disputed = await a_read_case(world, due_in=80 * HOUR)
    async with Database(database_url, clock=Clock(timedelta(hours=60))) as later:
        await watched(replace(world, database=later, batcher=Batcher(later)))
    assert "disputes.evidence_due_very_soon" in await open_alerts(superuser, disputed.case)
