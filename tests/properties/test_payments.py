"""Payments under any life: the sandbox lives it, and however it is told, it ends in one status and one ledger."""

import contextlib
import random
from collections import Counter
from itertools import pairwise, permutations
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from admitone.finance.gateways.api import Method, ProviderEvent
from admitone.finance.gateways.sandbox import reading
from admitone.finance.gateways.sandbox.charges import No
from admitone.finance.ledger import api as ledger
from admitone.finance.payments.commands.recording import record
from admitone.finance.payments.model import PAYMENT, FeesStatus, RecordedFact, Status, Told
from admitone.finance.payments.policy import fold
from admitone.finance.sources.api import PaymentId, SourceType
from admitone.kernel.scope import Caller
from tests.finance.payments.stories import Book, Story, a_payment, balances, in_order, net, posted
from tests.finance.world import World, a_world

Deed = tuple[str, dict[str, Any]]

amounts = st.integers(1, 5000)
before = st.one_of(
    st.sampled_from(["good", "card_declined", "insufficient_funds", "asks", "slow"]).map(
        lambda card: ("pay", {"card": card})
    ),
    st.sampled_from(["authenticate", "fail_authentication", "clear", "fail_clearing"]).map(lambda deed: (deed, {})),
)
after = st.one_of(
    st.just(("tell_fees", {})),
    st.integers(-50, 50).filter(bool).map(lambda change: ("adjust_fee", {"amount": change})),
    st.tuples(amounts, st.booleans()).map(lambda asked: ("refund", {"amount": asked[0], "pending": asked[1]})),
    st.booleans().map(lambda pending: ("refund", {"pending": pending})),
    st.sampled_from(["settle_refund", "fail_refund", "win", "lose"]).map(lambda deed: (deed, {})),
    st.one_of(st.none(), amounts).map(lambda amount: ("dispute", {"amount": amount})),
)
lives = st.tuples(
    st.lists(before, max_size=4),
    st.sampled_from([("pay", {}), ("pay", {}), ("cancel", {}), ("expire", {})]),
    st.sampled_from([("pay", {}), ("pay", {"late": True}), ("pay", {"amount": 4000, "late": True})]),
    st.lists(after, max_size=7),
).map(lambda parts: [*parts[0], parts[1], parts[2], *parts[3]])
kinds = st.sampled_from(["card", "session", "pix", "stay", "campaign"])


def lived(kind: str, deeds: list[Deed]) -> Story:
    sold = {"stay": SourceType.STAY_RESERVATION, "campaign": SourceType.COUPON_CAMPAIGN}.get(kind)
    payment = a_payment(4321, fee=0 if kind == "campaign" else 217, type=sold) if sold else None
    story = Story(payment, pix=kind == "pix", session=kind == "session")
    for deed, options in deeds:
        story.does(deed, **options)
    return story


def told_whole(story: Story) -> Book:
    book = Book(story.payment)
    book.hear(story.facts(), asked=True)
    return book


def standing_of(book: Book) -> Any:
    return fold(book.payment, book.facts), book.payment.status, posted(book.payment, book.facts)


@pytest.mark.covers("FIN-050", "FIN-051")
@settings(max_examples=120, deadline=None)
@given(kinds, lives, st.randoms(use_true_random=False))
def test_facts_in_any_order_are_one_standing_and_one_ledger(kind: str, deeds: list[Deed], chance: random.Random):
    story = lived(kind, deeds)
    facts = [RecordedFact.of(fact) for fact in story.facts()]
    expected = None
    for _ in range(5):
        numbered = in_order(*facts)
        chance.shuffle(numbered)
        found = fold(story.payment, numbered), posted(story.payment, numbered)
        expected = expected or found
        assert found == expected
        chance.shuffle(facts)


@pytest.mark.covers("FIN-050", "FIN-051", "FIN-036")
@settings(max_examples=150, deadline=None)
@given(kinds, lives, st.randoms(use_true_random=False))
def test_events_shuffled_repeated_and_lost_end_as_the_life_did(kind: str, deeds: list[Deed], chance: random.Random):
    story = lived(kind, deeds)
    expected = told_whole(story)
    events = story.events()
    for lose in (0, 0, chance.randint(0, len(events))):
        told = chance.sample(events, len(events) - lose) * chance.choice([1, 2])
        chance.shuffle(told)
        book = Book(story.payment)
        for event in told:
            book.hear(event.facts)
        if book.must_ask or lose:
            book.hear(story.facts(), asked=True)
        assert standing_of(book) == standing_of(expected)
        assert not book.contradicted
        assert all(PAYMENT.may(at, to) for at, to in book.steps)

    transfers = posted(story.payment, expected.facts)
    standing = fold(story.payment, expected.facts)
    assert net(transfers) == net_by_type(transfers)
    assert_whole(balances(transfers), standing.status)


def net_by_type(transfers: Counter[tuple[Any, ...]]) -> int:
    """ORYA's signs of its entries (FIN-040), and of the mirrors; everything else says nothing about the net."""
    signs = {"GROSS": 1, "PLATFORM_FEE": -1, "DISPUTE_FEE": -1, "DISPUTE_FEE_REVERSAL": 1, "REFUND_GROSS": -1}
    signs |= {"REFUND_PLATFORM_FEE_REVERSAL": 1, "CHARGEBACK_GROSS": -1, "CHARGEBACK_PLATFORM_FEE_REVERSAL": 1}
    signs |= {"REFUND_GROSS_MIRROR": 1, "REFUND_PLATFORM_FEE_MIRROR": -1}
    total = 0
    for (entry, debit, credit, amount, *_), times in transfers.items():
        if entry in signs:
            total += signs[entry] * amount * times
        elif entry.startswith("PROCESSOR_FEES") and "org_payable" in (debit, credit):
            total += amount * times * (1 if credit == "org_payable" else -1)
    return total


def assert_whole(standing: dict[Any, int], status: Status) -> None:
    """What is nobody's any more stands nowhere."""
    if status in (Status.REFUNDED, Status.CHARGEBACK_LOST):
        assert standing.get(ledger.Account.SUS, 0) <= 0 or status is Status.CHARGEBACK_LOST
    assert standing.get(ledger.Account.DEP, 0) >= 0 or status in (Status.REFUNDED, Status.CHARGEBACK_LOST)
    assert standing.get(ledger.Account.COMH, 0) >= 0, "nothing goes back that was never held"
    if status is Status.REFUNDED:
        assert standing.get(ledger.Account.DEP, 0) <= 0, "nobody's deposit is with us any more"
    assert standing.get(ledger.Account.REF, 0) == 0, "whoever was promised a refund has it"
    if status not in (Status.DISPUTED, Status.REFUNDED, Status.CHARGEBACK_LOST):
        assert standing.get(ledger.Account.DSP, 0) == 0, "no dispute is open"


@pytest.mark.covers("FIN-036", "FIN-042")
@settings(max_examples=80, deadline=None)
@given(st.lists(st.integers(-200, 200).filter(bool), max_size=8), st.booleans())
def test_fees_and_their_changes_are_what_the_organisation_has_less(changes: list[int], pix: bool):
    story = Story(pix=pix)
    story.does("pay")
    story.does("tell_fees")
    for change in changes:
        assert story.does("adjust_fee", amount=change)
    book = told_whole(story)
    standing = fold(book.payment, book.facts)
    transfers = posted(book.payment, book.facts)
    assert standing.fees_status is FeesStatus.FINAL
    assert standing.fees_actual == 100 + sum(changes)
    assert net(transfers) == 5000 - 300 - (100 + sum(changes))
    assert sum(entry == "PROCESSOR_FEES_FINAL" for entry, *_ in transfers) == 1


@settings(max_examples=150, deadline=None)
@given(st.integers(1, 100_000), st.data(), st.randoms(use_true_random=False))
def test_parts_of_any_size_in_any_order_give_back_the_fee_and_no_more(
    amount: int, data: st.DataObject, chance: random.Random
):
    story = Story(a_payment(amount, fee=data.draw(st.integers(0, amount))))
    story.does("pay")
    cuts = data.draw(st.lists(st.integers(1, max(amount - 1, 1)), unique=True, max_size=6).map(sorted))
    edges = [0, *(cut for cut in cuts if cut < amount), amount]
    for start, end in pairwise(edges):
        assert story.does("refund", amount=end - start)
    facts = in_order(*(RecordedFact.of(fact) for fact in story.facts()))
    chance.shuffle(facts)
    transfers = posted(story.payment, facts)
    back = sum(minor for entry, *_, minor, _, _ in transfers if entry == "REFUND_PLATFORM_FEE_REVERSAL")
    assert back == story.payment.fee_minor
    assert balances(transfers) == {}
    assert fold(story.payment, facts).status is Status.REFUNDED


LIVES: dict[str, tuple[list[Deed], Status]] = {
    "disputed and won": (
        [("pay", {}), ("tell_fees", {}), ("refund", {"amount": 1000}), ("dispute", {}), ("win", {})],
        Status.PARTIAL_REFUND,
    ),
    "disputed and lost": (
        [("pay", {}), ("tell_fees", {}), ("refund", {"amount": 1000}), ("dispute", {}), ("lose", {})],
        Status.CHARGEBACK_LOST,
    ),
    "refunded, then disputed and lost": (
        [("pay", {}), ("tell_fees", {}), ("refund", {}), ("dispute", {}), ("lose", {})],
        Status.REFUNDED,
    ),
    "refunded while disputed, then lost": (
        [("pay", {}), ("dispute", {}), ("refund", {}), ("lose", {})],
        Status.CHARGEBACK_LOST,
    ),
    "a refund on its way is overtaken by a dispute": (
        [("pay", {}), ("refund", {"pending": True}), ("dispute", {}), ("settle_refund", {})],
        Status.DISPUTED,
    ),
    "declined, asked, paid": (
        [("pay", {"card": "card_declined"}), ("pay", {"card": "asks"}), ("authenticate", {}), ("refund", {})],
        Status.REFUNDED,
    ),
}


@pytest.mark.covers("FIN-051")
@pytest.mark.parametrize("name", LIVES)
def test_all_orders_of_a_life_and_each_twice(name: str):
    """Every order of its events; what was told alone makes us ask, and we are answered with the rest."""
    deeds, status = LIVES[name]
    story = lived("card", deeds)
    expected = standing_of(told_whole(story))
    assert expected[1] is status
    events = story.events()
    assert 5 <= len(events) <= 6
    for order in permutations(events):
        for told in (order, [each for event in order for each in (event, event)]):
            book = Book(story.payment)
            for event in told:
                book.hear(event.facts)
            if book.must_ask:
                book.hear(story.facts(), asked=True)
            assert (book.payment.status, book.contradicted) == (status, [])
        assert standing_of(book) == expected


# -- The same on the real database

CARDS = ["good", "card_declined", "asks", "slow"]
AFTER: list[Deed] = [
    ("tell_fees", {}),
    ("adjust_fee", {"amount": -7}),
    ("refund", {"amount": 1234}),
    ("refund", {"amount": 777, "pending": True}),
    ("settle_refund", {}),
    ("fail_refund", {}),
    ("refund", {}),
    ("dispute", {}),
    ("win", {}),
    ("lose", {}),
]


@pytest.mark.covers("FIN-036", "FIN-050", "FIN-051")
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32))
async def test_however_a_life_is_told_the_database_ends_where_it_did(database: Any, batcher: Any, seed: int):
    chance = random.Random(seed)
    async with a_world(database, batcher, seed=seed) as world:
        payment, charge = await live(world, chance)
        events = told_events(world, charge)
        lost = chance.choice([0, 0, 1, 3])
        told = chance.sample(events, max(len(events) - lost, 0)) * chance.choice([1, 2])
        chance.shuffle(told)
        for event in told:
            await tell(world, payment, event)
        await world.clerk.ask(world.organization, payment, Caller())

        intent = world.simulator.get(charge)
        whole = [RecordedFact.of(fact) for fact in reading.facts_of(intent)]  # type: ignore[arg-type]
        row = await world.payment(payment)
        standing = fold(row, in_order(*whole))
        expected = posted(row, in_order(*whole))
        assert (row.status, row.captured_minor, row.refunded_minor, row.applied, row.processor_fees_actual) == (
            standing.status,
            standing.captured_minor,
            standing.refunded_minor,
            standing.applied,
            standing.fees_actual,
        )
        transfers = await world.transfers(payment)
        assert Counter(transfers) == grouped(expected)
        assert await world.net(payment) == net(expected)
        for trial in await database.read(world.scope, ledger.trial_balance):
            assert trial.debits_minor == trial.credits_minor
        assert {
            account
            for trial in await database.read(world.scope, ledger.trial_balance)
            for account, minor in trial.accounts.items()
            if minor
        } == set(balances(expected))


def grouped(transfers: Counter[tuple[Any, ...]]) -> Counter[tuple[Any, ...]]:
    """Without causes."""
    found: Counter[tuple[Any, ...]] = Counter()
    for each, times in transfers.items():
        found[each[:4]] += times
    return found


def told_events(world: World, charge: str) -> list[ProviderEvent]:
    newest_first = world.simulator.list_events_about(charge, limit=1000)
    return [reading.read_event(msgspec.json.encode(each), "sandbox") for each in reversed(newest_first)]


async def tell(world: World, payment: PaymentId, event: ProviderEvent) -> None:
    told = Told(Caller(), payment, world.gateway.provider, event.refs, event.facts)
    await world.submit(record, told)


async def live(world: World, chance: random.Random) -> tuple[PaymentId, str]:
    """A payment and its charge; what came for it may have come late."""
    is_pix = chance.random() < 0.3
    more: dict[str, Any] = {"method": Method.PIX} if is_pix else {}
    order = world.shop.sells(world.buyer.identity, 5000, currency="BRL" if is_pix else "EUR")
    payment, charge = await world.opened(order, **more)
    is_late = chance.random() < 0.25

    def does(deed: str, **options: Any) -> None:
        with contextlib.suppress(No):
            world.simulator.act(deed, charge, **options)

    if not is_pix:
        does("pay", card=chance.choice(CARDS))
        does(chance.choice(["authenticate", "fail_authentication", "clear", "fail_clearing"]))
    if is_late:
        does("expire" if is_pix else "cancel")
    does("pay", late=True)
    for deed, options in chance.choices(AFTER, k=chance.randint(0, 8)):
        does(deed, **options)
    return payment, charge
