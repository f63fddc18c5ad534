"""Lists as people read them: from either end, page by page, searched and filtered, and the same as a table."""

import csv
import html
import io
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import asyncpg
import httpx
import pytest

from admitone.foundation.authority.api import MemberRole
from admitone.foundation.identity.model import Profile
from admitone.foundation.identity.store import people
from admitone.foundation.organizations import roster
from admitone.kernel.db import Database
from admitone.kernel.ids import IdentityId, uuid7
from admitone.kernel.scope import PeopleScope
from admitone.kernel.words import Language
from admitone.web import lists
from tests.builders import an_organization
from tests.kernel.test_dead_letters import a_dead_letter
from tests.people import Person, a_member, a_person, a_platform_admin
from tests.verticals.events.office import Office
from tests.verticals.events.stage import Stage, soon
from tests.web.test_office import Visitor, text_of
from tests.web.test_ops import AN_ISSUE, Operator

Row = dict[str, Any]
CAME_IN = """
    UPDATE entitlements.entitlement
       SET entries = 1, entered = 1, consumed_at = $2, last_entry_at = $2
     WHERE source_id = $1
"""


@dataclass(frozen=True)
class Asked:
    """A list of the API: where, by which field its rows are told apart, and its two orders."""

    path: str
    key: str
    orders: tuple[str, str] = ("OLDEST", "NEWEST")
    query: tuple[tuple[str, str], ...] = ()


async def page(site: httpx.AsyncClient, who: Person, path: str, **query: Any) -> httpx.Response:
    return await site.get(path, params=query, headers=who.headers)


async def every(site: httpx.AsyncClient, who: Person, path: str, **query: Any) -> list[Row]:
    """All pages of a list."""
    found: list[Row] = []
    cursor: dict[str, str] = {}
    while True:
        answer = await page(site, who, path, **query, **cursor)
        assert answer.status_code == 200, answer.text
        found += answer.json()["items"]
        if answer.json()["nextCursor"] is None:
            return found
        cursor = {"cursor": answer.json()["nextCursor"]}


async def a_busy_evening(office: Office) -> tuple[Row, list[Row]]:
    """An event with more than fits two short pages of each list; the first order came in, the second was given back."""
    event, [kind] = await office.on_sale(capacity=50)
    orders = [await office.order(event, (kind, 2)) for _ in range(5)]
    payments = [await office.pay(order) for order in orders[:3]]
    await office.stage.superuser.execute(CAME_IN, orders[0]["orderId"], datetime.now(UTC))
    for payment in payments[1:3]:
        body = {"reasonCode": "SERIOUS_FAILURE", "idempotencyKey": f"back-{payment}"}
        path = f"/api/org/{office.stage.organization}/payments/{payment}/refund"
        office.stage.fine(await office.stage.site.post(path, json=body, headers=office.stage.owner.headers))
    await office.work()
    return event, orders


async def listed(office: Office) -> list[Asked]:
    event, _ = await a_busy_evening(office)
    when = {"startsAt": soon(days=3), "endsAt": soon(days=4)}
    for _ in range(4):
        await office.stage.drafted(schedule=when)  # They begin at one instant: ids tell them apart.
    own, finance = f"{office.stage.path}/{event['eventId']}", f"/api/org/{office.stage.organization}/finance"
    account = (("account", "org_payable"), ("currency", "EUR"))
    doors = f"/api/org/{office.stage.organization}/checkin/events/{event['eventId']}"
    return [
        Asked(f"{own}/orders", "orderId"),
        Asked(f"{own}/attendees", "ticketId"),
        Asked(office.stage.path, "eventId", ("SOONEST", "LATEST")),
        Asked(f"{finance}/ledger/statement", "transfer", query=account),
        Asked(f"{finance}/refunds", "refundId"),
        Asked(f"{doors}/entitlements", "entitlementId"),
    ]


@pytest.mark.covers("ORG-030")
async def test_a_list_read_from_one_end_is_the_one_read_from_the_other_with_every_row_once(office: Office):
    site, owner = office.stage.site, office.stage.owner
    for each in await listed(office):
        first, last = each.orders
        whole = [row[each.key] for row in await every(site, owner, each.path, **dict(each.query), order=first)]
        assert len(whole) == len({*whole}) >= 2, each
        for limit in (1, 2, 3):
            asked = {**dict(each.query), "limit": limit}
            rising = [row[each.key] for row in await every(site, owner, each.path, **asked, order=first)]
            falling = [row[each.key] for row in await every(site, owner, each.path, **asked, order=last)]
            assert rising == whole, each
            assert falling == [*reversed(whole)], each


async def test_a_cursor_of_one_order_is_refused_in_the_other(office: Office):
    site, owner = office.stage.site, office.stage.owner
    for each in await listed(office):
        for given, asked in (each.orders, each.orders[::-1]):
            begun = await page(site, owner, each.path, **dict(each.query), limit=1, order=given)
            cursor = begun.json()["nextCursor"]
            wrong = await page(site, owner, each.path, **dict(each.query), limit=1, order=asked, cursor=cursor)
            assert (wrong.status_code, wrong.json()["errorCode"]) == (422, "VALIDATION_FAILED"), each
            right = await page(site, owner, each.path, **dict(each.query), limit=1, order=given, cursor=cursor)
            assert right.status_code == 200, each


async def test_a_row_that_comes_while_somebody_reads_is_shown_once_or_not_at_all(office: Office):
    event, [kind] = await office.on_sale(capacity=50)
    for _ in range(3):
        await office.order(event, (kind, 1))
    site, owner, path = office.stage.site, office.stage.owner, f"{office.stage.path}/{event['eventId']}/orders"
    for order, comes in (("NEWEST", 0), ("OLDEST", 1)):
        before = [row["orderId"] for row in await every(site, owner, path, order=order)]
        begun = (await page(site, owner, path, order=order, limit=2)).json()
        late = (await office.order(event, (kind, 1)))["orderId"]
        found, cursor = begun["items"], begun["nextCursor"]
        while cursor:
            more = (await page(site, owner, path, order=order, limit=2, cursor=cursor)).json()
            found, cursor = [*found, *more["items"]], more["nextCursor"]
        ids = [row["orderId"] for row in found]
        assert ids == [*before, *([late] if comes else [])]


async def test_tickets_are_listed_by_whether_somebody_came_in_on_them(office: Office):
    event, orders = await a_busy_evening(office)
    site, owner, path = office.stage.site, office.stage.owner, f"{office.stage.path}/{event['eventId']}/attendees"
    for order in ("OLDEST", "NEWEST"):
        came = await every(site, owner, path, cameIn="true", limit=1, order=order)
        assert [row["orderId"] for row in came] == [orders[0]["orderId"]] * 2
        others = await every(site, owner, path, cameIn="false", limit=1, order=order)
        assert {row["orderId"] for row in others} == {order["orderId"] for order in orders[1:3]}
        assert len(others) == 4


async def test_a_statement_of_some_days_is_within_them_from_either_end(office: Office):
    await a_busy_evening(office)
    site, owner = office.stage.site, office.stage.owner
    path = f"/api/org/{office.stage.organization}/finance/ledger/statement"
    asked = {"account": "org_payable", "currency": "EUR", "limit": 2}
    lines = await every(site, owner, path, **asked, order="OLDEST")
    middle = lines[len(lines) // 2]["postedAt"]
    for order in ("OLDEST", "NEWEST"):
        since = await every(site, owner, path, **asked, order=order, since=middle)
        until = await every(site, owner, path, **asked, order=order, until=middle)
        assert {row["transfer"] for row in since} == {row["transfer"] for row in lines if row["postedAt"] >= middle}
        assert {row["transfer"] for row in until} == {row["transfer"] for row in lines if row["postedAt"] < middle}


# -- Teams


async def call_them(database: Database, names: dict[IdentityId, str | None]) -> None:
    async def rename(tx: Any) -> None:
        found = await people.list_profiles(tx, [*names])
        await people.put_profiles(
            tx, {who: Profile(found[who].email, name, Language.ENGLISH) for who, name in names.items()}
        )

    await database.run(PeopleScope("test"), rename)


async def a_team(stage: Stage) -> dict[str, IdentityId]:
    """Two are called the same, one has no name, and the owner is called Ana."""
    wanted = {
        "Zé": MemberRole.VIEWER,
        "Ângela Prates": MemberRole.STAFF,
        "angela prates": MemberRole.STAFF,
        "Bruno": MemberRole.ADMIN,
        "": MemberRole.STAFF,
    }
    team = {name: (await a_member(stage.database, stage.organization, role)).identity for name, role in wanted.items()}
    await call_them(stage.database, {who: name or None for name, who in team.items()})
    return team


async def test_a_team_is_read_by_name_and_by_rank_with_namesakes_once_each(stage: Stage):
    team, path = await a_team(stage), f"/api/org/{stage.organization}/members"
    namesakes = sorted((team["Ângela Prates"], team["angela prates"]))
    ana, nobody = stage.owner.identity, team[""]
    by_name = [ana, *namesakes, team["Bruno"], team["Zé"], nobody]
    by_rank = [ana, team["Bruno"], *namesakes, nobody, team["Zé"]]
    for order, expected in (("NAME", by_name), ("ROLE", by_rank), ("ID", sorted(by_name))):
        for limit in (1, 2, 100):
            found = await every(stage.site, stage.owner, path, order=order, limit=limit)
            assert [row["identity"] for row in found] == [str(each) for each in expected], (order, limit)


@pytest.mark.parametrize("words", ["angela", "ÂNGELA", "prates ang"])
async def test_a_member_is_found_with_and_without_accents(stage: Stage, words: str):
    team, path = await a_team(stage), f"/api/org/{stage.organization}/members"
    for order in ("NAME", "ID"):
        found = await every(stage.site, stage.owner, path, search=words, order=order, limit=1)
        assert {row["identity"] for row in found} == {str(team["Ângela Prates"]), str(team["angela prates"])}
    staff = await every(stage.site, stage.owner, path, role="STAFF", limit=1)
    assert len(staff) == 3


async def test_a_team_too_large_to_be_sorted_is_refused_and_its_page_reads_it_as_it_is(
    stage: Stage, office: Office, monkeypatch: pytest.MonkeyPatch
):
    team = await a_team(stage)
    monkeypatch.setattr(roster, "MOST", 3)
    path = f"/api/org/{stage.organization}/members"
    refused = await page(stage.site, stage.owner, path, order="NAME")
    assert (refused.status_code, refused.json()["errorCode"]) == (409, "TEAM_TOO_LARGE")
    shown = await stage.site.get(f"/org/{stage.organization}/team", headers=stage.owner.headers)
    assert shown.status_code == 200
    assert all(str(each) in shown.text for each in team.values())


async def test_places_in_a_team_fit_a_cursor_whatever_people_are_called(stage: Stage):
    team, path = await a_team(stage), f"/api/org/{stage.organization}/members"
    await call_them(stage.database, {team["Zé"]: "\U0001f3ad🎭" * 50, team["Bruno"]: "ﷺ" * 100})
    found = await every(stage.site, stage.owner, path, order="NAME", limit=1)
    assert len(found) == 6


# -- Search


@pytest.mark.parametrize("words", ["Café São José", "cafe sao jose", "CAFÉ", "são"])
async def test_events_are_found_with_and_without_accents(stage: Stage, words: str):
    wanted = await stage.drafted(about={"title": "Noite no Café São José"})
    await stage.drafted(about={"title": "Fado"})
    for order in ("SOONEST", "LATEST"):
        found = await every(stage.site, stage.owner, stage.path, text=words, order=order)
        assert [row["eventId"] for row in found] == [wanted["eventId"]]


# -- Pages and tables


def rows_in(answer: httpx.Response) -> list[Row]:
    assert answer.headers["content-type"].startswith("text/csv"), answer.text[:500]
    assert "attachment" in answer.headers["content-disposition"]
    return [*csv.DictReader(io.StringIO(answer.text))]


def next_of(text: str) -> str | None:
    found = re.search(r'rel="next" href="([^"]+)"', text)
    return html.unescape(found[1]) if found else None


async def shown_in(look: Callable[[str], Any], path: str, ids: list[str]) -> list[str]:
    """Which of these stand on the pages of a list, in which order."""
    found: list[str] = []
    address: str | None = path
    while address:
        text = (await look(address)).text
        found += re.findall("|".join(ids), text.partition("<tbody>")[2].partition("</tbody>")[0])
        address = next_of(text)
    return [*dict.fromkeys(found)]


@pytest.mark.covers("ORG-030")
async def test_a_table_has_the_rows_of_its_list_under_the_same_filter_and_in_the_same_order(
    office: Office, monkeypatch: pytest.MonkeyPatch
):
    event, orders = await a_busy_evening(office)
    monkeypatch.setattr(lists, "AT_A_TIME", 2)  # A table is several pages of its list.
    visitor, own = Visitor(office), event["eventId"]
    ids = [order["orderId"] for order in orders]
    asked = {
        f"/orders?eventId={own}&state=FULFILLED": ids[2::-1],
        f"/orders?eventId={own}&state=OPEN&order=OLDEST": ids[3:],
        f"/orders?eventId={own}&order=OLDEST": ids,
        f"/orders?eventId={own}": ids[::-1],
        f"/orders?eventId={own}&search={ids[1]}": ids[1:2],
        f"/attendees?eventId={own}&cameIn=true": ids[:1],
        f"/attendees?eventId={own}&order=NEWEST": ids[2::-1],
    }
    for path, expected in asked.items():
        listed = await shown_in(lambda at: visitor.look(at.removeprefix(visitor.home)), path, ids)
        taken = [row["order_id"] for row in rows_in(await visitor.look(f"{path}&form=csv"))]
        assert [*dict.fromkeys(taken)] == listed == expected, path


async def test_a_table_of_an_account_has_every_line_of_its_days(office: Office, monkeypatch: pytest.MonkeyPatch):
    await a_busy_evening(office)
    monkeypatch.setattr(lists, "AT_A_TIME", 3)
    visitor, today = Visitor(office), datetime.now(UTC).date()
    path = "/financas/accounts/org_payable"
    lines = await every(
        office.stage.site,
        office.stage.owner,
        f"/api/org/{office.stage.organization}/finance/ledger/statement",
        account="org_payable",
        currency="EUR",
        order="OLDEST",
    )
    near = {"since": str(today - timedelta(days=1)), "until": str(today + timedelta(days=1))}
    taken = rows_in(await visitor.look(path, currency="EUR", order="OLDEST", form="csv", **near))
    assert [row["transfer"] for row in taken] == [row["transfer"] for row in lines]
    assert [int(row["debit_minor"]) for row in taken] == [row["debitMinor"] for row in lines]
    far = {"since": "2020-01-01", "until": "2020-01-31"}
    assert rows_in(await visitor.look(path, currency="EUR", form="csv", **far)) == []
    assert "Nothing here yet." in text_of(await visitor.look(path, currency="EUR", **far))
    wrong = await visitor.look(path, 422, currency="EUR", since="yesterday")
    assert "Please check this field." in text_of(wrong) and 'value="yesterday"' in wrong.text


async def test_no_cell_of_a_table_is_a_formula(office: Office):
    evil = '=HYPERLINK("https://evil.example","Free")'
    await office.stage.drafted(about={"title": evil, "venue": {"name": "+1", "city": "@sum"}})
    [row] = rows_in(await Visitor(office).look("/events", text="HYPERLINK", form="csv"))
    assert (row["title"], row["venue_name"], row["venue_city"]) == (f"'{evil}", "'+1", "'@sum")


async def test_whoever_may_not_see_a_list_takes_no_table_of_it(office: Office):
    event, _ = await office.on_sale()
    stranger = Visitor(office, await a_person(office.stage.database))
    trainer = Visitor(office, await a_member(office.stage.database, office.stage.organization, MemberRole.PROMOTER))
    for path in (f"/orders?eventId={event['eventId']}", "/events", "/financas?tab=ledger", "/checkin?tab=lista"):
        at = f"{path}{'&' if '?' in path else '?'}form=csv"
        await stranger.look(at, 404)
    for path in ("/financas?tab=payouts&form=csv", "/financas?tab=refunds_disputes&form=csv"):
        refused = await trainer.look(path, 403)
        assert refused.headers["content-type"].startswith("text/html"), "a page says so"


HOSTILE = (
    "'; DROP TABLE events.ticket_order; --",
    '"><script>alert(1)</script>',
    "NEWEST\x00",
    "-1",
    "%00",
    "A" * 3000,
    "../../etc/passwd",
)


@pytest.mark.parametrize(
    "path", ["/orders", "/attendees", "/events", "/team", "/financas?tab=payouts", "/checkin?tab=logs"]
)
async def test_hostile_words_in_an_address_are_ignored_or_refused(office: Office, path: str):
    await office.on_sale()
    stage = office.stage
    for name in ("order", "cursor", "form", "state", "status", "cameIn", "used", "role", "search", "since", "gate"):
        for value in HOSTILE:
            at = path.partition("?")[0]
            query = {**{key: each[0] for key, each in parse_qs(urlsplit(path).query).items()}, name: value}
            answer = await stage.site.get(f"/org/{stage.organization}{at}", params=query, headers=stage.owner.headers)
            assert answer.status_code in (200, 404, 422), (name, value, answer.status_code)
            assert "<script>alert" not in answer.text


async def test_a_column_says_how_it_is_sorted_and_leads_to_the_other_way(office: Office):
    event, [kind] = await office.on_sale(capacity=60)
    for _ in range(26):
        await office.order(event, (kind, 1))
    visitor = Visitor(office)
    newest = await visitor.look("/orders", eventId=event["eventId"], state="OPEN")
    assert newest.text.count("aria-sort") == 1
    [(way, turned)] = re.findall(r'aria-sort="(\w+)"><a class="sorts" href="([^"]+)"', newest.text)
    assert way == "descending"
    oldest = await visitor.look(html.unescape(turned).removeprefix(visitor.home))
    [(way, back)] = re.findall(r'aria-sort="(\w+)"><a class="sorts" href="([^"]+)"', oldest.text)
    assert way == "ascending"
    assert parse_qs(urlsplit(html.unescape(back)).query)["order"] == ["NEWEST"]
    asked = parse_qs(urlsplit(next_of(oldest.text) or "").query)
    assert (asked["order"], asked["state"], asked["eventId"]) == (["OLDEST"], ["OPEN"], [event["eventId"]])
    assert '<option value="OLDEST" selected>' in oldest.text, "and the form says so too"
    mixed = await visitor.look("/orders", 422, eventId=event["eventId"], cursor=asked["cursor"][0])
    assert "Something is missing or not as it should be." in text_of(mixed)


# -- Of those who run the platform


@pytest.mark.covers("ORG-031")
async def test_operators_read_and_take_away_their_lists_from_either_end(
    site: httpx.AsyncClient, database: Database, superuser: asyncpg.Connection, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(lists, "AT_A_TIME", 2)
    operator, scope = Operator(site, await a_platform_admin(database)), await an_organization(database)
    whose = str(scope.organization)
    letters = [str(await a_dead_letter(database, superuser, scope, key=uuid7().hex)) for _ in range(5)]
    issues = [uuid7() for _ in range(5)]
    for own in issues:
        await superuser.execute(AN_ISSUE, scope.organization.uuid, own, f"re_{own.hex}")
    kept = {
        "/ops/dead-letters": ("id", letters, "OLDEST"),
        "/ops/issues": ("issue_id", [f"rci_{own.hex}" for own in issues], "NEWEST"),
    }
    for path, (key, ids, usual) in kept.items():
        for order in ("OLDEST", "NEWEST", ""):
            expected = ids if (order or usual) == "OLDEST" else ids[::-1]
            taken = rows_in(await operator.look(path, organization=whose, order=order, form="csv"))
            assert [row[key] for row in taken] == expected, (path, order)
            page_of = await operator.look(path, organization=whose, order=order)
            assert [*dict.fromkeys(re.findall("|".join(ids), page_of.text))] == expected, (path, order)
    for path in ("/ops", "/ops/alerts", "/ops/webhooks", "/ops/gates"):
        rows_in(await operator.look(path, form="csv"))
    helper = Operator(site, await a_platform_admin(database, MemberRole.VIEWER))
    for path in ("/ops", "/ops/dead-letters", "/ops/alerts", "/ops/webhooks", "/ops/gates"):
        await helper.look(path, 403, form="csv")


async def test_switches_are_found_by_whose_they_are_and_by_kind(site: httpx.AsyncClient, database: Database):
    operator, scope = Operator(site, await a_platform_admin(database)), await an_organization(database)
    said = {"reasonCode": "FRAUD_SUSPECTED", "caseReference": "case-7"}
    await operator.send("/ops/gates/stop", kind="ORGANIZATION", id=str(scope.organization), hours="24", **said)
    stops = rows_in(await operator.look("/ops/gates", held="stop", form="csv"))
    assert any(str(scope.organization) in row["key"] for row in stops)
    assert all(row["key"].startswith("stop:") for row in stops)
    features = rows_in(await operator.look("/ops/gates", held="feature", form="csv"))
    assert not any(row["key"].startswith("stop:") for row in features)
    mine = rows_in(await operator.look("/ops/gates", organization=stops[0]["organization"], form="csv"))
    assert {row["organization"] for row in mine} == {stops[0]["organization"]}
    await operator.look("/ops/gates", 422, held="everything")
