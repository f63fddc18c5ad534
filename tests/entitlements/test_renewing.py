"""Codes follow one another: each is kept before it is shown, and nobody at a door is shut out by the change."""

from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg
import pytest

from admitone.entitlements import errands, queries
from admitone.entitlements.codes import code_of
from admitone.entitlements.commands.attending import Attendance, attend
from admitone.entitlements.commands.changing import Revoking, Suspension, Transfer, revoke, suspend, transfer
from admitone.entitlements.commands.renewing import Renewal, renew
from admitone.entitlements.errors import EntitlementNotActive, EntitlementNotFound
from admitone.entitlements.kinds import TICKET, Audience, TokenKind
from admitone.entitlements.model import CheckinPolicy, EntitlementId, Hold, Method, Reason, Revocation, Token
from admitone.entitlements.port import KINDS
from admitone.entitlements.queries import find_shown
from admitone.finance.sources.api import Source, SourceType
from admitone.kernel.crypto import KEYRING, KeyRing
from admitone.kernel.ids import IdentityId
from tests.entitlements.rights import Hall, a_hall, all_of
from tests.entitlements.test_money_meanwhile import meanwhile
from tests.entitlements.wallets import fires, later, shown

TRAIL = "SELECT kind FROM entitlements.change WHERE organization_id = $1 ORDER BY number"
DIGESTS = "SELECT epoch, digest FROM entitlements.token WHERE organization_id = $1 ORDER BY epoch"
OFTEN = CheckinPolicy(allow_reentry=True, max_entries=100, reentry_minutes=10_000)
OLD, NEW = b"o" * 32, b"n" * 32


async def a_long_one(hall: Hall, **more: Any) -> Any:
    """Of three days, on which one may come and go."""
    now = datetime.now(UTC)
    window = {"valid_from": now - timedelta(hours=1), "valid_until": now + timedelta(hours=72)}
    return await hall.grant(**({"policy": OFTEN} | window | more))


@pytest.mark.covers("ENT-009")
async def test_the_next_code_is_kept_hours_before_a_wallet_shows_it(hall: Hall, database_url: str):
    ticket = await a_long_one(hall)
    first = await shown(hall, ticket)
    async with later(hall, database_url, hours=21, minutes=50) as then:
        await fires(then, errands.renew_codes)
        assert (await hall.find(ticket.id)).epoch == 1, "it is good for more than two hours"
    async with later(hall, database_url, hours=22, minutes=10) as then:
        await fires(then, errands.renew_codes)
        await fires(then, errands.renew_codes)
        renewed = await hall.find(ticket.id)
        assert (renewed.epoch, renewed.version) == (2, ticket.version), "once, and the right is what it was"
        assert await shown(then, ticket) == first, "nobody is shown it yet"
    assert [row["epoch"] for row in await all_of(hall, DIGESTS)] == [1, 2]
    assert [row["kind"] for row in await all_of(hall, TRAIL)] == ["GRANTED"]


@pytest.mark.covers("ENT-009")
async def test_while_a_wallet_is_open_both_codes_are_good_until_the_first_ends(hall: Hall, database_url: str):
    ticket = await a_long_one(hall)
    first = await shown(hall, ticket)
    async with later(hall, database_url, hours=23, minutes=31) as then:
        second = await shown(then, ticket)
        assert second != first
        assert (await then.scan(first)).allow, "the telephone that did not ask again"
        assert (await then.scan(second)).allow
    async with later(hall, database_url, hours=24, minutes=1) as then:
        assert (await then.scan(first)).reason is Reason.TOKEN_EXPIRED
        assert (await then.scan(second)).allow
        assert await shown(then, ticket) == second


@pytest.mark.covers("ENT-009")
async def test_what_is_months_away_is_renewed_when_its_wallet_asks(hall: Hall, database_url: str):
    now = datetime.now(UTC)
    ticket = await hall.grant(valid_from=now + timedelta(days=90), valid_until=now + timedelta(days=91))
    async with later(hall, database_url, days=30) as then:
        await fires(then, errands.renew_codes)
        assert (await hall.find(ticket.id)).epoch == 1
        code = await shown(then, ticket)
        assert (await hall.find(ticket.id)).epoch == 2
        assert (await then.scan(code)).reason is Reason.NOT_YET_VALID
    async with later(hall, database_url, days=89) as then:
        await fires(then, errands.renew_codes)
        assert (await hall.find(ticket.id)).epoch == 3, "the next day is near"


@pytest.mark.covers("ENT-009", "ENT-018")
async def test_only_what_is_active_and_not_over_has_a_next_code(hall: Hall, database_url: str):
    held, gone, kept = await a_long_one(hall), await a_long_one(hall), await a_long_one(hall, pending=True)
    await hall.submit(suspend, Suspension(hall.staff.caller, held.id, Hold.DISPUTE))
    await hall.submit(revoke, Revoking(hall.staff.caller, gone.id, Revocation.REFUND))
    good = await a_long_one(hall)
    async with later(hall, database_url, hours=23, minutes=45) as then:
        for each, status in ((held, "SUSPENDED"), (gone, "REVOKED"), (kept, "PENDING")):
            with pytest.raises(EntitlementNotActive) as refused:
                await then.submit(renew, Renewal(each.id, TICKET.overlap))
            assert refused.value.status == status
    async with later(hall, database_url, hours=73) as then:
        with pytest.raises(EntitlementNotActive) as refused:
            await then.submit(renew, Renewal(good.id, TICKET.overlap))
        assert refused.value.status == "EXPIRED"
    for unknown in (Renewal(EntitlementId.new(), TICKET.overlap), Renewal(good.id, TICKET.overlap, IdentityId.new())):
        with pytest.raises(EntitlementNotFound):
            await hall.submit(renew, unknown)


@pytest.mark.covers("ENT-009")
async def test_whoever_passed_it_on_this_instant_is_shown_nothing(hall: Hall):
    """The wallet looked for the right before, as its owner."""
    ticket, friend = await hall.grant(), IdentityId.new()
    await hall.submit(transfer, Transfer(hall.staff.caller, ticket.id, friend))
    assert await hall.database.read(hall.scope, find_shown, ticket.id, ticket.owner) is None
    assert await hall.database.read(hall.scope, find_shown, ticket.id, friend) is not None
    booking = await hall.grant(source=Source(SourceType.BOOKING, "b-1"), policy=CheckinPolicy(methods=(Method.MANUAL,)))
    await hall.submit(transfer, Transfer(hall.staff.caller, booking.id, friend))
    with pytest.raises(EntitlementNotFound):
        await hall.submit(attend, Attendance(hall.guest.caller, booking.id, booking.owner))


@pytest.mark.covers("ENT-009")
async def test_many_who_ask_at_once_are_shown_the_same_next_code(hall: Hall, database_url: str):
    ticket = await a_long_one(hall)
    async with later(hall, database_url, hours=30) as then:
        asks = [Renewal(ticket.id, TICKET.overlap, ticket.owner)] * 20
        told: list[Token] = await then.database.run(then.scope, lambda tx: renew(tx, asks))
        assert {each.epoch for each in told} == {2}


COUPON = TokenKind(
    "coupon",
    life=timedelta(seconds=300),
    overlap=timedelta(seconds=30),
    audience=Audience.MERCHANT,
    offline=False,
    single_use=True,
)
SHOP = {"audience": Audience.MERCHANT}


@pytest.mark.covers("ENT-009")
async def test_a_code_that_is_good_for_one_use_and_five_minutes_follows_its_own_kind(hall: Hall, database_url: str):
    with KINDS.wired({kind.name: kind for kind in (TICKET, COUPON)}):
        right = await a_long_one(hall, kind=COUPON.name)
        first = await shown(hall, right)
        assert (await hall.scan(first)).reason is Reason.WRONG_EVENT, "it opens no door"
        assert (await hall.scan(first, **SHOP)).allow
        assert (await hall.scan(first, **SHOP)).reason is Reason.ALREADY_CONSUMED
        ticket = await hall.code(await hall.grant())
        assert (await hall.scan(ticket, **SHOP)).reason is Reason.WRONG_EVENT, "and no ticket is worth anything there"
        second = await shown(hall, right)
        assert second != first
        assert (await hall.scan(second, **SHOP)).allow
        third = await shown(hall, right)
        async with later(hall, database_url, minutes=6) as then:
            await fires(then, errands.renew_codes)
            assert (await hall.find(right.id)).epoch == 3, "nobody accepts it without asking, so nobody is in a hurry"
            assert (await then.scan(third, **SHOP)).reason is Reason.TOKEN_EXPIRED
            assert (await then.scan(await shown(then, right), **SHOP)).allow


@pytest.mark.covers("ENT-009")
async def test_when_a_key_is_retired_the_wallet_has_the_next_code_and_the_old_one_still_lets_in(hall: Hall):
    with KEYRING.wired(KeyRing({1: OLD})):
        ticket = await a_long_one(hall)
        first = await shown(hall, ticket)
    with KEYRING.wired(KeyRing({1: OLD, 2: NEW})):
        assert await shown(hall, ticket) == first, "while its key lives, it is shown again"
    with KEYRING.wired(KeyRing({2: NEW})):
        second = await shown(hall, ticket)
        assert second != first
        assert await shown(hall, ticket) == second
        assert (await hall.find(ticket.id)).epoch == 2
        assert (await hall.scan(first)).allow, "its digest is kept, and needs no key"
        assert (await hall.scan(second)).allow
    with KEYRING.wired(KeyRing({3: NEW})):
        assert await shown(hall, ticket) not in (first, second)


@pytest.mark.covers("ENT-009")
async def test_one_organisation_that_cannot_renew_keeps_no_other_waiting(
    hall: Hall, database_url: str, superuser: asyncpg.Connection
):
    broken, whole = await a_long_one(hall), await a_hall(hall.database, hall.batcher)
    ticket = await a_long_one(whole)
    # Nobody brings this kind along any more.
    kind = "UPDATE entitlements.entitlement SET kind = $2 WHERE id = $1"
    await superuser.execute(kind, broken.id.uuid, "gone")
    async with later(hall, database_url, hours=30) as then:
        with pytest.raises(ExceptionGroup):
            await fires(then, errands.renew_codes)
    await superuser.execute(kind, broken.id.uuid, broken.kind)
    assert (await whole.find(ticket.id)).epoch == 2
    assert (await hall.find(broken.id)).epoch == 1


@pytest.mark.covers("ENT-009")
async def test_whoever_passes_it_on_while_their_wallet_looks_is_not_shown_the_code_of_the_next(
    hall: Hall, monkeypatch: pytest.MonkeyPatch
):
    ticket, friend = await hall.grant(), IdentityId.new()
    former = code_of(ticket.id, 1, KEYRING().current)

    async def passes_it_on() -> None:
        await hall.submit(transfer, Transfer(hall.staff.caller, ticket.id, friend))

    meanwhile(monkeypatch, queries, "find_entitlements", passes_it_on)
    token = await hall.database.read(hall.scope, find_shown, ticket.id, ticket.owner)
    assert token is None or code_of(ticket.id, token.epoch, token.key_version) == former
