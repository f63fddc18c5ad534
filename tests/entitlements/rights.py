"""An organisation with rights to give, people who hold them and doors that ask for them.

hall = await a_hall(database, batcher)
ticket = await hall.grant()
verdict = await hall.scan(await hall.code(ticket))
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from admitone.entitlements.codes import code_of, digest_of
from admitone.entitlements.commands.checking_in import consume
from admitone.entitlements.commands.granting import grant
from admitone.entitlements.kinds import TICKET
from admitone.entitlements.model import CheckinPolicy, Entitlement, EntitlementId, Grant, Place, Scan, Verdict
from admitone.entitlements.store.entitlements import find_entitlements
from admitone.entitlements.store.tokens import list_live
from admitone.finance.sources.api import Source, SourceType
from admitone.kernel.batch import Batcher
from admitone.kernel.commands import Command
from admitone.kernel.db import Database, Tx
from admitone.kernel.ids import OrganizationId
from admitone.kernel.scope import Caller, Scope
from tests.people import Person, a_person, an_organization_of

EVENT = "evt-festival"


@dataclass
class Hall:
    database: Database
    batcher: Batcher
    organization: OrganizationId
    staff: Person
    guest: Person
    granted: int = field(default=0)

    @property
    def scope(self) -> Scope:
        return Scope(self.organization, "test")

    async def submit(self, command: Command[Any, Any, Any], each: Any) -> Any:
        return (await self.batcher.submit(command, self.scope, each)).outcome

    def a_grant(self, **more: Any) -> Grant:
        self.granted += 1
        now = datetime.now(UTC)
        given = {
            "caller": Caller(self.staff.identity),
            "emission_key": f"order-{self.granted}:line:1",
            "source": Source(SourceType.TICKET_ORDER, f"order-{self.granted}"),
            "line_key": "line",
            "owner": self.guest.identity,
            "kind": TICKET.name,
            "label": "Standing",
            "valid_from": now - timedelta(hours=6),
            "valid_until": now + timedelta(hours=6),
            "policy": CheckinPolicy(),
            "policy_version": 1,
            "event_id": EVENT,
        }
        return Grant(**(given | more))

    async def grant(self, **more: Any) -> Entitlement:
        given: Entitlement = await self.submit(grant, self.a_grant(**more))
        return given

    async def grant_many(self, count: int, **more: Any) -> list[Entitlement]:
        """In one transaction."""
        wanted = [self.a_grant(**more) for _ in range(count)]
        return [*await self.database.run(self.scope, lambda tx: grant(tx, wanted))]  # type: ignore[list-item]

    async def at(self, instant: datetime, command: Command[Any, Any, Any], each: Any) -> Any:
        """What comes of it at that very instant."""

        async def then(tx: Tx) -> Any:
            tx.now = instant
            [outcome] = await command(tx, [each])
            return outcome

        return await self.database.run(self.scope, then)

    async def code(self, entitlement: Entitlement | EntitlementId) -> str:
        """The newest that is good."""
        own = entitlement if isinstance(entitlement, EntitlementId) else entitlement.id

        async def find(tx: Tx) -> str:
            [*_, token] = (await list_live(tx, [own], tx.now))[own]
            code = code_of(own, token.epoch, token.key_version)
            assert code is not None
            return code

        return await self.database.read(self.scope, find)

    def a_scan(self, code: str, *, event: str = EVENT, device: str = "", **more: Any) -> Scan:
        place = Place(event, device=device, **more)
        return Scan(Caller(self.staff.identity, device=device or None), place, digest_of(code))

    def by_hand(self, entitlement: Entitlement, *, event: str = EVENT, device: str = "") -> Scan:
        return Scan(Caller(self.staff.identity), Place(event, device=device), entitlement=entitlement.id)

    async def scan(self, code: str, **more: Any) -> Verdict:
        verdict: Verdict = await self.submit(consume, self.a_scan(code, **more))
        return verdict

    async def find(self, own: EntitlementId) -> Entitlement:
        found = await self.database.read(self.scope, find_entitlements, [own])
        return found[own]


async def a_hall(database: Database, batcher: Batcher) -> Hall:
    staff, guest = await a_person(database), await a_person(database)
    organization = await an_organization_of(database, staff)
    return Hall(database, batcher, organization, staff, guest)


async def all_of(hall: Hall, sql: str, *values: Any) -> Sequence[Any]:
    """As the superuser sees it is another matter; this is what the organisation sees."""

    async def ask(tx: Tx) -> Sequence[Any]:
        return await tx.fetch(sql, *values)

    return await hall.database.read(hall.scope, ask)
