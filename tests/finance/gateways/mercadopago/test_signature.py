"""Signatures of Mercado Pago's notices: what counts, and what does not (PAY-011)."""

import itertools
import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta

import pytest

from admitone.finance.gateways.mercadopago.gateway import Credentials, MercadoPagoGateway
from admitone.finance.gateways.mercadopago.signature import sign, verify
from admitone.kernel.errors import Malformed
from tests.finance.gateways.mercadopago.peer import SECRET, TOKEN, posted

SECRET_IN_THEIR_PAPERS = "your_secret_key_here"
VECTORS = [
    # Moment, id, request and secret as their papers and their software have them; digests by `openssl dgst -hmac`.
    (
        "1742505638683",
        "ord01jq4s4ky8hwq6na5pxb65b3d3",
        "2066ca19-c6f1-498a-be75-1923005edd06",
        "633f91233312dd391ec75fa0bea539cfc2d6c4918873305b84a96cc1c58db71c",
    ),
    (
        "1704908010",
        "999999999",
        "bb56a2f1-6aae-46ac-982e-9dcd3581d08e",
        "c0412036a1c8b6a874049f5931f01bc6c12308647ba4d17136aacbd61207ea0f",
    ),
    ("1704908010", "999999999", None, "cd51d20ff8341874f2354acb6970d0e0bfdf33ce250cfa01982ac4fade40a6c8"),
]
NOW = datetime(2026, 11, 16, 12, 0, 0, tzinfo=UTC)
SECONDS, MILLISECONDS = str(int(NOW.timestamp())), str(int(NOW.timestamp()) * 1000)
REQUEST = "2066ca19-c6f1-498a-be75-1923005edd06"
QUERY = "data.id=1300000001&type=payment"
HEADER = sign("1300000001", REQUEST, SECONDS, SECRET)

Attack = tuple[Mapping[str, str], str]


def headers(header: str = HEADER, request: str | None = REQUEST) -> dict[str, str]:
    return {"X-Signature": header} | ({"X-Request-Id": request} if request else {})


@pytest.mark.parametrize(("moment", "about", "request_id", "digest"), VECTORS)
def test_it_is_what_they_calculate(moment: str, about: str, request_id: str | None, digest: str):
    header = f"ts={moment},v1={digest}"
    assert sign(about, request_id, moment, SECRET_IN_THEIR_PAPERS) == header
    at = datetime.fromtimestamp(int(moment[:10]), UTC)
    signed = verify(headers(header, request_id), f"type=payment&data.id={about}", SECRET_IN_THEIR_PAPERS, at)
    assert signed
    assert (signed.about, signed.request_id) == (about, request_id)


@pytest.mark.parametrize("moment", [SECONDS, MILLISECONDS])
@pytest.mark.parametrize(
    ("seconds", "counts"), [(0, True), (299, True), (300, True), (301, False), (-300, True), (-301, False)]
)
def test_it_counts_for_five_minutes_whatever_the_moment_is_counted_in(moment: str, seconds: int, counts: bool):
    header = sign("1300000001", REQUEST, moment, SECRET)
    signed = verify(headers(header), QUERY, SECRET, NOW + timedelta(seconds=seconds))
    assert (signed is not None) is counts
    assert signed is None or signed.at == NOW


def test_a_notice_is_named_by_what_is_signed_and_by_nothing_else():
    signed = verify(headers(), QUERY, SECRET, NOW)
    assert signed
    assert signed.id == f"1300000001:{REQUEST}:{SECONDS}"


def altered_headers() -> Iterator[Attack]:
    for index, bit in itertools.product(range(len(HEADER)), range(7)):
        flipped = bytearray(HEADER.encode())
        flipped[index] ^= 1 << bit
        yield headers(flipped.decode("latin-1")), QUERY
    for length in range(len(HEADER)):
        yield headers(HEADER[:length]), QUERY
        yield headers(HEADER[:length] + HEADER[length + 1 :]), QUERY
    digest = HEADER.rpartition("=")[2]
    for header in (
        "",
        digest,
        f"v1={digest}",
        f"ts={SECONDS}",
        f"ts={SECONDS},v2={digest}",
        f"ts={SECONDS},v1={digest.upper()}",
        f"ts={SECONDS},v1={digest}0",
        f"ts={SECONDS},ts={SECONDS},v1={digest}",
        f"ts={SECONDS},v1={'0' * 64},v1={digest}",
        f"ts={SECONDS};v1={digest}",
        f"ts=-{SECONDS},v1={digest}",
        f"ts={'9' * 15},v1={digest}",
        f"ts=٣,v1={digest}",
        f"{HEADER},{'x=' + 'y' * 4_000}",
        "," * 1_000_000,
    ):
        yield headers(header), QUERY


def others() -> Iterator[Attack]:
    for request in (None, "", "other", REQUEST.upper(), f"{REQUEST} ", f"{REQUEST};ts:1", "x" * 65):
        yield {"x-signature": HEADER} | ({"x-request-id": request} if request is not None else {}), QUERY
    for query in (
        "",
        "type=payment",
        "data.id=",
        "data.id=1300000002",
        "data.id=1300000001&data.id=1300000002",
        "data.id=1300000002&data.id=1300000001",
        "id=1300000001",
        "DATA.ID=1300000001",
        "data.id=1300000001;ts:1",
        "data.id=1300000001%00",
        "data.id=" + "1" * 65,
        "data.id=1300000001&" + "x" * 4_000,
    ):
        yield headers(), query
    for secret in ("", SECRET.upper(), SECRET[:-1], f" {SECRET}"):
        yield headers(sign("1300000001", REQUEST, SECONDS, secret)), QUERY
    for second in (*range(301, 500), 86_400):
        for direction in (1, -1):
            yield headers(sign("1300000001", REQUEST, str(int(SECONDS) + direction * second), SECRET)), QUERY
    yield headers(sign("1300000001", REQUEST, "0", SECRET)), QUERY


@pytest.mark.covers("PAY-011")
def test_nothing_else_counts():
    attacks = [*altered_headers(), *others()]
    assert len(attacks) > 1_000
    assert verify(headers(), QUERY, SECRET, NOW)
    assert [attack for attack in attacks if verify(*attack, SECRET, NOW)] == []


# -- The whole notice


def a_gateway() -> MercadoPagoGateway:
    class Silent:
        async def call(self, *_: object) -> None:
            raise AssertionError("nobody is asked")

    return MercadoPagoGateway(
        Credentials(TOKEN, SECRET, "a@example.org", livemode=False), "http://127.0.0.1:1", Silent()
    )  # type: ignore[arg-type]


NOTICE = {
    "id": 12345,
    "live_mode": False,
    "type": "payment",
    "date_created": "2026-11-16T09:00:00.000-03:00",
    "user_id": 44444,
    "api_version": "v1",
    "action": "payment.updated",
    "data": {"id": "1300000001"},
}


@pytest.mark.parametrize("route", ["/webhooks/pix", "/webhooks/mercadopago"])
def test_a_notice_counts_on_its_own_routes(route: str):
    webhook = posted(NOTICE)
    query = webhook.path.partition("?")[2]
    envelope = a_gateway().verify(webhook.body, webhook.headers, f"{route}?{query}", datetime.now(UTC))
    assert envelope
    assert (envelope.source, envelope.type, envelope.livemode) == ("mercadopago", "payment.updated", False)
    assert a_gateway().verify(webhook.body, webhook.headers, f"/webhooks/openpix?{query}", datetime.now(UTC)) is None
    assert a_gateway().verify(webhook.body, webhook.headers, route, datetime.now(UTC)) is None, "without its query"


def test_a_replay_under_another_id_is_the_same_event():
    """The body is not signed: its own id, its type and its time are whatever somebody wrote there."""
    webhook, now = posted(NOTICE), datetime.now(UTC)
    forged = json.dumps(NOTICE | {"id": 99999, "date_created": "2020-01-01T00:00:00.000-03:00"}).encode()
    first, second = (a_gateway().verify(body, webhook.headers, webhook.path, now) for body in (webhook.body, forged))
    assert first == second


def test_a_body_about_another_payment_is_nobodys():
    webhook, now = posted(NOTICE), datetime.now(UTC)
    forged = json.dumps(NOTICE | {"data": {"id": "1300000002"}}).encode()
    assert a_gateway().verify(forged, webhook.headers, webhook.path, now) is None


def test_the_mode_of_a_notice_is_told_to_whoever_keeps_it():
    webhook = posted(NOTICE | {"live_mode": True})
    envelope = a_gateway().verify(webhook.body, webhook.headers, webhook.path, datetime.now(UTC))
    assert envelope
    assert envelope.livemode, "and the door refuses what is of the other mode"


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b'{"id": 1}', b"\xff\xfe"])
def test_what_is_signed_and_no_notice_is_malformed(body: bytes):
    webhook = posted(NOTICE)
    with pytest.raises(Malformed):
        a_gateway().verify(body, webhook.headers, webhook.path, datetime.now(UTC))
