"""The office over HTTP: orders, attendees, refunds, the ledger, the team; who sees what, and whose it is."""

import html
import re
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit
from zoneinfo import ZoneInfo

import httpx
import pytest

from admitone.finance.gateways.api import Refused
from admitone.finance.ledger import queries
from admitone.finance.ledger.model import Account
from admitone.foundation.authority.api import MemberRole, RolePack
from admitone.kernel.clock import Clock
from admitone.kernel.db import Database
from admitone.kernel.money import Money
from admitone.kernel.words import Words
from admitone.web.console.desk import ROWS
from tests.finance.payments.saying import saying
from tests.people import Person, a_member, a_person, an_organization_of
from tests.verticals.events.office import Office
from tests.verticals.events.stage import KEYS, soon
from tests.web.console import boxes_of

EVIL = '<script>alert("x")</script>'


def text_of(page: httpx.Response) -> str:
    """What a person reads."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page.text)).split())


def shown(minor: int, currency: str = "EUR") -> str:
    return " ".join(Words().money(Money(minor, currency)).split())


class Visitor:
    """Somebody at the pages of an office."""

    def __init__(self, office: Office, person: Person | None = None) -> None:
        self.office = office
        self.person = person or office.stage.owner
        self.home = f"/org/{office.stage.organization}"

    async def look(self, path: str, status: int = 200, **query: Any) -> httpx.Response:
        answer = await self.office.stage.site.get(
            f"{self.home}{path}", params=query or None, headers=self.person.headers
        )
        assert answer.status_code == status, (path, answer.status_code, text_of(answer)[:500])
        return answer

    async def send(self, path: str, status: int = 303, **fields: Any) -> httpx.Response:
        answer = await self.office.stage.site.post(f"{self.home}{path}", data=fields, headers=self.person.headers)
        assert answer.status_code == status, (path, answer.status_code, text_of(answer)[:500])
        return answer


async def a_paid_order(office: Office, tickets: int = 2, **more: Any) -> tuple[dict[str, Any], dict[str, Any], Any]:
    event, [kind] = await office.on_sale(**more)
    order = await office.order(event, (kind, tickets))
    return event, order, await office.pay(order)


async def test_an_order_is_found_and_shown_with_everything_that_belongs_to_it(office: Office):
    event, order, payment = await a_paid_order(office)
    visitor = Visitor(office)
    assert event["eventId"] in (await visitor.look("/orders")).text
    listed = await visitor.look("/orders", eventId=event["eventId"], state="FULFILLED", search=order["orderId"])
    assert order["orderId"] in listed.text
    none = await visitor.look("/orders", eventId=event["eventId"], state="CANCELLED")
    assert "Nothing was found." in text_of(none)
    one = await visitor.look(f"/orders/{order['orderId']}")
    assert shown(5000) in text_of(one)
    assert str(payment) in one.text
    assert one.text.count("/why") == 2
    invoice = await visitor.look(f"/orders/{order['orderId']}/invoice")
    assert shown(5000) in text_of(invoice)


async def test_a_house_with_more_events_than_fit_a_list_still_reaches_each_of_them(office: Office):
    first, order, _ = await a_paid_order(office, schedule={"startsAt": soon(hours=1), "endsAt": soon(hours=2)})
    second, third, _ = await a_paid_order(office, schedule={"startsAt": soon(hours=3), "endsAt": soon(hours=4)})
    days = {"startsAt": soon(days=2), "endsAt": soon(days=3)}
    for _ in range(99):
        await office.stage.drafted(schedule=days)
    last, other, _ = await a_paid_order(office, schedule={"startsAt": soon(days=5), "endsAt": soon(days=6)})
    visitor = Visitor(office)
    for place in ("/orders", "/attendees"):
        begins = await visitor.look(place)
        assert order["orderId"] in begins.text, "what takes place next is shown first"
        assert last["eventId"] in begins.text, "those of long ago are left out of the list, not the latest"
        far = await visitor.look(place, eventId=last["eventId"])
        assert other["orderId"] in far.text and order["orderId"] not in far.text
        near = await visitor.look(place, eventId=second["eventId"])
        assert third["orderId"] in near.text and order["orderId"] not in near.text
        assert boxes_of(near.text)["eventId"][0] == second["eventId"], "it can be chosen, though it is not in the list"
    home = await visitor.look("")
    assert boxes_of(home.text)["eventId"] == first["eventId"]


async def test_orders_of_a_period_stand_under_what_it_brought(office: Office):
    event, order, payment = await a_paid_order(office)
    visitor, own = Visitor(office), event["eventId"]
    today = datetime.now(ZoneInfo(event["timeZone"])).date()
    page = await visitor.look("/orders", eventId=own, since=str(today), until=str(today))
    net = (await office.stage.ask("GET", f"/{own}/net")).json()["days"][0]["netMinor"]
    assert order["orderId"] in page.text
    assert shown(5000) in text_of(page) and shown(net) in text_of(page)
    paid = await visitor.look(f"/financas/payments/{payment}")
    assert f'href="{visitor.home}/financas/payments/{payment}"' in page.text and shown(net) in text_of(paid)
    day = timedelta(days=1)
    for since, until in ((today - 9 * day, today - day), (today + day, today + 9 * day)):
        other = await visitor.look("/orders", eventId=own, since=str(since), until=str(until))
        assert order["orderId"] not in other.text and shown(5000) not in text_of(other)
    for since, until in (("", str(today)), (str(today), ""), (str(today - 999 * day), str(today))):
        assert order["orderId"] in (await visitor.look("/orders", eventId=own, since=since, until=until)).text
    for nonsense in ({"since": "never"}, {"until": "9999-12-31"}, {"since": str(today), "until": str(today - day)}):
        wrong = await visitor.look("/orders", 422, eventId=own, **nonsense)
        assert "Please check this field." in text_of(wrong)
    viewer = Visitor(office, await a_member(office.stage.database, office.stage.organization, MemberRole.VIEWER))
    seen = await viewer.look("/orders", eventId=own, since=str(today), until=str(today))
    assert "/financas" not in seen.text and shown(net) not in text_of(seen)


async def test_pages_of_a_period_go_on_within_it(office: Office):
    event, [kind] = await office.on_sale(capacity=100)
    orders = [(await office.order(event, (kind, 1)))["orderId"] for _ in range(ROWS + 1)]
    today = str(datetime.now(ZoneInfo(event["timeZone"])).date())
    page = await Visitor(office).look("/orders", eventId=event["eventId"], since=today, until=today)
    [more] = re.findall(r'href="([^"]+cursor=[^"]+)"', page.text)
    asked = parse_qs(urlsplit(html.unescape(more)).query)
    assert (asked["since"], asked["until"]) == ([today], [today])
    assert orders[0] not in page.text
    rest = await Visitor(office).look(html.unescape(more).removeprefix(Visitor(office).home))
    assert orders[0] in rest.text


async def test_orders_are_found_by_whose_they_are_and_no_name_is_in_an_address(office: Office):
    event, order, _ = await a_paid_order(office)
    visitor = Visitor(office)
    page = await visitor.look("/orders", eventId=event["eventId"])
    [action] = re.findall(r'method="post" action="([^"]+/search)"', page.text)
    found = await visitor.send(
        action.removeprefix(visitor.home), 200, eventId=event["eventId"], search=office.buyer.email
    )
    assert f'href="{visitor.home}/orders/{order["orderId"]}"' in found.text


async def test_what_is_searched_for_and_is_no_id_is_said_beside_the_form(office: Office):
    event, _ = await office.on_sale()
    answer = await Visitor(office).look("/orders", 422, eventId=event["eventId"], search=EVIL)
    assert "Something is missing" in text_of(answer)
    assert EVIL not in answer.text
    assert html.escape(EVIL, quote=False)[:10] in answer.text


async def test_orders_go_on_page_by_page(office: Office):
    event, [kind] = await office.on_sale()
    orders = [(await office.order(event, (kind, 1)))["orderId"] for _ in range(3)]
    visitor = Visitor(office)
    page = await visitor.look("/orders", eventId=event["eventId"])
    assert all(each in page.text for each in orders)


@pytest.mark.covers("ORG-032")
async def test_every_figure_is_the_ledgers_and_leads_to_its_posting(office: Office):
    _, order, payment = await a_paid_order(office)
    visitor = Visitor(office)
    overview = await visitor.look("/financas")
    balances = await office.stage.database.read(
        office.stage.scope, queries.balances, [Account.ORG], office.stage.organization.uuid, None, 10
    )
    [owed] = balances
    assert shown(owed.minor) in text_of(overview)
    [address] = set(re.findall(rf'href="({visitor.home}/financas/accounts/org_payable\?[^"]+)"', overview.text))
    account = await visitor.look(html.unescape(address).removeprefix(visitor.home))
    assert shown(owed.minor) in text_of(account)
    transfers = [*dict.fromkeys(re.findall(r"/financas/transfers/(tfr_[0-9a-f]+)", account.text))]
    lines = await office.stage.database.read(office.stage.scope, queries.statement, owed.holding)
    assert transfers == [str(each.id) for each in lines]
    posting = await visitor.look(f"/financas/transfers/{transfers[-1]}")
    assert str(payment) in posting.text
    assert f"{visitor.home}/orders/{order['orderId']}" in posting.text
    paid = await visitor.look(f"/financas/payments/{payment}")
    net = await office.stage.database.read(office.stage.scope, queries.net_of, [payment])
    assert text_of(paid).count(shown(net[payment, "EUR"].minor)) >= 2, "the net, and the sum of its entries"
    assert order["orderId"] in paid.text


async def test_tables_of_the_ledger_say_the_currency_once(office: Office):
    await a_paid_order(office)
    visitor = Visitor(office)
    for path in ("/financas?tab=ledger", "/financas/accounts/org_payable?currency=EUR"):
        page = (await visitor.look(path)).text
        cells = re.findall(r'<td class="amount"[^>]*>(.*?)</td>', page)
        assert any("50.00" in each for each in cells) and not any("€" in each for each in cells), path
        assert "EUR" in page


async def test_figures_of_payouts_lead_to_what_they_are_made_of(office: Office):
    await a_paid_order(office)
    visitor = Visitor(office)
    account = f"{visitor.home}/financas/accounts"
    leads = {
        "Waiting": f"{account}/org_payable?currency=EUR",
        "Next": f"{account}/org_payable?currency=EUR",
        "On its way": f"{account}/payouts_in_transit?currency=EUR",
        "Paid out": f"{visitor.home}/financas?tab=payouts&state=completed",
    }
    payouts = await visitor.look("/financas", tab="payouts")
    there = dict(re.findall(r'<dt>([^<]+)</dt><dd><a href="([^"]+)"', html.unescape(payouts.text)))
    for name, address in (leads | {"Frozen": f"{visitor.home}/financas?tab=refunds_disputes"}).items():
        assert there[name] == address
        await visitor.look(address.removeprefix(visitor.home))
    first = html.unescape((await visitor.look("/financas")).text)
    assert dict(re.findall(r'<td class="amount" data-is="([^"]+)"><a href="([^"]+)"', first)).items() >= leads.items()


@pytest.mark.covers("ORG-030")
async def test_the_tabs_of_finance_are_those_that_there_are(office: Office):
    visitor = Visitor(office)
    for tab in ("overview", "ledger", "payouts", "refunds_disputes"):
        page = await visitor.look("/financas", tab=tab)
        assert "tab=assinaturas" not in page.text
    for later in ("assinaturas", "dimensoes"):
        await visitor.look("/financas", 403, tab=later)
    ledger = await visitor.look("/financas", tab="ledger")
    assert f"/api/org/{office.stage.organization}/finance/ledger/export?form=journal" in ledger.text
    export = await office.stage.site.get(
        f"/api/org/{office.stage.organization}/finance/ledger/export?form=journal", headers=visitor.person.headers
    )
    assert export.status_code == 200


@pytest.mark.covers("FIN-071", "ORG-024")
async def test_one_ticket_goes_back_after_it_was_shown_what_that_does(office: Office):
    _, order, _ = await a_paid_order(office)
    first, second = await office.tickets(order)
    visitor = Visitor(office)
    path = f"/orders/{order['orderId']}/refund"
    choose = await visitor.look(path)
    assert str(first.id) in choose.text
    asked = {"what": "tickets", "tickets": str(first.id), "reasonCode": "SERIOUS_FAILURE"}
    dry = await visitor.look(path, **asked)
    assert shown(2500) in text_of(dry)
    assert "Nothing has been done yet" in text_of(dry)
    fields = dict(re.findall(r'name="(\w+)" value="([^"]*)"', dry.text.split("<form")[-2]))
    wrong = await visitor.send(path, 409, **{**asked, **fields, "shownMinor": "1"})
    assert "not what you were shown" in text_of(wrong)
    done = await visitor.send(path, **asked, **{name: fields[name] for name in ("shownMinor", "key")})
    status = await visitor.look(done.headers["location"].removeprefix(visitor.home))
    assert "On its way" in text_of(status)
    await office.work()
    status = await visitor.look(done.headers["location"].removeprefix(visitor.home))
    assert "The money is back with the buyer" in text_of(status)
    after = await visitor.look(f"/orders/{order['orderId']}")
    assert shown(-2500) in text_of(after)
    gone = await visitor.look(path, 409, **asked)
    assert str(second.id) in gone.text, "another can be chosen"


async def test_nothing_chosen_is_not_everything(office: Office):
    _, order, _ = await a_paid_order(office)
    visitor = Visitor(office)
    path = f"/orders/{order['orderId']}/refund"
    for what in ("tickets", ""):
        asked = {"what": what, "reasonCode": "SERIOUS_FAILURE"}
        dry = await visitor.look(path, 422, **asked)
        assert "You did not choose what goes back" in text_of(dry)
        assert "Give back" not in text_of(dry).partition("What goes back")[2]
        await visitor.send(path, 422, **asked, shownMinor="5000", key=f"none-{next(KEYS)}")
    assert "Refunded €0.00" in text_of(await visitor.look(f"/orders/{order['orderId']}"))


@pytest.mark.covers("ORG-031")
async def test_everybody_in_a_house_reads_its_clocks_by_the_same_zone(office: Office):
    stage = office.stage
    await stage.superuser.execute(
        "UPDATE organizations.organization SET time_zone = 'America/Sao_Paulo' WHERE organization_id = $1",
        stage.organization.uuid,
    )
    event, _, _ = await a_paid_order(office)
    listed = await Visitor(office).look("/attendees", eventId=event["eventId"])
    why = re.search(r"/attendees/ent_[0-9a-f]+/why", listed.text)[0]
    staff = await a_member(stage.database, stage.organization, MemberRole.STAFF)
    owners, stewards = await Visitor(office).look(why), await Visitor(office, staff).look(why)
    clock = re.compile(r"\d{1,2}:\d\d(?: [AP]M)?")
    seen = [clock.findall(text_of(answer)) for answer in (owners, stewards)]
    assert seen[0] and seen[0] == seen[1]


async def test_a_whole_order_goes_back(office: Office):
    _, order, _ = await a_paid_order(office)
    visitor = Visitor(office)
    path = f"/orders/{order['orderId']}/refund"
    asked = {"what": "whole", "reasonCode": "CANCELLED_BY_SELLER"}
    dry = await visitor.look(path, **asked)
    assert shown(5000) in text_of(dry)
    await visitor.send(path, **asked, shownMinor="5000", key=f"whole-{next(KEYS)}")
    await office.work()
    assert "Refunded" in text_of(await visitor.look(f"/orders/{order['orderId']}"))


@pytest.mark.covers("ORG-024")
async def test_whoever_proved_long_ago_proves_again_and_comes_back_to_the_dry_run(office: Office, database_url: str):
    _, order, _ = await a_paid_order(office)
    async with Database(database_url, clock=Clock(-timedelta(minutes=11))) as before:
        late = await a_person(before, identity=office.stage.owner.identity)
    visitor = Visitor(office, late)
    path = f"/orders/{order['orderId']}/refund"
    stood = f"http://admitone.test{visitor.home}{path}?what=whole&reasonCode=SERIOUS_FAILURE"
    late_headers = {**late.headers, "referer": stood}
    answer = await office.stage.site.post(
        f"{visitor.home}{path}",
        data={"what": "whole", "reasonCode": "SERIOUS_FAILURE", "shownMinor": "5000", "key": "late"},
        headers=late_headers,
    )
    assert answer.status_code == 303
    there = urlsplit(answer.headers["location"])
    [back] = parse_qs(there.query)["next"]
    assert (there.path, back.partition("?")[0]) == ("/step-up", "/unsent")
    typed = answer.headers["set-cookie"].partition(";")[0]
    dry = await office.stage.site.get(back, headers=late.headers | {"cookie": typed})
    assert "Nothing was done yet." in dry.text
    assert f'name="shownMinor" value="5000"' in dry.text  # noqa: F541


@pytest.mark.covers("MOR-045", "ORG-024")
async def test_a_refund_that_failed_is_ordered_anew_for_a_reason(office: Office, database_url: str):
    _, order, _ = await a_paid_order(office)
    visitor = Visitor(office)
    asked = {"what": "whole", "reasonCode": "CANCELLED_BY_SELLER", "shownMinor": "5000", "key": f"k-{next(KEYS)}"}
    with saying(office.world, refund=Refused("insufficient_funds")):
        done = await visitor.send(f"/orders/{order['orderId']}/refund", **asked)
        path = done.headers["location"].removeprefix(visitor.home)
        await office.work(hurry=True)
    page = await visitor.look(path)
    assert "The provider did not do it" in text_of(page)
    assert f'method="post" action="{visitor.home}{path}"' in page.text
    admin = await a_member(office.stage.database, office.stage.organization, MemberRole.ADMIN)
    assert 'method="post" action="/org' not in (await Visitor(office, admin).look(path)).text
    await Visitor(office, admin).send(path, 403, reasonCode="PROVIDER_RECOVERED")
    none = await visitor.send(path, 422, reasonCode="")
    assert "Something is missing" in text_of(none)
    async with Database(database_url, clock=Clock(-timedelta(minutes=11))) as before:
        late = await a_person(before, identity=office.stage.owner.identity)
    tired = await office.stage.site.post(
        f"{visitor.home}{path}",
        data={"reasonCode": "PROVIDER_RECOVERED"},
        headers={**late.headers, "referer": f"http://admitone.test{visitor.home}{path}"},
    )
    detour = urlsplit(tired.headers["location"])
    [back] = parse_qs(detour.query)["next"]
    assert (detour.path, parse_qs(urlsplit(back).query)["cameFrom"]) == ("/step-up", [f"{visitor.home}{path}"])
    anew = [(await visitor.send(path, reasonCode="PROVIDER_RECOVERED")).headers["location"] for _ in range(2)]
    assert anew[0] == anew[1] != done.headers["location"], "said twice, it is one"
    await office.work(hurry=True)
    arrived = await visitor.look(anew[0].removeprefix(visitor.home))
    assert "The money is back with the buyer" in text_of(arrived)
    over = await visitor.send(anew[0].removeprefix(visitor.home), 409, reasonCode="PROVIDER_RECOVERED")
    assert "This refund has not failed" in text_of(over)


async def test_attendees_are_listed_found_and_explained(office: Office):
    event, order, _ = await a_paid_order(office)
    visitor = Visitor(office)
    listed = await visitor.look("/attendees", eventId=event["eventId"], orderId=order["orderId"])
    rights = re.findall(r"/attendees/(ent_[0-9a-f]+)/why", listed.text)
    assert len(rights) == 2
    found = await visitor.send("/attendees/search", 200, eventId=event["eventId"], search=office.buyer.email)
    assert rights[0] in found.text
    nobody = await visitor.send("/attendees/search", 200, eventId=event["eventId"], search="nobody@example.org")
    assert "Nothing was found." in text_of(nobody)
    short = await visitor.send("/attendees/search", 422, eventId=event["eventId"], search="x")
    assert "Please check this field." in text_of(short)
    why = await visitor.look(f"/attendees/{rights[0]}/why")
    assert "Why this ticket opens the door" in text_of(why)
    assert order["orderId"] in why.text


@pytest.mark.covers("ORG-024")
async def test_tables_are_taken_away_with_a_reason(office: Office):
    event, order, _ = await a_paid_order(office)
    visitor = Visitor(office)
    sold = await visitor.send("/orders/export", 200, eventId=event["eventId"], reasonCode="MONTHLY_ACCOUNTS")
    assert sold.headers["content-type"].startswith("text/csv")
    assert order["orderId"] in sold.text
    people = await visitor.send("/attendees/export", 200, eventId=event["eventId"], reasonCode="GUEST_LIST")
    assert office.buyer.email in people.text
    team = await visitor.send("/members/export", 200, reasonCode="ACCOUNTANT_ASKED")
    assert office.stage.owner.email in team.text
    for path in ("/orders/export", "/attendees/export", "/members/export"):
        again = await visitor.send(path, 422, eventId=event["eventId"], reasonCode="")
        assert "Something is missing" in text_of(again)
        assert f'method="post" action="{visitor.home}{path}"' in again.text
    listed = await visitor.look("/attendees", eventId=event["eventId"])
    [log] = re.findall(r'href="(/api/org/[^"]+/log\.csv)"', listed.text)
    taken = await office.stage.site.get(log, headers=visitor.person.headers)
    assert taken.text.startswith("checkin_id,")
    staff = await a_member(office.stage.database, office.stage.organization, MemberRole.STAFF)
    assert (await Visitor(office, staff).send("/members/export", 403, reasonCode="ACCOUNTANT_ASKED")).status_code == 403
    promoter = await a_member(office.stage.database, office.stage.organization, MemberRole.PROMOTER)
    assert ".csv" not in (await Visitor(office, promoter).look("/attendees", eventId=event["eventId"])).text


async def test_what_others_wrote_is_shown_as_text(office: Office):
    event, order, _ = await a_paid_order(office, about={"title": EVIL})
    visitor = Visitor(office)
    for path in ("/orders", "/attendees", f"/orders/{order['orderId']}"):
        page = await visitor.look(path, **({"eventId": event["eventId"]} if path in ("/orders", "/attendees") else {}))
        assert EVIL not in page.text
        assert "alert(" in page.text


async def test_the_team_is_seen_invited_changed_and_removed(office: Office):
    visitor = Visitor(office)
    member = await a_member(office.stage.database, office.stage.organization, MemberRole.VIEWER)
    page = await visitor.look("/team")
    assert str(member.identity) in page.text
    key = f"invite-{next(KEYS)}"
    await visitor.send("/team", email="new.face@example.org", grant="STAFF/FRONT_DESK", key=key)
    page = await visitor.look("/team")
    assert "new.face@example.org" in page.text
    twice = await visitor.send("/team", 409, email="new.face@example.org", grant="STAFF", key=f"{key}-2")
    assert 'value="new.face@example.org"' in twice.text, "what was typed is kept"
    [invitation] = set(re.findall(r"/invitations/(inv_[0-9a-f]+)/revoke", page.text))
    await visitor.send(f"/invitations/{invitation}/revoke")
    assert "Withdrawn" in text_of(await visitor.look("/team"))
    one = f"/team/{member.identity}"
    await visitor.send(one, grant="STAFF/FRONT_DESK")
    assert "Front desk" in text_of(await visitor.look(one))
    bad = await visitor.send(one, 422, grant="KING")
    assert "Something is missing" in text_of(bad)
    last = await visitor.send(f"/team/{office.stage.owner.identity}/remove", 409)
    assert "owner" in text_of(last).lower()
    assert "/remove" not in re.findall(r'<form[^>]*action="([^"]*)"', (await visitor.look(one)).text), "one looks first"
    dry = await visitor.look(f"{one}/remove")
    assert all(said in text_of(dry) for said in ("Nothing has been done yet", "Front desk", "Check-in", "lose every"))
    assert "Front desk" in text_of(await visitor.look(one)), "looking does nothing"
    await visitor.send(f"{one}/remove")
    assert (await visitor.look(one, 404)).status_code == 404


async def test_whoever_is_in_many_places_finds_each_of_them(office: Office, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(
        "admitone.web.console.place.MOST_PLACES", 1
    )  # As somebody has who is in more than a page of them.
    owner, database = office.stage.owner, office.stage.database
    homes = [office.stage.organization, *[await an_organization_of(database, owner) for _ in range(2)]]
    for home in homes:
        assert (await office.stage.site.get(f"/org/{home}/team", headers=owner.headers)).status_code == 200
    strange = await an_organization_of(database, await a_person(database))
    assert (await office.stage.site.get(f"/org/{strange}/team", headers=owner.headers)).status_code == 404


# -- Who sees what

PAGES = {
    "/orders": "EVENTS",
    "/orders/{order}": "EVENTS",
    "/orders/{order}/invoice": "FINANCE",
    "/attendees": "EVENTS",
    "/attendees/{right}/why": "CHECKIN",
    "/financas": "FINANCE",
    "/financas?tab=ledger": "FINANCE",
    "/financas?tab=payouts": "FINANCE",
    "/financas?tab=refunds_disputes": "FINANCE",
    "/financas/accounts/org_payable?currency=EUR": "FINANCE",
    "/financas/payments/{payment}": "FINANCE",
    "/team": "TEAM",
    "/team/{owner}": "TEAM",
}
MAY = {
    MemberRole.OWNER: {"EVENTS", "FINANCE", "CHECKIN", "TEAM"},
    MemberRole.CO_OWNER: {"EVENTS", "FINANCE", "CHECKIN", "TEAM"},
    MemberRole.ADMIN: {"EVENTS", "FINANCE", "CHECKIN", "TEAM"},
    MemberRole.STAFF: {"EVENTS", "CHECKIN"},
    MemberRole.TRAINER: set[str](),
    MemberRole.PROMOTER: {"EVENTS"},
    MemberRole.VIEWER: {"EVENTS"},
    RolePack.FRONT_DESK: {"EVENTS", "CHECKIN"},
    RolePack.CLUB_MANAGER: {"CHECKIN", "TEAM"},
}


@pytest.mark.covers("ORG-022", "ORG-023")
async def test_every_role_sees_what_it_may_and_nothing_else(office: Office):
    _, order, payment = await a_paid_order(office)
    [right, *_] = await office.rights(order)
    names = {
        "order": order["orderId"],
        "payment": str(payment),
        "right": str(right.id),
        "owner": str(office.stage.owner.identity),
    }
    packed = {RolePack.FRONT_DESK: MemberRole.STAFF, RolePack.CLUB_MANAGER: MemberRole.ADMIN}
    for role, areas in MAY.items():
        pack = role if isinstance(role, RolePack) else None
        member = await a_member(office.stage.database, office.stage.organization, packed.get(role, role), pack)
        for path, area in PAGES.items():
            page = await office.stage.site.get(
                f"/org/{office.stage.organization}{path.format(**names)}", headers=member.headers
            )
            assert page.status_code == (200 if area in areas else 403), (role, path, page.status_code)


async def test_refunds_are_for_those_who_may_give_back(office: Office):
    _, order, _ = await a_paid_order(office)
    asked = {"what": "whole", "reasonCode": "SERIOUS_FAILURE"}
    for role in (MemberRole.ADMIN, MemberRole.STAFF, MemberRole.VIEWER):
        member = await a_member(office.stage.database, office.stage.organization, role)
        page = await Visitor(office, member).send(
            f"/orders/{order['orderId']}/refund", 403, **asked, shownMinor="5000", key="no"
        )
        assert "You may not do this." in text_of(page) or page.status_code == 403
    assert all(each.status == "ACTIVE" for each in await office.tickets(order))


@pytest.mark.covers("ORG-023")
async def test_ids_of_another_organisation_are_nothing_here(office: Office):
    event, order, payment = await a_paid_order(office)
    [right, *_] = await office.rights(order)
    stranger = await a_person(office.stage.database)
    elsewhere = await an_organization_of(office.stage.database, stranger)
    lines = await office.stage.database.read(office.stage.scope, queries.list_transfers_of, [payment])
    ours = (
        f"/orders/{order['orderId']}",
        f"/orders/{order['orderId']}/invoice",
        f"/orders/{order['orderId']}/refund?what=whole&reasonCode=SERIOUS_FAILURE",
        f"/attendees/{right.id}/why",
        f"/financas/payments/{payment}",
        f"/financas/transfers/{lines[0].id}",
        f"/financas/refunds/rfd_{'0' * 31}1",
        f"/financas/disputes/dsp_{'0' * 31}1",
        f"/team/{office.stage.owner.identity}",
    )
    for path in ours:
        theirs = await office.stage.site.get(f"/org/{elsewhere}{path}", headers=stranger.headers)
        assert theirs.status_code == 404, (path, theirs.status_code)
        not_in = await office.stage.site.get(f"/org/{office.stage.organization}{path}", headers=stranger.headers)
        assert not_in.status_code in (403, 404), (path, not_in.status_code)
    listed = await office.stage.site.get(
        f"/org/{elsewhere}/orders?eventId={event['eventId']}", headers=stranger.headers
    )
    assert order["orderId"] not in listed.text
    money = await office.stage.site.get(
        f"/org/{elsewhere}/financas/accounts/org_payable?currency=EUR&payee={office.stage.organization.uuid}",
        headers=stranger.headers,
    )
    assert str(payment) not in money.text


async def test_another_site_cannot_send_our_forms(office: Office):
    _, order, _ = await a_paid_order(office)
    visitor = Visitor(office)
    forms = (
        f"/orders/{order['orderId']}/refund",
        "/team",
        f"/team/{office.stage.owner.identity}/remove",
        "/orders/export",
        "/members/export",
        f"/financas/refunds/rfd_{'0' * 31}1",
        "/attendees/search",
    )
    for path in forms:
        answer = await office.stage.site.post(
            f"{visitor.home}{path}",
            data={"what": "whole", "reasonCode": "SERIOUS_FAILURE", "shownMinor": "5000", "key": "k"},
            headers={
                "origin": "https://evil.example",
                "sec-fetch-site": "cross-site",
                "cookie": f"session={visitor.person.access_token}",
            },
        )
        assert answer.status_code == 403, (path, answer.status_code)
    assert all(each.status == "ACTIVE" for each in await office.tickets(order))
