"""What the authority read reads: credentials, memberships, switches."""

from collections.abc import Iterable, Sequence
from uuid import UUID

from admitone.foundation.authority.model import KeyPurpose, Known, KnownKey, KnownSession, Membership
from admitone.foundation.authority.policy import Switch, membership_in
from admitone.foundation.authority.store.members import JOIN_STANDING, STANDING, member_of, override_of
from admitone.kernel.db import PlatformTx, Record, Tx
from admitone.kernel.ids import PLATFORM_ORGANIZATION, IdentityId, OrganizationId

# One statement for all who arrived together. Each part is found by one index, whatever the tables held when the plan
# was made (OFFSET 0 keeps the parts apart).
RESOLVE = f"""
    SELECT a.digest, a.organization_id,
           s.id AS session_id, s.identity_id, s.email_verified_at, s.proved_at,
           k.id AS key_id, k.organization_id AS key_organization_id, k.purpose, k.scopes AS key_scopes,
           {STANDING}, e.modules, x.key AS stop
      FROM unnest($1::bytea[], $2::uuid[]) AS a(digest, organization_id)
      LEFT JOIN LATERAL (SELECT id, identity_id, email_verified_at,
                                GREATEST(authenticated_at, stepped_up_at) AS proved_at
                           FROM authority.session
                          WHERE access_digest = a.digest AND access_expires_at > $3 AND ended_at IS NULL
                         OFFSET 0) AS s ON true
      LEFT JOIN LATERAL (SELECT id, organization_id, purpose, scopes
                           FROM authority.service_key
                          WHERE digest = a.digest AND revoked_at IS NULL
                            AND (expires_at IS NULL OR expires_at > $3)
                         OFFSET 0) AS k ON true
      LEFT JOIN LATERAL (SELECT group_id FROM authority.branch WHERE organization_id = a.organization_id
                         OFFSET 0) AS b ON true
      {JOIN_STANDING.format(group="b.group_id", organization="a.organization_id", identity="s.identity_id")}
      LEFT JOIN LATERAL (SELECT array_agg(module) AS modules
                           FROM authority.module_entry
                          WHERE organization_id = a.organization_id AND enabled
                         OFFSET 0) AS e ON true
      LEFT JOIN LATERAL (SELECT key
                           FROM authority.switch
                          WHERE organization_id = $4
                            AND key = 'stop:identity:idn_' || replace(s.identity_id::text, '-', '')
                            AND expires_at > $3
                         OFFSET 0) AS x ON true
"""  # noqa: S608, of constants


FIND_SWITCHES = """
    SELECT s.organization_id, s.key
      FROM unnest($1::uuid[], $2::text[]) AS v(organization_id, key)
     CROSS JOIN LATERAL (SELECT organization_id, key
                           FROM authority.switch
                          WHERE organization_id = v.organization_id AND key = v.key
                            AND (expires_at IS NULL OR expires_at > $3)
                         OFFSET 0) AS s
"""


FIND_STOPPED = "SELECT stopped AS key FROM authority.stopped($1, $2::text[], $3)"


FIND_MEMBERSHIP = f"""
    SELECT {STANDING}
      FROM authority.branch AS b
      {JOIN_STANDING.format(group="b.group_id", organization="b.organization_id", identity="$2")}
     WHERE b.organization_id = $1
"""  # noqa: S608, of constants


async def resolve(tx: PlatformTx, pairs: Sequence[tuple[bytes, UUID | None]]) -> dict[tuple[bytes, UUID | None], Known]:
    """What is known of each credential in each organisation."""
    if not pairs:
        return {}
    digests, organizations = [digest for digest, _ in pairs], [organization for _, organization in pairs]
    rows = await tx.fetch(RESOLVE, digests, organizations, tx.now, PLATFORM_ORGANIZATION.uuid)
    return {(row["digest"], row["organization_id"]): _known(row) for row in rows}


async def find_switches(tx: PlatformTx, switches: Iterable[Switch]) -> frozenset[Switch]:
    """Those of them that are on."""
    wanted = sorted(switches)
    if not wanted:
        return frozenset()
    rows = await tx.fetch(FIND_SWITCHES, [home for home, _ in wanted], [key for _, key in wanted], tx.now)
    return frozenset((row["organization_id"], row["key"]) for row in rows)


async def find_stopped(tx: Tx, keys: Sequence[str]) -> list[str]:
    """Those of them that stand."""
    return [row["key"] for row in await tx.fetch(FIND_STOPPED, keys, tx.now)]


async def find_membership(tx: PlatformTx, organization: UUID, identity: UUID) -> Membership | None:
    """What somebody is in a branch, if anything."""
    row = await tx.find(FIND_MEMBERSHIP, organization, identity)
    return membership_in(organization, member_of(row), override_of(row)) if row else None


def _known(row: Record) -> Known:
    session = row["session_id"] and KnownSession(
        row["session_id"],
        IdentityId(row["identity_id"]),
        row["email_verified_at"] is not None,
        row["proved_at"],
        row["stop"] is not None,
    )
    key = row["key_id"] and KnownKey(
        row["key_id"],
        OrganizationId(row["key_organization_id"]),
        KeyPurpose(row["purpose"]),
        tuple(row["key_scopes"]),
    )
    return Known(session, key, member_of(row), override_of(row), frozenset(row["modules"] or ()))
