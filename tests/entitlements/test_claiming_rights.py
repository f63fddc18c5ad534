"""What a guest was given is the user's who the guest turns out to be, in every organisation and whatever comes when."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg
import pytest

from admitone.entitlements import errands
from admitone.entitlements.commands.changing import Claim, Transfer, claim, transfer
from admitone.entitlements.commands.granting import grant
from admitone.entitlements.model import Entitlement
from admitone.foundation.identity.api import guests
from admitone.foundation.identity.commands.claiming import claim as claim_guest
from admitone.foundation.identity.facts import GuestClaimed
from admitone.kernel.db import Database, Tx
from admitone.kernel.ids import PLATFORM_ORGANIZATION, IdentityId, uuid7
from admitone.kernel.jobs import Delivered, Desk, Subscription
from admitone.kernel.manifest import Module
from admitone.kernel.scope import Caller, PeopleScope
from tests.entitlements.rights import Hall, a_hall, all_of
from tests.jobs import DEADLINE_SECONDS, a_worker, duties
from tests.mails import an_address
from tests.people import Person, a_person

PEOPLE = PeopleScope("test")
CLAIMS = Module("claims", subscriptions=(Subscription(GuestClaimed, errands.claim_rights),))
TRAIL = (
    "SELECT kind, cause_id FROM entitlements.change WHERE organization_id = $1 AND entitlement_id = $2 ORDER BY number"
)
FOLLOWS = (
    "SELECT run_at - created_at FROM kernel.job WHERE kind = 'entitlements.claim_rest' AND payload ->> 'guestId' = $1"
)


async def a_guest(database: Database, address: str) -> IdentityId:
    return (await database.run(PEOPLE, lambda tx: guests(tx, [address])))[address]


async def proves(database: Database, user: Person) -> None:
    """Somebody proves their address, and says that its guest was them."""
    await database.run(PEOPLE, lambda tx: claim_guest(tx, {user.email: (user.identity, user.caller)}), patient=True)


async def tells(hall: Hall, kind: Any, guest: IdentityId, user: IdentityId) -> Any:
    fact, now = GuestClaimed(user_id=user, guest_id=guest, batch_version=1), datetime.now(UTC)
    told = Delivered(uuid7(), PLATFORM_ORGANIZATION, fact, Caller(causation_id=uuid7()), str(uuid7()), None, 1, now)
    return await kind.work(Desk(hall.database, hall.batcher), told)


async def owner_of(hall: Hall, right: Entitlement) -> IdentityId:
    return (await hall.find(right.id)).owner


@pytest.mark.covers("IDN-004")
async def test_whoever_proves_the_address_has_the_rights_of_its_guest_in_every_organisation(
    hall: Hall, database: Database, superuser: asyncpg.Connection
):
    user = await a_person(database, email=an_address())
    guest = await a_guest(database, user.email)
    other = await a_hall(database, hall.batcher)
    here, there = await hall.grant(owner=guest), await other.grant(owner=guest, pending=True)
    strangers = await hall.grant()
    code = await hall.code(here)
    await proves(database, user)
    async with a_worker(database, duties(errands.claim_rights, errands.claim_rest, modules=[CLAIMS])):
        async with asyncio.timeout(DEADLINE_SECONDS):
            while not (follows := await superuser.fetchval(FOLLOWS, str(guest))):  # noqa: ASYNC110  Nobody tells.
                await asyncio.sleep(0.05)
    assert follows >= errands.STRAGGLING
    assert [await owner_of(hall, here), await owner_of(other, there)] == [user.identity] * 2
    assert await owner_of(hall, strangers) == hall.guest.identity
    moved = await hall.find(here.id)
    assert (moved.version, moved.epoch, moved.status) == (2, here.epoch, here.status), "the owner, and nothing else"
    assert (await hall.scan(code)).allow, "the code that was printed at home"
    [granted, claimed] = await all_of(hall, TRAIL, here.id.uuid)
    assert (granted["kind"], claimed["kind"]) == ("GRANTED", "CLAIMED")
    assert claimed["cause_id"] is not None
    fresh = await hall.grant(owner=guest)
    assert fresh.owner == user.identity, "a payment that ends after the claim"
    passed_on = await hall.submit(transfer, Transfer(hall.staff.caller, strangers.id, guest))
    assert passed_on.owner == user.identity


@pytest.mark.covers("IDN-004")
async def test_what_was_being_granted_while_the_guest_was_claimed_is_moved_afterwards(hall: Hall):
    guest, user = IdentityId.new(), IdentityId.new()
    granting, claimed = asyncio.Event(), asyncio.Event()

    async def slow(tx: Tx) -> Entitlement:
        [given] = await grant(tx, [hall.a_grant(owner=guest)])
        granting.set()
        await claimed.wait()
        assert isinstance(given, Entitlement)
        return given

    straggler = asyncio.create_task(hall.database.run(hall.scope, slow))
    await granting.wait()
    await tells(hall, errands.claim_rights, guest, user)
    claimed.set()
    right = await straggler
    assert await owner_of(hall, right) == guest
    await tells(hall, errands.claim_rest, guest, user)
    assert await owner_of(hall, right) == user


@pytest.mark.covers("IDN-004")
async def test_a_claim_takes_nothing_that_the_guest_had_passed_on(hall: Hall):
    guest, user, friend = IdentityId.new(), IdentityId.new(), IdentityId.new()
    ticket = await hall.grant(owner=guest)
    await hall.submit(transfer, Transfer(hall.staff.caller, ticket.id, friend))
    kept = await hall.submit(claim, Claim(hall.staff.caller, ticket.id, guest, user))
    assert (kept.owner, kept.version) == (friend, 2)


@pytest.mark.covers("IDN-005")
async def test_a_claim_that_is_told_twice_is_one(hall: Hall):
    guest, user = IdentityId.new(), IdentityId.new()
    over = datetime.now(UTC) - timedelta(days=400)
    past = await hall.grant(owner=guest, valid_from=over, valid_until=over + timedelta(hours=1))
    for _ in range(2):
        await tells(hall, errands.claim_rights, guest, user)
    assert [row["kind"] for row in await all_of(hall, TRAIL, past.id.uuid)] == ["GRANTED", "CLAIMED"]
