"""A shop behind the real authority: what sells, what gives money back, what lets people in.

Its handlers only say as whom they were called; what matters is whether they are.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

import httpx
import pytest
from msgspec import Meta

from admitone.entrypoints.http import assemble
from admitone.entrypoints.modules import MODULES
from admitone.foundation.authority.api import TableAuthority
from admitone.kernel.authority import Ask, Audience, AuthorityReader
from admitone.kernel.batch import Batcher
from admitone.kernel.clock import Clock
from admitone.kernel.config import Config
from admitone.kernel.contracts import Call, Contract, Example, Wire
from admitone.kernel.db import Database
from admitone.kernel.ids import IdentityId, OrganizationId, uuid7
from admitone.kernel.manifest import Module
from admitone.kernel.scope import Caller
from tests.people import Person

GATE = "wallet.passes"
EventKey = Annotated[str, Meta(pattern="^evt_[0-9a-f]{32}$", max_length=36)]


class Nothing(Wire):
    """Whoever comes need not say anything."""

    why: Annotated[str, Meta(max_length=100)] = ""


class Purchase(Wire):
    event: EventKey
    seller: OrganizationId


class Served(Wire):
    """As whom somebody was let in."""

    identity: IdentityId | None
    organization: OrganizationId | None
    device: str | None


SOMEBODY = Served(identity=None, organization=None, device=None)
A_PURCHASE = Purchase(event=f"evt_{'0' * 32}", seller=OrganizationId(uuid7()))


def guards_of(purchase: Purchase) -> tuple[str, ...]:
    return (f"event:{purchase.event}", f"organization:{purchase.seller}")


def sells(name: str, audience: Audience, *, takes: type[Wire] = Nothing, **said: Any) -> Contract:
    at = "/api/org/{organizationId}/shop/" if audience is Audience.ORGANIZATION else "/api/shop/"
    contract = Contract(
        id=f"SHOP.{name.upper()}",
        version="1.0.0",
        owner="shop",
        consumers=("tests",),
        summary=f"The shop: {name}.",
        post=f"{at}{name}",
        takes=takes,
        gives=Served,
        audience=audience,
        repeats="none (no side effects)",
        order_key="none",
        examples=(Example("done", takes=A_PURCHASE if takes is Purchase else Nothing(), gives=SOMEBODY),),
        **said,
    )

    async def serve(call: Call, request: Any) -> Served:
        return Served(identity=call.identity, organization=call.organization, device=call.caller.device)

    serve.__annotations__["request"] = takes
    contract.serves(serve)
    return contract


PERSON, ORGANIZATION, PUBLIC, ADMIN = Audience.PERSON, Audience.ORGANIZATION, Audience.PUBLIC, Audience.ADMIN

CONTRACTS = (
    sells("checkout", PERSON, takes=Purchase, stoppable=True, guards=guards_of),
    sells("guest", PUBLIC, takes=Purchase, stoppable=True, guards=guards_of),
    sells("transfer", PERSON, stoppable=True),
    sells("publish", ORGANIZATION, permission="EVENTS_RW", stoppable=True),
    sells("refund", ORGANIZATION, permission="FINANCE_RW"),
    sells("checkin", ORGANIZATION, permission="CHECKIN_RW"),
    sells("events", ORGANIZATION, permission="EVENTS_R"),
    sells("me", PERSON),
    sells("browse", PUBLIC, recognizes=True),
    sells("operate", ADMIN, permission="PLATFORM_R"),
    sells("pass", PERSON, gate=GATE),
    sells("passes", ORGANIZATION, permission="EVENTS_R", gate=GATE, stoppable=True),
    sells("secret", ADMIN, permission="PLATFORM_RW", gate=GATE),
)
SHOP = Module(
    "shop",
    contracts=CONTRACTS,
    permissions=("EVENTS_RW", "EVENTS_R", "FINANCE_RW", "CHECKIN_RW", "PLATFORM_R", "PLATFORM_RW"),
)


@pytest.fixture(scope="session")
async def street(database_url: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[httpx.AsyncClient]:
    """All that is served, and the shop."""
    surroundings = {"DATABASE_URL": database_url, "ADMITONE_DATA": str(tmp_path_factory.mktemp("shop"))}
    application = assemble(Config.load(surroundings), [*MODULES, SHOP], TableAuthority(), strict=True)
    await application.start()
    transport = httpx.ASGITransport(application.edge, client=("203.0.113.10", 4711))
    async with httpx.AsyncClient(transport=transport, base_url="http://shop.test") as client:
        yield client
    await application.close()


def an_event() -> str:
    return f"evt_{uuid7().hex}"


def soon(**later: float) -> datetime:
    return datetime.now(UTC) + timedelta(**(later or {"hours": 1}))


async def visit(street: httpx.AsyncClient, name: str, who: Person | str | None, **body: Any) -> httpx.Response:
    """Call the shop, as a person or with a key, in the organisation that is named by `at`."""
    at = body.pop("at", None)
    token = who.access_token if isinstance(who, Person) else who
    headers = {"authorization": f"Bearer {token}"} if token else {}
    path = f"/api/org/{at}/shop/{name}" if at else f"/api/shop/{name}"
    return await street.post(path, json={key: str(value) for key, value in body.items()}, headers=headers)


async def turn(street: httpx.AsyncClient, admin: Person, path: str, **body: Any) -> httpx.Response:
    """As one of those who run the installation: `switches/stop`, `switches/lift`, `features/wallet.passes/on`."""
    said = {"reasonCode": "FRAUD_SUSPECTED", "caseReference": "case-1", **body}
    if path == "switches/stop":
        said.setdefault("expiresAt", soon().isoformat())
    return await street.post(f"/api/admin/{path}", json=said, headers=admin.headers)


def code_of(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json().get("errorCode", "") if answer.content else ""


DONE = (200, "")


@dataclass(frozen=True, slots=True)
class StandingClock(Clock):
    """A clock that stands still."""

    instant: datetime = field(kw_only=True)

    def at(self, database_time: datetime) -> datetime:
        return self.instant


async def ask_at(database_url: str, instant: datetime, ask: Ask) -> Any:
    """What the authority says to somebody who asks at that very instant."""
    async with Database(database_url, clock=StandingClock(instant=instant)) as database:
        return await AuthorityReader(Batcher(database), TableAuthority()).ask(ask)


def an_ask(audience: Audience, credential: str | None = None, **said: Any) -> Ask:
    values = {"organization": None, "permission": None, "gate": None, "caller": Caller(address=f"a-{uuid7()}"), **said}
    return Ask(audience, credential, **values)
