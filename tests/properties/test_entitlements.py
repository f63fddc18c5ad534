"""Whatever becomes of a right and in whatever order: it stands where it must, and its codes open what they may."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from admitone.entitlements.codes import code_of
from admitone.entitlements.commands import changing
from admitone.entitlements.commands.changing import (
    Claim,
    Disowning,
    Release,
    Rescheduling,
    Revoking,
    Suspension,
    Transfer,
)
from admitone.entitlements.commands.checking_in import consume
from admitone.entitlements.commands.granting import Activation, activate
from admitone.entitlements.commands.renewing import Renewal, renew
from admitone.entitlements.model import (
    ENTITLEMENT,
    CheckinPolicy,
    Entitlement,
    Hold,
    Reason,
    Revocation,
    Status,
    Verdict,
)
from admitone.entitlements.store.entitlements import list_changes
from admitone.entitlements.store.sweeping import SWEEPING, insert_claimed
from admitone.entitlements.store.tokens import list_live
from admitone.kernel.batch import Batcher
from admitone.kernel.clock import Clock
from admitone.kernel.crypto import KEYRING
from admitone.kernel.db import Database, Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import IdentityId
from tests.entitlements.rights import Hall, a_hall

OPEN = (Status.PENDING, Status.ACTIVE, Status.SUSPENDED)
NEVER_LONG_ENOUGH = timedelta(days=2)
"""Longer than any code lives: whoever asks for so much has the next one made."""
TIMES = CheckinPolicy(allow_reentry=True, max_entries=50, reentry_minutes=1000)

holds = some.lists(some.sampled_from(Hold), min_size=1, max_size=3)
deeds = some.one_of(
    some.tuples(some.just("activate"), some.none()),
    some.tuples(some.sampled_from(["suspend", "release"]), holds),
    some.tuples(some.just("revoke"), some.lists(some.sampled_from(Revocation), min_size=1, max_size=2)),
    some.tuples(
        some.just("transfer"), some.lists(some.sampled_from(["guest", "user", "friend"]), min_size=1, max_size=2)
    ),
    some.tuples(some.sampled_from(["expire", "claim", "renew", "disown", "scan", "put_off", "wait"]), some.none()),
)


@dataclass
class Expected:
    """What the rules say, in as few words as they can be said."""

    owner: str
    status: Status
    holds: set[Hold] = field(default_factory=set)
    revoked_for: Revocation | None = None
    epoch: int = 0
    good: set[int] = field(default_factory=set)
    """Epochs of codes that nobody called back."""
    entries: int = 0
    is_claimed: bool = False
    ends: int = 1
    hour: int = 0

    @property
    def is_over(self) -> bool:
        return self.hour > self.ends

    def new_code(self) -> None:
        self.epoch += 1
        self.good = {self.epoch}

    def ended(self, status: Status) -> None:
        self.status, self.good = status, set()

    def given(self) -> None:
        """By its time, and by what it is held for; with the next code, which is good if it is."""
        self.status = Status.EXPIRED if self.is_over else Status.SUSPENDED if self.holds else Status.ACTIVE
        self.new_code()
        self.good = self.good if self.status is Status.ACTIVE else set()

    def activate(self, _: None) -> None:
        if self.status is Status.PENDING:
            self.given()

    def suspend(self, holds: list[Hold]) -> None:
        for hold in holds:
            self._held(self.holds | {hold})

    def release(self, holds: list[Hold]) -> None:
        for hold in holds:
            self._held(self.holds - {hold})

    def _held(self, holds: set[Hold]) -> None:
        if self.status is Status.REVOKED or holds == self.holds:
            return
        self.holds = holds
        if self.status in (Status.PENDING, Status.EXPIRED):
            return
        if self.is_over or holds:
            self.ended(Status.EXPIRED if self.is_over else Status.SUSPENDED)
        else:
            self.given()

    def revoke(self, reasons: list[Revocation]) -> None:
        if self.status is not Status.REVOKED:
            self.ended(Status.REVOKED)
            self.revoked_for, self.holds = reasons[0], set()

    def expire(self, _: None) -> None:
        if self.is_over and self.status in OPEN:
            self.ended(Status.EXPIRED)

    def transfer(self, people: list[str]) -> None:
        for who in people:
            to = "user" if who == "guest" and self.is_claimed else who
            if self.status is Status.ACTIVE and not self.entries and to != self.owner:
                self.owner = to
                self.new_code()

    def claim(self, _: None) -> None:
        self.is_claimed = True
        self.owner = "user" if self.owner == "guest" else self.owner

    def renew(self, _: None) -> None:
        if self.status is Status.ACTIVE and not self.is_over:
            self.epoch += 1
            self.good.add(self.epoch)

    def disown(self, _: None) -> None:
        if self.status is Status.ACTIVE:
            self.new_code()

    def scan(self, _: None) -> None:
        self.entries += self.status is Status.ACTIVE and not self.is_over

    def put_off(self, _: None) -> None:
        if self.status is Status.REVOKED:
            return
        self.ends += 2
        if self.status is Status.EXPIRED and not self.is_over:
            if self.epoch:
                self.given()
            else:
                self.status = Status.PENDING

    def wait(self, _: None) -> None:
        self.hour = min(self.hour + 2, LAST_HOUR)


LAST_HOUR = 4


@dataclass
class Life:
    """The same on the real database."""

    halls: dict[int, Hall]
    """By the hour."""
    right: Entitlement
    people: dict[str, IdentityId]
    starts: datetime
    hour: int = 0

    @property
    def hall(self) -> Hall:
        return self.halls[self.hour]

    async def does(self, deed: str, what: Any, expected: Expected) -> None:
        caller, own = self.hall.staff.caller, self.right.id
        match deed:
            case "wait":
                self.hour = expected.hour
            case "expire":
                await self.run(lambda tx: changing.expire(tx, [own], caller))
            case "claim":
                guest, user = self.people["guest"], self.people["user"]
                await self.hall.database.run(SWEEPING, lambda tx: insert_claimed(tx, guest, user))
                await self.run(lambda tx: changing.claim(tx, [Claim(caller, own, guest, user)]))
            case "scan":
                await self.run(lambda tx: consume(tx, [self.hall.a_scan(self.code(max(expected.epoch, 1)))]))
            case _:
                command, inputs = self.inputs(deed, what, expected)
                await self.run(lambda tx: command(tx, inputs))

    def inputs(self, deed: str, what: Any, expected: Expected) -> tuple[Any, list[Any]]:
        caller, own = self.hall.staff.caller, self.right.id
        ends = self.starts + timedelta(hours=expected.ends)
        return {
            "activate": lambda: (activate, [Activation(caller, own)]),
            "suspend": lambda: (changing.suspend, [Suspension(caller, own, hold) for hold in what]),
            "release": lambda: (changing.release, [Release(caller, own, hold) for hold in what]),
            "revoke": lambda: (changing.revoke, [Revoking(caller, own, why) for why in what]),
            "transfer": lambda: (changing.transfer, [Transfer(caller, own, self.people[who]) for who in what]),
            "renew": lambda: (renew, [Renewal(own, NEVER_LONG_ENOUGH)]),
            "disown": lambda: (changing.revoke_codes, [Disowning(caller, own, "LOST")]),
            "put_off": lambda: (changing.reschedule, [Rescheduling(caller, own, self.right.valid_from, ends)]),
        }[deed]()

    async def run(self, work: Any) -> Any:
        return await self.hall.database.run(self.hall.scope, work, patient=True)

    def code(self, epoch: int) -> str:
        code = code_of(self.right.id, epoch, KEYRING().current)
        assert code is not None
        return code

    async def probe(self, epochs: int) -> list[Verdict | Refusal]:
        """What a door says to every code there was and to the next two, without anybody going in."""
        scans = [self.hall.a_scan(self.code(epoch)) for epoch in range(1, epochs + 1)]

        async def look(tx: Tx) -> list[Verdict | Refusal]:
            said: list[Verdict | Refusal] = []
            for scan in scans:
                async with tx.taken_back():
                    said += await consume(tx, [scan])
            tx.published.clear()
            return said

        said: list[Verdict | Refusal] = await self.run(look)
        return said


@pytest.fixture
async def halls(database: Database, batcher: Batcher, database_url: str) -> AsyncIterator[dict[int, Hall]]:
    """One hall, at three hours."""
    hall = await a_hall(database, batcher)
    by_hour = {0: hall}
    for hour in (2, 4):
        by_hour[hour] = replace(hall, database=Database(database_url, clock=Clock(timedelta(hours=hour))))
    yield by_hour
    for hour in (2, 4):
        await by_hour[hour].database.close()


@pytest.mark.covers("ENT-002", "ENT-009", "ENT-018")
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    pending=some.booleans(),
    owner=some.sampled_from(["guest", "friend"]),
    life=some.lists(deeds, min_size=4, max_size=14),
)
async def test_in_any_order_a_right_stands_where_it_must_and_its_codes_open_what_they_may(
    halls: dict[int, Hall], pending: bool, owner: str, life: list[tuple[str, Any]]
):
    people = {name: IdentityId.new() for name in ("guest", "user", "friend")}
    starts = datetime.now(UTC)
    window = {"valid_from": starts - timedelta(hours=1), "valid_until": starts + timedelta(hours=1)}
    right = await halls[0].grant(owner=people[owner], pending=pending, policy=TIMES, **window)
    expected = Expected(owner, Status.PENDING if pending else Status.ACTIVE)
    if not pending:
        expected.new_code()
    lived = Life(halls, right, people, starts)
    was_revoked_for = None
    for deed, what in life:
        getattr(expected, deed)(what)
        await lived.does(deed, what, expected)
        now = await stands_as(lived, expected)
        assert was_revoked_for in (None, now.revoked_for), "REVOKED never returns"
        was_revoked_for = now.revoked_for
    await has_a_whole_trail(lived)


async def stands_as(lived: Life, expected: Expected) -> Entitlement:
    now, own = await lived.hall.find(lived.right.id), lived.right.id

    async def live(tx: Tx) -> set[int]:
        return {each.epoch for each in (await list_live(tx, [own], tx.now))[own]}

    good = await lived.hall.database.read(lived.hall.scope, live)
    assert (now.status, {*now.held_for}, now.revoked_for) == (expected.status, expected.holds, expected.revoked_for)
    assert (now.owner, now.entries) == (lived.people[expected.owner], expected.entries)
    assert (now.epoch, good) == (expected.epoch, expected.good)
    said = await lived.probe(expected.epoch + 2)
    opens = {epoch for epoch, each in enumerate(said, start=1) if isinstance(each, Verdict) and each.allow}
    is_usable = expected.status is Status.ACTIVE and not expected.is_over
    assert opens == (expected.good if is_usable else set()), "a code opens while its right is active, and no longer"
    reasons = [each.reason for each in said if isinstance(each, Verdict)]
    assert reasons[-2:] == [Reason.INVALID_TOKEN] * 2, "not made yet"
    if expected.status is not Status.ACTIVE:
        assert {*reasons} <= {Reason.ENTITLEMENT_NOT_ACTIVE, Reason.INVALID_TOKEN}
    return now


async def has_a_whole_trail(lived: Life) -> None:
    now = await lived.hall.find(lived.right.id)
    trail = await lived.hall.database.read(lived.hall.scope, list_changes, lived.right.id, 100)
    assert [line.number for line in trail] == [*range(1, now.version + 1)], "one line for each version"
    assert (trail[-1].to_status, trail[-1].identity_id) == (now.status, now.owner.uuid)
    for before, after in pairwise(trail):
        assert after.from_status == before.to_status
        move = (Status(before.to_status), Status(after.to_status))
        assert move[0] is move[1] or ENTITLEMENT.may(*move)
