"""Another address: asked for, proved, and then the only one."""

import asyncio
from datetime import timedelta

import asyncpg
import httpx
import pytest

from admitone.entrypoints.http import Application
from admitone.foundation.identity import api
from admitone.foundation.identity.commands import email_change
from admitone.foundation.identity.commands.email_change import EmailProof, EmailWish, Outcome
from admitone.foundation.identity.model import ChallengeId
from admitone.foundation.identity.policy import code_digests
from admitone.kernel.scope import Caller
from tests.foundation.identity.visitors import (
    PASSWORD,
    PEOPLE,
    Visitor,
    alarms_of,
    an_account,
    an_email,
    code_to,
    later,
    letters_to,
    signed_in,
    trail_of,
)


async def asks_for(ana: Visitor, email: str) -> str:
    answer = await ana.post("email/change", newEmail=email)
    assert answer.status_code == 202, answer.text
    return answer.json()["challengeId"]


async def takes(ana: Visitor, email: str, superuser: asyncpg.Connection) -> httpx.Response:
    """Asks for the address and proves it."""
    sent = await asks_for(ana, email)
    return await ana.post("email/confirm", challengeId=sent, code=await code_to(superuser, email))


async def email_of(who: Visitor) -> str:
    return (await who.get("/api/auth/me")).json()["email"]


async def test_a_proved_address_is_the_only_one(application: Application, superuser: asyncpg.Connection) -> None:
    ana = await an_account(application, password=PASSWORD)
    elsewhere = await signed_in(application, ana)
    new = an_email()
    assert (await takes(ana, new, superuser)).is_success
    assert await email_of(ana) == new
    assert (await elsewhere.get("/api/auth/me")).status_code == 401, "whoever was signed in elsewhere is not"
    reasons = await superuser.fetch(
        "SELECT end_reason FROM authority.session WHERE identity_id = $1 ORDER BY id", ana.identity.uuid
    )
    assert [row["end_reason"] for row in reasons] == [None, "EMAIL_CHANGED"]
    assert (await ana.login()).status_code == 401, "by the former address"
    ana.email, former = new, ana.email
    assert (await ana.login()).status_code == 200
    assert [template for template, _ in await letters_to(superuser, former)] == ["email_changed"]
    assert await alarms_of(superuser, ana.identity) == ["EMAIL_CHANGED", "NEW_DEVICE"]
    trail = [(row["action"], row["reason_code"]) for row in await trail_of(superuser, ana.identity)]
    assert trail == [("identity.ask_email_change", "BY_OWNER"), ("identity.change_email", None)]


async def test_nobody_can_sign_in_or_up_with_the_former_address_as_its_owner(application, superuser) -> None:
    ana = await an_account(application)
    former = ana.email
    assert (await takes(ana, an_email(), superuser)).is_success
    stranger = Visitor(application)
    sent = (await stranger.post("send-otp", email=former)).json()["challengeId"]
    entered = await stranger.post("verify-otp", challengeId=sent, code=await code_to(superuser, former))
    assert entered.json()["identityId"] != str(ana.identity), "whoever has that mailbox now is somebody new"


async def test_a_link_that_was_sent_to_the_former_address_resets_nothing(application, superuser) -> None:
    ana = await an_account(application, password=PASSWORD)
    former = ana.email
    await Visitor(application).post("password/reset-request", email=former)
    [(_, values)] = await letters_to(superuser, former)
    assert (await takes(ana, an_email(), superuser)).is_success
    token = values["link"].partition("#")[2]
    answer = await Visitor(application).post("password/reset", token=token, newPassword="three brave otters")
    assert answer.json()["errorCode"] == "RESET_LINK_FAILED"


@pytest.mark.covers("IDN-016")
async def test_whoever_has_not_proved_the_first_address_gets_no_second_one(application, superuser) -> None:
    ana, new = await an_account(application, verified=False), an_email()
    refused = await ana.post("email/change", newEmail=new)
    assert (refused.status_code, refused.json()["errorCode"]) == (403, "EMAIL_NOT_CONFIRMED")
    assert not await letters_to(superuser, new)


async def test_a_session_that_proved_nothing_lately_changes_no_address(application) -> None:
    with later(application, timedelta(minutes=-11)):
        ana = await an_account(application)
    assert (await ana.post("email/change", newEmail=an_email())).json()["errorCode"] == "STEP_UP_REQUIRED"


async def test_what_is_no_address_is_refused(application) -> None:
    ana = await an_account(application)
    assert (await ana.post("email/change", newEmail="ana at home")).json()["errorCode"] == "INVALID_EMAIL"


async def test_asking_for_an_address_says_nothing_about_whether_it_is_taken(application, superuser) -> None:
    ana, rui = await an_account(application), await an_account(application)
    free, taken = an_email(), rui.email
    answers = [await ana.post("email/change", newEmail=email) for email in (free, taken)]
    shapes = [(answer.status_code, {**answer.json(), "challengeId": "?"}) for answer in answers]
    assert shapes[0] == shapes[1]
    assert [template for template, _ in await letters_to(superuser, free)] == ["change_email_code"]
    assert await letters_to(superuser, taken) == [("change_email_taken", {})], "its owner is told, and no code"
    trail = [row["action"] for row in await trail_of(superuser, ana.identity)]
    assert trail == ["identity.ask_email_change"] * 2


async def test_no_code_would_take_an_address_that_is_anothers(application) -> None:
    ana, rui = await an_account(application), await an_account(application)
    sent = ChallengeId.new()
    wish = EmailWish(Caller(ana.identity), ana.identity, rui.email, sent, "123456", "BY_OWNER")
    proof = EmailProof(Caller(ana.identity), ana.identity, ana.session.uuid, sent, code_digests(sent, "123456"))
    await application.database.run(PEOPLE, lambda tx: email_change.start(tx, [wish]))
    assert await application.database.run(PEOPLE, lambda tx: email_change.confirm(tx, [proof])) == [Outcome.WRONG]


async def test_a_code_is_for_whoever_asked_and_once(application, superuser) -> None:
    ana, thief, new = await an_account(application), await an_account(application), an_email()
    sent = await asks_for(ana, new)
    code = await code_to(superuser, new)
    assert (await thief.post("email/confirm", challengeId=sent, code=code)).json()["errorCode"] == "INVALID_CODE"
    assert await email_of(thief) == thief.email
    assert (await ana.post("email/confirm", challengeId=sent, code=code)).is_success
    assert (await ana.post("email/confirm", challengeId=sent, code=code)).json()["errorCode"] == "INVALID_CODE"


async def test_five_wrong_codes_and_the_right_one_is_dead(application, superuser) -> None:
    ana, new = await an_account(application), an_email()
    sent = await asks_for(ana, new)
    code = await code_to(superuser, new)
    wrong = f"{(int(code) + 1) % 10**6:06d}"
    for _ in range(5):
        assert (await ana.post("email/confirm", challengeId=sent, code=wrong)).json()["errorCode"] == "INVALID_CODE"
    proof = EmailProof(
        Caller(), ana.identity, ana.session.uuid, ChallengeId.parse(sent), code_digests(ChallengeId.parse(sent), code)
    )
    assert await application.database.run(PEOPLE, lambda tx: email_change.confirm(tx, [proof])) == [Outcome.WRONG]
    assert await email_of(ana) == ana.email


async def test_what_a_guest_bought_with_the_new_address_is_claimed(application, superuser) -> None:
    ana, new = await an_account(application), an_email()
    guests = await application.database.run(PEOPLE, lambda tx: api.guests(tx, [new]))
    assert (await takes(ana, new, superuser)).is_success
    row = await superuser.fetchrow("SELECT * FROM identity.identity WHERE id = $1", guests[new].uuid)
    assert (row["status"], row["merged_into"]) == ("TOMBSTONE", ana.identity.uuid)


async def test_an_address_that_somebody_took_meanwhile_is_theirs(application, superuser) -> None:
    ana, new = await an_account(application), an_email()
    sent = await asks_for(ana, new)
    code = await code_to(superuser, new)
    await an_account(application, new)
    refused = await ana.post("email/confirm", challengeId=sent, code=code)
    assert (refused.status_code, refused.json()["errorCode"]) == (409, "EMAIL_EXISTS")
    assert await email_of(ana) == ana.email
    assert (await signed_in(application, ana)).token, "and nobody was signed out"


@pytest.mark.parametrize("together", [True, False], ids=["in one batch", "in two transactions"])
async def test_of_two_who_take_one_address_at_once_one_wins(application, superuser, together: bool) -> None:
    new = an_email()
    people = [await an_account(application) for _ in range(2)]
    proofs = []
    for who in people:
        sent = ChallengeId.parse(await asks_for(who, new))
        code = await code_to(superuser, new)
        proofs.append(EmailProof(Caller(who.identity), who.identity, who.session.uuid, sent, code_digests(sent, code)))
    if together:
        outcomes = await application.database.run(PEOPLE, lambda tx: email_change.confirm(tx, proofs))
    else:
        barrier = asyncio.Barrier(2)
        arrived: set[ChallengeId] = set()

        async def one(proof: EmailProof) -> Outcome:
            async def gated(tx) -> list[Outcome]:
                if proof.challenge not in arrived:
                    arrived.add(proof.challenge)
                    await barrier.wait()
                return await email_change.confirm(tx, [proof])

            [outcome] = await application.database.run(PEOPLE, gated)
            return outcome

        outcomes = await asyncio.gather(*(one(proof) for proof in proofs))
    assert sorted(outcomes) == [Outcome.CHANGED, Outcome.TAKEN]
    assert sorted([await email_of(who) == new for who in people]) == [False, True]


async def test_a_strangers_mailbox_is_not_filled(application, superuser) -> None:
    new = an_email()
    for _ in range(5):
        await asks_for(await an_account(application), new)
    assert len(await letters_to(superuser, new)) == 3
