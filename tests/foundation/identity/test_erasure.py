"""Erasing a person: what is personal goes, and what was bought keeps an owner that means nobody."""

import asyncio

import asyncpg
import pytest

from admitone.foundation.identity import api
from admitone.foundation.identity.commands import accounts, guest_links
from admitone.foundation.identity.commands.guest_links import GuestLink
from admitone.foundation.identity.model import Prepared
from admitone.kernel.db import PeopleTx
from admitone.kernel.ids import IdentityId, uuid7
from admitone.kernel.scope import Caller
from admitone.kernel.words import Language
from tests.foundation.identity.house import ANOTHER_PASSWORD, House, an_email

PERSONAL = ("email_hash", "profile", "password", "totp", "recovery_code", "apple")


async def erased(house: House, identity: IdentityId) -> list[bool]:
    return list(await house.people(lambda tx: accounts.erase(tx, [(Caller(identity), identity)])))


async def rows_of(house: House, identity: IdentityId) -> dict[str, int]:
    return {
        table: await house.superuser.fetchval(
            f"SELECT count(*) FROM identity.{table} WHERE identity_id = $1", identity.uuid
        )
        for table in PERSONAL
    }


@pytest.mark.covers("IDN-001")
async def test_what_is_personal_goes_and_the_identity_stays(house: House):
    email = an_email()
    guest = (await house.people(lambda tx: api.guests(tx, [email])))[email]
    ana = await house.a_user(email)
    await ana.signs_in()
    assert await erased(house, ana.identity) == [True]

    assert await rows_of(house, ana.identity) == dict.fromkeys(PERSONAL, 0)
    row = await house.superuser.fetchrow(
        "SELECT status, email_verified_at FROM identity.identity WHERE id = $1", ana.identity.uuid
    )
    assert tuple(row) == ("ERASED", None)
    assert (await house.people(lambda tx: api.resolve(tx, [guest])))[guest] == ana.identity, "history survives"
    assert await house.superuser.fetchval("SELECT count(*) FROM identity.merge WHERE guest_id = $1", guest.uuid) == 1
    assert (await ana.me()).status_code == 401
    assert (await ana.post("refresh", refreshToken=ana.tokens["refreshToken"])).status_code == 401
    assert ("identity.erased", {"identityId": str(ana.identity)}) in await house.facts_of(ana.identity)
    [entry] = await house.superuser.fetch("SELECT action FROM kernel.audit_entry WHERE subject = $1", str(ana.identity))
    assert entry["action"] == "identity.erase"
    assert await erased(house, ana.identity) == [False], "once"


async def test_somebody_erased_is_unknown_and_may_begin_anew(house: House):
    ana = await house.a_user()
    await ana.post("password/reset-request", email=ana.email)
    token = await house.token_to(ana.email)
    await erased(house, ana.identity)

    unknown = await house.a_visitor(email=an_email()).login()
    answer = await ana.login()
    assert (answer.status_code, answer.json()["errorCode"]) == (unknown.status_code, unknown.json()["errorCode"])
    assert (await ana.post("password/reset", token=token, newPassword=ANOTHER_PASSWORD)).status_code == 403
    again = await house.a_user(ana.email)
    assert again.identity != ana.identity
    assert (await again.me()).json()["email"] == ana.email


@pytest.mark.parametrize("way", ["password", "link"])
async def test_nobody_signs_in_as_somebody_who_is_erased_meanwhile(
    house: House, superuser: asyncpg.Connection, way: str
):
    """Whoever proves something waits for the erasure, and is nobody then."""
    ana = await house.a_user()
    link = GuestLink(Caller(), Prepared(ana.email, Language.ENGLISH), uuid7().hex)
    await house.people(lambda tx: guest_links.send_guest_links(tx, [link]))
    token = await house.token_to(ana.email)
    erased, committing = asyncio.Event(), asyncio.Event()

    async def erase(tx: PeopleTx) -> None:
        await accounts.erase(tx, [(Caller(), ana.identity)])
        erased.set()
        await committing.wait()

    erasing = asyncio.create_task(house.people(erase))
    await erased.wait()
    proving = asyncio.create_task(ana.login() if way == "password" else ana.post("verify-link", token=token))
    async with asyncio.timeout(30):
        while not await superuser.fetchval("SELECT count(*) FROM pg_locks WHERE NOT granted"):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    committing.set()
    await erasing

    assert (await proving).status_code == 401
    of_nobody = "SELECT count(*) FROM authority.session WHERE identity_id = $1 AND ended_at IS NULL"
    assert await superuser.fetchval(of_nobody, ana.identity.uuid) == 0
    again = await house.a_user(ana.email)
    assert again.identity != ana.identity
