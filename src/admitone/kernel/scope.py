"""Scopes: who may see which rows in a transaction, as a type.

Promise: no transaction without a scope. Each kind of scope belongs to one kind of transaction (`kernel.db`), one
database role and the row level security policies bound to that role, so what Python believes and what PostgreSQL
allows cannot drift apart.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final
from uuid import UUID

import msgspec

from admitone.kernel.ids import IdentityId, OrganizationId, uuid7

GLOBAL: Final = "GLOBAL"
"""The reserved city of what belongs to none."""
EVERY_CITY: Final = "*"
_CITY = re.compile(r"[A-Z]{3,8}")


class Role(StrEnum):
    """The runtime roles of the database. None of them owns a table or bypasses row level security."""

    APP = "admitone_app"
    BUYER = "admitone_buyer"
    IDENTITY = "admitone_identity"
    AUTHORITY = "admitone_authority"
    RELAY = "admitone_relay"
    MAINTENANCE = "admitone_maintenance"


@dataclass(frozen=True, slots=True)
class Scope:
    """One organisation's rows. The purpose is for the reader of the code that opens it."""

    organization: OrganizationId
    purpose: str = "request"
    cities: tuple[str, ...] | None = None
    """Of the rows that belong to a city only those of these; left out, of every city that the organisation has."""

    def __post_init__(self) -> None:
        for city in self.cities or ():
            if not _CITY.fullmatch(city):
                raise ValueError(f"{city!r} is no city code")

    @property
    def city_codes(self) -> str:
        """As the policies read it. No city at all is no row at all."""
        return EVERY_CITY if self.cities is None else ",".join(self.cities)

    @property
    def role(self) -> Role:
        return Role.APP


@dataclass(frozen=True, slots=True)
class IdentityScope:
    """One person's own rows across organisations, to read."""

    identity: IdentityId
    purpose: str = "request"

    @property
    def role(self) -> Role:
        return Role.BUYER


@dataclass(frozen=True, slots=True)
class PeopleScope:
    """People's own rows, to read and write: sign-in, profiles, claims. Facts, jobs and audit entries that come of it
    belong to the platform's own organisation, because a person belongs to none."""

    purpose: str = "request"

    @property
    def role(self) -> Role:
        return Role.IDENTITY


@dataclass(frozen=True, slots=True)
class PlatformScope:
    """Work that belongs to no organisation, under a role of its own; the code that opens it says why."""

    reason: str
    role: Role

    def __post_init__(self) -> None:
        if not self.reason.strip():
            raise ValueError("platform work needs a reason")
        if self.role in (Role.APP, Role.BUYER, Role.IDENTITY):
            raise ValueError(f"{self.role} always works for an organisation or for people")

    @property
    def purpose(self) -> str:
        return self.reason


class Caller(msgspec.Struct, frozen=True):
    """On whose behalf one input runs; a batch has many callers, so this travels with each input."""

    actor: IdentityId | None = None
    correlation_id: UUID = msgspec.field(default_factory=uuid7)
    causation_id: UUID | None = None
    device: str | None = None
    address: str | None = None

    @property
    def key(self) -> str:
        """What tells callers apart where nothing else does: the person, else the device, else the address."""
        return str(self.actor) if self.actor else f"{self.device or ''}@{self.address or ''}"
