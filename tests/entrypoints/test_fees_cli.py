"""Fees on the command line, as an operator sets them."""

import asyncpg

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
    assert (status, said) == (1, "The rule for everything cannot be retired, only changed.\n")
