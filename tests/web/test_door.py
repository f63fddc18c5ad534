"""The pages of the door over HTTP, as somebody without scripts uses them; and who does not get in."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from urllib.parse import quote

import httpx
import pytest

from admitone.entitlements.commands.checking_in import consume
from admitone.entitlements.model import CheckinPolicy, Entitlement, Method
from admitone.foundation.authority.api import STEP_UP_LASTS, MemberRole, RolePack
from admitone.kernel.clock import Clock
from admitone.kernel.db import Database
from tests.entitlements.rights import Hall
from tests.people import Person, a_member, a_person
from tests.verticals.events.stage import Stage, a_stage

NEVER_MADE = "A1:" + "A" * 32
BY_HAND = CheckinPolicy(methods=(Method.QR_TICKET, Method.MANUAL))
KEYS = count()


@dataclass
class Door:
    site: httpx.AsyncClient
    hall: Hall
    event: str
    steward: Person
    sessions: list[str] = field(default_factory=list)

    @property
    def checkin(self) -> str:
        return f"/org/{self.hall.organization}/checkin"

    @property
    def path(self) -> str:
        return f"{self.checkin}/{self.event}"

    async def ticket(self, **more: object) -> Entitlement:
        return await self.hall.grant(**{"event_id": self.event, "policy": BY_HAND, **more})

    async def look(self, path: str, person: Person | None = None, **headers: str) -> httpx.Response:
        return await self.site.get(path, headers=(person or self.steward).headers | headers)

    async def post(self, path: str, **form: str) -> httpx.Response:
        return await self.site.post(f"{self.path}/{path}", data=form, headers=self.steward.headers)


@pytest.fixture
async def stage(site: httpx.AsyncClient, database: Database, superuser) -> Stage:
    return await a_stage(site, database, superuser)


@pytest.fixture
async def door(site: httpx.AsyncClient, database: Database, batcher, stage: Stage) -> Door:
    begins = datetime.now(UTC) + timedelta(hours=1)
    schedule = {"startsAt": begins.isoformat(), "endsAt": (begins + timedelta(hours=4)).isoformat()}
    event = await stage.published(about={"title": "<b>Night</b>"}, schedule=schedule)
    hall = Hall(database, batcher, stage.organization, stage.owner, await a_person(database))
    steward = await a_member(database, stage.organization, MemberRole.STAFF, RolePack.FRONT_DESK)
    return Door(site, hall, event["eventId"], steward)


@pytest.mark.covers("ORG-030")
async def test_the_doors_of_an_organisation_have_their_address(door: Door):
    page = await door.look(f"{door.checkin}?tab=scanner")
    assert page.status_code == 200, page.text
    assert f'href="{door.path}/door"' in page.text
    assert "&lt;b&gt;Night&lt;/b&gt;" in page.text
    assert "<b>Night" not in page.text
    assert "dispositivos" not in page.text
    for tab in ("lista", "sessoes", "logs"):
        assert (await door.look(f"{door.checkin}?tab={tab}")).status_code == 200
    assert (await door.look(f"{door.checkin}?tab=dispositivos")).status_code == 403
    old = await door.look(f"/organizacao/{door.hall.organization}/scan")
    assert (old.status_code, old.headers["location"]) == (301, f"{door.checkin}?tab=scanner")


async def test_a_code_is_typed_without_a_script(door: Door):
    code = await door.hall.code(await door.ticket(label="<i>Standing</i>"))
    typed = f" {code[3:20].lower()} {code[20:].lower()} "
    admitted = await door.post("door", code=typed, gate="North <1>")
    assert admitted.status_code == 200, admitted.text
    assert '<h1 class="word">Admitted</h1>' in admitted.text
    assert "&lt;i&gt;Standing" in admitted.text
    again = await door.post("door", code=code)
    assert "Already used" in again.text
    assert "North &lt;1&gt;" in again.text
    never = await door.post("door", code=NEVER_MADE)
    assert "Refused" in never.text
    assert "This code is not known here." in never.text


async def test_a_form_that_is_sent_twice_lets_in_once(door: Door):
    code = await door.hall.code(await door.ticket())
    for _ in range(2):
        assert "Admitted" in (await door.post("door", code=code, key="the-key-of-the-form")).text


async def test_what_was_typed_is_kept_when_it_cannot_be_a_code(door: Door):
    again = await door.post("door", code="", gate="North")
    assert again.status_code == 422
    assert 'value="North"' in again.text
    assert 'aria-invalid="true"' in again.text


@pytest.mark.covers("ENT-024")
async def test_an_entry_is_taken_back(door: Door):
    code = await door.hall.code(await door.ticket())
    admitted = await door.post("door", code=code)
    checkin = admitted.text.partition('name="checkin" value="')[2].partition('"')[0]
    back = await door.post("undo", checkin=checkin, reason="WRONG_PERSON", key="undo-1")
    assert (back.status_code, back.headers["location"]) == (303, f"{door.path}/door")
    assert "Admitted" in (await door.post("door", code=code)).text
    assert (await door.post("undo", checkin=checkin, reason="WRONG_PERSON", key="undo-2")).status_code == 409


@pytest.mark.covers("ENT-017")
async def test_somebody_is_found_by_name_and_let_in(door: Door):
    ticket = await door.ticket()
    only_by_code = await door.ticket(policy=CheckinPolicy())
    found = await door.post("people", search="ana", gate="North")
    assert found.status_code == 200, found.text
    assert f'value="{ticket.id}"' in found.text
    assert f'value="{only_by_code.id}"' not in found.text
    assert "ana" not in str(found.url)
    admitted = await door.post("let-in", entitlement=str(ticket.id), gate="North", key="by-hand-1")
    assert "Admitted" in admitted.text
    assert "Already used" in (await door.post("door", code=await door.hall.code(ticket))).text
    assert (await door.post("people", search="x")).status_code == 422


async def test_lists_are_searched_and_escape_what_others_wrote(door: Door):
    await door.ticket(label="Balcony")
    await door.ticket(label="<img src=x>")
    await door.post("door", code=NEVER_MADE, gate="<u>gate</u>")
    found = await door.look(f"{door.checkin}?tab=lista&event={door.event}&search=Balc")
    assert "Balcony" in found.text
    assert "img" not in found.text
    assert "&lt;img src=x&gt;" in (await door.look(f"{door.checkin}?tab=lista&event={door.event}")).text
    log = await door.look(f"{door.checkin}?tab=logs&event={door.event}&result=denied")
    assert "&lt;u&gt;gate" in log.text
    assert "This code is not known here." in log.text
    assert (await door.look(f"{door.checkin}?tab=logs&event={door.event}&result=nonsense")).status_code == 422


@pytest.mark.covers("ENT-034")
async def test_whoever_is_refused_too_often_confirms_who_they_are(door: Door):
    for _ in range(10):
        await door.post("door", code=NEVER_MADE)
    stopped = await door.post("door", code=NEVER_MADE)
    assert (stopped.status_code, stopped.headers["location"]) == (303, f"{door.path}/confirm")
    assert (await door.look(f"{door.path}/confirm")).status_code == 200
    # Signed in a moment ago, which is proof enough.
    assert (await door.post("confirm", device="")).headers["location"] == f"{door.path}/door"


# -- A scanner that closed itself


async def closes(door: Door, device: str) -> None:
    """Thirty are refused at once, as no steward stands through."""
    scans = [door.hall.a_scan(NEVER_MADE, event=door.event, device=device) for _ in range(30)]
    await door.hall.database.run(door.hall.scope, lambda tx: consume(tx, scans))


@pytest.mark.covers("SAF-016")
async def test_a_scanner_that_closed_itself_says_where_it_is_opened_again(door: Door):
    code = await door.hall.code(await door.ticket())
    await closes(door, str(door.steward.identity))
    stopped = await door.post("door", code=code, gate="North & 1", session="friday")
    where = f"{door.path}/open?gate=North+%26+1&session=friday"
    assert (stopped.status_code, stopped.headers["location"]) == (303, where)
    by_hand = await door.post("let-in", entitlement=str((await door.ticket()).id))
    assert by_hand.headers["location"] == f"{door.path}/open"
    page = await door.look(where)
    assert page.status_code == 200, page.text
    assert 'name="gate" value="North &amp; 1"' in page.text
    assert 'value="OLD_SCREENSHOTS"' in page.text
    without = await door.post("open", reason="")
    assert without.status_code == 422
    assert 'aria-describedby="reason-wrong"' in without.text
    assert (await door.post("door", code=code)).headers["location"] == f"{door.path}/open"
    opened = await door.post("open", reason="OLD_SCREENSHOTS", gate="North", session="friday")
    assert opened.headers["location"] == f"{door.path}/door?gate=North&session=friday"
    assert "Admitted" in (await door.post("door", code=code)).text


@pytest.mark.covers("SAF-016")
async def test_a_closed_scanner_is_opened_from_the_list_by_those_who_may(door: Door, database: Database):
    await closes(door, "door-1")
    listed = f"{door.checkin}?tab=sessoes&event={door.event}"
    link = f'href="{door.path}/open?device=door-1"'
    assert link in (await door.look(listed)).text
    viewer = await a_member(database, door.hall.organization, MemberRole.VIEWER)
    seen = await door.look(listed, viewer)
    assert "Scanner closed" in seen.text
    assert link not in seen.text
    assert (await door.look(f"{door.path}/open?device=door-1", viewer)).status_code == 403
    sent = {"device": "door-1", "reason": "WRONG_DOOR"}
    denied = await door.site.post(f"{door.path}/open", data=sent, headers=viewer.headers)
    assert denied.status_code == 403
    assert "Scanner closed" in (await door.look(listed)).text
    assert (await door.post("open", **sent)).status_code == 303
    assert "Scanner closed" not in (await door.look(listed)).text


@pytest.mark.covers("ENT-010")
async def test_whoever_proves_first_who_they_are_comes_back_with_scanner_and_reason(door: Door, database_url: str):
    await closes(door, "door-1")
    async with Database(database_url, clock=Clock(-STEP_UP_LASTS - timedelta(seconds=30))) as earlier:
        tired = await a_person(earlier, identity=door.steward.identity)
    sent = {"device": "door-1", "reason": "WRONG_DOOR", "gate": "North"}
    detour = await door.site.post(f"{door.path}/open", data=sent, headers=tired.headers)
    back = f"{door.path}/open?gate=North&device=door-1&reason=WRONG_DOOR"
    assert (detour.status_code, detour.headers["location"]) == (303, f"/step-up?next={quote(back, safe='')}")
    page = await door.look(back)
    assert 'value="WRONG_DOOR" selected' in page.text
    assert 'name="device" value="door-1"' in page.text


# -- A door that is for one session


@pytest.fixture
async def festival(site: httpx.AsyncClient, database: Database, batcher, stage: Stage) -> Door:
    """Two sessions, one door."""
    begins = datetime.now(UTC) + timedelta(hours=1)
    ends = begins + timedelta(hours=4)
    sessions = [
        {"label": label, "startsAt": begins.isoformat(), "endsAt": ends.isoformat()}
        for label in ("<b>Matinée</b>", "Evening")
    ]
    schedule = {"startsAt": begins.isoformat(), "endsAt": ends.isoformat(), "sessions": sessions}
    event = await stage.published(schedule=schedule)
    hall = Hall(database, batcher, stage.organization, stage.owner, await a_person(database))
    steward = await a_member(database, stage.organization, MemberRole.STAFF, RolePack.FRONT_DESK)
    return Door(site, hall, event["eventId"], steward, [each["sessionId"] for each in event["sessions"]])


@pytest.mark.covers("ENT-021")
async def test_a_door_that_is_for_one_session_refuses_tickets_of_another(festival: Door):
    matinee, evening = festival.sessions
    ticket = await festival.ticket(session_id=evening)
    code = await festival.hall.code(ticket)
    wrong = await festival.post("door", code=code, gate="North", session=matinee)
    assert "This ticket is for another session." in wrong.text
    assert f'href="{festival.path}/door?gate=North&amp;session={matinee}"' in wrong.text
    by_hand = await festival.post("let-in", entitlement=str(ticket.id), session=matinee)
    assert "This ticket is for another session." in by_hand.text
    right = await festival.post("door", code=code, session=evening)
    assert "Admitted" in right.text
    assert f'name="session" value="{evening}"' in right.text
    for_all = await festival.hall.code(await festival.ticket())
    assert "Admitted" in (await festival.post("door", code=for_all, session=matinee)).text


async def test_the_session_is_chosen_beside_the_gate_and_stays_chosen(festival: Door, database: Database):
    matinee, evening = festival.sessions
    page = await festival.look(f"{festival.path}/door?gate=North&session={evening}")
    assert "&lt;b&gt;Matinée" in page.text
    assert f'<option value="{evening}" data-label="Evening" selected>' in page.text
    assert f'name="session" value="{evening}"' in page.text
    await festival.ticket()
    found = await festival.post("people", search="ana", gate="North", session=evening)
    assert f'<option value="{evening}" data-label="Evening" selected>' in found.text
    assert found.text.count(f'name="session" value="{evening}"') == 1
    admitted = await festival.post("door", code=await festival.hall.code(await festival.ticket()), session=matinee)
    checkin = admitted.text.partition('name="checkin" value="')[2].partition('"')[0]
    back = await festival.post("undo", checkin=checkin, reason="WRONG_PERSON", session=matinee)
    assert back.headers["location"] == f"{festival.path}/door?session={matinee}"
    # Has the doors, and no drafts of events: chooses from what everybody sees.
    manager = await a_member(database, festival.hall.organization, MemberRole.ADMIN, RolePack.CLUB_MANAGER)
    assert f'<option value="{evening}"' in (await festival.look(f"{festival.path}/door", manager)).text


async def test_an_event_without_sessions_asks_for_none(door: Door):
    assert 'id="session"' not in (await door.look(f"{door.path}/door")).text


async def test_another_organisations_event_is_not_found(door: Door, site, database: Database, superuser):
    elsewhere = await a_stage(site, database, superuser)
    theirs = await elsewhere.published()
    wrong = f"{door.checkin}/{theirs['eventId']}"
    assert (await door.look(f"{wrong}/door")).status_code == 404
    assert (await door.look(f"{door.checkin}?tab=lista&event={theirs['eventId']}")).status_code == 404
    posted = await site.post(f"{wrong}/door", data={"code": NEVER_MADE}, headers=door.steward.headers)
    assert posted.status_code == 404
    assert (await door.look(f"{door.path}/door", elsewhere.owner)).status_code == 404
    assert (await door.look(door.checkin, elsewhere.owner)).status_code == 404


@pytest.mark.covers("ENT-017")
async def test_who_may_only_look_does_not_let_in(door: Door, database: Database):
    organization = door.hall.organization
    viewer = await a_member(database, organization, MemberRole.VIEWER)
    assert (await door.look(f"{door.path}/door", viewer)).status_code == 403
    seen = await door.look(door.checkin, viewer)
    assert seen.status_code == 200
    assert f"{door.path}/door" not in seen.text
    promoter = await a_member(database, organization, MemberRole.PROMOTER)
    assert (await door.look(door.checkin, promoter)).status_code == 403
    assert (await door.look(f"{door.checkin}?tab=logs", promoter)).status_code == 403
    # Has the doors, and no drafts of events: sees what everybody sees.
    manager = await a_member(database, organization, MemberRole.ADMIN, RolePack.CLUB_MANAGER)
    assert (await door.look(f"{door.path}/door", manager)).status_code == 200
    assert f"{door.path}/door" in (await door.look(door.checkin, manager)).text


async def test_only_our_own_pages_send_the_forms(door: Door):
    cookie = {"cookie": f"session={door.steward.access_token}"}
    for site, status in (("cross-site", 403), ("same-origin", 200)):
        headers = cookie | {"sec-fetch-site": site}
        sent = await door.site.post(f"{door.path}/door", data={"code": NEVER_MADE}, headers=headers)
        assert sent.status_code == status
    out = await door.site.get(f"{door.path}/door")
    assert (out.status_code, out.headers["location"].partition("?")[0]) == (303, "/sign-in")


async def test_it_can_be_installed(door: Door):
    worker = await door.site.get(f"{door.checkin}/worker.js")
    assert worker.headers["content-type"] == "text/javascript; charset=utf-8"
    assert "default-src 'self'" in worker.headers["content-security-policy"]
    assert worker.headers["service-worker-allowed"] == door.checkin
    manifest = await door.site.get(f"{door.checkin}/door.webmanifest")
    assert manifest.headers["content-type"] == "application/manifest+json"
    said = manifest.json()
    assert said["start_url"] == f"{door.checkin}?tab=scanner"
    for icon in said["icons"]:
        assert (await door.site.get(icon["src"])).headers["content-type"] == "image/png"


@pytest.mark.parametrize(
    ("language", "admitted", "ticket"), [("pt-PT", "Entrada", "bilhete"), ("pt-BR", "Entrada liberada", "ingresso")]
)
async def test_the_door_speaks_the_language_of_whoever_stands_there(
    door: Door, language: str, admitted: str, ticket: str
):
    page = await door.look(f"{door.path}/door", **{"accept-language": language})
    assert f'data-word="admitted">{admitted}<' in page.text
    assert f"Este {ticket} é de outro evento." in page.text
