"""Requests that are more than a JSON body: paths, queries, forms, files and raw bytes."""

from base64 import urlsafe_b64encode
from datetime import datetime, timedelta, timezone

import msgspec
import pytest

from admitone.kernel.contracts import PageRequest, ValidationFailed
from tests.kernel.contract_desk import KEY, OURS, Desk, as_ana, assert_envelope

PARCEL = "prc_" + "0" * 31 + "1"
FORM = {"content-type": "application/x-www-form-urlencoded"}


@pytest.fixture
async def client():
    async with Desk().client() as client:
        yield client


@pytest.mark.parametrize(
    ("path", "body", "answer"),
    [
        (f"{PARCEL}/shelf/3", b'{"note": "high"}', {"parcel": PARCEL, "shelf": 3, "note": "high"}),
        (f"{PARCEL}/shelf/3", b'{"note": "high", "shelf": 9, "parcel": "x"}', {"parcel": PARCEL, "shelf": 3, "note": "high"}),
        (f"{PARCEL}/shelf/100", b"{}", "$.shelf"),
        (f"{PARCEL}/shelf/x", b"{}", "$.shelf"),
        (f"{PARCEL}/shelf/%00", b"{}", "$.shelf"),
        ("prc_1/shelf/3", b"{}", "$.parcel"),
        (f"{PARCEL}/shelf/3", b'{"note": ""}', "$.note"),
        (f"{PARCEL}/shelf/3", b'{"note": 7}', "$.note"),
        (f"{PARCEL}/shelf/3", b'{"note": "\\u0000"}', "$.note"),
    ],
)  # fmt: skip
async def test_fields_in_the_path_belong_to_the_request_and_cannot_be_overridden(client, path, body, answer):
    headers = {"authorization": f"Bearer {KEY}", "content-type": "application/json"}
    response = await client.put(f"/org/{OURS}/parcels/{path}", content=body, headers=headers)
    if isinstance(answer, dict):
        assert response.json() == answer
    else:
        assert assert_envelope(response, 422, "VALIDATION_FAILED")["errors"][0]["path"] == answer


async def test_a_query_is_read_by_the_types_of_the_request(client):
    query = "?words=blue&words=box&atLeast=5&since=2026-01-01T00:00:00Z&utm=1&utm=2&limit="
    response = await client.get("/api/parcels" + query)
    assert response.json()["items"] == [
        {"number": n, "words": ["blue", "box"], "since": "2026-01-01T00:00:00Z"} for n in (5, 6)
    ]


@pytest.mark.parametrize(
    ("query", "status", "path"),
    [
        ("atLeast=1&atLeast=2", 422, "$.atLeast"),
        ("atLeast=9223372036854775808", 422, "$.atLeast"),
        ("atLeast=NaN", 422, "$.atLeast"),
        ("atLeast=1_000", 422, "$.atLeast"),
        ("words=a&words=b&words=c&words=d", 422, "$.words"),
        ("words=a%00b", 422, "$.words[0]"),
        ("since=2026-01-01T00:00:00", 422, "$.since"),
        ("limit=101", 422, "$.limit"),
        ("limit=0", 422, "$.limit"),
        ("words=%ff", 400, None),
        ("&".join(f"a{n}=1" for n in range(300)), 400, None),
    ],
)
async def test_a_bad_query_is_refused_and_says_where(client, query, status, path):
    response = await client.get("/api/parcels?" + query)
    code = "VALIDATION_FAILED" if status == 422 else "MALFORMED_REQUEST"
    envelope = assert_envelope(response, status, code)
    if path:
        assert envelope["errors"][0]["path"] == path


async def test_a_form_is_read_and_an_empty_box_is_a_field_left_out(client):
    response = await client.post("/desk/sign-in", data={"name": "Ana ã", "age": "", "other": "x"})
    assert response.text == "<p>Ana ã None"
    response = await client.post("/desk/sign-in", data={"name": "Ana", "age": "42"})
    assert response.text == "<p>Ana 42"


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (b"name=", FORM, 422),
        (b"name=a&name=b", FORM, 422),
        (b"name=a%00", FORM, 422),
        (b"age=3", FORM, 422),
        (b"name=%ff", FORM, 400),
        (b"name=\xff", FORM, 400),
        (b"name=" + b"x" * 70_000, FORM, 413),
        (b'{"name": "a"}', {"content-type": "application/json"}, 415),
    ],
)
async def test_a_bad_form_is_refused_on_a_page(client, body, headers, status):
    response = await client.post("/desk/sign-in", content=body, headers=headers)
    assert response.status_code == status
    assert response.headers["content-type"] == "text/html; charset=utf-8"


async def test_a_form_with_a_file(client):
    response = await client.post("/api/letters", data={"subject": "hi"}, files={"scan": ("a.png", b"x" * 100_000)})
    assert response.json() == {"subject": "hi", "name": "a.png", "size": 100_000}


async def test_a_bad_multipart_form_is_refused(client):
    too_large = await client.post("/api/letters", data={"subject": "hi"}, files={"scan": ("a.png", b"x" * 300_000)})
    assert_envelope(too_large, 413, "REQUEST_TOO_LARGE")

    async def endless():
        yield b'--b\r\ncontent-disposition: form-data; name="scan"; filename="a"\r\n\r\n'
        for _ in range(1000):
            yield b"x" * 10_000

    multipart = {"content-type": "multipart/form-data; boundary=b"}
    assert_envelope(await client.post("/api/letters", content=endless(), headers=multipart), 413, "REQUEST_TOO_LARGE")
    no_file = await client.post("/api/letters", data={"subject": "hi"}, files={"other": ("a.png", b"x")})
    assert_envelope(no_file, 422, "VALIDATION_FAILED")
    text_for_file = await client.post("/api/letters", data={"subject": "hi", "scan": "x"}, files={"other": b"x"})
    assert assert_envelope(text_for_file, 422, "VALIDATION_FAILED")["errors"] == [
        {"path": "$.scan", "message": "Expected a file"}
    ]
    assert_envelope(await client.post("/api/letters", content=b"garbage", headers=multipart), 400, "MALFORMED_FORM")
    no_boundary = {"content-type": "multipart/form-data"}
    assert_envelope(await client.post("/api/letters", content=b"x", headers=no_boundary), 400, "MALFORMED_FORM")


async def test_raw_bytes_reach_the_handler_untouched_and_bounded(client):
    assert (await client.post("/api/hook", content=b"\x00\xff{")).json()["size"] == 3
    assert_envelope(await client.post("/api/hook", content=b"x" * 1001), 413, "REQUEST_TOO_LARGE")


@pytest.mark.parametrize("due", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "1899-12-31T23:59:59Z"])
async def test_a_time_at_the_end_of_time_is_refused(client, due):
    response = await client.post("/api/parcels", json={"to": "Ana", "weight": 1, "due": due}, headers=as_ana())
    body = assert_envelope(response, 422, "VALIDATION_FAILED")
    assert body["errors"][0]["path"] == "$.due"


@pytest.mark.parametrize("moment", [datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=14))), datetime(2026, 1, 1)])  # noqa: DTZ001
def test_a_cursor_with_a_time_that_no_column_holds_is_refused(moment):
    cursor = urlsafe_b64encode(msgspec.msgpack.encode((moment.isoformat(),))).decode().rstrip("=")
    with pytest.raises(ValidationFailed):
        PageRequest(cursor=cursor).after(tuple[datetime])
