"""Fee policies and choices, as the tables have them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import msgspec

from admitone.finance.pricing.model import (
    Choice,
    FeeBase,
    FeeChoiceId,
    FeeMode,
    FeePolicyId,
    Policy,
    Target,
    Terms,
)
from admitone.finance.sources.api import SourceType
from admitone.kernel.db import Overtaken, Record, Tx
from admitone.kernel.ids import PLATFORM_ORGANIZATION, IdentityId, OrganizationId
from admitone.kernel.statements import Insert

COLUMNS = """id, organization_id, version, source_type, source_id, currency, target, fee_bps, fee_fixed_minor,
           min_minor, max_minor, fee_mode, base, absorbed_allowed, retired, created_by, created_at"""

# The newest of every target, of the organisation, of the platform, and of its choices, in one breath: each is one step
# down an index, however many versions there are.
FIND_NEWEST = f"""
    SELECT 'OWN' AS whose, {COLUMNS}
      FROM unnest($2::text[]) AS t(wanted)
     CROSS JOIN LATERAL (
               SELECT {COLUMNS}
                 FROM pricing.fee_policy
                WHERE organization_id = $1
                  AND target = t.wanted
                ORDER BY version DESC
                LIMIT 1) AS p
     UNION ALL
    SELECT 'PLATFORM', {COLUMNS}
      FROM unnest($2::text[]) AS t(wanted)
     CROSS JOIN LATERAL (
               SELECT {COLUMNS}
                 FROM pricing.platform_policy
                WHERE target = t.wanted
                ORDER BY version DESC
                LIMIT 1) AS p
     UNION ALL
    SELECT 'CHOICE', id, organization_id, version, source_type, NULL, NULL, target, NULL, NULL, NULL,
           NULL, fee_mode, NULL, NULL, NULL, created_by, created_at
      FROM unnest($3::text[]) AS t(wanted)
     CROSS JOIN LATERAL (
               SELECT id, organization_id, version, source_type, target, fee_mode, created_by, created_at
                 FROM pricing.fee_choice
                WHERE organization_id = $1
                  AND target = t.wanted
                ORDER BY version DESC
                LIMIT 1) AS p
"""  # noqa: S608, of constants


LIST_OWN = f"""
    SELECT {COLUMNS}
      FROM pricing.fee_policy
     WHERE organization_id = $1
       AND version < $2
     ORDER BY version DESC
     LIMIT $3
"""  # noqa: S608, of constants


LIST_PLATFORMS = f"""
    SELECT {COLUMNS}
      FROM pricing.platform_policy
     WHERE organization_id = $1
       AND version < $2
     ORDER BY version DESC
     LIMIT $3
"""  # noqa: S608, of constants


FIND_LAST_CHOICE = """
    SELECT version
      FROM pricing.fee_choice
     WHERE organization_id = $1
     ORDER BY version DESC
     LIMIT 1
"""


POLICY_COLUMNS = {
    "id": "uuid",
    "version": "bigint",
    "source_type": "text",
    "source_id": "text",
    "currency": "text",
    "target": "text",
    "fee_bps": "integer",
    "fee_fixed_minor": "bigint",
    "min_minor": "bigint",
    "max_minor": "bigint",
    "fee_mode": "text",
    "base": "text",
    "absorbed_allowed": "boolean",
    "retired": "boolean",
    "created_by": "uuid",
    "created_at": "timestamptz",
}
INSERT_OWN = Insert("pricing.fee_policy", POLICY_COLUMNS, on_conflict="DO NOTHING", returning="id")
INSERT_PLATFORMS = Insert("pricing.platform_policy", POLICY_COLUMNS, on_conflict="DO NOTHING", returning="id")
INSERT_CHOICES = Insert(
    "pricing.fee_choice",
    {
        "id": "uuid",
        "version": "bigint",
        "source_type": "text",
        "target": "text",
        "fee_mode": "text",
        "created_by": "uuid",
        "created_at": "timestamptz",
    },
    on_conflict="DO NOTHING",
    returning="id",
)

NEWEST: Final = 2**63 - 1
"""Above every version."""


class Newest(msgspec.Struct, frozen=True):
    """The newest version of everything that was asked for."""

    policies: Mapping[tuple[bool, str], Policy]
    """By whether it is the platform's, and the key of the target."""
    choices: Mapping[str, Choice]
    """By the type of source; those for all under nothing."""

    @property
    def sources(self) -> set[str]:
        """Those with a rule of their own, by their ids."""
        return {own for each in self.policies.values() if (own := each.target.source_id)}


async def find_newest(tx: Tx, targets: Iterable[Target], source_types: Iterable[SourceType]) -> Newest:
    wanted = sorted({target.key for target in targets})
    rows = await tx.fetch(FIND_NEWEST, wanted, ["", *sorted(set(source_types))])
    policies = {(row["whose"] == "PLATFORM", row["target"]): _policy(row) for row in rows if row["whose"] != "CHOICE"}
    return Newest(policies, {row["target"]: _choice(row) for row in rows if row["whose"] == "CHOICE"})


async def list_policies(tx: Tx, below: int, limit: int) -> list[Policy]:
    """The organisation's, or in its own scope the platform's, newest first."""
    statement = LIST_PLATFORMS if _is_platform(tx) else LIST_OWN
    return [_policy(row) for row in await tx.fetch(statement, below, limit)]


async def last_policy(tx: Tx) -> int:
    """The number of the newest version, of whatever target."""
    return next((policy.version for policy in await list_policies(tx, NEWEST, 1)), 0)


async def last_choice(tx: Tx) -> int:
    row = await tx.find(FIND_LAST_CHOICE)
    return row["version"] if row else 0


async def insert_policies(tx: Tx, policies: Sequence[Policy]) -> None:
    """Raises `Overtaken` if somebody else took one of the numbers: run again, and theirs is seen."""
    rows = [_PolicyRow.of(policy) for policy in policies]
    fresh = await tx.insert_many(INSERT_PLATFORMS if _is_platform(tx) else INSERT_OWN, rows)
    if len(fresh) != len(rows):
        raise Overtaken("somebody else changed a fee policy")


async def insert_choices(tx: Tx, choices: Sequence[Choice]) -> None:
    """Raises `Overtaken` as above."""
    if len(await tx.insert_many(INSERT_CHOICES, choices)) != len(choices):
        raise Overtaken("somebody else chose a fee mode")


def _is_platform(tx: Tx) -> bool:
    return tx.scope.organization == PLATFORM_ORGANIZATION


@dataclass(frozen=True)
class _PolicyRow:
    """A version as the table has it, flat."""

    id: FeePolicyId
    version: int
    source_type: SourceType | None
    source_id: str | None
    currency: str | None
    target: str
    fee_bps: int
    fee_fixed_minor: int
    min_minor: int | None
    max_minor: int | None
    fee_mode: FeeMode
    base: FeeBase
    absorbed_allowed: bool
    retired: bool
    created_by: IdentityId | None
    created_at: datetime

    @classmethod
    def of(cls, policy: Policy) -> "_PolicyRow":
        return cls(
            id=policy.id,
            version=policy.version,
            **msgspec.structs.asdict(policy.target),
            target=policy.target.key,
            **msgspec.structs.asdict(policy.terms),
            retired=policy.retired,
            created_by=policy.created_by,
            created_at=policy.created_at,
        )


def _policy(row: Record) -> Policy:
    return Policy(
        id=FeePolicyId(row["id"]),
        organization=OrganizationId(row["organization_id"]),
        version=row["version"],
        target=Target(_type(row), row["source_id"], row["currency"]),
        terms=Terms(
            fee_bps=row["fee_bps"],
            fee_fixed_minor=row["fee_fixed_minor"],
            min_minor=row["min_minor"],
            max_minor=row["max_minor"],
            fee_mode=FeeMode(row["fee_mode"]),
            base=FeeBase(row["base"]),
            absorbed_allowed=row["absorbed_allowed"],
        ),
        retired=row["retired"],
        created_by=_person(row),
        created_at=row["created_at"],
    )


def _choice(row: Record) -> Choice:
    return Choice(
        id=FeeChoiceId(row["id"]),
        version=row["version"],
        source_type=_type(row),
        fee_mode=FeeMode(row["fee_mode"]) if row["fee_mode"] else None,
        created_by=_person(row),
        created_at=row["created_at"],
    )


def _type(row: Record) -> SourceType | None:
    return SourceType(row["source_type"]) if row["source_type"] else None


def _person(row: Record) -> IdentityId | None:
    return IdentityId(row["created_by"]) if row["created_by"] else None
