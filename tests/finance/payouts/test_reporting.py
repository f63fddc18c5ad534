"""What providers pay out themselves: a read model, released by its own id, and nothing follows from it at any provider."""

from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg
import httpx
import pytest

from admitone.finance.gateways.api import PayoutStatus, Provider
from admitone.finance.gateways.port import GATEWAYS, Gateways
from admitone.finance.payouts.commands.paying import hear
from admitone.finance.payouts.model import Report
from admitone.finance.payouts.store import payouts as store
from admitone.kernel.db import Database
from admitone.kernel.ids import PLATFORM_ORGANIZATION, uuid7
from admitone.kernel.scope import Caller, Scope
from tests.alerts import alerts_about
from tests.builders import an_organization
from tests.conftest import INTERNAL_SECRET
from tests.finance.lives import FEES, PAY, deed, live
from tests.finance.payments.telling import published
from tests.finance.payouts.owing import Stay, all_there, decided, happened
from tests.finance.world import World

NOON = datetime(2026, 2, 16, 12, tzinfo=UTC)
LAST = (datetime(9000, 1, 1, tzinfo=UTC), "")


def a_report(reference: str, status: PayoutStatus = PayoutStatus.PAID, minutes: int = 0, **more: Any) -> Report:
    said = {"amount_minor": 4700, "currency": "EUR"} | more
    return Report(Caller(), Provider.SANDBOX, reference, status, at=NOON + timedelta(minutes=minutes), **said)


async def heard(world: World, *reports: Report) -> None:
    await world.database.run(world.scope, lambda tx: hear(tx, reports))


async def shown(world: World) -> list[tuple[str, str, bool]]:
    found = await world.database.read(world.scope, store.list_reported, LAST, 100)
    return [(each.reference, each.status.value, each.released_at is not None) for each in found]


async def release(http: httpx.AsyncClient) -> dict[str, int]:
    headers = {"x-orya-internal-secret": INTERNAL_SECRET}
    answer = await http.post("/api/cron/payouts/release", headers=headers)
    assert answer.status_code == 200, answer.text
    told: dict[str, int] = answer.json()
    return told


@pytest.fixture(autouse=True)
async def nothing_to_release(superuser: asyncpg.Connection) -> None:
    """The release is everybody's: what another test left would count."""
    await superuser.execute("UPDATE payouts.reported SET released_at = now() WHERE released_at IS NULL")


@pytest.mark.covers("FIN-064", "FIN-090")
async def test_what_a_provider_pays_out_itself_is_shown_and_the_books_do_not_move(world: World):
    await live(world, (PAY, FEES))
    reference = f"po_{uuid7().hex}"
    before = await world.transfers(await live(world, (PAY,)))
    await heard(world, a_report(reference, PayoutStatus.PENDING))
    for _ in range(2):
        await heard(world, a_report(reference, minutes=1))
    assert await shown(world) == [(reference, "PAID", False)]
    await heard(world, a_report(reference, PayoutStatus.PENDING))
    assert await shown(world) == [(reference, "PAID", False)]
    await heard(world, a_report(reference, PayoutStatus.FAILED, minutes=2, code="account_closed"))
    assert await shown(world) == [(reference, "FAILED", False)]
    assert await world.transfers(await live(world, (PAY,))) == before
    assert await published(world, "payout.unknown") == 0


@pytest.mark.covers("FIN-090", "FIN-006")
async def test_a_release_is_once_and_touches_no_provider(world: World, http: httpx.AsyncClient):
    references = sorted(f"po_{uuid7().hex}" for _ in range(3))
    await heard(world, *(a_report(each) for each in references))
    with GATEWAYS.wired(Gateways([])):  # There is nobody to ask.
        assert await release(http) == {"released": 3, "failed": 0, "held": 0}
        assert await release(http) == {"released": 0, "failed": 0, "held": 0}
    assert sorted(await shown(world)) == [(each, "PAID", True) for each in references]
    assert all_there(world) == []
    answer = await http.post("/api/cron/payouts/release")
    assert answer.status_code in (401, 403)


@pytest.mark.covers("FIN-090", "FIN-091")
async def test_what_is_blocked_is_not_released_until_nothing_is_disputed(
    world: World, http: httpx.AsyncClient, superuser: asyncpg.Connection
):
    ticket = Stay(await live(world, (PAY, FEES, deed("dispute"))), "")
    await happened(world, ticket)
    reference = f"po_{uuid7().hex}"
    await heard(world, a_report(reference))
    assert await release(http) == {"released": 0, "failed": 0, "held": 1}
    assert await shown(world) == [(reference, "PAID", False)]
    [alert] = await alerts_about(superuser, str(world.organization), "payouts.blocked")
    assert alert["resolved_at"] is None
    charge = (await world.payment(ticket.payment)).charge_id
    assert charge is not None
    await decided(world, Stay(ticket.payment, charge), "win")
    assert await release(http) == {"released": 1, "failed": 0, "held": 0}


@pytest.mark.covers("FIN-090")
async def test_a_payout_of_the_providers_own_that_failed_is_told_until_one_arrives(
    world: World, http: httpx.AsyncClient, superuser: asyncpg.Connection
):
    about = f"{world.organization}:{world.organization.uuid}"
    await heard(world, a_report(f"po_{uuid7().hex}", PayoutStatus.FAILED, code="account_closed"))
    assert (await release(http))["failed"] == 1
    [alert] = await alerts_about(superuser, about, "payouts.not_paid")
    assert alert["resolved_at"] is None
    await heard(world, a_report(f"po_{uuid7().hex}"))
    await release(http)
    [alert] = await alerts_about(superuser, about, "payouts.not_paid")
    assert alert["resolved_at"] is not None


@pytest.mark.covers("MOR-035")
async def test_a_payout_that_can_be_nobodys_is_told_of_once(database: Database, superuser: asyncpg.Connection):
    """To an account that no organisation of ours has, or of an organisation that has none: whoever reconciles is told."""
    stranger = await an_organization(database)
    for scope in (Scope(PLATFORM_ORGANIZATION, "test"), stranger):
        reference = f"po_{uuid7().hex}"
        for _ in range(3):
            report = a_report(reference)
            await database.run(scope, lambda tx, report=report: hear(tx, [report]))  # type: ignore[misc]
        told = await superuser.fetch(
            "SELECT payload::text FROM kernel.event_log WHERE type = 'payout.unknown' AND subject_id = $1", reference
        )
        assert len(told) == 1


@pytest.mark.covers("MOR-035")
@pytest.mark.parametrize("status", PayoutStatus)
async def test_what_goes_to_the_platforms_own_bank_is_nothing_unknown(
    database: Database, superuser: asyncpg.Connection, status: PayoutStatus
):
    """Of an organisation that has no account there it is."""
    stranger = await an_organization(database)
    for scope, unknown in ((Scope(PLATFORM_ORGANIZATION, "test"), 0), (stranger, 1)):
        report = a_report(f"po_{uuid7().hex}", status, to_bank=True)
        await database.run(scope, lambda tx, report=report: hear(tx, [report]))  # type: ignore[misc]
        told = "SELECT count(*) FROM kernel.event_log WHERE type = 'payout.unknown' AND subject_id = $1"
        assert await superuser.fetchval(told, report.reference) == unknown
        kept = await database.read(scope, store.find_reported, report.provider, [report.reference])
        assert kept[report.reference].status is status
