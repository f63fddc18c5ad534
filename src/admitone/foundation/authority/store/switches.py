"""Switches: what is on, what is stopped, since when, by whom and for how long."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

import msgspec

from admitone.kernel.db import PlatformTx, Record, Tx
from admitone.kernel.ids import IdentityId, OrganizationId
from admitone.kernel.statements import Insert, Lock

LOCK_SWITCHES = Lock(
    """
    SELECT key, reason_code, case_reference, set_by, set_at, expires_at
      FROM authority.switch
     WHERE organization_id = $1
       AND key = ANY($2::text[])
     ORDER BY key
    """,
    key="key",
)


PUT_SWITCHES = Insert(
    "authority.switch",
    {
        "key": "text",
        "reason_code": "text",
        "case_reference": "text",
        "set_by": "uuid",
        "set_at": "timestamptz",
        "expires_at": "timestamptz",
    },
    on_conflict="""(organization_id, key) DO UPDATE
        SET reason_code = EXCLUDED.reason_code, case_reference = EXCLUDED.case_reference, set_by = EXCLUDED.set_by,
            set_at = EXCLUDED.set_at, expires_at = EXCLUDED.expires_at""",
)


REMOVE_SWITCHES = "DELETE FROM authority.switch WHERE organization_id = $1 AND key = ANY($2::text[])"


LIST_SWITCHES = """
    SELECT organization_id, key, reason_code, case_reference, set_by, set_at, expires_at
      FROM authority.switch
     WHERE (organization_id, key) > ($1, $2)
       AND (expires_at IS NULL OR expires_at > $3)
       AND ($4::uuid IS NULL OR organization_id = $4)
       AND ($5::text IS NULL OR starts_with(key, $5))
     ORDER BY organization_id, key
     LIMIT $6
"""


class Setting(msgspec.Struct, frozen=True):
    """One switch as somebody set it."""

    key: str
    reason_code: str
    case_reference: str
    set_by: IdentityId
    set_at: datetime
    expires_at: datetime | None


class Named(Protocol):
    """Whatever is about one switch."""

    @property
    def key(self) -> str: ...


async def lock_switches(tx: Tx, inputs: Sequence[Named]) -> dict[str, Setting]:
    """Those of them that hold now. One that expired holds nothing, and its row is there to be written over."""
    rows = await tx.lock(LOCK_SWITCHES, inputs, lambda each: each.key)
    return {key: _setting(row) for key, row in rows.items() if row["expires_at"] is None or row["expires_at"] > tx.now}


async def put_switches(tx: Tx, settings: Sequence[Setting]) -> None:
    # Sorted, so that two who set the same ones anew cannot deadlock.
    in_order = sorted(settings, key=lambda setting: setting.key)
    await tx.insert_exactly(PUT_SWITCHES, in_order)


async def remove_switches(tx: Tx, keys: Sequence[str]) -> None:
    await tx.execute_exactly(len(keys), REMOVE_SWITCHES, keys)


async def list_switches(
    tx: PlatformTx, after: tuple[UUID, str], organization: UUID | None, begins: str | None, limit: int
) -> list[tuple[OrganizationId, Setting]]:
    """Those that hold now, everybody's, the platform's own among them; or of one, or whose keys begin like this."""
    rows = await tx.fetch(LIST_SWITCHES, *after, tx.now, organization, begins, limit)
    return [(OrganizationId(row["organization_id"]), _setting(row)) for row in rows]


def _setting(row: Record) -> Setting:
    return Setting(
        row["key"],
        row["reason_code"],
        row["case_reference"],
        IdentityId(row["set_by"]),
        row["set_at"],
        row["expires_at"],
    )
