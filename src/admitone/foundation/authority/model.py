"""What authority is made of: roles, packs, scopes, memberships, credentials, switches."""

import re
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final
from uuid import UUID

import msgspec

from admitone.kernel.ids import Id, IdentityId, InvalidId, OrganizationId

ACCESS_LASTS: Final = timedelta(minutes=15)
REFRESH_LASTS: Final = timedelta(days=30)
SESSION_LASTS: Final = timedelta(days=90)
"""However often it is refreshed."""
AT_THE_SAME_MOMENT: Final = timedelta(seconds=10)
"""Pages of one browser that wake up together renew one session each by itself; that is no theft."""
STEP_UP_LASTS: Final = timedelta(minutes=10)
"""For so long a proof counts as recent (GAP-16)."""
STOP_LASTS_AT_MOST: Final = timedelta(days=90)
"""Whoever wants longer looks at the case again, and says so again."""
_EVENT = re.compile(r"[a-z]{2,12}_[0-9a-f]{32}", re.ASCII)


class SessionId(Id, prefix="ses"):
    """One person signed in on one device."""


class ServiceKeyId(Id, prefix="key"):
    """One key of a program or a device."""


class MemberRole(StrEnum):
    """In the order of their rank."""

    OWNER = "OWNER"
    CO_OWNER = "CO_OWNER"
    ADMIN = "ADMIN"
    STAFF = "STAFF"
    TRAINER = "TRAINER"
    PROMOTER = "PROMOTER"
    VIEWER = "VIEWER"


class RolePack(StrEnum):
    CLUB_MANAGER = "CLUB_MANAGER"
    TOURNAMENT_DIRECTOR = "TOURNAMENT_DIRECTOR"
    FRONT_DESK = "FRONT_DESK"
    COACH = "COACH"
    REFEREE = "REFEREE"


class OrganizationModule(StrEnum):
    """What an organisation can switch on."""

    EVENTOS = "EVENTOS"
    TORNEIOS = "TORNEIOS"
    RESERVAS = "RESERVAS"
    FINANCEIRO = "FINANCEIRO"
    CRM = "CRM"
    LOJA = "LOJA"
    STAFF = "STAFF"
    DEFINICOES = "DEFINICOES"


class Level(StrEnum):
    """Where a membership was given."""

    GROUP = "GROUP"
    BRANCH = "BRANCH"


class Membership(msgspec.Struct, frozen=True):
    """What a person is, in a whole group or in one branch."""

    role: str
    pack: str | None = None
    scopes: tuple[str, ...] = ()
    """Beside those of the role or the pack (OrganizationMemberPermission)."""
    level: Level = Level.GROUP
    branches: tuple[UUID, ...] | None = None
    """Of a member of the group: in which branches; left out, in all."""


class Denial(msgspec.Struct, frozen=True):
    """An override that says: nothing, in this branch."""


class Method(StrEnum):
    """How a person signed in."""

    PASSWORD = "PASSWORD"  # noqa: S105
    CODE = "CODE"
    LINK = "LINK"
    APPLE = "APPLE"


class EndReason(StrEnum):
    LOGOUT = "LOGOUT"
    PASSWORD_CHANGED = "PASSWORD_CHANGED"  # noqa: S105
    TOKEN_REUSED = "TOKEN_REUSED"  # noqa: S105
    EMAIL_CHANGED = "EMAIL_CHANGED"
    SUSPENDED = "SUSPENDED"
    ERASED = "ERASED"
    BY_OWNER = "BY_OWNER"


class KeyPurpose(StrEnum):
    """For what a service key is."""

    API = "API"
    SCANNER = "SCANNER"


class StopKind(StrEnum):
    """What a kill switch stops."""

    EVENT = "EVENT"
    ORGANIZATION = "ORGANIZATION"
    IDENTITY = "IDENTITY"
    PLATFORM = "PLATFORM"


class Target(msgspec.Struct, frozen=True):
    """The one thing that a kill switch stops. Events belong to a package above, so theirs is any id."""

    kind: StopKind
    id: str | None = None

    def __post_init__(self) -> None:
        if not self._is_named():
            raise ValueError("The platform has no id; anything else is stopped by an id of its kind")

    def _is_named(self) -> bool:
        match self.kind:
            case StopKind.PLATFORM:
                return self.id is None
            case StopKind.ORGANIZATION:
                return _is_id(OrganizationId, self.id)
            case StopKind.IDENTITY:
                return _is_id(IdentityId, self.id)
            case StopKind.EVENT:
                return _EVENT.fullmatch(self.id or "") is not None

    @property
    def key(self) -> str:
        kind = f"stop:{self.kind.lower()}"
        return f"{kind}:{self.id}" if self.id else kind


def _is_id(kind: type[Id], text: str | None) -> bool:
    try:
        kind.parse(text or "")
    except InvalidId:
        return False
    return True


class KnownSession(msgspec.Struct, frozen=True):
    """A live session as the authority read found it."""

    id: UUID
    identity: IdentityId
    email_verified: bool
    proved_at: datetime | None
    """When its holder last proved who they are."""
    stopped: bool


class KnownKey(msgspec.Struct, frozen=True):
    """A live service key as the authority read found it."""

    id: UUID
    organization: OrganizationId
    purpose: KeyPurpose
    scopes: tuple[str, ...]


class Known(msgspec.Struct, frozen=True):
    """What the tables say about one credential in one organisation."""

    session: KnownSession | None = None
    key: KnownKey | None = None
    member: Membership | None = None
    override: Membership | Denial | None = None
    modules: frozenset[str] = frozenset()
