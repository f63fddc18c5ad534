"""Signing up, in and out, as people do it."""

import asyncio
from datetime import timedelta

import httpx
import pytest

from admitone.foundation.identity.model import ChallengeId
from admitone.foundation.identity.policy import code_digest
from tests.foundation.identity.house import ANOTHER_PASSWORD, PASSWORD, House, an_email


@pytest.mark.covers("IDN-010", "IDN-014")
async def test_somebody_signs_up_proves_the_address_and_is_known(house: House):
    ana = house.a_visitor(email=an_email())
    asked = await ana.post("signup", email=f"  {ana.email.upper()} ", password=PASSWORD, displayName="Ana")

    assert asked.status_code == 202
    assert [template for template, _ in await house.letters_to(ana.email)] == ["sign_in_code"]
    assert (await ana.login()).json()["errorCode"] == "INVALID_CREDENTIALS", "there is no account before the proof"

    verified = await house.verifies(ana, asked)
    assert verified.status_code == 200
    ana.tokens = verified.json()
    me = (await ana.me()).json()
    assert {name: me[name] for name in ("email", "emailVerified", "displayName", "hasPassword")} == {
        "email": ana.email,
        "emailVerified": True,
        "displayName": "Ana",
        "hasPassword": True,
    }
    assert (await ana.signs_in())["identityId"] == me["identityId"]
    assert [name for name, _ in await house.facts_of(ana.identity)][:2] == ["identity.created", "identity.verified"]


async def test_the_owner_of_a_known_address_signs_in_with_a_code_and_stays_who_they_are(house: House):
    ana = await house.a_user()
    asked = await ana.post("send-otp", email=ana.email)
    answer = await house.verifies(ana, asked)
    assert answer.json()["identityId"] == ana.tokens["identityId"]
    assert answer.json()["accessToken"] != ana.tokens["accessToken"]


async def test_a_code_sent_to_an_unknown_address_makes_an_account_without_a_password(house: House):
    rui = house.a_visitor(email=an_email())
    asked = await rui.post("send-otp", email=rui.email)
    rui.tokens = (await house.verifies(rui, asked)).json()
    me = (await rui.me()).json()
    assert (me["email"], me["hasPassword"], me["hasSecondFactor"]) == (rui.email, False, False)
    assert (await rui.login()).json()["errorCode"] == "INVALID_CREDENTIALS"
    changed = await rui.post("password/change", rui.bearer, newPassword=ANOTHER_PASSWORD)
    assert changed.json()["errorCode"] == "INVALID_CREDENTIALS", "whoever has no password resets it"


async def test_signing_up_with_a_known_address_says_so_in_the_letter_only_and_changes_no_password(house: House):
    ana = await house.a_user()
    asked = await ana.post("signup", email=ana.email, password=ANOTHER_PASSWORD, displayName="Somebody else")
    assert [template for template, _ in await house.letters_to(ana.email)][-1] == "already_registered_code"
    assert (await house.verifies(ana, asked)).json()["identityId"] == ana.tokens["identityId"]
    assert (await ana.login(ANOTHER_PASSWORD)).json()["errorCode"] == "INVALID_CREDENTIALS"
    assert (await ana.me()).json()["displayName"] is None
    assert (await ana.login()).status_code == 200


async def test_five_wrong_codes_end_a_challenge_and_the_right_one_comes_too_late(house: House):
    ana = await house.a_user()
    asked = (await ana.post("send-otp", email=ana.email)).json()
    code = await house.code_to(ana.email)
    wrong = f"{(int(code) + 1) % 10**6:06d}"
    for _ in range(4):
        assert (await ana.post("verify-otp", challengeId=asked["challengeId"], code=wrong)).status_code == 401
    fifth = await ana.post("verify-otp", challengeId=asked["challengeId"], code=wrong)
    right = await ana.post("verify-otp", challengeId=asked["challengeId"], code=code)
    assert (right.status_code, right.json()["errorCode"]) == (401, "INVALID_CODE")
    assert without_ids(right) == without_ids(fifth)


async def test_four_wrong_codes_leave_one(house: House):
    ana = await house.a_user()
    asked = await ana.post("send-otp", email=ana.email)
    for _ in range(4):
        assert (await ana.post("verify-otp", challengeId=asked.json()["challengeId"], code="x")).status_code == 401
    assert (await house.verifies(ana, asked)).status_code == 200


async def test_guesses_that_come_together_cost_as_many_attempts(house: House):
    ana = await house.a_user()
    asked = (await ana.post("send-otp", email=ana.email)).json()["challengeId"]
    code = await house.code_to(ana.email)
    wrong = [house.a_visitor().post("verify-otp", challengeId=asked, code=f"{n:07d}") for n in range(40)]
    answers = await asyncio.gather(*wrong, house.a_visitor().post("verify-otp", challengeId=asked, code=code))
    assert [answer.status_code for answer in answers] == [401] * 41


async def test_a_code_is_worth_one_use_also_when_it_comes_twice_at_once(house: House):
    ana = await house.a_user()
    asked = await ana.post("send-otp", email=ana.email)
    said = {"challengeId": asked.json()["challengeId"], "code": await house.code_to(ana.email)}
    answers = await asyncio.gather(*(ana.post("verify-otp", **said) for _ in range(5)))
    assert sorted(answer.status_code for answer in answers) == [200, 401, 401, 401, 401]
    assert (await house.verifies(ana, asked)).status_code == 401


async def test_a_code_belongs_to_its_challenge(house: House):
    ana, eva = await house.a_user(), await house.a_user()
    of_ana = await ana.post("send-otp", email=ana.email)
    await eva.post("send-otp", email=eva.email)
    for_eva = await house.code_to(eva.email)
    answer = await eva.post("verify-otp", challengeId=of_ana.json()["challengeId"], code=for_eva)
    assert answer.status_code == 401
    assert code_digest(ChallengeId.new(), "123456") != code_digest(ChallengeId.new(), "123456"), (
        "nor does the table tell"
    )


@pytest.mark.parametrize(("microseconds", "status"), [(-1, 200), (0, 401)])
async def test_a_code_lasts_ten_minutes_to_the_instant(house: House, microseconds: int, status: int):
    ana = await house.a_user()
    began = await house.now()
    with house.at(began):
        asked = await ana.post("send-otp", email=ana.email)
    assert asked.json()["expiresInSeconds"] == 600
    with house.at(began + timedelta(minutes=10, microseconds=microseconds)):
        assert (await house.verifies(ana, asked)).status_code == status


async def test_a_forgotten_password_is_set_anew_once_and_every_session_ends(house: House):
    ana = await house.a_user()
    other = await ana.signs_in()
    assert (await ana.post("password/reset-request", email=ana.email)).status_code == 202
    token = await house.token_to(ana.email)

    answer = await ana.post("password/reset", token=token, newPassword=ANOTHER_PASSWORD)
    assert answer.json() == {"ok": True, "nextStep": "SIGN_IN"}
    assert [(await ana.me(tokens)).status_code for tokens in (ana.tokens, other)] == [401, 401]
    assert (await ana.login()).status_code == 401
    assert (await ana.login(ANOTHER_PASSWORD)).status_code == 200
    again = await ana.post("password/reset", token=token, newPassword="nine green herons")
    assert (again.status_code, again.json()["errorCode"]) == (403, "RESET_LINK_FAILED")
    assert [template for template, _ in await house.letters_to(ana.email)][-2:] == [
        "password_reset",
        "password_changed",
    ]
    assert "PASSWORD_CHANGED" in await house.alarms_of(ana.identity)


@pytest.mark.parametrize(("microseconds", "status"), [(-1, 200), (0, 403)])
async def test_a_reset_link_lasts_half_an_hour_to_the_instant(house: House, microseconds: int, status: int):
    ana = await house.a_user()
    began = await house.now()
    with house.at(began):
        await ana.post("password/reset-request", email=ana.email)
    token = await house.token_to(ana.email)
    with house.at(began + timedelta(minutes=30, microseconds=microseconds)):
        answer = await ana.post("password/reset", token=token, newPassword=ANOTHER_PASSWORD)
    assert answer.status_code == status


async def test_two_who_show_one_reset_link_at_once_set_one_password(house: House):
    ana = await house.a_user()
    await ana.post("password/reset-request", email=ana.email)
    token = await house.token_to(ana.email)
    words = ["first quiet herons", "second quiet herons", "third quiet herons"]
    answers = await asyncio.gather(*(ana.post("password/reset", token=token, newPassword=each) for each in words))
    assert sorted(answer.status_code for answer in answers) == [200, 403, 403]
    [won] = [word for word, answer in zip(words, answers, strict=True) if answer.status_code == 200]
    assert [(await ana.login(word)).status_code == 200 for word in words] == [word == won for word in words]


async def test_a_weak_password_is_refused_before_the_link_is_spent(house: House):
    ana = await house.a_user()
    await ana.post("password/reset-request", email=ana.email)
    token = await house.token_to(ana.email)
    weak = await ana.post("password/reset", token=token, newPassword="password123")
    assert (weak.status_code, weak.json()["errorCode"]) == (422, "WEAK_PASSWORD")
    assert (await ana.post("password/reset", token=token, newPassword=ANOTHER_PASSWORD)).status_code == 200


@pytest.mark.covers("IDN-015")
async def test_changing_the_password_ends_every_other_session(house: House):
    ana = await house.a_user()
    phone = dict(ana.tokens)
    await ana.signs_in()
    wrong = await ana.post("password/change", ana.bearer, currentPassword="?", newPassword=ANOTHER_PASSWORD)
    assert wrong.json()["errorCode"] == "INVALID_CREDENTIALS"
    changed = await ana.post("password/change", ana.bearer, currentPassword=PASSWORD, newPassword=ANOTHER_PASSWORD)
    assert changed.status_code == 200
    assert (await ana.me()).status_code == 200, "the one in which it was changed goes on"
    assert (await ana.me(phone)).status_code == 401
    refreshed = await ana.post("refresh", refreshToken=phone["refreshToken"])
    assert refreshed.json()["errorCode"] == "INVALID_SESSION", "the phone's tokens are dead, both of them"
    assert (await ana.login()).status_code == 401


async def test_setting_a_password_voids_whatever_was_sent_before(house: House):
    ana = await house.a_user()
    code = await ana.post("send-otp", email=ana.email)
    await ana.post("password/reset-request", email=ana.email)
    token = await house.token_to(ana.email)
    changed = await ana.post("password/change", ana.bearer, currentPassword=PASSWORD, newPassword=ANOTHER_PASSWORD)
    assert changed.status_code == 200
    assert (await house.verifies(ana, code)).status_code == 401
    assert (await ana.post("password/reset", token=token, newPassword=PASSWORD)).status_code == 403


@pytest.mark.parametrize("everywhere", [False, True])
async def test_signing_out_ends_one_session_or_all_of_them(house: House, everywhere: bool):
    ana = await house.a_user()
    phone = dict(ana.tokens)
    await ana.signs_in()
    out = await ana.post("logout", ana.bearer, everywhere=everywhere)
    assert out.json() == {"ok": True}
    assert (await ana.me()).status_code == 401
    assert (await ana.post("refresh", refreshToken=ana.tokens["refreshToken"])).status_code == 401
    assert (await ana.me(phone)).status_code == (401 if everywhere else 200)


async def test_people_change_what_they_are_called_and_their_language(house: House):
    ana = await house.a_user()
    renamed = await ana.send("PATCH", "me", ana.bearer, json={"displayName": "Ana"})
    assert renamed.json()["displayName"] == "Ana"
    moved = await ana.send("PATCH", "me", ana.bearer, json={"language": "pt_PT"})
    assert (moved.json()["displayName"], moved.json()["language"], moved.json()["email"]) == ("Ana", "pt_PT", ana.email)
    assert (await ana.me()).json() == moved.json()
    assert (await ana.send("PATCH", "me", ana.bearer, json={"displayName": "a\x00b"})).status_code == 422
    assert (await ana.send("PATCH", "me", json={"displayName": "Eva"})).status_code == 401


def without_ids(answer: httpx.Response) -> dict[str, object]:
    body = answer.json()
    return {name: body[name] for name in body if name not in ("correlationId", "challengeId")}
