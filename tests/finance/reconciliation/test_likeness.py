"""What a transfer says that a provider moved is said twice, in SQL and in Python, and both say the same."""

import os
from datetime import UTC, datetime

import pytest

from admitone.finance.gateways.api import Movement, MovementKind
from admitone.finance.ledger import api as ledger
from admitone.finance.ledger.api import EntryType, Span, Weighing
from admitone.finance.ledger.policy import AMOUNTS
from admitone.finance.ledger.templates import TEMPLATES
from admitone.finance.reconciliation.comparing.likeness import KIND, LIKENESS, NOT_COMPARED, kind_of, minor_of
from admitone.finance.reconciliation.comparing.sums import Sums
from admitone.finance.sources.api import PaymentId
from admitone.kernel.db import Database
from tests.finance.ledger.books import a_posting, an_organization, booked

NOW = datetime.now(UTC)


async def test_every_template_is_understood_alike_here_and_in_the_database(database: Database):
    scope, payments = await an_organization(database), []
    for number, (event, flow) in enumerate(TEMPLATES):
        payments.append(PaymentId.new())
        amounts = dict.fromkeys(AMOUNTS[event, flow], 100 + number)
        said = {"payment": payments[-1], "reference": f"obj_{number}", "metadata": {KIND: "REFUND"}}
        await booked(database, scope, a_posting(event, flow, **amounts, **said))
    weighing = Weighing(LIKENESS, os.urandom(16), 64, Span(), NOW)
    page = await database.read(scope, ledger.list_placed, weighing, range(64), weighing.span.ids[0])
    in_sql = sorted((each.payment, each.entry_type, each.kind, each.minor) for each in page.transfers)
    transfers = await database.read(scope, ledger.list_transfers_of, payments)
    in_python = sorted(
        (each.payment_id, each.entry_type, kind, minor_of(each, kind))
        for each in transfers
        if (kind := kind_of(each)) is not None
    )
    assert in_sql == in_python
    assert {entry for _, entry, _, _ in in_sql} | NOT_COMPARED.keys() >= {EntryType.GROSS, EntryType.RECON_ROUNDING}
    assert len(in_sql) > 50


@pytest.mark.parametrize("reference", ["ch_1", "", "ção ção", "x" * 200, "ch 1 EUR"])
async def test_both_sides_place_and_weigh_an_object_alike(database: Database, reference: str):
    """Else nothing would ever agree: whatever a provider calls its things."""
    scope = await an_organization(database)
    posting = a_posting(ledger.Event.CAPTURED, gross=4321, fee=0, transfer=0, reference=reference or None)
    await booked(database, scope, posting)
    sums = Sums(None, NOW, datetime.now(UTC))
    movement = Movement("mov_1", MovementKind.CHARGE, reference, 4321, "EUR", NOW, None, None)
    sums.add_there([movement])
    page = await database.read(scope, ledger.weigh, sums.weighing(Span()), sums.span.ids[0])
    [weighed] = page.sums
    assert weighed.bucket == sums.bucket_of(movement)
    assert weighed.weighed == sums.buckets[weighed.bucket] != 0
    sums.add_here(page.sums)
    assert not any(sums.buckets)
    assert sums.moved == {"EUR": [4321, 4321]}


def test_an_amount_weighs_by_its_object_and_by_the_secret():
    one, other = (Sums(None, NOW, NOW) for _ in range(2))
    assert one.place("CHARGE", "ch_1", "EUR") != one.place("CHARGE", "ch_1", "BRL")
    assert one.place("CHARGE", "ch_1", "EUR") != other.place("CHARGE", "ch_1", "EUR")
