"""Every class of difference is found, and none is invented."""

import asyncpg
import pytest

from admitone.finance.gateways.api import MovementKind, Provider
from admitone.finance.gateways.port import GATEWAYS, Gateways, SandboxGateway
from admitone.finance.ledger.api import Event
from tests.finance.lives import FEES, PAY, a_busy_life, live
from tests.finance.reconciliation.books import AN_HOUR, Sides

K = MovementKind
SALE = {"fee": 0, "transfer": 0}


@pytest.mark.covers("FIN-043")
async def test_books_that_agree_have_no_issue(sides: Sides):
    await a_busy_life(sides.world)
    run = await sides.run()
    assert await sides.open() == set()
    assert run.state == "DONE"
    assert run.counts["MATCHED"] > 30
    assert {name for name, count in run.counts.items() if count} == {"MATCHED", "MOVEMENTS", "TRANSFERS"}
    assert all(both.here_minor == both.there_minor for both in run.sums.values())
    assert {*run.sums} == {"EUR", "BRL"}


@pytest.mark.covers("FIN-043")
async def test_every_class_is_found_as_what_it_is(sides: Sides):
    await live(sides.world, (PAY, FEES))
    sides.moved(777, "ch_nobody")
    await sides.posted(Event.CAPTURED, "ch_invented", gross=500, **SALE)
    sides.moved(5000, "ch_amount")
    await sides.posted(Event.CAPTURED, "ch_amount", gross=4000, **SALE)
    sides.moved(300, "txn_fee", K.FEE)
    await sides.posted(Event.FEES_FINAL, "txn_fee", fee=100)
    sides.moved(5000, "ch_currency")
    await sides.posted(Event.CAPTURED, "ch_currency", gross=5000, currency="BRL", **SALE)
    await sides.posted(Event.CAPTURED, "ch_twice_here", gross=900, **SALE)
    await sides.posted(Event.CAPTURED, "ch_twice_here", gross=900, **SALE)
    sides.moved(900, "ch_twice_here")
    await sides.posted(Event.CAPTURED, "ch_twice_there", gross=800, **SALE)
    sides.moved(800, "ch_twice_there")
    sides.moved(800, "ch_twice_there")
    sides.moved(888, "ch_young", after=AN_HOUR)
    run = await sides.run()
    assert await sides.open() == {
        ("MISSING_HERE", "CHARGE", "ch_nobody", 0, 777),
        ("MISSING_THERE", "CHARGE", "ch_invented", 500, 0),
        ("AMOUNT", "CHARGE", "ch_amount", 4000, 5000),
        ("FEE", "FEE", "txn_fee", 100, 300),
        ("CURRENCY", "CHARGE", "ch_currency", 5000, 5000),
        ("DUPLICATE", "CHARGE", "ch_twice_here", 1800, 900),
        ("DUPLICATE", "CHARGE", "ch_twice_there", 800, 1600),
    }
    counts = {name: run.counts[name] for name in ("MISSING_HERE", "MISSING_THERE", "AMOUNT", "FEE", "CURRENCY")}
    assert set(counts.values()) == {1}
    assert (run.counts["DUPLICATE"], run.counts["TIMING"], run.counts["MATCHED"]) == (2, 1, 3)
    [other] = [each.found for each in await sides.issues() if each.found.difference == "CURRENCY"]
    assert (other.here_currency, other.currency) == ("BRL", "EUR")


class Silent(SandboxGateway):
    """A provider that shows no journal."""

    provider = Provider.OPENPIX
    abilities = frozenset()


async def test_what_went_through_a_provider_without_a_journal_is_compared_with_nothing(
    sides: Sides, superuser: asyncpg.Connection
):
    world = sides.world
    await live(world, (PAY, FEES))
    unseen, _ = await world.opened(world.shop.sells(world.buyer.identity, 5000))
    await superuser.execute("UPDATE payments.payment SET provider = 'openpix' WHERE id = $1", unseen.uuid)
    await sides.posted(Event.CAPTURED, "ox_1", payment=unseen, gross=5000, **SALE)
    sides.moved(777, "ch_nobody")
    both = Gateways([world.gateway, Silent.in_process(world.simulator)])
    with GATEWAYS.wired(both):
        run = await sides.run()
    assert await sides.open() == {("MISSING_HERE", "CHARGE", "ch_nobody", 0, 777)}
    assert (run.counts["NOT_COMPARED"], run.counts["MATCHED"], run.counts["TRANSFERS"]) == (1, 3, 3)
    assert run.state == "DONE"
    await sides.run()
    assert ("MISSING_THERE", "CHARGE", "ox_1", 5000, 0) in await sides.open(), "without it, who else moved it?"
