"""How somebody who founds a house in a browser comes to take money there, section by section of its settings."""

import re
from collections.abc import AsyncIterator
from contextlib import ExitStack
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import asyncpg
import httpx
import pytest

from admitone.finance.gateways.port import GATEWAYS, Gateways
from admitone.finance.gateways.sandbox.gateway import SandboxGateway
from admitone.finance.gateways.sandbox.keys import Keys
from admitone.finance.gateways.sandbox.objects import Account
from admitone.finance.gateways.sandbox.simulator import Simulator
from admitone.finance.sources.api import SourceType
from admitone.finance.sources.port import SHOPS
from admitone.foundation.authority.api import STEP_UP_LASTS, MemberRole, RolePack
from admitone.kernel.batch import Batcher
from admitone.kernel.clock import Clock
from admitone.kernel.db import Database
from admitone.kernel.ids import OrganizationId
from admitone.selling.fulfilment.port import RECIPES
from admitone.verticals.events.api import BOOK, TicketShop
from tests.finance.webhooks.test_story import deliver, until_heard
from tests.finance.world import SECRET, World
from tests.foundation.organizations.clubs import mailed, prove_official_email, trail_of
from tests.jobs import a_worker
from tests.people import Person, a_member, a_person, an_organization_of
from tests.verticals.events.office import DUTIES, Office
from tests.verticals.events.stage import Stage
from tests.web.buying import Buyer, payment_of
from tests.web.console import Console, boxes_of

IDENTITY = {
    "legalName": "Clube do Porto, Lda.",
    "taxId": "501234567",
    "taxCountry": "pt",
    "invoiceAddress": "Rua das Flores 1\r\n\r\n 4050-262 Porto ",
}
EXTERNAL = {"invoicing": "EXTERNAL", "invoicingSoftware": "Certified Invoices 4"}
DUTIES_BY_HAND = ["DECLARES_VAT", "ISSUES_INVOICES", "KEEPS_RECORDS"]
DOCUMENTS = ["PAYMENT_TERMS 2026-01", "ORGANIZER_RESPONSIBILITY 2026-01", "PLATFORM_ENFORCEMENT 2026-01"]


def inside(page: str) -> str:
    """Without what stands around every page."""
    return page.partition("<main")[2].partition("</main")[0]


class House(Console):
    """A console at which the settings are gone through."""

    @property
    def official(self) -> str:
        """Its own: who is written to is written to seldom."""
        return f"geral@{self.stage.organization.uuid.hex}.example"

    def section(self, name: str) -> str:
        return f"{self.settings}?tab={name}"

    @property
    def settings(self) -> str:
        return f"{self.home}/settings"

    async def told(self) -> dict[str, Any]:
        path = f"/api/org/{self.stage.organization}"
        return self.stage.fine(await self.stage.site.get(path, headers=self.stage.owner.headers))

    async def is_identified(self, **said: Any) -> httpx.Response:
        boxes = await self.boxes(self.section("organisation"))
        return await self.send(f"{self.settings}/organisation", **boxes | IDENTITY | EXTERNAL | said)

    async def is_named(self, **said: str) -> httpx.Response:
        typed = {"email": self.official, "reason": "TO_TAKE_PAYMENTS"} | said
        return await self.send(f"{self.settings}/official-email", **typed)

    async def is_complete(self) -> None:
        """All that is asked here is said and agreed to."""
        await prove_official_email(self.stage.superuser, self.stage.organization)
        assert (await self.is_identified()).status_code == 303
        agreed = await self.send(f"{self.settings}/payments/documents", documents=DOCUMENTS)
        assert agreed.status_code == 303


@pytest.fixture
async def founded(
    site: httpx.AsyncClient, database: Database, superuser: asyncpg.Connection, batcher: Batcher
) -> AsyncIterator[Office]:
    """A house that somebody has just founded at `/org`, and a sandbox at which it has no account."""
    owner = await a_person(database)
    form = boxes_of((await site.get("/org", headers=owner.headers)).text)
    answer = await site.post("/org", data=form | {"displayName": "Clube do Porto"}, headers=owner.headers)
    assert answer.status_code == 303, answer.text
    own = OrganizationId.parse(answer.headers["location"].rpartition("/")[2])
    simulator = Simulator(Keys.of(SECRET))
    gateway = SandboxGateway.in_process(simulator)
    shop: Any = None
    with ExitStack() as wired:
        wired.enter_context(SHOPS.wired({SourceType.TICKET_ORDER: TicketShop()}))
        wired.enter_context(RECIPES.wired({SourceType.TICKET_ORDER: BOOK}))
        wired.enter_context(GATEWAYS.wired(Gateways([gateway])))
        world = World(database, batcher, simulator, gateway, shop, own, owner, await a_person(database))
        yield Office(Stage(site, database, superuser, owner, own), world)
    await superuser.execute("DELETE FROM webhooks.cursor")


@pytest.fixture
def house(founded: Office) -> House:
    return House(founded.stage)


@pytest.mark.covers("FIN-020", "FIN-021")
async def test_a_house_goes_from_its_founding_to_a_ticket_that_was_paid(founded: Office, house: House):
    event, [kind] = await founded.on_sale({})
    buyer = Buyer(founded, founded.buyer)
    refused = await buyer.pay(await buyer.order(event, (kind, 1)))
    assert refused.status_code == 403 and "cannot take payments yet" in refused.text
    way_out = f'href="{house.section("payments")}"'
    assert way_out in await house.fine(house.of(event))
    assert way_out in await house.fine(f"{house.home}/financas", tab="payouts")

    page = await house.fine(house.section("payments"))
    assert page.count("Missing</span>") == 5 and "Not begun yet" in page
    assert f'action="{house.settings}/payments"' not in page, "the provider is the last step"

    assert (await house.is_named()).status_code == 303
    assert "Waits for the link of the letter" in await house.fine(house.section("official-email"))
    [letter] = [
        each for each in await mailed(house.stage.superuser, house.stage.organization) if each.to == house.official
    ]
    link = letter.values["link"]
    assert link.partition("#")[0] == house.section("official-email"), "the link leads to this section"
    assert (await house.send(f"{house.settings}/official-email/proof", token=link)).status_code == 303
    assert "Confirmed</span>" in await house.fine(house.section("official-email"))

    assert (await house.is_identified()).status_code == 303
    page = await house.fine(house.section("payments"))
    assert page.count("Done</span>") == 5 and "Missing</span>" not in page
    values = re.findall(r'name="documents" type="checkbox" value="([^"]+)"', page)
    assert values == DOCUMENTS
    assert (await house.send(f"{house.settings}/payments/documents", documents=values)).status_code == 303

    assert f'action="{house.settings}/payments"' in await house.fine(house.section("payments"))
    begun = await house.send(f"{house.settings}/payments")
    assert begun.status_code == 200
    [account] = founded.world.simulator.list_newest(Account)
    [there] = re.findall(r'<a class="button" href="(http[^"]+)"', begun.text)
    assert f'content="1; url={there}"' in begun.text
    page = await house.fine(house.section("payments"))
    assert "The provider asks for more" in page and "<code>external_account</code>" in page

    founded.world.simulator.act("complete", account.id)
    async with a_worker(house.stage.database, DUTIES):
        await deliver(house.stage.site, founded.world.simulator.due_deliveries())
        await until_heard(house.stage.superuser)
    page = await house.fine(house.section("payments"))
    assert 'class="state good"' in page and "Ready to take payments" in page
    assert way_out not in await house.fine(house.of(event))

    order = await buyer.order(event, (kind, 1))
    assert (await buyer.pay(order)).status_code == 303
    await founded.settle(await payment_of(founded, order))
    assert "Summer night" in await buyer.page("/wallet")
    sold = await founded.pool(kind)
    assert sold.sold == 1


async def test_who_founds_a_house_is_not_promised_more_than_it_can_do(site: httpx.AsyncClient, database: Database):
    page = await site.get("/org", headers=(await a_person(database)).headers)
    assert "its settings ask what is needed to take payments" in page.text
    assert "tickets can be sold as soon as an event is published" not in page.text


async def test_an_event_that_is_all_free_needs_no_payments(house: House):
    event = await house.stage.drafted(about={"pricingMode": "FREE_ONLY", "allowZeroPriceTickets": True})
    assert "tab=payments" not in await house.fine(house.of(event))


async def test_the_provider_sends_whoever_is_done_back_to_this_section(founded: Office, house: House):
    await house.is_complete()
    asked: list[str] = []
    gateway = founded.world.gateway
    link_account = gateway.link_account

    async def heard(caller: Any, account: str, return_url: str) -> Any:
        asked.append(return_url)
        return await link_account(caller, account, return_url)

    gateway.link_account = heard  # type: ignore[method-assign]
    assert (await house.send(f"{house.settings}/payments")).status_code == 200
    assert asked == [f"http://admitone.test{house.section('payments')}"]


async def test_the_provider_is_not_asked_while_something_is_missing(founded: Office, house: House):
    refused = await house.send(f"{house.settings}/payments")
    assert refused.status_code == 403 and 'role="alert"' in refused.text
    await prove_official_email(house.stage.superuser, house.stage.organization)
    refused = await house.send(f"{house.settings}/payments")
    assert refused.status_code == 403 and "Something is missing" in refused.text
    assert founded.world.simulator.list_newest(Account) == []


# -- The official e-mail


async def test_who_must_prove_first_comes_back_to_the_section_and_the_address_stands_in_no_history(
    house: House, database_url: str
):
    owner = house.stage.owner
    async with Database(database_url, clock=Clock(-STEP_UP_LASTS - timedelta(minutes=1))) as earlier:
        late = await a_person(earlier, identity=owner.identity, email=owner.email)
    typed = {"email": house.official, "reason": "CORRECTION"}
    answer = await house.send(f"{house.settings}/official-email", late, **typed)
    assert answer.status_code == 303
    asked = urlsplit(answer.headers["location"])
    [back] = parse_qs(asked.query)["next"]
    assert (asked.path, back.partition("?")[0]) == ("/step-up", "/unsent")
    assert house.official not in answer.headers["location"]
    kept = answer.headers["set-cookie"].partition(";")[0]
    shown = await house.stage.site.get(back, headers=late.headers | {"cookie": kept})
    boxes = boxes_of(shown.text)
    assert (boxes["reason"], boxes["email"]) == ("CORRECTION", house.official)
    assert (await house.told())["officialEmail"] is None


async def test_who_is_not_signed_in_keeps_the_link_and_learns_nothing(house: House):
    site = house.stage.site
    page = await site.get(house.section("official-email"))
    assert page.status_code == 200 and "account-link" in page.text
    back = f"%2Forg%2F{house.stage.organization}%2Fsettings%3Ftab%3Dofficial-email"
    assert f'href="/sign-in?next={back}"' in page.text
    assert "Clube do Porto" not in page.text and "<form" not in inside(page.text)
    for section in ("", "appearance", "organisation", "payments"):
        answer = await site.get(house.settings, params={"tab": section})
        assert (answer.status_code, answer.headers["location"][:9]) == (303, "/sign-in?")


@pytest.mark.parametrize("token", ["", "nothing", "official_0198c9a40000700080000000000000aa_" + "0" * 40])
async def test_what_is_no_link_of_ours_proves_nothing(house: House, token: str):
    await house.is_named()
    answer = await house.send(f"{house.settings}/official-email/proof", token=token)
    assert answer.status_code in (403, 422) and 'role="alert"' in answer.text
    assert f'value="{house.official}"' in answer.text, "the address stays"
    assert (await house.told())["officialEmailVerifiedAt"] is None


async def test_a_wrong_address_is_shown_again(house: House):
    answer = await house.is_named(email="nobody")
    assert answer.status_code == 422 and 'value="nobody"' in answer.text
    assert (await house.is_named()).status_code == 303
    [entry] = await trail_of(house.stage.superuser, house.stage.organization, "organization.set_official_email")
    assert entry["reason_code"] == "TO_TAKE_PAYMENTS"


# -- Who the organisation is


async def test_who_it_is_for_the_law_waits_for_the_official_address(house: House):
    assert "once the official e-mail is confirmed" in await house.fine(house.section("organisation"))
    refused = await house.is_identified()
    assert refused.status_code == 403 and 'value="501234567"' in refused.text
    boxes = await house.boxes(house.section("organisation"))
    renamed = await house.send(f"{house.settings}/organisation", **boxes | {"displayName": "Clube"})
    assert renamed.status_code == 303
    assert (await house.told())["settings"]["displayName"] == "Clube"


async def test_what_is_said_is_kept_and_shown_and_the_rest_stays(house: House):
    await prove_official_email(house.stage.superuser, house.stage.organization)
    colored = await house.send(house.settings, **await house.boxes(house.settings) | {"accentColor": "#8a1c4a"})
    assert colored.status_code == 303
    before = (await house.told())["settings"]
    assert (await house.is_identified(invoiceEmail="contas@clube.example")).status_code == 303
    said = {
        "legalName": "Clube do Porto, Lda.",
        "taxId": "501234567",
        "taxCountry": "PT",
        "invoiceAddress": ["Rua das Flores 1", "4050-262 Porto"],
        "invoiceEmail": "contas@clube.example",
        **EXTERNAL,
    }
    assert (await house.told())["settings"] == before | said
    again = await house.boxes(house.section("organisation"))
    assert (again["taxId"], again["invoiceAddress"]) == ("501234567", "Rua das Flores 1\n4050-262 Porto")


async def test_it_invoices_in_one_way_or_in_the_other(house: House):
    await prove_official_email(house.stage.superuser, house.stage.organization)
    by_hand = {"invoicing": "MANUAL", "invoicingDuties": DUTIES_BY_HAND[:2]}
    refused = await house.is_identified(**by_hand)
    assert refused.status_code == 422 and 'id="invoicingDuties-wrong"' in refused.text
    assert refused.text.count(" checked>") == 2, "what was ticked stays ticked"
    assert (await house.is_identified(invoicing="MANUAL", invoicingDuties=DUTIES_BY_HAND)).status_code == 303
    settings = (await house.told())["settings"]
    assert (settings["invoicing"], settings["invoicingSoftware"]) == ("MANUAL", None)
    assert settings["invoicingDuties"] == DUTIES_BY_HAND
    assert (await house.is_identified()).status_code == 303
    assert (await house.told())["settings"]["invoicingDuties"] == []


@pytest.mark.parametrize(
    ("wrong", "box"),
    [({"taxCountry": ""}, "taxId"), ({"taxCountry": "Portugal"}, "taxCountry"), ({"displayName": " "}, "displayName")],
)
async def test_what_is_wrong_is_said_beside_its_box(house: House, wrong: dict[str, str], box: str):
    await prove_official_email(house.stage.superuser, house.stage.organization)
    refused = await house.is_identified(**wrong)
    assert refused.status_code == 422
    assert f'id="{box}-wrong"' in refused.text


# -- Who may


async def test_nothing_is_agreed_to_by_sending_an_empty_form(house: House):
    answer = await house.send(f"{house.settings}/payments/documents", documents="")
    assert answer.status_code == 422
    wrong = await house.send(f"{house.settings}/payments/documents", documents="PAYMENT_TERMS 1999-01")
    assert wrong.status_code == 422 and "There is no such version" in wrong.text
    assert await trail_of(house.stage.superuser, house.stage.organization, "organization.accept%") == []


async def test_a_house_without_money_switches_it_on(site: httpx.AsyncClient, database: Database, house: House):
    stage = house.stage
    path = f"/api/org/{stage.organization}/modules/FINANCEIRO"
    off = {"module": "FINANCEIRO", "enabled": False}
    assert (await site.put(path, json=off, headers=stage.owner.headers)).status_code == 200
    assert "are switched off here" in await house.fine(house.section("payments"))
    assert (await house.send(f"{house.settings}/payments/module")).status_code == 303
    assert "Not begun yet" in await house.fine(house.section("payments"))


async def test_who_may_only_look_is_offered_nothing_to_change(house: House):
    stage = house.stage
    await house.is_named()
    admin = await a_member(stage.database, stage.organization, MemberRole.ADMIN)
    await house.is_complete()
    assert f'action="{house.settings}/payments"' in await house.fine(house.section("payments"))
    assert f'action="{house.settings}/payments"' not in await house.fine(house.section("payments"), admin)
    assert (await house.send(f"{house.settings}/payments", admin)).status_code == 403
    reader = await a_reader(house)
    for section in ("appearance", "organisation", "official-email"):
        page = await house.fine(house.section(section), reader)
        assert "<form" not in inside(page)
    assert "tab=payments" not in page, "who may not see it is not offered it"
    assert (await house.see(house.section("payments"), reader)).status_code == 403
    assert (await house.send(f"{house.settings}/payments/documents", reader, documents=DOCUMENTS)).status_code == 403
    boxes = await house.boxes(house.section("organisation"))
    assert (await house.send(f"{house.settings}/organisation", reader, **boxes)).status_code == 403


async def a_reader(house: House) -> Person:
    return await a_member(house.stage.database, house.stage.organization, MemberRole.ADMIN, RolePack.CLUB_MANAGER)


FORMS = ("organisation", "official-email", "official-email/proof", "payments", "payments/documents", "payments/module")


@pytest.mark.parametrize("form", FORMS)
async def test_neither_strangers_nor_other_sites_change_anything(house: House, form: str):
    stage = house.stage
    path = f"{house.settings}/{form}"
    stranger = await a_person(stage.database)
    await an_organization_of(stage.database, stranger)
    assert (await house.send(path, stranger, token="nothing")).status_code == 404
    elsewhere = {"origin": "https://elsewhere.example", "sec-fetch-site": "cross-site"}
    cookies = {"cookie": f"session={stage.owner.access_token}"}
    answer = await stage.site.post(path, data={"token": "nothing"}, headers=elsewhere | cookies)
    assert answer.status_code == 403 and "CROSS_SITE_REQUEST" in answer.text


@pytest.mark.parametrize("section", ["appearance", "organisation", "official-email", "payments"])
async def test_another_organisations_people_find_nothing(house: House, section: str):
    stranger = await a_person(house.stage.database)
    await an_organization_of(house.stage.database, stranger)
    assert (await house.see(house.section(section), stranger)).status_code == 404
