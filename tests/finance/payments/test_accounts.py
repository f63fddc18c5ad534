"""What providers say of accounts: who may take money, and when that ends."""

from datetime import UTC, datetime
from typing import Any

import asyncpg
import msgspec
import pytest

from admitone.finance.gateways.api import Account, ObjectType, Provider, Ref
from admitone.finance.payments.api import change_accounts, find_owners
from admitone.finance.payments.commands.accounts import keep_accounts
from admitone.finance.payments.errands import ask_about_account
from admitone.finance.payments.errors import AccountMismatch, AccountTypeRefused
from admitone.finance.payments.facts import AccountUnclear
from admitone.finance.payments.model import AccountTold, KnownAccount, Onboarding
from admitone.finance.payments.policy import onboarding_of
from admitone.finance.payments.store import accounts as store
from admitone.kernel.db import Database
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import PLATFORM_ORGANIZATION, OrganizationId, uuid7
from admitone.kernel.jobs import Delivered, Desk
from admitone.kernel.scope import Caller, Scope
from admitone.kernel.transactions import WrongCount
from tests.builders import an_organization, rows_of
from tests.finance.payments.accounts import an_account, an_account_of, told
from tests.finance.world import World
from tests.foundation.organizations.clubs import facts_of

READY = {"charges_enabled": True, "payouts_enabled": True, "requirements_due": ()}
NOT_YET = {"charges_enabled": False, "payouts_enabled": False, "requirements_due": ("external_account",)}
SHORT_OF = {"charges_enabled": True, "payouts_enabled": True, "requirements_due": ("representative.dob",)}
CLOSED = {"charges_enabled": False, "payouts_enabled": False, "requirements_due": (), "rejected": True}
REJECTED = READY | {"rejected": True}
PENDING, COMPLETE, RESTRICTED = Onboarding


async def heard(database: Database, scope: Scope, *news: AccountTold) -> list[KnownAccount | Refusal]:
    return [*await database.run(scope, lambda tx: change_accounts(tx, news))]


async def held(database: Database, scope: Scope) -> list[KnownAccount]:
    return [*(await database.read(scope, store.find_accounts)).values()]


@pytest.mark.covers("FIN-020")
@pytest.mark.parametrize(
    ("before", "said", "after"),
    [
        (PENDING, NOT_YET, PENDING),
        (PENDING, READY, COMPLETE),
        (PENDING, SHORT_OF, PENDING),
        (PENDING, CLOSED, RESTRICTED),
        (COMPLETE, READY, COMPLETE),
        (COMPLETE, NOT_YET, RESTRICTED),
        (COMPLETE, SHORT_OF, RESTRICTED),
        (COMPLETE, CLOSED, RESTRICTED),
        (PENDING, REJECTED, RESTRICTED),
        (COMPLETE, REJECTED, RESTRICTED),
        (RESTRICTED, NOT_YET, RESTRICTED),
        (RESTRICTED, READY, COMPLETE),
    ],
)
def test_an_account_is_complete_while_it_may_charge_and_owes_nothing(
    before: Onboarding, said: dict[str, Any], after: Onboarding
):
    assert onboarding_of(an_account(**said), before) is after


@pytest.mark.covers("FIN-020")
async def test_an_account_that_was_rejected_takes_no_money_whatever_else_is_said_of_it(database: Database):
    scope = await an_organization(database)
    kept = await an_account_of(database, scope)
    for minute, (said, state) in enumerate([(REJECTED, RESTRICTED), (READY, COMPLETE), (REJECTED, RESTRICTED)]):
        [now] = await heard(database, scope, told(an_account(kept.account, **said), minute))
        assert isinstance(now, KnownAccount)
        assert now.onboarding_status is state
        assert await held(database, scope) == [now]


@pytest.mark.covers("FIN-020")
async def test_an_account_goes_from_pending_to_complete_to_restricted_and_back(database: Database):
    scope = await an_organization(database)
    kept = await an_account_of(database, scope, **NOT_YET)
    said = [READY, SHORT_OF, READY]
    states = [kept.onboarding_status]
    for minute, each in enumerate(said, start=1):
        [now] = await heard(database, scope, told(an_account(kept.account, **each), minute))
        assert isinstance(now, KnownAccount)
        assert await held(database, scope) == [now]
        states.append(now.onboarding_status)
    assert states == [PENDING, COMPLETE, RESTRICTED, COMPLETE]


async def test_what_is_older_than_what_we_know_undoes_nothing(database: Database):
    scope = await an_organization(database)
    kept = await an_account_of(database, scope, **NOT_YET)
    old, new = told(an_account(kept.account, **NOT_YET), 5), told(an_account(kept.account, **READY), 9)
    for news in ([new, old], [old], [new]):
        outcomes = await heard(database, scope, *news)
        assert {each.onboarding_status for each in outcomes if isinstance(each, KnownAccount)} == {COMPLETE}
    assert (await held(database, scope))[0].version == 2


async def test_of_one_instant_that_counts_which_lets_the_organisation_do_less(database: Database):
    scope = await an_organization(database)
    kept = await an_account_of(database, scope, **NOT_YET)
    ready, short = told(an_account(kept.account, **READY), 1), told(an_account(kept.account, **SHORT_OF), 1)
    for news in ([ready], [short], [ready]):
        await heard(database, scope, *news)
    [account] = await held(database, scope)
    assert account.onboarding_status is RESTRICTED


async def test_what_was_told_twice_for_one_instant_is_asked(world: World, superuser: asyncpg.Connection):
    """A provider tells whole seconds; which of two was later, it knows itself."""
    [kept] = await held(world.database, world.scope)
    at = datetime.now(UTC)
    less = AccountTold(Caller(), kept.provider, an_account(kept.account, **SHORT_OF), at)
    more = msgspec.structs.replace(less, account=an_account(kept.account, **READY))
    for news in (less, more, less):
        await heard(world.database, world.scope, news)  # The first is news, the second unclear, the third known.
    assert (await held(world.database, world.scope))[0].onboarding_status is RESTRICTED
    [fact] = await facts_of(superuser, world.organization, "finance.account_unclear")
    told = msgspec.json.decode(fact["payload"], type=AccountUnclear)
    # One id of a provider's in some hundreds looks like a number of somebody's, and does not stand in a fact.
    told = msgspec.structs.replace(told, account_id="acct_[redacted]")

    desk = Desk(world.database, world.batcher)
    await ask_about_account.work(desk, Delivered(uuid7(), world.organization, told, Caller(), "unclear", None, 1, at))
    assert (await held(world.database, world.scope))[0].onboarding_status is COMPLETE
    await heard(world.database, world.scope, less)  # It comes once more, and is old now.
    assert (await held(world.database, world.scope))[0].onboarding_status is COMPLETE


@pytest.mark.covers("FIN-004")
async def test_only_standard_accounts_are_connected(database: Database):
    scope = await an_organization(database)
    express = told(an_account(type="express"))
    assert await database.run(scope, lambda tx: keep_accounts(tx, [express])) == [AccountTypeRefused()]
    assert await rows_of(database, scope, "payments.account") == 0
    kept = await an_account_of(database, scope)
    assert await heard(database, scope, told(an_account(kept.account, type="custom"), 1)) == [AccountTypeRefused()]
    assert await held(database, scope) == [kept]


@pytest.mark.covers("FIN-022")
@pytest.mark.parametrize(
    "otherwise",
    [
        {"id": "acct_of_nobody"},
        {"livemode": True},
        {"organization": OrganizationId.new()},
    ],
)
async def test_an_account_that_does_not_fit_is_refused_and_changes_nothing(
    database: Database, otherwise: dict[str, Any]
):
    scope = await an_organization(database)
    kept = await an_account_of(database, scope)
    account = msgspec.structs.replace(an_account(kept.account, **NOT_YET), **otherwise)
    fitting = told(an_account(kept.account, **SHORT_OF, organization=scope.organization), 1)
    refused, changed = await heard(database, scope, told(account, 1), fitting)
    assert refused == AccountMismatch()
    assert isinstance(changed, KnownAccount)
    assert await held(database, scope) == [changed]


@pytest.mark.covers("FIN-022")
async def test_an_account_belongs_to_one_organisation_at_most(database: Database):
    first, second, nobody = [await an_organization(database) for _ in range(3)]
    kept = await an_account_of(database, first)
    account = an_account(kept.account)
    assert await database.run(second, lambda tx: keep_accounts(tx, [told(account)])) == [AccountMismatch()]
    for scope in (second, nobody):
        assert await heard(database, scope, told(account, 1)) == [AccountMismatch()]
        assert await held(database, scope) == []
    ref = Ref(ObjectType.ACCOUNT, kept.account)
    platform = Scope(PLATFORM_ORGANIZATION, "test")
    owners = await database.read(platform, lambda tx: find_owners(tx, Provider.SANDBOX, [ref]))
    assert [each.organization for each in owners.values()] == [first.organization]


@pytest.mark.covers("FIN-022")
async def test_an_organisation_does_not_get_a_second_account_in_place_of_its_first(database: Database):
    scope = await an_organization(database)
    kept = await an_account_of(database, scope)
    assert await database.run(scope, lambda tx: keep_accounts(tx, [told(an_account(), 1)])) == [AccountMismatch()]
    assert await held(database, scope) == [kept]


@pytest.mark.covers("FIN-022")
async def test_a_change_that_would_reach_no_row_is_an_error(database: Database):
    scope = await an_organization(database)
    kept = await an_account_of(database, scope)
    with pytest.raises(WrongCount):
        await database.run(scope, lambda tx: store.change_accounts(tx, [kept]))  # Not one version further.


@pytest.mark.covers("FIN-092")
async def test_ten_updates_that_say_the_same_are_told_once(database: Database, superuser: asyncpg.Connection):
    scope = await an_organization(database)
    kept = await an_account_of(database, scope, **NOT_YET)

    async def fingerprints() -> list[str]:
        facts = await facts_of(superuser, scope.organization, "finance.account_changed")
        return [msgspec.json.decode(each["payload"])["fingerprint"] for each in facts]

    async def say(minute: int, said: Account) -> None:
        await heard(database, scope, told(said, minute))

    assert len(await fingerprints()) == 1
    for minute in range(10):
        await say(1 + minute, an_account(kept.account, **READY))
    assert len(await fingerprints()) == 2
    await say(20, an_account(kept.account, **READY | {"requirements_due": ("a", "b")}))
    await say(21, an_account(kept.account, **READY | {"requirements_due": ("b", "a")}))
    assert len(set(await fingerprints())) == len(await fingerprints()) == 3
