"""What is over is over: by the clock at once, in the books when somebody comes by."""

from datetime import UTC, datetime, timedelta

import asyncpg
import pytest

from admitone.entitlements import errands
from admitone.entitlements.commands.changing import Release, Revoking, Suspension, expire, release, revoke, suspend
from admitone.entitlements.model import Hold, Reason, Revocation, Status
from admitone.kernel.scope import Caller
from tests.entitlements.rights import Hall, all_of
from tests.entitlements.wallets import fires, later

TRAIL = (
    "SELECT kind, to_status FROM entitlements.change WHERE organization_id = $1 AND entitlement_id = $2 ORDER BY number"
)
LIVE = "SELECT epoch FROM entitlements.token WHERE organization_id = $1 AND entitlement_id = $2 AND revoked_at IS NULL"
TOLD = """
    SELECT subject_id FROM kernel.event_log
     WHERE organization_id = $1 AND type = 'entitlement.expired' AND subject_id = ANY($2::text[])
"""


@pytest.mark.covers("ENT-018", "ENT-002")
async def test_what_is_over_expires_once_whatever_it_stood_at(
    hall: Hall, database_url: str, superuser: asyncpg.Connection
):
    ends = datetime.now(UTC) + timedelta(hours=1)
    given = {
        name: await hall.grant(valid_until=ends, pending=name == "kept") for name in ("used", "kept", "held", "gone")
    }
    longer = await hall.grant(valid_until=ends + timedelta(hours=1))
    code = await hall.code(given["used"])
    assert (await hall.scan(code)).allow
    await hall.submit(suspend, Suspension(hall.staff.caller, given["held"].id, Hold.DISPUTE))
    await hall.submit(revoke, Revoking(hall.staff.caller, given["gone"].id, Revocation.REFUND))
    await fires(hall, errands.expire_rights)
    early = await hall.database.run(hall.scope, lambda tx: expire(tx, [given["used"].id], Caller()))
    assert early == 0, "also if somebody thought so: it may have been put off since"
    assert (await hall.find(given["used"].id)).status is Status.ACTIVE, "not before its time"

    async with later(hall, database_url, hours=1, minutes=1) as then:
        await fires(then, errands.expire_rights)
        await fires(then, errands.expire_rights)
        assert (await then.scan(code)).reason is Reason.ENTITLEMENT_NOT_ACTIVE
    now = {name: await hall.find(each.id) for name, each in given.items()}
    assert {name: each.status.value for name, each in now.items()} == {
        "used": "EXPIRED", "kept": "EXPIRED", "held": "EXPIRED", "gone": "REVOKED",
    }  # fmt: skip
    assert (now["held"].held_for, now["used"].entries) == ({Hold.DISPUTE}, 1)
    assert (await hall.find(longer.id)).status is Status.ACTIVE
    assert [tuple(row) for row in await all_of(hall, TRAIL, given["used"].id.uuid)] == [
        ("GRANTED", "ACTIVE"),
        ("EXPIRED", "EXPIRED"),
    ]
    assert await all_of(hall, LIVE, given["used"].id.uuid) == []
    told = await superuser.fetch(TOLD, hall.organization.uuid, [str(each.id) for each in given.values()])
    assert sorted(row["subject_id"] for row in told) == sorted(str(given[each].id) for each in ("used", "kept", "held"))


@pytest.mark.covers("ENT-018", "ENT-007")
async def test_what_is_won_after_its_time_is_over_and_money_that_goes_back_still_takes_it(
    hall: Hall, database_url: str
):
    ends = datetime.now(UTC) + timedelta(hours=1)
    ticket = await hall.grant(valid_until=ends)
    await hall.submit(suspend, Suspension(hall.staff.caller, ticket.id, Hold.DISPUTE))
    async with later(hall, database_url, hours=2) as then:
        won = await then.submit(release, Release(hall.staff.caller, ticket.id, Hold.DISPUTE))
        assert won.status is Status.EXPIRED
        lost = await then.submit(revoke, Revoking(hall.staff.caller, ticket.id, Revocation.REFUND))
        assert lost.status is Status.REVOKED
        await fires(then, errands.expire_rights)
    assert (await hall.find(ticket.id)).status is Status.REVOKED
