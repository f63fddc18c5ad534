"""Keys change, addresses stay (GAP-18)."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from uuid import UUID

import pytest

from admitone.entrypoints.http import Application, assemble
from admitone.entrypoints.modules import MODULES
from admitone.foundation.authority.api import TableAuthority
from admitone.foundation.identity import api
from admitone.foundation.identity.commands.claiming import claim
from admitone.foundation.identity.handlers import rotate_keys, rotate_page
from admitone.foundation.identity.model import IdentityType, Profile
from admitone.foundation.identity.store import people as store
from admitone.kernel.config import Config
from admitone.kernel.crypto import KEYRING, KeyRing
from admitone.kernel.db import PeopleTx
from admitone.kernel.ids import PLATFORM_ORGANIZATION, IdentityId, uuid7
from admitone.kernel.jobs import Delivered, Desk
from admitone.kernel.jobs.schedules import Firing
from admitone.kernel.rotation import KeyGone
from admitone.kernel.scope import Caller
from admitone.kernel.words import Language
from tests.conftest import Clone
from tests.foundation.identity.orchard import a_subject, an_orchard, signs_in
from tests.foundation.identity.visitors import (
    PASSWORD,
    PEOPLE,
    an_account,
    an_authenticator,
    an_email,
    now_of,
    rotate_everything,
    signed_in,
)
from tests.toy.wiring import TOY_KEY

BOTH, NEW = KeyRing({1: TOY_KEY, 2: bytes(32)}), KeyRing({2: bytes(32)})


@pytest.fixture
async def installation(clone: Clone, tmp_path: Path) -> AsyncIterator[Application]:
    """On a database of its own: what stands there under the new key would be a riddle to other tests."""
    surroundings = {"DATABASE_URL": clone.url, "ADMITONE_DATA": str(tmp_path)}
    application = assemble(Config.load(surroundings), MODULES, TableAuthority(), strict=True)
    await application.start()
    yield application
    await application.close()


async def versions_of(installation: Application, identity: IdentityId) -> tuple[int | None, list[int]]:
    """Under which key the address is sealed, and under which it is hashed."""

    async def query(tx: PeopleTx) -> tuple[int | None, list[int]]:
        sealed = await tx.find("SELECT email_sealed FROM identity.profile WHERE identity_id = $1", identity.uuid)
        hashes = await tx.fetch(
            "SELECT key_version FROM identity.email_hash WHERE identity_id = $1 ORDER BY 1", identity.uuid
        )
        return sealed["email_sealed"][0] if sealed else None, [row["key_version"] for row in hashes]

    return await installation.database.read(PEOPLE, query)


async def nightly(installation: Application) -> None:
    """As the worker runs it."""
    at = datetime.now(UTC)
    desk = Desk(installation.database, installation.batcher)
    job = Delivered(uuid7(), PLATFORM_ORGANIZATION, Firing("identity.rotate_keys", at), Caller(), "cron", None, 1, at)
    await rotate_keys.work(desk, job)


async def guest_of(installation: Application, email: str) -> IdentityId:
    return (await installation.database.run(PEOPLE, lambda tx: api.guests(tx, [email])))[email]


async def test_a_key_can_go_after_a_night_with_both(installation: Application) -> None:
    ana = await an_account(installation, password=PASSWORD)
    totp, codes = await an_authenticator(ana)
    guest_email = an_email()
    guest = await guest_of(installation, guest_email)
    assert await versions_of(installation, ana.identity) == (1, [1])
    with KEYRING.wired(BOTH):
        assert (await ana.login(secondFactor=codes[0])).is_success, "before the night"
        await nightly(installation)
        assert await versions_of(installation, ana.identity) == (2, [1, 2])
        assert await versions_of(installation, guest) == (2, [1, 2])
    with KEYRING.wired(NEW):
        assert (await ana.login(secondFactor=totp.at(await now_of(ana)))).is_success
        assert (await ana.login("three brave otters")).status_code == 401
        again = await signed_in(installation, ana)
        assert (await again.get("/api/auth/me")).json()["email"] == ana.email
        found = await an_account(installation, ana.email.upper().lower())
        assert found.identity == ana.identity, "an address that is taken stays taken"
        assert await guest_of(installation, guest_email) == guest, "and so does a guest's"
        await nightly(installation)
        assert await versions_of(installation, ana.identity) == (2, [2]), "what no live key made is gone"


async def test_nobody_takes_a_taken_address_while_keys_change(installation: Application) -> None:
    ana = await an_account(installation)
    with KEYRING.wired(BOTH):
        found = await an_account(installation, ana.email)
        assert found.identity == ana.identity
        new = await an_account(installation)
        assert await versions_of(installation, new.identity) == (2, [1, 2])
    assert (await an_account(installation, new.email)).identity == new.identity, (
        "also for a process that has the old key only"
    )


async def test_a_second_night_finds_nothing_to_do(installation: Application) -> None:
    for _ in range(3):
        await an_authenticator(await an_account(installation))
    with KEYRING.wired(BOTH):
        assert await rotate_everything(installation) == 6
        assert await rotate_everything(installation) == 0


async def test_a_key_that_went_too_early_is_put_back_and_nothing_is_lost(installation: Application) -> None:
    ana = await an_account(installation, password=PASSWORD)
    totp, _ = await an_authenticator(ana)
    with KEYRING.wired(NEW):
        with pytest.raises(KeyGone, match="2 addresses or authenticators"):
            await nightly(installation)
        assert await versions_of(installation, ana.identity) == (1, [1]), "left as it was"
    with KEYRING.wired(BOTH):
        await nightly(installation)
    with KEYRING.wired(NEW):
        assert (await ana.login(secondFactor=totp.at(await now_of(ana)))).is_success


async def test_one_that_cannot_be_read_holds_nobody_up(installation: Application) -> None:
    before, lost, after = [await an_account(installation) for _ in range(3)]
    await _spoil(installation, lost.identity)
    with KEYRING.wired(BOTH):
        with pytest.raises(KeyGone, match="1 address"):
            await nightly(installation)
        for who in (before, after):
            assert await versions_of(installation, who.identity) == (2, [1, 2])


async def test_many_pages_are_walked_to_the_end(installation: Application) -> None:
    people = [await an_account(installation) for _ in range(7)]
    with KEYRING.wired(BOTH):
        last, walked = UUID(int=0), 0
        while True:
            page = await installation.database.run(PEOPLE, partial(rotate_page, after=last, most=3), patient=True)
            if page.last is None:
                break
            last, walked = page.last, walked + page.changed
        assert walked == 7
        for who in people:
            assert await versions_of(installation, who.identity) == (2, [1, 2])


async def test_two_walks_at_once_do_the_work_of_one(installation: Application) -> None:
    people = [await an_account(installation) for _ in range(5)]
    with KEYRING.wired(BOTH):
        assert sum(await asyncio.gather(*(rotate_everything(installation) for _ in range(3)))) == 5
        for who in people:
            assert await versions_of(installation, who.identity) == (2, [1, 2])


async def test_an_address_that_changes_during_the_walk_is_the_new_one(installation: Application) -> None:
    """The walk waits for whoever holds the person, and reads after that."""
    ana, new = await an_account(installation), an_email()
    held, release = asyncio.Event(), asyncio.Event()

    async def change(tx: PeopleTx) -> None:
        await store.lock_identities(tx, [ana.identity])
        held.set()
        await release.wait()
        await store.remove_hashes(tx, [ana.identity])
        await store.insert_hashes(tx, [(ana.identity, IdentityType.USER, new)])
        await store.put_profiles(tx, {ana.identity: Profile(new, None, Language.ENGLISH)})

    changing = asyncio.create_task(installation.database.run(PEOPLE, change))
    await held.wait()
    with KEYRING.wired(BOTH):
        walking = asyncio.create_task(rotate_everything(installation))
        while not await somebody_waits(installation):
            assert not walking.done(), "it read an address that was about to change"
            await asyncio.sleep(0.01)
        release.set()
        await changing
        await walking
    with KEYRING.wired(NEW):
        assert await installation.database.read(PEOPLE, api.find_by_email, [new, ana.email]) == {new: ana.identity}


async def somebody_waits(installation: Application) -> bool:
    async def query(tx: PeopleTx) -> bool:
        waiting = (
            "SELECT count(*) FROM pg_locks AS l JOIN pg_stat_activity AS a ON a.pid = l.pid"
            " WHERE NOT l.granted AND a.datname = current_database()"
        )
        return bool((await tx.fetch(waiting))[0]["count"])

    return await installation.database.read(PEOPLE, query)


async def test_a_claimed_guest_leaves_no_address_behind(installation: Application) -> None:
    ana = await an_account(installation)
    guest = await guest_of(installation, ana.email)
    assert (await versions_of(installation, guest)) == (1, [1])
    await installation.database.run(PEOPLE, lambda tx: claim(tx, {ana.email: (ana.identity, Caller())}))
    assert (await versions_of(installation, guest)) == (None, [])


async def _spoil(installation: Application, identity: IdentityId) -> None:
    async def spoil(tx: PeopleTx) -> None:
        statement = "UPDATE identity.profile SET email_sealed = $2 WHERE identity_id = $1"
        await tx.execute(statement, identity.uuid, bytes([1]) + bytes(60))

    await installation.database.run(PEOPLE, spoil)


# -- Apple's names: nobody has them but Apple, so they are written anew when somebody comes with one


async def test_a_link_outlives_its_key_if_its_owner_comes_while_both_live(installation: Application) -> None:
    ana, rui = await an_account(installation), await an_account(installation)
    anas, ruis = a_subject(), a_subject()
    async with an_orchard(installation) as orchard:
        for who, subject in ((ana, anas), (rui, ruis)):
            await who.post("apple/link", identityToken=orchard.token(sub=subject))
        with KEYRING.wired(BOTH):
            for _ in range(2):
                assert await signs_in(installation, orchard.token(sub=anas)) == ana.identity
            assert await links_of(installation, ana.identity) == [1, 2]
            stranger = await an_account(installation)
            taken = await stranger.post("apple/link", identityToken=orchard.token(sub=ruis))
            assert taken.json()["errorCode"] == "ALREADY_LINKED", "also under the former key"
            await nightly(installation)
        with KEYRING.wired(NEW):
            assert await signs_in(installation, orchard.token(sub=anas)) == ana.identity
            assert await signs_in(installation, orchard.token(sub=ruis)) == "APPLE_NOT_LINKED"
            again = await rui.post("apple/link", identityToken=orchard.token(sub=ruis))
            assert again.is_success, "whoever did not come links it again"
            assert await signs_in(installation, orchard.token(sub=ruis)) == rui.identity
            assert await links_of(installation, rui.identity) == [2]


async def links_of(installation: Application, identity: IdentityId) -> list[int]:
    async def query(tx: PeopleTx) -> list[int]:
        statement = "SELECT key_version FROM identity.apple WHERE identity_id = $1 ORDER BY 1"
        return [row["key_version"] for row in await tx.fetch(statement, identity.uuid)]

    return await installation.database.read(PEOPLE, query)
