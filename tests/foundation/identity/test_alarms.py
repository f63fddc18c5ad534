"""What is suspicious is told: who signs in where, who guesses, who adds a way in (IDN-018)."""

import pytest

from tests.foundation.identity.house import PASSWORD, House
from tests.foundation.identity.test_guest_links import a_link
from tests.foundation.identity.visitors import an_account, an_authenticator, now_of


@pytest.mark.covers("IDN-018")
@pytest.mark.parametrize("way", ["code", "link"])
async def test_a_device_that_we_do_not_know_is_told_of_however_somebody_signs_in(house: House, way: str):
    ana = await house.a_user()
    assert await house.alarms_of(ana.identity) == [], "an account that is new has nobody to tell"
    visitor = house.a_visitor(email=ana.email)
    for _ in range(2):  # The second time with the cookie of the first.
        if way == "link":
            answer = await visitor.post("verify-link", token=await a_link(house, ana.email))
        else:
            answer = await house.verifies(visitor, await visitor.post("send-otp", email=ana.email))
        assert answer.status_code == 200
        assert await house.alarms_of(ana.identity) == ["NEW_DEVICE"]
    assert [each for each, _ in await house.letters_to(ana.email)].count("new_sign_in") == 1


@pytest.mark.covers("IDN-018")
async def test_the_fifth_wrong_second_factor_is_told_of_wherever_it_was_shown(house: House):
    ana = await an_account(house.application, password=PASSWORD)
    totp, _ = await an_authenticator(ana)
    asked = (await house.a_visitor().post("send-otp", email=ana.email)).json()["challengeId"]
    code = await house.code_to(ana.email)
    await ana.login(secondFactor="000000")
    await ana.post("step-up", secondFactor="000000")
    await ana.post("totp/disable", code="000000")
    await house.a_visitor().post("verify-otp", challengeId=asked, code=code, secondFactor="000000")
    assert "CODE_GUESSED" not in await house.alarms_of(ana.identity)
    await ana.login(secondFactor="000000")
    assert (await house.alarms_of(ana.identity)).count("CODE_GUESSED") == 1
    await ana.login(secondFactor="000000")
    assert (await house.alarms_of(ana.identity)).count("CODE_GUESSED") == 1, "each fifth"
    answer = await ana.post("step-up", secondFactor=totp.at(await now_of(ana)))
    assert answer.status_code == 200


@pytest.mark.covers("IDN-018")
async def test_a_right_second_factor_forgives_the_wrong_ones_before_it(house: House):
    ana = await an_account(house.application, password=PASSWORD)
    _, codes = await an_authenticator(ana)
    for shown in ("000000", "000000", codes[0], "000000", "000000"):
        await ana.login(secondFactor=shown)
    for _ in range(2):
        await ana.post("step-up", secondFactor="000000")
    assert "CODE_GUESSED" not in await house.alarms_of(ana.identity)


@pytest.mark.covers("IDN-018")
async def test_an_authenticator_that_is_added_is_told_of(house: House):
    ana = await an_account(house.application)
    await an_authenticator(ana)
    assert await house.alarms_of(ana.identity) == ["SECOND_FACTOR_ADDED"]
