"""The right is the proof: nothing is asked of whatever it came from, and its row says what it must."""

import inspect
import re

import asyncpg
import pytest

from admitone.entitlements import policy
from admitone.entitlements.model import CheckinPolicy, Entitlement, Status
from admitone.entitlements.policy import METHOD_OF
from admitone.finance.sources.api import Source, SourceType
from tests.architecture.source_tree import SOURCE, imports, sources
from tests.architecture.statements import all_statements
from tests.entitlements.rights import Hall

DECIDES = {
    f"admitone.entitlements.{name}"
    for name in ("commands.checking_in", "store.doors", "store.tokens", "store.entitlements")
}
"""Where a door's verdict is made."""
MAY_KNOW = ("admitone.kernel", "admitone.entitlements", "admitone.finance.sources")
SOURCES = """
    SELECT pg_get_constraintdef(oid) FROM pg_constraint
     WHERE contype = 'c' AND conrelid = 'entitlements.entitlement'::regclass AND pg_get_constraintdef(oid) LIKE '%source_type%'
"""


@pytest.mark.covers("ENT-001")
def test_a_door_decides_without_knowing_any_order_booking_or_payment():
    modules = [each for each in sources(SOURCE, "admitone/entitlements") if each.name in DECIDES]
    assert len(modules) == len(DECIDES)
    ours = {name for each in modules for _, name in imports(each) if name.startswith("admitone.")}
    assert {name for name in ours if not name.startswith(MAY_KNOW)} == set()
    asked = {str(each): each.sql for each in all_statements() if each.module in DECIDES}
    named = {schema for sql in asked.values() for schema in re.findall(r"(?:FROM|JOIN|INTO|UPDATE) (\w+)\.\w+", sql)}
    assert named == {"entitlements"}
    for decides in (policy.why_not, policy._why_not_again, policy._why_not_by):
        assert not re.search("payment|refund|order|booking", inspect.getsource(decides), re.IGNORECASE)


@pytest.mark.covers("ENT-001", "ENT-004", "ENT-006")
@pytest.mark.parametrize("kind", SourceType)
async def test_a_right_from_any_source_lets_in_though_its_source_is_in_no_table(hall: Hall, kind: SourceType):
    source = Source(kind, "never-was")
    right = await hall.grant(source=source, policy=CheckinPolicy(methods=(METHOD_OF[kind],)))
    assert (right.source, right.owner, right.status) == (source, hall.guest.identity, Status.ACTIVE)
    assert (await hall.scan(await hall.code(right))).allow


@pytest.mark.covers("ENT-006")
async def test_sources_are_those_of_the_list_and_nothing_of_an_agenda(hall: Hall, superuser: asyncpg.Connection):
    [rule] = [row[0] for row in await superuser.fetch(SOURCES)]
    assert {kind.value for kind in SourceType} == {word for word in rule.split("'") if word.isupper()}
    right = await hall.grant()
    for other in ("MATCH", "TOURNAMENT", "EVENT", "SUBSCRIPTION", "MEMBERSHIP", "ticket_order"):
        with pytest.raises(ValueError, match=other):
            SourceType(other)
        with pytest.raises(asyncpg.CheckViolationError):
            await superuser.execute(
                "UPDATE entitlements.entitlement SET source_type = $2 WHERE id = $1", right.id.uuid, other
            )


@pytest.mark.covers("ENT-005")
async def test_what_is_for_an_event_says_which_policy_it_was_given_under(hall: Hall):
    with pytest.raises(asyncpg.CheckViolationError):
        await hall.grant(policy_version=None)
    for kind in (SourceType.BOOKING, SourceType.PADEL_REGISTRATION):
        with pytest.raises(asyncpg.CheckViolationError):
            await hall.grant(source=Source(kind, "s-1"), policy_version=None)
    without = await hall.grant(source=Source(SourceType.BOOKING, "b-1"), event_id=None, policy_version=None)
    assert without.policy_version is None


@pytest.mark.covers("ENT-002")
async def test_used_is_no_state_and_no_other_word_is(hall: Hall, superuser: asyncpg.Connection):
    right: Entitlement = await hall.grant()
    assert {status.value for status in Status} == {"PENDING", "ACTIVE", "REVOKED", "EXPIRED", "SUSPENDED"}
    for word in ("USED", "CONSUMED", "REDEEMED", "CANCELLED"):
        with pytest.raises(asyncpg.CheckViolationError):
            await superuser.execute(
                "UPDATE entitlements.entitlement SET status = $2 WHERE id = $1", right.id.uuid, word
            )
