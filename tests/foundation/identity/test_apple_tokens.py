"""Which identity tokens count: those that Apple signed for us a moment ago, and no others (IDN-019)."""

import asyncio
import hashlib
import hmac
import json
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import jwt
import pytest

from admitone.entrypoints.http import Application
from admitone.foundation.identity.apple import APPLE_CLIENT_IDS, APPLE_KEYS_URL, Apple, keys_of
from admitone.foundation.identity.port import NoApple
from admitone.kernel.config import Config, ConfigurationProblem
from tests.foundation.identity.orchard import (
    CLIENT,
    OTHER_CLIENT,
    Orchard,
    a_curve_key,
    a_key,
    an_orchard,
    coded,
    nonce_of,
    public_pem,
    published,
    signed,
)
from tests.foundation.identity.visitors import Visitor, an_account, an_email

HEADER = {"kid": "first", "alg": "RS256"}


@pytest.fixture
async def orchard(application: Application) -> AsyncIterator[Orchard]:
    async with an_orchard(application) as orchard:
        yield orchard


async def shown(application: Application, token: str, **more: Any) -> str:
    """What came of signing in with it: the code of the refusal, or IN."""
    answer = await Visitor(application).post("apple/sign-in", identityToken=token, **more)
    return "IN" if answer.status_code == 200 else answer.json()["errorCode"]


def good(orchard: Orchard, **said: Any) -> dict[str, Any]:
    return orchard.claims(email=an_email(), email_verified=True, **said)


def by_secret(orchard: Orchard, secret: bytes) -> str:
    """HS256 with a key that everybody knows: the public one."""
    body = f"{coded({'kid': 'first', 'alg': 'HS256'})}.{coded(good(orchard))}"
    return f"{body}.{coded(hmac.new(secret, body.encode(), hashlib.sha256).digest())}"


def twice(orchard: Orchard, name: str, first: Any, second: Any) -> bytes:
    rest = json.dumps({key: value for key, value in good(orchard).items() if key != name})[1:]
    return f'{{"{name}": {json.dumps(first)}, "{name}": {json.dumps(second)}, {rest}'.encode()


def with_header(**said: Any) -> Callable[[Orchard], str]:
    return lambda o: signed({**HEADER, **said}, good(o))


def with_claims(**said: Any) -> Callable[[Orchard], str]:
    return lambda o: signed(HEADER, good(o) | said)


def without(name: str) -> Callable[[Orchard], str]:
    return lambda o: signed(HEADER, {key: value for key, value in good(o).items() if key != name})


def in_seconds(**said: int) -> Callable[[Orchard], str]:
    """Instants from now."""
    return lambda o: signed(HEADER, good(o) | {name: int(time.time()) + by for name, by in said.items()})


def by_stranger(**said: Any) -> Callable[[Orchard], str]:
    return lambda o: signed({**HEADER, **said}, good(o), a_key("stranger"))


STRANGERS = published(a_key("stranger"), "stranger")

FORGED: dict[str, Callable[[Orchard], str]] = {
    "no algorithm": lambda o: f"{coded({'kid': 'first', 'alg': 'none'})}.{coded(good(o))}.",
    "no algorithm, with a signature": with_header(alg="none"),
    "no algorithm, in other letters": with_header(alg="nOnE"),
    "algorithm missing": lambda o: signed({"kid": "first"}, good(o)),
    "algorithm is a list": with_header(alg=["RS256"]),
    "HS256 by the public key as PEM": lambda o: by_secret(o, public_pem(a_key("first"))),
    "HS256 by the public key as JWK": lambda o: by_secret(o, json.dumps(o.keys[0]).encode()),
    "HS256 by nothing": lambda o: by_secret(o, b""),
    "RS384": lambda o: jwt.encode(good(o), a_key("first"), "RS384", {"kid": "first"}),
    "RS512": lambda o: jwt.encode(good(o), a_key("first"), "RS512", {"kid": "first"}),
    "PS256": lambda o: jwt.encode(good(o), a_key("first"), "PS256", {"kid": "first"}),
    "ES256": lambda o: jwt.encode(good(o), a_curve_key(), "ES256", {"kid": "curve"}),
    "another's key": by_stranger(),
    "another's key under another name": by_stranger(kid="stranger"),
    "kid missing": lambda o: signed({"alg": "RS256"}, good(o)),
    "kid empty": with_header(kid=""),
    "kid is a number": with_header(kid=1),
    "kid is a list": with_header(kid=["first"]),
    "kid is a path": by_stranger(kid="../../../../dev/null"),
    "kid is SQL": by_stranger(kid="first' UNION SELECT 'x' --"),
    "kid of a curve": lambda o: signed({"kid": "curve", "alg": "RS256"}, good(o)),
    "kid of a key that is for encryption": lambda o: signed({"kid": "enc", "alg": "RS256"}, good(o), a_key("enc")),
    "kid of a weak key": lambda o: signed({"kid": "weak", "alg": "RS256"}, good(o), a_key("weak", 1024)),
    "jku": by_stranger(jku="https://evil.example/keys", kid="stranger"),
    "jku beside a right signature": with_header(jku="https://appleid.apple.com/auth/keys"),
    "x5u": by_stranger(x5u="https://evil.example/cert.pem"),
    "jwk": by_stranger(jwk=STRANGERS, kid="stranger"),
    "x5c": by_stranger(x5c=["MIIB"]),
    "crit": with_header(crit=["exp"]),
    "b64": with_header(b64=False),
    "issuer of somebody else": with_claims(iss="https://accounts.google.com"),
    "issuer with a slash": with_claims(iss="https://appleid.apple.com/"),
    "issuer missing": without("iss"),
    "issuer is a list": with_claims(iss=["https://appleid.apple.com"]),
    "for another app": with_claims(aud="com.evil.app"),
    "for our app and another": with_claims(aud=[CLIENT, "com.evil.app"]),
    "for nobody": without("aud"),
    "for our app in other letters": with_claims(aud=CLIENT.upper()),
    "subject missing": without("sub"),
    "subject empty": with_claims(sub=""),
    "subject is a number": with_claims(sub=42),
    "subject without end": with_claims(sub="0" * 256),
    "expired": in_seconds(exp=-1, iat=-300),
    "expiry missing": without("exp"),
    "expiry is a text": with_claims(exp="9999999999"),
    "expiry is true": with_claims(exp=True),
    "expiry beyond all calendars": with_claims(exp=10**30),
    "issued in the future": in_seconds(iat=3600, exp=7200),
    "issued too long ago": in_seconds(iat=-601, exp=80_000),
    "issue missing": without("iat"),
    "issue is a fraction": with_claims(iat=time.time()),
    "not yet": in_seconds(nbf=3600),
    "not before a text": with_claims(nbf="now"),
    "issuer twice": lambda o: signed(HEADER, twice(o, "iss", "https://appleid.apple.com", "https://appleid.apple.com")),
    "subject twice": lambda o: signed(HEADER, twice(o, "sub", "000123.victim.0042", "000123.thief.0042")),
    "algorithm twice": lambda o: signed(b'{"kid": "first", "alg": "none", "alg": "RS256"}', good(o)),
    "claims are a list": lambda _: signed(HEADER, b"[]"),
    "claims are no JSON": lambda _: signed(HEADER, b"sub=ana"),
    "claims are deep": lambda _: signed(HEADER, b"[" * 2500 + b"]" * 2500),
    "header is deep": lambda o: signed(b'{"alg":' * 700 + b"1" + b"}" * 700, good(o)),
    "cut off": lambda o: o.token(email=an_email(), email_verified=True)[:-1],
    "without a signature": lambda o: signed(HEADER, good(o)).rpartition(".")[0] + ".",
    "two parts": lambda o: signed(HEADER, good(o)).rpartition(".")[0],
    "five parts": lambda o: signed(HEADER, good(o)) + ".a.b",
    "with a space": lambda o: " " + signed(HEADER, good(o)),
    "with padding": lambda o: signed(HEADER, good(o)) + "==",
    "claims of one, signature of another": lambda o: ".".join(
        [*signed(HEADER, good(o)).split(".")[:2], signed(HEADER, good(o)).split(".")[2]]
    ),
    "words": lambda _: "a.b.c",
}


@pytest.mark.covers("IDN-019")
@pytest.mark.parametrize("name", FORGED)
async def test_a_token_that_is_not_apples_for_us_now_opens_nothing(application, superuser, orchard, name: str) -> None:
    orchard.keys += [
        {**json.loads(jwt.algorithms.ECAlgorithm.to_jwk(a_curve_key().public_key())), "kid": "curve", "alg": "ES256"},
        published(a_key("enc"), "enc", use="enc"),
        published(a_key("weak", 1024), "weak"),
    ]
    token = FORGED[name](orchard)
    before = await superuser.fetchval("SELECT count(*) FROM identity.identity")
    assert await shown(application, token) == "APPLE_IDENTITY_INVALID"
    assert await superuser.fetchval("SELECT count(*) FROM identity.identity") == before, "and nothing is written"


@pytest.mark.covers("IDN-019")
@pytest.mark.parametrize("audience", [CLIENT, OTHER_CLIENT])
async def test_a_token_that_apple_signed_for_us_signs_up(application, orchard, audience: str) -> None:
    assert await shown(application, signed(HEADER, good(orchard) | {"aud": audience})) == "IN"


async def test_clocks_may_differ_by_a_little(application, orchard) -> None:
    assert await shown(application, in_seconds(iat=30, nbf=30)(orchard)) == "IN"


@pytest.mark.parametrize(
    ("asked", "said", "outcome"),
    [
        (None, None, "IN"),
        ("raw", nonce_of("raw"), "IN"),
        ("raw", nonce_of("another"), "APPLE_IDENTITY_INVALID"),
        ("raw", "raw", "APPLE_IDENTITY_INVALID"),
        ("raw", None, "APPLE_IDENTITY_INVALID"),
        ("raw", 7, "APPLE_IDENTITY_INVALID"),
        (None, nonce_of("raw"), "APPLE_IDENTITY_INVALID"),
        (nonce_of("raw"), nonce_of("raw"), "APPLE_IDENTITY_INVALID"),
    ],
)
async def test_a_token_for_a_nonce_is_worth_nothing_without_it(application, orchard, asked, said, outcome) -> None:
    token = signed(HEADER, good(orchard, nonce=said))
    assert await shown(application, token, **({"nonce": asked} if asked else {})) == outcome


@pytest.mark.parametrize(("length", "refused"), [(9_000, "VALIDATION_FAILED"), (100_000, "REQUEST_TOO_LARGE")])
async def test_what_is_too_long_is_not_even_looked_at(application, orchard, length: int, refused: str) -> None:
    assert await shown(application, orchard.token(padding="x" * length)) == refused
    assert orchard.asked == 0


async def test_an_empty_token_is_missing(application, orchard) -> None:
    ana = await an_account(application)
    assert await shown(application, "") == "APPLE_IDENTITY_MISSING"
    assert (await ana.post("apple/link")).json()["errorCode"] == "APPLE_IDENTITY_MISSING"
    assert orchard.asked == 0


# -- Keys


async def test_keys_are_asked_for_once_an_hour(application, orchard) -> None:
    for at, asked in ((0, 1), (1800, 1), (3599, 1), (3600, 2)):
        orchard.at = 1000 + at
        assert await shown(application, signed(HEADER, good(orchard))) == "IN"
        assert orchard.asked == asked


async def test_a_key_that_apple_takes_back_is_gone_within_the_hour(application, orchard) -> None:
    assert await shown(application, signed(HEADER, good(orchard))) == "IN"
    orchard.keys = [published(a_key("second"), "second")]
    orchard.at += 3600
    assert await shown(application, signed(HEADER, good(orchard))) == "APPLE_IDENTITY_INVALID"


async def test_a_new_key_is_looked_for_at_most_once_a_minute(application, orchard) -> None:
    assert await shown(application, signed(HEADER, good(orchard))) == "IN"
    orchard.keys.append(published(a_key("second"), "second"))
    new = signed({"kid": "second", "alg": "RS256"}, good(orchard), a_key("second"))
    orchard.at += 59
    for _ in range(5):
        assert await shown(application, new) == "APPLE_IDENTITY_INVALID"
    assert orchard.asked == 1, "whoever invents keys does not make us ask"
    orchard.at += 1
    assert await shown(application, new) == "IN"
    assert await shown(application, signed(HEADER, good(orchard))) == "IN", "and the former one goes on"
    assert orchard.asked == 2


async def test_the_same_name_with_another_key_is_the_other_key(application, orchard) -> None:
    assert await shown(application, signed(HEADER, good(orchard))) == "IN"
    orchard.keys = [published(a_key("second"), "first")]
    orchard.at += 3600
    assert await shown(application, signed(HEADER, good(orchard))) == "APPLE_IDENTITY_INVALID"
    assert await shown(application, signed(HEADER, good(orchard), a_key("second"))) == "IN"


async def test_many_who_come_at_once_ask_apple_once(application, orchard) -> None:
    tokens = [signed(HEADER, good(orchard)) for _ in range(8)]
    assert set(await asyncio.gather(*(shown(application, token) for token in tokens))) == {"IN"}
    assert orchard.asked == 1


@pytest.mark.parametrize(
    "broken",
    [
        {"status": 500},
        {"status": 503},
        {"status": 404},
        {"status": 302},
        {"behaves": "resets"},
        {"body": b""},
        {"body": b"<html>"},
        {"body": b"[]"},
        {"body": b'{"keys": {}}'},
        {"body": b'{"keys": []}'},
        {"body": b'{"keys": [{"kty": "RSA", "kid": "first"}]}'},
        {"body": b'{"keys": [{"kty": "RSA", "kid": "first", "n": 3, "e": []}]}'},
        {"body": b'{"keys": [null, 1, "x", {"kty": "EC", "kid": "first"}]}'},
        {"body": b"[" * 100_000},
        {"body": b"x" * 1_100_000},
    ],
    ids=lambda broken: str(broken)[:40],
)
async def test_while_apple_cannot_be_asked_everybody_is_told_to_try_again(
    application, superuser, orchard, broken
) -> None:
    for name, value in broken.items():
        setattr(orchard, name, value)
    before = await superuser.fetchval("SELECT count(*) FROM identity.identity")
    token = signed(HEADER, good(orchard))
    answer = await Visitor(application).post("apple/sign-in", identityToken=token)
    assert (answer.status_code, answer.json()["retryable"]) == (503, True)
    assert await superuser.fetchval("SELECT count(*) FROM identity.identity") == before
    orchard.status, orchard.behaves, orchard.body = 200, "well", None
    assert await shown(application, token) == "IN", "it is not held against anybody"


async def test_when_apple_keeps_failing_it_is_left_alone(application, orchard) -> None:
    orchard.status = 500
    token = signed(HEADER, good(orchard))
    codes = [await shown(application, token) for _ in range(7)]
    assert codes[0] == "APPLE_UNAVAILABLE" and codes[-1] == "DEPENDENCY_UNAVAILABLE"
    assert orchard.asked == 5


async def test_whoever_is_known_while_apple_is_away_comes_in_by_the_keys_we_have(application, orchard) -> None:
    assert await shown(application, signed(HEADER, good(orchard))) == "IN"
    orchard.behaves = "resets"
    orchard.at += 1800
    assert await shown(application, signed(HEADER, good(orchard))) == "IN"


def test_a_private_key_or_a_key_without_a_name_is_no_published_key() -> None:
    key = published(a_key("first"), "first")
    document = {"keys": [{**key, "d": "AQAB"}, {**key, "kid": None}, {**key, "alg": "PS256"}, {**key, "kid": "good"}]}
    assert list(keys_of(json.dumps(document).encode())) == ["good"]


# -- Where nobody configured an app


async def test_without_an_app_at_apple_nobody_signs_in_with_it(application) -> None:
    ana = await an_account(application)
    assert await shown(application, "a.b.c") == "FEATURE_DISABLED"
    assert (await ana.post("apple/link", identityToken="a.b.c")).json()["errorCode"] == "FEATURE_DISABLED"


def test_apple_is_configured_by_the_ids_of_our_apps(tmp_path, application) -> None:
    keys = (APPLE_CLIENT_IDS, APPLE_KEYS_URL)
    home = {"ADMITONE_DATA": str(tmp_path)}
    assert isinstance(Apple.of(Config.load(home, keys), application.outbound), NoApple)
    assert isinstance(Apple.of(Config.load({**home, "APPLE_CLIENT_IDS": "a, b"}, keys), application.outbound), Apple)
    for wrong in ({"APPLE_CLIENT_IDS": "a,,b"}, {"APPLE_KEYS_URL": "http://appleid.apple.com/auth/keys"}):
        with pytest.raises(ConfigurationProblem):
            Config.load({**home, **wrong}, keys)
