"""What keeps new checkouts from beginning: each by itself, and nothing else (FIN-018)."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import asyncpg
import pytest

from admitone.finance.gateways.api import Account
from admitone.finance.payments import errors
from admitone.finance.payments.api import change_accounts
from admitone.finance.payments.commands.checkouts import Begun, begin
from admitone.finance.payments.commands.holds import HoldOrder, lift_holds, place_holds
from admitone.finance.payments.model import AccountTold, KnownAccount, Onboarding, Scenario
from admitone.finance.payments.store.accounts import find_accounts
from admitone.finance.sources.api import SourceType
from admitone.foundation.authority.commands.switches import SCOPE, Lift, Stop, lift, stop
from admitone.foundation.authority.model import StopKind, Target
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import IdentityId
from admitone.kernel.scope import Caller, Scope
from tests.builders import a_caller
from tests.finance.payments.accounts import an_account_of
from tests.finance.world import World
from tests.people import an_organization_of

EVENT = "evt_0198c9a40000700080000000000000aa"


@pytest.fixture
async def nothing_stays_stopped(superuser: asyncpg.Connection) -> AsyncIterator[None]:
    yield
    await superuser.execute("DELETE FROM authority.switch WHERE key LIKE 'stop:%'")


async def tried(world: World, *lines: int, **offer: object) -> Begun | Refusal:
    """Somebody begins to pay for something new, or is told why not."""
    source = world.shop.sells(world.buyer.identity, *(lines or (2500,)), **offer)
    checkout = world.checkout(source, counted=True)
    [outcome] = await world.database.run(world.scope, lambda tx: begin(tx, [checkout]))
    return outcome


async def account_becomes(world: World, deed: str) -> KnownAccount:
    """Something happens to the organisation's account at the provider, and we are told."""
    [(_, known)] = (await world.database.read(world.scope, find_accounts)).items()
    world.simulator.act(deed, known.account)
    said = await world.gateway.find_account(Caller(), known.account)
    assert isinstance(said, Account)
    told = AccountTold(Caller(), known.provider, said, datetime.now(UTC))
    [changed] = await world.database.run(world.scope, lambda tx: change_accounts(tx, [told]))
    assert isinstance(changed, KnownAccount)
    return changed


@pytest.mark.covers("FIN-018", "FIN-020")
async def test_an_account_that_falls_back_stops_paid_checkouts_until_it_is_in_order_again(world: World):
    assert isinstance(await tried(world), Begun)
    assert (await account_becomes(world, "restrict")).onboarding_status is Onboarding.RESTRICTED
    assert await tried(world) == errors.ConnectNotReady()
    assert (await account_becomes(world, "complete")).onboarding_status is Onboarding.COMPLETE
    assert isinstance(await tried(world), Begun)


@pytest.mark.covers("FIN-018")
async def test_an_organisation_without_an_account_that_is_complete_gives_away_and_sells_nothing(world: World):
    for requirements in (None, ("external_account",)):
        organization = await an_organization_of(world.database, world.owner)
        world.organization = organization
        if requirements:
            await an_account_of(
                world.database, world.scope, charges_enabled=False, requirements_due=requirements, payouts_enabled=False
            )
        assert await tried(world) == errors.ConnectNotReady()
        free = await tried(world, 0)
        assert isinstance(free, Begun)
        assert free.payment.scenario is Scenario.FREE_CHECKOUT
        # Nothing of a campaign's price goes on to the organisation, so it needs no account of its own.
        assert isinstance(await tried(world, type=SourceType.COUPON_CAMPAIGN), Begun)


@pytest.mark.covers("FIN-018")
@pytest.mark.parametrize("lines", [(2500,), (0,)])
async def test_a_risk_hold_stops_paid_and_free_checkouts_until_it_is_lifted(world: World, lines: tuple[int, ...]):
    order = HoldOrder(a_caller(), "DISPUTES_RISING")
    assert isinstance(await tried(world, *lines), Begun)
    await world.submit(place_holds, order)
    assert await tried(world, *lines) == errors.OnRiskHold()
    await world.submit(lift_holds, order)
    assert isinstance(await tried(world, *lines), Begun)


@pytest.mark.covers("FIN-018")
@pytest.mark.usefixtures("nothing_stays_stopped")
@pytest.mark.parametrize("kind", list(StopKind))
async def test_a_kill_switch_stops_what_it_names_and_nothing_else(world: World, kind: StopKind):
    subjects = {
        StopKind.EVENT: EVENT,
        StopKind.ORGANIZATION: str(world.organization),
        StopKind.IDENTITY: str(world.buyer.identity),
        StopKind.PLATFORM: None,
    }
    said = {
        "caller": Caller(IdentityId.new()),
        "target": Target(kind, subjects[kind]),
        "reason_code": "FRAUD_SUSPECTED",
        "case_reference": "case-1",
    }
    offer = {"subjects": (f"event:{EVENT}",)}
    assert isinstance(await tried(world, **offer), Begun)
    ends = datetime.now(UTC) + timedelta(hours=1)
    assert not isinstance(
        (await world.database.run(SCOPE, lambda tx: stop(tx, [Stop(**said, expires_at=ends)])))[0], Refusal
    )
    assert await tried(world, **offer) == errors.SaleStopped()
    if kind is StopKind.EVENT:
        assert isinstance(await tried(world, subjects=("event:evt_0198c9a40000700080000000000000ab",)), Begun)
    await world.database.run(SCOPE, lambda tx: lift(tx, [Lift(**said)]))
    assert isinstance(await tried(world, **offer), Begun)


async def test_a_hold_of_another_organisation_stops_nobody_else(world: World):
    other = await an_organization_of(world.database, world.owner)
    order = HoldOrder(a_caller(), "DISPUTES_RISING")
    await world.database.run(Scope(other, "test"), lambda tx: place_holds(tx, [order]))
    assert isinstance(await tried(world), Begun)
