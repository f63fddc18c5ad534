"""Pages: clients of the other contracts in the same process, let in as if the caller had come to each of them."""

import asyncio
from contextlib import suppress

import msgspec
import pytest

from admitone.kernel.authority import Ask, Audience, Granted, PermissionDenied
from admitone.kernel.contracts import (
    Call,
    Contract,
    Html,
    NotDoneYet,
    Reads,
    Reception,
    Redirect,
    Rehearsal,
    Wire,
    Writes,
)
from admitone.kernel.contracts.contract import NOTHING_WRITTEN
from admitone.kernel.errors import OutcomeUnknown, Refusal, Unauthenticated, Unavailable
from admitone.kernel.ids import IdentityId, OrganizationId
from admitone.kernel.scope import Caller
from admitone.kernel.streaks import StepUpRequired
from tests.kernel.contract_desk import (
    A_PARCEL,
    ANA,
    CONTRACTS,
    OURS,
    SESSION,
    THEIRS,
    Desk,
    Parcel,
    ParcelLost,
    SignIn,
    Thing,
    accept,
    contract,
    sign_in,
)

OWN = {"sec-fetch-site": "same-origin", "cookie": f"session={SESSION}"}
RECEPTION = Reception(detours={StepUpRequired: "/prove", Unauthenticated: "/enter"})


class At(Wire):
    organization_id: OrganizationId


def a_page(**said) -> Contract:
    return contract(**{"id": "PAGE.01", "writes": Writes.PAGE, **said})


def posting(work, **said) -> Contract:
    page = a_page(post="/page", **said)
    page.serves(work)
    return page


def desk_with(*pages: Contract, **options) -> Desk:
    return Desk(*CONTRACTS, *pages, reception=RECEPTION, **options)


async def send_parcel(call: Call) -> str:
    receipt = await call.ask(accept, A_PARCEL, organization=OURS)
    return f"<p>{receipt.to} {receipt.by}"


async def test_whom_a_page_asks_lets_the_caller_in_as_if_they_had_come_alone():
    desk = desk_with(posting(send_parcel))
    async with desk.client() as client:
        answer = await client.post("/page", headers=OWN)
    assert answer.text == f"<p>Rui {ANA}"
    [asked] = [ask for ask in desk.doorkeeper.asked if ask.permission]
    assert (asked.credential, asked.organization, asked.permission) == (SESSION, OURS, "parcels.write")
    assert [hit.limit.name for hit in asked.hits] == ["desk.per_name"], "its limits count, too"


async def test_what_is_refused_there_is_refused_here():
    async def ask_elsewhere(call: Call) -> str:
        return str(await call.ask(accept, A_PARCEL, organization=THEIRS))

    async with desk_with(posting(ask_elsewhere)).client() as client:
        answer = await client.post("/page", headers=OWN)
    assert answer.status_code == 403
    assert "PERMISSION_DENIED" in answer.text


@pytest.mark.parametrize("to", ["lost", "closed"])
async def test_a_page_passes_on_what_it_was_told_without_a_list_of_its_own(to: str):
    async def ask(call: Call) -> str:
        return str(await call.ask(accept, Parcel(to=to, weight=1), organization=OURS))

    async with desk_with(posting(ask), strict=to == "lost").client() as client:
        answer = await client.post("/page", headers=OWN)
    assert answer.status_code == {"lost": 404, "closed": 409}[to]


async def test_a_page_that_only_shows_asks_nothing_that_changes_something():
    page = a_page(get="/page")
    page.serves(send_parcel)
    reading = contract(id="READ.01", post="/api/read", repeats=NOTHING_WRITTEN)

    @reading.serves
    async def read(call: Call) -> None:
        return None

    looking = a_page(id="PAGE.02", get="/look")

    @looking.serves
    async def look(call: Call) -> str:
        return str(await call.ask(reading))

    async with desk_with(page, reading, looking).client() as client:
        assert (await client.get("/page", headers={"cookie": f"session={SESSION}"})).status_code == 500
        from_elsewhere = {"sec-fetch-site": "cross-site", "cookie": f"session={SESSION}"}
        assert (await client.get("/look", headers=from_elsewhere)).text == "None", "a link in a letter may lead here"


async def test_a_form_of_another_site_reaches_nobody():
    desk = desk_with(posting(send_parcel))
    async with desk.client() as client:
        answer = await client.post("/page", headers={**OWN, "sec-fetch-site": "cross-site"})
    assert answer.status_code == 403
    assert desk.doorkeeper.asked == []


async def test_cookies_of_whom_it_asks_are_set_by_the_page():
    async def enter(call: Call) -> Redirect:
        await call.ask(sign_in, SignIn(name="Ana"))
        return Redirect("/desk")

    async with desk_with(posting(enter, sets_cookies=("session",))).client() as client:
        answer = await client.post("/page", headers={"sec-fetch-site": "same-origin"})
    assert answer.status_code == 303
    assert answer.headers["set-cookie"].startswith(f"session={SESSION};")


async def test_whoever_must_sign_in_is_sent_there_and_back():
    async def who(call: Call) -> str:
        return str(call.identity)

    own = a_page(id="PAGE.02", get="/mine", audience=Audience.PERSON)
    own.serves(who)
    form_page = a_page(id="PAGE.03", get="/form")
    form_page.serves(who)
    sent = posting(who, audience=Audience.PERSON)
    async with desk_with(own, form_page, sent).client() as client:
        shown = await client.get("/mine?tab=two")
        form = {"sec-fetch-site": "same-origin", "host": "desk.test", "referer": "http://desk.test/form?a=1"}
        posted = await client.post("/page", headers=form)
        foreign = await client.post("/page", headers={**form, "referer": "http://elsewhere.test/form"})
        no_page = await client.post("/page", headers={**form, "referer": "http://desk.test/page"})
        api = await client.post("/api/me")
    assert (shown.status_code, shown.headers["location"]) == (303, "/enter?next=%2Fmine%3Ftab%3Dtwo")
    assert posted.headers["location"] == "/enter?next=%2Fform%3Fa%3D1"
    assert foreign.headers["location"] == "/enter?next=%2F"
    assert no_page.headers["location"] == "/enter?next=%2F", "where a form is sent there is nothing to see"
    assert api.status_code == 401, "programs are told, not sent"


async def test_whoever_must_prove_again_who_they_are_is_sent_there():
    async def demand(call: Call) -> str:
        raise StepUpRequired

    async with desk_with(posting(demand)).client() as client:
        answer = await client.post("/page", headers={"sec-fetch-site": "same-origin"})
    assert answer.headers["location"] == "/prove?next=%2F"


async def test_a_form_that_is_shown_again_says_so_by_its_status():
    async def again(call: Call, request: Thing) -> Html:
        return Html(f"<p>{request.to}", 422)

    page = posting(again, takes=Thing, reads=Reads.FORM)
    async with desk_with(page).client() as client:
        answer = await client.post("/page", data={"to": "Rui"}, headers={"sec-fetch-site": "same-origin"})
    assert (answer.status_code, answer.text) == (422, "<p>Rui")


@pytest.mark.parametrize(
    ("cookie", "said"),
    [("language=pt-BR", "pt-BR"), ("language=en; session=x", "en"), ("language=xx", "en"), ("", "pt-PT")],
)
async def test_a_person_reads_the_language_that_they_chose(cookie: str, said: str):
    page = a_page(get="/page")

    @page.serves
    async def show(call: Call) -> str:
        return call.language.tag

    headers = {"accept-language": "pt", **({"cookie": cookie} if cookie else {})}
    async with desk_with(page).client() as client:
        assert (await client.get("/page", headers=headers)).text == said


@pytest.mark.parametrize(
    ("wanted", "there"),
    [
        ("/a?b=c", "/a?b=c"),
        ("//elsewhere.test", "/"),
        ("/\\elsewhere.test", "/"),
        ("https://elsewhere.test", "/"),
        ("", "/"),
    ],
)
def test_a_redirect_stays_on_this_site(wanted: str, there: str):
    assert Redirect.within(wanted).location == there


@pytest.mark.parametrize("asks", ["what changes something", "what only reads"])
async def test_a_form_that_is_shown_again_asks_nothing_that_changes_anything(asks: str):
    async def send(call: Call, form: Thing) -> Html:
        try:
            if asks == "what changes something":
                await call.ask(accept, A_PARCEL, organization=OURS)
        except NotDoneYet as refusal:
            return Html(f"<p>{form.to}: {refusal.message()}", 409)
        return Html(f"<p>{form.to}: done")

    async def show(call: Call) -> Html:
        shown: Html = await call.rehearse(Rehearsal("PAGE.01", {"to": "Rui"}, "/form"))
        return shown

    sending = posting(send, takes=Thing, reads=Reads.FORM)
    showing = a_page(id="PAGE.02", get="/again")
    showing.serves(show)
    desk = desk_with(sending, showing)
    async with desk.client() as client:
        answer = await client.get("/again", headers=OWN)
    said = "Nothing was done yet." if asks == "what changes something" else "done"
    assert answer.text == f"<p>Rui: {said}"
    assert [ask.permission for ask in desk.doorkeeper.asked if ask.permission] == [], "not even asked for"


# -- Whom a page asks is no less seen than whom callers ask themselves


def served(desk: Desk) -> list[tuple[str, int, str | None, str | None]]:
    """The lines of log: which contract, how it ended, of which organisation."""
    lines = [msgspec.json.decode(each) for each in desk.lines.getvalue().splitlines()]
    return [(each["contract"], each["status"], each["errorCode"], each["orgId"]) for each in lines]


def counted(desk: Desk, of: str, status: int) -> float:
    [family] = [each for each in desk.metrics.registry.collect() if each.name == "admitone_contract_requests"]
    wanted = {"contract": of, "status": str(status)}
    return sum(
        each.value for each in family.samples if each.name.endswith("_total") and wanted.items() <= each.labels.items()
    )


class Trail:
    """Who was refused what, and in whose trail that stands."""

    def __init__(self) -> None:
        self.entries: list[tuple[str, str, OrganizationId | None, IdentityId | None]] = []

    async def refused(
        self, refusal: Refusal, *, contract: str, organization: OrganizationId | None, caller: Caller
    ) -> None:
        self.entries.append((contract, refusal.code, organization, caller.actor))


def refusing(desk: Desk) -> Desk:
    """Ana is known there and may nothing."""
    door = desk.doorkeeper.ask

    async def ask(asked: Ask) -> Granted:
        if asked.organization == THEIRS:
            raise PermissionDenied(permission=asked.permission).to(ANA, at_home=True)
        return await door(asked)

    desk.doorkeeper.ask = ask
    return desk


@pytest.mark.covers("CON-007")
async def test_whom_a_page_asks_is_counted_and_logged_as_itself():
    desk = desk_with(posting(send_parcel))
    async with desk.client() as client:
        answer = await client.post("/page", headers=OWN)
    assert answer.status_code == 200
    assert served(desk) == [("DESK.01", 200, None, str(OURS)), ("PAGE.01", 200, None, str(OURS))]
    assert (counted(desk, "DESK.01", 200), counted(desk, "PAGE.01", 200)) == (1, 1)


@pytest.mark.covers("CON-007")
@pytest.mark.parametrize(("to", "status", "code"), [("lost", 404, "PARCEL_LOST"), ("bug", 500, "SERVER_ERROR")])
async def test_how_it_ended_there_is_counted_whatever_the_page_makes_of_it(to: str, status: int, code: str):
    async def try_to_send(call: Call) -> str:
        try:
            return str(await call.ask(accept, Parcel(to=to, weight=1), organization=OURS))
        except (ParcelLost, ZeroDivisionError):
            return "not sent"

    desk = desk_with(posting(try_to_send))
    async with desk.client() as client:
        assert (await client.post("/page", headers=OWN)).text == "not sent"
    assert served(desk)[0] == ("DESK.01", status, code, str(OURS))
    assert counted(desk, "DESK.01", status) == 1


@pytest.mark.covers("CON-007")
@pytest.mark.parametrize(
    ("said", "code"), [({"get": "/api/slow"}, Unavailable.code), ({"post": "/api/slow"}, OutcomeUnknown.code)]
)
async def test_what_a_page_does_not_wait_for_is_counted_as_what_it_is(said: dict[str, str], code: str):
    slow = contract(id="SLOW.01", **said)

    @slow.serves
    async def sleep(call: Call) -> None:
        await asyncio.sleep(60)

    async def give_up(call: Call) -> str:
        with suppress(TimeoutError):
            await asyncio.wait_for(call.ask(slow), 0.01)
        return "too slow"

    desk = desk_with(posting(give_up), slow)
    async with desk.client() as client:
        assert (await client.post("/page", headers=OWN)).text == "too slow"
    assert served(desk)[0] == ("SLOW.01", 503, code, None)


async def elsewhere(call: Call) -> str:
    return str(await call.ask(accept, A_PARCEL, organization=THEIRS))


async def elsewhere_with_a_form(call: Call) -> str:
    try:
        return await elsewhere(call)
    except Refusal as refusal:
        return refusal.code


@pytest.mark.covers("CON-007")
@pytest.mark.parametrize("work", [elsewhere, elsewhere_with_a_form], ids=["passed on", "caught by a form"])
async def test_a_deed_refused_by_way_of_a_page_is_remembered_once_as_if_it_was_tried_alone(work):
    by_page, alone = Trail(), Trail()
    async with refusing(desk_with(posting(work), audit=by_page)).client() as client:
        await client.post("/page", headers=OWN)
    async with refusing(desk_with(audit=alone)).client() as client:
        direct = {"json": {"to": "Rui", "weight": 1}, "headers": OWN | {"x-orya-org-id": str(THEIRS)}}
        assert (await client.post("/api/parcels", **direct)).status_code == 403
    assert by_page.entries == alone.entries == [("DESK.01", "PERMISSION_DENIED", THEIRS, ANA)]


@pytest.mark.parametrize(("catches", "remembered"), [(True, 0), (False, 1)])
async def test_a_look_is_remembered_only_when_the_page_passes_the_refusal_on(catches: bool, remembered: int):
    reading = contract(id="READ.01", get="/api/read", audience=Audience.ORGANIZATION, permission="parcels.read")

    @reading.serves
    async def read(call: Call) -> None:
        return None

    page = a_page(get="/page")

    @page.serves
    async def look(call: Call) -> str:
        try:
            return str(await call.ask(reading, organization=THEIRS))
        except Refusal:
            if catches:
                return "nothing to see"
            raise

    trail = Trail()
    desk = refusing(desk_with(page, reading, audit=trail))
    async with desk.client() as client:
        await client.get("/page", headers=OWN)
    assert trail.entries == [("READ.01", "PERMISSION_DENIED", THEIRS, ANA)] * remembered
    assert served(desk)[0] == ("READ.01", 403, "PERMISSION_DENIED", str(THEIRS)), "it is logged in any case"
