"""What goes wrong with refunds when people repeat themselves, when cents are odd, and when not everything has arrived."""

import asyncio
import json
from datetime import timedelta
from typing import Any

import asyncpg
import httpx
import pytest

from admitone.finance.gateways.api import Refused
from admitone.finance.payments import errands
from admitone.finance.payments.facts import RefundBegun
from admitone.finance.payouts.api import BATCH, BatchRequest
from admitone.finance.refunds.api import CANCELLATION, Piece, Refund, RefundId, Request, request_refunds
from admitone.finance.refunds.errors import RefundIdTaken
from admitone.finance.sources.api import PaymentId
from admitone.finance.sources.port import Line
from admitone.kernel.clock import Clock
from admitone.kernel.db import Database
from admitone.kernel.scope import Caller
from tests.finance.payments.saying import saying
from tests.finance.payments.telling import published
from tests.finance.payments.test_trouble import run
from tests.finance.payouts.owing import an_owed_stay, at
from tests.finance.refunds.test_refunds import (
    SUBJECT,
    TWO,
    WHY,
    a_sale_of,
    a_stormy_evening,
    ask,
    found,
    moved,
    planned,
    see_to,
    the_storm,
)
from tests.finance.world import World
from tests.foundation.organizations.clubs import trail_of
from tests.people import a_person, a_platform_admin


async def failed(world: World, refund: Refund) -> None:
    """Refused as often as it may be."""
    with saying(world, refund=Refused("insufficient_funds")):
        for _ in range(2):
            with pytest.raises(Exception, match="asked again"):
                await run(
                    world,
                    errands.refund,
                    RefundBegun(payment_id=PaymentId(refund.payment_id), refund_id=str(refund.id)),
                )
        await see_to(world, refund)
    assert (await found(world, refund)).state == "FAILED"


# -- Said twice


@pytest.mark.covers("FIN-003")
async def test_a_refund_without_a_key_is_refused_and_nothing_is_written(
    site: httpx.AsyncClient, world: World, database: Database
):
    payment = await a_sale_of(world, *TWO)
    admin = await a_platform_admin(database)
    pieces = [{"key": "adult", "quantity": 1}]
    ours = {"reasonCode": "TECHNICAL_PROBLEM", "pieces": pieces}
    theirs = ours | {"organization": str(world.organization), "paymentId": str(payment)}
    path = f"/api/org/{world.organization}/payments/{payment}/refund"
    for url, body, who in ((path, ours, world.owner), ("/api/admin/payments/refund", theirs, admin)):
        refused = await site.post(url, json=body, headers=who.headers)
        assert refused.status_code in (400, 422), refused.text
        keyed = body | {"idempotencyKey": "only-one"}
        first, again = [await site.post(url, json=keyed, headers=who.headers) for _ in range(2)]
        assert (first.status_code, first.json()["refundId"]) == (200, again.json()["refundId"]), again.text
        other = await site.post(url, json=keyed | {"pieces": []}, headers=who.headers)
        assert other.status_code == 409
    assert await published(world, "refund.requested") == 2


async def test_a_retry_that_is_said_twice_gives_back_once(site: httpx.AsyncClient, world: World, database: Database):
    payment = await a_sale_of(world, *TWO)
    admin = await a_platform_admin(database)
    refund = await ask(world, payment, amount_minor=777)
    await failed(world, refund)
    ours = f"/api/org/{world.organization}/finance/refunds/{RefundId(refund.id)}/retry"
    theirs = {"organization": str(world.organization), "refundId": str(RefundId(refund.id))}
    tries = [
        *(site.post(ours, json={"reasonCode": "AGAIN"}, headers=world.owner.headers) for _ in range(3)),
        site.post("/api/admin/refunds/retry", json=theirs | {"reasonCode": "AGAIN"}, headers=admin.headers),
    ]
    answers = await asyncio.gather(*tries)
    assert {each.status_code for each in answers} == {200}, [each.text for each in answers]
    assert len({each.json()["refundId"] for each in answers}) == 1
    assert await published(world, "refund.requested") == 2


@pytest.mark.covers("FIN-003")
async def test_one_id_in_one_breath_is_one_refund(world: World):
    payment = await a_sale_of(world, *TWO)
    request = Request(world.owner.caller, payment, RefundId.new(), WHY, (Piece("child", 1),))
    outcomes = await world.database.run(world.scope, lambda tx: request_refunds(tx, [request] * 3))
    assert [type(each) for each in outcomes] == [Refund] * 3
    assert await published(world, "refund.requested") == 1


@pytest.mark.covers("FIN-003")
async def test_one_id_for_something_else_is_refused(world: World):
    payment, other = await a_sale_of(world, *TWO), await a_sale_of(world, *TWO)
    refund = await ask(world, payment, Piece("child", 1))
    for more in ({"payment": other}, {"amount_minor": 500}):
        given: dict[str, Any] = {"payment": payment} | more
        with pytest.raises(RefundIdTaken):
            await world.submit(
                request_refunds, Request(world.owner.caller, refund=RefundId(refund.id), reason=WHY, **given)
            )


# -- What has not arrived yet


@pytest.mark.covers("FIN-070")
async def test_what_is_left_beside_an_amount_that_is_on_its_way_goes_back(world: World):
    payment = await a_sale_of(world, *TWO)
    await ask(world, payment, amount_minor=777)
    assert (await ask(world, payment)).amount_minor == 5000 - 777


@pytest.mark.covers("FIN-070")
async def test_a_cancellation_gives_back_the_rest_beside_what_is_on_its_way(world: World):
    [one, _] = await a_stormy_evening(world, 2)
    await ask(world, one, amount_minor=777)
    plan = await planned(world, CANCELLATION, the_storm())
    assert sum(step["amounts"]["EUR"] for step in plan.steps) == 2 * 5000 - 777, SUBJECT


@pytest.mark.covers("FIN-072")
async def test_an_amount_takes_no_piece_back(world: World, superuser: asyncpg.Connection):
    """Whoever gave access for the pieces must not take it away for a gesture."""
    payment = await a_sale_of(world, *TWO)
    for refund in (await ask(world, payment, amount_minor=500), await ask(world, payment, Piece("child", 1))):
        await see_to(world, refund)
    told = await superuser.fetch(
        "SELECT payload FROM kernel.event_log WHERE organization_id = $1 AND type = 'refund.succeeded'"
        " ORDER BY created_at, id",
        world.organization.uuid,
    )
    said = [json.loads(row["payload"]) if isinstance(row["payload"], str) else row["payload"] for row in told]
    assert [(each["whole"], len(each["pieces"])) for each in said] == [(False, 0), (False, 1)]


@pytest.mark.covers("PAY-067")
async def test_what_the_bank_took_meanwhile_is_not_given_back_besides(world: World):
    """It was ordered, then disputed, then its turn came: the customer has the money, and gets it once (U-17)."""
    payment = await a_sale_of(world, *TWO)
    before = await world.net(payment)
    refund = await ask(world, payment)
    charge = (await world.payment(payment)).charge_id
    assert charge is not None
    world.simulator.act("dispute", charge)
    await world.clerk.ask(world.organization, payment, Caller())
    begun = RefundBegun(payment_id=payment, refund_id=str(refund.id))
    for _ in range(2):
        with pytest.raises(Exception, match="asked again"):
            await run(world, errands.refund, begun)
    await see_to(world, refund)
    assert ((await found(world, refund)).state, (await found(world, refund)).amount_minor) == ("FAILED", 5000)
    assert not [each for each in await moved(world) if each.kind == "REFUND"]
    assert await world.net(payment) == before - 1500


# -- Odd cents


@pytest.mark.covers("FIN-072")
@pytest.mark.parametrize("elsewhere", [500, 1000, 1333])
@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, 2, 0)], ids=str)
async def test_pieces_and_amounts_together_are_the_fee_exactly(world: World, elsewhere: int, order: tuple[int, ...]):
    """Somebody gives back an amount, others pieces, the last one whatever is left: the fee comes out even."""
    lines = [Line(f"line-{number}", "Odd", price, 1) for number, price in enumerate((1117, 1009, 1874))]
    payment = await a_sale_of(world, *lines)
    refunds = [await ask(world, payment, amount_minor=elsewhere)]
    left = 4000 - elsewhere
    for number in order:
        if lines[number].unit_price_minor <= left:
            refunds.append(await ask(world, payment, Piece(f"line-{number}", 1)))
            left -= lines[number].unit_price_minor
    if left:
        refunds.append(await ask(world, payment))
    assert sum(each.amount_minor for each in refunds) == 4000
    assert sum(each.fee_minor for each in refunds) == (await world.payment(payment)).fee_minor


# -- Who, and why


async def test_a_plan_is_applied_at_its_own_door_only(site: httpx.AsyncClient, world: World, database: Database):
    """Who may give money back may not pay it out, nor change what is charged."""
    await an_owed_stay(world)
    plan = await planned(world, BATCH, BatchRequest(at("2026-02-16T00:00Z")))
    path = f"/api/org/{world.organization}/finance/refund-plans/{plan.id}/apply"
    answer = await site.post(path, json={"reasonCode": "MINE"}, headers=world.owner.headers)
    assert (answer.status_code, answer.json()["errorCode"]) == (404, "PLAN_NOT_FOUND"), answer.text
    admin = await a_platform_admin(database)
    path, body = f"/api/admin/finance/fee-policies/plans/{plan.id}/apply", {"reasonCode": "MINE"}
    answer = await site.post(path, json=body | {"organization": str(world.organization)}, headers=admin.headers)
    assert (answer.status_code, answer.json()["errorCode"]) == (404, "PLAN_NOT_FOUND"), answer.text


@pytest.mark.covers("ORG-024")
async def test_why_an_operator_gave_back_or_tried_again_is_in_the_trail(
    site: httpx.AsyncClient, world: World, database: Database, superuser: asyncpg.Connection
):
    payment = await a_sale_of(world, *TWO)
    admin = await a_platform_admin(database)
    body = {"organization": str(world.organization), "reasonCode": "GOODWILL", "idempotencyKey": "one"}
    given = await site.post(
        "/api/admin/payments/refund", json=body | {"paymentId": str(payment), "amountMinor": 500}, headers=admin.headers
    )
    refund = await found(world, Refund(**{"id": RefundId.parse(given.json()["refundId"]).uuid} | BLANK))
    await failed(world, refund)
    again = {"organization": str(world.organization), "refundId": given.json()["refundId"], "reasonCode": "TOPPED_UP"}
    answer = await site.post("/api/admin/refunds/retry", json=again, headers=admin.headers)
    assert answer.status_code == 200, answer.text
    entries = await trail_of(superuser, world.organization, "refunds.request")
    assert {each["reason_code"] for each in entries} == {"GOODWILL", "TOPPED_UP"}


BLANK: dict[str, Any] = dict.fromkeys(
    (
        "payment_id",
        "city_code",
        "source_type",
        "source_id",
        "amount_minor",
        "fee_minor",
        "currency",
        "reason",
        "state",
        "created_at",
    )
)


@pytest.mark.covers("FIN-070")
async def test_whoever_proved_themselves_too_long_ago_gives_nothing_back(
    site: httpx.AsyncClient, world: World, database_url: str, database: Database
):
    payment = await a_sale_of(world, *TWO, subjects=(SUBJECT,))
    refund = await ask(world, payment, amount_minor=777)
    await failed(world, refund)
    plan = await planned(world, CANCELLATION, the_storm())
    admin = await a_platform_admin(database)
    async with Database(database_url, clock=Clock(-timedelta(minutes=11))) as earlier:
        tired = await a_person(earlier, identity=world.owner.identity, email=world.owner.email)
        tired_admin = await a_person(earlier, identity=admin.identity, email=admin.email)
    ours, own = f"/api/org/{world.organization}", str(RefundId(refund.id))
    theirs = {"organization": str(world.organization), "reasonCode": "GOODWILL"}
    reason = {"reasonCode": "TECHNICAL_PROBLEM"}
    wanted = [
        (tired, f"{ours}/payments/{payment}/refund", reason | {"idempotencyKey": "one"}),
        (tired, f"{ours}/finance/refunds/{own}/retry", reason),
        (tired, f"{ours}/finance/cancellations/plan", reason | {"subject": SUBJECT}),
        (tired, f"{ours}/finance/refund-plans/{plan.id}/apply", reason),
        (tired_admin, "/api/admin/payments/refund", theirs | {"paymentId": str(payment), "idempotencyKey": "one"}),
        (tired_admin, "/api/admin/refunds/retry", theirs | {"refundId": own}),
    ]
    for who, path, body in wanted:
        answer = await site.post(path, json=body, headers=who.headers)
        assert answer.status_code == 403 and "STEP_UP" in answer.json()["errorCode"], (path, answer.text)
    assert await published(world, "refund.requested") == 1
