"""What is found is kept until it is over or somebody closes it; never is the ledger edited."""

import asyncio
from datetime import timedelta

import asyncpg
import pytest

from admitone.finance.gateways.api import MovementKind
from admitone.finance.ledger.api import Event
from admitone.finance.reconciliation import commands
from admitone.finance.reconciliation.comparing import streams, sums, suspects
from admitone.finance.reconciliation.errors import IssueNotFound
from admitone.finance.reconciliation.model import Closing, IssueId, IssueState, Taking
from tests.finance.lives import FEES, PAY, live
from tests.finance.payments.telling import published
from tests.finance.reconciliation.books import AN_HOUR, Sides
from tests.finance.world import a_world

DAY = timedelta(days=1)
SALE = {"fee": 0, "transfer": 0}
TRANSFERS = "SELECT md5(string_agg(t::text, '|' ORDER BY id)) FROM ledger.transfer AS t WHERE organization_id = $1"


@pytest.mark.covers("FIN-043")
async def test_a_difference_is_one_issue_however_often_it_is_seen(sides: Sides, superuser: asyncpg.Connection):
    before = await superuser.fetchval(TRANSFERS, sides.world.organization.uuid)
    sides.moved(777, "ch_nobody")
    for _ in range(2):
        await sides.run()
    await sides.run(later=AN_HOUR)
    [issue] = await sides.issues()
    assert issue.last_seen_at - issue.first_seen_at >= AN_HOUR
    assert (issue.responsible, issue.taken_by) == ("finance operations", None)
    assert await published(sides.world, "reconciliation.issue_opened") == 1
    assert await sides.alerts(superuser) == ["reconciliation.divergence", "reconciliation.gateway_above_ledger"]
    assert await superuser.fetchval(TRANSFERS, sides.world.organization.uuid) == before


async def test_an_issue_follows_its_difference(sides: Sides):
    """What was missing is posted by half: it is the same issue, of another class."""
    sides.moved(5000, "ch_late")
    await sides.run()
    [missing] = await sides.issues()
    payment = await sides.posted(Event.CAPTURED, "ch_late", gross=3000, **SALE)
    await sides.run()
    [half] = await sides.issues()
    assert (half.id, half.found.difference, half.found.here_minor) == (missing.id, "AMOUNT", 3000)
    assert half.found.payment == payment


@pytest.mark.covers("FIN-043")
async def test_what_agrees_again_closes_by_itself_and_lets_people_sleep(sides: Sides, superuser: asyncpg.Connection):
    sides.moved(5000, "ch_late")
    await sides.run()
    await sides.posted(Event.CAPTURED, "ch_late", gross=5000, **SALE)
    await sides.run(later=AN_HOUR)
    assert await sides.open() == set()
    [closed] = await sides.issues(IssueState.CLOSED)
    assert closed.closed_how == "RESOLVED_BY_ITSELF"
    assert await sides.alerts(superuser) == []
    assert await published(sides.world, "reconciliation.issue_closed") == 1


async def test_what_is_in_flight_again_stays_open(sides: Sides):
    """A moment ago something was posted for it: whether it is over is seen the next time."""
    sides.moved(5000, "ch_late")
    await sides.run()
    sides.moved(100, "ch_late", after=AN_HOUR)
    run = await sides.run(later=timedelta(minutes=5))
    assert (run.counts["TIMING"], run.counts["MISSING_HERE"]) == (1, 0)
    assert len(await sides.issues()) == 1


async def test_what_was_not_looked_at_does_not_close(sides: Sides, monkeypatch: pytest.MonkeyPatch):
    """Neither when a provider is silent, nor when too much differs to be named."""
    sides.moved(5000, "ch_late")
    await sides.run()
    await sides.posted(Event.CAPTURED, "ch_late", gross=5000, **SALE)
    monkeypatch.setattr(sums, "BUCKETS", 1)
    monkeypatch.setattr(suspects, "MOST_SEEN", 3)
    for number in range(5):
        sides.moved(500, f"ch_{number}")
    run = await sides.run(later=AN_HOUR)
    assert run.counts["MORE"] == 1
    assert len(await sides.issues()) == 1


async def test_more_than_fits_is_named_in_rounds(sides: Sides, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(suspects, "MOST_SEEN", 15)
    for number in range(40):
        sides.moved(500, f"ch_{number}")
    run = await sides.run()
    assert (run.counts["MISSING_HERE"], run.counts["MORE"]) == (40, 0)
    assert len(await sides.issues()) == 40


@pytest.mark.covers("FIN-043")
async def test_what_somebody_closed_is_not_opened_again_while_it_is_as_it_was(
    sides: Sides, superuser: asyncpg.Connection
):
    sides.moved(777, "ch_nobody")
    await sides.run()
    [issue] = await sides.issues()
    closing = Closing(sides.world.owner.caller, issue.id, "TEST_CHARGE")
    closed = await sides.world.submit(commands.close, closing)
    assert (closed.state, closed.closed_how, closed.closed_reason) == ("CLOSED", "BY_HAND", "TEST_CHARGE")
    run = await sides.run()
    assert (await sides.open(), run.counts["ACCEPTED"], run.counts["MISSING_HERE"]) == (set(), 1, 1)
    assert await sides.alerts(superuser) == []
    audited = "SELECT reason_code FROM kernel.audit_entry WHERE organization_id = $1 AND subject = $2"
    assert await superuser.fetchval(audited, sides.world.organization.uuid, str(issue.id)) == "TEST_CHARGE"
    sides.moved(1, "ch_nobody")
    await sides.run()
    [anew] = await sides.issues()
    assert (anew.found.there_minor, anew.id == issue.id) == (778, False)


async def test_closing_is_once_and_by_whoever_came_first(sides: Sides):
    sides.moved(777, "ch_nobody")
    await sides.run()
    [issue] = await sides.issues()
    people = [sides.world.owner.caller, sides.world.buyer.caller]
    closings = [Closing(each, issue.id, f"REASON_{number}") for number, each in enumerate(people)]
    first, second = await asyncio.gather(*(sides.world.submit(commands.close, each) for each in closings))
    assert first.closed_reason == second.closed_reason
    assert await published(sides.world, "reconciliation.issue_closed") == 1


async def test_whoever_takes_an_issue_has_it(sides: Sides):
    sides.moved(777, "ch_nobody")
    await sides.run()
    [issue] = await sides.issues()
    taken = await sides.world.submit(commands.take, Taking(sides.world.owner.caller, issue.id))
    assert taken.taken_by == sides.world.owner.identity
    await sides.run()
    [issue] = await sides.issues()
    assert issue.taken_by == sides.world.owner.identity
    with pytest.raises(IssueNotFound):
        await sides.world.submit(commands.take, Taking(sides.world.owner.caller, IssueId.new()))


async def test_two_runs_at_once_open_one_issue(sides: Sides):
    for number in range(5):
        sides.moved(777, f"ch_{number}")
    await asyncio.gather(*(sides.run(later=timedelta(0)) for _ in range(3)))
    assert len(await sides.issues()) == 5


@pytest.mark.covers("TEN-T01")
async def test_another_organisations_differences_are_its_own(sides: Sides):
    sides.moved(777, "ch_nobody")
    async with a_world(sides.world.database, sides.batcher, clock=sides.world.simulator._clock) as other:
        await live(other, (PAY, FEES))
        others = Sides(other, sides.url, sides.database, sides.batcher)
        run = await others.run()
        assert (await others.open(), run.counts["MATCHED"]) == (set(), 3)


@pytest.mark.covers("MOR-035")
async def test_a_payout_that_nobody_here_ordered_is_an_issue(sides: Sides):
    sides.moved(85_000, "po_unknown", MovementKind.PAYOUT)
    await sides.run()
    assert await sides.open() == {("MISSING_HERE", "PAYOUT", "po_unknown", 0, 85_000)}


# -- Windows


async def test_a_window_looks_at_what_moved_since(sides: Sides):
    sides.moved(777, "ch_old", after=-10 * DAY)
    sides.moved(888, "ch_new")
    await sides.run(since=(await sides.now()) - DAY)
    assert {reference for _, _, reference, _, _ in await sides.open()} == {"ch_new"}


async def test_what_the_edge_of_a_window_cuts_is_timing(sides: Sides):
    """Moved before it and posted within it; moved long before, and posted within it; and a part of it before."""
    sides.moved(500, "ch_edge", after=-2 * AN_HOUR)
    await sides.posted(Event.CAPTURED, "ch_edge", gross=500, **SALE)
    sides.moved(600, "ch_long_ago", after=-30 * DAY)
    await sides.posted(Event.CAPTURED, "ch_long_ago", gross=600, **SALE)
    sides.moved(100, "re_parts", MovementKind.REFUND, after=-3 * DAY)
    sides.moved(200, "re_parts", MovementKind.REFUND)
    await sides.refunded(300, "re_parts")
    sides.moved(900, "ch_missing")
    run = await sides.run(since=(await sides.now()) - 2 * AN_HOUR)
    assert {reference for _, _, reference, _, _ in await sides.open()} == {"ch_missing"}
    assert (run.counts["TIMING"], run.counts["MISSING_HERE"]) == (3, 1)


async def test_a_window_begins_before_what_is_open(sides: Sides):
    """So an issue closes by itself, however old its money is."""
    sides.moved(777, "ch_old", after=-10 * DAY)
    await sides.run()
    await sides.posted(Event.CAPTURED, "ch_old", gross=777, **SALE)
    run = await sides.run(since=(await sides.now()) - AN_HOUR, later=AN_HOUR)
    assert run.since is not None and run.since < (await sides.now()) - 10 * DAY
    assert await sides.open() == set()


async def test_the_next_run_goes_on_where_the_last_one_ended(sides: Sides, monkeypatch: pytest.MonkeyPatch):
    first = await sides.run(onward=True)
    second = await sides.run(onward=True)
    assert first.since is None
    assert second.since == first.until - commands.OVERLAP
    gap = await sides.run(since=second.until + AN_HOUR, later=5 * DAY)
    third = await sides.run(onward=True, later=5 * DAY)
    assert gap.state == "DONE"
    assert third.since == second.until - commands.OVERLAP, "a run that left a gap ends nothing"
    monkeypatch.setattr(streams, "PAUSE", timedelta(0))
    with sides.silent():
        untold = await sides.run(onward=True, later=6 * DAY)
    assert (untold.state, untold.reason) == ("UNTOLD", "sandbox does not show its journal.")
    assert (await sides.run(onward=True, later=6 * DAY)).since == third.until - commands.OVERLAP


async def test_a_provider_that_is_silent_finds_nothing_and_closes_nothing(
    sides: Sides, superuser: asyncpg.Connection, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(streams, "PAUSE", timedelta(0))
    sides.moved(777, "ch_nobody")
    await sides.run()
    alerts = await sides.alerts(superuser)
    with sides.silent():
        run = await sides.run()
    assert run.state == "UNTOLD"
    assert len(await sides.issues()) == 1
    assert await sides.alerts(superuser) == alerts != []


async def test_a_run_that_was_cut_off_is_abandoned(sides: Sides, superuser: asyncpg.Connection):
    run = await sides.run()
    states = "SELECT state FROM reconciliation.run WHERE organization_id = $1 ORDER BY id"
    own = sides.world.organization.uuid
    await superuser.execute(
        "UPDATE reconciliation.run SET state = 'RUNNING', finished_at = NULL WHERE organization_id = $1", own
    )
    await sides.run(later=AN_HOUR)
    assert [row["state"] for row in await superuser.fetch(states, own)] == ["RUNNING", "DONE"]
    await sides.run(later=4 * AN_HOUR)
    assert [row["state"] for row in await superuser.fetch(states, own)] == ["ABANDONED", "DONE", "DONE"]
    assert run.finished_at is not None
