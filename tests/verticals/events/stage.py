"""An organisation that puts something on, as its staff and the public meet it.

stage = await a_stage(site, database, superuser)
event = await stage.published(types=[{"name": "Standing", "priceMinor": 2500}])
page = await stage.page(event)
"""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any
from uuid import UUID

import asyncpg
import httpx
import msgspec

from admitone.entitlements.commands.granting import grant
from admitone.entitlements.kinds import TICKET
from admitone.entitlements.model import Entitlement, Grant
from admitone.entrypoints.modules import MODULES
from admitone.finance.sources.api import Source, SourceType
from admitone.kernel.batch import Batcher
from admitone.kernel.db import Database, Tx
from admitone.kernel.ids import IdentityId, OrganizationId, from_text, uuid7
from admitone.kernel.jobs import Delivered, Desk
from admitone.kernel.manifest import Module
from admitone.kernel.scope import Caller, Scope
from admitone.selling.stock import api as stock
from admitone.verticals.events import announcing
from admitone.verticals.events.model import AccessPolicy, EventId, OrderId, SessionId, TicketTypeId
from admitone.verticals.events.module import MODULE
from admitone.verticals.events.policy import window_of
from admitone.verticals.events.store import events as store
from tests.people import Person, a_person, an_organization_of

KEYS = count()
OTHERS = Module("others", facts=tuple(fact for each in MODULES if each is not MODULE for fact in each.facts))
"""What a worker of events alone must know of the rest."""


NEXT_MONTH = datetime.now(UTC).replace(microsecond=0) + timedelta(days=30)


def soon(**by: float) -> str:
    """A month from now, and so much later."""
    return (NEXT_MONTH + timedelta(**by)).isoformat()


def hence(**by: float) -> str:
    """So much later than now, to the second."""
    return (datetime.now(UTC).replace(microsecond=0) + timedelta(**by)).isoformat()


def uuid_of(answer: dict[str, Any]) -> UUID:
    return EventId.parse(answer["eventId"]).uuid


@dataclass
class Stage:
    site: httpx.AsyncClient
    database: Database
    superuser: asyncpg.Connection
    owner: Person
    organization: OrganizationId
    announced: set[Any] = field(default_factory=set, repr=False)

    @property
    def scope(self) -> Scope:
        return Scope(self.organization, "test")

    @property
    def path(self) -> str:
        return f"/api/org/{self.organization}/events"

    async def ask(self, method: str, path: str = "", body: Any = None, person: Person | None = None) -> httpx.Response:
        headers = (person or self.owner).headers
        return await self.site.request(method, f"{self.path}{path}", json=body, headers=headers)

    def a_draft(self, **more: Any) -> dict[str, Any]:
        """What a client sends; `about` and `schedule` may be given in part."""
        about = {"title": "Summer night", "venue": {"name": "Coliseu", "city": "Porto", "country": "PT"}}
        schedule = {"startsAt": soon(), "endsAt": soon(hours=5), "timeZone": "Europe/Lisbon"}
        return {
            "currency": "EUR",
            "idempotencyKey": f"k{next(KEYS)}",
            **more,
            "about": about | more.get("about", {}),
            "schedule": schedule | more.get("schedule", {}),
        }

    async def drafted(self, **more: Any) -> dict[str, Any]:
        return self.fine(await self.ask("POST", body=self.a_draft(**more)), 201)

    async def published(self, types: list[dict[str, Any]] | None = None, **more: Any) -> dict[str, Any]:
        event = await self.drafted(**more)
        for each in types or []:
            event = await self.offered(event, **each)
        event = self.fine(await self.ask("POST", f"/{event['eventId']}/publish"))
        await self.relayed()
        return event

    async def offered(self, event: dict[str, Any], **terms: Any) -> dict[str, Any]:
        return self.fine(await self.offer(event, **terms), 201)

    async def offer(self, event: dict[str, Any], **terms: Any) -> httpx.Response:
        usual = {"name": "Standing", "priceMinor": 2500, "supply": {"capacity": 100}}
        body = {**usual, "idempotencyKey": f"k{next(KEYS)}", **terms}
        return await self.ask("POST", f"/{event['eventId']}/ticket-types", body)

    async def revise(self, event: dict[str, Any], kind: dict[str, Any], **terms: Any) -> httpx.Response:
        body = {"name": kind["name"], "priceMinor": kind["priceMinor"], "version": kind["version"], **terms}
        return await self.ask("PUT", f"/{event['eventId']}/ticket-types/{kind['ticketTypeId']}", body)

    async def rule(self, event: dict[str, Any], **policy: Any) -> httpx.Response:
        return await self.ask("PUT", f"/{event['eventId']}/access-policy", {"accessPolicy": policy})

    async def put_off(self, event: dict[str, Any], **schedule: Any) -> httpx.Response:
        now = await self.seen(event)
        kept = {name: now[name] for name in ("startsAt", "endsAt", "timeZone", "sessions", "version")}
        return await self.ask("PUT", f"/{event['eventId']}/schedule", kept | schedule)

    async def cancelled(self, event: dict[str, Any]) -> dict[str, Any]:
        answer = self.fine(await self.ask("POST", f"/{event['eventId']}/cancel", {"reasonCode": "WEATHER"}))
        await self.relayed()
        return answer

    async def seen(self, event: dict[str, Any]) -> dict[str, Any]:
        return self.fine(await self.ask("GET", f"/{event['eventId']}"))

    async def page(self, event: dict[str, Any], **query: Any) -> dict[str, Any]:
        return self.fine(await self.site.get(f"/api/events/{event['eventId']}", params=query))

    async def listed(self, **query: Any) -> list[str]:
        """The ids of what this organisation has on, as everybody sees it."""
        page = self.fine(await self.site.get(f"/api/organizations/{self.organization}/events", params=query))
        return [each["eventId"] for each in page["items"]]

    @staticmethod
    def fine(answer: httpx.Response, status: int = 200) -> dict[str, Any]:
        assert answer.status_code == status, answer.text
        told: dict[str, Any] = answer.json()
        return told

    async def relayed(self, database: Database | None = None) -> None:
        """Whatever was told of events reaches the lists, as a worker would bring it there."""
        rows = await self.superuser.fetch(
            "SELECT id, type, payload::text FROM kernel.event_log WHERE organization_id = $1 ORDER BY id",
            self.organization.uuid,
        )
        kinds = {each.fact.name: each.kind for each in announcing.SUBSCRIPTIONS}
        for row in rows:
            if row["type"] in kinds and row["id"] not in self.announced:
                self.announced.add(row["id"])
                await self.tell(kinds[row["type"]], row["payload"], database)

    async def tell(self, kind: Any, payload: str, database: Database | None = None) -> None:
        database, now = database or self.database, datetime.now(UTC)
        fact = msgspec.json.decode(payload, type=kind.carries, dec_hook=from_text)
        told = Delivered(uuid7(), self.organization, fact, Caller(), str(uuid7()), None, 1, now)
        await kind.work(Desk(database, Batcher(database)), told)

    async def sold(self, event: dict[str, Any]) -> None:
        """Somebody bought something."""
        own = EventId.parse(event["eventId"])

        async def sell(tx: Tx) -> None:
            await store.lock_events(tx, [own], lambda each: each)
            await store.mark_first_sale(tx, [own])

        await self.database.run(self.scope, sell)

    async def taken(self, kind: dict[str, Any], quantity: int, *, paid: bool = True) -> None:
        """Of the stock of a type."""
        pools = [kind["pool"]["poolId"], *kind["sharedPools"]]
        portions = tuple(stock.Portion(stock.PoolId.parse(own), kind["ticketTypeId"], quantity) for own in pools)
        hold = stock.HoldId.new()

        async def take(tx: Tx) -> None:
            until = tx.now + timedelta(minutes=10)
            kept = stock.Keep(None, hold, "order", IdentityId.new(), portions, until)
            [held] = await stock.keep(tx, [kept])
            assert isinstance(held, stock.Hold), held
            if paid:
                await stock.claim(tx, [stock.Claim(None, hold)])

        await self.database.run(self.scope, take)

    async def granted(
        self, event: dict[str, Any], session: str | None = None, policy: AccessPolicy | None = None
    ) -> Entitlement:
        """A right, as somebody who issues one reads the event."""
        own, order = EventId.parse(event["eventId"]), OrderId.new()

        async def give(tx: Tx) -> Entitlement:
            found = (await store.find_events(tx, [own]))[own]
            held = policy or (await store.find_policies(tx, [own]))[own]
            of = {str(each.id): each for each in (await store.find_sessions(tx, [own]))[own]}
            since, until = window_of(found, of[session] if session else None)
            wanted = Grant(
                caller=Caller(),
                emission_key=f"{order}:standing:0",
                source=Source(SourceType.TICKET_ORDER, str(order)),
                line_key="standing",
                owner=IdentityId.new(),
                kind=TICKET.name,
                label="Standing",
                valid_from=since,
                valid_until=until,
                policy=held.checkin,
                policy_version=held.version,
                event_id=str(own),
                session_id=session,
            )
            [given] = await grant(tx, [wanted])
            assert isinstance(given, Entitlement), given
            return given

        return await self.database.run(self.scope, give)


async def a_stage(site: httpx.AsyncClient, database: Database, superuser: asyncpg.Connection) -> Stage:
    owner = await a_person(database)
    return Stage(site, database, superuser, owner, await an_organization_of(database, owner))


def a_session_id() -> str:
    return str(SessionId.new())


def a_type_id() -> str:
    return str(TicketTypeId.new())
