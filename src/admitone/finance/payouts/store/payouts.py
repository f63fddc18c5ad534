"""Payouts, and what providers say of them."""

from collections.abc import Collection, Sequence
from datetime import date, datetime
from uuid import UUID

import msgspec

from admitone.finance.gateways.api import PayoutStatus, Provider
from admitone.finance.payouts.model import PAYOUT, Payout, PayoutId, PayoutState, Report, Reported, in_order
from admitone.finance.sources.api import SettlementModel
from admitone.kernel.db import Record, Tx
from admitone.kernel.statements import BothWays, Insert, ListOrder, columns

COLUMNS = """id, payee_id, city_code, period, currency, settlement_model, provider, livemode, account, gross_minor,
           recovered_minor, state, reference, code, correlation_id, created_at, asked_at"""


INSERT_PAYOUTS = Insert(
    "payouts.payout",
    {
        "id": "uuid",
        "payee_id": "uuid",
        "city_code": "text",
        "period": "date",
        "currency": "text",
        "settlement_model": "text",
        "provider": "text",
        "livemode": "boolean",
        "account": "text",
        "gross_minor": "bigint",
        "recovered_minor": "bigint",
        "amount_minor": "bigint",
        "state": "text",
        "code": "text",
        "correlation_id": "uuid",
        "created_at": "timestamptz",
        "changed_at": "timestamptz",
    },
    attributes={"payee_id": "owner", "changed_at": "created_at"},
)


FIND_PAYOUTS = f"""
    SELECT {COLUMNS}
      FROM payouts.payout
     WHERE organization_id = $1
       AND id = ANY($2::uuid[])
"""  # noqa: S608, of constants


FIND_BY_REFERENCE = f"""
    SELECT {COLUMNS}
      FROM payouts.payout
     WHERE organization_id = $1
       AND provider = $2
       AND reference = ANY($3::text[])
"""  # noqa: S608, of constants


FIND_PERIODS = """
    SELECT payee_id, currency, period
      FROM payouts.payout
     WHERE organization_id = $1
       AND payee_id = ANY($2::uuid[])
       AND period >= $3
"""


LIST_PAYOUTS = BothWays(
    f"""
    SELECT {COLUMNS}
      FROM payouts.payout
     WHERE organization_id = $1
       AND id > $2
       AND id < $3
       AND ($4::uuid IS NULL OR payee_id = $4)
       AND ($5::text IS NULL OR state = $5)
     ORDER BY id {{way}}
     LIMIT $6
"""  # noqa: S608, of constants
)


SUM_COMMITTED = """
    SELECT payee_id, currency, sum(amount_minor)::bigint AS committed_minor
      FROM payouts.payout
     WHERE organization_id = $1
       AND state IN ('payout_pending', 'processing')
       AND payee_id = ANY($2::uuid[])
     GROUP BY payee_id, currency
"""


SUM_PAYOUT_STATES = """
    SELECT currency, state, sum(amount_minor)::bigint AS amount_minor, sum(recovered_minor)::bigint AS recovered_minor
      FROM payouts.payout
     WHERE organization_id = $1
       AND ($2::uuid IS NULL OR payee_id = $2)
     GROUP BY currency, state
"""


MOVE_PAYOUTS = """
    UPDATE payouts.payout AS p
       SET state = v.state, gross_minor = v.gross_minor, recovered_minor = v.recovered_minor,
           amount_minor = v.gross_minor - v.recovered_minor, reference = v.reference, code = v.code,
           asked_at = v.asked_at, changed_at = $2
      FROM unnest($3::uuid[], $4::text[], $5::bigint[], $6::bigint[], $7::text[], $8::text[], $9::timestamptz[],
                  $10::text[])
        AS v(id, state, gross_minor, recovered_minor, reference, code, asked_at, was_state)
     WHERE p.organization_id = $1
       AND p.id = ANY($3::uuid[])
       AND p.id = v.id
       AND p.state = v.was_state
"""


# An end counts before what is pending, whatever their times: our own note of what was taken is by our clock, and the
# provider's may be behind. Of two ends, or of none, the later counts.
PUT_REPORTED = Insert(
    "payouts.reported AS r",
    {
        "provider": "text",
        "reference": "text",
        "status": "text",
        "amount_minor": "bigint",
        "currency": "text",
        "code": "text",
        "at": "timestamptz",
        "created_at": "timestamptz",
    },
    on_conflict="""(organization_id, provider, reference)
        DO UPDATE SET status = excluded.status, amount_minor = excluded.amount_minor, currency = excluded.currency,
                      code = excluded.code, at = excluded.at
                WHERE (r.status = 'PENDING' AND excluded.status <> 'PENDING')
                   OR ((r.status = 'PENDING') = (excluded.status = 'PENDING') AND r.at < excluded.at)""",
    returning="provider, reference",
)


FIND_REPORTED = """
    SELECT provider, reference, status, amount_minor, currency, code, at, payout_id, released_at
      FROM payouts.reported
     WHERE organization_id = $1
       AND provider = $2
       AND reference = ANY($3::text[])
"""


# Whoever is second, the provider's word or our own note of what it took, waits here for the first, and sees it then.
CLAIM_REPORTED = Insert(
    "payouts.reported",
    {
        "provider": "text",
        "reference": "text",
        "status": "text",
        "amount_minor": "bigint",
        "currency": "text",
        "code": "text",
        "at": "timestamptz",
        "payout_id": "uuid",
        "created_at": "timestamptz",
    },
    on_conflict="(organization_id, provider, reference) DO UPDATE SET payout_id = excluded.payout_id",
    attributes={"payout_id": "payout"},
)


LIST_REPORTED = """
    SELECT provider, reference, status, amount_minor, currency, code, at, payout_id, released_at
      FROM payouts.reported
     WHERE organization_id = $1
       AND payout_id IS NULL
       AND (at, reference) < ($2::timestamptz, $3::text)
     ORDER BY at DESC, reference DESC
     LIMIT $4
"""


COUNT_UNRELEASED = """
    SELECT count(*) AS unreleased
      FROM payouts.reported
     WHERE organization_id = $1
       AND payout_id IS NULL
       AND released_at IS NULL
"""


RELEASE_REPORTED = """
    UPDATE payouts.reported AS r
       SET released_at = $2
     WHERE r.organization_id = $1
       AND r.reference IN (SELECT u.reference
                             FROM payouts.reported AS u
                            WHERE u.organization_id = $1
                              AND u.payout_id IS NULL
                              AND u.released_at IS NULL
                              AND u.reference > ''
                            ORDER BY u.reference
                            LIMIT $3)
       AND r.payout_id IS NULL
       AND r.released_at IS NULL
    RETURNING r.status
"""


class Move(msgspec.Struct, frozen=True):
    """From how a payout stood to how it stands."""

    before: Payout
    after: Payout

    def __post_init__(self) -> None:
        if self.before.state is not self.after.state:
            PAYOUT.check(self.before.state, self.after.state)


class _Told(Report, frozen=True, kw_only=True):
    created_at: datetime


class _Claimed(Reported, frozen=True, kw_only=True):
    created_at: datetime


async def insert_payouts(tx: Tx, payouts: Sequence[Payout]) -> None:
    """In their order, so that two who make the same do not wait in a circle."""
    ordered = sorted(payouts, key=lambda each: (each.owner, each.period, each.currency))
    await tx.insert_exactly(INSERT_PAYOUTS, ordered)


async def find_payouts(tx: Tx, ids: Collection[PayoutId]) -> dict[PayoutId, Payout]:
    rows = await tx.fetch(FIND_PAYOUTS, sorted({each.uuid for each in ids}))
    return {PayoutId(row["id"]): _payout(row) for row in rows}


async def find_by_reference(tx: Tx, provider: Provider, references: Collection[str]) -> dict[str, Payout]:
    rows = await tx.fetch(FIND_BY_REFERENCE, provider.value, sorted({*references}))
    return {row["reference"]: _payout(row) for row in rows}


async def find_periods(tx: Tx, owners: Collection[UUID], since: date) -> dict[tuple[UUID, str], set[date]]:
    """For which days payouts were made, by owner and currency."""
    found: dict[tuple[UUID, str], set[date]] = {}
    for row in await tx.fetch(FIND_PERIODS, sorted({*owners}), since):
        found.setdefault((row["payee_id"], row["currency"]), set()).add(row["period"])
    return found


async def list_payouts(
    tx: Tx,
    place: UUID | None,
    owner: UUID | None,
    state: PayoutState | None,
    limit: int,
    order: ListOrder = ListOrder.NEWEST,
) -> list[Payout]:
    wanted = owner, state.value if state else None
    return [_payout(row) for row in await tx.fetch(LIST_PAYOUTS.first(order), *order.ids(place), *wanted, limit)]


async def sum_committed(tx: Tx, owners: Collection[UUID]) -> dict[tuple[UUID, str], int]:
    """What is in payouts of which the ledger does not know yet, by owner and currency."""
    rows = await tx.fetch(SUM_COMMITTED, sorted({*owners}))
    return {(row["payee_id"], row["currency"]): row["committed_minor"] for row in rows}


async def sum_payout_states(tx: Tx, owner: UUID | None) -> list[Record]:
    return await tx.fetch(SUM_PAYOUT_STATES, owner)


async def move_payouts(tx: Tx, moves: Sequence[Move]) -> None:
    ordered = sorted(moves, key=lambda move: move.before.id)
    after = [move.after for move in ordered]
    given = columns(after, "id", "state", "gross_minor", "recovered_minor", "reference", "code", "asked_at")
    states = [move.before.state.value for move in ordered]
    await tx.execute_exactly(len(ordered), MOVE_PAYOUTS, tx.now, *given, states)


# -- What providers say


async def put_reported(tx: Tx, reports: Sequence[Report]) -> set[tuple[Provider, str]]:
    """Those that were news; of one payout the last of these counts, and an end before what is pending."""
    last = {(each.provider, each.reference): each for each in sorted(reports, key=in_order)}
    rows = [_Told(**msgspec.structs.asdict(last[key]), created_at=tx.now) for key in sorted(last)]
    return {(Provider(row["provider"]), row["reference"]) for row in await tx.insert_many(PUT_REPORTED, rows)}


async def find_reported(tx: Tx, provider: Provider, references: Collection[str]) -> dict[str, Reported]:
    rows = await tx.fetch(FIND_REPORTED, provider.value, sorted({*references}))
    return {row["reference"]: _reported(row) for row in rows}


async def claim_reported(tx: Tx, taken: Sequence[Reported]) -> None:
    """These are payouts of ours, whatever was told of them before."""
    ordered = sorted(taken, key=lambda each: (each.provider, each.reference))
    rows = [_Claimed(**msgspec.structs.asdict(each), created_at=tx.now) for each in ordered]
    await tx.insert_exactly(CLAIM_REPORTED, rows)


async def list_reported(tx: Tx, before: tuple[datetime, str], limit: int) -> list[Reported]:
    """Those that the provider made itself, the newest first."""
    return [_reported(row) for row in await tx.fetch(LIST_REPORTED, *before, limit)]


async def count_unreleased(tx: Tx) -> int:
    [row] = await tx.fetch(COUNT_UNRELEASED)
    return int(row["unreleased"])


async def release_reported(tx: Tx, limit: int) -> list[PayoutStatus]:
    """How those ended that are released now."""
    return [PayoutStatus(row["status"]) for row in await tx.fetch(RELEASE_REPORTED, tx.now, limit)]


def _payout(row: Record) -> Payout:
    return Payout(
        id=PayoutId(row["id"]),
        owner=row["payee_id"],
        city_code=row["city_code"],
        period=row["period"],
        currency=row["currency"],
        provider=Provider(row["provider"]),
        livemode=row["livemode"],
        account=row["account"],
        gross_minor=row["gross_minor"],
        recovered_minor=row["recovered_minor"],
        state=PayoutState(row["state"]),
        created_at=row["created_at"],
        correlation_id=row["correlation_id"],
        settlement_model=SettlementModel(row["settlement_model"]),
        reference=row["reference"],
        code=row["code"],
        asked_at=row["asked_at"],
    )


def _reported(row: Record) -> Reported:
    return Reported(
        Provider(row["provider"]),
        row["reference"],
        PayoutStatus(row["status"]),
        row["amount_minor"],
        row["currency"],
        row["code"],
        row["at"],
        PayoutId(row["payout_id"]) if row["payout_id"] else None,
        row["released_at"],
    )
