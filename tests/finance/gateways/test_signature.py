"""Signatures of webhooks: what counts, and thousands of things that do not (PAY-011)."""

import hashlib
import hmac
import itertools
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from admitone.finance.gateways.signature import LONGEST_HEADER, MOST_SIGNATURES, sign, verify

SECRET = "whsec_of_these_tests"
NOW = datetime(2026, 11, 16, 12, 0, 0, tzinfo=UTC)
BODY = b'{"id":"evt_1","type":"payment_intent.succeeded","data":{"object":{"amount":5000,"name":"Jo\\u00e3o"}},"n":1.0}'
HEADER = sign(BODY, SECRET, NOW)
MOMENT, DIGEST = str(int(NOW.timestamp())), HEADER.rpartition("=")[2]

Attack = tuple[bytes, str]


def test_what_was_signed_counts():
    assert verify(BODY, HEADER, SECRET, NOW)


def test_it_is_what_stripe_calculates():
    assert f"t={MOMENT},v1={DIGEST}" == HEADER
    assert hmac.new(SECRET.encode(), MOMENT.encode() + b"." + BODY, hashlib.sha256).hexdigest() == DIGEST


@pytest.mark.covers("PAY-011")
@pytest.mark.parametrize(("seconds", "counts"), [(299, True), (300, True), (301, False)])
@pytest.mark.parametrize("direction", [1, -1])
@pytest.mark.parametrize("fraction", [0, 999_999])
def test_it_counts_for_five_minutes_in_both_directions(seconds: int, counts: bool, direction: int, fraction: int):
    now = NOW + timedelta(seconds=direction * seconds, microseconds=fraction)
    assert verify(BODY, HEADER, SECRET, now) is counts


@pytest.mark.parametrize(
    "header",
    [
        f"t={MOMENT},v1={'0' * 64},v1={DIGEST}",
        f"t={MOMENT},v1={DIGEST},v1={'0' * 64}",
        f"t={MOMENT},v0={'0' * 64},v1={DIGEST},v2=whatever",
        f"v1={DIGEST},t={MOMENT}",
        f"t={MOMENT},v1=not hex,v1={DIGEST}",
        f"t={MOMENT}" + f",v1={'0' * 64}" * (MOST_SIGNATURES - 1) + f",v1={DIGEST}",
    ],
)
def test_one_right_signature_is_enough_and_strange_schemes_do_no_harm(header: str):
    assert verify(BODY, header, SECRET, NOW)


def altered_bodies() -> Iterator[Attack]:
    for index, bit in itertools.product(range(len(BODY)), range(8)):
        flipped = bytearray(BODY)
        flipped[index] ^= 1 << bit
        yield bytes(flipped), HEADER
    for length in range(len(BODY)):
        yield BODY[:length], HEADER
        yield BODY[:length] + BODY[length + 1 :], HEADER
        yield BODY[:length] + b" " + BODY[length:], HEADER
    document = json.loads(BODY)
    yield json.dumps(document).encode(), HEADER
    yield json.dumps(document, separators=(",", ":")).encode(), HEADER
    yield json.dumps(document, sort_keys=True).encode(), HEADER
    yield json.dumps(document, ensure_ascii=False).encode(), HEADER
    for around in (b"\n", b"\r\n", b"\x00", b"\xef\xbb\xbf", BODY):
        yield BODY + around, HEADER
        yield around + BODY, HEADER


def altered_headers() -> Iterator[Attack]:
    for index, bit in itertools.product(range(len(HEADER)), range(7)):
        flipped = bytearray(HEADER.encode())
        flipped[index] ^= 1 << bit
        yield BODY, flipped.decode("latin-1")
    for length in range(len(HEADER)):
        yield BODY, HEADER[:length]
        yield BODY, HEADER[:length] + HEADER[length + 1 :]
        for strange in ("ａ", "é", "\u200b", "\x00", "٣", "\n"):
            yield BODY, HEADER[:length] + strange + HEADER[length:]


def invented_headers() -> Iterator[Attack]:
    yield from ((BODY, sign(BODY, f"{SECRET}{n}", NOW)) for n in range(2_000))
    yield from ((BODY, sign(BODY, secret, NOW)) for secret in ("", SECRET.upper(), SECRET[:-1], f" {SECRET}", "null"))
    for seconds in itertools.chain(range(301, 800), range(86_400, 86_500)):
        for direction in (1, -1):
            yield BODY, sign(BODY, SECRET, NOW + timedelta(seconds=direction * seconds))
    for moment in (
        "",
        "0",
        "-1",
        "1e9",
        "٣",
        "x",
        "9" * 11,
        "9" * 12,
        "9" * 400,
        f" {MOMENT}",
        f"+{MOMENT}",
        f"{MOMENT}.0",
    ):
        digest = hmac.new(SECRET.encode(), moment.encode() + b"." + BODY, hashlib.sha256).hexdigest()
        yield BODY, f"t={moment},v1={digest}"
    for scheme in ("v0", "v2", "V1", " v1", "v1 ", "v", "", "t"):
        yield BODY, f"t={MOMENT},{scheme}={DIGEST}"
    for changed in (
        DIGEST.upper(),
        DIGEST[:-1],
        f"{DIGEST}0",
        f" {DIGEST}",
        f"{DIGEST} ",
        f'"{DIGEST}"',
        "",
        "=",
        "0x" + DIGEST,
    ):
        yield BODY, f"t={MOMENT},v1={changed}"
    many = ",".join(f"v1={n:064x}" for n in range(MOST_SIGNATURES))
    yield BODY, f"t={MOMENT},{many}"
    yield BODY, f"t={MOMENT},{many},v1={DIGEST}"
    yield BODY, f"t={MOMENT},t={MOMENT},v1={DIGEST}"
    yield BODY, f"t={int(MOMENT) + 1},t={MOMENT},v1={DIGEST}"
    yield BODY, f"{HEADER},{'x=' + 'y' * LONGEST_HEADER}"
    yield BODY, "," * 10_000_000
    yield BODY, "v1=" * 1_000_000
    yield BODY, f"t={MOMENT};v1={DIGEST}"
    yield BODY, DIGEST
    yield BODY, ""


@pytest.mark.covers("PAY-011")
def test_nothing_else_counts():
    attacks = [*altered_bodies(), *altered_headers(), *invented_headers()]
    assert len(set(attacks)) >= 5_000
    accepted = [attack for attack in attacks if attack != (BODY, HEADER) and verify(*attack, SECRET, NOW)]
    assert accepted == []
