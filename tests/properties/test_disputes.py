"""A disputed payment under any life: however it is told, it ends in one status, one ledger and one case."""

import contextlib
import random
from collections import Counter
from itertools import permutations
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from admitone.finance.disputes.model import DISPUTE, Case, State, StepKind
from admitone.finance.disputes.policy import followed, opened
from admitone.finance.gateways.api import MovementKind
from admitone.finance.gateways.sandbox.charges import No
from admitone.finance.gateways.sandbox.objects import MovementRow
from admitone.finance.payments.model import Payment, RecordedFact, Status
from admitone.finance.payments.policy import fold
from admitone.finance.payments.queries import disputes_in
from admitone.finance.sources.api import PaymentId
from admitone.kernel.errors import Refusal
from tests.finance.disputes.cases import cases_of, filed, heard, read, says, trail
from tests.finance.disputes.cases import followed as followed_by
from tests.finance.payments.stories import NOON, OWN, Book, Story, in_order, posted
from tests.finance.payments.telling import a_paid_sale, whole
from tests.finance.world import World, a_world
from tests.properties.test_payments import grouped, tell, told_events

Deed = tuple[str, dict[str, Any]]
K = MovementKind

LIFE: list[Deed] = [("tell_fees", {}), ("refund", {"amount": 1000}), ("refund", {"amount": 500}), ("dispute", {})]
WITHOUT = "payment_intent.created"
"""Tells nothing that the others do not."""


class Cases:
    """The cases of one payment, decided as the handler decides them."""

    def __init__(self, payment: Payment) -> None:
        self.payment = payment
        self.cases: dict[str, Case] = {}

    def follow(self, facts: list[RecordedFact]) -> None:
        for told in disputes_in(facts):
            case = self.cases.get(told.reference)
            after = followed(case, told) if case else opened(told, self.payment, NOON)
            assert case is None or case.state is after.state or DISPUTE.may(case.state, after.state)
            self.cases[told.reference] = after

    @property
    def standing(self) -> list[tuple[Any, ...]]:
        return [
            (name, case.state, case.amount_minor, case.fee_minor, case.opened_at, case.due_at, case.closed_at)
            for name, case in sorted(self.cases.items())
        ]


def lived(deeds: list[Deed]) -> Story:
    story = Story()
    story.does("pay")
    for deed, options in deeds:
        assert story.does(deed, **options), deed
    return story


def moved_at_provider(story: Story) -> Counter[MovementKind]:
    """What the provider's own books say."""
    sums: Counter[MovementKind] = Counter()
    for _, body in story.simulator.journal.list_movements(str(OWN), 0, 0, 1000):
        row = msgspec.json.decode(body, type=MovementRow)
        sums[MovementKind(row.kind)] += row.amount
    return sums


def left_by_books(transfers: Counter[tuple[Any, ...]]) -> int:
    """What left us by the ledger: refunds, what disputes took and fees for them, less what came back."""
    signs = {"REFUND_SETTLED": 1, "DISPUTE_FUNDS_WITHDRAWN": 1, "DISPUTE_FUNDS_REINSTATED": -1}
    signs |= {"DISPUTE_FEE": 1, "DISPUTE_FEE_REVERSAL": -1, "REFUND_SETTLED_MIRROR": -1}
    return sum(signs.get(entry, 0) * minor * times for (entry, _, _, minor, *_), times in transfers.items())


def left_at_provider(moved: Counter[MovementKind]) -> int:
    gone = moved[K.REFUND] + moved[K.DISPUTE] + moved[K.DISPUTE_FEE]
    return gone - moved[K.REFUND_RETURNED] - moved[K.DISPUTE_RETURNED] - moved[K.DISPUTE_FEE_RETURNED]


@pytest.mark.covers("FIN-051", "FIN-075")
@pytest.mark.parametrize(
    ("end", "status", "state"),
    [
        ("win", Status.PARTIAL_REFUND, State.WON),
        ("lose", Status.CHARGEBACK_LOST, State.LOST),
        ("answer_dispute", Status.DISPUTED, State.OPEN),
    ],
)
def test_all_orders_of_a_dispute_are_one_status_one_ledger_and_one_case(end: str, status: Status, state: State):
    """Capture, fee, two refunds, dispute and its end: each order of the events, each of them once or twice."""
    story = lived([*LIFE, (end, {})])
    events = [event for event in story.events() if event.envelope.type != WITHOUT]
    assert len(events) == 6
    whole = story.facts()
    expected, by_whole = Book(story.payment), Cases(story.payment)
    expected.hear(whole, asked=True)
    by_whole.follow(expected.facts)
    [(_, found, *_)] = by_whole.standing
    assert (expected.payment.status, found) == (status, state)
    transfers = posted(story.payment, expected.facts)
    assert left_by_books(transfers) == left_at_provider(moved_at_provider(story))
    for number, order in enumerate(permutations(events)):
        book, cases = Book(story.payment), Cases(story.payment)
        for event in order:
            for _ in range(1 + number % 2):
                book.hear(event.facts)
                cases.follow(book.facts)
        if book.must_ask:
            book.hear(whole, asked=True)
            cases.follow(book.facts)
        assert (book.payment.status, cases.standing) == (status, by_whole.standing)
        assert posted(story.payment, book.facts) == transfers


amounts = st.integers(1, 5000)
deeds = st.lists(
    st.one_of(
        st.just(("tell_fees", {})),
        amounts.map(lambda amount: ("refund", {"amount": amount})),
        st.sampled_from([("refund", {}), ("win", {}), ("lose", {}), ("answer_dispute", {})]),
        st.one_of(st.none(), amounts).map(lambda amount: ("dispute", {"amount": amount})),
        st.just(("dispute", {})),
    ),
    min_size=1,
    max_size=9,
)


@pytest.mark.covers("FIN-051")
@settings(max_examples=120, deadline=None)
@given(deeds, st.randoms(use_true_random=False))
def test_what_leaves_is_what_the_provider_moved_and_every_dispute_has_its_case(life: list[Deed], chance: random.Random):
    """Refunds and disputes of one payment as they come, also both of the same money: the books follow the facts."""
    story = Story()
    story.does("pay")
    for deed, options in life:
        story.does(deed, **options)
    facts = [RecordedFact.of(fact) for fact in story.facts()]
    moved = moved_at_provider(story)
    standings = set()
    for _ in range(4):
        chance.shuffle(facts)
        numbered = in_order(*facts)
        cases = Cases(story.payment)
        for known in range(1, len(numbered) + 1):
            cases.follow(numbered[:known])
        standings.add((fold(story.payment, numbered).status, tuple(cases.standing)))
        assert left_by_books(posted(story.payment, numbered)) == left_at_provider(moved)
    assert len(standings) == 1
    [(_, cases_found)] = standings
    assert len(cases_found) == len({fact.reference for fact in facts if fact.kind == "DISPUTE_OPENED"})
    assert moved[K.REFUND] <= moved[K.CHARGE], "no more is refunded than came"


# -- The same on the real database

AFTER: list[Deed] = [
    ("tell_fees", {}),
    ("refund", {"amount": 1234}),
    ("refund", {"amount": 777}),
    ("refund", {}),
    ("dispute", {}),
    ("dispute", {"amount": 2000}),
    ("answer_dispute", {}),
    ("win", {}),
    ("lose", {}),
]


@pytest.mark.covers("FIN-051", "FIN-075")
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32))
async def test_however_a_dispute_is_told_the_database_ends_where_it_did(database: Any, batcher: Any, seed: int):
    chance = random.Random(seed)
    async with a_world(database, batcher, seed=seed) as world:
        payment, charge = await a_paid_sale(world)
        lives = [("dispute", {}), *chance.choices(AFTER, k=chance.randint(1, 7))]
        chance.shuffle(lives)
        for deed, options in lives:
            _try(world, charge, deed, options)
        events = told_events(world, charge)
        told = chance.sample(events, max(len(events) - chance.choice([0, 0, 2]), 0)) * chance.choice([1, 2])
        chance.shuffle(told)
        for event in told:
            await tell(world, payment, event)
            if chance.random() < 0.5:
                await followed_by(world, payment)
            if chance.random() < 0.3:
                await meddles(world, payment, chance)
        await heard(world, payment)
        for case in await cases_of(world, payment):
            await read(world, case)
        await one_end(world, payment, charge)


def _try(world: World, charge: str, deed: str, options: dict[str, Any]) -> None:
    with contextlib.suppress(No):  # The provider does not let everything happen.
        world.simulator.act(deed, charge, **options)


async def meddles(world: World, payment: PaymentId, chance: random.Random) -> None:
    """Somebody answers meanwhile, and the worker does its part."""
    for case in await cases_of(world, payment):
        try:
            case = await says(world, case, submit=chance.random() < 0.5)
            await filed(world, case)
        except Refusal:
            continue


async def one_end(world: World, payment: PaymentId, charge: str) -> None:
    row = await world.payment(payment)
    intent = world.simulator.get(charge)
    disputes = {each.id: each for each in intent.paid.disputes}  # type: ignore[union-attr]
    cases = {case.reference: case for case in await cases_of(world, payment)}
    assert cases.keys() == disputes.keys(), "one case for each dispute"
    for name, case in cases.items():
        there = disputes[name]
        submitted = there.evidence_details.submission_count
        ends = {"won": State.WON, "lost": State.LOST, "under_review": State.EVIDENCE_SUBMITTED}
        assert case.state is ends.get(there.status, State.OPEN)
        steps = Counter(await trail(world, case))
        assert steps[StepKind.OPENED] == 1
        assert steps[StepKind.WON] + steps[StepKind.LOST] == int(case.is_closed)
        assert steps[StepKind.SUBMITTED] + steps[StepKind.SUBMITTED_ELSEWHERE] <= 1
        assert submitted <= 1
        assert case.fee_minor == (0 if case.state is State.WON else 1500)
    facts = [RecordedFact.of(fact) for fact in (await whole(world, charge)).facts]
    assert row.status is fold(row, in_order(*facts)).status
    assert Counter(await world.transfers(payment)) == grouped(posted(row, in_order(*facts)))
