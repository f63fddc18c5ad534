"""An organisation's accounts at providers, as we last heard."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

import msgspec

from admitone.finance.gateways.api import Provider
from admitone.finance.payments.model import AccountTold, KnownAccount, Onboarding, account_name
from admitone.kernel.db import Record, Tx
from admitone.kernel.statements import Insert, Lock, columns

STANDARD: Final = "standard"
"""The only type that there is (FIN-004)."""


FIND_ACCOUNTS = """
    SELECT provider, livemode, account, onboarding_status, charges_enabled, payouts_enabled, requirements_due, told_at,
           version
      FROM payments.account
     WHERE organization_id = $1
     LIMIT 20
"""


LOCK_ACCOUNTS = Lock(
    """
    SELECT provider || CASE WHEN livemode THEN ' live' ELSE ' test' END AS name, provider, livemode, account,
           onboarding_status, charges_enabled, payouts_enabled, requirements_due, told_at, version
      FROM payments.account
     WHERE organization_id = $1
       AND provider || CASE WHEN livemode THEN ' live' ELSE ' test' END = ANY($2::text[])
     ORDER BY provider, livemode
    """,
    key="name",
)


KEEP_ACCOUNTS = Insert(
    "payments.account",
    {
        "provider": "text",
        "livemode": "boolean",
        "account": "text",
        "type": "text",
        "onboarding_status": "text",
        "charges_enabled": "boolean",
        "payouts_enabled": "boolean",
        "requirements_due": "text[]",
        "told_at": "timestamptz",
        "version": "bigint",
        "created_at": "timestamptz",
        "changed_at": "timestamptz",
    },
    on_conflict="DO NOTHING",
    returning="provider, livemode",
)


CHANGE_ACCOUNTS = """
    UPDATE payments.account AS a
       SET onboarding_status = v.onboarding_status, charges_enabled = v.charges_enabled,
           payouts_enabled = v.payouts_enabled,
           requirements_due = ARRAY(SELECT jsonb_array_elements_text(v.requirements_due::jsonb)),
           told_at = v.told_at, version = v.version, changed_at = $2
      FROM unnest($3::text[], $4::boolean[], $5::text[], $6::text[], $7::boolean[], $8::boolean[], $9::text[],
                  $10::timestamptz[], $11::bigint[])
        AS v(provider, livemode, account, onboarding_status, charges_enabled, payouts_enabled, requirements_due,
             told_at, version)
     WHERE a.organization_id = $1
       AND a.provider = v.provider
       AND a.livemode = v.livemode
       AND a.account = v.account
       AND a.version = v.version - 1
"""


class _NewAccount(KnownAccount, frozen=True, kw_only=True):
    type: str = STANDARD
    created_at: datetime
    changed_at: datetime


async def find_accounts(tx: Tx) -> dict[tuple[Provider, bool], KnownAccount]:
    """By provider and mode."""
    found = map(_account, await tx.fetch(FIND_ACCOUNTS))
    return {(each.provider, each.livemode): each for each in found}


async def keep_accounts(tx: Tx, accounts: Sequence[KnownAccount]) -> list[KnownAccount]:
    """Those that are kept from now on; of one provider and mode, the first ever."""
    rows = [
        _NewAccount(**msgspec.structs.asdict(each), created_at=tx.now, changed_at=tx.now)
        for each in sorted(accounts, key=lambda each: each.name)
    ]
    kept = {(row["provider"], row["livemode"]) for row in await tx.insert_many(KEEP_ACCOUNTS, rows)}
    return [each for each in accounts if (each.provider, each.livemode) in kept]


async def lock_accounts(tx: Tx, told: Sequence[AccountTold]) -> dict[str, KnownAccount]:
    """Those that are spoken of, by their names."""
    rows = await tx.lock(LOCK_ACCOUNTS, told, lambda each: account_name(each.provider, livemode=each.account.livemode))
    return {name: _account(row) for name, row in rows.items()}


async def change_accounts(tx: Tx, accounts: Sequence[KnownAccount]) -> None:
    """One row for each that was spoken of, or it is an error (FIN-022)."""
    ordered = sorted(accounts, key=lambda each: each.name)
    await tx.execute_exactly(
        len(ordered),
        CHANGE_ACCOUNTS,
        tx.now,
        *columns(ordered, "provider", "livemode", "account", "onboarding_status", "charges_enabled", "payouts_enabled"),
        [msgspec.json.encode(each.requirements_due).decode() for each in ordered],
        *columns(ordered, "told_at", "version"),
    )


def _account(row: Record) -> KnownAccount:
    return KnownAccount(
        Provider(row["provider"]),
        row["livemode"],
        row["account"],
        Onboarding(row["onboarding_status"]),
        row["charges_enabled"],
        row["payouts_enabled"],
        tuple(row["requirements_due"]),
        row["told_at"],
        row["version"],
    )
