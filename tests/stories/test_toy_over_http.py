"""The toy package from the outside: every mechanism of the ground, end to end, on a real database."""

import asyncio
import hashlib
import hmac
import io
import json
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from admitone.kernel.contracts import Edge
from admitone.kernel.db import Database
from admitone.kernel.ids import PLATFORM_ORGANIZATION, uuid7
from admitone.kernel.scope import Scope
from tests.builders import Credential, a_credential, an_organization, rows_of, value_of
from tests.conftest import INTERNAL_SECRET
from tests.toy.routes import INCREMENT, READ, WEBHOOK_SECRET, increment

INCREMENTS = "/api/toy/increments"
ENVELOPE = {"errorCode", "message", "retryable", "correlationId"}


@dataclass(frozen=True)
class Member:
    """Somebody with a key of an organisation."""

    http: httpx.AsyncClient
    scope: Scope
    key: Credential

    @property
    def headers(self) -> dict[str, str]:
        return {
            "authorization": f"Bearer {self.key.text}",
            "x-orya-org-id": str(self.scope.organization),
            "x-device-id": f"device-{uuid7()}",
        }

    async def increment(self, counter: str = "visits", amount: Any = 1, key: str | None = None) -> httpx.Response:
        body = {"counter": counter, "amount": amount, "idempotencyKey": key or str(uuid7())}
        return await self.http.post(INCREMENTS, json=body, headers=self.headers)

    def path(self, tail: str) -> str:
        return f"/org/{self.scope.organization}/{tail}"


@pytest.fixture
async def member(http: httpx.AsyncClient, database: Database, superuser) -> Member:
    scope = await an_organization(database)
    return Member(http, scope, await a_credential(superuser, scope, INCREMENT, READ))


def assert_refused(response: httpx.Response, status: int, code: str) -> None:
    assert (response.status_code, response.json()["errorCode"]) == (status, code), response.text
    assert response.json().keys() >= ENVELOPE
    assert response.headers["x-correlation-id"] == response.json()["correlationId"]


async def test_from_making_a_counter_to_seeing_it_everywhere(member: Member) -> None:
    made = await member.http.put(member.path("counters/guests"), json={"ceiling": 10}, headers=member.headers)
    assert made.json() == {"name": "guests", "value": 0, "ceiling": 10}
    assert (await member.increment("guests", 4)).json()["value"] == 4

    first = (await member.http.get(member.path("counters?limit=1"), headers=member.headers)).json()
    assert [item["name"] for item in first["items"]] == ["guests"]
    rest = await member.http.get(member.path(f"counters?cursor={first['nextCursor']}"), headers=member.headers)
    assert rest.json() == {"items": [{"name": "visits", "value": 0, "ceiling": 10**9}], "nextCursor": None}

    table = await member.http.get(member.path("counters.csv"), headers=member.headers)
    assert table.text == "name,value\r\nguests,4\r\nvisits,0\r\n"
    own = await member.http.get("/api/toy/mine", headers=member.headers)
    assert own.json() == [{"organization": str(member.scope.organization), "counter": "guests", "amount": 4}]


@pytest.mark.covers("INV-I06", "CON-004")
async def test_a_repeated_request_gets_the_answer_it_got_before(member: Member, database: Database) -> None:
    first, again = await member.increment(key="k"), await member.increment(key="k")
    assert first.json() == again.json()
    assert "idempotency-replayed" not in first.headers
    assert again.headers["idempotency-replayed"] == "true"
    assert await value_of(database, member.scope) == 1
    assert_refused(await member.increment(amount=2, key="k"), 409, "IDEMPOTENCY_KEY_REUSED")


@pytest.mark.covers("INV-I06")
async def test_two_hundred_at_once_under_one_key_count_once(member: Member, database: Database) -> None:
    answers = await asyncio.gather(*(member.increment(key="one") for _ in range(200)))
    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.json()["id"] for answer in answers}) == 1
    assert await value_of(database, member.scope) == 1


async def test_conflicting_requests_under_one_key_at_once(member: Member, database: Database) -> None:
    answers = await asyncio.gather(*(member.increment(amount=amount, key="one") for amount in range(1, 51)))
    assert sorted(answer.status_code for answer in answers) == [200] + [409] * 49
    [won] = [answer for answer in answers if answer.status_code == 200]
    assert await value_of(database, member.scope) == won.json()["value"]


BAD_BODIES: dict[str, tuple[bytes, int, str]] = {
    "nothing": (b"", 400, "MALFORMED_JSON"),
    "not JSON": (b"{counter:1}", 400, "MALFORMED_JSON"),
    "cut off": (b'{"counter":"visits","amo', 400, "MALFORMED_JSON"),
    "not UTF-8": (b'{"counter":"\xff\xfe","amount":1,"idempotencyKey":"k"}', 400, "MALFORMED_JSON"),
    "a list": (b"[]", 422, "VALIDATION_FAILED"),
    "a field missing": (b'{"counter":"visits","amount":1}', 422, "VALIDATION_FAILED"),
    "text for a number": (b'{"counter":"visits","amount":"1","idempotencyKey":"k"}', 422, "VALIDATION_FAILED"),
    "a fraction": (b'{"counter":"visits","amount":1.5,"idempotencyKey":"k"}', 422, "VALIDATION_FAILED"),
    "NaN": (b'{"counter":"visits","amount":NaN,"idempotencyKey":"k"}', 400, "MALFORMED_JSON"),
    "zero": (b'{"counter":"visits","amount":0,"idempotencyKey":"k"}', 422, "VALIDATION_FAILED"),
    "2^63": (b'{"counter":"visits","amount":9223372036854775808,"idempotencyKey":"k"}', 422, "VALIDATION_FAILED"),
    "-2^63": (b'{"counter":"visits","amount":-9223372036854775808,"idempotencyKey":"k"}', 422, "VALIDATION_FAILED"),
    "10^400": (b'{"counter":"visits","amount":1' + b"0" * 400 + b',"idempotencyKey":"k"}', 422, "VALIDATION_FAILED"),
    "NUL": (b'{"counter":"vis\\u0000its","amount":1,"idempotencyKey":"k"}', 422, "VALIDATION_FAILED"),
    "NUL in the key": (b'{"counter":"visits","amount":1,"idempotencyKey":"\\u0000"}', 422, "VALIDATION_FAILED"),
    "a lone surrogate": (b'{"counter":"\\ud800","amount":1,"idempotencyKey":"k"}', 400, "MALFORMED_JSON"),
    "an empty key": (b'{"counter":"visits","amount":1,"idempotencyKey":""}', 422, "VALIDATION_FAILED"),
    "a long key": (b'{"counter":"visits","amount":1,"idempotencyKey":"' + b"k" * 256 + b'"}', 422, "VALIDATION_FAILED"),
    "a long name": (b'{"counter":"' + b"n" * 101 + b'","amount":1,"idempotencyKey":"k"}', 422, "VALIDATION_FAILED"),
    "too large": (b'{"counter":"' + b"n" * 100_000 + b'"}', 413, "REQUEST_TOO_LARGE"),
    "30,000 deep": (b'{"surprise":' + b"[" * 30_000, 400, "MALFORMED_JSON"),
    "100,000 deep": (b'{"surprise":' + b"[" * 100_000, 413, "REQUEST_TOO_LARGE"),
}


@pytest.mark.covers("CON-005", "CON-010", "TEN-T09")
@pytest.mark.parametrize("name", BAD_BODIES)
async def test_bad_input_gets_a_clear_envelope_and_writes_nothing(
    member: Member, database: Database, name: str
) -> None:
    body, status, code = BAD_BODIES[name]
    headers = {**member.headers, "content-type": "application/json"}
    response = await member.http.post(INCREMENTS, content=body, headers=headers)
    assert_refused(response, status, code)
    assert response.json()["retryable"] is False
    assert await value_of(database, member.scope) == 0
    assert await rows_of(database, member.scope, "toy.increment") == 0
    assert await rows_of(database, member.scope, "kernel.idempotency_key") == 0


async def test_a_validation_error_names_the_field(member: Member) -> None:
    response = await member.increment(amount="many")
    assert response.json()["errors"][0]["path"] == "$.amount"


@pytest.mark.covers("CON-003")
async def test_unknown_fields_and_another_order_are_tolerated(member: Member) -> None:
    body = '{"idempotencyKey":"k","surprise":{"deep":[1,2]},"amount":1,"counter":"visits"}'
    headers = {**member.headers, "content-type": "application/json"}
    assert (await member.http.post(INCREMENTS, content=body, headers=headers)).status_code == 200


async def test_one_poisoned_request_hurts_none_of_255(member: Member, database: Database, superuser) -> None:
    """A counter that the database refuses to change although policy allows it: a bug, planted."""
    await superuser.execute(
        "ALTER TABLE toy.counter ADD CONSTRAINT cursed CHECK (name <> 'cursed' OR value = 0) NOT VALID"
    )
    try:
        await member.http.put(member.path("counters/cursed"), json={"ceiling": 10}, headers=member.headers)
        names = ["cursed", *["visits"] * 255]
        answers = await asyncio.gather(*(member.increment(name) for name in names))
    finally:
        await superuser.execute("ALTER TABLE toy.counter DROP CONSTRAINT cursed")
    assert [answer.status_code for answer in answers[1:]] == [200] * 255
    assert_refused(answers[0], 500, "SERVER_ERROR")
    assert "cursed" not in answers[0].text
    assert await value_of(database, member.scope) == 255


@pytest.mark.covers("ORG-014", "ORG-015", "CON-010", "TEN-T09")
@pytest.mark.parametrize(
    "place",
    [
        {},
        {"headers": {"x-org-id": "own"}},
        {"headers": {"x-orya-org-id": "other"}, "params": {"organizationId": "own"}},
        {"headers": {"x-orya-org-id": "nonsense"}},
        {"headers": {"cookie": "lastUsedOrg=own; organizationId=own"}},
    ],
)
async def test_a_missing_or_conflicting_organisation_is_refused(
    member: Member, database: Database, place: dict[str, dict[str, str]]
) -> None:
    other = await an_organization(database)
    names = {"own": str(member.scope.organization), "other": str(other.organization)}
    fill = lambda given: {key: _replaced(value, names) for key, value in given.items()}  # noqa: E731
    headers = {key: value for key, value in member.headers.items() if key != "x-orya-org-id"}
    response = await member.http.post(
        INCREMENTS,
        json={"counter": "visits", "amount": 1, "idempotencyKey": "k"},
        headers={**headers, **fill(place.get("headers", {}))},
        params=fill(place.get("params", {})),
    )
    assert_refused(response, 403, "ORG_CONTEXT_REQUIRED")
    assert await value_of(database, member.scope) == await value_of(database, other) == 0


def _replaced(text: str, names: dict[str, str]) -> str:
    for name, value in names.items():
        text = text.replace(name, value)
    return text


@pytest.mark.covers("ORG-014")
async def test_a_conflicting_organisation_leaves_an_audit_entry(member: Member, database: Database, superuser) -> None:
    other = await an_organization(database)
    response = await member.http.post(
        INCREMENTS,
        json={"counter": "visits", "amount": 1, "idempotencyKey": "k"},
        headers=member.headers,
        params={"organizationId": str(other.organization)},
    )
    rows = await superuser.fetch(
        "SELECT reason_code, subject FROM kernel.audit_entry WHERE correlation_id = $1",
        response.json()["correlationId"],
    )
    assert [tuple(row) for row in rows] == [("ORG_CONTEXT_REQUIRED", "TOY.01")]


@pytest.mark.covers("ORG-014")
@pytest.mark.parametrize("place", ["header", "query"])
async def test_each_source_of_the_organisation_works_alone(member: Member, place: str) -> None:
    headers = {key: value for key, value in member.headers.items() if key != "x-orya-org-id"}
    own = str(member.scope.organization)
    response = await member.http.post(
        INCREMENTS,
        json={"counter": "visits", "amount": 1, "idempotencyKey": "k"},
        headers={**headers, "X-Orya-Org-Id": own} if place == "header" else headers,
        params={"organizationId": own} if place == "query" else {},
    )
    assert response.status_code == 200


@pytest.mark.covers("TEN-T06")
async def test_a_member_of_another_organisation_is_a_stranger(member: Member, database: Database, superuser) -> None:
    theirs = await an_organization(database)
    stranger = Member(member.http, member.scope, await a_credential(superuser, theirs, INCREMENT, READ))
    refused = await stranger.increment()
    assert_refused(refused, 403, "PERMISSION_DENIED")
    remembered = await superuser.fetchrow(
        "SELECT actor_id, organization_id FROM kernel.audit_entry WHERE correlation_id = $1",
        refused.json()["correlationId"],
    )
    assert tuple(remembered) == (stranger.key.identity.uuid, PLATFORM_ORGANIZATION.uuid), "in no stranger's trail"
    for path in ("counters", "counters.csv", "counters/live"):
        response = await stranger.http.get(stranger.path(path), headers=stranger.headers)
        assert_refused(response, 403, "PERMISSION_DENIED")
    assert await value_of(database, member.scope) == 0


@pytest.mark.parametrize("credential", ["", "Bearer nonsense", "Basic Zm9vOmJhcg==", "Bearer "])
async def test_an_unknown_key_is_nobody(member: Member, credential: str) -> None:
    headers = {**member.headers, "authorization": credential}
    response = await member.http.post(
        INCREMENTS, json={"counter": "visits", "amount": 1, "idempotencyKey": "k"}, headers=headers
    )
    assert_refused(response, 401, "UNAUTHENTICATED")


async def test_a_device_that_comes_too_often_is_throttled(member: Member, database: Database) -> None:
    headers = member.headers
    body = {"counter": "visits", "amount": 1}
    requests = [
        member.http.post(INCREMENTS, json={**body, "idempotencyKey": str(number)}, headers=headers)
        for number in range(130)
    ]
    answers = await asyncio.gather(*requests)
    throttled = [answer for answer in answers if answer.status_code == 429]
    assert len(throttled) == 10
    assert_refused(throttled[0], 429, "RATE_LIMITED")
    assert 1 <= int(throttled[0].headers["retry-after"]) <= 60
    assert await value_of(database, member.scope) == 120


@pytest.mark.covers("OPS-031")
async def test_a_feature_that_is_off_is_off_for_everybody(member: Member) -> None:
    assert_refused(await member.http.get("/api/toy/later"), 403, "FEATURE_DISABLED")
    assert_refused(await member.http.get("/api/toy/later", headers=member.headers), 403, "FEATURE_DISABLED")


async def test_what_is_internal_needs_the_internal_secret(member: Member) -> None:
    path = f"/api/internal/toy/peek?organization={member.scope.organization}"
    assert (await member.http.get(path)).status_code == 403
    assert (await member.http.get(path, headers={"x-orya-internal-secret": "guess"})).status_code == 403
    told = await member.http.get(path, headers={"x-orya-internal-secret": INTERNAL_SECRET})
    assert told.json() == {"size": 1}


async def test_raw_bytes_are_checked_as_they_came(http: httpx.AsyncClient) -> None:
    body = b'{ "spaces" :   "count" }'
    signature = hmac.new(WEBHOOK_SECRET, body, hashlib.sha256).hexdigest()
    taken = await http.post("/api/toy/webhook", content=body, headers={"x-signature": signature})
    assert taken.json() == {"size": len(body)}
    forged = await http.post("/api/toy/webhook", content=body.replace(b" ", b""), headers={"x-signature": signature})
    assert_refused(forged, 403, "TOY_FOREIGN_BODY")


async def test_a_form_sets_a_cookie_and_a_page_reads_it(http: httpx.AsyncClient) -> None:
    posted = await http.post("/toy/name", data={"name": "ana"}, headers={"origin": "http://admitone.test"})
    assert (posted.status_code, posted.headers["location"]) == (303, "/toy")
    assert "HttpOnly" in posted.headers["set-cookie"]
    shown = await http.get("/toy", headers={"cookie": "toy_name=ana"})
    assert "ana" in shown.text
    wrong = await http.post("/toy/name", data={"name": "ANA!"}, headers={"origin": "http://admitone.test"})
    assert wrong.status_code == 422
    assert wrong.headers["content-type"].startswith("text/html")


async def test_a_file_of_names_makes_counters(member: Member, database: Database) -> None:
    response = await member.http.post(
        member.path("counters/import"),
        data={"ceiling": "5"},
        files={"names": ("names.txt", b"one\ntwo\n", "text/plain")},
        headers=member.headers,
    )
    assert response.json() == {"made": 2}
    assert await value_of(database, member.scope, "two") == 0


@pytest.mark.covers("CON-007", "OPS-005")
async def test_every_request_leaves_figures_and_a_line(
    member: Member, edge: Edge, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = io.BytesIO()
    monkeypatch.setattr(edge._observer, "_lines", written)
    answer = await member.increment()
    lines = [json.loads(line) for line in written.getvalue().splitlines()]
    [line] = [each for each in lines if each.get("correlationId") == answer.headers["x-correlation-id"]]
    assert (line["contract"], line["status"]) == ("TOY.01", 200)
    assert line["orgId"] == str(member.scope.organization)
    figures = await member.http.get("/metrics", headers={"x-orya-internal-secret": INTERNAL_SECRET})
    assert 'admitone_contract_requests_total{contract="TOY.01",error_code="",status="200"}' in figures.text
    assert 'admitone_contract_seconds_bucket{contract="TOY.01"' in figures.text
    assert 'admitone_batch_inputs_bucket{command="' in figures.text
    assert 'admitone_pool_connections{role="admitone_app",state="idle"}' in figures.text


async def test_health_tells_the_state(http: httpx.AsyncClient) -> None:
    assert (await http.get("/health/live")).json() == {"status": "live"}
    assert (await http.get("/health/ready")).json() == {"status": "ready"}


async def test_a_visitor_is_shown_where_to_begin(http: httpx.AsyncClient) -> None:
    assert (await http.get("/")).status_code == 200
    assert "/api/toy/increments" in (await http.get("/docs")).text


@pytest.mark.covers("CON-009")
async def test_the_examples_in_the_reference_are_true(member: Member) -> None:
    """In order, in a fresh organisation with the counter that they speak of."""
    for example in increment.examples:
        body = {
            "counter": example.takes.counter,
            "amount": example.takes.amount,
            "idempotencyKey": example.takes.idempotency_key,
        }
        response = await member.http.post(INCREMENTS, json=body, headers=member.headers)
        if example.refuses is None:
            assert response.json() == {"id": response.json()["id"], "counter": "visits", "value": example.gives.value}
        else:
            assert_refused(response, 409, example.refuses.code)
            assert response.json()["left"] == example.refuses.left
