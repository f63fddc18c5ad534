"""Why a right is held is remembered whatever it stands at, and what is put off comes back as it must."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from admitone.entitlements import errands
from admitone.entitlements.commands.changing import (
    Release,
    Rescheduling,
    Revoking,
    Suspension,
    release,
    reschedule,
    revoke,
    suspend,
)
from admitone.entitlements.commands.granting import Activation, activate
from admitone.entitlements.errors import EntitlementNotActive
from admitone.entitlements.model import Entitlement, Hold, Reason, Revocation, Status
from tests.entitlements.rights import Hall
from tests.entitlements.wallets import fires, later

SOON = timedelta(hours=1)


@pytest.mark.covers("ENT-002", "ENT-018")
async def test_what_is_held_while_it_is_pending_is_not_opened_by_its_payment(hall: Hall):
    kept = await hall.grant(pending=True)
    held = await hall.submit(suspend, Suspension(hall.staff.caller, kept.id, Hold.FRAUD))
    assert held.status is Status.PENDING, "a place is kept, and nothing else"
    paid = await hall.submit(activate, Activation(hall.staff.caller, kept.id))
    assert (paid.status, paid.held_for) == (Status.SUSPENDED, {Hold.FRAUD})
    free = await hall.submit(release, Release(hall.staff.caller, kept.id, Hold.FRAUD))
    assert free.status is Status.ACTIVE
    assert (await hall.scan(await hall.code(free))).allow


@pytest.mark.covers("ENT-002")
async def test_what_is_released_while_it_is_pending_is_simply_given(hall: Hall):
    kept = await hall.grant(pending=True)
    for command, said in ((suspend, Suspension), (release, Release)):
        await hall.submit(command, said(hall.staff.caller, kept.id, Hold.INVESTIGATION))
    paid = await hall.submit(activate, Activation(hall.staff.caller, kept.id))
    assert (await hall.scan(await hall.code(paid))).allow


async def put_off(hall: Hall, right: Entitlement, **by: float) -> Any:
    """To a window that begins now and ends so much later."""
    starts = right.valid_from + timedelta(minutes=1)
    return await hall.submit(
        reschedule, Rescheduling(hall.staff.caller, right.id, starts, right.valid_until + timedelta(**by))
    )


@pytest.mark.covers("ENT-002", "ENT-018")
async def test_what_is_put_off_after_its_time_comes_back_as_it_was(hall: Hall, database_url: str):
    """An evening is rained off, and that is decided the next morning."""
    ends = datetime.now(UTC) + SOON
    names = ("good", "kept", "held", "disputed after", "gone")
    rights = {name: await hall.grant(valid_until=ends, pending=name == "kept") for name in names}
    old = await hall.code(rights["good"])
    await hall.submit(suspend, Suspension(hall.staff.caller, rights["held"].id, Hold.FRAUD))
    async with later(hall, database_url, hours=10) as then:
        await fires(then, errands.expire_rights)
        await then.submit(suspend, Suspension(hall.staff.caller, rights["disputed after"].id, Hold.DISPUTE))
        await then.submit(revoke, Revoking(hall.staff.caller, rights["gone"].id, Revocation.REFUND))
        assert (await hall.find(rights["disputed after"].id)).status is Status.EXPIRED
        back = {name: await put_off(then, each, days=7) for name, each in rights.items() if name != "gone"}
        with pytest.raises(EntitlementNotActive):
            await put_off(then, rights["gone"], days=7)
        assert {name: each.status.value for name, each in back.items()} == {
            "good": "ACTIVE", "kept": "PENDING", "held": "SUSPENDED", "disputed after": "SUSPENDED",
        }  # fmt: skip
        assert (await then.scan(old)).reason is Reason.TOKEN_EXPIRED
        assert (await then.scan(await then.code(back["good"]))).allow


@pytest.mark.covers("ENT-018")
async def test_what_is_put_off_to_a_time_that_is_over_stays_expired(hall: Hall, database_url: str):
    right = await hall.grant(valid_until=datetime.now(UTC) + SOON)
    async with later(hall, database_url, hours=10) as then:
        await fires(then, errands.expire_rights)
        moved = await put_off(then, right, hours=1)
        assert (moved.status, moved.epoch) == (Status.EXPIRED, right.epoch)
        await fires(then, errands.expire_rights)
