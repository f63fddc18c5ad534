"""Codes, as digests."""

from collections.abc import Collection, Sequence
from datetime import datetime

from admitone.entitlements.model import EntitlementId, Token
from admitone.kernel.db import Record, Tx
from admitone.kernel.statements import Insert

COLUMNS = "digest, entitlement_id, epoch, key_version, valid_from, valid_until, revoked_at, redeemed_at"


INSERT_TOKENS = Insert(
    "entitlements.token",
    {
        "digest": "bytea",
        "entitlement_id": "uuid",
        "epoch": "integer",
        "key_version": "smallint",
        "valid_from": "timestamptz",
        "valid_until": "timestamptz",
    },
    attributes={"entitlement_id": "entitlement"},
)


FIND_BY_DIGESTS = f"""
    SELECT {COLUMNS}
      FROM entitlements.token
     WHERE organization_id = $1
       AND digest = ANY($2::bytea[])
"""  # noqa: S608, of constants


FIND_LIVE = f"""
    SELECT {COLUMNS}
      FROM entitlements.token
     WHERE organization_id = $1
       AND entitlement_id = ANY($2::uuid[])
       AND revoked_at IS NULL
       AND valid_until > $3
     ORDER BY entitlement_id, epoch
"""  # noqa: S608, of constants


LIST_OF_RIGHT = f"""
    SELECT {COLUMNS}
      FROM entitlements.token
     WHERE organization_id = $1
       AND entitlement_id = $2
     ORDER BY epoch DESC
     LIMIT $3
"""  # noqa: S608, of constants


REVOKE = """
    UPDATE entitlements.token
       SET revoked_at = $3
     WHERE organization_id = $1
       AND entitlement_id = ANY($2::uuid[])
       AND revoked_at IS NULL
       AND valid_until > $3
"""


REDEEM = """
    UPDATE entitlements.token
       SET redeemed_at = $3
     WHERE organization_id = $1
       AND digest = ANY($2::bytea[])
       AND redeemed_at IS NULL
"""


async def insert_tokens(tx: Tx, tokens: Sequence[Token]) -> None:
    await tx.insert_exactly(INSERT_TOKENS, tokens)


async def find_by_digests(tx: Tx, digests: Collection[bytes]) -> dict[bytes, Token]:
    rows = await tx.fetch(FIND_BY_DIGESTS, sorted({*digests})) if digests else []
    return {row["digest"]: token_of(row) for row in rows}


async def list_live(tx: Tx, entitlements: Collection[EntitlementId], now: datetime) -> dict[EntitlementId, list[Token]]:
    """Those that are good, and that will be, in the order in which they were made."""
    live: dict[EntitlementId, list[Token]] = {each: [] for each in entitlements}
    for row in await tx.fetch(FIND_LIVE, sorted(each.uuid for each in entitlements), now):
        live[EntitlementId(row["entitlement_id"])].append(token_of(row))
    return live


async def list_of_right(tx: Tx, entitlement: EntitlementId, most: int) -> list[Token]:
    """The latest of those that are remembered, in the order in which they were made."""
    return [token_of(row) for row in reversed(await tx.fetch(LIST_OF_RIGHT, entitlement.uuid, most))]


async def revoke(tx: Tx, entitlements: Collection[EntitlementId]) -> None:
    """All codes of these."""
    if entitlements:
        await tx.execute(REVOKE, sorted(each.uuid for each in entitlements), tx.now)


async def redeem(tx: Tx, digests: Collection[bytes]) -> None:
    ordered = sorted({*digests})
    await tx.execute_exactly(len(ordered), REDEEM, ordered, tx.now)


def token_of(row: Record) -> Token:
    return Token(
        digest=row["digest"],
        entitlement=EntitlementId(row["entitlement_id"]),
        epoch=row["epoch"],
        key_version=row["key_version"],
        valid_from=row["valid_from"],
        valid_until=row["valid_until"],
        revoked_at=row["revoked_at"],
        redeemed_at=row["redeemed_at"],
    )
