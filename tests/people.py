"""People, their organisations and what they are there, as tests need them: committed, and known to the real authority.

owner = await a_person(database)
club = await an_organization_of(database, owner)
desk = await a_member(database, club, MemberRole.STAFF, RolePack.FRONT_DESK)
answer = await site.get(f"/api/org/{club}/…", headers=desk.headers)
"""

from collections.abc import AsyncIterator, Collection
from dataclasses import dataclass
from itertools import count

import httpx
import pytest

from admitone.entrypoints.http import Application, assemble
from admitone.entrypoints.modules import MODULES
from admitone.foundation.authority import api as authority
from admitone.foundation.authority.api import Denial, Level, MemberRole, Membership, OrganizationModule, RolePack
from admitone.foundation.identity.model import IdentityType, Profile
from admitone.foundation.identity.store import people
from admitone.foundation.identity.store.people import NewIdentity
from admitone.foundation.organizations.commands.founding import found
from admitone.foundation.organizations.model import Founded, Founding, Settings
from admitone.foundation.organizations.policy import FROM_THE_START
from admitone.kernel.config import Config
from admitone.kernel.db import Database, PeopleTx
from admitone.kernel.ids import PLATFORM_ORGANIZATION, IdentityId, OrganizationId
from admitone.kernel.scope import Caller, PeopleScope, Scope
from admitone.kernel.words import Language
from tests.mails import an_address

EVERY_MODULE = frozenset(OrganizationModule)
CLIENTS = count()


@pytest.fixture(scope="session")
async def application(database_url: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Application]:
    """All that `admitone serve` serves, behind the real edge and the real authority, on this worker's database."""
    surroundings = {"DATABASE_URL": database_url, "ADMITONE_DATA": str(tmp_path_factory.mktemp("home"))}
    application = assemble(Config.load(surroundings), MODULES, authority.TableAuthority(), strict=True)
    await application.start()
    yield application
    await application.close()


@pytest.fixture
async def site(application: Application) -> AsyncIterator[httpx.AsyncClient]:
    """Our API as a client sees it, from an address of its own: limits count by address."""
    number = next(CLIENTS)
    transport = httpx.ASGITransport(application.edge, client=(f"100.64.{number // 250}.{number % 250 + 1}", 4711))
    async with httpx.AsyncClient(transport=transport, base_url="http://admitone.test") as client:
        yield client


@dataclass(frozen=True)
class Person:
    """Somebody who is signed in."""

    identity: IdentityId
    access_token: str
    email: str = ""

    @property
    def headers(self) -> dict[str, str]:
        return {"authorization": f"Bearer {self.access_token}"}

    @property
    def caller(self) -> Caller:
        return Caller(self.identity)


async def a_person(
    database: Database, *, confirmed: bool = True, email: str | None = None, identity: IdentityId | None = None
) -> Person:
    """Somebody new who has just signed in, or who is there already and does so once more; with a database whose clock
    is behind, somebody who did so a while ago."""
    who, address = identity or IdentityId.new(), email or an_address()

    async def sign_up(tx: PeopleTx) -> str:
        verified_at = tx.now if confirmed else None
        if identity is None:
            await people.insert_identities(tx, [NewIdentity(who, IdentityType.USER, address, verified_at, tx.now)])
            await people.put_profiles(tx, {who: Profile(address, "Ana", Language.ENGLISH)})
        [opened] = await authority.open_sessions(tx, [authority.Opening(who, authority.Method.PASSWORD, verified_at)])
        return opened.access_token

    return Person(who, await database.run(PeopleScope("test"), sign_up), address)


async def an_organization_of(
    database: Database, owner: Person, modules: Collection[str] = EVERY_MODULE
) -> OrganizationId:
    """An organisation that is a group of its own, with these modules on."""
    return await _founded(database, OrganizationId.new(), None, owner, modules)


async def a_branch_of(
    database: Database, mother: OrganizationId, modules: Collection[str] = EVERY_MODULE
) -> OrganizationId:
    return await _founded(database, OrganizationId.new(), mother, None, modules)


async def _founded(
    database: Database,
    own: OrganizationId,
    mother: OrganizationId | None,
    owner: Person | None,
    modules: Collection[str],
) -> OrganizationId:
    caller = owner.caller if owner else Caller(IdentityId.new())
    wanted = Founding(caller, mother or own, Settings("Clube do Porto"), frozenset(modules))
    [founded] = await database.run(Scope(own, "test"), lambda tx: found(tx, [wanted]))
    assert isinstance(founded, Founded)
    if off := FROM_THE_START - set(modules):
        await database.run(Scope(own, "test"), lambda tx: authority.put_modules(tx, dict.fromkeys(off, False)))
    return own


async def a_member(
    database: Database,
    group: OrganizationId,
    role: MemberRole,
    pack: RolePack | None = None,
    *,
    scopes: tuple[str, ...] = (),
    branches: tuple[OrganizationId, ...] | None = None,
    person: Person | None = None,
) -> Person:
    """A member of the group that this organisation is the mother of."""
    person = person or await a_person(database)
    within = None if branches is None else tuple(branch.uuid for branch in branches)
    membership = Membership(role, pack, scopes, Level.GROUP, within)
    await database.run(Scope(group, "test"), lambda tx: authority.put_members(tx, {person.identity.uuid: membership}))
    return person


async def an_override(database: Database, branch: OrganizationId, person: Person, instead: Membership | Denial) -> None:
    """What somebody is in this branch, whatever they are in its group."""
    await database.run(Scope(branch, "test"), lambda tx: authority.put_overrides(tx, {person.identity.uuid: instead}))


async def a_platform_admin(database: Database, role: MemberRole = MemberRole.ADMIN) -> Person:
    """One of those who run the installation."""
    return await a_member(database, PLATFORM_ORGANIZATION, role)
