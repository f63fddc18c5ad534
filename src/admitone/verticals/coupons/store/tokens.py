"""Tokens, by their digests."""

from collections.abc import Collection, Sequence

from admitone.kernel.db import Record, Tx
from admitone.kernel.ids import IdentityId
from admitone.kernel.statements import Insert, columns
from admitone.verticals.coupons.model import CampaignId, Token, TokenId, TokenStatus, Whose

COLUMNS = "id, campaign_id, identity_id, digest, key_version, status, created_at, expires_at, redeemed_at"

# A person who asks twice at the same time has one: the second finds the first (CPN-021).
INSERT_TOKENS = Insert(
    "coupons.token",
    {
        "id": "uuid",
        "campaign_id": "uuid",
        "identity_id": "uuid",
        "digest": "bytea",
        "key_version": "smallint",
        "status": "text",
        "created_at": "timestamptz",
        "expires_at": "timestamptz",
    },
    attributes={"campaign_id": "campaign", "identity_id": "holder"},
    on_conflict="(organization_id, campaign_id, identity_id) WHERE status = 'GENERATED' DO NOTHING",
    returning="id",
)


# One by one, by the index that makes them the only ones.
FIND_GENERATED = f"""
    SELECT {", ".join(f"t.{each.strip()}" for each in COLUMNS.split(","))}
      FROM unnest($2::uuid[], $3::uuid[]) AS v(campaign_id, identity_id)
     CROSS JOIN LATERAL (SELECT {COLUMNS}
                           FROM coupons.token
                          WHERE organization_id = $1
                            AND campaign_id = v.campaign_id
                            AND identity_id BETWEEN v.identity_id AND v.identity_id
                            AND status = 'GENERATED'
                          ORDER BY identity_id
                          LIMIT 1) AS t
"""  # noqa: S608, of constants


EXPIRE = """
    UPDATE coupons.token
       SET status = 'EXPIRED'
     WHERE organization_id = $1
       AND id = ANY($2::uuid[])
       AND status = 'GENERATED'
       AND expires_at <= $3
"""


KNOW = "SELECT coupons.know($1, $2::bytea[], $3::uuid[], $4::timestamptz[])"
FIND_KNOWN = "SELECT digest, campaign_id FROM coupons.known($1, $2::bytea[])"


# After the campaigns are held: whoever redeems holds the campaign, so that nothing of these changes any more.
FIND_BY_DIGESTS = f"""
    SELECT {COLUMNS}
      FROM coupons.token
     WHERE organization_id = $1
       AND digest = ANY($2::bytea[])
"""  # noqa: S608, of constants


# Exists, is this merchant's, is in time, was not used: all of it once more (CPN-027).
REDEEM = """
    UPDATE coupons.token
       SET status = 'REDEEMED', redeemed_at = $3
     WHERE organization_id = $1
       AND id = ANY($2::uuid[])
       AND status = 'GENERATED'
       AND expires_at > $3
"""


async def insert_tokens(tx: Tx, tokens: Sequence[Token]) -> set[TokenId]:
    """Those of people who had none."""
    ordered = sorted(tokens, key=lambda each: (each.campaign, each.holder))
    new = {TokenId(row["id"]) for row in await tx.insert_many(INSERT_TOKENS, ordered)}
    if new:
        made = [each for each in ordered if each.id in new]
        await tx.fetch(KNOW, *columns(made, "digest", "campaign", "expires_at"))
    return new


async def find_generated(tx: Tx, pairs: Collection[Whose]) -> dict[Whose, Token]:
    """What each has that was not redeemed; its time may be over."""
    wanted = sorted({*pairs})
    rows = await tx.fetch(FIND_GENERATED, [each.campaign for each in wanted], [each.holder for each in wanted])
    return {Whose(row["campaign_id"], row["identity_id"]): token_of(row) for row in rows}


async def expire(tx: Tx, tokens: Collection[TokenId]) -> None:
    """They make way for the next ones."""
    if tokens:
        await tx.execute(EXPIRE, sorted(each.uuid for each in tokens), tx.now)


async def find_known(tx: Tx, digests: Collection[bytes]) -> dict[bytes, CampaignId | None]:
    """Those that were ever made; the campaign of those that are this organisation's."""
    rows = await tx.fetch(FIND_KNOWN, sorted({*digests}))
    return {row["digest"]: CampaignId(row["campaign_id"]) if row["campaign_id"] else None for row in rows}


async def find_by_digests(tx: Tx, digests: Collection[bytes]) -> dict[bytes, Token]:
    rows = await tx.fetch(FIND_BY_DIGESTS, sorted({*digests})) if digests else []
    return {row["digest"]: token_of(row) for row in rows}


async def redeem(tx: Tx, tokens: Collection[TokenId]) -> None:
    # Policy said yes already. The guards repeat it, so that a bug above can refuse but never give twice.
    if tokens:
        await tx.execute_exactly(len(tokens), REDEEM, sorted(each.uuid for each in tokens), tx.now)


def token_of(row: Record) -> Token:
    return Token(
        id=TokenId(row["id"]),
        campaign=CampaignId(row["campaign_id"]),
        holder=IdentityId(row["identity_id"]),
        digest=row["digest"],
        key_version=row["key_version"],
        status=TokenStatus(row["status"]),
        created_at=row["created_at"],
        expires_at=row["expires_at"],
        redeemed_at=row["redeemed_at"],
    )
