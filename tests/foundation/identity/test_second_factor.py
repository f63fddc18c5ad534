"""Authenticators: set up, shown, lost, taken away."""

import asyncio
from datetime import UTC, datetime, timedelta

import asyncpg
import pyotp
import pytest

from admitone.entrypoints.http import Application
from admitone.foundation.identity.commands import factors
from admitone.kernel.db import PeopleTx
from admitone.kernel.scope import Caller
from tests.foundation.identity.visitors import (
    PASSWORD,
    PEOPLE,
    Visitor,
    alarms_of,
    an_account,
    an_authenticator,
    code_to,
    count_of,
    later,
    now_of,
    trail_of,
)

NOON = datetime(2026, 6, 1, 12, 0, 10, tzinfo=UTC)


def code_of(answer) -> str:
    return answer.json()["errorCode"]


@pytest.mark.parametrize(("steps", "known"), [(-2, False), (-1, True), (0, True), (1, True), (2, False)])
def test_a_clock_may_differ_by_one_step(steps: int, known: bool) -> None:
    secret = pyotp.random_base32()
    code = pyotp.TOTP(secret).at(NOON + timedelta(seconds=30 * steps))
    found = factors.step_of(secret, code, NOON)
    assert found == (pyotp.TOTP(secret).timecode(NOON) + steps if known else None)


@pytest.mark.parametrize("code", ["", "000000", "1234567", "١٢٣٤٥٦", "\ud800", "abc", "-", "1" * 40])
def test_what_is_no_code_is_no_code(code: str) -> None:
    assert factors.step_of("JBSWY3DPEHPK3PXP", code, NOON) is None


async def test_an_authenticator_counts_when_a_code_of_it_was_shown(application, superuser) -> None:
    ana = await an_account(application, password=PASSWORD)
    begun = await ana.post("totp/enrol")
    secret = begun.json()["secret"]
    assert begun.json()["uri"].startswith("otpauth://totp/Admit%20One:ana.") and secret in begun.json()["uri"]
    assert (await ana.login()).status_code == 200, "nothing was confirmed yet"
    assert code_of(await ana.post("totp/confirm", code="000000")) == "INVALID_CODE"
    assert (await ana.login()).status_code == 200
    confirmed = await ana.post("totp/confirm", code=pyotp.TOTP(secret).at(await now_of(ana)))
    codes = confirmed.json()["recoveryCodes"]
    assert len(set(codes)) == 10
    assert code_of(await ana.login()) == "SECOND_FACTOR_REQUIRED"
    stored = await superuser.fetchrow("SELECT * FROM identity.totp WHERE identity_id = $1", ana.identity.uuid)
    assert secret.encode() not in stored["secret_sealed"] and stored["pending_sealed"] is None
    digests = await superuser.fetch(
        "SELECT digest FROM identity.recovery_code WHERE identity_id = $1", ana.identity.uuid
    )
    assert {row["digest"] for row in digests} == {factors.recovery_digest(code) for code in codes}
    trail = [row["action"] for row in await trail_of(superuser, ana.identity)]
    assert trail == ["identity.enrol_totp", "identity.confirm_totp"]


async def test_the_code_that_confirmed_it_signs_nobody_in(application) -> None:
    ana = await an_account(application, password=PASSWORD)
    secret = (await ana.post("totp/enrol")).json()["secret"]
    code = pyotp.TOTP(secret).at(await now_of(ana))
    assert (await ana.post("totp/confirm", code=code)).status_code == 200
    assert code_of(await ana.login(secondFactor=code)) == "SECOND_FACTOR_REQUIRED"


async def test_what_was_begun_too_long_ago_is_begun_again(application) -> None:
    ana = await an_account(application)
    secret = (await ana.post("totp/enrol")).json()["secret"]
    with later(application, timedelta(minutes=11)):
        code = pyotp.TOTP(secret).at(await now_of(ana))
        assert code_of(await ana.post("totp/confirm", code=code)) == "NO_SECOND_FACTOR"


async def test_nothing_is_confirmed_that_was_not_begun(application) -> None:
    ana = await an_account(application)
    assert code_of(await ana.post("totp/confirm", code="123456")) == "NO_SECOND_FACTOR"
    assert code_of(await ana.post("totp/disable", code="123456")) == "NO_SECOND_FACTOR"


async def test_a_session_that_proved_nothing_lately_begins_nothing(application) -> None:
    with later(application, timedelta(minutes=-11)):
        ana = await an_account(application)
    assert code_of(await ana.post("totp/enrol")) == "STEP_UP_REQUIRED"


async def test_a_new_authenticator_replaces_the_old_one_when_it_is_confirmed(application, superuser) -> None:
    ana = await an_account(application, password=PASSWORD)
    former, former_codes = await an_authenticator(ana)
    again = pyotp.TOTP((await ana.post("totp/enrol")).json()["secret"])
    now = await now_of(ana)
    assert code_of(await ana.login(secondFactor=again.at(now))) == "SECOND_FACTOR_REQUIRED", "not confirmed"
    assert (await ana.login(secondFactor=former.at(now))).status_code == 200, "the old one goes on"
    assert (await ana.post("totp/confirm", code=again.at(now))).status_code == 200
    assert await count_of(superuser, "identity.recovery_code", ana.identity) == 10
    assert code_of(await ana.login(secondFactor=former.at(now, 1))) == "SECOND_FACTOR_REQUIRED"
    assert code_of(await ana.login(secondFactor=former_codes[0])) == "SECOND_FACTOR_REQUIRED"


async def test_a_code_is_worth_one_sign_in(application) -> None:
    ana = await an_account(application, password=PASSWORD)
    totp, _ = await an_authenticator(ana)
    code = totp.at(await now_of(ana))
    assert (await ana.login(secondFactor=code)).status_code == 200
    assert code_of(await ana.login(secondFactor=code)) == "SECOND_FACTOR_REQUIRED"


async def test_a_code_shown_by_ten_at_once_is_accepted_once(application) -> None:
    ana = await an_account(application, password=PASSWORD)
    totp, codes = await an_authenticator(ana)
    for shown in (totp.at(await now_of(ana)), codes[0]):

        async def accept(tx: PeopleTx, shown: str = shown) -> bool:
            return (await factors.accept(tx, [(Caller(), ana.identity, shown)]))[0]

        runs = (application.database.run(PEOPLE, accept, patient=True) for _ in range(8))
        assert sum(await asyncio.gather(*runs)) == 1
    same = [(Caller(), ana.identity, codes[1])] * 3
    assert await application.database.run(PEOPLE, lambda tx: factors.accept(tx, same)) == [True, False, False]


async def test_a_recovery_code_is_worth_one_sign_in_however_it_is_typed(application) -> None:
    ana = await an_account(application, password=PASSWORD)
    _, codes = await an_authenticator(ana)
    typed = codes[3].upper().replace("-", " ")
    assert (await ana.login(secondFactor=typed)).status_code == 200
    assert code_of(await ana.login(secondFactor=codes[3])) == "SECOND_FACTOR_REQUIRED"
    assert (await ana.login(secondFactor=codes[4])).status_code == 200


async def test_one_persons_code_is_not_anothers(application) -> None:
    ana, rui = await an_account(application, password=PASSWORD), await an_account(application, password=PASSWORD)
    totp, codes = await an_authenticator(ana)
    await an_authenticator(rui)
    for shown in (totp.at(await now_of(ana)), codes[0]):
        assert code_of(await rui.login(secondFactor=shown)) == "SECOND_FACTOR_REQUIRED"


async def test_a_wrong_password_says_nothing_of_the_authenticator(application) -> None:
    ana = await an_account(application, password=PASSWORD)
    totp, _ = await an_authenticator(ana)
    code = totp.at(await now_of(ana))
    assert code_of(await ana.login("three brave otters", secondFactor=code)) == "INVALID_CREDENTIALS"
    assert (await ana.login(secondFactor=code)).status_code == 200, "it was not spent"


async def test_a_code_by_mail_needs_the_authenticator_too(application, superuser) -> None:
    ana = await an_account(application)
    totp, _ = await an_authenticator(ana)
    stranger = Visitor(application)
    sent = (await stranger.post("send-otp", email=ana.email)).json()["challengeId"]
    code = await code_to(superuser, ana.email)
    assert code_of(await stranger.post("verify-otp", challengeId=sent, code=code)) == "SECOND_FACTOR_REQUIRED"
    second = totp.at(await now_of(ana))
    assert (await stranger.post("verify-otp", challengeId=sent, code=code, secondFactor=second)).status_code == 200


async def test_guessing_the_second_factor_ends_the_code_that_was_sent(application, superuser) -> None:
    ana = await an_account(application)
    totp, _ = await an_authenticator(ana)
    stranger = Visitor(application)
    sent = (await stranger.post("send-otp", email=ana.email)).json()["challengeId"]
    code = await code_to(superuser, ana.email)
    for _ in range(5):
        wrong = await stranger.post("verify-otp", challengeId=sent, code=code, secondFactor="000000")
        assert code_of(wrong) == "SECOND_FACTOR_REQUIRED"
    right = totp.at(await now_of(ana))
    answer = await stranger.post("verify-otp", challengeId=sent, code=code, secondFactor=right)
    assert code_of(answer) == "INVALID_CODE"


async def test_whoever_takes_it_away_shows_it_once_more(application, superuser) -> None:
    ana = await an_account(application, password=PASSWORD)
    totp, _ = await an_authenticator(ana)
    assert code_of(await ana.post("totp/disable", code="000000")) == "INVALID_CODE"
    assert (await ana.post("totp/disable", code=totp.at(await now_of(ana)))).status_code == 200
    assert await count_of(superuser, "identity.totp", ana.identity) == 0
    assert await count_of(superuser, "identity.recovery_code", ana.identity) == 0
    assert await alarms_of(superuser, ana.identity) == ["SECOND_FACTOR_ADDED", "SECOND_FACTOR_REMOVED"]
    assert (await ana.login()).status_code == 200
    last = (await trail_of(superuser, ana.identity))[-1]
    assert (last["action"], last["before"], last["after"]) == (
        "identity.remove_totp",
        '{"secondFactor": true}',
        '{"secondFactor": false}',
    )


async def test_a_recovery_code_takes_a_lost_authenticator_away(application) -> None:
    ana = await an_account(application)
    _, codes = await an_authenticator(ana)
    assert (await ana.post("totp/disable", code=codes[9])).status_code == 200


async def test_guesses_are_counted_and_then_nothing_is_asked_for_a_quarter_of_an_hour(
    application: Application, superuser: asyncpg.Connection
) -> None:
    ana = await an_account(application)
    totp, codes = await an_authenticator(ana)  # One of the five.
    for _ in range(4):
        assert code_of(await ana.post("totp/disable", code="000000")) == "INVALID_CODE"
    closed = await ana.post("totp/disable", code=totp.at(await now_of(ana)))
    assert (closed.status_code, code_of(closed)) == (429, "RATE_LIMITED")
    assert 600 < closed.json()["retryAfterSeconds"] <= 900
    assert code_of(await ana.post("step-up", secondFactor=codes[0])) == "RATE_LIMITED", "one count for all doors"
    with later(application, timedelta(minutes=14)):
        assert code_of(await ana.post("totp/disable", code=codes[0])) == "RATE_LIMITED"
