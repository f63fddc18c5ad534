"""Invitations. The address is sealed for its own row, and gone when the invitation is over, whichever way; the token is
known by its digest."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from uuid import UUID

import msgspec

from admitone.foundation.authority.api import Level, Membership
from admitone.foundation.organizations.model import INVITATION, Invitation, InvitationId, InvitationState
from admitone.kernel.crypto import KEYRING, Place
from admitone.kernel.db import Record, Tx
from admitone.kernel.ids import IdentityId, OrganizationId
from admitone.kernel.statements import Insert, Lock

INSERT_INVITATIONS = Insert(
    "organizations.invitation",
    {
        "id": "uuid",
        "email_sealed": "bytea",
        "email_hash": "bytea",
        "level": "text",
        "role": "text",
        "pack": "text",
        "scopes": "text[]",
        "branches": "uuid[]",
        "state": "text",
        "token_digest": "bytea",
        "invited_by": "uuid",
        "created_at": "timestamptz",
        "expires_at": "timestamptz",
    },
)


COLUMNS = """id, email_sealed, email_hash, level, role, pack, scopes, branches, state, token_digest, invited_by,
           accepted_by, created_at, expires_at"""


LOCK_PENDING = Lock(
    f"""
    SELECT {COLUMNS}
      FROM organizations.invitation
     WHERE organization_id = $1
       AND email_hash = ANY($2::bytea[])
       AND state = 'PENDING'
     ORDER BY email_hash
    """,  # noqa: S608, of constants
    key="email_hash",
)


LOCK_BY_TOKEN = Lock(
    f"""
    SELECT {COLUMNS}
      FROM organizations.invitation
     WHERE organization_id = $1
       AND token_digest = ANY($2::bytea[])
     ORDER BY token_digest
    """,  # noqa: S608, of constants
    key="token_digest",
)


LOCK_INVITATIONS = Lock(
    f"""
    SELECT {COLUMNS}
      FROM organizations.invitation
     WHERE organization_id = $1
       AND id = ANY($2::uuid[])
     ORDER BY id
    """,  # noqa: S608, of constants
    key="id",
)


FIND_INVITER = """
    SELECT invited_by
      FROM organizations.invitation
     WHERE organization_id = $1
       AND token_digest = $2
"""


LIST_INVITATIONS = f"""
    SELECT {COLUMNS}
      FROM organizations.invitation
     WHERE organization_id = $1
       AND id < $2
     ORDER BY id DESC
     LIMIT $3
"""  # noqa: S608, of constants


MOVE = """
    UPDATE organizations.invitation
       SET state = $3, email_sealed = NULL, email_hash = NULL
     WHERE organization_id = $1
       AND id = ANY($2::uuid[])
       AND state = ANY($4::text[])
"""


ACCEPT = """
    UPDATE organizations.invitation AS i
       SET state = 'ACCEPTED', accepted_by = v.accepted_by, email_sealed = NULL, email_hash = NULL
      FROM unnest($2::uuid[], $3::uuid[]) AS v(id, accepted_by)
     WHERE i.organization_id = $1
       AND i.id = ANY($2::uuid[])
       AND i.id = v.id
       AND i.state = 'PENDING'
       AND i.expires_at > $4
"""


class NewInvitation(msgspec.Struct, frozen=True):
    id: UUID
    email_sealed: bytes
    email_hash: bytes
    level: Level
    role: str
    pack: str | None
    scopes: tuple[str, ...]
    branches: tuple[UUID, ...] | None
    token_digest: bytes
    invited_by: UUID
    created_at: datetime
    expires_at: datetime
    state: InvitationState = INVITATION.initial


class Held(msgspec.Struct, frozen=True):
    """An invitation that is locked, with what only the decision needs."""

    invitation: Invitation
    email_hash: bytes | None


def sealed(organization: OrganizationId, invitation: InvitationId, email: str) -> bytes:
    return KEYRING().seal(email.encode(), _place(organization, invitation.uuid))


def _place(organization: OrganizationId, invitation: UUID) -> Place:
    return Place("organizations.invitation", "email_sealed", organization.uuid, invitation)


async def insert_invitations(tx: Tx, rows: Sequence[NewInvitation]) -> None:
    await tx.insert_exactly(INSERT_INVITATIONS, rows)


async def lock_pending(tx: Tx, hashes: Iterable[bytes]) -> dict[bytes, Held]:
    """The open invitations to these addresses, by whichever hash they were written with."""
    rows = await tx.lock(LOCK_PENDING, sorted(set(hashes)), lambda each: each)
    return {key: _held(tx, row) for key, row in rows.items()}


async def lock_by_token(tx: Tx, digests: Iterable[bytes]) -> dict[bytes, Held]:
    rows = await tx.lock(LOCK_BY_TOKEN, sorted(set(digests)), lambda each: each)
    return {key: _held(tx, row) for key, row in rows.items()}


async def lock_invitations(tx: Tx, invitations: Sequence[InvitationId]) -> dict[InvitationId, Invitation]:
    rows = await tx.lock(LOCK_INVITATIONS, invitations, lambda each: each.uuid)
    return {InvitationId(key): _invitation(tx, row) for key, row in rows.items()}


async def find_inviter(tx: Tx, digest: bytes) -> IdentityId | None:
    row = await tx.find(FIND_INVITER, digest)
    return IdentityId(row["invited_by"]) if row else None


async def list_invitations(tx: Tx, after: UUID, limit: int) -> tuple[list[Invitation], datetime]:
    """The newest first; and the time, by which some of them are expired."""
    return [_invitation(tx, row) for row in await tx.fetch(LIST_INVITATIONS, after, limit)], tx.now


async def move(tx: Tx, invitations: Sequence[InvitationId], to: InvitationState) -> None:
    ids = sorted(each.uuid for each in invitations)
    await tx.execute_exactly(len(ids), MOVE, ids, to, INVITATION.leaving(to))


async def accept(tx: Tx, accepted: Mapping[InvitationId, IdentityId]) -> None:
    ids, people = [each.uuid for each in accepted], [each.uuid for each in accepted.values()]
    await tx.execute_exactly(len(ids), ACCEPT, ids, people, tx.now)


def _held(tx: Tx, row: Record) -> Held:
    return Held(_invitation(tx, row), row["email_hash"])


def _invitation(tx: Tx, row: Record) -> Invitation:
    sealed, place = row["email_sealed"], _place(tx.scope.organization, row["id"])
    within = None if row["branches"] is None else tuple(row["branches"])
    return Invitation(
        InvitationId(row["id"]),
        KEYRING().open(sealed, place).decode() if sealed else None,
        Membership(row["role"], row["pack"], tuple(row["scopes"]), Level(row["level"]), within),
        InvitationState(row["state"]),
        IdentityId(row["invited_by"]),
        IdentityId(row["accepted_by"]) if row["accepted_by"] else None,
        row["created_at"],
        row["expires_at"],
    )
