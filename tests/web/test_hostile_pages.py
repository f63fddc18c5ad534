"""Forms of other sites, other people's organisations, ways out of this one, and words that attack, tried at every page
that there is.

The attempts are made from the contracts themselves, so a page that is added is attacked from its first day.
"""

import itertools
from urllib.parse import urlsplit
from uuid import uuid4

import asyncpg
import httpx
import msgspec
import pytest

from admitone.entrypoints.http import Application
from admitone.foundation.authority.api import MemberRole
from admitone.kernel.contracts import Contract, Reads, Writes
from admitone.kernel.db import Database
from admitone.kernel.ids import PLATFORM_ORGANIZATION, OrganizationId
from tests.builders import an_organization
from tests.kernel.test_dead_letters import a_dead_letter
from tests.people import a_member, a_person, an_organization_of
from tests.stories.test_hostile_operations import a_value_of, form_of
from tests.verticals.events.stage import Stage, a_stage

ELSEWHERE = (
    {"sec-fetch-site": "cross-site"},
    {"sec-fetch-site": "same-site"},
    {"origin": "https://elsewhere.example"},
    {"origin": "null"},
)
WAYS_OUT = (
    "https://elsewhere.example",
    "//elsewhere.example",
    "/\\elsewhere.example",
    "javascript:alert(1)",
    "\t//x.example",
)


def pages(application: Application, method: str) -> list[Contract]:
    found = [each for each in application.edge.contracts if each.owner == "web" and each.method == method]
    return [each for each in found if each.writes is Writes.PAGE]


def address_of(page: Contract, organization: OrganizationId) -> str:
    path = page.path
    for name in page.path_names:
        value = str(organization) if name == "organizationId" else a_value_of(page, name)
        path = path.replace(f"{{{name}}}", value)
    return f"{path}?{form_of(page).decode()}" if page.is_safe else path


def is_local(answer: httpx.Response) -> bool:
    location = answer.headers.get("location", "/")
    return location.startswith("/") and not urlsplit(location).netloc and not location.startswith(("//", "/\\"))


async def test_no_form_is_taken_from_another_site(
    application: Application, database: Database, site: httpx.AsyncClient
):
    owner = await a_person(database)
    home = await an_organization_of(database, owner)
    forms = pages(application, "POST")
    assert len(forms) > 30
    wrong = []
    for page, elsewhere in itertools.product(forms, ELSEWHERE):
        headers = {**elsewhere, "cookie": f"session={owner.access_token}", "accept": "text/html"}
        content = b""
        if page.reading is Reads.FORM:
            headers["content-type"], content = Reads.FORM.value, form_of(page)
        answer = await site.post(address_of(page, home), content=content, headers=headers)
        if answer.status_code != 403 or "CROSS_SITE_REQUEST" not in answer.text:
            wrong.append(f"{page.id} {elsewhere}: {answer.status_code}")
    assert wrong == []


async def test_nobody_sees_a_page_of_an_organisation_in_which_they_are_nothing(
    application: Application, database: Database, site: httpx.AsyncClient
):
    theirs = await an_organization_of(database, await a_person(database))
    stranger = await a_person(database)
    own = [page for page in pages(application, "GET") if page.path.startswith("/org/{organizationId}")]
    assert len(own) > 20
    wrong = []
    for page in own:
        answer = await site.get(address_of(page, theirs), headers={"cookie": f"session={stranger.access_token}"})
        unknown = await site.get(address_of(page, theirs))
        if answer.status_code not in (403, 404) or unknown.headers.get("location", "")[:9] != "/sign-in?":
            wrong.append(f"{page.id}: {answer.status_code}, {unknown.status_code}")
    assert wrong == []


@pytest.mark.parametrize("way", WAYS_OUT)
async def test_no_page_sends_anybody_elsewhere(
    application: Application, database: Database, site: httpx.AsyncClient, way: str
):
    person = await a_person(database)
    cookies = {"cookie": f"session={person.access_token}; signed-in=yes"}
    led = [page for page in application.edge.contracts if page.writes is Writes.PAGE and "next" in page.fields]
    assert len(led) > 3
    wrong = []
    for page in led:
        address = address_of(page, OrganizationId.new())
        headers = {**cookies, "sec-fetch-site": "same-origin"}
        if page.method == "GET":
            answer = await site.get(address, params={"next": way}, headers=headers)
        else:
            answer = await site.post(address, data={"next": way, "language": "en"}, headers=headers)
        if not is_local(answer):
            wrong.append(f"{page.id}: {answer.headers['location']}")
    assert wrong == []


# -- Words that attack

EVIL = "\"><script>window.hurt=1</script><img src=x onerror=window.hurt=2>'{{7*7}}"
RAW = ("<script>window.hurt", "<img src=x")
TEXT = "&lt;script&gt;window.hurt=1"


@pytest.fixture
async def stage(site: httpx.AsyncClient, database: Database, superuser: asyncpg.Connection) -> Stage:
    """Of somebody who also runs the platform, so that every form is theirs to fill in."""
    stage = await a_stage(site, database, superuser)
    await a_member(database, PLATFORM_ORGANIZATION, MemberRole.ADMIN, person=stage.owner)
    return stage


def is_text(field: msgspec.structs.FieldInfo) -> bool:
    return isinstance(msgspec.inspect.type_info(field.type), msgspec.inspect.StrType)


def is_shown_as_text(answer: httpx.Response) -> bool:
    """The words stand there, and nothing of them is a mark of the page."""
    _, _, main = answer.text.partition("<main")
    return TEXT in main and not any(each in main for each in RAW)


async def test_what_is_typed_into_any_form_is_shown_again_as_text(
    application: Application, database: Database, superuser: asyncpg.Connection, stage: Stage
):
    event = await stage.published([{"name": "Standing"}])
    letter = await a_dead_letter(database, superuser, await an_organization(database))
    known = {"eventId": event["eventId"], "ticketTypeId": event["ticketTypes"][0]["ticketTypeId"], "id": str(letter)}
    again, wrong = set(), []
    for page in pages(application, "POST"):
        if page.reading is not Reads.FORM:
            continue
        path = page.path.replace("{organizationId}", str(stage.organization))
        for name in page.path_names:
            path = path.replace(f"{{{name}}}", known.get(name) or a_value_of(page, name))
        typed = {name: EVIL for name, each in page.fields.items() if is_text(each) and name not in page.path_names}
        needed = dict(httpx.QueryParams(form_of(page).decode())) | typed
        headers = {**stage.owner.headers, "sec-fetch-site": "same-origin", "accept": "text/html"}
        answer = await stage.site.post(path, data=needed, headers=headers)
        if any(each in answer.text for each in RAW):
            wrong.append(page.id)
        if TEXT in answer.text:
            again.add(page.id)
    assert wrong == []
    assert {"WEB.DOOR.PEOPLE.FIND", "WEB.ORG.POOL.DO", "WEB.ORG.SETTINGS.CHANGE", "WEB.OPS.STOP"} <= again, sorted(
        again
    )


@pytest.mark.parametrize("name", ["billingName", "taxNumber", "guestEmail"])
async def test_what_is_typed_at_a_checkout_is_text_also_when_it_comes_back_by_a_cookie(stage: Stage, name: str):
    event = await stage.published([{"name": "Stalls", "supply": {"seats": [EVIL[:64], "A2"]}}])
    [kind] = event["ticketTypes"]
    path = f"/e/{event['eventId']}/tickets?ticketTypeId={kind['ticketTypeId']}&quantity=1"
    typed = {"asGuest": "yes", "guestEmail": "not an address", "billingName": "Ana", name: EVIL[:40]}
    form = {"ticketTypeId": kind["ticketTypeId"], "quantity": "1", "idempotencyKey": f"web:{uuid4()}", **typed}
    refused = await stage.site.post(path, data=form, headers={"sec-fetch-site": "same-origin"})
    assert refused.status_code == 422
    left = await stage.site.post(path, data=form | {"then": "sign-in"}, headers={"sec-fetch-site": "same-origin"})
    back = httpx.QueryParams(left.headers["location"].partition("?")[2])["next"]
    shown = await stage.site.get(back, headers={"cookie": left.headers["set-cookie"].partition(";")[0]})
    seats = 1
    for answer in (refused, shown):
        assert is_shown_as_text(answer)
        assert answer.text.count(TEXT) >= seats + 1, "the seat, and what was typed"


@pytest.mark.parametrize("where", ["door", "people"])
async def test_the_name_of_a_gate_is_text(stage: Stage, where: str):
    event = await stage.published([{"name": "Standing"}])
    path = f"/org/{stage.organization}/checkin/{event['eventId']}/{where}"
    assert is_shown_as_text(await stage.site.get(path, params={"gate": EVIL[:64]}, headers=stage.owner.headers))


async def test_why_a_dead_letter_runs_again_is_text(database: Database, superuser: asyncpg.Connection, stage: Stage):
    letter = await a_dead_letter(database, superuser, await an_organization(database))
    page, headers = f"/ops/dead-letters/{letter}", {**stage.owner.headers, "sec-fetch-site": "same-origin"}
    code = {"reasonCode": "ATTACK"}
    too_long = await stage.site.post(f"{page}/replay", data={"reason": EVIL * 4, **code}, headers=headers)
    assert (too_long.status_code, is_shown_as_text(too_long)) == (422, True)
    await stage.site.post(f"{page}/replay", data={"reason": EVIL, **code}, headers=headers)
    assert is_shown_as_text(await stage.site.get(page, headers=headers))
