"""Something to try: two organisations with staff of every role and something on sale, and one of those who run the
platform.

Promise: on a person's own machine only, where nobody else reaches us; laying it out again changes nothing. All of them
have the same password, which is printed, because everybody may know it.
"""

from datetime import timedelta
from typing import Final
from uuid import uuid5

from admitone.foundation.authority.api import PACKS, MemberRole, Membership, OrganizationModule, RolePack
from admitone.foundation.identity.api import NewAccount, Profile, create_accounts, hash_of
from admitone.foundation.organizations.api import Appointment, Founding, Settings, appoint, found, new_id
from admitone.kernel.db import Database, Tx
from admitone.kernel.ids import PLATFORM_ORGANIZATION, IdentityId, OrganizationId
from admitone.kernel.scope import Caller, PeopleScope, Scope
from admitone.kernel.words import Language
from admitone.verticals.events import api as events

PASSWORD: Final = "an open door 2026"  # noqa: S105  Of the demonstration, for everybody.
PLATFORM_ADMIN: Final = "admin@admitone.example"
Module = OrganizationModule

CLUB: Final = "aurora"
HALL: Final = "bravo"
ORGANIZATIONS: Final = {
    CLUB: (Settings("Clube Aurora", time_zone="Europe/Lisbon", language=Language.PORTUGUESE), frozenset(Module)),
    HALL: (
        Settings("Sala Bravo", default_currency="BRL", time_zone="America/Sao_Paulo", language=Language.BRAZILIAN),
        frozenset({Module.EVENTOS, Module.FINANCEIRO, Module.CRM}),
    ),
}


EVENINGS: Final = {
    CLUB: ("Noite de Verão", events.Venue("Clube Aurora", "Rua das Flores 12", "Porto", "PT")),
    HALL: ("Roda de Samba", events.Venue("Sala Bravo", "Rua Augusta 1500", "São Paulo", "BR")),
}


def staff_of(house: str) -> dict[str, Membership]:
    """Whom a house has, by address: every role once, and every pack once."""
    by_role = {f"{_word(role)}@{house}.example": Membership(role) for role in MemberRole}
    by_pack = {f"{_word(pack)}@{house}.example": Membership(PACKS[pack][0], pack) for pack in RolePack}
    return {**by_role, **by_pack}


def _word(name: str) -> str:
    return name.lower().replace("_", "")


async def lay_out(database: Database) -> list[str]:
    """Whom one can be, by address."""
    houses = {house: staff_of(house) for house in ORGANIZATIONS}
    everybody = [PLATFORM_ADMIN, *(email for staff in houses.values() for email in staff)]
    people = await _introduce(database, everybody)
    for house, staff in houses.items():
        await _open(database, house, {email: people[email] for email in staff})
    owners = [Appointment(Caller(), people[PLATFORM_ADMIN], Membership(MemberRole.OWNER))]
    await database.run(Scope(PLATFORM_ORGANIZATION, "demo"), lambda tx: appoint(tx, owners))
    return everybody


async def _introduce(database: Database, emails: list[str]) -> dict[str, IdentityId]:
    hashed = await hash_of(PASSWORD)
    accounts = [
        NewAccount(Caller(), Profile(email, _name_of(email), Language.ENGLISH), hashed, is_verified=True)
        for email in emails
    ]
    identities = await database.run(PeopleScope("demo"), lambda tx: create_accounts(tx, accounts))
    return {email: who for email, who in zip(emails, identities, strict=True) if isinstance(who, IdentityId)}


def _name_of(email: str) -> str:
    who, _, house = email.removesuffix(".example").partition("@")
    return f"{who.title()} of {house.title()}"


async def _open(database: Database, house: str, people: dict[str, IdentityId]) -> OrganizationId:
    settings, modules = ORGANIZATIONS[house]
    owner = Caller(people[f"owner@{house}.example"])
    own = new_id(owner, f"demo:{house}")
    scope = Scope(own, "demo")
    await database.run(scope, lambda tx: found(tx, [Founding(owner, own, settings, modules)]))
    appointments = [Appointment(owner, people[email], member) for email, member in staff_of(house).items()]
    await database.run(scope, lambda tx: appoint(tx, appointments))
    await database.run(scope, lambda tx: _put_on(tx, owner, house))
    return own


async def _put_on(tx: Tx, owner: Caller, house: str) -> None:
    """An evening a month from now, with tickets for money and some for nothing."""
    title, venue = EVENINGS[house]
    settings, _ = ORGANIZATIONS[house]
    event = events.EventId(uuid5(tx.scope.organization.uuid, "event"))
    if await events.find_events(tx, [event]):
        return
    begins = tx.now.replace(minute=0, second=0, microsecond=0) + timedelta(days=30)
    schedule = events.Schedule(begins, begins + timedelta(hours=4), settings.time_zone)
    drafted = events.Draft(
        owner, event, events.About(title, venue=venue), schedule, settings.default_currency, events.AccessPolicy(1)
    )
    await events.draft(tx, [drafted])
    for name, price, places in (("Standing", 2500, 300), ("Guest list", 0, 40)):
        kind = events.TicketTypeId(uuid5(event.uuid, name))
        terms = events.Terms(name, price, allows_zero=not price)
        await events.offer(tx, [events.Offering(owner, event, kind, terms, events.Supply(places))])
    await events.publish(tx, [events.Publishing(owner, event)])
