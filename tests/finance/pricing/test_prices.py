"""Prices by the rules that are in force, for many offers at once."""

from admitone.finance.pricing.api import (
    AmountInvalid,
    CurrencyUnknown,
    FeeMode,
    NothingToPrice,
    Priced,
)
from admitone.finance.sources.api import Bearer, SettlementModel
from admitone.kernel.db import Database
from tests.finance.pricing.offers import (
    a_shop,
    an_offer,
    price_of,
    prices_of,
)


async def test_without_policies_of_its_own_an_organisation_pays_what_the_platform_takes(database: Database):
    scope = await a_shop(database)
    snapshot = (await price_of(database, scope, an_offer((1000, 2), 550))).snapshot
    assert (snapshot.gross, snapshot.platform_fee, snapshot.total, snapshot.net_to_org_pending) == (
        2550,
        128,
        2550,
        2422,
    )
    assert (snapshot.fee_mode, snapshot.fee_bps) == (FeeMode.INCLUDED, 500)
    assert (snapshot.settlement_model, snapshot.processor_fee_bearer) == (SettlementModel.ORG_MOR, Bearer.ORG)


async def test_one_refused_offer_does_not_spoil_the_others(database: Database):
    scope = await a_shop(database)
    offers = [an_offer(), an_offer(1000), an_offer(1000, currency="XXX"), an_offer(-1), an_offer(2000)]
    nothing, first, unknown, negative, second = await prices_of(database, scope, offers)
    assert [nothing, unknown, negative] == [NothingToPrice(), CurrencyUnknown(), AmountInvalid(what="unitPrice")]
    assert [each.snapshot.total for each in (first, second) if isinstance(each, Priced)] == [1000, 2000]


async def test_nothing_but_refusals_asks_the_database_nothing(database: Database):
    scope = await a_shop(database)
    assert await prices_of(database, scope, [an_offer(), an_offer()]) == [NothingToPrice(), NothingToPrice()]
    assert await prices_of(database, scope, []) == []
