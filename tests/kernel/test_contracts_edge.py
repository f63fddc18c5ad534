"""The edge: every request is answered the same way, whatever it brings."""

import asyncio
import json
from uuid import UUID, uuid4

import pytest
from prometheus_client import generate_latest

from admitone.kernel.authority import Granted
from admitone.kernel.contracts import Call, UndeclaredRefusal
from admitone.kernel.contracts.refusals import STATUS, status_of
from admitone.kernel.errors import OutcomeUnknown, Throttled, Unauthenticated, Unavailable
from admitone.kernel.ids import OrganizationId
from tests.kernel.contract_desk import (
    A_THING,
    ANA,
    KEY,
    OURS,
    SECRET,
    SESSION,
    THEIRS,
    Desk,
    ParcelLost,
    Thing,
    as_ana,
    assert_envelope,
    contract,
)

PARCEL = {"to": "Rui", "weight": 3}


@pytest.fixture
def desk():
    return Desk()


@pytest.fixture
async def client(desk):
    async with desk.client() as client:
        yield client


async def test_a_good_request_is_answered(client):
    response = await client.post("/api/parcels", json=PARCEL, headers=as_ana(**{"X-Device-Id": "gate-7"}))
    assert response.status_code == 200
    assert response.json() == {
        "to": "Rui",
        "weight": 3,
        "organization": str(OURS),
        "by": str(ANA),
        "address": "203.0.113.9",
        "device": "gate-7",
        "pieces": 0,
    }


@pytest.mark.covers("CON-003")
async def test_unknown_fields_and_any_order_are_tolerated(client):
    body = b'{"colour": {"deep": [1, 2]}, "weight": 3, "later": null, "to": "Rui"}'
    response = await client.post("/api/parcels", content=body, headers=as_ana(**{"content-type": "application/json"}))
    assert response.status_code == 200


# The correlation id.


async def test_a_correlation_id_comes_back_and_a_bad_one_is_replaced(client):
    mine = str(uuid4())
    assert (await client.get("/health/live", headers={"x-correlation-id": mine})).headers["x-correlation-id"] == mine
    for bad in ("", "42", "{" + mine + "}", mine + "\tx", "urn:uuid:" + mine):
        given = (await client.get("/health/live", headers={"x-correlation-id": bad})).headers["x-correlation-id"]
        assert given != bad and UUID(given).version == 7


# Routes.


@pytest.mark.covers("CON-005")
@pytest.mark.parametrize("path", ["/", "/nowhere", "/api/parcels/", "/api/parcels/x/y", "//", "/api//parcels", "/%00"])
async def test_an_unknown_address_is_a_404_in_the_envelope(client, path):
    assert_envelope(await client.get(path), 404, "NOT_FOUND")


@pytest.mark.covers("CON-005")
async def test_a_wrong_method_is_a_405_that_names_the_right_ones(client):
    response = await client.delete("/api/parcels")
    body = assert_envelope(response, 405, "METHOD_NOT_ALLOWED")
    assert response.headers["allow"] == "GET, HEAD, OPTIONS, POST"
    assert body["allowed"] == ["GET", "HEAD", "OPTIONS", "POST"]
    assert_envelope(await client.request("BREW", "/api/parcels"), 405, "METHOD_NOT_ALLOWED")


async def test_head_and_options_are_answered_without_a_body(client):
    get, head = await client.get("/api/parcels"), await client.head("/api/parcels")
    assert head.status_code == 200 and head.content == b""
    assert head.headers["content-length"] == get.headers["content-length"]
    options = await client.options("/api/parcels")
    assert options.status_code == 204 and options.headers["allow"] == "GET, HEAD, OPTIONS, POST"
    assert_envelope(await client.options("/nowhere"), 404, "NOT_FOUND")


async def test_a_literal_segment_wins_over_a_variable_one_for_its_own_method_only():
    literal = contract(id="A1", get="/things/live")
    variable = contract(id="A2", put="/things/{to}", takes=Thing, examples=(A_THING,))

    @literal.serves
    async def one(call: Call) -> None: ...

    @variable.serves
    async def two(call: Call, request: Thing) -> None: ...

    async with Desk(literal, variable).client() as client:
        assert (await client.get("/things/live")).status_code == 204
        assert (await client.put("/things/live")).status_code == 204
        assert (await client.put("/things/other")).status_code == 204
        assert_envelope(await client.get("/things/other"), 405, "METHOD_NOT_ALLOWED")


# Bodies.


@pytest.mark.covers("CON-005")
@pytest.mark.parametrize(
    ("body", "status", "code", "path"),
    [
        (b"", 400, "MALFORMED_JSON", None),
        (b"{", 400, "MALFORMED_JSON", None),
        (b'{"to": "Rui",}', 400, "MALFORMED_JSON", None),
        (b'{"to": "Rui", "weight": NaN}', 400, "MALFORMED_JSON", None),
        (b'{"to": "Rui", "weight": Infinity}', 400, "MALFORMED_JSON", None),
        (b'{"to": "\\ud800", "weight": 1}', 400, "MALFORMED_JSON", None),
        (b'{"to": "\\udc00\\ud800", "weight": 1}', 400, "MALFORMED_JSON", None),
        (b'{"to": "\xff", "weight": 1}', 400, "MALFORMED_JSON", None),
        (b'{"to": "Rui", "weight": 1, "unknown": "\xff"}', 400, "MALFORMED_JSON", None),
        (b'{"to": "a\x00b", "weight": 1}', 400, "MALFORMED_JSON", None),
        (b'\xef\xbb\xbf{"to": "Rui", "weight": 1}', 400, "MALFORMED_JSON", None),
        (b'{"to": "a\\u0000b", "weight": 1}', 422, "VALIDATION_FAILED", "$.to"),
        (b'{"to": "a", "weight": 1, "pieces": [{"label": "x"}, {"label": "\\u0000"}]}', 422, "VALIDATION_FAILED", "$.pieces[1].label"),
        (b'{"to": "Rui", "weight": 9223372036854775808}', 422, "VALIDATION_FAILED", "$.weight"),
        (b'{"to": "Rui", "weight": 99999999999999999999999999}', 422, "VALIDATION_FAILED", "$.weight"),
        (b'{"to": "Rui", "weight": -1}', 422, "VALIDATION_FAILED", "$.weight"),
        (b'{"to": "Rui", "weight": 1.5}', 422, "VALIDATION_FAILED", "$.weight"),
        (b'{"to": "Rui", "weight": 1e400}', 422, "VALIDATION_FAILED", "$.weight"),
        (b'{"to": "Rui", "weight": "3"}', 422, "VALIDATION_FAILED", "$.weight"),
        (b'{"to": "Rui", "weight": null}', 422, "VALIDATION_FAILED", "$.weight"),
        (b'{"to": "Rui"}', 422, "VALIDATION_FAILED", "$"),
        (b'[1]', 422, "VALIDATION_FAILED", "$"),
        (b'null', 422, "VALIDATION_FAILED", "$"),
        (b'{"to": "", "weight": 1}', 422, "VALIDATION_FAILED", "$.to"),
        (b'{"to": "Rui", "weight": 1, "kind": "cow"}', 422, "VALIDATION_FAILED", "$.kind"),
        (b'{"to": "Rui", "weight": 1, "parcel": "org_00000000000070008000000000000001"}', 422, "VALIDATION_FAILED", "$.parcel"),
        (b'{"to": "Rui", "weight": 1, "parcel": 7}', 422, "VALIDATION_FAILED", "$.parcel"),
        (b'{"to": "Rui", "weight": 1, "due": "2026-01-01T00:00:00"}', 422, "VALIDATION_FAILED", "$.due"),
        (b'{"to": "Rui", "weight": 1, "pieces": [{"label": "x", "weight": []}]}', 422, "VALIDATION_FAILED", "$.pieces[0].weight"),
    ],
)  # fmt: skip
async def test_a_bad_body_is_refused_and_says_where(client, desk, body, status, code, path):
    response = await client.post("/api/parcels", content=body, headers=as_ana(**{"content-type": "application/json"}))
    envelope = assert_envelope(response, status, code)
    if path:
        [error] = envelope["errors"]
        assert error["path"] == path and error["message"]
    assert desk.doorkeeper.asked == []


async def test_json_of_a_hundred_thousand_levels_is_refused(client):
    deep = b'{"to": "Rui", "weight": 1, "x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    taker = contract(id="A1", post="/deep", takes=Thing, examples=(A_THING,), max_body_bytes=10**6)

    @taker.serves
    async def take(call: Call, request: Thing) -> None: ...

    headers = {"content-type": "application/json"}
    async with Desk(taker).client() as client:
        assert_envelope(await client.post("/deep", content=deep, headers=headers), 400, "MALFORMED_JSON")
        assert_envelope(await client.post("/deep", content=b"[" * 100_000, headers=headers), 422, "VALIDATION_FAILED")


@pytest.mark.parametrize(
    ("content_type", "status"),
    [
        ("application/json", 200),
        ("application/json; charset=utf-8", 200),
        ("Application/JSON;charset=UTF-8", 200),
        ("application/merge-patch+json", 200),
        ("text/plain", 415),
        ("application/json; charset=latin-1", 415),
        ("application/x-www-form-urlencoded", 415),
        ("", 415),
    ],
)
async def test_only_json_is_taken_as_json(client, content_type, status):
    response = await client.post(
        "/api/parcels", content=json.dumps(PARCEL), headers=as_ana(**{"content-type": content_type})
    )
    assert response.status_code == status
    if status == 415:
        assert assert_envelope(response, 415, "UNSUPPORTED_MEDIA_TYPE")["expected"] == "application/json"


async def test_a_large_body_is_refused_by_its_announcement_and_while_it_comes(client, desk):
    headers = as_ana(**{"content-type": "application/json"})
    announced = await client.post("/api/parcels", content=b" " * 2001, headers=headers)
    assert assert_envelope(announced, 413, "REQUEST_TOO_LARGE")["limitBytes"] == 2000
    assert announced.headers["connection"] == "close"

    taken = 0

    async def chunks():
        nonlocal taken
        for _ in range(100):
            taken += 1
            yield b" " * 500

    silent = await client.post("/api/parcels", content=chunks(), headers=headers)
    assert_envelope(silent, 413, "REQUEST_TOO_LARGE")
    assert taken <= 6
    assert_envelope(
        await client.post("/api/parcels", content=b"x", headers=headers | {"content-length": "-1"}),
        400,
        "MALFORMED_REQUEST",
    )


async def test_a_body_that_does_not_arrive_is_not_waited_for_for_ever(client, monkeypatch):
    monkeypatch.setattr("admitone.kernel.contracts.incoming.BODY_SECONDS", 0.05)

    async def chunks():
        yield b"{"
        await asyncio.sleep(5)
        yield b"}"

    response = await client.post(
        "/api/parcels", content=chunks(), headers=as_ana(**{"content-type": "application/json"})
    )
    assert assert_envelope(response, 408, "REQUEST_TOO_SLOW")["retryable"] is True


async def test_a_body_that_breaks_off_is_an_unreadable_one(desk):
    async def receive():
        return {"type": "http.disconnect"}

    sent = []

    async def send(message):
        sent.append(message)

    scope = {
        "type": "http", "method": "POST", "path": "/api/parcels", "query_string": b"", "scheme": "http", "client": None,
        "headers": [(b"content-type", b"application/json")],
    }  # fmt: skip
    await desk.edge(scope, receive, send)
    assert sent[0]["status"] == 400  # If the client left, nobody reads it; if it sent nonsense, it waits for this.


# The organisation.


@pytest.mark.covers("ORG-014")
@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("/api/parcels", {"x-orya-org-id": str(OURS)}),
        ("/api/parcels", {"X-ORYA-Org-Id": str(OURS)}),
        (f"/api/parcels?organizationId={OURS}", {}),
        (f"/api/parcels?organizationId={OURS}", {"x-orya-org-id": str(OURS)}),
        (f"/api/parcels?%6frganizationId={OURS}", {}),
    ],
)
async def test_each_source_alone_names_the_organisation(client, path, headers):
    response = await client.post(path, json=PARCEL, headers={"authorization": f"Bearer {KEY}"} | headers)
    assert response.json()["organization"] == str(OURS)


@pytest.mark.covers("ORG-014")
async def test_the_path_names_the_organisation(client, desk):
    path = f"/org/{OURS}/parcels/prc_{'0' * 31}1/shelf/3"
    response = await client.put(path, json={}, headers={"authorization": f"Bearer {KEY}"})
    assert response.json() == {"parcel": f"prc_{'0' * 31}1", "shelf": 3, "note": "none"}
    assert desk.doorkeeper.asked[0].organization == OURS


@pytest.mark.covers("ORG-014", "TEN-T09")
@pytest.mark.parametrize(
    ("path", "headers"),
    [
        (f"/api/parcels?organizationId={OURS}", [("x-orya-org-id", str(THEIRS))]),
        (f"/api/parcels?organizationId={OURS}&organizationId={THEIRS}", []),
        ("/api/parcels", [("x-orya-org-id", str(OURS)), ("x-orya-org-id", str(THEIRS))]),
        ("/api/parcels", [("x-orya-org-id", str(OURS)), ("x-orya-org-id", str(OURS))]),
        ("/api/parcels", [("x-orya-org-id", "7")]),
        ("/api/parcels", [("x-orya-org-id", "")]),
        ("/api/parcels", [("x-orya-org-id", str(ANA))]),
        ("/api/parcels?organizationId=", [("x-orya-org-id", str(OURS))]),
        ("/api/parcels?organizationId=%00", []),
    ],
)
async def test_an_organisation_that_is_not_clear_is_refused_and_audited(client, desk, path, headers):
    response = await client.post(path, json=PARCEL, headers=[("authorization", f"Bearer {KEY}"), *headers])
    assert_envelope(response, 403, "ORG_CONTEXT_REQUIRED")
    assert desk.notebook.entries == [("DESK.01", "ORG_CONTEXT_REQUIRED")]
    assert desk.doorkeeper.asked == []


@pytest.mark.covers("ORG-014")
async def test_a_path_and_a_header_that_disagree_are_refused(client, desk):
    path = f"/org/{OURS}/parcels/prc_{'0' * 31}1/shelf/3"
    response = await client.put(path, json={}, headers=as_ana(**{"x-orya-org-id": str(THEIRS)}))
    assert_envelope(response, 403, "ORG_CONTEXT_REQUIRED")
    assert desk.notebook.entries


@pytest.mark.covers("ORG-014", "ORG-015")
@pytest.mark.parametrize(
    "headers",
    [{}, {"x-org-id": str(OURS)}, {"cookie": f"organizationId={OURS}; x-orya-org-id={OURS}; lastUsedOrg={OURS}"}],
)
async def test_without_an_organisation_nothing_is_done(client, desk, headers):
    response = await client.post("/api/parcels", json=PARCEL, headers={"authorization": f"Bearer {KEY}"} | headers)
    assert_envelope(response, 403, "ORG_CONTEXT_REQUIRED")
    assert desk.notebook.entries == [] and desk.doorkeeper.asked == []


@pytest.mark.covers("CON-010")
async def test_an_authority_that_grants_another_organisation_is_a_bug_that_fails_closed():
    class Confused:
        async def ask(self, ask):
            return Granted(ANA, OrganizationId.new())

        async def count(self, *hits):
            pass

    async with Desk(authority=Confused()).client() as client:
        assert_envelope(await client.post("/api/parcels", json=PARCEL, headers=as_ana()), 500, "SERVER_ERROR")


# Who calls.


async def test_the_authority_is_asked_once_with_everything_it_needs(client, desk):
    await client.post("/api/parcels", json=PARCEL, headers=as_ana(**{"x-device-id": "gate-7"}))
    [ask] = desk.doorkeeper.asked
    assert (ask.credential, ask.organization, ask.permission) == (KEY, OURS, "parcels.write")
    assert (ask.caller.device, ask.caller.address) == ("gate-7", "203.0.113.9")
    assert [limit.name for limit in ask.limits] == ["desk.per_device"]
    assert [(hit.limit.name, hit.subject) for hit in ask.hits] == [("desk.per_name", "Rui")]


@pytest.mark.parametrize(
    "authorization", [None, "Bearer wrong", "Bearer ", "Basic YTpi", "Bearer", "Bearer " + "x" * 600, "Bearer \xe3"]
)
async def test_an_unknown_caller_is_a_401_that_says_how(client, authorization):
    headers = {"x-orya-org-id": str(OURS)} | (
        {"authorization": authorization.encode("latin-1")} if authorization else {}
    )
    response = await client.post("/api/parcels", json=PARCEL, headers=headers)
    assert_envelope(response, 401, "UNAUTHENTICATED")
    assert response.headers["www-authenticate"] == "Bearer"


async def test_a_caller_of_another_organisation_is_refused_and_audited(client, desk):
    response = await client.post("/api/parcels", json=PARCEL, headers=as_ana(**{"x-orya-org-id": str(THEIRS)}))
    assert assert_envelope(response, 403, "PERMISSION_DENIED")["permission"] == "parcels.write"
    assert desk.notebook.entries == [("DESK.01", "PERMISSION_DENIED")]


async def test_two_credentials_that_disagree_are_no_credential(client):
    headers = {"authorization": f"Bearer {KEY}", "cookie": f"session={SESSION}"}
    assert_envelope(await client.post("/api/me", headers=headers), 401, "CREDENTIALS_DISAGREE")
    twice = {"cookie": f"session={SESSION}; session=other", "sec-fetch-site": "same-origin"}
    assert_envelope(await client.post("/api/me", headers=twice), 401, "CREDENTIALS_DISAGREE")
    headers = [("authorization", f"Bearer {KEY}"), ("authorization", "Bearer other")]
    assert (
        assert_envelope(await client.post("/api/me", headers=headers), 400, "REPEATED_HEADER")["header"]
        == "authorization"
    )
    same = {"authorization": f"Bearer {SESSION}", "cookie": f"session={SESSION}"}
    assert (await client.post("/api/me", headers=same)).status_code == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"sec-fetch-site": "same-origin"}, 200),
        ({"sec-fetch-site": "none"}, 200),
        ({"origin": "http://desk.test"}, 200),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "same-site"}, 403),
        ({"sec-fetch-site": "cross-site", "origin": "http://desk.test"}, 403),
        ({"origin": "http://evil.test"}, 403),
        ({"origin": "https://desk.test"}, 403),
        ({"origin": "null"}, 403),
        ({}, 403),
    ],
)
async def test_a_cookie_counts_only_from_our_own_pages(client, desk, headers, status):
    response = await client.post("/api/me", headers={"cookie": f"a=b; session={SESSION}"} | headers)
    assert response.status_code == status
    if status == 403:
        assert_envelope(response, 403, "CROSS_SITE_REQUEST")
        assert desk.notebook.entries == [("DESK.12", "CROSS_SITE_REQUEST")]
    else:
        assert response.json()["person"] == str(ANA)


async def test_only_our_own_processes_reach_internal_contracts(client, desk):
    for headers in ({}, {"x-orya-internal-secret": "guess"}, {"x-orya-internal-secret": ""}, as_ana()):
        assert_envelope(await client.post("/api/internal/sweep", headers=headers), 403, "INTERNAL_ONLY")
    assert (await client.post("/api/internal/sweep", headers={"x-orya-internal-secret": SECRET})).status_code == 204
    async with Desk(internal_secret="").client() as unconfigured:
        assert_envelope(
            await unconfigured.post("/api/internal/sweep", headers={"x-orya-internal-secret": ""}), 403, "INTERNAL_ONLY"
        )


async def test_a_device_is_a_short_word(client):
    for bad in ("", "a b", "x" * 129, "ã"):
        headers = as_ana() | {"x-device-id": bad.encode()}
        assert_envelope(await client.post("/api/parcels", json=PARCEL, headers=headers), 400, "MALFORMED_DEVICE")


@pytest.mark.parametrize(
    ("peer", "forwarded", "address"),
    [
        ("203.0.113.9", "198.51.100.1", "203.0.113.9"),
        ("10.0.0.1", "198.51.100.1", "198.51.100.1"),
        ("10.0.0.1", "6.6.6.6, 198.51.100.1", "198.51.100.1"),
        ("10.0.0.1", "6.6.6.6, 198.51.100.1, 10.0.0.2", "198.51.100.1"),
        ("10.0.0.1", "2001:db8::1", "2001:db8::1"),
        ("10.0.0.1", "nonsense", "10.0.0.1"),
        ("10.0.0.1", "", "10.0.0.1"),
        ("10.0.0.1", "1.2.3.4, 203.0.113.5:4711", "203.0.113.5"),
        ("10.0.0.1", "1.2.3.4, [2001:db8::1]:443", "2001:db8::1"),
        ("10.0.0.1", "1.2.3.4, what is this", "10.0.0.1"),
    ],
)
async def test_an_address_comes_from_the_socket_or_from_a_proxy_we_trust(peer, forwarded, address):
    async with Desk(trusted_proxies=("10.0.0.0/8",)).client(peer) as client:
        response = await client.post("/api/parcels", json=PARCEL, headers=as_ana(**{"x-forwarded-for": forwarded}))
        assert response.json()["address"] == address


# Refusals and bugs.


@pytest.mark.covers("CON-005")
async def test_a_refusal_states_its_code_its_facts_and_the_next_step(client):
    response = await client.post("/api/parcels", json=PARCEL | {"to": "lost"}, headers=as_ana())
    assert response.status_code == 404
    assert response.json() == {
        "errorCode": "PARCEL_LOST",
        "message": "The parcel is lost.",
        "retryable": False,
        "correlationId": response.headers["x-correlation-id"],
        "nextStep": "Ask at the counter.",
        "seenAtDepot": "Beja",
    }


@pytest.mark.covers("CON-005", "CON-010")
async def test_a_bug_is_a_500_without_detail(client):
    response = await client.post("/api/parcels", json=PARCEL | {"to": "bug"}, headers=as_ana())
    body = assert_envelope(response, 500, "SERVER_ERROR")
    assert "secret detail" not in response.text and "ZeroDivisionError" not in response.text
    assert set(body) == {"errorCode", "message", "retryable", "correlationId"}


async def test_the_message_speaks_the_callers_language(client):
    response = await client.get("/nowhere", headers={"accept-language": "pt-BR, en;q=0.5"})
    assert response.json()["message"] == "Não há nada neste endereço."


@pytest.mark.parametrize(
    ("refusal", "status"),
    [(Throttled(retry_after_seconds=7), 429), (Unavailable(retry_after_seconds=3), 503), (OutcomeUnknown(), 503)],
)
async def test_who_should_come_back_is_told_when(refusal, status):
    busy = contract(id="A1", get="/busy")

    @busy.serves
    async def refuse(call: Call) -> None:
        raise refusal

    async with Desk(busy).client() as client:
        response = await client.get("/busy")
    assert assert_envelope(response, status, refusal.code)["retryable"] is True
    assert response.headers["retry-after"] == str(refusal.retry_after_seconds)


def test_every_class_of_refusal_has_a_status_and_a_subclass_inherits_it():
    assert status_of(ParcelLost) == 404
    assert status_of(Unauthenticated) == 401
    assert {400, 401, 402, 403, 404, 405, 408, 409, 410, 413, 415, 422, 429, 500, 503} == set(STATUS.values())


@pytest.mark.covers("CON-005")
async def test_an_undeclared_refusal_is_loud_in_tests_and_still_an_envelope_in_production(client):
    closed = PARCEL | {"to": "closed"}
    assert_envelope(await client.post("/api/parcels", json=closed, headers=as_ana()), 409, "DESK_CLOSED")
    async with Desk(strict=True).client() as strict:
        with pytest.raises(UndeclaredRefusal, match=r"DESK\.01 does not declare DeskClosed"):
            await strict.post("/api/parcels", json=closed, headers=as_ana())
        assert_envelope(await strict.post("/api/parcels", json=PARCEL), 403, "ORG_CONTEXT_REQUIRED")


async def test_an_audit_trail_that_fails_does_not_turn_a_no_into_a_yes(client, desk, monkeypatch):
    async def broken(*_, **__):
        raise OSError("disk full")

    monkeypatch.setattr(desk.notebook, "refused", broken)
    response = await client.post("/api/parcels", json=PARCEL, headers=as_ana(**{"x-orya-org-id": "7"}))
    assert_envelope(response, 403, "ORG_CONTEXT_REQUIRED")


# What is said about each request.


@pytest.mark.covers("CON-007")
async def test_every_request_is_counted_timed_and_logged(client, desk):
    good = await client.post("/api/parcels", json=PARCEL, headers=as_ana())
    bad = await client.post("/api/parcels", json=PARCEL | {"to": "lost"}, headers=as_ana())
    lost = await client.get("/nowhere")
    figures = generate_latest(desk.metrics.registry).decode()
    assert 'admitone_contract_requests_total{contract="DESK.01",error_code="",status="200"} 1.0' in figures
    assert 'admitone_contract_requests_total{contract="DESK.01",error_code="PARCEL_LOST",status="404"} 1.0' in figures
    assert 'admitone_contract_requests_total{contract="none",error_code="NOT_FOUND",status="404"} 1.0' in figures
    assert 'admitone_contract_seconds_count{contract="DESK.01"} 2.0' in figures
    first, second, third = (json.loads(line) for line in desk.lines.getvalue().splitlines())
    assert first.pop("at") and first.pop("ms") > 0
    assert first == {
        "level": "info", "event": "contract.served", "contract": "DESK.01", "status": 200, "errorCode": None,
        "correlationId": good.headers["x-correlation-id"], "orgId": str(OURS),
    }  # fmt: skip
    assert (second["errorCode"], second["correlationId"]) == ("PARCEL_LOST", bad.headers["x-correlation-id"])
    assert (third["contract"], third["correlationId"], third["orgId"]) == (
        "none",
        lost.headers["x-correlation-id"],
        None,
    )


# Health and life.


async def test_health_tells_whether_the_process_lives_and_can_work(client, desk):
    assert (await client.get("/health/live")).json() == {"status": "live"}
    assert (await client.get("/health/ready")).json() == {"status": "ready"}
    desk.is_ready = False
    assert_envelope(await client.get("/health/ready"), 503, "NOT_READY")
    assert desk.doorkeeper.asked == []


async def test_a_websocket_is_turned_away(desk):
    sent = []

    async def send(message):
        sent.append(message["type"])

    await desk.edge({"type": "websocket"}, None, send)
    assert sent == ["websocket.close"]


async def test_a_refusal_does_not_wait_for_an_audit_trail_that_hangs(monkeypatch):
    monkeypatch.setattr("admitone.kernel.contracts.edge.AUDIT_SECONDS", 0.1)

    class Hanging:
        async def refused(self, refusal, **about):
            await asyncio.sleep(60)

    async with Desk(audit=Hanging()).client() as client:
        headers = as_ana(**{"x-orya-org-id": "nonsense"})
        response = await asyncio.wait_for(client.post("/api/parcels", json=PARCEL, headers=headers), 5)
    assert_envelope(response, 403, "ORG_CONTEXT_REQUIRED")


async def test_a_body_that_never_comes_is_not_waited_for(monkeypatch, desk):
    monkeypatch.setattr("admitone.kernel.contracts.incoming.BODY_SECONDS", 0.1)
    sent = []

    async def receive():
        await asyncio.sleep(60)

    async def send(message):
        sent.append(message)

    headers = [(b"content-type", b"application/json"), (b"content-length", b"10")]
    scope = {
        "type": "http", "method": "POST", "path": "/api/parcels", "query_string": b"", "headers": headers,
        "scheme": "http", "client": ("203.0.113.9", 1),
    }  # fmt: skip
    await asyncio.wait_for(desk.edge(scope, receive, send), 5)
    assert sent[0]["status"] == 408
