"""Many who answer one dispute, and answers that meet its end: it is submitted once, and stands where the facts are."""

import asyncio
import random
from collections import Counter
from dataclasses import replace
from typing import Any

import msgspec
import pytest

from admitone.finance.disputes.commands.answering import put_evidence
from admitone.finance.disputes.errors import AlreadySubmitted, DisputeDecided
from admitone.finance.disputes.model import Case, State, StepKind
from admitone.finance.gateways.sandbox import reading
from admitone.finance.gateways.sandbox.faults import Faults
from admitone.finance.gateways.sandbox.objects import Intent
from admitone.finance.ledger import api as ledger
from admitone.finance.payments import errands as payment_errands
from admitone.finance.payments.commands.recording import record
from admitone.finance.payments.errors import RefundPutOff
from admitone.finance.payments.facts import RefundBegun
from admitone.finance.payments.model import Status, Told
from admitone.finance.refunds.api import Reason, RefundId, Request, request_refunds
from admitone.finance.sources.api import PaymentId
from admitone.kernel.batch import Batcher
from admitone.kernel.db import Database
from admitone.kernel.errors import Refusal
from admitone.kernel.scope import Caller
from tests.finance.disputes.cases import (
    a_read_case,
    a_statement,
    cases_of,
    filed,
    followed,
    heard,
    run,
    the_case,
    trail,
)
from tests.finance.payments.telling import a_paid_sale
from tests.finance.world import World, a_world


async def outcome(asked: Any) -> Any:
    try:
        return (await asked).outcome
    except Refusal as refusal:
        return refusal


def capture_at(world: World, charge: str) -> Any:
    """What was captured there."""
    intent = world.simulator.get(charge)
    assert isinstance(intent, Intent) and intent.paid
    return intent.paid


def dispute_at(world: World, charge: str) -> Any:
    return capture_at(world, charge).disputes[-1]


@pytest.mark.covers("FIN-075")
async def test_fifty_submissions_at_once_submit_once(database: Database, batcher: Batcher, database_url: str):
    """Of two processes; and everybody who would send it sends it."""
    async with Database(database_url) as another, a_world(database, batcher) as world:
        other = Batcher(another)
        disputed = await a_read_case(world)
        statements = [a_statement(disputed.case, f"Evidence {number}.", submit=True) for number in range(50)]
        outcomes = await asyncio.gather(
            *(
                outcome((batcher if number % 2 else other).submit(put_evidence, world.scope, statement))
                for number, statement in enumerate(statements)
            )
        )
        assert Counter(type(each) for each in outcomes) == {Case: 1, AlreadySubmitted: 49}
        [won] = [number for number, each in enumerate(outcomes) if isinstance(each, Case)]
        case = await the_case(world, disputed.case)
        world.simulator.misbehave(Faults(slow=10_000, slow_ms=200))  # All of them ask before anybody is answered.
        await asyncio.gather(*(filed(world, case) for _ in range(10)))
        await other.drain()
        done = await the_case(world, case)
        assert (done.state, done.evidence, done.submission) == (State.EVIDENCE_SUBMITTED, 1, 1)
        there = dispute_at(world, disputed.charge)
        assert (there.status, there.evidence_details.submission_count) == ("under_review", 1)
        assert there.evidence == {"access_activity_log": f"Evidence {won}."}
        assert (await trail(world, case))[-2:] == [StepKind.SUBMISSION_ORDERED, StepKind.SUBMITTED]


@pytest.mark.covers("FIN-075")
async def test_evidence_that_meets_the_end_moves_nothing_back(database: Database, batcher: Batcher, database_url: str):
    chance = random.Random(7)
    ends: Counter[tuple[bool, bool]] = Counter()
    async with Database(database_url) as another, a_world(database, batcher) as world:
        there = replace(world, database=another, batcher=Batcher(another))
        for number in range(24):
            disputed = await a_read_case(world)
            deed, state = (("win", State.WON), ("lose", State.LOST))[number % 2]

            async def answers(case: Case = disputed.case) -> Any:
                await asyncio.sleep(chance.random() * 0.02)
                said = await outcome(there.batcher.submit(put_evidence, there.scope, a_statement(case, submit=True)))
                return said if isinstance(said, Refusal) else await filed(there, said)

            async def decides(charge: str = disputed.charge, payment: PaymentId = disputed.payment) -> None:
                await asyncio.sleep(chance.random() * 0.02)
                world.simulator.act(deed, charge)  # noqa: B023
                await heard(world, payment)

            said, _ = await asyncio.gather(answers(), decides())
            assert not isinstance(said, Refusal) or isinstance(said, DisputeDecided)
            await heard(world, disputed.payment)
            case = await the_case(world, disputed.case)
            assert case.state is state
            submitted = dispute_at(world, disputed.charge).evidence_details.submission_count
            steps = Counter(await trail(world, case))
            assert submitted <= 1
            assert steps[StepKind.SUBMITTED] == int(case.submitted_at is not None) <= submitted
            assert steps[StepKind(state.value)] == steps[StepKind.OPENED] == 1
            ends[isinstance(said, Refusal), bool(submitted)] += 1
        await there.batcher.drain()
    assert len(ends) > 1, "it was not always the same who came first"


async def test_many_who_follow_one_payment_open_one_case(database: Database, batcher: Batcher, database_url: str):
    async with Database(database_url) as another, a_world(database, batcher) as world:
        there = replace(world, database=another, batcher=Batcher(another))
        for deed in ("win", "lose"):
            payment, charge = await a_paid_sale(world)
            world.simulator.act("dispute", charge)
            world.simulator.act(deed, charge)
            await world.clerk.ask(world.organization, payment, Caller())
            await asyncio.gather(*(followed(each, payment) for each in (world, there) * 5))
            [case] = await cases_of(world, payment)
            assert len(await trail(world, case)) == 2


async def test_fifty_refunds_of_ours_meet_a_dispute_and_no_more_goes_back_than_came(
    database: Database, batcher: Batcher, database_url: str
):
    """Ordered here while the bank takes it away: of what was captured no more is refunded than all of it, what the dispute
    took leaves besides, and the books say what the provider did."""
    async with Database(database_url) as another, a_world(database, batcher) as world:
        there = replace(world, database=another, batcher=Batcher(another))
        payment, charge = await a_paid_sale(world)

        async def refunds(number: int) -> bool:
            place = there if number % 2 else world
            request = Request(Caller(), payment, RefundId.new(), Reason.TECHNICAL_PROBLEM, (), amount_minor=200)
            said = await outcome(place.batcher.submit(request_refunds, place.scope, request))
            if isinstance(said, Refusal):
                return False
            begun = RefundBegun(payment_id=payment, refund_id=str(said.id))
            try:
                await run(place, payment_errands.refund, begun)
            except RefundPutOff:  # The bank was first.
                return False
            return True

        async def disputes() -> None:
            while not capture_at(world, charge).amount_refunded:  # noqa: ASYNC110  The provider tells nobody here.
                await asyncio.sleep(0)
            world.simulator.act("dispute", charge)
            await heard(world, payment)
            world.simulator.act("lose", charge)
            await heard(world, payment)

        done, _ = await asyncio.gather(asyncio.gather(*(refunds(number) for number in range(50))), disputes())
        await there.batcher.drain()
        await heard(world, payment)
        row = await world.payment(payment)
        assert 0 < row.refunded_minor == 200 * sum(done) <= row.captured_minor == 5000
        assert capture_at(world, charge).amount_refunded == row.refunded_minor, "what we ordered is what it did"
        [case] = await cases_of(world, payment)
        assert case.state is State.LOST
        entries = Counter[str]()
        for entry, _, _, minor in await world.transfers(payment):
            entries[entry] += minor
        left = entries["REFUND_SETTLED"] + entries["CHARGEBACK_GROSS"] + entries["DISPUTE_FEE"]
        assert left == row.refunded_minor + 5000 + 1500


@pytest.mark.covers("FIN-051")
async def test_a_refund_and_a_dispute_of_one_payment_in_any_order(database: Database, batcher: Batcher):
    """Both truly happen at the provider: what leaves is what was captured and the fee, and never more than the provider
    itself has moved."""
    chance = random.Random(11)
    async with a_world(database, batcher) as world:
        for _ in range(12):
            payment, charge = await a_paid_sale(world)
            deeds = [("refund", {"amount": chance.choice([1000, 5000])}), ("dispute", {})]
            chance.shuffle(deeds)
            for deed, options in deeds:
                world.simulator.act(deed, charge, **options)
            end = chance.choice(["win", "lose", None])
            if end:
                world.simulator.act(end, charge)
            events = [
                reading.read_event(msgspec.json.encode(each), "sandbox")
                for each in world.simulator.list_events_about(charge)
            ]
            chance.shuffle(events)
            tolds = [Told(Caller(), payment, world.gateway.provider, each.refs, each.facts) for each in events]
            await asyncio.gather(*(world.submit(record, told) for told in tolds for _ in range(2)))
            await asyncio.gather(heard(world, payment), heard(world, payment), followed(world, payment))
            await one_end(world, payment, end)
        trials = await database.read(world.scope, ledger.trial_balance)
        assert all(trial.debits_minor == trial.credits_minor for trial in trials)


async def one_end(world: World, payment: PaymentId, end: str | None) -> None:
    [case] = await cases_of(world, payment)
    assert case.state is {"win": State.WON, "lose": State.LOST, None: State.OPEN}[end]
    entries = Counter[str]()
    for entry, _, _, minor in await world.transfers(payment):
        entries[entry] += minor
    row = await world.payment(payment)
    left = entries["REFUND_SETTLED"] + entries["CHARGEBACK_GROSS"] + entries["DISPUTE_FEE"]
    moved = row.refunded_minor + (5000 if end == "lose" else 0) + 1500
    assert left == moved, "the books say what the provider did, once"
    assert entries["REFUND_GROSS"] == entries["REFUND_SETTLED"] == row.refunded_minor <= row.captured_minor == 5000
    assert entries["DISPUTE_FUNDS_WITHDRAWN"] == 5000
    assert (
        row.status
        in {
            "win": {Status.PARTIAL_REFUND, Status.REFUNDED},
            "lose": {Status.CHARGEBACK_LOST, Status.REFUNDED},
            None: {Status.DISPUTED, Status.REFUNDED},
        }[end]
    )
