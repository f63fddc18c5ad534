"""Answers: security headers on all of them, pages, files, cookies, lists, streams and events."""

import asyncio
import re
from typing import Any
from uuid import UUID

import pytest

from admitone.kernel.contracts import (
    Call,
    Cookie,
    Event,
    Example,
    Page,
    PageRequest,
    Redirect,
    ValidationFailed,
    Wire,
    Writes,
    cursor_of,
    page_of,
)
from admitone.kernel.contracts.streaming import events_as_bytes
from admitone.kernel.statements import ListOrder
from tests.kernel.contract_desk import OPEN_STREAMS, SESSION, Desk, DeskClosed, as_ana, assert_envelope, contract


@pytest.fixture
def desk():
    return Desk()


@pytest.fixture
async def client(desk):
    async with desk.client() as client:
        yield client


@pytest.mark.parametrize(
    "path",
    [
        "/health/live",
        "/docs",
        "/openapi.json",
        "/nowhere",
        "/api/table.csv",
        "/api/news",
        "/desk/logo",
        "/health/ready",
    ],
)
async def test_security_headers_are_on_everything(client, desk, path):
    desk.is_ready = False
    response = await client.get(path)
    assert response.headers["x-content-type-options"] == "nosniff"
    assert response.headers["x-frame-options"] == "DENY"
    assert response.headers["referrer-policy"]
    assert response.headers["permissions-policy"]
    assert response.headers["cache-control"] == ("public, max-age=60" if path == "/desk/logo" else "no-store")
    policy = response.headers["content-security-policy"]
    assert policy.startswith("default-src 'self'" if path == "/docs" else "default-src 'none'")
    assert "frame-ancestors 'none'" in policy
    assert "strict-transport-security" not in response.headers


async def test_strict_transport_is_demanded_over_https_only():
    async with Desk(trusted_proxies=("10.0.0.0/8",)).client("10.0.0.1") as client:
        forwarded = {"x-forwarded-for": "198.51.100.1", "x-forwarded-proto": "https"}
        assert "strict-transport-security" in (await client.get("/health/live", headers=forwarded)).headers
    async with Desk().client("10.0.0.1") as client:
        assert "strict-transport-security" not in (await client.get("/health/live", headers=forwarded)).headers


# Pages.


async def test_a_page_refuses_with_a_page_in_the_persons_language(client):
    response = await client.post("/desk/sign-in", data={"name": "closed"}, headers={"accept-language": "pt-PT"})
    assert response.status_code == 409
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    assert '<html lang="pt-PT">' in response.text and "Voltar ao início" in response.text
    assert "DESK_CLOSED" in response.text and response.headers["x-correlation-id"] in response.text


async def test_a_browser_gets_a_page_for_an_unknown_address_and_the_api_never(client):
    html = {"accept": "text/html,*/*"}
    assert (await client.get("/nowhere", headers=html)).headers["content-type"].startswith("text/html")
    assert_envelope(await client.get("/api/nowhere", headers=html), 404, "NOT_FOUND")


async def test_a_redirect_stays_on_this_site(client):
    response = await client.post("/desk/sign-in", data={"name": "Ana", "stay": "true"})
    assert (response.status_code, response.headers["location"]) == (303, "/desk")
    for elsewhere in ("https://evil.test", "//evil.test", "/\\evil.test", "desk", "/a\r\nset-cookie: x"):
        with pytest.raises(ValueError, match="stays"):
            Redirect(elsewhere)


# What the client has already.


class Noted(Wire):
    text: str


class Board:
    """Something to look at that changes now and then."""

    def __init__(self) -> None:
        self.text = "Closed on Mondays"
        board = contract(
            id="B1",
            get="/board",
            gives=Noted,
            refuses=(DeskClosed,),
            cache="no-cache",
            conditional=True,
            examples=(Example("one", gives=Noted(text="Open")),),
        )

        @board.serves
        async def look(call: Call) -> Noted:
            if not self.text:
                raise DeskClosed
            return Noted(text=self.text)

        self.desk = Desk(board)


async def test_a_long_answer_goes_out_packed_to_whoever_takes_that():
    board = contract(
        id="B2", get="/names", gives=Noted, packs=True, examples=(Example("one", gives=Noted(text="Open")),)
    )

    @board.serves
    async def look(call: Call) -> Noted:
        return Noted(text="Aurora " * 1000)

    async with Desk(board).client() as client:
        sizes = {}
        for takes in ("gzip, br", "identity", "gzip;q=0"):
            said = await client.get("/names", headers={"accept-encoding": takes})
            assert said.json() == {"text": "Aurora " * 1000}
            assert said.headers["vary"] == "accept-encoding"
            sizes[takes] = int(said.headers["content-length"])
    assert sizes["gzip, br"] < sizes["identity"] / 10 == sizes["gzip;q=0"] / 10
    with pytest.raises(TypeError, match="packed"):
        contract(id="B3", post="/names", packs=True, repeats="it is the same")


async def test_who_has_the_same_bytes_is_told_so_and_not_sent_them():
    board = Board()
    async with board.desk.client() as client:
        first = await client.get("/board")
        tag = first.headers["etag"]
        assert re.fullmatch(r'"[0-9a-f]{32}"', tag), "a strong one"
        for known in (tag, f"W/{tag}", f'"other", {tag}', "*"):
            again = await client.get("/board", headers={"if-none-match": known})
            assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
            assert again.headers["cache-control"] == first.headers["cache-control"] == "no-cache"
            assert again.headers["x-content-type-options"] == "nosniff" and "x-correlation-id" in again.headers
            assert "content-type" not in again.headers and "content-length" not in again.headers
        head = await client.head("/board", headers={"if-none-match": tag})
        assert (head.status_code, head.headers["etag"]) == (304, tag)


async def test_who_has_other_bytes_is_sent_these():
    board = Board()
    async with board.desk.client() as client:
        tag = (await client.get("/board")).headers["etag"]
        board.text = "Open on Mondays"
        for known in (tag, tag.strip('"'), '"', "", "W/*"):
            changed = await client.get("/board", headers={"if-none-match": known})
            assert (changed.status_code, changed.json()) == (200, {"text": "Open on Mondays"})
            assert changed.headers["etag"] != tag
        board.text = ""
        refused = await client.get("/board", headers={"if-none-match": "*"})
        assert_envelope(refused, 409, "DESK_CLOSED")
        assert "etag" not in refused.headers, "a refusal is told each time"


async def test_only_who_asked_for_it_has_tags(client):
    assert "etag" not in (await client.get("/desk/logo")).headers
    assert (await client.get("/desk/logo", headers={"if-none-match": "*"})).status_code == 200


@pytest.mark.parametrize(
    "said",
    [
        {"post": "/b", "gives": Noted, "cache": "no-cache"},
        {"get": "/b", "writes": Writes.STREAM, "cache": "no-cache"},
        {"get": "/b", "writes": Writes.FILE},
    ],
    ids=["written", "streamed", "kept by nobody"],
)
def test_a_condition_that_means_nothing_is_not_declared(said: dict[str, Any]):
    with pytest.raises(TypeError, match=r"tag|nobody may keep"):
        contract(id="B1", conditional=True, examples=(Example("one", gives=Noted(text="Open")),), **said)


# Cookies.


async def test_a_cookie_is_safe_unless_said_otherwise(client):
    response = await client.post("/desk/sign-in", data={"name": "Ana"})
    assert response.headers["set-cookie"] == f"session={SESSION}; Path=/; SameSite=Lax; Max-Age=60; HttpOnly; Secure"
    assert (
        Cookie("a", "b", http_only=False, secure=False, same_site="Strict").header() == "a=b; Path=/; SameSite=Strict"
    )
    for bad in ("a;b", "a\r\nb", "a b", "ã"):
        with pytest.raises(ValueError, match="cannot carry"):
            Cookie("a", bad)


async def test_another_site_cannot_sign_somebody_in(client):
    response = await client.post("/desk/sign-in", data={"name": "Ana"}, headers={"sec-fetch-site": "cross-site"})
    assert response.status_code == 403 and "set-cookie" not in response.headers


async def test_a_cookie_that_is_not_declared_is_not_set():
    silent = contract(id="A1", post="/silent")

    @silent.serves
    async def set_anyway(call: Call) -> None:
        call.set_cookie(Cookie("session", "x"))

    async with Desk(silent).client() as client:
        assert_envelope(await client.post("/silent"), 500, "SERVER_ERROR")


# Files.


async def test_a_file_has_its_type(client):
    response = await client.get("/desk/logo")
    assert (response.content, response.headers["content-type"]) == (b"\x89PNG", "image/png")


# Lists.


async def test_pages_follow_each_other_without_gap_or_repetition(client):
    seen, cursor = [], None
    while True:
        query = {"limit": 3} | ({"cursor": cursor} if cursor else {})
        page = (await client.get("/api/parcels", params=query)).json()
        assert set(page) == {"items", "nextCursor"}
        seen += [item["number"] for item in page["items"]]
        cursor = page["nextCursor"]
        if cursor is None:
            break
    assert seen == [0, 1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize(
    "cursor",
    [
        "%20",
        "a",
        "!!!!",
        "x" * 513,
        cursor_of(("text",)),
        cursor_of((1, 2)),
        cursor_of((2**63,)),
        cursor_of((1,)) + "A",
        cursor_of((1,)) + "=",
        "kQE\n",
        "kc0AAQ",  # 1, spelled in two bytes
    ],
)
async def test_a_cursor_that_we_did_not_make_is_refused(client, cursor):
    response = await client.get("/api/parcels", params={"cursor": cursor})
    assert assert_envelope(response, 422, "VALIDATION_FAILED")["errors"][0]["path"] == "$.cursor"


def test_the_last_page_has_no_cursor():
    assert page_of([1, 2], 2, key=lambda n: (n,)) == Page(items=[1, 2], next_cursor=None)
    assert page_of([], 2, key=lambda n: (n,)) == Page(items=[], next_cursor=None)
    assert page_of([1, 2, 3], 2, key=lambda n: (n,)).next_cursor == cursor_of((2,))


class Sorted(PageRequest):
    order: ListOrder = ListOrder.NEWEST


def test_a_cursor_goes_on_in_the_order_in_which_it_was_given_and_in_no_other():
    for given in ListOrder:
        cursor = Sorted(order=given).cursor_at((7,))
        for asked in ListOrder:
            request = Sorted(order=asked, cursor=cursor)
            if asked is given:
                assert request.after(tuple[int]) == (7,)
            else:
                with pytest.raises(ValidationFailed):
                    request.after(tuple[int])


def test_the_usual_order_has_the_cursors_that_it_had_when_there_was_no_other():
    assert Sorted().cursor_at((7,)) == cursor_of((7,))
    assert Sorted(limit=1).page([7, 8], key=lambda n: (n,)).next_cursor == cursor_of((7,))


@pytest.mark.parametrize("forged", [("NEWEST", 7), ("LOUDEST", 7), ("", 7), (7, 7), ("OLDEST", "OLDEST", 7)])
def test_an_order_that_somebody_wrote_into_a_cursor_is_refused(forged):
    for order in ListOrder:
        with pytest.raises(ValidationFailed):
            Sorted(order=order, cursor=cursor_of(forged)).after(tuple[int])


def test_a_stretch_of_a_list_never_leaves_what_is_wanted():
    first, middle, last = (UUID(int=number) for number in (3, 5, 7))
    for place, newest, oldest in (
        (None, (first, last), (first, last)),
        (middle, (first, middle), (middle, last)),
        (UUID(int=1), (first, UUID(int=1)), (first, last)),
        (UUID(int=9), (first, last), (UUID(int=9), last)),
    ):
        assert ListOrder.NEWEST.between(place, first, last) == newest
        assert ListOrder.OLDEST.between(place, first, last) == oldest


# Streams.


async def test_a_table_is_streamed_with_a_name_to_save_it_under(client):
    response = await client.get("/api/table.csv")
    assert response.text == "to,weight\r\nRui,3\r\n"
    assert response.headers["content-type"] == "text/csv; charset=utf-8"
    assert response.headers["content-disposition"] == (
        "attachment; filename=\"parcels____.csv\"; filename*=UTF-8''parcels%20%28%C3%A3%29.csv"
    )
    assert "content-length" not in response.headers and not OPEN_STREAMS


async def test_events_are_named_and_one_line_each(client):
    response = await client.get("/api/news")
    assert response.headers["content-type"] == "text/event-stream"
    assert response.text == (
        ': hello\n\nevent: arrived\nid: 1\ndata: {"size":1,"person":null}\n\nevent: left\ndata: {"note":"line\\nbreak"}\n\n'
    )
    with pytest.raises(ValueError, match="one line"):
        Event("a\nb", {})


async def test_a_silent_stream_of_events_is_kept_alive(monkeypatch):
    monkeypatch.setattr("admitone.kernel.contracts.streaming.KEEP_ALIVE_SECONDS", 0.01)

    async def one_late_event():
        await asyncio.sleep(0.05)
        yield Event("late", 1)

    chunks = [chunk async for chunk in events_as_bytes(one_late_event())]
    assert chunks[0] == b": hello\n\n" and chunks[-1] == b"event: late\ndata: 1\n\n"
    assert chunks[1:-1] and set(chunks[1:-1]) == {b": still here\n\n"}


@pytest.mark.parametrize(("path", "may_look_complete"), [("/api/table.csv", False), ("/api/news", True)])
async def test_a_stopping_server_ends_its_streams_and_closes_their_sources(desk, path, may_look_complete):
    sent, first = [], asyncio.Event()

    async def send(message):
        sent.append(message)
        if message.get("body"):
            first.set()

    serving = asyncio.create_task(desk.edge(a_get(path), never, send))
    await first.wait()
    await asyncio.sleep(0.02)
    assert len(desk.edge.streams) == 1 and OPEN_STREAMS
    await desk.edge.streams.stop()
    await asyncio.wait_for(serving, 1)
    assert not OPEN_STREAMS and len(desk.edge.streams) == 0
    assert (sent[-1].get("more_body") is False) == may_look_complete


@pytest.mark.parametrize("path", ["/api/table.csv", "/api/news"])
async def test_a_client_who_leaves_ends_the_stream(desk, path):
    leave = asyncio.Event()

    async def receive():
        await leave.wait()
        return {"type": "http.disconnect"}

    async def send(message):
        if message.get("body"):
            asyncio.get_running_loop().call_later(0.02, leave.set)

    await asyncio.wait_for(desk.edge(a_get(path), receive, send), 1)
    assert not OPEN_STREAMS and len(desk.edge.streams) == 0


async def test_a_stream_that_breaks_never_looks_complete(desk):
    sent = []

    async def send(message):
        sent.append(message)

    with pytest.raises(ZeroDivisionError):
        await desk.edge(a_get("/api/table.csv", b"kind=breaking"), never, send)
    assert sent[-1]["more_body"] is True and not OPEN_STREAMS


def a_get(path, query=b"kind=endless"):
    return {
        "type": "http", "method": "GET", "path": path, "query_string": query, "headers": [], "scheme": "http",
        "client": None,
    }  # fmt: skip


async def never():
    await asyncio.Event().wait()


async def test_streams_need_their_request_to_be_right_first(client):
    assert_envelope(await client.get("/api/table.csv?kind=cow", headers=as_ana()), 422, "VALIDATION_FAILED")


@pytest.mark.parametrize(
    ("takes", "encoding"),
    [("gzip, deflate, br", "gzip"), ("br;q=1.0, gzip;q=0.8", "gzip"), ("br", None), ("", None), ("gzip; q=0", None)],
)
async def test_what_is_the_same_for_everybody_is_sent_packed_to_whoever_takes_it(client, takes, encoding):
    plain = await client.get("/openapi.json", headers={"accept-encoding": "identity"})
    response = await client.get("/openapi.json", headers={"accept-encoding": takes})
    assert response.headers.get("content-encoding") == encoding
    assert response.headers["vary"] == plain.headers["vary"] == "accept-encoding"
    assert response.content == plain.content  # The client unpacks it.
    sent = int(response.headers["content-length"])
    assert sent < len(plain.content) / 2 if encoding else sent == len(plain.content)
