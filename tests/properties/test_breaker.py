"""The breaker against a slow model that forgets nothing and works everything out anew from the whole story."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admitone.kernel.breaker import Breaker, Dependency, State

START = datetime(2026, 3, 1, 12, tzinfo=UTC)

dependencies = st.builds(
    Dependency,
    st.just("stripe"),
    failures=st.integers(1, 6),
    within_seconds=st.integers(1, 60),
    open_seconds=st.integers(1, 40),
    longest_open_seconds=st.integers(40, 300),
    probe_seconds=st.integers(1, 60),
)
steps = st.lists(
    st.tuples(
        st.sampled_from(["fails", "fails", "fails", "succeeds", "hangs", "an old call fails", "an old call succeeds"]),
        st.integers(0, 45),  # seconds since the step before
        st.integers(0, 7),  # which of the calls that hang
    ),
    min_size=20,
    max_size=60,
)


@dataclass
class Model:
    """Everything that ever happened, as a list of sentences."""

    dependency: Dependency
    story: list[tuple[str, int, int | None]] = field(default_factory=list)

    def is_admitted(self, now: int) -> bool:
        closed, wait_until = self._now()
        return closed or now >= wait_until

    def is_closed(self) -> bool:
        return self._now()[0]

    def _now(self) -> tuple[bool, int]:
        """Whether it is closed; if not, when the next probe may go."""
        closed, openings, wait_until, awaited = True, 0, 0, None
        counted: list[int] = []
        for what, at, probe in self.story:
            ours = probe is not None and probe == awaited
            if what == "probe":
                awaited, wait_until = probe, at + self.dependency.probe_seconds
            elif what == "succeed" and not closed and ours:
                closed, openings, awaited, counted = True, 0, None, []
            elif what == "fail":
                if closed:
                    counted.append(at)
                many = sum(at - self.dependency.within_seconds <= each <= at for each in counted)
                if (closed and many >= self.dependency.failures) or (not closed and ours):
                    seconds = self.dependency.open_seconds
                    for _ in range(openings):
                        seconds = min(seconds * 2, self.dependency.longest_open_seconds)
                    closed, openings, wait_until, awaited = False, openings + 1, at + seconds, None
                    counted = []
        return closed, wait_until


@pytest.mark.covers("FUN-044", "FUN-045")
@given(dependencies, steps)
def test_the_breaker_does_what_the_whole_story_says(dependency, steps):
    model, breaker = Model(dependency), Breaker()
    second, probes = 0, 0
    hanging: list[int | None] = []
    for what, passing, which in steps:
        second += passing
        now = START + timedelta(seconds=second)
        if what.startswith("an old call"):
            if not hanging:
                continue
            probe = hanging.pop(which % len(hanging))
        else:
            admitted = breaker.rejects(dependency, now) is None
            assert admitted == model.is_admitted(second)
            if not admitted:
                continue
            probe = None
            if breaker.may_probe(now):
                probes += 1
                probe = probes
                breaker = breaker.probed(dependency, now, UUID(int=probe))
                model.story.append(("probe", second, probe))
                assert breaker.rejects(dependency, now), "one probe, and nobody else"
        token = UUID(int=probe) if probe else None
        if what == "hangs":
            hanging.append(probe)
        elif what.endswith("succeeds"):
            breaker = breaker.succeeded(token)
            model.story.append(("succeed", second, probe))
        else:
            breaker = breaker.failed(dependency, now, token)
            model.story.append(("fail", second, probe))
        assert (breaker.state is State.CLOSED) == model.is_closed()
        assert len(breaker.failures) < dependency.failures
