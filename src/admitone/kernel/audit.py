"""The audit trail: who did what, or was refused what, and why. Append-only.

Promise: what a command records commits with its rows. A refusal writes no domain row; its own entry is a separate,
coalesced write, limited per address so that knocking on a closed door cannot fill the disk. Personal data stands
here as ids only.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from admitone.kernel.authority import AuthorityReader
from admitone.kernel.batch import Batcher
from admitone.kernel.commands import Command
from admitone.kernel.db import Tx
from admitone.kernel.errors import Refusal, Throttled
from admitone.kernel.ids import PLATFORM_ORGANIZATION, IdentityId, OrganizationId, uuid7
from admitone.kernel.limits import Hit, Limit, Per, by_address
from admitone.kernel.scope import Caller, Scope
from admitone.kernel.statements import Insert

REFUSALS_PER_ADDRESS = Limit("kernel.audited_refusals", count=60, seconds=600, per=Per.ADDRESS)


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the trail."""

    caller: Caller
    action: str
    subject: str
    reason_code: str | None = None
    before: Mapping[str, Any] | None = None
    after: Mapping[str, Any] | None = None
    at: datetime | None = None
    id: UUID = field(default_factory=uuid7)

    @property
    def actor_id(self) -> IdentityId | None:
        return self.caller.actor

    @property
    def correlation_id(self) -> UUID:
        return self.caller.correlation_id


RECORD = Insert(
    "kernel.audit_entry",
    {
        "id": "uuid",
        "at": "timestamptz",
        "actor_id": "uuid",
        "action": "text",
        "subject": "text",
        "reason_code": "text",
        "before": "jsonb",
        "after": "jsonb",
        "correlation_id": "uuid",
    },
)


LIST_ENTRIES = """
    SELECT id, at, actor_id, action, subject, reason_code, before, after, correlation_id
      FROM kernel.audit_entry
     WHERE organization_id = $1
       AND id < $2
     ORDER BY id DESC
     LIMIT $3
"""


async def record(tx: Tx, entries: Sequence[Entry]) -> None:
    """Write the entries with the transaction's own rows."""
    await tx.insert_exactly(RECORD, [replace(entry, at=entry.at or tx.now) for entry in entries])


async def list_entries(tx: Tx, after: UUID, limit: int) -> list[Entry]:
    """An organisation's own, the newest first, below the id of the last one seen."""
    return [
        Entry(
            Caller(IdentityId(row["actor_id"]) if row["actor_id"] else None, row["correlation_id"]),
            row["action"],
            row["subject"],
            row["reason_code"],
            row["before"],
            row["after"],
            row["at"],
            row["id"],
        )
        for row in await tx.fetch(LIST_ENTRIES, after, limit)
    ]


class AuditTrail:
    """Remembers refusals that are worth it."""

    def __init__(self, batcher: Batcher, authority: AuthorityReader) -> None:
        self._batcher = batcher
        self._authority = authority
        self._remember: Command[Tx, Entry, bool] = Command(_remember_many, name="kernel.remember_refusals")

    async def refused(
        self, refusal: Refusal, *, contract: str, organization: OrganizationId | None, caller: Caller
    ) -> None:
        """Under the organisation that is known to be meant, else under the platform's own."""
        try:
            await self._authority.count(Hit(REFUSALS_PER_ADDRESS, by_address(caller.address)))
        except Throttled:
            return
        entry = Entry(caller, "refused", contract, refusal.code, after=refusal.stated() or None)
        await self._batcher.submit(self._remember, Scope(organization or PLATFORM_ORGANIZATION, "audit"), entry)


async def _remember_many(tx: Tx, entries: Sequence[Entry]) -> Sequence[bool]:
    await record(tx, entries)
    return [True] * len(entries)
