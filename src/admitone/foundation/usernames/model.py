"""Who goes by a name, who wants one, and what comes of it."""

from datetime import datetime
from enum import StrEnum
from uuid import UUID

import msgspec

from admitone.kernel.ids import IdentityId, OrganizationId
from admitone.kernel.scope import Caller

Owner = OrganizationId | IdentityId


class OwnerType(StrEnum):
    USER = "USER"
    ORGANIZATION = "ORGANIZATION"

    @classmethod
    def of(cls, owner: Owner) -> "OwnerType":
        return cls.ORGANIZATION if isinstance(owner, OrganizationId) else cls.USER

    def owner(self, uuid: UUID) -> Owner:
        return OrganizationId(uuid) if self is OwnerType.ORGANIZATION else IdentityId(uuid)


class Claim(msgspec.Struct, frozen=True):
    """An organisation, the one of the transaction, wants to go by this text."""

    caller: Caller
    text: str


class PersonalClaim(msgspec.Struct, frozen=True):
    """A person wants to go by this text."""

    caller: Caller
    person: IdentityId
    text: str


class PersonalRelease(msgspec.Struct, frozen=True):
    """A person wants to go by no name any more."""

    caller: Caller
    person: IdentityId


class Outcome(StrEnum):
    """What the registry says to a claim."""

    CLAIMED = "CLAIMED"
    KEPT = "KEPT"
    TAKEN = "TAKEN"
    COOLDOWN = "COOLDOWN"


class Verdict(msgspec.Struct, frozen=True):
    outcome: Outcome
    until: datetime | None
    """When the last hold of the owner on a name that they left ends."""


class Claimed(msgspec.Struct, frozen=True):
    """The name is the owner's now, or was before."""

    username: str
    is_new: bool


class Resolved(msgspec.Struct, frozen=True):
    """What a name means: its owner, or nobody while it is held for a former one, who is not told."""

    username: str
    owner: Owner | None

    @property
    def is_held(self) -> bool:
        return self.owner is None
