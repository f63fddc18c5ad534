"""What an organisation reads of its books: over the real edge, as its people."""

import csv
import io
from functools import partial
from typing import Any

import httpx
import pytest

from admitone.finance.ledger.api import Event, post, roll
from admitone.finance.ledger.model import OWN_ACCOUNTS, Account
from admitone.finance.sources.api import Flow, PaymentId
from admitone.foundation.authority.api import MemberRole
from admitone.kernel.db import Database
from admitone.kernel.ids import OrganizationId
from admitone.kernel.scope import Scope
from tests.finance.ledger.books import a_posting, booked
from tests.people import Person, a_member, a_person, an_organization_of


async def a_club_with_sales(database: Database, sales: int) -> tuple[Person, OrganizationId, list[PaymentId]]:
    owner = await a_person(database)
    club = await an_organization_of(database, owner)
    payments = [PaymentId.new() for _ in range(sales)]
    for number, payment in enumerate(payments):
        sale = {"gross": 5000 + number, "fee": 300, "transfer": 4700}
        await booked(database, Scope(club), a_posting(Event.CAPTURED, payment=payment, reference="=1+1", **sale))
    return owner, club, payments


async def asked(site: httpx.AsyncClient, who: Person, club: OrganizationId, what: str, **query: Any) -> httpx.Response:
    return await site.get(f"/api/org/{club}/finance/ledger/{what}", params=query, headers=who.headers)


async def everything(site: httpx.AsyncClient, who: Person, club: OrganizationId, what: str, **query: Any) -> list[Any]:
    items: list[Any] = []
    while True:
        answer = await asked(site, who, club, what, **query)
        assert answer.status_code == 200, answer.text
        items += answer.json()["items"]
        if answer.json()["nextCursor"] is None:
            return items
        query["cursor"] = answer.json()["nextCursor"]


async def test_balances_come_in_pages_and_say_what_they_amount_to(site: httpx.AsyncClient, database: Database):
    ana, club, _ = await a_club_with_sales(database, 3)
    await database.run(Scope(club), partial(roll, most=2))
    balances = {each["account"]: each for each in await everything(site, ana, club, "balances", limit=1)}
    assert {account: each["balanceMinor"] for account, each in balances.items()} == {
        "org_payable": 15_003 - 900,
        "platform_fee_revenue": 900,
        "org_settlements": 3 * 4700,
    }
    assert balances["org_payable"]["payee"] == str(club.uuid)
    [owed] = await everything(site, ana, club, "balances", account="org_payable", payee=str(club.uuid))
    assert (owed["debitsMinor"], owed["creditsMinor"]) == (900, 15_003)


async def test_a_statement_merges_both_sides_newest_first_and_loses_nothing_between_pages(
    site: httpx.AsyncClient, database: Database
):
    ana, club, payments = await a_club_with_sales(database, 5)
    lines = await everything(site, ana, club, "statement", account="org_payable", currency="EUR", limit=3)
    assert [(line["entryType"], line["creditMinor"] - line["debitMinor"]) for line in lines] == [
        entry for number in (4, 3, 2, 1, 0) for entry in (("PLATFORM_FEE", -300), ("GROSS", 5000 + number))
    ]
    assert [line["payment"] for line in lines[::2]] == [str(payment) for payment in reversed(payments)]
    assert await everything(site, ana, club, "statement", account="org_payable", currency="BRL") == []


async def test_a_balance_of_an_instant(site: httpx.AsyncClient, database: Database):
    ana, club, _ = await a_club_with_sales(database, 2)
    [_, last] = await everything(site, ana, club, "statement", account="org_settlements", currency="EUR")
    query = {"account": "org_settlements", "currency": "EUR"}
    then = (await asked(site, ana, club, "balance", at=last["postedAt"], **query)).json()
    assert then["balance"]["balanceMinor"] == 4700
    before = (await asked(site, ana, club, "balance", at="2020-01-01T00:00:00Z", **query)).json()
    assert before["balance"]["balanceMinor"] == 0


@pytest.mark.covers("FIN-041")
async def test_the_entries_of_a_payment_sum_to_its_net(site: httpx.AsyncClient, database: Database):
    ana, club, [payment, _] = await a_club_with_sales(database, 2)
    entries = await everything(site, ana, club, f"payments/{payment}/entries", limit=1)
    assert [(each["entryType"], each["amount"], each["currency"]) for each in entries] == [
        ("GROSS", 5000, "EUR"),
        ("PLATFORM_FEE", -300, "EUR"),
    ]
    assert {(each["paymentId"], each["sourceType"], each["sourceId"], each["causationId"]) for each in entries} == {
        (str(payment), "TICKET_ORDER", "to_1", "evt_1")
    }


async def test_only_whoever_may_read_finance_does(site: httpx.AsyncClient, database: Database):
    ana, club, _ = await a_club_with_sales(database, 1)
    desk, admin = await a_member(database, club, MemberRole.STAFF), await a_member(database, club, MemberRole.ADMIN)
    query = {"account": "org_payable", "currency": "EUR"}
    assert [(await asked(site, who, club, "statement", **query)).status_code for who in (ana, admin, desk)] == [
        200,
        200,
        403,
    ]
    stranger, _, _ = await a_club_with_sales(database, 1)
    assert (await asked(site, stranger, club, "statement", **query)).status_code == 403


@pytest.mark.covers("MOR-002")
async def test_the_export_has_every_line_and_no_formula(
    site: httpx.AsyncClient, database: Database, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("admitone.finance.ledger.exporting.TRANSFERS", 4)
    ana, club, payments = await a_club_with_sales(database, 4)
    await database.run(Scope(club), partial(post, postings=[a_posting(Event.FEES_FINAL, cause="=cmd()", fee=7)]))

    assert await read_csv(site, ana, club, "entries") == []
    await database.run(Scope(club), roll)
    late = a_posting(Event.FEES_FINAL, cause="late", fee=1)
    await database.run(Scope(club), partial(post, postings=[late]))

    entries = await read_csv(site, ana, club, "entries")
    assert [(row["entry_type"], int(row["amount_signed"])) for row in entries] == [
        *(entry for number in range(4) for entry in (("GROSS", 5000 + number), ("PLATFORM_FEE", -300))),
        ("PROCESSOR_FEES_FINAL", -7),
    ]
    assert entries[-1]["causation_id"] == "'=cmd()"
    assert {row["payment_id"] for row in entries[:-1]} == {str(payment) for payment in payments}

    journal = await read_csv(site, ana, club, "journal")
    assert len(journal) == 26 - 9  # Of each sale two lines, and one of the fee, are on the platform's own account.
    assert {row["account"] for row in journal} == {"payouts_receivable", "commission_revenue"}


@pytest.mark.parametrize("account", sorted({*Account} - OWN_ACCOUNTS))
async def test_what_the_platform_has_and_pays_is_not_the_organisations_to_read(
    site: httpx.AsyncClient, database: Database, account: Account
):
    ana, club, _ = await a_club_with_sales(database, 1)
    await booked(database, Scope(club), a_posting(Event.FEES_FINAL, Flow.STAY, cause="f", fee=29))
    assert account.value not in {each["account"] for each in await everything(site, ana, club, "balances")}
    query = {"account": account.value, "currency": "EUR", "at": "2026-01-01T00:00:00Z"}
    assert [(await asked(site, ana, club, what, account=account.value)).status_code for what in ("balances",)] == [422]
    assert [(await asked(site, ana, club, what, **query)).status_code for what in ("balance", "statement")] == [
        422,
        422,
    ]


async def read_csv(site: httpx.AsyncClient, who: Person, club: OrganizationId, form: str) -> list[dict[str, str]]:
    answer = await asked(site, who, club, "export", form=form)
    assert answer.status_code == 200, answer.text
    assert f'"ledger-{form}.csv"' in answer.headers["content-disposition"]
    return list(csv.DictReader(io.StringIO(answer.text)))
