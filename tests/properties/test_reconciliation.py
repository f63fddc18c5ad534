"""Random books with random mismatches: a run finds exactly those, each as what it is, and invents none."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from admitone.finance.gateways.api import MovementKind
from admitone.finance.gateways.port import GATEWAYS, Gateways
from admitone.finance.gateways.sandbox.gateway import SandboxGateway
from admitone.finance.gateways.sandbox.keys import Keys
from admitone.finance.gateways.sandbox.simulator import Simulator
from admitone.finance.ledger.api import Event, Posting, post
from admitone.finance.reconciliation.comparing import sums
from admitone.finance.reconciliation.comparing.likeness import FEES
from admitone.finance.reconciliation.model import IssueState
from admitone.finance.sources.api import Flow
from admitone.kernel.batch import Batcher
from admitone.kernel.clock import Clock
from admitone.kernel.db import Database
from tests.builders import an_organization
from tests.finance.ledger.books import a_posting
from tests.finance.reconciliation.books import AN_HOUR, Sides
from tests.finance.world import World

K = MovementKind
SALE = {"fee": 0, "transfer": 0}
EVENTS: dict[MovementKind, tuple[Event, str, dict[str, int]]] = {
    K.CHARGE: (Event.CAPTURED, "gross", SALE),
    K.TRANSFER: (Event.CAPTURED, "transfer", {"fee": 0, "gross": 0}),
    K.FEE: (Event.FEES_FINAL, "fee", {}),
    K.REFUND: (Event.REFUND_SETTLED, "gross", {}),
    K.REFUND_RETURNED: (Event.REFUND_RETURNED, "gross", {}),
    K.DISPUTE: (Event.DISPUTE_OPENED, "gross", {}),
    K.DISPUTE_RETURNED: (Event.DISPUTE_WON, "gross", {}),
    K.DISPUTE_FEE: (Event.DISPUTE_FEE_CHARGED, "fee", {}),
    K.DISPUTE_FEE_RETURNED: (Event.DISPUTE_FEE_RETURNED, "fee", {}),
    K.PAYOUT: (Event.PAYOUT_INITIATED, "paid", {}),
    K.PAYOUT_RETURNED: (Event.PAYOUT_FAILED, "paid", {}),
}
TROUBLES = ("here only", "there only", "other amount", "other currency", "twice here", "twice there", "young")
objects = st.lists(
    st.tuples(
        st.sampled_from([*EVENTS]),
        st.integers(1, 10**7),
        st.sampled_from([None, None, None, *TROUBLES]),
        st.integers(-300, 300).filter(bool),
    ),
    max_size=25,
)
Thing = tuple[MovementKind, int, str | None, int]


def postings_of(number: int, thing: Thing) -> list[Posting]:
    kind, minor, trouble, _ = thing
    if trouble in ("there only", "young"):
        return []
    event, amount, rest = EVENTS[kind]
    flow = Flow.STAY if kind in (K.PAYOUT, K.PAYOUT_RETURNED) else Flow.SALE
    said: dict[str, Any] = {
        "reference": f"obj_{number}",
        "currency": "BRL" if trouble == "other currency" else "EUR",
        **rest,
        amount: minor,
    }
    times = 2 if trouble == "twice here" else 1
    return [a_posting(event, flow, cause=f"c{number}:{time}", **said) for time in range(times)]


def move(sides: Sides, number: int, thing: Thing) -> None:
    kind, minor, trouble, apart = thing
    if trouble == "here only":
        return
    there = max(minor + apart, 1) if trouble == "other amount" else minor
    for _ in range(2 if trouble == "twice there" else 1):
        sides.moved(there, f"obj_{number}", kind, after=AN_HOUR if trouble == "young" else timedelta(0))


def expected(things: list[Thing]) -> tuple[set[tuple[Any, ...]], set[str]]:
    """What waits for somebody, and what is rounded."""
    waiting, rounded = set(), set()
    for number, (kind, minor, trouble, apart) in enumerate(things):
        name, there = f"obj_{number}", max(minor + apart, 1)
        match trouble:
            case "here only":
                waiting.add(("MISSING_THERE", kind, name, minor, 0))
            case "there only":
                waiting.add(("MISSING_HERE", kind, name, 0, minor))
            case "other currency":
                waiting.add(("CURRENCY", kind, name, minor, minor))
            case "twice here":
                waiting.add(("DUPLICATE", kind, name, 2 * minor, minor))
            case "twice there":
                waiting.add(("DUPLICATE", kind, name, minor, 2 * minor))
            case "other amount" if there != minor and abs(there - minor) < 100:
                rounded.add(name)
            case "other amount" if there != minor:
                waiting.add(("FEE" if kind in FEES else "AMOUNT", kind, name, minor, there))
    return waiting, rounded


@pytest.mark.covers("FIN-043", "MOR-043")
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(things=objects, buckets=st.sampled_from([1, 7, 16_384]))
@example(things=[(K.CHARGE, 500, trouble, 150) for trouble in (None, *TROUBLES)], buckets=7)
async def test_a_run_finds_what_was_seeded_and_nothing_else(
    database: Database, batcher: Batcher, database_url: str, things: list[Thing], buckets: int
):
    simulator = Simulator(Keys.of("a sandbox of random books"), clock=lambda: datetime.now(UTC) - AN_HOUR)
    gateway = SandboxGateway.in_process(simulator)
    scope = await an_organization(database)
    with pytest.MonkeyPatch.context() as patch, GATEWAYS.wired(Gateways([gateway])):
        patch.setattr(sums, "BUCKETS", buckets)
        async with Database(database_url, clock=Clock(-AN_HOUR)) as old:
            world = World(old, batcher, simulator, gateway, None, scope.organization, None, None)
            sides = Sides(world, database_url, database, batcher)
            postings = [each for number, thing in enumerate(things) for each in postings_of(number, thing)]
            await old.run(scope, lambda tx: post(tx, postings))
            for number, thing in enumerate(things):
                move(sides, number, thing)
            run = await sides.run()
            waiting, rounded = expected(things)
            assert {each for each in await sides.open() if each[0] != "STAYED"} == waiting
            closed = await sides.issues(IssueState.CLOSED)
            assert {each.found.reference for each in closed if each.closed_how == "ROUNDING"} == rounded
            assert run.counts["TIMING"] == sum(trouble == "young" for _, _, trouble, _ in things)
            assert run.counts["MATCHED"] == sum(_is_matched(thing) for thing in things)


def _is_matched(thing: Thing) -> bool:
    _, minor, trouble, apart = thing
    return trouble is None or (trouble == "other amount" and max(minor + apart, 1) == minor)
