"""Whoever proves an address first has its account alone: nobody prepares one for somebody else."""

import pytest

from admitone.foundation.identity.api import GuestLink, Prepared, send_guest_links
from admitone.foundation.identity.commands import accounts
from admitone.foundation.identity.commands.accounts import NewAccount
from admitone.foundation.identity.model import Profile
from admitone.foundation.identity.passwords import hash_of
from admitone.kernel.ids import IdentityId, uuid7
from admitone.kernel.scope import Caller
from admitone.kernel.words import Language
from tests.foundation.identity.house import ANOTHER_PASSWORD, PASSWORD, House, Visitor, an_email

A_THIRD_PASSWORD = "nine shy herons"


async def made_by_an_operator(house: House, *, verified: bool = False) -> tuple[IdentityId, Visitor]:
    """An account that somebody already uses, without having proved its address."""
    account = NewAccount(
        Caller(), Profile(an_email(), None, Language.ENGLISH), await hash_of(PASSWORD), is_verified=verified
    )
    [identity] = await house.people(lambda tx: accounts.create(tx, [account]))
    assert isinstance(identity, IdentityId)
    thief = house.a_visitor(email=account.profile.email)
    await thief.signs_in()
    return identity, thief


async def proves(house: House, owner: Visitor, way: str) -> None:
    if way == "reset":
        await owner.post("password/reset-request", email=owner.email)
        token = await house.token_to(owner.email)
        assert (await owner.post("password/reset", token=token, newPassword=ANOTHER_PASSWORD)).status_code == 200
        return
    if way == "link":
        link = GuestLink(Caller(), Prepared(owner.email, Language.ENGLISH), uuid7().hex)
        await house.people(lambda tx: send_guest_links(tx, [link]))
        answer = await owner.post("verify-link", token=await house.token_to(owner.email))
    elif way == "signup":
        asked = await owner.post("signup", email=owner.email, password=A_THIRD_PASSWORD)
        answer = await house.verifies(owner, asked)
    else:
        answer = await house.verifies(owner, await owner.post("send-otp", email=owner.email))
    assert answer.status_code == 200, answer.text
    owner.tokens = answer.json()


@pytest.mark.parametrize("way", ["code", "link", "signup", "reset"])
async def test_what_was_set_before_the_address_was_proved_is_gone(house: House, way: str):
    identity, thief = await made_by_an_operator(house)
    owner = house.a_visitor(email=thief.email)
    await proves(house, owner, way)
    assert (await thief.me()).status_code == 401, "a session from before"
    assert (await house.a_visitor(email=thief.email).login()).status_code == 401, "the password from before"
    chosen = {"reset": ANOTHER_PASSWORD, "signup": A_THIRD_PASSWORD}.get(way)
    if chosen:
        owner.tokens = (await owner.login(chosen)).json()
    me = (await owner.me()).json()
    assert (me["identityId"], me["emailVerified"]) == (str(identity), True)


async def test_a_link_to_apple_from_before_the_proof_is_gone(house: House):
    identity, thief = await made_by_an_operator(house)
    await house.superuser.execute(
        "INSERT INTO identity.apple (subject_hash, key_version, identity_id, linked_at) VALUES ($1, 1, $2, now())",
        uuid7().bytes * 2,
        identity.uuid,
    )
    await proves(house, house.a_visitor(email=thief.email), "code")
    assert not await house.superuser.fetch("SELECT 1 FROM identity.apple WHERE identity_id = $1", identity.uuid)


@pytest.mark.parametrize("way", ["code", "link", "signup"])
async def test_who_proved_the_address_before_keeps_password_and_sessions(house: House, way: str):
    _, ana = await made_by_an_operator(house, verified=True)
    await proves(house, house.a_visitor(email=ana.email), way)
    assert (await ana.me()).status_code == 200
    assert (await ana.login()).status_code == 200
