"""Lists of an event: its rights, its log, people at the door; and tables to take away."""

import csv
import io
from datetime import timedelta
from typing import Any

import httpx
import pytest

from admitone.entitlements import holders
from admitone.entitlements.commands.changing import Revoking, revoke
from admitone.entitlements.commands.undoing import Undo, undo
from admitone.entitlements.model import Entitlement, Revocation
from admitone.entitlements.routes import exporting
from admitone.finance.sources.api import Source, SourceType
from admitone.foundation.authority.api import STEP_UP_LASTS, MemberRole, RolePack
from admitone.foundation.identity.model import IdentityType, Profile
from admitone.foundation.identity.store import people
from admitone.foundation.identity.store.people import NewIdentity
from admitone.kernel.clock import Clock
from admitone.kernel.db import Database, PeopleTx
from admitone.kernel.ids import IdentityId
from admitone.kernel.scope import PeopleScope
from admitone.kernel.texts import is_called, parts_of
from admitone.kernel.words import Language
from tests.entitlements.gates import NEVER_MADE, told
from tests.entitlements.rights import EVENT, Hall, a_hall, all_of
from tests.entitlements.test_live import path_of, scan_all
from tests.entitlements.test_throttles import a_scanner, first_code
from tests.mails import an_address
from tests.people import Person, a_member, a_person

WHOLE_TRAIL = "SELECT a::text FROM kernel.audit_entry AS a WHERE organization_id = $1"
AUDITED = "SELECT action, subject, reason_code FROM kernel.audit_entry WHERE organization_id = $1 ORDER BY id"


async def get(site: httpx.AsyncClient, hall: Hall, what: str, who: Person | None = None, **asked: Any) -> Any:
    answer = await site.get(path_of(hall, what), params=asked, headers=(who or hall.staff).headers)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def all_pages(site: httpx.AsyncClient, hall: Hall, what: str, **asked: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    cursor: dict[str, str] = {}
    while True:
        page = await get(site, hall, what, **(asked | cursor))
        found += page["items"]
        if page["nextCursor"] is None:
            return found
        cursor = {"cursor": page["nextCursor"]}


# -- Rights


async def test_rights_are_found_by_what_they_are_called_where_they_came_from_and_how_their_id_begins(
    site: httpx.AsyncClient, hall: Hall
):
    standing = await hall.grant_many(3)
    seated = await hall.grant(label="Balcão, fila 3", session_id="day-2", source=Source(SourceType.BOOKING, "book-7"))
    await hall.grant(event_id="evt-other", label="Balcão")
    gone = await hall.grant()
    await hall.submit(revoke, Revoking(hall.staff.caller, gone.id, Revocation.ADMIN))
    await scan_all(hall, hall.a_scan(first_code(standing[0])))

    async def found(**asked: Any) -> list[str]:
        return [each["entitlementId"] for each in await all_pages(site, hall, "entitlements", limit=2, **asked)]

    every = [*standing, seated, gone]
    assert await found() == sorted(str(each.id) for each in every)
    assert await found(search="balcão") == [str(seated.id)]
    assert await found(search="book-7") == [str(seated.id)]
    assert await found(search=standing[1].source.id) == [str(standing[1].id)]
    assert await found(search=str(seated.id)) == [str(seated.id)]
    assert str(standing[2].id) in await found(search=str(standing[2].id)[:14])
    assert await found(search="ent_" + "f" * 10) == []
    assert await found(search="ook-7") == [], "an id is the whole id"
    assert await found(sessionId="day-2") == [str(seated.id)]
    assert await found(status="REVOKED") == [str(gone.id)]
    assert await found(used=True) == [str(standing[0].id)]
    assert len(await found(used=False)) == 4


async def test_a_list_shows_what_was_made_of_a_right_and_nobodys_name(site: httpx.AsyncClient, hall: Hall):
    right = await hall.grant()
    await scan_all(hall, *(hall.a_scan(first_code(right)) for _ in range(3)))
    [shown] = (await get(site, hall, "entitlements"))["items"]
    assert [shown[each] for each in ("entries", "maxEntries", "duplicates", "status")] == [1, 1, 2, "ACTIVE"]
    assert shown["consumedAt"] == shown["lastEntryAt"] is not None
    assert "Ana" not in str(shown)
    assert "holderName" not in shown


# -- The log


@pytest.mark.covers("ENT-033")
async def test_the_log_is_read_by_what_came_of_it_by_gate_and_by_device(site: httpx.AsyncClient, hall: Hall):
    first, second = await hall.grant_many(2)
    north, south = {"gate": "North", "device": "n1"}, {"gate": "South", "device": "s1"}
    entries = await scan_all(
        hall,
        hall.a_scan(first_code(first), **north),
        hall.a_scan(first_code(first), **south),
        hall.a_scan(NEVER_MADE, **south),
        hall.a_scan(first_code(second), **south),
    )
    await hall.submit(undo, Undo(hall.staff.caller, entries[0].checkin, "WRONG_PERSON", "desk"))

    async def logged(**asked: Any) -> list[tuple[Any, ...]]:
        rows = await all_pages(site, hall, "log", limit=2, **asked)
        return [(each["result"], each["reasonCode"], each["gate"], each["device"]) for each in rows]

    came, again = ("admitted", None, "North", "n1"), ("duplicate", "CHECKIN_DUPLICATE", "South", "s1")
    denied, other = ("denied", "INVALID_TOKEN", "South", "s1"), ("admitted", None, "South", "s1")
    undone = ("undone", "WRONG_PERSON", "North", "desk")
    assert await logged() == [undone, other, denied, again, came]
    assert await logged(result="admitted") == [other, came]
    assert await logged(result="duplicate") == [again]
    assert await logged(result="denied") == [denied]
    assert await logged(result="undone") == [undone]
    assert await logged(gate="North") == [undone, came]
    assert await logged(device="s1", result="admitted") == [other]
    [repeats] = (await get(site, hall, "log", result="duplicate"))["items"]
    assert repeats["refersTo"] == str(entries[0].checkin)


@pytest.mark.covers("ENT-026", "TEN-010")
async def test_another_organisation_sees_none_of_it(site: httpx.AsyncClient, hall: Hall, database, batcher):
    elsewhere = await a_hall(database, batcher)
    right = await hall.grant()
    await scan_all(hall, hall.a_scan(first_code(right)))
    for what in ("entitlements", "log"):
        assert (await get(site, elsewhere, what))["items"] == []
        refused = await site.get(path_of(hall, what), headers=elsewhere.staff.headers)
        assert told(refused) == (403, "PERMISSION_DENIED")
    assert (await get(site, elsewhere, "entitlements", search=str(right.id)))["items"] == []


# -- People


async def somebody(hall: Hall, name: str | None, kind: IdentityType = IdentityType.USER) -> tuple[IdentityId, str]:
    who, address = IdentityId.new(), an_address()

    async def sign_up(tx: PeopleTx) -> None:
        await people.insert_identities(tx, [NewIdentity(who, kind, address, None, tx.now)])
        await people.put_profiles(tx, {who: Profile(address, name, Language.ENGLISH)})

    await hall.database.run(PeopleScope("test"), sign_up)
    return who, address


async def right_of(hall: Hall, name: str | None, **more: Any) -> tuple[Entitlement, str]:
    who, address = await somebody(hall, name, more.pop("kind", IdentityType.USER))
    return await hall.grant(owner=who, **more), address


async def ask(
    site: httpx.AsyncClient, hall: Hall, words: str, headers: dict[str, str] | None = None, **more: Any
) -> httpx.Response:
    said = {"search": words} | more
    return await site.post(path_of(hall, "holders"), json=said, headers=headers or hall.staff.headers)


async def found(site: httpx.AsyncClient, hall: Hall, words: str, **more: Any) -> list[str]:
    answer = await ask(site, hall, words, **more)
    assert answer.status_code == 200, answer.text
    return [each["entitlementId"] for each in answer.json()["items"]]


@pytest.mark.parametrize(
    ("name", "words", "is_so"),
    [
        ("João Gonçalves", "joao", True),
        ("João Gonçalves", "goncal jo", True),
        ("João Gonçalves", "oao", False),
        ("João Gonçalves", "joao silva", False),
        ("Anne-Marie Straße", "marie strasse", True),
        ("ANA", "Ána", True),
    ],
)
def test_a_name_is_found_by_the_beginnings_of_its_words(name: str, words: str, is_so: bool):
    assert is_called(name, parts_of(words)) is is_so


@pytest.mark.covers("ENT-017")
async def test_staff_find_who_stands_at_the_door_by_name_or_address(site: httpx.AsyncClient, hall: Hall):
    joao, address = await right_of(hall, "João Gonçalves")
    guest, guests_address = await right_of(hall, None, kind=IdentityType.GUEST_EMAIL)
    await right_of(hall, "Joana Lima")
    _, unrelated = await somebody(hall, "João Ausente")
    elsewhere, _ = await right_of(hall, "João Gonçalves", event_id="evt-other")
    assert await found(site, hall, "joao gonc") == [str(joao.id)]
    assert len(await found(site, hall, "joa")) == 2
    assert await found(site, hall, f" {address.upper()} ") == [str(joao.id)]
    assert await found(site, hall, guests_address) == [str(guest.id)]
    assert await found(site, hall, unrelated) == [], "who has no right here is nobody here"
    assert str(elsewhere.id) not in await found(site, hall, "joao")
    shown = (await ask(site, hall, address)).json()
    assert shown["items"][0]["holderName"] == "João Gonçalves"
    assert address not in str(shown)
    assert told(await ask(site, hall, "not @ an address")) == (422, "INVALID_EMAIL")
    assert told(await ask(site, hall, " "))[0] == 422


async def test_a_search_goes_on_where_it_stopped(site: httpx.AsyncClient, hall: Hall, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(holders, "STEP", 2)
    monkeypatch.setattr(holders, "FARTHEST", 4)
    for _ in range(5):
        await hall.grant()
    late, _ = await right_of(hall, "Zulmira")
    first = (await ask(site, hall, "zul")).json()
    assert first["items"] == []
    second = (await ask(site, hall, "zul", cursor=first["nextCursor"])).json()
    assert [each["entitlementId"] for each in second["items"]] == [str(late.id)]
    assert second["nextCursor"] is None
    one = (await ask(site, hall, "ana", limit=1)).json()
    assert len(one["items"]) == 1
    again = (await ask(site, hall, "ana", limit=1, cursor=one["nextCursor"])).json()
    assert again["items"][0]["entitlementId"] != one["items"][0]["entitlementId"]


@pytest.mark.covers("ENT-017", "ENT-010", "PRV-004")
async def test_names_are_for_people_who_may_let_in_and_every_search_is_written_down(
    site: httpx.AsyncClient, hall: Hall
):
    _, address = await right_of(hall, "Zulmira Quaresma")
    looker = await a_member(hall.database, hall.organization, MemberRole.STAFF, RolePack.REFEREE)
    desk = await a_member(hall.database, hall.organization, MemberRole.STAFF, RolePack.FRONT_DESK)
    _, secret = await a_scanner(site, hall)
    assert told(await ask(site, hall, "zulmira", looker.headers)) == (403, "PERMISSION_DENIED")
    scanner = {"authorization": f"Bearer {secret}"}
    assert told(await ask(site, hall, "zulmira", scanner)) == (403, "PEOPLE_ONLY")
    for words in ("zulmira", address):
        assert len((await ask(site, hall, words, desk.headers)).json()["items"]) == 1
    audited = [row for row in await all_of(hall, AUDITED) if row["action"] == "entitlements.search_holders"]
    assert [row["subject"] for row in audited] == [EVENT] * 2
    trail = str([tuple(row.values()) for row in await all_of(hall, WHOLE_TRAIL)]).lower()
    assert not [word for word in ("zulmira", "quaresma", address) if word in trail]


@pytest.mark.covers("PRV-004")
@pytest.mark.parametrize("words", ["\u0301\u0301", "--", "- -", "a ", " a", "a a", "-a", "\u00aa "], ids=ascii)
async def test_nobody_is_found_by_less_than_two_letters(site: httpx.AsyncClient, hall: Hall, words: str):
    """Else whoever searches for an accent has everybody."""
    await right_of(hall, "Ana-Maria A. Abreu")
    assert await found(site, hall, words) == []


async def test_a_name_is_found_as_it_is_written(site: httpx.AsyncClient, hall: Hall):
    right, _ = await right_of(hall, "Anne-Marie O\u2019Neill")
    for words in ("anne-marie", "Anne-Mar", "marie anne", "anne - marie", "o\u2019neill an", "A. O\u2019Neill"):
        assert await found(site, hall, words) == [str(right.id)], words


async def test_nobody_carries_the_list_away_by_searching(site: httpx.AsyncClient, hall: Hall):
    answers = [await ask(site, hall, f"a{n}") for n in range(61)]
    assert [each.status_code for each in answers] == [200] * 60 + [429]


# -- Tables


def table(answer: httpx.Response) -> list[dict[str, str]]:
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert answer.headers["content-disposition"].startswith("attachment;")
    return [*csv.DictReader(io.StringIO(answer.text))]


FORMULAS = ("=HYPERLINK(1)", "+1", "-1", "@x", "\t=1")


async def test_whoever_may_look_takes_tables_that_name_nobody(site: httpx.AsyncClient, hall: Hall):
    looker = await a_member(hall.database, hall.organization, MemberRole.STAFF, RolePack.REFEREE)
    rights = [await hall.grant(label=label) for label in (*FORMULAS, 'Standing, "front"')]
    await scan_all(
        hall,
        hall.a_scan(first_code(rights[0]), gate="=1+1", device="n1"),
        hall.a_scan(first_code(rights[0]), gate="=1+1", device="n1"),
    )
    rows = table(await site.get(path_of(hall, "attendees.csv"), headers=looker.headers))
    assert [row["entitlement_id"] for row in rows] == [str(each.id) for each in rights]
    assert [row["label"] for row in rows] == [*(f"'{label}" for label in FORMULAS), 'Standing, "front"']
    assert (rows[0]["entries"], rows[0]["duplicates"], rows[1]["first_entry_at"]) == ("1", "1", "")
    assert not {"name", "email"} & rows[0].keys()
    log = table(await site.get(path_of(hall, "log.csv"), headers=looker.headers))
    assert [(row["result"], row["gate"]) for row in log] == [("duplicate", "'=1+1"), ("admitted", "'=1+1")]


async def test_a_table_has_every_row_however_many(site: httpx.AsyncClient, hall: Hall, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(exporting, "ROWS", 3)
    rights = await hall.grant_many(10)
    await scan_all(hall, *(hall.a_scan(first_code(each)) for each in rights))
    rows = table(await site.get(path_of(hall, "attendees.csv"), headers=hall.staff.headers))
    assert [row["entitlement_id"] for row in rows] == sorted(str(each.id) for each in rights)
    assert len(table(await site.get(path_of(hall, "log.csv"), headers=hall.staff.headers))) == 10


@pytest.mark.covers("PRV-023", "ORG-024")
async def test_names_and_addresses_leave_for_a_reason_by_whoever_proved_who_they_are(
    site: httpx.AsyncClient, hall: Hall, database_url: str
):
    right, address = await right_of(hall, "=cmd()")
    path, said = path_of(hall, "attendees/export"), {"reasonCode": "GUEST_LIST"}
    looker = await a_member(hall.database, hall.organization, MemberRole.STAFF, RolePack.REFEREE)
    assert told(await site.post(path, json=said, headers=looker.headers)) == (403, "PERMISSION_DENIED")
    assert told(await site.post(path, json={}, headers=hall.staff.headers))[0] == 422
    async with Database(database_url, clock=Clock(-STEP_UP_LASTS - timedelta(seconds=30))) as earlier:
        tired = await a_person(earlier, identity=hall.staff.identity)
    assert told(await site.post(path, json=said, headers=tired.headers)) == (403, "STEP_UP_REQUIRED")
    [row] = table(await site.post(path, json=said, headers=hall.staff.headers))
    assert (row["entitlement_id"], row["name"], row["email"]) == (str(right.id), "'=cmd()", address)
    audited = [tuple(each.values()) for each in await all_of(hall, AUDITED)]
    assert audited.count(("entitlements.export_attendees", EVENT, "GUEST_LIST")) == 1
