"""Tokens, by their digests."""

from collections.abc import Callable, Collection, Sequence
from typing import TypeVar

from admitone.kernel.db import Record, Tx, WrongCount
from admitone.kernel.ids import IdentityId
from admitone.kernel.statements import Insert, Lock, columns
from admitone.verticals.coupons.model import Campaign, CampaignId, Token, TokenId, TokenStatus, Whose
from admitone.verticals.coupons.store import campaigns

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


KNOW = "SELECT coupons.know($1, $2::bytea[], $3::timestamptz[])"


# Those that are this merchant's, with their campaigns: both are held. The campaigns in their order, which is that of
# everybody; a token is nobody's but its campaign's.
LOCK_SHOWN = Lock(
    f"""
    SELECT {", ".join(f"t.{each.strip()} AS t_{each.strip()}" for each in COLUMNS.split(","))}, t.digest AS shown,
           {", ".join(f"c.{each.strip()}" for each in campaigns.COLUMNS.split(","))}
      FROM coupons.token AS t
      JOIN coupons.campaign AS c
        ON c.organization_id = t.organization_id
       AND c.id = t.campaign_id
     WHERE t.organization_id = $1
       AND c.organization_id = $1
       AND t.digest = ANY($2::bytea[])
     ORDER BY c.id, t.id
""",  # noqa: S608, of constants
    key="shown",
)


# Of those that are not. $1 is said to nobody: whose they are makes no difference.
FIND_KNOWN = "SELECT k.digest FROM coupons.known($2::bytea[]) AS k(digest) WHERE $1::uuid IS NOT NULL"


# Exists, is this merchant's, is in time, was not used: all of it once more (CPN-027), and with it the campaign, whose
# last redemption ends it.
REDEEM = """
    WITH taken AS (
        UPDATE coupons.token
           SET status = 'REDEEMED', redeemed_at = $3
         WHERE organization_id = $1
           AND id = ANY($2::uuid[])
           AND status = 'GENERATED'
           AND expires_at > $3
        RETURNING id
    ), counted AS (
        UPDATE coupons.campaign AS c
           SET redeemed = v.redeemed, state = v.state, ended_at = v.ended_at, ended_for = v.ended_for,
               due_at = v.due_at
          FROM unnest($4::uuid[], $5::integer[], $6::integer[], $7::text[], $8::timestamptz[], $9::text[],
                      $10::timestamptz[])
            AS v(id, was, redeemed, state, ended_at, ended_for, due_at)
         WHERE c.organization_id = $1
           AND c.id = ANY($4::uuid[])
           AND c.id = v.id
           AND c.state = 'ACTIVE'
           AND c.redeemed = v.was
           AND c.ends_at > $3
        RETURNING c.id
    )
    SELECT (SELECT count(*) FROM taken) AS taken, (SELECT count(*) FROM counted) AS counted
"""


async def insert_tokens(tx: Tx, tokens: Sequence[Token]) -> set[TokenId]:
    """Those of people who had none."""
    ordered = sorted(tokens, key=lambda each: (each.campaign, each.holder))
    new = {TokenId(row["id"]) for row in await tx.insert_many(INSERT_TOKENS, ordered)}
    if new:
        made = [each for each in ordered if each.id in new]
        await tx.fetch(KNOW, *columns(made, "digest", "expires_at"))
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


Shown = TypeVar("Shown")


async def lock_shown(
    tx: Tx, shown: Sequence[Shown], digest: Callable[[Shown], bytes]
) -> tuple[dict[bytes, Token], dict[CampaignId, Campaign]]:
    """Those of them that are this merchant's, and their campaigns, held until the end."""
    rows = await tx.lock(LOCK_SHOWN, shown, digest)
    held = {CampaignId(row["id"]): campaigns.campaign_of(row) for row in rows.values()}
    return {own: token_of(row, "t_") for own, row in rows.items()}, held


async def find_known(tx: Tx, digests: Collection[bytes]) -> set[bytes]:
    """Those that somebody ever made, whoever it was."""
    return {row["digest"] for row in await tx.fetch(FIND_KNOWN, sorted({*digests}))} if digests else set()


async def redeem(tx: Tx, tokens: Collection[TokenId], before: Sequence[Campaign], after: Sequence[Campaign]) -> None:
    """These tokens, of campaigns that were so before; all of them are held. Policy said yes already; the guards repeat
    it, so that a bug above can refuse but never give twice."""
    if not tokens:
        return
    [ids, *became] = columns(after, "id", "redeemed", "state", "ended_at", "ended_for", "due_at")
    was = [each.redeemed for each in before]
    own = sorted(each.uuid for each in tokens)
    [row] = await tx.fetch(REDEEM, own, tx.now, ids, was, *became)
    if (row["taken"], row["counted"]) != (len(own), len(ids)):
        raise WrongCount(f"{row['taken']} tokens taken instead of {len(own)}, {row['counted']} campaigns counted")


def token_of(row: Record, prefix: str = "") -> Token:
    return Token(
        id=TokenId(row[f"{prefix}id"]),
        campaign=CampaignId(row[f"{prefix}campaign_id"]),
        holder=IdentityId(row[f"{prefix}identity_id"]),
        digest=row[f"{prefix}digest"],
        key_version=row[f"{prefix}key_version"],
        status=TokenStatus(row[f"{prefix}status"]),
        created_at=row[f"{prefix}created_at"],
        expires_at=row[f"{prefix}expires_at"],
        redeemed_at=row[f"{prefix}redeemed_at"],
    )
