"""Campaigns from their making to their end, and what becomes of their money."""

from datetime import timedelta
from typing import Any

import asyncpg
import pytest

from admitone.finance.payments.model import Reason, ReceiptState
from admitone.kernel.scope import Caller
from admitone.verticals.coupons.commands.earning import see_to
from admitone.verticals.coupons.comparing import compare
from admitone.verticals.coupons.model import CampaignState, Divergence, EndedFor
from tests.verticals.coupons.shop import Shop

DAY, WEEK = timedelta(days=1), timedelta(days=7)


async def seen_to(shop: Shop, made: dict[str, Any], later: timedelta = timedelta()) -> None:
    campaign = await shop.find(made)
    assert campaign.activated_at is not None
    await shop.at(campaign.activated_at + later, see_to, [campaign.id], Caller())


async def receipts(shop: Shop, made: dict[str, Any]) -> list[tuple[str, int, str]]:
    rows = await shop.superuser.fetch(
        "SELECT r.reason, r.amount_minor, r.state FROM payments.unapplied_receipt AS r"
        " JOIN payments.payment AS p ON p.id = r.payment_id WHERE p.source_id = $1",
        made["campaignId"],
    )
    return [(row["reason"], row["amount_minor"], row["state"]) for row in rows]


async def alerts(shop: Shop, rule: str) -> int:
    return await shop.superuser.fetchval(
        "SELECT count(*) FROM kernel.alert WHERE rule = $1 AND concerns = $2", rule, shop.organization.uuid
    )


# -- Making


@pytest.mark.covers("CPN-007", "CPN-004")
async def test_a_campaign_is_made_with_the_way_to_pay_it(shop: Shop):
    made = await shop.made(days=22, redemptionLimit=7)
    assert (made["state"], made["weeks"], made["costMinor"]) == ("PENDING_PAYMENT", 4, 4 * 4900)
    checkout = made["checkout"]
    assert checkout["paymentId"] and checkout["amountMinor"] == made["costMinor"]
    assert checkout["clientSecret"] or checkout["redirectUrl"]
    assert made["refusal"] is None and made["endsAt"] is None


@pytest.mark.covers("CPN-007")
async def test_a_key_makes_one_campaign_and_one_payment(shop: Shop):
    first, again = await shop.made(idempotencyKey="k"), await shop.made(idempotencyKey="k")
    assert again == first
    other = await shop.ask(idempotencyKey="k", days=30)
    assert (other.status_code, other.json()["errorCode"]) == (409, "IDEMPOTENCY_KEY_REUSED")


@pytest.mark.covers("CPN-004")
@pytest.mark.parametrize(("days", "weeks"), [(15, 3), (21, 3), (22, 4), (28, 4), (364, 52)])
async def test_a_week_that_has_begun_is_paid_for(shop: Shop, days: int, weeks: int):
    made = await shop.made(days=days)
    assert (made["weeks"], made["costMinor"]) == (weeks, weeks * 4900)


@pytest.mark.covers("CPN-003", "CPN-063", "CPN-062")
@pytest.mark.parametrize(
    "odd",
    [
        {"days": 14},
        {"days": 0},
        {"days": -15},
        {"days": 365},
        {"days": 15.5},
        {"costMinor": 0},
        {"costMinor": -1},
        {"costMinor": 14_699},
        {"currency": "USD"},
        {"redemptionLimit": 0},
        {"name": " "},
        {"method": "INVOICE"},
        {"method": "FREE"},
    ],
    ids=str,
)
async def test_what_is_too_short_free_or_paid_later_is_no_campaign(shop: Shop, odd: dict[str, Any]):
    refused = await shop.ask(**odd)
    assert refused.status_code == 422, refused.text
    assert {"errorCode", "message", "retryable", "correlationId"} <= refused.json().keys()
    made = await shop.superuser.fetchval(
        "SELECT count(*) FROM coupons.campaign WHERE organization_id = $1", shop.organization.uuid
    )
    assert made == 0


# -- Activation


@pytest.mark.covers("CPN-001", "CPN-005", "CPN-008", "CPN-006")
async def test_the_providers_word_at_our_door_activates_it(shop: Shop):
    made = await shop.made()
    answers = await shop.happens(made)
    assert [each.status_code for each in answers] == [200] * len(answers) and answers
    campaign = await shop.find(made)
    assert campaign.state is CampaignState.ACTIVE
    assert campaign.activated_at and campaign.ends_at == campaign.activated_at + 15 * DAY
    assert (await shop.books(made)).items() >= {"DEF": 14_700}.items()


@pytest.mark.covers("CPN-005", "CPN-062")
async def test_nothing_else_does(shop: Shop):
    made = await shop.made(returnUrl="https://merchant.example/thanks?status=success")
    await shop.work()
    async with shop.from_elsewhere() as client:
        tried = [
            await client.request(method, f"/campaigns{path}", json={"status": "ACTIVE"}, headers=shop.headers())
            for method in ("PUT", "PATCH", "DELETE", "GET")
            for path in ("", f"/{made['campaignId']}", f"/{made['campaignId']}/status")
        ]
    assert {each.status_code for each in tried} <= {404, 405}
    sneaked = await shop.ask(idempotencyKey="sneak", state="ACTIVE", paid=True)
    assert sneaked.status_code in (201, 422)
    assert sneaked.status_code == 422 or sneaked.json()["state"] == "PENDING_PAYMENT"
    assert (await shop.find(made)).state is CampaignState.PENDING_PAYMENT


@pytest.mark.covers("CPN-008")
async def test_a_webhook_that_is_repeated_activates_once(shop: Shop):
    made = await shop.made()
    shop.world.simulator.act("pay", await shop.charge(made))
    due = await shop.deliveries()
    await shop.deliver([*due, *due])
    await shop.work()
    before = await shop.find(made)
    answers = await shop.deliver(due)
    await shop.work()
    assert all(each.json()["idempotency_hit"] for each in answers)
    assert await shop.find(made) == before
    assert (await shop.books(made))["DEF"] == 14_700
    told = await shop.superuser.fetchval(
        "SELECT count(*) FROM kernel.event_log WHERE organization_id = $1 AND type = 'campaign.activated'",
        shop.organization.uuid,
    )
    assert told == 1


@pytest.mark.covers("CPN-008")
async def test_a_forged_webhook_is_refused_and_does_nothing(shop: Shop):
    made = await shop.made()
    shop.world.simulator.act("pay", await shop.charge(made))
    due = await shop.deliveries()
    for each in due:
        body = each.body.replace(b'"amount":', b'"amount":9')
        signature = {"stripe-signature": "t=1,v1=" + "0" * 64}
        async with shop.from_elsewhere() as client:
            for content, headers in ((body, dict(each.headers)), (each.body, signature), (each.body, {})):
                answer = await client.post("/webhooks/payment", content=content, headers=headers)
                assert answer.status_code == 400, answer.text
    await shop.work()
    assert (await shop.find(made)).state is CampaignState.PENDING_PAYMENT


@pytest.mark.covers("CPN-006")
async def test_too_much_activates_and_the_rest_waits_for_somebody(shop: Shop):
    """C2."""
    made = await shop.made()
    await shop.happens(made, amount=15_000)
    assert (await shop.find(made)).state is CampaignState.ACTIVE
    assert await receipts(shop, made) == [(Reason.SURPLUS, 300, ReceiptState.OPEN)]
    assert (await shop.books(made)).items() >= {"DEF": 14_700, "SUS": 300}.items()
    assert await alerts(shop, "payments.unapplied_receipt") == 1


@pytest.mark.covers("CPN-006")
async def test_too_little_activates_nothing_and_waits_for_somebody(shop: Shop):
    """C3."""
    made = await shop.made()
    await shop.happens(made, amount=14_699)
    assert (await shop.find(made)).state is CampaignState.PENDING_PAYMENT
    assert await receipts(shop, made) == [(Reason.AMOUNT_MISMATCH, 14_699, ReceiptState.OPEN)]
    assert (await shop.books(made)).items() >= {"SUS": 14_699}.items()
    assert await alerts(shop, "payments.unapplied_receipt") == 1
    assert (await shop.wants(made)).status_code == 402


@pytest.mark.covers("CPN-006")
async def test_the_database_itself_activates_nothing_for_less(shop: Shop):
    """Whatever a bug above decides."""
    made = await shop.made()
    own = shop.uuid(made)
    with pytest.raises(asyncpg.CheckViolationError):
        await shop.superuser.execute("UPDATE coupons.campaign SET state = 'ACTIVE' WHERE id = $1", own)


@pytest.mark.covers("CPN-003")
async def test_who_pays_late_loses_no_day(shop: Shop):
    made = await shop.made()
    await shop.superuser.execute(
        "UPDATE coupons.campaign SET created_at = created_at - interval '5 days' WHERE id = $1", shop.uuid(made)
    )
    await shop.happens(made)
    campaign = await shop.find(made)
    assert campaign.activated_at and campaign.activated_at > campaign.created_at + 5 * DAY - timedelta(minutes=5)
    assert campaign.ends_at == campaign.activated_at + 15 * DAY


@pytest.mark.covers("CPN-006")
async def test_money_that_comes_for_what_is_active_is_never_silent(shop: Shop):
    made = await shop.running()
    before = await shop.find(made)
    body = {
        "organizationId": str(shop.organization),
        "sourceType": "COUPON_CAMPAIGN",
        "sourceId": made["campaignId"],
        "idempotencyKey": "again",
    }
    second = await shop.site.post("/api/payments/intent", json=body, headers=shop.owner.headers)
    assert second.status_code in (404, 409), second.text
    shown = await shop.made(idempotencyKey=before.key)
    assert (shown["state"], shown["campaignId"]) == ("ACTIVE", made["campaignId"])
    assert await shop.find(made) == before


# -- The end


@pytest.mark.covers("CPN-002", "CPN-004")
async def test_it_ends_when_its_days_are_over_and_nothing_is_charged_again(shop: Shop):
    made = await shop.running()
    await seen_to(shop, made, 15 * DAY - timedelta(microseconds=1))
    assert (await shop.find(made)).state is CampaignState.ACTIVE
    await seen_to(shop, made, 15 * DAY)
    ended = await shop.find(made)
    assert (ended.state, ended.ended_for, ended.due_at) == (CampaignState.ENDED, EndedFor.OVER, None)
    paid = await shop.superuser.fetchval(
        "SELECT count(*) FROM payments.payment WHERE source_id = $1", made["campaignId"]
    )
    assert paid == 1


@pytest.mark.covers("CPN-002")
async def test_no_row_goes_back(shop: Shop):
    made = await shop.running()
    await seen_to(shop, made, 15 * DAY)
    before = await shop.find(made)
    await seen_to(shop, made, 30 * DAY)
    assert await shop.find(made) == before
    for state in ("ACTIVE", "PENDING_PAYMENT"):
        with pytest.raises(asyncpg.CheckViolationError):
            await shop.superuser.execute("UPDATE coupons.campaign SET state = $2 WHERE id = $1", shop.uuid(made), state)


async def test_its_fee_is_earned_week_by_week(shop: Shop):
    """C1."""
    made = await shop.running()
    earned = []
    for later in (6 * DAY, 7 * DAY, 7 * DAY, 13 * DAY, 14 * DAY, 15 * DAY, 15 * DAY):
        await seen_to(shop, made, later)
        books = await shop.books(made)
        earned.append((books.get("DEF", 0), books.get("CPR", 0)))
    assert earned == [
        (14_700, 0),
        (9_800, 4_900),
        (9_800, 4_900),
        (9_800, 4_900),
        (4_900, 9_800),
        (0, 14_700),
        (0, 14_700),
    ]
    campaign = await shop.find(made)
    assert (campaign.earned_weeks, campaign.earned_minor) == (3, 14_700)


async def test_what_was_refunded_in_part_is_not_earned(shop: Shop):
    made = await shop.running()
    await seen_to(shop, made, 7 * DAY)
    await shop.happens(made, "refund", amount=6_000, key="r")
    await seen_to(shop, made, 15 * DAY)
    books = await shop.books(made)
    assert (books.get("DEF", 0), books["CPR"]) == (0, 8_700)
    assert (await shop.find(made)).state is CampaignState.ENDED


@pytest.mark.covers("CPN-063")
@pytest.mark.parametrize("deeds", [["refund"], ["dispute", "lose"]])
async def test_what_is_not_paid_any_more_ends(shop: Shop, deeds: list[str]):
    made = await shop.running()
    for deed in deeds:
        await shop.happens(made, deed, **({"key": "r"} if deed == "refund" else {}))
    await shop.asked(made)
    campaign = await shop.find(made)
    assert (campaign.state, campaign.ended_for) == (CampaignState.ENDED, EndedFor.REVERSED)
    assert (await shop.wants(made)).status_code == 402


# -- Money and campaigns


@pytest.mark.covers("CPN-050")
async def test_money_and_campaigns_are_compared(shop: Shop):
    paid, active, waiting, fine = (
        await shop.made(),
        await shop.running(),
        await shop.made(),
        await shop.running(),
    )
    # Paid, and nobody activated it: its job is lost.
    shop.world.simulator.act("pay", await shop.charge(paid))
    await shop.deliveries()
    await shop.asked(paid, works=False)
    # Active, and its payment is disputed.
    await shop.happens(active, "dispute", works=False)

    async def found() -> list[Divergence | None]:
        campaigns = [await shop.find(each) for each in (paid, active, waiting, fine)]
        later = campaigns[0].created_at + timedelta(hours=1)
        await shop.at(later, compare, [each.id for each in campaigns])
        return [(await shop.find(each)).divergence for each in (paid, active, waiting, fine)]

    assert await found() == [Divergence.PAID_NOT_ACTIVE, Divergence.ACTIVE_NOT_PAID, None, None]
    assert (await shop.find(paid)).state is CampaignState.PENDING_PAYMENT, "no comparison activates anything"
    await shop.happens(active, "win")
    assert await found() == [None, None, None, None]
    await shop.superuser.execute(
        "UPDATE coupons.campaign SET earned_weeks = 1, earned_minor = 4900 WHERE id = $1", shop.uuid(fine)
    )
    assert await found() == [None, None, None, Divergence.BOOKS_DIFFER]
