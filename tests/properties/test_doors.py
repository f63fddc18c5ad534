"""Whatever happens at doors, with a network and without, and in whatever order: rights, log and counts agree."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from admitone.entitlements.codes import code_of, digest_of
from admitone.entitlements.commands.changing import (
    Release,
    Revoking,
    Suspension,
    Transfer,
    release,
    revoke,
    suspend,
    transfer,
)
from admitone.entitlements.commands.checking_in import consume
from admitone.entitlements.commands.leasing import LeaseWanted, LetIn, Sync, lease, synchronise
from admitone.entitlements.commands.undoing import Undo, undo
from admitone.entitlements.model import CheckinId, CheckinPolicy, Entitlement, Hold, Lease, Place, Revocation, Verdict
from admitone.kernel.batch import Batcher
from admitone.kernel.crypto import KEYRING
from admitone.kernel.db import Database
from admitone.kernel.ids import IdentityId
from tests.entitlements.agreeing import agree
from tests.entitlements.rights import EVENT, Hall, a_hall

OFTEN = CheckinPolicy(allow_reentry=True, max_entries=2, reentry_minutes=15)
EVENTS = (EVENT, "evt-other")

right = some.sampled_from([0, 0, 1, 1, 2, 3])
door = some.tuples(
    some.sampled_from([EVENT, EVENT, EVENTS[1]]),
    some.sampled_from([None, "day-1", "day-2"]),
    some.sampled_from(["", "N", "S"]),
)
deeds = some.one_of(
    some.tuples(some.just("scan"), right, some.sampled_from([1, 1, 1, 2]), door),
    some.tuples(some.just("undo"), some.integers(0, 5)),
    some.tuples(some.just("let_in"), right, some.just(1), some.integers(-3, 0)),
    some.tuples(some.just("let_in"), right, some.integers(1, 2), some.integers(-40, 5)),
    some.tuples(some.just("back")),
    some.tuples(some.sampled_from(["back", "back_again", "lease", "forged"])),
    some.tuples(some.sampled_from(["revoke", "suspend", "release", "transfer"]), right),
    some.tuples(some.just("wait"), some.sampled_from([1, 10, 20])),
)


@dataclass
class Evening:
    hall: Hall
    rights: list[Entitlement]
    lease: Lease | None = None
    now: datetime = field(default_factory=lambda: datetime.now(UTC))
    entries: list[CheckinId] = field(default_factory=list)
    queue: list[LetIn] = field(default_factory=list)
    sent: list[LetIn] = field(default_factory=list)
    keys: int = 0

    async def run(self, command: Any, each: Any) -> Any:
        self.now += timedelta(seconds=1)
        return await self.hall.at(self.now, command, each)

    def code(self, which: int, epoch: int) -> str:
        code = code_of(self.rights[which].id, epoch, KEYRING().current)
        assert code is not None
        return code

    async def scan(self, which: int, epoch: int, place: tuple[str, str | None, str]) -> None:
        event, session, gate = place
        shown = self.hall.a_scan(self.code(which, epoch), event=event, device="d", session_id=session, gate=gate)
        said: Verdict = await self.run(consume, shown)
        if said.allow:
            self.entries.append(said.checkin)

    async def undo(self, back: int) -> None:
        for checkin in self.entries[-back - 1 :][:1]:
            await self.run(undo, Undo(self.hall.staff.caller, checkin, "WRONG_PERSON", "d"))

    def key(self) -> str:
        self.keys += 1
        return str(self.keys)

    async def let_in(self, which: int, epoch: int, minutes: int) -> None:
        digest = digest_of(self.code(which, epoch))
        self.queue.append(LetIn(self.key(), digest, self.now + timedelta(minutes=minutes)))

    async def forged(self) -> None:
        self.queue.append(LetIn(self.key(), b"0" * 16, self.now))

    async def lend(self) -> Lease:
        place = Place(EVENT, "day-1", "N", "offline")
        self.lease = await self.run(lease, LeaseWanted(self.hall.staff.caller, place, 2))
        self.sent = []
        assert self.lease is not None
        return self.lease

    async def back(self) -> None:
        own = self.lease or await self.lend()
        said = await self.run(synchronise, Sync(self.hall.staff.caller, own.id, "offline", tuple(self.queue)))
        self.entries += [each.checkin for each in said.recorded if each.admitted]
        self.sent, self.queue = self.sent + self.queue, []

    async def back_again(self) -> None:
        if self.lease and self.sent:
            sync = Sync(self.hall.staff.caller, self.lease.id, "offline", tuple(self.sent))
            said = await self.run(synchronise, sync)
            assert all(each.replayed for each in said.recorded)

    async def change(self, deed: str, which: int) -> None:
        caller, own = self.hall.staff.caller, self.rights[which].id
        command, each = {
            "revoke": (revoke, Revoking(caller, own, Revocation.REFUND)),
            "suspend": (suspend, Suspension(caller, own, Hold.DISPUTE)),
            "release": (release, Release(caller, own, Hold.DISPUTE)),
            "transfer": (transfer, Transfer(caller, own, IdentityId.new())),
        }[deed]
        await self.run(command, each)

    async def does(self, deed: str, *what: Any) -> None:
        match deed:
            case "wait":
                self.now += timedelta(minutes=what[0])
            case "lease":
                await self.lend()
            case "revoke" | "suspend" | "release" | "transfer":
                await self.change(deed, *what)
            case _:
                await getattr(self, deed)(*what)


@pytest.mark.covers("INV-I09", "ENT-021", "ENT-024", "ENT-031")
@settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(evening=some.lists(deeds, min_size=10, max_size=30))
async def test_rights_log_and_counts_agree_after_any_evening(
    database: Database, batcher: Batcher, evening: list[tuple[Any, ...]]
):
    hall = await a_hall(database, batcher)
    sessions: list[dict[str, Any]] = [{}, {"session_id": "day-1"}, {"session_id": "day-2"}, {"event_id": EVENTS[1]}]
    lived = Evening(hall, [await hall.grant(policy=OFTEN, **more) for more in sessions])
    for deed in evening:
        await lived.does(*deed)
    await agree(hall)
