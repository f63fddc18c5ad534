"""A guest's link lies in a mailbox for two weeks: what it is worth, and when it is worth nothing any more."""

import pytest

from admitone.foundation.identity.api import GuestLink, Prepared, send_guest_links
from admitone.kernel.crypto import KEYRING, KeyRing
from admitone.kernel.ids import uuid7
from admitone.kernel.scope import Caller
from admitone.kernel.words import Language
from tests.foundation.identity.house import ANOTHER_PASSWORD, PASSWORD, House, Visitor, an_email
from tests.foundation.identity.visitors import an_account, an_authenticator, now_of
from tests.toy.wiring import TOY_KEY

OLD = KeyRing({1: TOY_KEY})
BOTH = KeyRing({1: TOY_KEY, 2: b"2" * 32})


async def a_link(house: House, email: str) -> str:
    link = GuestLink(Caller(), Prepared(email, Language.ENGLISH), uuid7().hex)
    await house.people(lambda tx: send_guest_links(tx, [link]))
    return await house.token_to(email)


async def sets_a_password(house: House, ana: Visitor, way: str) -> None:
    if way == "change":
        answer = await ana.post("password/change", ana.bearer, currentPassword=PASSWORD, newPassword=ANOTHER_PASSWORD)
    else:
        await ana.post("password/reset-request", email=ana.email)
        token = await house.token_to(ana.email)
        answer = await ana.post("password/reset", token=token, newPassword=ANOTHER_PASSWORD)
    assert answer.status_code == 200, answer.text


@pytest.mark.covers("IDN-008")
@pytest.mark.parametrize("way", ["change", "reset"])
async def test_a_new_password_makes_links_worthless_also_those_from_before_the_account(house: House, way: str):
    email = an_email()
    first = await a_link(house, email)
    ana = await house.a_user(email)
    second = await a_link(house, email)
    await sets_a_password(house, ana, way)
    thief = house.a_visitor()
    for token in (first, second):
        assert (await thief.post("verify-link", token=token)).json()["errorCode"] == "INVALID_CODE"


async def test_a_new_password_makes_codes_worthless_that_were_sent_when_there_was_no_account(house: House):
    email = an_email()
    stranger = house.a_visitor(email=email)
    asked = await stranger.post("send-otp", email=email)
    code = await house.code_to(email)
    ana = await house.a_user(email)
    await sets_a_password(house, ana, "change")
    answer = await stranger.post("verify-otp", challengeId=asked.json()["challengeId"], code=code)
    assert answer.json()["errorCode"] == "INVALID_CODE"


async def test_links_from_before_a_new_key_are_found_too(house: House):
    with KEYRING.wired(OLD):
        ana = await house.a_user()
        token = await a_link(house, ana.email)
    with KEYRING.wired(BOTH):
        await sets_a_password(house, ana, "change")
        answer = await house.a_visitor().post("verify-link", token=token)
    assert answer.json()["errorCode"] == "INVALID_CODE"


async def test_links_of_others_live_on(house: House):
    ana, eva = await house.a_user(), await house.a_user()
    token = await a_link(house, eva.email)
    await sets_a_password(house, ana, "change")
    assert (await house.a_visitor().post("verify-link", token=token)).status_code == 200


async def test_a_new_password_ends_what_was_begun_with_the_old_one(house: House):
    """An address that was asked for, and a code for stepping up."""
    ana = await house.a_user()
    new = an_email()
    wish = await ana.post("email/change", ana.bearer, newEmail=new)
    step = await ana.post("step-up/send-code", ana.bearer)
    code = await house.code_to(ana.email)
    await sets_a_password(house, ana, "reset")
    ana.tokens = (await ana.login(ANOTHER_PASSWORD)).json()
    answers = [
        await ana.post(
            "email/confirm", ana.bearer, challengeId=wish.json()["challengeId"], code=await house.code_to(new)
        ),
        await ana.post("step-up", ana.bearer, challengeId=step.json()["challengeId"], code=code),
    ]
    assert [answer.json()["errorCode"] for answer in answers] == ["INVALID_CODE"] * 2


@pytest.mark.covers("ORG-024")
async def test_whoever_came_by_a_link_steps_up_for_what_is_risky(house: House):
    ana = await house.a_user()
    visitor = house.a_visitor()
    visitor.tokens = (await visitor.post("verify-link", token=await a_link(house, ana.email))).json()
    assert (await visitor.me()).status_code == 200
    assert (await visitor.post("totp/enrol", visitor.bearer)).json()["errorCode"] == "STEP_UP_REQUIRED"
    assert (await ana.post("totp/enrol", ana.bearer)).status_code == 200, "a code is typed in when it comes"
    assert (await visitor.post("step-up", visitor.bearer, password=PASSWORD)).status_code == 200
    assert (await visitor.post("totp/enrol", visitor.bearer)).status_code == 200


async def test_a_wrong_second_factor_does_not_spend_the_link(house: House):
    ana = await an_account(house.application)
    totp, codes = await an_authenticator(ana)
    visitor, token = house.a_visitor(), await a_link(house, ana.email)
    for shown in (None, "000000", "nonsense", codes[0][:-1]):
        answer = await visitor.post("verify-link", token=token, secondFactor=shown)
        assert answer.json()["errorCode"] == "SECOND_FACTOR_REQUIRED"
    shown = totp.at(await now_of(ana))
    assert (await visitor.post("verify-link", token=token, secondFactor=shown)).status_code == 200
    assert (await visitor.post("verify-link", token=token, secondFactor=codes[1])).json()["errorCode"] == "INVALID_CODE"


async def test_the_fifth_wrong_second_factor_spends_the_link(house: House):
    ana = await an_account(house.application)
    totp, _ = await an_authenticator(ana)
    visitor, token = house.a_visitor(), await a_link(house, ana.email)
    for _ in range(5):
        await visitor.post("verify-link", token=token, secondFactor="000000")
    shown = totp.at(await now_of(ana))
    assert (await visitor.post("verify-link", token=token, secondFactor=shown)).json()["errorCode"] == "INVALID_CODE"
