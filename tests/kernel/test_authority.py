"""Who may go on: resolved for all who arrived together, never remembered."""

import asyncio
from collections.abc import Sequence

import pytest

from admitone.kernel.audit import REFUSALS_PER_ADDRESS, AuditTrail
from admitone.kernel.authority import (
    Ask,
    Audience,
    AuthorityReader,
    FeatureDisabled,
    Granted,
    PermissionDenied,
)
from admitone.kernel.batch import Batcher
from admitone.kernel.crypto import digest_of
from admitone.kernel.db import Database, PlatformTx
from admitone.kernel.errors import Refusal, Throttled, Unauthenticated
from admitone.kernel.ids import IdentityId, OrganizationId, uuid7
from admitone.kernel.limits import Hit, Limit, Per
from admitone.kernel.scope import Caller
from tests.builders import Credential, a_credential, an_organization
from tests.toy.authority import ToyAuthority


@pytest.fixture
def reader(batcher: Batcher) -> AuthorityReader:
    return AuthorityReader(batcher, ToyAuthority())


def ask(credential: str | None, organization: OrganizationId | None, **changes: object) -> Ask:
    values = {
        "audience": Audience.ORGANIZATION,
        "credential": credential,
        "organization": organization,
        "permission": "toy.increment",
        "gate": None,
        "caller": Caller(address=f"address-{uuid7()}"),
        **changes,
    }
    return Ask(**values)


@pytest.mark.covers("TEN-T06")
async def test_a_member_goes_on_and_a_member_of_another_organisation_does_not(
    reader: AuthorityReader, database: Database, superuser
) -> None:
    ours, theirs = await an_organization(database), await an_organization(database)
    key = await a_credential(superuser, ours, "toy.increment")
    granted = await reader.ask(ask(key.text, ours.organization))
    assert granted == Granted(key.identity, ours.organization)
    with pytest.raises(PermissionDenied):
        await reader.ask(ask(key.text, theirs.organization))
    with pytest.raises(PermissionDenied):
        await reader.ask(ask(key.text, ours.organization, permission="toy.other"))
    with pytest.raises(Unauthenticated):
        await reader.ask(ask("unknown", ours.organization))
    with pytest.raises(Unauthenticated):
        await reader.ask(ask(None, ours.organization))


async def test_a_closed_gate_stays_closed_for_everybody(reader: AuthorityReader, database: Database, superuser) -> None:
    scope = await an_organization(database)
    key = await a_credential(superuser, scope, "toy.increment")
    gate = f"gate-{uuid7()}"
    with pytest.raises(FeatureDisabled):
        await reader.ask(ask(key.text, scope.organization, gate=gate))
    await superuser.execute("INSERT INTO toy.gate (name) VALUES ($1)", gate)
    await reader.ask(ask(key.text, scope.organization, gate=gate))


async def test_a_revoked_key_is_dead_at_once(reader: AuthorityReader, database: Database, superuser) -> None:
    scope = await an_organization(database)
    key = await a_credential(superuser, scope, "toy.increment")
    await reader.ask(ask(key.text, scope.organization))
    await superuser.execute("DELETE FROM toy.credential WHERE digest = $1", digest_of(key.text))
    with pytest.raises(Unauthenticated):
        await reader.ask(ask(key.text, scope.organization))


async def test_all_who_arrive_together_are_answered_by_one_read(
    batcher: Batcher, database: Database, superuser
) -> None:
    reads: list[int] = []

    class Counting(ToyAuthority):
        async def resolve(self, tx: PlatformTx, asks: Sequence[Ask]) -> list[Granted | Refusal]:
            reads.append(len(asks))
            return await super().resolve(tx, asks)

    reader = AuthorityReader(batcher, Counting())
    scopes = [await an_organization(database) for _ in range(5)]
    keys = [await a_credential(superuser, scope, "toy.increment") for scope in scopes]
    asks = [ask(key.text, scope.organization) for key, scope in zip(keys, scopes, strict=True)]
    answers = await asyncio.gather(*(reader.ask(each) for each in asks))
    assert reads == [5]
    assert [answer.organization for answer in answers] == [scope.organization for scope in scopes]


async def test_a_caller_who_guesses_too_often_learns_nothing_more(reader: AuthorityReader) -> None:
    limit = Limit(f"test.guess.{uuid7()}", count=3, seconds=60, per=Per.ADDRESS)
    guess = ask("wrong", OrganizationId.new(), limits=(limit,))
    for _ in range(3):
        with pytest.raises(Unauthenticated):
            await reader.ask(guess)
    with pytest.raises(Throttled):
        await reader.ask(guess)


async def test_leaving_the_device_out_lifts_no_limit(reader: AuthorityReader) -> None:
    limit = Limit(f"test.device.{uuid7()}", count=1, seconds=60, per=Per.DEVICE)
    anonymous = ask(None, None, audience=Audience.PUBLIC, permission=None, limits=(limit,))
    await reader.ask(anonymous)
    with pytest.raises(Throttled):
        await reader.ask(anonymous)


async def test_an_audited_refusal_is_written_once_and_only_so_often(
    reader: AuthorityReader, batcher: Batcher, database: Database, superuser
) -> None:
    trail = AuditTrail(batcher, reader)
    scope = await an_organization(database)
    caller = Caller(actor=IdentityId.new(), address=f"address-{uuid7()}")
    refusal = PermissionDenied(permission="toy.increment")
    for _ in range(REFUSALS_PER_ADDRESS.count + 5):
        await trail.refused(refusal, contract="TOY.01", organization=scope.organization, caller=caller)
    rows = await superuser.fetch("SELECT * FROM kernel.audit_entry WHERE organization_id = $1", scope.organization.uuid)
    assert len(rows) == REFUSALS_PER_ADDRESS.count
    assert rows[0]["action"] == "refused"
    assert rows[0]["reason_code"] == "PERMISSION_DENIED"
    assert rows[0]["actor_id"] == caller.actor.uuid
    assert rows[0]["correlation_id"] == caller.correlation_id


async def test_a_stranger_cannot_use_up_what_belongs_to_a_member(
    reader: AuthorityReader, database: Database, superuser
) -> None:
    limit = Limit(f"test.organization.{uuid7()}", count=3, seconds=60, per=Per.ORGANIZATION)
    scope = await an_organization(database)
    key = await a_credential(superuser, scope, "toy.increment")
    for _ in range(5):
        with pytest.raises((Unauthenticated, Throttled)):
            await reader.ask(ask(None, scope.organization, limits=(limit,)))
    await reader.ask(ask(key.text, scope.organization, limits=(limit,)))


async def test_devices_of_the_same_name_in_two_organisations_are_two(
    reader: AuthorityReader, database: Database, superuser
) -> None:
    limit = Limit(f"test.device.{uuid7()}", count=1, seconds=60, per=Per.DEVICE)
    gate = Caller(device="gate-1", address="203.0.113.1")
    for _ in range(2):
        scope = await an_organization(database)
        key = await a_credential(superuser, scope, "toy.increment")
        await reader.ask(ask(key.text, scope.organization, limits=(limit,), caller=gate))
    with pytest.raises(Throttled):
        await reader.ask(ask(key.text, scope.organization, limits=(limit,), caller=gate))


async def test_all_addresses_of_one_customer_are_one_subject(reader: AuthorityReader) -> None:
    limit = Limit(f"test.network.{uuid7()}", count=2, seconds=60, per=Per.ADDRESS)

    async def knock(address: str) -> None:
        public = {"audience": Audience.PUBLIC, "permission": None, "limits": (limit,)}
        await reader.ask(ask(None, None, **public, caller=Caller(address=address)))

    await knock("2001:db8::1")
    await knock("2001:db8::ffff:1")
    with pytest.raises(Throttled):
        await knock("2001:db8::2")
    await knock("2001:db8:0:1::1")


async def test_a_person_on_one_thing_is_counted_apart_from_the_person_and_from_the_thing(
    reader: AuthorityReader, database: Database, superuser
) -> None:
    """createCheckout has such a limit: what one does to one thing, beside a cap for the address."""
    on_source = Limit(f"test.both.{uuid7()}", count=2, seconds=60, per=Per.IDENTITY_AND_REQUEST, subject=str)
    cap = Limit(f"test.cap.{uuid7()}", count=7, seconds=300, per=Per.ADDRESS)
    scope = await an_organization(database)
    ana, rui = [await a_credential(superuser, scope, "toy.increment") for _ in range(2)]
    caller = Caller(address=f"address-{uuid7()}")

    async def buy(who: Credential, source: str) -> None:
        hits = (Hit(on_source, source),)
        await reader.ask(ask(who.text, scope.organization, limits=(cap,), hits=hits, caller=caller))

    for _ in range(2):
        await buy(ana, "concert")
    with pytest.raises(Throttled) as refused:
        await buy(ana, "concert")
    assert refused.value.retry_after_seconds <= 60
    for _ in range(2):
        await buy(ana, "match")
        await buy(rui, "concert")
    with pytest.raises(Throttled) as refused:
        await buy(rui, "match")
    assert refused.value.retry_after_seconds > 60


async def test_of_several_limits_the_one_that_lasts_says_when_to_come_back(reader: AuthorityReader) -> None:
    short, long = (Limit(f"test.{n}.{uuid7()}", count=1, seconds=n, per=Per.ADDRESS) for n in (60, 3600))
    knock = ask(None, None, audience=Audience.PUBLIC, permission=None, limits=(short, long))
    await reader.ask(knock)
    with pytest.raises(Throttled) as refused:
        await reader.ask(knock)
    assert refused.value.retry_after_seconds > 60


async def test_who_is_not_known_is_counted_on_one_thing_by_address(reader: AuthorityReader) -> None:
    limit = Limit(f"test.both.{uuid7()}", count=1, seconds=60, per=Per.IDENTITY_AND_REQUEST, subject=str)

    async def knock(address: str, source: str) -> None:
        public = {"audience": Audience.PUBLIC, "permission": None, "hits": (Hit(limit, source),)}
        await reader.ask(ask(None, None, **public, caller=Caller(address=address)))

    await knock("203.0.113.1", "concert")
    await knock("203.0.113.1", "match")
    await knock("203.0.113.2", "concert")
    with pytest.raises(Throttled):
        await knock("203.0.113.1", "concert")
