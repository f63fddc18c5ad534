"""How an organisation comes to take payments, over HTTP and at a sandbox."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import asyncpg
import httpx
import pytest

from admitone.finance.gateways.api import Provider
from admitone.finance.gateways.port import GATEWAYS, Gateways
from admitone.finance.gateways.sandbox.faults import Faults
from admitone.finance.gateways.sandbox.gateway import SandboxGateway
from admitone.finance.gateways.sandbox.keys import Keys
from admitone.finance.gateways.sandbox.objects import Account
from admitone.finance.gateways.sandbox.simulator import Simulator
from admitone.finance.payments.model import Onboarding
from admitone.finance.payments.onboarding import NEEDED_DOCUMENTS, Missing, order_key
from admitone.foundation.authority.api import MemberRole
from admitone.foundation.organizations.api import LegalDocument
from admitone.kernel.db import Database
from admitone.kernel.ids import OrganizationId
from tests.foundation.organizations.clubs import a_club, facts_of, prove_official_email, trail_of
from tests.people import Person, a_member

LEGAL = {
    "legalName": "Clube do Porto, Lda.",
    "taxId": "501234567",
    "taxCountry": "PT",
    "invoiceAddress": ["Rua das Flores 1", "4050-262 Porto"],
}
EXTERNAL: dict[str, object] = {
    "invoicing": "EXTERNAL",
    "invoicingSoftware": "Certified Invoices 4",
    "invoicingNotes": "Monthly.",
}
DUTIES = ["DECLARES_VAT", "ISSUES_INVOICES", "KEEPS_RECORDS"]
MANUAL: dict[str, object] = {"invoicing": "MANUAL", "invoicingDuties": DUTIES}
RETURN = {"returnUrl": "https://clube.example/finance"}


@pytest.fixture
async def simulator() -> AsyncIterator[Simulator]:
    simulator = Simulator(Keys.of("the sandbox of onboarding"))
    with GATEWAYS.wired(Gateways([SandboxGateway.in_process(simulator)])):
        yield simulator


@dataclass
class Club:
    site: httpx.AsyncClient
    superuser: asyncpg.Connection
    owner: Person
    id: OrganizationId

    async def says(self, **settings: object) -> httpx.Response:
        shown = (await self.site.get(f"/api/org/{self.id}", headers=self.owner.headers)).json()
        wanted = {"settings": {"displayName": "Clube do Porto", **settings}, "version": shown["version"]}
        return await self.site.put(f"/api/org/{self.id}/settings", json=wanted, headers=self.owner.headers)

    async def agrees_to(self, *documents: LegalDocument) -> None:
        for document in documents:
            wanted = {"document": document, "version": "2026-01"}
            url = f"/api/org/{self.id}/acceptances"
            assert (await self.site.post(url, json=wanted, headers=self.owner.headers)).status_code == 200

    async def begins(self, by: Person | None = None) -> httpx.Response:
        headers = (by or self.owner).headers
        return await self.site.post(f"/api/org/{self.id}/finance/onboarding", json=RETURN, headers=headers)

    async def standing(self) -> dict[str, Any]:
        answer = await self.site.get(f"/api/org/{self.id}/finance/onboarding", headers=self.owner.headers)
        assert answer.status_code == 200, answer.text
        shown: dict[str, Any] = answer.json()
        return shown

    async def is_ready(self, invoicing: dict[str, object] = EXTERNAL) -> None:
        """Everything that it owes here is done."""
        await prove_official_email(self.superuser, self.id)
        assert (await self.says(**LEGAL, **invoicing)).status_code == 200
        await self.agrees_to(*NEEDED_DOCUMENTS)


@pytest.fixture
async def club(site: httpx.AsyncClient, database: Database, superuser: asyncpg.Connection) -> Club:
    return Club(site, superuser, *await a_club(database))


@pytest.mark.covers("FIN-020")
async def test_an_organisation_is_sent_to_the_provider_and_told_what_that_asks_for(club: Club, simulator: Simulator):
    await club.is_ready()
    assert (await club.standing())["status"] == "NOT_BEGUN"
    answer = await club.begins()
    assert answer.status_code == 200, answer.text
    assert (answer.json()["status"], answer.json()["url"][:4]) == ("PENDING", "http")
    shown = await club.standing()
    assert (shown["status"], shown["missing"], shown["chargesEnabled"]) == ("PENDING", [], False)
    assert "external_account" in shown["requirementsDue"]
    assert len(await trail_of(club.superuser, club.id, "payments.onboarding")) == 1
    assert len(await facts_of(club.superuser, club.id, "finance.account_changed")) == 1


@pytest.mark.covers("FIN-020")
async def test_whoever_begins_again_gets_another_link_to_the_same_account(club: Club, simulator: Simulator):
    await club.is_ready()
    first = (await club.begins()).json()
    account = (await club.standing())["accountId"]
    second = (await club.begins()).json()
    assert second["url"][:4] == "http"
    assert first["status"] == second["status"] == Onboarding.PENDING
    assert (await club.standing())["accountId"] == account
    assert len(simulator.list_newest(Account)) == 1


@pytest.mark.covers("FIN-020")
async def test_an_answer_that_was_lost_does_not_make_a_second_account(club: Club):
    await club.is_ready()
    simulator = Simulator(Keys.of("a sandbox that loses answers"), faults=Faults(lost=1_000_000))
    with GATEWAYS.wired(Gateways([SandboxGateway.in_process(simulator)])):
        lost = await club.begins()
    assert (lost.status_code, lost.json()["errorCode"]) == (503, "OUTCOME_UNKNOWN")
    assert (await club.standing())["status"] == "NOT_BEGUN"
    [ordered] = simulator.list_newest(Account)
    mended = Simulator(Keys.of("a sandbox that loses answers"), simulator.journal)
    with GATEWAYS.wired(Gateways([SandboxGateway.in_process(mended)])):
        assert (await club.begins()).status_code == 200
        assert (await club.standing())["accountId"] == ordered.id
        assert len(mended.list_newest(Account)) == 1


def test_the_key_of_an_order_is_the_same_for_one_organisation_provider_and_mode():
    own = OrganizationId.new()
    keys = [
        order_key(each, provider, livemode=livemode)
        for each in (own, OrganizationId.new())
        for provider in (Provider.SANDBOX, Provider.STRIPE)
        for livemode in (False, True)
    ]
    assert len(set(keys)) == 8
    assert order_key(own, Provider.SANDBOX, livemode=False) == keys[0]


@pytest.mark.covers("FIN-021")
async def test_nobody_is_sent_to_the_provider_before_everything_is_said_and_agreed_to(club: Club, simulator: Simulator):
    """Each of them alone is enough to be refused."""
    refused = await club.begins()
    assert (refused.status_code, refused.json()["errorCode"]) == (403, "OFFICIAL_EMAIL_REQUIRED")
    await prove_official_email(club.superuser, club.id)
    assert (await club.says(**EXTERNAL)).status_code == 200
    await club.agrees_to(*NEEDED_DOCUMENTS)
    owed = {
        Missing.LEGAL_NAME: ("legalName",),
        Missing.TAX_ID: ("taxId", "taxCountry"),
        Missing.INVOICE_ADDRESS: ("invoiceAddress",),
    }
    for missing, fields in owed.items():
        said = {name: value for name, value in LEGAL.items() if name not in fields}
        assert (await club.says(**said, **EXTERNAL)).status_code == 200
        refused = await club.begins()
        assert (refused.status_code, refused.json()["errorCode"]) == (403, "ONBOARDING_INCOMPLETE")
        assert refused.json()["missing"] == [missing] == (await club.standing())["missing"]
    assert simulator.list_newest(Account) == []
    assert (await club.says(**LEGAL, **EXTERNAL)).status_code == 200
    assert (await club.begins()).status_code == 200


@pytest.mark.covers("FIN-021")
@pytest.mark.parametrize("left_out", NEEDED_DOCUMENTS)
async def test_each_document_must_be_agreed_to(club: Club, simulator: Simulator, left_out: LegalDocument):
    await prove_official_email(club.superuser, club.id)
    await club.says(**LEGAL, **EXTERNAL)
    await club.agrees_to(*(each for each in NEEDED_DOCUMENTS if each is not left_out))
    refused = await club.begins()
    assert (refused.json()["errorCode"], refused.json()["missing"]) == ("ONBOARDING_INCOMPLETE", [left_out])
    # A version that nobody offers any more does not count.
    await club.superuser.execute(
        "INSERT INTO organizations.acceptance VALUES ($1, $2, '1999-01', $3, now())",
        club.id.uuid,
        left_out,
        club.owner.identity.uuid,
    )
    assert (await club.begins()).json()["missing"] == [left_out]
    await club.agrees_to(left_out)
    assert (await club.begins()).status_code == 200


@pytest.mark.covers("FIN-008")
@pytest.mark.parametrize("said", [EXTERNAL, MANUAL])
async def test_payments_wait_until_the_organisation_says_how_it_invoices(
    club: Club, simulator: Simulator, said: dict[str, object]
):
    await club.is_ready(invoicing={})
    refused = await club.begins()
    assert (refused.json()["errorCode"], refused.json()["missing"]) == ("ONBOARDING_INCOMPLETE", ["INVOICING"])
    changed = await club.says(**LEGAL, **said)
    assert changed.status_code == 200, changed.text
    assert {name: changed.json()["settings"][name] for name in said} == said
    assert (await club.begins()).status_code == 200
    emptied = await club.says(**LEGAL)
    assert (emptied.status_code, emptied.json()["errorCode"]) == (422, "INVOICING_INCOMPLETE")


@pytest.mark.covers("FIN-008")
@pytest.mark.parametrize(
    ("said", "missing"),
    [
        ({"invoicing": "EXTERNAL"}, "invoicingSoftware"),
        ({**EXTERNAL, "invoicingDuties": DUTIES}, "invoicingSoftware"),
        ({"invoicing": "MANUAL"}, "invoicingDuties"),
        ({"invoicing": "MANUAL", "invoicingDuties": DUTIES[:2]}, "invoicingDuties"),
        ({**MANUAL, "invoicingSoftware": "Certified Invoices 4"}, "invoicingDuties"),
        ({"invoicingSoftware": "Certified Invoices 4"}, "invoicing"),
    ],
)
async def test_half_an_answer_to_how_it_invoices_is_none(club: Club, said: dict[str, object], missing: str):
    await prove_official_email(club.superuser, club.id)
    refused = await club.says(**said)
    assert (refused.status_code, refused.json()["errorCode"]) == (422, "INVOICING_INCOMPLETE")
    assert refused.json()["missing"] == [missing]


@pytest.mark.covers("FIN-008")
async def test_how_it_invoices_is_critical(club: Club):
    refused = await club.says(**EXTERNAL)
    assert (refused.status_code, refused.json()["errorCode"]) == (403, "OFFICIAL_EMAIL_REQUIRED")


async def test_without_a_provider_nobody_begins(club: Club):
    await club.is_ready()
    refused = await club.begins()
    assert (refused.status_code, refused.json()["errorCode"]) == (503, "CONFIG_STRIPE_KEY_MISSING")
    assert (await club.standing())["status"] == "NOT_BEGUN"


async def test_money_is_for_those_who_may_handle_it(club: Club, simulator: Simulator, database: Database):
    await club.is_ready()
    admin = await a_member(database, club.id, MemberRole.ADMIN)
    refused = await club.begins(admin)
    assert (refused.status_code, refused.json()["errorCode"]) == (403, "PERMISSION_DENIED")
    assert simulator.list_newest(Account) == []
