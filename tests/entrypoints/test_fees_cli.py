"""Fees on the command line, as an operator sets them."""

import asyncpg

from admitone.finance.sources.api import Source, SourceType
from admitone.kernel.db import Database
from admitone.kernel.scope import Scope
from tests.entrypoints.operator import Operator
from tests.finance.pricing.offers import an_offer, price_of
from tests.people import a_person, an_organization_of

ENTRIES = "SELECT count(*) FROM kernel.audit_entry WHERE organization_id = $1 AND action = 'pricing.set_fee_policy'"


async def test_an_operator_sets_shows_and_retires_a_fee(
    operator: Operator, database: Database, superuser: asyncpg.Connection
):
    club = await an_organization_of(database, await a_person(database))
    here = ("--organization", str(club), "--currency", "EUR", "--reason", "CONTRACT_RENEWED")
    status, said = await operator.types("fees", "set", "--bps", "250", "--fixed", "50", "--mode", "ADDED", *here)
    assert status == 0 and said.startswith("fee_") and said.endswith("is version 1.\n"), said
    priced = await price_of(database, Scope(club, "test"), an_offer(1000))
    assert priced.snapshot.total == 1075
    status, said = await operator.types("fees", "show", "--organization", str(club))
    assert status == 0 and "250" in said and "ADDED" in said, said
    status, said = await operator.types("fees", "retire", *here)
    assert status == 0 and said.endswith("is version 2.\n"), said
    assert (await price_of(database, Scope(club, "test"), an_offer(1000))).snapshot.platform_fee == 50
    assert await superuser.fetchval(ENTRIES, club.uuid) == 2


async def test_an_operator_is_told_in_one_sentence_what_cannot_be(operator: Operator):
    status, said = await operator.types("fees", "set", "--bps", "250", "--fixed", "50", "--reason", "NEW_PRICES")
    assert (status, said) == (1, "This is no rule for a fee. what: currency\n")
    status, said = await operator.types("fees", "retire", "--reason", "NEW_PRICES")
    assert (status, said) == (1, "This rule cannot be retired, only changed.\n")


async def test_an_operator_is_warned_that_a_rule_for_a_type_comes_before_what_organisations_have_for_everything(
    operator: Operator, database: Database
):
    club = await an_organization_of(database, await a_person(database))
    why = ("--reason", "NEW_PRICES")
    own = await operator.types("fees", "set", "--bps", "300", "--organization", str(club), *why)
    assert own[0] == 0 and "comes before" not in own[1]
    only_here = ("--type", "STORE_ORDER", "--currency", "ISK", *why)
    try:
        status, said = await operator.types("fees", "set", "--bps", "900", *only_here)
        assert status == 0 and "a rule of its own for STORE_ORDER is stronger" in said, said
        offer = an_offer(1000, source=Source(SourceType.STORE_ORDER, "x"), currency="ISK")
        assert (await price_of(database, Scope(club, "test"), offer)).snapshot.platform_fee == 90
    finally:
        await operator.types("fees", "retire", *only_here)
