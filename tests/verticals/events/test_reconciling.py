"""Every hour what the stock counts as sold is compared with what people have."""

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from admitone.entitlements.api import TICKET, Entitlement, Grant, Revocation, Revoking, grant, revoke
from admitone.finance.sources.api import PaymentId, Source, SourceType
from admitone.kernel.batch import Batcher
from admitone.kernel.db import Tx
from admitone.kernel.ids import PLATFORM_ORGANIZATION, IdentityId, uuid7
from admitone.kernel.jobs import Delivered, Desk
from admitone.kernel.jobs.schedules import Firing
from admitone.kernel.scope import Caller
from admitone.selling.stock import api as stock
from admitone.verticals.events import reconciling
from admitone.verticals.events.model import EventId
from tests.alerts import alerts_about
from tests.verticals.events.office import Office
from tests.verticals.events.stage import NEXT_MONTH
from tests.verticals.events.test_reports import refund

TOLD = "SELECT type, payload::text AS payload FROM kernel.event_log WHERE organization_id = $1 AND type = ANY($2) ORDER BY id"
DOUBTS = "SELECT payload ->> 'event_id' FROM kernel.job WHERE organization_id = $1 AND kind = 'ticketing.recount'"


@pytest.fixture
def desk(office: Office, batcher: Batcher) -> Desk:
    return Desk(office.stage.database, batcher)


async def an_hour(office: Office, desk: Desk) -> list[str]:
    """The events that are looked at once more."""
    firing = Firing("ticketing.reconcile_sold_quantities", datetime.now(UTC))
    told = Delivered(uuid7(), PLATFORM_ORGANIZATION, firing, Caller(), str(uuid7()), None, 1, firing.at)
    await reconciling.reconcile.work(desk, told)
    rows = await office.stage.superuser.fetch(DOUBTS, office.stage.organization.uuid)
    return [row[0] for row in rows]


async def later(office: Office, desk: Desk, event: dict[str, Any]) -> list[tuple[str, str]]:
    """A quarter of an hour later; what was told by then."""
    doubt = reconciling.Doubtful(EventId.parse(event["eventId"]))
    now = datetime.now(UTC)
    told = Delivered(uuid7(), office.stage.organization, doubt, Caller(), str(uuid7()), None, 1, now)
    await reconciling.recount.work(desk, told)
    rows = await office.stage.superuser.fetch(
        TOLD, office.stage.organization.uuid, ["stock.strayed", "ticket_type.sold_differs"]
    )
    return [(row["type"], row["payload"]) for row in rows]


async def counted(office: Office, event: dict[str, Any], kind: dict[str, Any]) -> int:
    own = EventId.parse(event["eventId"])
    found = await office.stage.database.read(office.stage.scope, reconciling.count_sold, own)
    return found[kind["ticketTypeId"]]


async def shift(office: Office, kind: dict[str, Any], by: int) -> None:
    own = stock.PoolId.parse(kind["pool"]["poolId"]).uuid
    await office.stage.superuser.execute("UPDATE stock.pool SET sold = sold + $2 WHERE id = $1", own, by)


@pytest.mark.covers("PLT-030", "EVT-009")
async def test_partial_refunds_and_disputes_are_counted_right(office: Office, desk: Desk):
    event, [kind] = await office.on_sale()
    _whole, part, disputed, lost, back = [
        await office.pay(await office.order(event, (kind, quantity))) for quantity in (1, 3, 2, 4, 5)
    ]
    await office.order(event, (kind, 6))
    await refund(office, part, (kind, 1))
    await refund(office, back)
    for each in (disputed, lost):
        await office.settle(each, "dispute")
    await office.settle(lost, "lose")
    assert await counted(office, event, kind) == 1 + 2 + 2 + 0 + 0
    assert (await office.pool(kind)).sold == 5
    assert await an_hour(office, desk) == []


@pytest.mark.covers("PLT-030", "EVT-009")
@pytest.mark.parametrize("by", [-2, 3])
async def test_a_counter_that_strayed_is_put_right_within_the_hour_and_somebody_is_told(
    office: Office, desk: Desk, by: int
):
    event, [kind, other] = await office.on_sale({}, {"name": "Other"})
    await office.pay(await office.order(event, (kind, 4), (other, 1)))
    await shift(office, kind, by)
    assert await an_hour(office, desk) == [event["eventId"]]
    assert (await office.pool(kind)).sold == 4 + by, "nothing is changed before it was looked at once more"
    [(name, told)] = await later(office, desk, event)
    assert name == "stock.strayed"
    assert msgspec.json.decode(told)["putRight"]
    assert (await office.pool(kind)).sold == 4
    await office.work()
    assert len(await alerts_about(office.stage.superuser, kind["pool"]["poolId"], "stock.strayed")) == 1


@pytest.mark.covers("PLT-030")
async def test_what_counting_again_does_not_mend_is_told_and_left(office: Office, desk: Desk):
    """Somebody has a right that nobody sold: the stock decides, and is not changed for it."""
    event, [kind] = await office.on_sale()
    order = await office.order(event, (kind, 2))
    payment = await office.pay(order)
    await given(office, event, kind, payment, SourceType.TICKET_ORDER, order["orderId"], pieces=[7])
    assert await an_hour(office, desk) == [event["eventId"]]
    [(name, told)] = await later(office, desk, event)
    fact = msgspec.json.decode(told)
    assert (name, fact["counted"], fact["sold"]) == ("ticket_type.sold_differs", 3, 2)
    assert (await office.pool(kind)).sold == 2
    await office.work()
    [alert] = await alerts_about(office.stage.superuser, kind["ticketTypeId"], "ticketing.sold_differs")
    assert alert["concerns"] == office.stage.organization.uuid


@pytest.mark.covers("PLT-030")
async def test_what_is_still_under_way_is_no_fault(office: Office, desk: Desk):
    """A right was taken back a moment ago, and the stock has not heard of it."""
    event, [kind] = await office.on_sale()
    order = await office.order(event, (kind, 2))
    await office.pay(order)
    [right, _] = await office.rights(order)

    async def take_back(tx: Tx) -> None:
        await revoke(tx, [Revoking(Caller(), right.id, Revocation.ADMIN)])

    await office.stage.database.run(office.stage.scope, take_back)
    assert await an_hour(office, desk) == [event["eventId"]]
    await office.work()
    assert await later(office, desk, event) == []
    assert (await office.pool(kind)).sold == 1


@pytest.mark.covers("PLT-030")
async def test_a_pair_that_registered_for_a_tournament_counts_for_its_ticket_type(office: Office, desk: Desk):
    """CF-58: what is sold by another source out of the same stock is sold."""
    event, [kind] = await office.on_sale()
    payment = await office.pay(await office.order(event, (kind, 1)))
    await given(office, event, kind, payment, SourceType.PADEL_REGISTRATION, "pair-1", pieces=[0, 1])
    pool, item = stock.PoolId.parse(kind["pool"]["poolId"]), kind["ticketTypeId"]

    async def sell(tx: Tx) -> None:
        hold, portions = stock.HoldId.new(), (stock.Portion(pool, item, 2),)
        [kept] = await stock.keep(tx, [stock.Keep(1, hold, "pair-1", IdentityId.new(), portions, NEXT_MONTH)])
        [sold] = await stock.claim(tx, [stock.Claim(1, hold)])
        assert isinstance(kept, stock.Hold), kept
        assert isinstance(sold, stock.Hold), sold

    await office.stage.database.run(office.stage.scope, sell)
    assert (await counted(office, event, kind), (await office.pool(kind)).sold) == (3, 3)
    assert await an_hour(office, desk) == []


@pytest.mark.covers("PLT-030")
async def test_a_ticket_for_several_sessions_is_sold_once(office: Office, desk: Desk):
    days = [
        {
            "label": f"Day {day}",
            "startsAt": NEXT_MONTH.isoformat(),
            "endsAt": NEXT_MONTH.replace(minute=59, second=59).isoformat(),
        }
        for day in (1, 2)
    ]
    event, [kind] = await office.on_sale(schedule={"sessions": days})
    order = await office.order(event, (kind, 2))
    await office.pay(order)
    assert len(await office.rights(order)) == 4
    assert await counted(office, event, kind) == 2
    assert await an_hour(office, desk) == []


async def given(
    office: Office,
    event: dict[str, Any],
    kind: dict[str, Any],
    payment: PaymentId,
    source: SourceType,
    source_id: str,
    pieces: list[int],
) -> None:
    """Rights that no order of ours gave."""
    wanted = [
        Grant(
            caller=Caller(),
            emission_key=f"{source_id}:{kind['ticketTypeId']}:{piece}",
            source=Source(source, source_id),
            line_key=kind["ticketTypeId"],
            piece=piece,
            owner=office.buyer.identity,
            kind=TICKET.name,
            label="Standing",
            valid_from=NEXT_MONTH,
            valid_until=NEXT_MONTH.replace(year=NEXT_MONTH.year + 1),
            event_id=event["eventId"],
            policy_version=1,
            payment=payment,
        )
        for piece in pieces
    ]
    for outcome in await office.stage.database.run(office.stage.scope, lambda tx: grant(tx, wanted)):
        assert isinstance(outcome, Entitlement), outcome


async def test_one_event_that_cannot_be_counted_keeps_no_other_waiting(
    office: Office, desk: Desk, monkeypatch: pytest.MonkeyPatch
):
    events = [await office.on_sale() for _ in range(2)]
    for event, [kind] in events:
        await office.pay(await office.order(event, (kind, 1)))
        await shift(office, kind, 1)
    first = events[0][0]["eventId"]

    async def count(tx: Tx, event: EventId) -> list[reconciling.Difference]:
        if str(event) == first:
            raise RuntimeError("planted")
        return await whole(tx, event)

    whole = reconciling.find_differences
    monkeypatch.setattr(reconciling, "find_differences", count)
    with pytest.raises(ExceptionGroup):
        await an_hour(office, desk)
    rows = await office.stage.superuser.fetch(DOUBTS, office.stage.organization.uuid)
    assert [row[0] for row in rows] == [events[1][0]["eventId"]]
