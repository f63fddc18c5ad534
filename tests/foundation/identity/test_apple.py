"""Apple: linked, signed in with, unlinked; never a way into an account of somebody else."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest

from admitone.entrypoints.http import Application
from admitone.foundation.identity import api
from admitone.foundation.identity.commands import apple as commands
from admitone.foundation.identity.port import APPLE
from admitone.foundation.identity.store import apple as store
from admitone.kernel.crypto import KEYRING
from admitone.kernel.ids import IdentityId
from admitone.kernel.scope import Caller
from tests.foundation.identity.orchard import Orchard, a_subject, an_orchard, signs_in
from tests.foundation.identity.visitors import (
    PASSWORD,
    PEOPLE,
    Visitor,
    alarms_of,
    an_account,
    an_authenticator,
    an_email,
    count_of,
    later,
    now_of,
    trail_of,
)

pytestmark = pytest.mark.covers("IDN-019")


@pytest.fixture
async def orchard(application: Application) -> AsyncIterator[Orchard]:
    async with an_orchard(application) as orchard:
        yield orchard


async def test_who_linked_it_signs_in_with_it(application, superuser, orchard) -> None:
    ana, subject = await an_account(application), a_subject()
    assert await signs_in(application, orchard.token(sub=subject)) == "APPLE_NOT_LINKED"
    assert (await ana.post("apple/link", identityToken=orchard.token(sub=subject))).is_success
    assert await signs_in(application, orchard.token(sub=subject)) == ana.identity
    method = "SELECT method FROM authority.session WHERE identity_id = $1 ORDER BY id DESC LIMIT 1"
    assert await superuser.fetchval(method, ana.identity.uuid) == "APPLE"
    [entry] = await trail_of(superuser, ana.identity)
    assert (entry["action"], entry["reason_code"], entry["after"]) == (
        "identity.link_apple",
        "BY_OWNER",
        '{"apple": true}',
    )


async def test_apples_name_for_somebody_stands_nowhere(application, superuser, orchard) -> None:
    ana, subject = await an_account(application), a_subject()
    await ana.post("apple/link", identityToken=orchard.token(sub=subject))
    row = await superuser.fetchrow("SELECT * FROM identity.apple WHERE identity_id = $1", ana.identity.uuid)
    assert row["subject_hash"] == KEYRING().hmac(subject, store.PURPOSE).digest
    for table in ("kernel.audit_entry", "kernel.event_log"):
        assert not await superuser.fetchval(f"SELECT count(*) FROM {table} AS t WHERE t::text LIKE $1", f"%{subject}%")


@pytest.mark.covers("IDN-018")
async def test_a_link_that_is_added_is_told_of_and_so_is_an_unknown_device(application, superuser, orchard) -> None:
    ana, subject = await an_account(application), a_subject()
    await ana.post("apple/link", identityToken=orchard.token(sub=subject))
    assert await alarms_of(superuser, ana.identity) == ["APPLE_LINKED"]
    assert (await Visitor(application).post("apple/sign-in", identityToken=orchard.token(sub=subject))).is_success
    assert await alarms_of(superuser, ana.identity) == ["APPLE_LINKED", "NEW_DEVICE"]


async def test_to_link_it_again_changes_nothing(application, superuser, orchard) -> None:
    ana, subject = await an_account(application), a_subject()
    for _ in range(2):
        assert (await ana.post("apple/link", identityToken=orchard.token(sub=subject))).is_success
    assert await count_of(superuser, "identity.apple", ana.identity) == 1
    assert len(await trail_of(superuser, ana.identity)) == 1


async def test_what_is_linked_is_linked_to_one(application, orchard) -> None:
    ana, rui, subject = await an_account(application), await an_account(application), a_subject()
    await ana.post("apple/link", identityToken=orchard.token(sub=subject))
    another = await rui.post("apple/link", identityToken=orchard.token(sub=subject))
    second = await ana.post("apple/link", identityToken=orchard.token())
    for answer in (another, second):
        assert (answer.status_code, answer.json()["errorCode"]) == (409, "ALREADY_LINKED")
    assert await signs_in(application, orchard.token(sub=subject)) == ana.identity


async def test_of_two_who_link_one_at_once_one_wins(application, superuser, orchard) -> None:
    subject = a_subject()
    people = [await an_account(application) for _ in range(4)]
    barrier = asyncio.Barrier(4)
    token = await _read(orchard.token(sub=subject))
    arrived = set()

    async def one(who: Visitor) -> Any:
        async def gated(tx: Any) -> Any:
            if who.identity not in arrived:
                arrived.add(who.identity)
                await barrier.wait()
            return await commands.link(tx, [commands.AppleLink(_caller(who), who.identity, token, "BY_OWNER")])

        [outcome] = await application.database.run(PEOPLE, gated)
        return getattr(outcome, "code", outcome)

    outcomes = await asyncio.gather(*(one(who) for who in people))
    assert sorted(map(str, outcomes)) == ["ALREADY_LINKED"] * 3 + ["True"]


async def test_linking_needs_a_recent_proof(application, orchard) -> None:
    with later(application, timedelta(minutes=-11)):
        ana = await an_account(application)
    for path in ("apple/link", "apple/unlink"):
        answer = await ana.post(path, identityToken=orchard.token())
        assert answer.json()["errorCode"] == "STEP_UP_REQUIRED"
    assert orchard.asked == 0


async def test_what_was_unlinked_opens_nothing(application, superuser, orchard) -> None:
    ana, subject = await an_account(application), a_subject()
    await ana.post("apple/link", identityToken=orchard.token(sub=subject))
    assert (await ana.post("apple/unlink")).is_success
    assert await count_of(superuser, "identity.apple", ana.identity) == 0
    assert await signs_in(application, orchard.token(sub=subject)) == "APPLE_NOT_LINKED"
    assert (await ana.post("apple/unlink")).is_success, "twice is once"
    actions = [row["action"] for row in await trail_of(superuser, ana.identity)]
    assert actions == ["identity.link_apple", "identity.unlink_apple"]


# -- Somebody new


async def test_somebody_new_with_a_verified_address_gets_an_account(application, superuser, orchard) -> None:
    subject, email = a_subject(), an_email()
    guests = await application.database.run(PEOPLE, lambda tx: api.guests(tx, [email]))
    token = orchard.token(sub=subject, email=email.upper(), email_verified="true")
    ana = await signs_in(application, token)
    assert await signs_in(application, orchard.token(sub=subject)) == ana, "from now on without an address"
    row = await superuser.fetchrow("SELECT * FROM identity.identity WHERE id = $1", ana.uuid)
    assert row["email_verified_at"] is not None
    merged = await superuser.fetchval("SELECT merged_into FROM identity.identity WHERE id = $1", guests[email].uuid)
    assert merged == ana.uuid, "and what was bought as a guest"


@pytest.mark.parametrize("verified", [None, False, "false", 1, "yes"])
async def test_an_address_that_apple_did_not_verify_makes_no_account(application, superuser, orchard, verified) -> None:
    email = an_email()
    token = orchard.token(email=email, email_verified=verified)
    assert await signs_in(application, token) == "APPLE_NOT_LINKED"
    found = await application.database.read(PEOPLE, api.find_by_email, [email])
    assert not found


async def test_an_address_alone_never_opens_an_account_that_exists(application, superuser, orchard) -> None:
    """Nor does the answer say that it exists."""
    ana = await an_account(application)
    stolen = orchard.token(email=ana.email, email_verified=True)
    nobody = orchard.token()
    answers = [await Visitor(application).post("apple/sign-in", identityToken=token) for token in (stolen, nobody)]
    shapes = [(answer.status_code, {**answer.json(), "correlationId": "?"}) for answer in answers]
    assert shapes[0] == shapes[1]
    assert shapes[0][1]["errorCode"] == "APPLE_NOT_LINKED"
    assert await count_of(superuser, "identity.apple", ana.identity) == 0
    sessions = await count_of(superuser, "authority.session", ana.identity)
    assert sessions == 1


async def test_two_strangers_with_one_address_at_once_do_not_share_an_account(application, orchard) -> None:
    email = an_email()
    tokens = [await _read(orchard.token(email=email, email_verified=True)) for _ in range(2)]
    asked = [commands.AppleSignIn(_caller(None), token, "en") for token in tokens]
    attempts = await application.database.run(PEOPLE, lambda tx: commands.sign_in(tx, asked))
    assert [attempt.lacking for attempt in attempts] == [None, "ACCOUNT"]


async def test_one_stranger_who_comes_many_times_at_once_gets_one_account(application, superuser, orchard) -> None:
    subject, email = a_subject(), an_email()
    token = orchard.token(sub=subject, email=email, email_verified=True)
    found = await asyncio.gather(*(signs_in(application, token) for _ in range(6)))
    read = await _read(token)
    asked = [commands.AppleSignIn(_caller(None), read, "en")] * 2
    again = await application.database.run(PEOPLE, lambda tx: commands.sign_in(tx, asked))
    assert {*found, *(attempt.opened.identity for attempt in again)} == {found[0]}
    assert isinstance(found[0], IdentityId)
    assert await count_of(superuser, "identity.apple", found[0]) == 1


# -- The rest of what protects an account


async def test_whoever_has_an_authenticator_shows_it_here_too(application, orchard) -> None:
    ana, subject = await an_account(application, password=PASSWORD), a_subject()
    await ana.post("apple/link", identityToken=orchard.token(sub=subject))
    totp, _ = await an_authenticator(ana)
    token = orchard.token(sub=subject)
    assert await signs_in(application, token) == "SECOND_FACTOR_REQUIRED"
    code = totp.at(await now_of(ana))
    assert await signs_in(application, token, secondFactor=code) == ana.identity
    assert await signs_in(application, token, secondFactor=code) == "SECOND_FACTOR_REQUIRED"


async def test_guesses_beside_one_token_are_counted(application, orchard) -> None:
    ana, subject = await an_account(application), a_subject()
    await ana.post("apple/link", identityToken=orchard.token(sub=subject))
    totp, _ = await an_authenticator(ana)
    token = orchard.token(sub=subject)
    codes = [await signs_in(application, token, secondFactor="000000") for _ in range(6)]
    assert codes == ["SECOND_FACTOR_REQUIRED"] * 5 + ["RATE_LIMITED"]
    assert await signs_in(application, token, secondFactor=totp.at(await now_of(ana))) == "RATE_LIMITED"


@pytest.mark.covers("IDN-016")
async def test_whoever_has_not_proved_the_address_links_nothing_to_it(application, orchard) -> None:
    ana, subject = await an_account(application, verified=False), a_subject()
    refused = await ana.post("apple/link", identityToken=orchard.token(sub=subject))
    assert refused.json()["errorCode"] == "EMAIL_NOT_CONFIRMED"
    assert await signs_in(application, orchard.token(sub=subject)) == "APPLE_NOT_LINKED"
    enrolled = await ana.post("totp/enrol")
    assert enrolled.json()["errorCode"] == "EMAIL_NOT_CONFIRMED"


async def _read(token: str) -> Any:
    return await APPLE().read(token, None, _caller(None))


def _caller(who: Visitor | None) -> Any:
    return Caller(who.identity if who else None)
