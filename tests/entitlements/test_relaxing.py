"""A policy may only relax: what was granted before is let in by more, and never by less."""

from datetime import timedelta

import pytest

from admitone.entitlements.api import Relaxing, relax
from admitone.entitlements.commands.changing import Revoking, revoke
from admitone.entitlements.model import CheckinPolicy, Entitlement, Method, Reason, Revocation
from admitone.kernel.scope import Caller
from tests.entitlements.rights import Hall, all_of

WIDE = CheckinPolicy(
    (Method.QR_TICKET, Method.MANUAL), allow_reentry=True, max_entries=3, reentry_minutes=60, undo_minutes=30
)
NARROW = CheckinPolicy((Method.QR_TICKET,), reentry_minutes=0, undo_minutes=0)
TRAIL = "SELECT kind, reason FROM entitlements.change WHERE organization_id = $1 ORDER BY number"


def relaxing(right: Entitlement, policy: CheckinPolicy) -> Relaxing:
    return Relaxing(Caller(), right.id, policy, 2)


@pytest.mark.covers("ENT-015")
async def test_a_tightened_policy_takes_nothing_from_what_was_granted_before(hall: Hall):
    right = await hall.grant(policy=WIDE)
    after = await hall.submit(relax, relaxing(right, NARROW))
    assert after == right
    code = await hall.code(right)
    assert (await hall.scan(code)).allow
    assert (await hall.scan(code)).allow, "as often as it was sold"
    assert [row["kind"] for row in await all_of(hall, TRAIL)] == ["GRANTED"], "nothing happened"


@pytest.mark.covers("ENT-015")
async def test_a_relaxed_policy_reaches_the_door_and_the_trail_says_which_did_it(hall: Hall):
    right = await hall.grant(policy=NARROW)
    code = await hall.code(right)
    assert (await hall.scan(code)).allow
    assert (await hall.scan(code)).reason is Reason.ALREADY_CONSUMED
    after = await hall.submit(relax, relaxing(right, WIDE))
    assert (after.policy_version, after.max_entries, after.methods) == (1, 3, {Method.QR_TICKET, Method.MANUAL})
    assert (await hall.scan(code)).allow, "the code is the same"
    assert [tuple(row) for row in await all_of(hall, TRAIL)] == [("GRANTED", None), ("RELAXED", "policy 2")]


@pytest.mark.covers("ENT-015")
async def test_relaxing_twice_is_relaxing_once_and_each_part_by_itself(hall: Hall):
    right = await hall.grant(policy=CheckinPolicy(undo_minutes=20))
    later = CheckinPolicy((Method.MANUAL,), undo_minutes=5)
    for _ in range(2):
        after = await hall.submit(relax, relaxing(right, later))
    assert (after.methods, after.undo_minutes) == ({Method.QR_TICKET, Method.MANUAL}, 20)
    assert (after.version, after.valid_until - right.valid_until) == (2, timedelta(0))


async def test_what_is_gone_is_not_relaxed(hall: Hall):
    right = await hall.grant()
    await hall.submit(revoke, Revoking(Caller(), right.id, Revocation.ADMIN))
    assert (await hall.submit(relax, relaxing(right, WIDE))).max_entries == 1
