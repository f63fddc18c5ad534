"""Looking again at what did not arrive."""

import asyncpg
import httpx
import pytest

from admitone.entrypoints.http import Application
from admitone.finance.payments.model import Status
from admitone.kernel import config as settings
from admitone.kernel.db import Database
from tests.finance.payments.telling import a_sale
from tests.finance.world import World
from tests.foundation.organizations.clubs import trail_of
from tests.people import a_platform_admin


@pytest.mark.covers("PLT-022")
async def test_a_payment_whose_webhook_was_lost_is_looked_at_again(
    site: httpx.AsyncClient,
    world: World,
    database: Database,
    application: Application,
    superuser: asyncpg.Connection,
):
    admin = await a_platform_admin(database)
    internal = {"x-orya-internal-secret": application.config.get(settings.CRON_SECRET)}
    ways = (
        ("/api/admin/payments/reprocess", {"reasonCode": "WEBHOOK_LOST"}, admin.headers),
        ("/api/internal/reprocess/purchase", {}, internal),
    )
    for path, more, headers in ways:
        payment, charge = await a_sale(world)
        world.simulator.act("pay", charge)
        body = {"organization": str(world.organization), "paymentId": str(payment), **more}
        seen = await site.post(path, json=body, headers=headers)
        assert (seen.status_code, seen.json().get("state")) == (200, "SUCCEEDED"), seen.text
        assert (await world.payment(payment)).status is Status.SUCCEEDED
    [entry] = await trail_of(superuser, world.organization, "payments.reprocess")
    assert entry["reason_code"] == "WEBHOOK_LOST"
    payment, charge = await a_sale(world)
    world.simulator.act("pay", charge)
    by_charge = {"provider": "sandbox", "chargeId": charge}
    path = "/api/internal/reprocess/payment-intent"
    assert (await site.post(path, json=by_charge, headers=internal)).json()["state"] == "SUCCEEDED"
    unknown = await site.post(path, json={**by_charge, "chargeId": "pi_nobody"}, headers=internal)
    assert (unknown.status_code, unknown.json()["errorCode"]) == (404, "PAYMENT_NOT_FOUND")
