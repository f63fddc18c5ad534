"""What tests of the registry share: names that nobody else uses, organisations, and other days."""

import random
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from admitone.foundation.usernames import api
from admitone.foundation.usernames.api import Claim, Claimed, PersonalClaim, PersonalRelease, Resolved
from admitone.kernel.db import Database
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import IdentityId, OrganizationId
from admitone.kernel.scope import PeopleScope, Scope
from admitone.kernel.transactions import Transaction
from tests.builders import a_caller, an_organization

Result = TypeVar("Result")

PEOPLE = PeopleScope("test")
TODAY = datetime.now(UTC)
AN_INSTANT = timedelta(microseconds=1)


def day(number: float) -> datetime:
    """So many days, of 24 hours each, after the test began."""
    return TODAY + timedelta(days=number)


def a_name(beginning: str = "n") -> str:
    """One that nobody has: tests share their database. Without vowels it is no word, so it is not reserved either."""
    return f"{beginning}.{''.join(random.choices('bcdfghjkmnpqrvwz', k=12))}"


def on(when: datetime, work: Callable[[Any], Awaitable[Result]]) -> Callable[[Any], Awaitable[Result]]:
    """The work, done at exactly that instant."""

    async def then(tx: Transaction) -> Result:
        tx.now = when
        return await work(tx)

    return then


async def claim(
    database: Database, *wanted: tuple[IdentityId, str], at: datetime | None = None
) -> list[Claimed | Refusal]:
    """People claim names, in one call."""
    claims = [PersonalClaim(a_caller(), person, name) for person, name in wanted]
    return await database.run(PEOPLE, on(at or TODAY, lambda tx: api.claim_for_people(tx, claims)), patient=True)


async def release(database: Database, *people: IdentityId, at: datetime | None = None) -> list[bool]:
    releases = [PersonalRelease(a_caller(), person) for person in people]
    return await database.run(PEOPLE, on(at or TODAY, lambda tx: api.release_of_people(tx, releases)), patient=True)


class Holder:
    """An organisation that claims and releases, on days of the test's choosing."""

    def __init__(self, database: Database, scope: Scope) -> None:
        self.database = database
        self.scope = scope

    @property
    def id(self) -> OrganizationId:
        return self.scope.organization

    async def claims(self, *names: str, at: datetime | None = None) -> Claimed | Refusal:
        """The outcome of the last one."""
        return (await self.claims_all(*names, at=at))[-1]

    async def claims_all(self, *names: str, at: datetime | None = None) -> list[Claimed | Refusal]:
        claims = [Claim(a_caller(), name) for name in names]
        return await self.database.run(
            self.scope, on(at or TODAY, lambda tx: api.claim_for_organization(tx, claims)), patient=True
        )

    async def releases(self, *, at: datetime | None = None) -> bool:
        work = on(at or TODAY, lambda tx: api.release_of_organization(tx, a_caller()))
        return await self.database.run(self.scope, work, patient=True)

    async def name(self) -> str | None:
        return await self.database.read(self.scope, api.find_own)


async def a_holder(database: Database, *names: str) -> Holder:
    """An organisation that claimed these names one after another, on the first day."""
    holder = Holder(database, await an_organization(database))
    for name in names:
        outcome = await holder.claims(name)
        assert isinstance(outcome, Claimed), outcome
    return holder


async def whose(database: Database, name: str, *, at: datetime | None = None) -> Resolved | None:
    [resolved] = await database.read(PEOPLE, on(at or TODAY, lambda tx: api.resolve(tx, [name])))
    return resolved
