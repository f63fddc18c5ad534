"""Scopes: who may see which rows in a transaction, as a type.

Promise: no transaction without a scope. Each kind of scope belongs to one kind of transaction (`kernel.db`), one
database role and the row level security policies bound to that role, so what Python believes and what PostgreSQL
allows cannot drift apart.
"""

from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

import msgspec

from admitone.kernel.ids import IdentityId, OrganizationId, uuid7


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
class PlatformScope:
    """Work that belongs to no organisation, under a role of its own; the code that opens it says why."""

    reason: str
    role: Role

    def __post_init__(self) -> None:
        if not self.reason.strip():
            raise ValueError("platform work needs a reason")
        if self.role in (Role.APP, Role.BUYER):
            raise ValueError(f"{self.role} always works for an organisation or a person")

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
