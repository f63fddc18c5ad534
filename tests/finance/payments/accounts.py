"""Accounts at providers, as tests need them."""

from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from admitone.finance.gateways.api import Account, Provider
from admitone.finance.payments.commands.accounts import keep_accounts
from admitone.finance.payments.model import AccountTold, KnownAccount, Onboarding
from admitone.kernel.db import Database
from admitone.kernel.ids import OrganizationId
from admitone.kernel.scope import Scope
from tests.builders import a_caller

THEN = datetime(2026, 5, 1, 9, 30, tzinfo=UTC)
NUMBERS = count(1)


def an_account(own: str | None = None, **more: Any) -> Account:
    """One that may do everything."""
    said: dict[str, Any] = {
        "id": own or f"acct_{next(NUMBERS)}_{OrganizationId.new().uuid.hex[-12:]}",
        "type": "standard",
        "charges_enabled": True,
        "payouts_enabled": True,
        "requirements_due": (),
        "livemode": False,
        "organization": None,
    }
    return Account(**{**said, **more})


def told(account: Account, minutes: int = 0, provider: Provider = Provider.SANDBOX) -> AccountTold:
    """That it was so, so many minutes after the beginning."""
    return AccountTold(a_caller(), provider, account, THEN + timedelta(minutes=minutes))


async def an_account_of(database: Database, scope: Scope, **more: Any) -> KnownAccount:
    """The organisation's account, as the provider opened it; it may take money unless said otherwise."""
    [kept] = await database.run(scope, lambda tx: keep_accounts(tx, [told(an_account(**more))]))
    assert isinstance(kept, KnownAccount), kept
    return kept


async def a_complete_account(database: Database, scope: Scope) -> KnownAccount:
    kept = await an_account_of(database, scope)
    assert kept.onboarding_status is Onboarding.COMPLETE
    return kept
