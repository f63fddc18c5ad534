"""What is almost a credential is none: every forgery gets the same answer, which tells nothing."""

import base64
import hashlib
import hmac
import json
from collections.abc import Iterator
from datetime import timedelta

import asyncpg
import httpx
import pytest

from admitone.foundation.authority import api as authority
from admitone.foundation.authority.api import EndReason, Method, Opened, Opening, Refresh, TableAuthority
from admitone.foundation.authority.store.reading import RESOLVE
from admitone.kernel.authority import Audience, AuthorityReader
from admitone.kernel.batch import Batcher
from admitone.kernel.clock import Clock
from admitone.kernel.crypto import digest_of, new_secret
from admitone.kernel.db import Database, PeopleTx
from admitone.kernel.errors import Unavailable
from admitone.kernel.ids import IdentityId, OrganizationId
from admitone.kernel.scope import Caller, PeopleScope
from tests.foundation.authority.shop import an_ask, code_of, visit
from tests.people import a_person, an_organization_of

PEOPLE = PeopleScope("test")


async def opened(database: Database, identity: IdentityId) -> Opened:
    [session] = await database.run(
        PEOPLE, lambda tx: authority.open_sessions(tx, [Opening(identity, Method.PASSWORD, tx.now)])
    )
    return session


async def dead_tokens(database: Database, database_url: str, identity: IdentityId) -> Iterator[tuple[str, str]]:
    """Tokens that were good once, or are good for something else."""
    live, ended, rotated = [await opened(database, identity) for _ in range(3)]
    async with Database(database_url, clock=Clock(timedelta(minutes=-16))) as a_while_ago:
        expired = await opened(a_while_ago, identity)

    async def end(tx: PeopleTx) -> None:
        await authority.end_sessions(tx, [ended.session.uuid], EndReason.LOGOUT)
        await authority.rotate(tx, [Refresh(Caller(), rotated.refresh_token)])

    await database.run(PEOPLE, end)
    return iter(
        [
            ("a refresh token", live.refresh_token),
            ("a refresh token that calls itself an access token", live.refresh_token.replace("refresh", "access")),
            ("of a session that ended", ended.access_token),
            ("the refresh token of a session that ended", ended.refresh_token),
            ("of before the rotation", rotated.access_token),
            ("a spent refresh token", rotated.refresh_token),
            ("expired", expired.access_token),
            ("expired, to refresh", expired.refresh_token),
            ("the id of a session", str(live.session)),
            ("the bare id of a session", live.session.uuid.hex),
            ("the id of a person", str(identity)),
            ("a digest", digest_of(live.access_token).hex()),
            ("a digest in base64", base64.b64encode(digest_of(live.access_token)).decode()),
        ]
    )


def bent(token: str) -> Iterator[tuple[str, str | bytes]]:
    """A good token, bent."""
    kind, owner, secret = token.split("_")
    yield from ((f"{cut} characters short", token[:-cut]) for cut in (1, 2, 20, 40, 41))
    yield from ((f"{cut} characters late", token[cut:]) for cut in (1, 7, 8))
    yield from (
        (f"{sign!r} at the end", token + sign) for sign in ("0", "=", ".", "\0", "%00", ";", ",", "'", '"', "\t0")
    )
    yield from ((f"{sign!r} at the beginning", sign + token) for sign in ("0", "'", "\0", "\\", "Bearer "))
    yield "twice", token + token
    yield "twice, by comma", f"{token}, {token}"
    yield "in quotes", f'"{token}"'
    yield "in upper case", token.upper()
    yield "the secret in upper case", f"{kind}_{owner}_{secret.upper()}"
    yield "the kind in upper case", f"{kind.upper()}_{owner}_{secret}"
    yield from ((f"as a {other}", f"{other}_{owner}_{secret}") for other in ("refresh", "key", "scan", "session", ""))
    yield "of an organisation", f"{kind}_{OrganizationId.new().uuid.hex}_{secret}"
    yield "the secret alone", secret
    yield "one digit changed", token[:-1] + ("0" if token[-1] != "0" else "1")
    yield "the digits backwards", f"{kind}_{owner}_{secret[::-1]}"
    yield "NUL inside", token[:20] + "\0" + token[20:]
    yield "a line break inside", token[:20] + "\n" + token[20:]
    yield "ten thousand characters", token + "0" * 10_000
    yield "in base64", base64.b64encode(token.encode()).decode()
    yield "escaped", "".join(f"%{ord(sign):02x}" for sign in token)
    yield "in full width", "".join(chr(ord(sign) + 0xFEE0) if sign.isalnum() else sign for sign in token).encode()
    yield "with a zero width space", (token[:9] + "\u200b" + token[9:]).encode()
    yield "with a Cyrillic letter", token.replace("a", "а", 1).encode()
    yield "no UTF-8 at all", token.encode() + b"\xff\xfe"
    yield "a pattern", "%"
    yield "SQL", "' OR 1=1 --"
    yield "nothing known", "x"
    yield "a fresh one that nobody has", new_secret("access", None).text


def b64(value: object) -> str:
    plain = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(plain).rstrip(b"=").decode()


def jwt(header: dict[str, object], claims: dict[str, object], key: bytes | None = None) -> str:
    body = f"{b64({'typ': 'JWT', **header})}.{b64(claims)}"
    return f"{body}.{b64(hmac.digest(key, body.encode(), hashlib.sha256)) if key is not None else ''}"


def forged(identity: IdentityId, club: OrganizationId) -> Iterator[tuple[str, str]]:
    """What other systems would believe."""
    claims: dict[str, object] = {
        "sub": str(identity), "role": "OWNER", "orgId": str(club), "aud": "admitone", "iss": "admitone",
        "exp": 4_102_444_800, "iat": 1, "cities": ["*"],
    }  # fmt: skip
    yield from ((f"alg {name!r}", jwt({"alg": name}, claims)) for name in ("none", "None", "NONE", "nOnE", "", "HS256"))
    for secret in (b"", b"secret", b"a key for toys, known to everybody", b"-----BEGIN PUBLIC KEY-----"):
        yield f"HS256 by {secret!r}", jwt({"alg": "HS256"}, claims, secret)
    yield "RS256 signed as HS256", jwt({"alg": "RS256"}, claims, b"-----BEGIN PUBLIC KEY-----\n")
    for name in ("RS256", "ES256", "PS512", "EdDSA"):
        yield f"{name} by chance", jwt({"alg": name}, claims, b"chance")
    for kid in ("../../../../dev/null", "/dev/null", "x' UNION SELECT 'key", "file:///etc/passwd", "\0", "1"):
        yield f"kid {kid!r}", jwt({"alg": "HS256", "kid": kid}, claims, b"")
    for name in ("jku", "x5u"):
        yield name, jwt({"alg": "RS256", name: "https://evil.example/keys"}, claims, b"")
    yield "jwk", jwt({"alg": "HS256", "jwk": {"kty": "oct", "k": b64(b"k")}}, claims, b"k")
    yield "crit", jwt({"alg": "HS256", "crit": ["exp"], "b64": False}, claims, b"k")
    yield "expired", jwt({"alg": "none"}, {**claims, "exp": 1})
    yield "duplicated claims", ".".join((b64({"alg": "none"}), b64(b'{"sub":"a","sub":"b"}'), ""))
    yield "no claims", f"{b64({'alg': 'none'})}.."
    yield "three dots", "..."
    yield "encrypted", "eyJhbGciOiJkaXIiLCJlbmMiOiJBMTI4R0NNIn0..AAAAAAAAAAAAAAAA.AAAA.AAAAAAAAAAAAAAAAAAAAAA"


async def answer_to(street: httpx.AsyncClient, path: str, authorization: str | bytes) -> tuple[int, dict[str, object]]:
    value = authorization if isinstance(authorization, bytes) else authorization.encode("latin-1")
    answer = await street.post(path, json={}, headers=[(b"authorization", value)])
    body = answer.json()
    correlation = body.pop("correlationId")
    assert correlation == answer.headers["x-correlation-id"]
    return answer.status_code, body


@pytest.mark.covers("ORG-023", "TEN-T06")
async def test_every_forgery_is_nobody_and_learns_nothing(
    street: httpx.AsyncClient, database: Database, database_url: str
):
    owner = await a_person(database)
    club = await an_organization_of(database, owner)
    nobody = await street.post("/api/shop/me", json={})
    expected = (401, {key: value for key, value in nobody.json().items() if key != "correlationId"})
    cases: list[tuple[str, str | bytes]] = [
        *await dead_tokens(database, database_url, owner.identity),
        *bent(owner.access_token),
        *forged(owner.identity, club),
    ]
    assert len(cases) >= 90
    assert len({said for _, said in cases}) == len(cases)
    for path in ("/api/shop/me", f"/api/org/{club}/shop/events", "/api/shop/operate", "/api/shop/browse"):
        wrong = []
        for name, token in cases:
            said = b"Bearer " + (token if isinstance(token, bytes) else token.encode("latin-1"))
            if (told := await answer_to(street, path, said)) != expected:
                wrong.append((name, told))
        assert wrong == [], path
    assert code_of(await visit(street, "me", owner))[0] == 200, "and the token itself is still good"


@pytest.mark.parametrize(
    "authorization",
    ["", "Bearer", "Bearer ", "Basic {}", "Token {}", "bearer", "{}", "Digest {}", "Bearer\t{}", "Bearer{}"],
)
async def test_another_scheme_is_no_credential(street: httpx.AsyncClient, database: Database, authorization: str):
    token = (await a_person(database)).access_token
    status, body = await answer_to(street, "/api/shop/me", authorization.format(token))
    assert (status, body["errorCode"]) == (401, "UNAUTHENTICATED")


async def test_a_key_in_the_place_of_a_session_is_none(street: httpx.AsyncClient, database: Database):
    person = await a_person(database)
    club = await an_organization_of(database, person)
    made = await street.post(
        f"/api/org/{club}/service-keys",
        json={"label": "till", "scopes": ["EVENTS_R"], "reasonCode": "TEST", "idempotencyKey": "1"},
        headers=person.headers,
    )
    secret = made.json()["secret"]
    cookie = await street.post(
        "/api/shop/me", json={}, headers={"cookie": f"session={secret}", "sec-fetch-site": "none"}
    )
    assert code_of(cookie) == (401, "UNAUTHENTICATED")
    both = await street.post(
        "/api/shop/me", json={}, headers={"cookie": f"session={secret}", **person.headers, "sec-fetch-site": "none"}
    )
    assert both.status_code in (400, 401, 403)


# -- When it cannot be known, the answer is no


@pytest.mark.covers("INV-I09")
async def test_without_the_database_nobody_is_let_in(database: Database):
    person = await a_person(database)
    async with Database("postgresql://nobody@/nothing?host=/nonexistent") as away:
        reader = AuthorityReader(Batcher(away), TableAuthority())
        for ask in (
            an_ask(Audience.PERSON, person.access_token),
            an_ask(Audience.PUBLIC, stoppable=True),
            an_ask(Audience.PUBLIC, gate="wallet.passes"),
        ):
            with pytest.raises(Unavailable):
                await reader.ask(ask)


@pytest.mark.covers("INV-I09", "SAF-024")
@pytest.mark.parametrize("table", ["switch", "session", "group_member", "member_override", "module_entry", "branch"])
async def test_when_a_table_cannot_be_read_nobody_is_let_in(
    street: httpx.AsyncClient, database: Database, superuser: asyncpg.Connection, table: str
):
    owner = await a_person(database)
    club = await an_organization_of(database, owner)
    await superuser.execute(f"REVOKE SELECT ON authority.{table} FROM admitone_authority")
    try:
        answer = await visit(street, "publish", owner, at=club)
    finally:
        await superuser.execute(f"GRANT SELECT ON authority.{table} TO admitone_authority")
    assert answer.status_code >= 500, answer.text
    assert code_of(await visit(street, "publish", owner, at=club))[0] == 200
    assert table in RESOLVE
