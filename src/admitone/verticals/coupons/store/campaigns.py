"""Campaigns. A move names the state that it leaves, so that two of them cannot both succeed, and no row goes back."""

from collections.abc import Callable, Collection, Sequence
from typing import TypeVar

from admitone.finance.sources.api import PaymentId
from admitone.kernel.db import Record, Tx
from admitone.kernel.ids import IdentityId, OrganizationId
from admitone.kernel.statements import Insert, Lock, columns
from admitone.verticals.coupons.model import Campaign, CampaignId, CampaignState, Divergence, EndedFor

Input = TypeVar("Input")

COLUMNS = (
    "organization_id, id, name, days, weeks, weekly_fee_minor, cost_minor, currency, redemption_limit, redeemed, state,"
    " identity_id, key, request_hash, payment_id, created_at, activated_at, ends_at, ended_at, ended_for, earned_weeks,"
    " earned_minor, due_at, watched_until, divergence"
)

INSERT_CAMPAIGNS = Insert(
    "coupons.campaign",
    {
        "id": "uuid",
        "name": "text",
        "days": "integer",
        "weeks": "integer",
        "weekly_fee_minor": "bigint",
        "cost_minor": "bigint",
        "currency": "text",
        "redemption_limit": "integer",
        "state": "text",
        "identity_id": "uuid",
        "key": "text",
        "request_hash": "bytea",
        "created_at": "timestamptz",
        "watched_until": "timestamptz",
    },
    attributes={"identity_id": "created_by"},
    on_conflict="(organization_id, key) DO NOTHING",
    returning="id",
)


FIND_CAMPAIGNS = f"""
    SELECT {COLUMNS}
      FROM coupons.campaign
     WHERE organization_id = $1
       AND id = ANY($2::uuid[])
"""  # noqa: S608, of constants


# One by one, each in the order of its index, for the planner's sake.
FIND_BY_KEYS = f"""
    SELECT {", ".join(f"c.{each.strip()}" for each in COLUMNS.split(","))}
      FROM unnest($2::text[]) AS v(key)
     CROSS JOIN LATERAL (SELECT {COLUMNS}
                           FROM coupons.campaign
                          WHERE organization_id = $1
                            AND key BETWEEN v.key AND v.key
                          ORDER BY key
                          LIMIT 1) AS c
"""  # noqa: S608, of constants


LOCK_CAMPAIGNS = Lock(
    f"""
    SELECT {COLUMNS}
      FROM coupons.campaign
     WHERE organization_id = $1
       AND id = ANY($2::uuid[])
     ORDER BY id
""",  # noqa: S608, of constants
    key="id",
)


# The only statement that makes a campaign active: it was not before, and the money covers its cost (CPN-005, CPN-006).
ACTIVATE = """
    UPDATE coupons.campaign AS c
       SET state = 'ACTIVE', payment_id = v.payment_id, activated_at = $6::timestamptz,
           ends_at = $6::timestamptz + c.days * interval '24 hours', due_at = v.due_at, watched_until = v.watched_until
      FROM unnest($2::uuid[], $3::uuid[], $4::bigint[], $5::text[], $7::timestamptz[], $8::timestamptz[])
        AS v(id, payment_id, paid_minor, currency, due_at, watched_until)
     WHERE c.organization_id = $1
       AND c.id = ANY($2::uuid[])
       AND c.id = v.id
       AND c.state = 'PENDING_PAYMENT'
       AND c.cost_minor <= v.paid_minor
       AND c.currency = v.currency
"""


SEE_TO = """
    UPDATE coupons.campaign AS c
       SET state = v.state, ended_at = v.ended_at, ended_for = v.ended_for, due_at = v.due_at,
           earned_weeks = v.earned_weeks, earned_minor = v.earned_minor
      FROM unnest($2::uuid[], $3::text[], $4::integer[], $5::text[], $6::timestamptz[], $7::text[], $8::timestamptz[],
                  $9::integer[], $10::bigint[])
        AS v(id, was_state, was_earned, state, ended_at, ended_for, due_at, earned_weeks, earned_minor)
     WHERE c.organization_id = $1
       AND c.id = ANY($2::uuid[])
       AND c.id = v.id
       AND c.state = v.was_state
       AND c.earned_weeks = v.was_earned
       AND (v.state = c.state OR (c.state = 'ACTIVE' AND v.state = 'ENDED'))
"""


MARK_DIVERGED = """
    UPDATE coupons.campaign AS c
       SET divergence = v.divergence
      FROM unnest($2::uuid[], $3::text[]) AS v(id, divergence)
     WHERE c.organization_id = $1
       AND c.id = ANY($2::uuid[])
       AND c.id = v.id
       AND c.divergence IS DISTINCT FROM v.divergence
"""


async def insert_campaigns(tx: Tx, campaigns: Sequence[Campaign]) -> set[CampaignId]:
    """Those whose key nobody had taken."""
    ordered: list[Campaign] = sorted(campaigns, key=lambda each: each.key)
    rows = await tx.insert_many(INSERT_CAMPAIGNS, ordered)
    return {CampaignId(row["id"]) for row in rows}


async def find_campaigns(tx: Tx, ids: Collection[CampaignId]) -> dict[CampaignId, Campaign]:
    rows = await tx.fetch(FIND_CAMPAIGNS, sorted(each.uuid for each in ids)) if ids else []
    return {CampaignId(row["id"]): campaign_of(row) for row in rows}


async def find_by_keys(tx: Tx, keys: Collection[str]) -> dict[str, Campaign]:
    rows = await tx.fetch(FIND_BY_KEYS, sorted({*keys})) if keys else []
    return {row["key"]: campaign_of(row) for row in rows}


async def lock_campaigns(
    tx: Tx, inputs: Sequence[Input], key: Callable[[Input], CampaignId]
) -> dict[CampaignId, Campaign]:
    rows = await tx.lock(LOCK_CAMPAIGNS, inputs, lambda each: key(each).uuid) if inputs else {}
    return {CampaignId(own): campaign_of(row) for own, row in rows.items()}


async def activate(tx: Tx, activated: Sequence[tuple[Campaign, int]]) -> None:
    """Campaigns as they are to be, each with what was paid."""
    if activated:
        own = [campaign for campaign, _ in activated]
        [ids, payments, currencies, due, watched] = columns(
            own, "id", "payment_id", "currency", "due_at", "watched_until"
        )
        paid = [paid for _, paid in activated]
        await tx.execute_exactly(len(own), ACTIVATE, ids, payments, paid, currencies, tx.now, due, watched)


async def see_to(tx: Tx, before: Sequence[Campaign], after: Sequence[Campaign]) -> None:
    """What ended and what was earned of them."""
    if after:
        [ids, *became] = columns(
            after, "id", "state", "ended_at", "ended_for", "due_at", "earned_weeks", "earned_minor"
        )
        [states, earned] = columns(before, "state", "earned_weeks")
        await tx.execute_exactly(len(after), SEE_TO, ids, states, earned, *became)


async def mark_diverged(tx: Tx, found: dict[CampaignId, Divergence | None]) -> None:
    said = [each.value if each else None for each in found.values()]
    if found:
        await tx.execute(MARK_DIVERGED, [own.uuid for own in found], said)


def campaign_of(row: Record) -> Campaign:
    return Campaign(
        organization=OrganizationId(row["organization_id"]),
        id=CampaignId(row["id"]),
        name=row["name"],
        days=row["days"],
        weeks=row["weeks"],
        weekly_fee_minor=row["weekly_fee_minor"],
        cost_minor=row["cost_minor"],
        currency=row["currency"],
        redemption_limit=row["redemption_limit"],
        redeemed=row["redeemed"],
        state=CampaignState(row["state"]),
        created_by=IdentityId(row["identity_id"]),
        key=row["key"],
        request_hash=row["request_hash"],
        payment_id=PaymentId(row["payment_id"]) if row["payment_id"] else None,
        created_at=row["created_at"],
        activated_at=row["activated_at"],
        ends_at=row["ends_at"],
        ended_at=row["ended_at"],
        ended_for=EndedFor(row["ended_for"]) if row["ended_for"] else None,
        earned_weeks=row["earned_weeks"],
        earned_minor=row["earned_minor"],
        due_at=row["due_at"],
        watched_until=row["watched_until"],
        divergence=Divergence(row["divergence"]) if row["divergence"] else None,
    )
