"""Tokens: who gets one, for how long, and who redeems it."""

import asyncio
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import asyncpg
import httpx
import pytest

from admitone.entitlements.kinds import TokenKind
from admitone.entrypoints.http import assemble
from admitone.entrypoints.modules import MODULES
from admitone.foundation.authority.api import MemberRole, TableAuthority
from admitone.kernel.config import Config
from admitone.kernel.scope import Caller
from admitone.verticals.coupons import codes
from admitone.verticals.coupons.commands.earning import see_to
from admitone.verticals.coupons.commands.issuing import Issuing, issue
from admitone.verticals.coupons.commands.redeeming import Showing, Verdict, redeem
from admitone.verticals.coupons.errors import TokenExpired
from admitone.verticals.coupons.kinds import COUPON
from admitone.verticals.coupons.model import CampaignId, CampaignState, EndedFor, Token
from tests.builders import at_the_same_time
from tests.people import Person, a_member, a_person, an_organization_of
from tests.proxy import a_wire
from tests.verticals.coupons.shop import Shop, a_campaign_body

LIFE = timedelta(seconds=300)
MICRO = timedelta(microseconds=1)


def said(answer: httpx.Response) -> tuple[int, str]:
    body = answer.json()
    if answer.status_code != 200:
        assert {"errorCode", "message", "retryable", "correlationId"} <= body.keys()
    return answer.status_code, body.get("errorCode", body.get("status"))


async def a_token(shop: Shop, made: dict[str, Any], person: Person | None = None) -> Token:
    who = person or await a_person(shop.database)
    asked = Issuing(Caller(who.identity), CampaignId.parse(made["campaignId"]), who.identity)
    [token] = await shop.database.run(shop.scope, lambda tx: issue(tx, [asked]))
    assert isinstance(token, Token)
    return token


async def shown(shop: Shop, token: Token, at: datetime) -> Verdict:
    [verdict] = await shop.at(at, redeem, [Showing(Caller(), token.digest)])
    assert isinstance(verdict, Verdict)
    return verdict


# -- Having one


@pytest.mark.covers("CPN-020", "CPN-023", "CPN-061")
async def test_a_person_gets_a_token_that_says_nothing(shop: Shop):
    made, person = await shop.running(), await a_person(shop.database)
    answer = await shop.wants(made, person)
    assert answer.status_code == 201 and answer.json().keys() == {"token", "expiresAt"}
    token = answer.json()["token"]
    assert re.fullmatch(r"[0-9a-f]{64}", token)
    row = await shop.row(made)
    assert token.encode() not in [value for value in row.values() if isinstance(value, bytes)]
    assert row["digest"] == codes.digest_of(token) and row["digest"].hex() != token
    assert row["id"].hex not in token and row["campaign_id"].hex not in token


@pytest.mark.covers("CPN-020", "CPN-043")
async def test_what_is_not_active_gives_none(shop: Shop):
    made = await shop.made()
    assert said(await shop.wants(made)) == (402, "CAMPAIGN_NOT_ACTIVE")
    never = made | {"campaignId": str(CampaignId.new())}
    assert said(await shop.wants(never)) == (404, "CAMPAIGN_NOT_FOUND")


@pytest.mark.covers("CPN-021")
async def test_whoever_has_a_live_one_is_given_that_one(shop: Shop):
    made, person = await shop.running(), await a_person(shop.database)
    first, again = (await shop.wants(made, person)).json(), (await shop.wants(made, person)).json()
    assert first == again
    await shop.age_tokens(made, LIFE)
    assert (await shop.wants(made, person)).json()["token"] != first["token"]
    assert said(await shop.validate(first["token"])) == (410, "COUPON_EXPIRED")


@pytest.mark.covers("CPN-021")
async def test_of_twenty_who_ask_at_once_for_one_person_all_get_the_same(shop: Shop):
    made, person = await shop.running(), await a_person(shop.database)
    asked = Issuing(Caller(person.identity), CampaignId.parse(made["campaignId"]), person.identity)
    given = await at_the_same_time(10, lambda tx: issue(tx, [asked]), shop.database, shop.scope)
    assert len({codes.text_of(each[0]) for each in given if not isinstance(each, BaseException)}) == 1
    live = await shop.superuser.fetchval(
        "SELECT count(*) FROM coupons.token WHERE identity_id = $1 AND status = 'GENERATED'", person.identity.uuid
    )
    assert live == 1


@pytest.mark.covers("CPN-031")
async def test_a_person_asks_three_times_a_minute(shop: Shop):
    made, person = await shop.running(), await a_person(shop.database)
    answers = [await shop.wants(made, person) for _ in range(4)]
    assert [each.status_code for each in answers] == [201, 201, 201, 429]
    assert int(answers[-1].headers["retry-after"]) > 0
    assert (await shop.wants(made)).status_code == 201


# -- Redeeming


@pytest.mark.covers("CPN-001", "CPN-026", "CPN-061")
async def test_a_token_is_redeemed_and_the_answer_names_nobody(shop: Shop):
    made, person = await shop.running(), await a_person(shop.database)
    answer = await shop.validate(await shop.token(made, person))
    assert answer.status_code == 200
    assert answer.json().keys() == {"status", "campaignId", "campaign", "redeemedAt"}
    for canary in (str(person.identity), person.identity.uuid.hex, str(person.identity.uuid), person.email, "Ana"):
        assert canary not in answer.text
    assert (await shop.find(made)).redeemed == 1


@pytest.mark.covers("CPN-024", "CPN-040")
async def test_it_is_good_for_300_seconds_to_the_instant(shop: Shop):
    made = await shop.running()
    first, second = await a_token(shop, made), await a_token(shop, made)
    assert first.expires_at - first.created_at == LIFE == COUPON.life
    late = await shown(shop, first, first.created_at + LIFE)
    assert late.refusal == TokenExpired(expired_at=first.expires_at)
    also_late = await shown(shop, first, first.created_at + LIFE + timedelta(milliseconds=1))
    assert isinstance(also_late.refusal, TokenExpired)
    assert (await shown(shop, second, second.created_at + LIFE - MICRO)).refusal is None


@pytest.mark.covers("CPN-025")
async def test_the_clock_of_the_client_counts_for_nothing(shop: Shop):
    made = await shop.running()
    token = await shop.token(made)
    await shop.age_tokens(made, LIFE)
    long_ago = (datetime.now(UTC) - timedelta(hours=1)).isoformat()
    async with shop.from_elsewhere() as client:
        headers = shop.headers() | {"date": "Mon, 01 Jan 2024 00:00:00 GMT", "x-client-time": long_ago}
        for more in ({}, {"now": long_ago}, {"expiresAt": "2099-01-01T00:00:00Z"}):
            answer = await client.post("/validate", json={"token": token, **more}, headers=headers)
            assert answer.status_code in (410, 422), answer.text
    assert (await shop.row(made))["status"] == "GENERATED"


@pytest.mark.covers("CPN-022", "CPN-041")
async def test_it_is_redeemed_once_and_for_ever(shop: Shop):
    made = await shop.running()
    token = await shop.token(made)
    assert (await shop.validate(token)).status_code == 200
    assert said(await shop.validate(token)) == (409, "COUPON_REDEEMED")
    row = await shop.row(made)
    for back in ("GENERATED", "EXPIRED"):
        with pytest.raises(asyncpg.CheckViolationError):
            await shop.superuser.execute("UPDATE coupons.token SET status = $2 WHERE id = $1", row["id"], back)
    assert await shop.row(made) == row


@pytest.mark.covers("CPN-042", "CPN-027")
async def test_another_merchant_is_told_so_and_nothing_happens(shop: Shop):
    made = await shop.running()
    token = await shop.token(made)
    before = await shop.row(made)
    stranger = await a_person(shop.database)
    elsewhere = await an_organization_of(shop.database, stranger)
    assert said(await shop.validate(token, stranger, elsewhere)) == (403, "COUPON_OF_ANOTHER_MERCHANT")
    assert await shop.row(made) == before
    assert (await shop.validate(token)).status_code == 200
    assert said(await shop.validate(token, stranger, elsewhere)) == (403, "COUPON_OF_ANOTHER_MERCHANT")


@pytest.mark.covers("CPN-040", "CPN-041", "CPN-042", "CPN-043", "CPN-027")
async def test_of_many_reasons_the_first_is_said(shop: Shop):
    """404, 403, 409, 402, 410: each step takes away the reason before it."""
    made = await shop.running()
    stranger = await a_person(shop.database)
    elsewhere = await an_organization_of(shop.database, stranger)
    redeemed, live = await shop.token(made), await shop.token(made)
    assert (await shop.validate(redeemed)).status_code == 200
    await shop.age_tokens(made, LIFE)
    await shop.age(made, timedelta(days=15))
    assert said(await shop.validate("f" * 64)) == (404, "COUPON_NOT_FOUND")
    assert said(await shop.validate(redeemed, stranger, elsewhere)) == (403, "COUPON_OF_ANOTHER_MERCHANT")
    assert said(await shop.validate(redeemed)) == (409, "COUPON_REDEEMED")
    assert said(await shop.validate(live)) == (402, "CAMPAIGN_NOT_ACTIVE"), "over, though nobody wrote it down yet"
    await shop.age(made, timedelta(days=-15))
    assert said(await shop.validate(live)) == (410, "COUPON_EXPIRED")
    assert (await shop.find(made)).redeemed == 1


# -- Races, and the last one


@pytest.mark.covers("CPN-022", "CPN-033")
async def test_fifty_who_take_one_token_at_once(shop: Shop):
    """Fifty of the staff, from fifty addresses: one does, and nobody is banned for having lost."""
    made = await shop.running()
    staff = [
        await a_member(shop.database, shop.organization, MemberRole.STAFF, scopes=("SHOP_COUPONS_RW",))
        for _ in range(50)
    ]
    token = await shop.token(made)
    answers = await asyncio.gather(*(shop.validate(token, each) for each in staff))
    assert sorted(each.status_code for each in answers) == [200] + [409] * 49
    assert (await shop.find(made)).redeemed == 1
    for each in staff[:3]:
        assert (await shop.validate(await shop.token(made), each)).status_code == 200


@pytest.mark.covers("CPN-022")
async def test_processes_that_take_one_token_at_once(shop: Shop):
    made = await shop.running()
    token = await a_token(shop, made)
    taken = await asyncio.gather(
        *(
            shop.database.run(shop.scope, lambda tx: redeem(tx, [Showing(Caller(), token.digest)]), patient=True)
            for _ in range(10)
        )
    )
    assert sorted(verdict.refusal is None for [verdict] in taken) == [False] * 9 + [True]


@pytest.mark.covers("CPN-009", "CPN-002")
async def test_the_last_redemption_ends_it_and_one_of_two_takes_it(shop: Shop):
    made = await shop.running(redemptionLimit=1)
    tokens = [await a_token(shop, made), await a_token(shop, made)]
    taken = await asyncio.gather(
        *(
            shop.database.run(
                shop.scope, lambda tx, each=each: redeem(tx, [Showing(Caller(), each.digest)]), patient=True
            )
            for each in tokens
        )
    )
    codes_said = sorted("OK" if each.refusal is None else each.refusal.code for [each] in taken)
    assert codes_said == ["CAMPAIGN_NOT_ACTIVE", "OK"]
    campaign = await shop.find(made)
    assert (campaign.state, campaign.ended_for, campaign.redeemed) == (CampaignState.ENDED, EndedFor.EXHAUSTED, 1)
    redeemed_at = await shop.superuser.fetchval(
        "SELECT redeemed_at FROM coupons.token WHERE campaign_id = $1 AND status = 'REDEEMED'", shop.uuid(made)
    )
    assert campaign.ended_at == redeemed_at
    assert (await shop.wants(made)).status_code == 402


@pytest.mark.covers("CPN-009")
async def test_of_two_in_one_batch_one_takes_the_last(shop: Shop):
    made = await shop.running(redemptionLimit=1)
    first, second = await a_token(shop, made), await a_token(shop, made)
    both = [Showing(Caller(), first.digest), Showing(Caller(), first.digest), Showing(Caller(), second.digest)]
    verdicts = await shop.database.run(shop.scope, lambda tx: redeem(tx, both))
    said = [each.refusal.code if each.refusal else "OK" for each in verdicts]
    assert said == ["OK", "COUPON_REDEEMED", "CAMPAIGN_NOT_ACTIVE"]
    assert [each.is_strike for each in verdicts] == [False, False, True]


async def test_what_was_used_up_early_is_earned_at_once(shop: Shop):
    made = await shop.running(redemptionLimit=1)
    assert (await shop.validate(await shop.token(made))).status_code == 200
    campaign = await shop.find(made)
    assert campaign.due_at == campaign.ended_at
    await shop.at(datetime.now(UTC), see_to, [campaign.id], Caller())
    assert (await shop.books(made)).get("CPR") == 14_700
    assert (await shop.find(made)).due_at is None


# -- Who may


@pytest.mark.covers("CPN-030")
async def test_roles_are_separate(shop: Shop):
    made = await shop.running()
    consumer = await a_person(shop.database)
    token = await shop.token(made, consumer)
    assert said(await shop.validate(token, consumer))[0] == 403
    assert said(await shop.wants(made, shop.owner)) == (403, "CONSUMERS_ONLY")
    staff = await a_member(shop.database, shop.organization, MemberRole.STAFF, scopes=("SHOP_COUPONS_RW",))
    assert said(await shop.wants(made, staff)) == (403, "CONSUMERS_ONLY")
    assert said(await shop.ask(staff))[0] == 403, "who takes coupons does not spend the merchant's money"
    assert said(await shop.ask(consumer))[0] == 403
    viewer = await a_member(shop.database, shop.organization, MemberRole.VIEWER)
    assert said(await shop.validate(token, viewer))[0] == 403
    async with shop.from_elsewhere() as client:
        for path, body in (
            ("/tokens", {"organizationId": str(shop.organization), "campaignId": made["campaignId"]}),
            ("/validate", {"token": token}),
            ("/campaigns", a_campaign_body()),
        ):
            answer = await client.post(path, json=body, headers={"x-orya-org-id": str(shop.organization)})
            assert answer.status_code == 401, answer.text
    assert (await shop.validate(token)).status_code == 200


@pytest.mark.covers("CPN-032")
async def test_a_merchant_validates_sixty_times_a_minute(shop: Shop):
    made = await shop.running()
    token = await shop.token(made)
    assert (await shop.validate(token)).status_code == 200
    answers = [await shop.validate(token) for _ in range(60)]
    assert {each.status_code for each in answers[:59]} == {409}
    assert answers[59].status_code == 429 and int(answers[59].headers["retry-after"]) > 0


@pytest.mark.covers("CPN-033")
@pytest.mark.parametrize("same", ["person", "address"])
async def test_five_failures_in_a_row_close_the_door(shop: Shop, same: str):
    made = await shop.running()
    staff = [
        await a_member(shop.database, shop.organization, MemberRole.STAFF, scopes=("SHOP_COUPONS_RW",))
        for _ in range(7)
    ]
    token = await shop.token(made)
    async with shop.from_elsewhere() as one_place:

        async def tries(number: int, what: str) -> httpx.Response:
            if same == "person":
                return await shop.validate(what, staff[0])
            return await shop.validate(what, staff[number], client=one_place)

        failures = [await tries(number, f"{number:064x}") for number in range(5)]
        assert [each.status_code for each in failures] == [404] * 5
        banned = await tries(5, token)
        assert banned.status_code == 429 and 0 < int(banned.headers["retry-after"]) <= 900
        await shop.superuser.execute(
            "UPDATE kernel.streak SET closed_until = now(), ends_at = now() WHERE closed_until > now()"
        )
        assert (await tries(6, token)).status_code == 200


@pytest.mark.covers("CPN-033")
async def test_a_success_makes_up_for_failures(shop: Shop):
    made = await shop.running()
    async with shop.from_elsewhere() as client:
        for _ in range(2):
            for number in range(4):
                assert (await shop.validate(f"{number:064x}", client=client)).status_code == 404
            assert (await shop.validate(await shop.token(made), client=client)).status_code == 200


@pytest.mark.covers("CPN-033")
async def test_a_race_that_was_lost_is_no_failure_and_an_old_token_is(shop: Shop):
    made = await shop.running()
    token = await shop.token(made)
    async with shop.from_elsewhere() as client:
        assert (await shop.validate(token, client=client)).status_code == 200
        lost = [await shop.validate(token, client=client) for _ in range(6)]
        assert [each.status_code for each in lost] == [409] * 6
        await shop.age_tokens(made, timedelta(seconds=11))
        old = [await shop.validate(token, client=client) for _ in range(6)]
        assert [each.status_code for each in old] == [409] * 5 + [429]


# -- What is not there


@pytest.mark.covers("CPN-060")
async def test_without_the_database_nothing_is_taken(shop: Shop, database_url: str, tmp_path: Path):
    made = await shop.running()
    token = await shop.token(made)
    async with a_wire(database_url) as (wire, through):
        config = Config.load({"DATABASE_URL": through, "ADMITONE_DATA": str(tmp_path)})
        application = assemble(config, MODULES, TableAuthority(), strict=True)
        transport = httpx.ASGITransport(application.edge, client=("100.64.255.254", 4711))
        async with httpx.AsyncClient(transport=transport, base_url="http://admitone.test") as client:
            assert said(await shop.validate("f" * 64, client=client)) == (404, "COUPON_NOT_FOUND")
            wire.refuse = True
            await wire.close()
            away = await shop.validate(token, client=client)
            assert away.status_code == 503 and away.json()["retryable"] is True
            assert "redeemedAt" not in away.text
            wire.refuse = False
            assert (await shop.row(made))["status"] == "GENERATED"
            assert (await shop.validate(token, client=client)).status_code == 200
        await application.close()


@pytest.mark.covers("CPN-060")
async def test_no_device_accepts_it_without_asking(shop: Shop):
    with pytest.raises(ValueError, match="lists are for doors"):
        TokenKind("coupon", COUPON.life, COUPON.overlap, COUPON.audience, offline=True, single_use=True)
    assert not COUPON.offline
    made = await shop.running()
    await shop.token(made)
    rights = "SELECT count(*) FROM entitlements.entitlement WHERE kind = 'coupon' AND organization_id = $1"
    assert await shop.superuser.fetchval(rights, shop.scope.organization.uuid) == 0
