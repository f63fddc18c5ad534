"""Campaigns over all organisations: the relay's look at those that somebody must see to."""

from datetime import UTC, datetime
from typing import Final
from uuid import UUID

import msgspec

from admitone.kernel.db import PlatformTx, Record
from admitone.kernel.ids import OrganizationId
from admitone.kernel.scope import PlatformScope, Role
from admitone.verticals.coupons.model import CampaignId, CampaignState, Divergence

SWEEPING: Final = PlatformScope("see to campaigns whose time has come", Role.RELAY)
FORGETTING: Final = PlatformScope("forget tokens that are over for long", Role.MAINTENANCE)

LIST_DUE = """
    SELECT organization_id, id, due_at AS at
      FROM coupons.campaign
     WHERE due_at <= $1
       AND (due_at, id) > ($2, $3)
     ORDER BY due_at, id
     LIMIT $4
"""


LIST_WATCHED = """
    SELECT organization_id, id, watched_until AS at
      FROM coupons.campaign
     WHERE watched_until > $1
       AND (watched_until, id) > ($2, $3)
     ORDER BY watched_until, id
     LIMIT $4
"""


LIST_DIVERGED = """
    SELECT organization_id, id, state, divergence
      FROM coupons.campaign
     WHERE divergence IS NOT NULL
       AND watched_until > $1
     ORDER BY id
     LIMIT $2
"""


COUNT_WATCHED = """
    SELECT state, count(*) AS campaigns
      FROM coupons.campaign
     WHERE watched_until > $1
     GROUP BY state
"""

FORGET = "SELECT coupons.forget($1, $2) AS forgotten"

BEFORE_ALL: Final = datetime(1970, 1, 1, tzinfo=UTC)


class Left(msgspec.Struct, frozen=True):
    """A campaign that somebody must see to, and where it stands in its list."""

    organization: OrganizationId
    id: CampaignId
    at: datetime


class After(msgspec.Struct, frozen=True):
    """Where a list goes on."""

    at: datetime = BEFORE_ALL
    id: UUID = UUID(int=0)


class Diverged(msgspec.Struct, frozen=True):
    organization: OrganizationId
    id: CampaignId
    state: CampaignState
    divergence: Divergence


async def list_due(tx: PlatformTx, after: After, limit: int) -> list[Left]:
    """Whose week, or whose last day, is over."""
    return [_left(row) for row in await tx.fetch(LIST_DUE, tx.now, after.at, after.id, limit)]


async def list_watched(tx: PlatformTx, after: After, limit: int) -> list[Left]:
    """What is compared with its money."""
    return [_left(row) for row in await tx.fetch(LIST_WATCHED, tx.now, after.at, after.id, limit)]


async def list_diverged(tx: PlatformTx, limit: int) -> list[Diverged]:
    """Of those that are compared: of others nobody would ever say that they do not differ any more."""
    return [
        Diverged(
            OrganizationId(row["organization_id"]),
            CampaignId(row["id"]),
            CampaignState(row["state"]),
            Divergence(row["divergence"]),
        )
        for row in await tx.fetch(LIST_DIVERGED, tx.now, limit)
    ]


async def count_watched(tx: PlatformTx) -> dict[CampaignState, int]:
    return {CampaignState(row["state"]): row["campaigns"] for row in await tx.fetch(COUNT_WATCHED, tx.now)}


async def forget(tx: PlatformTx, most: int) -> int:
    """Digests of tokens that are over for long; how many."""
    [row] = await tx.fetch(FORGET, most, tx.now)
    return int(row["forgotten"])


def _left(row: Record) -> Left:
    return Left(OrganizationId(row["organization_id"]), CampaignId(row["id"]), row["at"])
