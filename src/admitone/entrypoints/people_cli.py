"""People and organisations, as an operator types them: before anybody can sign in, somebody must be there; and when an
account was stolen, somebody must look who it is and put everybody out."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, TypeVar
from uuid import UUID

import typer

from admitone.entrypoints.asking import Data, Misunderstood, config_of, on_people, require_own_machine
from admitone.entrypoints.demo import PASSWORD, Ground, find_club, lay_out, lines_of, signs_of
from admitone.entrypoints.http import database_url
from admitone.entrypoints.wiring import wire
from admitone.foundation.authority.api import (
    PACKS,
    READING,
    Level,
    MemberRole,
    Membership,
    OrganizationModule,
    RolePack,
    find_overrides,
    list_organizations,
    membership_in,
)
from admitone.foundation.identity.api import (
    Expulsion,
    InvalidEmail,
    NewAccount,
    Profile,
    create_accounts,
    expel,
    find_by_email,
    find_people,
    hash_of,
    normalise_email,
    refuse_weak,
)
from admitone.foundation.organizations.api import (
    Appointment,
    Founding,
    Invite,
    Settings,
    appoint,
    found,
    invite,
    new_id,
    see_off,
)
from admitone.kernel.db import Database, PeopleTx
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import PLATFORM_ORGANIZATION, IdentityId, OrganizationId, uuid7
from admitone.kernel.scope import Caller, PeopleScope, Scope
from admitone.kernel.texts import name_of
from admitone.kernel.words import Language

Result = TypeVar("Result")
PLATFORM = "platform"
MOST_ORGANIZATIONS = 200
FIRST = UUID(int=0)

person_app = typer.Typer(help="People: accounts that an operator makes, looks at and puts out.")
organization_app = typer.Typer(help="Organisations: founded, and staffed.")

Email = Annotated[str, typer.Argument(help="Whose address.")]
Where = Annotated[str, typer.Argument(help=f"Its id (org_…), or `{PLATFORM}` for those who run the installation.")]
Role = Annotated[MemberRole, typer.Option(help="What they are to be.")]
Pack = Annotated[RolePack | None, typer.Option(help="A preset of scopes; it comes with its own role.")]


@person_app.command("create")
def create_person(
    email: Email,
    name: Annotated[str | None, typer.Option(help="What they are called.")] = None,
    language: Annotated[Language, typer.Option(help="In which they are written to.")] = Language.ENGLISH,
    verified: Annotated[bool, typer.Option(help="The operator knows that the address is theirs.")] = False,
    password: Annotated[bool, typer.Option(help="Ask for a password; without one they sign in by code.")] = True,
    data: Data = None,
) -> None:
    """Make an account; whoever has the address already stays who they are."""
    address, called = _address(email), _name(name)
    chosen = typer.prompt("Password", hide_input=True, confirmation_prompt=True) if password else None

    async def create(database: Database) -> IdentityId:
        hashed = None
        if chosen is not None:
            refuse_weak(chosen, address)
            hashed = await hash_of(chosen)
        account = NewAccount(Caller(), Profile(address, called, language), hashed, is_verified=verified)
        [identity] = await database.run(PeopleScope("operator"), lambda tx: create_accounts(tx, [account]))
        assert isinstance(identity, IdentityId)
        return identity

    print(_done(data, create))


@person_app.command("show")
def show_person(email: Email, data: Data = None) -> None:
    """Who has an address: the id, since when, whether it was proved, and where they are members. Nothing else."""
    address = _address(email)

    async def look(database: Database) -> str:
        identity = await _known(database, address)
        known = await database.read(PeopleScope("operator"), find_people, [identity])
        found = await database.read(READING, list_organizations, identity.uuid, FIRST, MOST_ORGANIZATIONS)
        proved, since = known[identity]["email_verified_at"], known[identity]["created_at"]
        lines = [
            str(identity),
            f"Since     {since:%Y-%m-%d %H:%M} UTC",
            f"Verified  {f'{proved:%Y-%m-%d %H:%M} UTC' if proved else 'no'}",
        ]
        for organization, _, member, override in found:
            if membership := membership_in(organization, member, override):
                lines.append(f"Member    {OrganizationId(organization)} {membership.pack or membership.role}")
        return "\n".join(lines)

    print(_done(data, look))


@person_app.command("sign-out")
def sign_person_out(
    email: Email,
    reason: Annotated[str, typer.Option(help="Why, for the trail, as in ACCOUNT_TAKEOVER.")] = "BY_OPERATOR",
    data: Data = None,
) -> None:
    """End every session of somebody. They can sign in again: to keep them out, stop the identity first."""
    address = _address(email)

    async def put_out(database: Database) -> str:
        expulsion = Expulsion(Caller(), await _known(database, address), reason)
        [ended] = await database.run(PeopleScope("operator"), lambda tx: expel(tx, [expulsion]))
        return f"{expulsion.identity} is signed out: {_or_refusal(ended)} sessions ended."

    print(_done(data, put_out))


@organization_app.command("create")
def create_organization(
    name: Annotated[str, typer.Argument(help="What it is called.")],
    owner: Annotated[str, typer.Option(help="The address of whoever owns it.")],
    modules: Annotated[
        list[OrganizationModule] | None, typer.Option("--module", help="Switched on; all, unless said.")
    ] = None,
    data: Data = None,
) -> None:
    """Found an organisation for somebody who has an account."""
    address = _address(owner)

    async def create(database: Database) -> OrganizationId:
        caller = Caller(await _known(database, address))
        own = new_id(caller, str(uuid7()))
        founding = Founding(caller, own, Settings(name), frozenset(modules or OrganizationModule))
        [outcome] = await database.run(Scope(own, "operator"), lambda tx: found(tx, [founding]))
        return _or_refusal(outcome).id

    print(_done(data, create))


@organization_app.command("grant")
def grant_role(organization: Where, email: Email, role: Role, pack: Pack = None, data: Data = None) -> None:
    """Make somebody who has an account a member, or something else than they were."""
    own, address = _organization(organization), _address(email)

    async def grant(database: Database) -> str:
        appointment = Appointment(Caller(), await _known(database, address), Membership(_role_of(role, pack), pack))
        [outcome] = await database.run(Scope(own, "operator"), lambda tx: appoint(tx, [appointment]))
        _or_refusal(outcome)
        return f"{address} is {pack or role} of {own}."

    print(_done(data, grant))


@organization_app.command("invite")
def invite_member(
    organization: Annotated[str, typer.Argument(help="Its id (org_…).")],
    email: Email,
    role: Role,
    by: Annotated[str, typer.Option(help="The address of a member who may: the invitation is theirs.")],
    pack: Pack = None,
    data: Data = None,
) -> None:
    """Send somebody an invitation by mail; they become a member when they accept it."""
    if organization == PLATFORM:
        raise Misunderstood(f"Nobody is invited to run the installation: use `admitone organization grant {PLATFORM}`.")
    own, address, inviter = _organization(organization), _address(email), _address(by)

    async def send(database: Database) -> str:
        membership = Membership(_role_of(role, pack), pack, level=Level.GROUP)
        by_whom = await _known(database, inviter)
        instead = await database.read(READING, find_overrides, own.uuid, by_whom.uuid)
        asked = Invite(Caller(by_whom), address, membership, instead=instead)
        [outcome] = await database.run(Scope(own, "operator"), lambda tx: invite(tx, [asked]))
        return f"{address} is invited until {_or_refusal(outcome).expires_at:%Y-%m-%d %H:%M} UTC."

    print(_done(data, send))


@organization_app.command("remove")
def remove_member(organization: Where, email: Email, data: Data = None) -> None:
    """Take somebody out of an organisation and all its branches; the last owner stays."""
    own, address = _organization(organization), _address(email)

    async def remove(database: Database) -> str:
        await see_off(database, own, await _known(database, address))
        return f"{address} is nobody in {own} any more."

    print(_done(data, remove))


def seed(data: Data = None) -> None:
    """Lay out the demonstration: two organisations with staff of every role. Not in production."""
    config = config_of(data)
    require_own_machine(config)
    wire(config)

    async def work() -> list[str]:
        async with Ground.of(database_url(config), config) as ground:
            people = await lay_out(ground)
            club = await find_club(ground.database)
            assert club is not None
            return [*lines_of(signs_of(f"http://127.0.0.1:{config.port}", club)), "", *people]

    print("\n".join([f"Everybody's password is: {PASSWORD}", *asyncio.run(work())]))


def _done(data: Path | None, work: Callable[[Database], Awaitable[Result]]) -> Result:
    try:
        return on_people(data, work)
    except Refusal as refusal:
        raise Misunderstood(f"{refusal.message()} {refusal.next_step}".strip()) from None


def _address(text: str) -> str:
    try:
        return normalise_email(text)
    except InvalidEmail:
        raise Misunderstood(f"{text} is no e-mail address.") from None


def _name(text: str | None) -> str | None:
    try:
        return text if text is None else name_of(text)
    except ValueError:
        raise Misunderstood("This is no name that can be read.") from None


def _organization(text: str) -> OrganizationId:
    return PLATFORM_ORGANIZATION if text == PLATFORM else OrganizationId.parse(text)


def _role_of(role: MemberRole, pack: RolePack | None) -> MemberRole:
    if pack and PACKS[pack][0] is not role:
        raise Misunderstood(f"{pack} comes with the role {PACKS[pack][0]}.")
    return role


async def _known(database: Database, address: str) -> IdentityId:
    async def look(tx: PeopleTx) -> IdentityId | None:
        return (await find_by_email(tx, [address])).get(address)

    identity = await database.read(PeopleScope("operator"), look)
    if identity is None:
        raise Misunderstood(f"{address} has no account; make one with `admitone person create {address}`.")
    return identity


def _or_refusal(outcome: Result | Refusal) -> Result:
    if isinstance(outcome, Refusal):
        raise outcome
    return outcome
