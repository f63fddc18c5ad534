"""Step-up: what is risky needs a recent proof and a reason, and leaves a trace (ORG-024, ORG-025)."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from typing import Annotated

import asyncpg
import msgspec
import pytest
from msgspec import Meta

from admitone.entrypoints.http import Application, assemble
from admitone.entrypoints.modules import MODULES
from admitone.foundation.authority.api import TableAuthority
from admitone.kernel import audit
from admitone.kernel.audit import Entry
from admitone.kernel.commands import command
from admitone.kernel.config import Config
from admitone.kernel.contracts import Audience, Call, Contract, Example, Wire
from admitone.kernel.db import Tx
from admitone.kernel.ids import OrganizationId
from admitone.kernel.manifest import Module
from admitone.kernel.scope import Caller, Scope
from tests.builders import value_of
from tests.foundation.identity.visitors import (
    PASSWORD,
    Visitor,
    alarms_of,
    an_account,
    an_authenticator,
    code_to,
    later,
    letters_to,
    now_of,
    signed_in,
    trail_of,
)
from tests.people import Person, an_organization_of
from tests.toy import commands as toy
from tests.toy.model import Counter, Increment

PATH = "/api/org/{organizationId}/risky"


class Risky(Wire):
    reason_code: Annotated[str, Meta(pattern="^[A-Z][A-Z0-9_]{2,63}$", max_length=64)]


class Done(Wire):
    value: int


class Deed(msgspec.Struct, frozen=True):
    caller: Caller
    reason_code: str


def a_contract(**said: object) -> Contract:
    usual = {
        "id": "TEST.RISKY",
        "version": "1.0.0",
        "owner": "risky",
        "consumers": ("tests",),
        "summary": "Something that money hangs on.",
        "post": PATH,
        "takes": Risky,
        "gives": Done,
        "audience": Audience.ORGANIZATION,
        "permission": "FINANCE_RW",
        "step_up": True,
        "repeats": "none (a test)",
        "order_key": "none",
        "examples": (Example("Done", takes=Risky(reason_code="BY_CUSTOMER"), gives=Done(value=1)),),
    }
    return Contract(**{**usual, **said})


risky = a_contract()


@command()
async def do_it(tx: Tx, deeds: Sequence[Deed]) -> list[int]:
    values = []
    for each in deeds:
        [counted] = await toy.increment(tx, [Increment(each.caller, "visits", 1)])
        entry = Entry(
            each.caller,
            "test.risky",
            str(tx.scope.organization),
            each.reason_code,
            before={"value": counted.value - 1},
            after={"value": counted.value},
        )
        await audit.record(tx, [entry])
        if each.reason_code == "BREAKS_DOWN":
            raise RuntimeError
        values.append(counted.value)
    return values


@risky.serves
async def serve(call: Call, request: Risky) -> Done:
    return Done(value=await call.batch(do_it, Deed(call.caller, request.reason_code)))


@pytest.fixture(scope="module")
async def shop(database_url: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Application]:
    surroundings = {"DATABASE_URL": database_url, "ADMITONE_DATA": str(tmp_path_factory.mktemp("home"))}
    modules = [*MODULES, Module("risky", contracts=(risky,), permissions=("FINANCE_RW",))]
    application = assemble(Config.load(surroundings), modules, TableAuthority(), strict=True)
    await application.start()
    yield application
    await application.close()


async def a_club_of(shop: Application, owner: Visitor) -> OrganizationId:
    club = await an_organization_of(shop.database, Person(owner.identity, owner.token))
    counters = [Counter("visits", 0, 10**9)]
    await shop.database.run(Scope(club, "test"), lambda tx: toy.create(tx, counters))
    return club


async def act(who: Visitor, club: OrganizationId, **body: str) -> str:
    body = body or {"reasonCode": "BY_CUSTOMER"}
    headers = {"authorization": f"Bearer {who.token}"}
    answer = await who.http.post(PATH.format(organizationId=club), json=body, headers=headers)
    return "DONE" if answer.status_code == 200 else answer.json()["errorCode"]


async def a_stale_owner(shop: Application, **said: object) -> tuple[Visitor, OrganizationId]:
    """Somebody who signed in a while ago."""
    with later(shop, timedelta(minutes=-11)):
        owner = await an_account(shop, **said)
    return owner, await a_club_of(shop, owner)


@pytest.mark.covers("ORG-024", "ORG-025")
async def test_a_risky_action_needs_a_recent_proof_and_a_reason_and_leaves_a_trace(shop, superuser) -> None:
    owner, club = await a_stale_owner(shop, password=PASSWORD)
    scope = Scope(club, "test")
    assert await act(owner, club) == "STEP_UP_REQUIRED"
    assert await value_of(shop.database, scope) == 0, "nothing changed"
    assert (await owner.post("step-up", password=PASSWORD)).status_code == 200
    assert await act(owner, club, reason="none that counts") == "VALIDATION_FAILED"
    assert await act(owner, club, reasonCode="because I can") == "VALIDATION_FAILED"
    assert await value_of(shop.database, scope) == 0
    assert await act(owner, club) == "DONE"
    assert await value_of(shop.database, scope) == 1
    rows = await superuser.fetch(
        "SELECT * FROM kernel.audit_entry WHERE organization_id = $1 AND action = 'test.risky'", club.uuid
    )
    assert [
        (row["actor_id"], row["reason_code"], json.loads(row["before"]), json.loads(row["after"])) for row in rows
    ] == [(owner.identity.uuid, "BY_CUSTOMER", {"value": 0}, {"value": 1})]


@pytest.mark.covers("ORG-025")
async def test_an_action_that_fails_leaves_neither_its_effect_nor_its_trace(shop, superuser) -> None:
    owner = await an_account(shop)
    club = await a_club_of(shop, owner)
    assert await act(owner, club, reasonCode="BREAKS_DOWN") == "SERVER_ERROR"
    assert await value_of(shop.database, Scope(club, "test")) == 0
    traces = "SELECT count(*) FROM kernel.audit_entry WHERE organization_id = $1 AND action = 'test.risky'"
    assert await superuser.fetchval(traces, club.uuid) == 0


@pytest.mark.covers("ORG-024")
def test_a_risky_action_without_a_reason_cannot_even_be_declared() -> None:
    class NoReason(Wire):
        note: Annotated[str, Meta(max_length=10)] = ""

    with pytest.raises(TypeError, match="reasonCode"):
        a_contract(takes=NoReason, examples=(Example("Done", takes=NoReason(), gives=Done(value=1)),))


@pytest.mark.covers("ORG-024")
async def test_a_proof_is_recent_for_ten_minutes(shop) -> None:
    owner, club = await a_stale_owner(shop, password=PASSWORD)
    with later(shop, timedelta(minutes=-9, seconds=-50)):
        assert (await owner.post("step-up", password=PASSWORD)).status_code == 200
    assert await act(owner, club) == "DONE"
    with later(shop, timedelta(seconds=20)):
        assert await act(owner, club) == "STEP_UP_REQUIRED"


@pytest.mark.covers("ORG-024")
async def test_a_proof_counts_in_the_session_that_gave_it(shop) -> None:
    owner, club = await a_stale_owner(shop, password=PASSWORD)
    with later(shop, timedelta(minutes=-11)):
        elsewhere = await signed_in(shop, owner)
    assert (await elsewhere.post("step-up", password=PASSWORD)).status_code == 200
    assert await act(owner, club) == "STEP_UP_REQUIRED"
    assert await act(elsewhere, club) == "DONE"


async def test_a_fresh_sign_in_is_a_recent_proof(shop) -> None:
    owner = await an_account(shop)
    assert await act(owner, await a_club_of(shop, owner)) == "DONE"


@pytest.mark.parametrize(
    ("shown", "refused"),
    [
        ({}, "MISSING_PROOF"),
        ({"code": "123456"}, "MISSING_PROOF"),
        ({"challengeId": "chl_0198c9a40000700080000000000000ac"}, "MISSING_PROOF"),
        ({"password": ""}, "INVALID_CREDENTIALS"),
        ({"password": "three brave otters"}, "INVALID_CREDENTIALS"),
        ({"secondFactor": "123456"}, "INVALID_CODE"),
        ({"challengeId": "chl_0198c9a40000700080000000000000ac", "code": "123456"}, "INVALID_CODE"),
    ],
)
async def test_what_proves_nothing_is_refused_and_changes_nothing(shop, shown, refused) -> None:
    owner, club = await a_stale_owner(shop, password=PASSWORD)
    assert (await owner.post("step-up", **shown)).json()["errorCode"] == refused
    assert await act(owner, club) == "STEP_UP_REQUIRED"


async def test_nobody_steps_up_who_is_not_signed_in(shop) -> None:
    stranger = Visitor(shop)
    assert (await stranger.post("step-up", password=PASSWORD)).status_code == 401
    assert (await stranger.post("step-up/send-code")).status_code == 401


async def test_a_code_to_ones_own_address_is_a_proof_once(shop, superuser) -> None:
    owner, club = await a_stale_owner(shop)
    sent = (await owner.post("step-up/send-code")).json()["challengeId"]
    assert [template for template, _ in await letters_to(superuser, owner.email)] == ["step_up_code"]
    code = await code_to(superuser, owner.email)
    assert (await owner.post("step-up", challengeId=sent, code=code)).status_code == 200
    assert await act(owner, club) == "DONE"
    assert (await owner.post("step-up", challengeId=sent, code=code)).json()["errorCode"] == "INVALID_CODE"
    [entry] = await trail_of(superuser, owner.identity)
    assert (entry["action"], json.loads(entry["after"])) == ("identity.step_up", {"by": "CODE"})


async def test_a_code_that_was_sent_to_another_proves_nothing(shop, superuser) -> None:
    owner, _ = await a_stale_owner(shop)
    thief, own_club = await a_stale_owner(shop)
    sent = (await owner.post("step-up/send-code")).json()["challengeId"]
    code = await code_to(superuser, owner.email)
    assert (await thief.post("step-up", challengeId=sent, code=code)).json()["errorCode"] == "INVALID_CODE"
    assert await act(thief, own_club) == "STEP_UP_REQUIRED"


async def test_a_code_for_signing_in_is_none_for_stepping_up_and_the_other_way_round(shop, superuser) -> None:
    owner, _ = await a_stale_owner(shop)
    stranger = Visitor(shop)
    sent = (await stranger.post("send-otp", email=owner.email)).json()["challengeId"]
    code = await code_to(superuser, owner.email)
    assert (await owner.post("step-up", challengeId=sent, code=code)).json()["errorCode"] == "INVALID_CODE"
    sent = (await owner.post("step-up/send-code")).json()["challengeId"]
    code = await code_to(superuser, owner.email)
    assert (await stranger.post("verify-otp", challengeId=sent, code=code)).json()["errorCode"] == "INVALID_CODE"


async def test_a_code_is_too_old_after_ten_minutes(shop, superuser) -> None:
    owner, _ = await a_stale_owner(shop)
    with later(shop, timedelta(minutes=-10, seconds=-1)):
        sent = (await owner.post("step-up/send-code")).json()["challengeId"]
    code = await code_to(superuser, owner.email)
    assert (await owner.post("step-up", challengeId=sent, code=code)).json()["errorCode"] == "INVALID_CODE"


@pytest.mark.covers("ORG-024")
async def test_whoever_has_an_authenticator_shows_it_and_nothing_less_will_do(shop, superuser) -> None:
    with later(shop, timedelta(minutes=-11)):
        owner = await an_account(shop, password=PASSWORD)
        totp, codes = await an_authenticator(owner)
    club = await a_club_of(shop, owner)
    assert (await owner.post("step-up", password=PASSWORD)).json()["errorCode"] == "SECOND_FACTOR_REQUIRED"
    sent = (await owner.post("step-up/send-code")).json()["challengeId"]
    code = await code_to(superuser, owner.email)
    answer = await owner.post("step-up", challengeId=sent, code=code)
    assert answer.json()["errorCode"] == "SECOND_FACTOR_REQUIRED"
    assert await act(owner, club) == "STEP_UP_REQUIRED"
    shown = totp.at(await now_of(owner))
    assert (await owner.post("step-up", secondFactor=shown)).status_code == 200
    assert await act(owner, club) == "DONE"
    assert (await owner.post("step-up", secondFactor=shown)).json()["errorCode"] == "INVALID_CODE", "it was spent"
    assert (await owner.post("step-up", secondFactor=codes[0])).status_code == 200


async def test_a_code_that_is_guessed_at_dies_and_its_owner_is_told(shop, superuser) -> None:
    owner, _ = await a_stale_owner(shop)
    sent = (await owner.post("step-up/send-code")).json()["challengeId"]
    code = await code_to(superuser, owner.email)
    wrong = f"{(int(code) + 1) % 10**6:06d}"
    for _ in range(5):
        assert (await owner.post("step-up", challengeId=sent, code=wrong)).json()["errorCode"] == "INVALID_CODE"
    assert await alarms_of(superuser, owner.identity) == ["CODE_GUESSED"]
    assert (await owner.post("step-up", challengeId=sent, code=code)).json()["errorCode"] == "RATE_LIMITED"
    left = "SELECT attempts_left FROM identity.challenge WHERE identity_id = $1"
    assert await superuser.fetchval(left, owner.identity.uuid) == 0


async def test_few_codes_are_sent_to_one_person(shop, superuser) -> None:
    owner, _ = await a_stale_owner(shop)
    answers = [await owner.post("step-up/send-code") for _ in range(4)]
    assert [answer.status_code for answer in answers] == [202, 202, 202, 429]
    assert len(await letters_to(superuser, owner.email)) == 3


async def test_a_code_shown_by_five_at_once_is_a_proof_once(shop, superuser: asyncpg.Connection) -> None:
    owner, _ = await a_stale_owner(shop)
    sent = (await owner.post("step-up/send-code")).json()["challengeId"]
    code = await code_to(superuser, owner.email)
    answers = await asyncio.gather(*(owner.post("step-up", challengeId=sent, code=code) for _ in range(5)))
    assert sorted(answer.status_code for answer in answers) == [200, 401, 401, 401, 401]
