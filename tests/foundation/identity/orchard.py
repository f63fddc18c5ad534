"""Apple as we see it: keys behind a real HTTP server, and tokens that it, or somebody else, signed."""

import asyncio
import base64
import hashlib
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from admitone.entrypoints.http import Application
from admitone.foundation.identity.apple import ISSUER
from admitone.foundation.identity.port import APPLE, Apple
from admitone.kernel.breaker import Dependency
from admitone.kernel.ids import IdentityId, uuid7
from tests.foundation.identity.visitors import Visitor
from tests.peer import BEHAVIOURS, Peer, Received, a_peer, hang, reset, send

CLIENT = "org.admitone.app"
OTHER_CLIENT = "org.admitone.web"


@cache
def a_key(name: str, bits: int = 2048) -> rsa.RSAPrivateKey:
    """The same for the same name: they take a while to make."""
    assert name
    return rsa.generate_private_key(public_exponent=65537, key_size=bits)


@cache
def a_curve_key() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def public_pem(key: rsa.RSAPrivateKey) -> bytes:
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    return key.public_key().public_bytes(serialization.Encoding.PEM, form)


def published(key: rsa.RSAPrivateKey, kid: str, **said: Any) -> dict[str, Any]:
    jwk = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(key.public_key()))
    jwk.pop("key_ops", None)
    return {**jwk, "kid": kid, "use": "sig", "alg": "RS256", **said}


def coded(part: bytes | dict[str, Any]) -> str:
    plain = part if isinstance(part, bytes) else json.dumps(part).encode()
    return base64.urlsafe_b64encode(plain).rstrip(b"=").decode()


def signed(header: bytes | dict[str, Any], claims: bytes | dict[str, Any], key: rsa.RSAPrivateKey | None = None) -> str:
    """By RS256, whatever the header says."""
    body = f"{coded(header)}.{coded(claims)}"
    signature = jwt.algorithms.RSAAlgorithm(jwt.algorithms.RSAAlgorithm.SHA256).sign(
        body.encode(), key or a_key("first")
    )
    return f"{body}.{coded(signature)}"


@dataclass
class Orchard:
    """Publishes its first key; a test changes what is published, or breaks the server."""

    peer: Peer
    keys: list[Any] = field(default_factory=lambda: [published(a_key("first"), "first")])
    status: int = 200
    behaves: str = "well"
    body: bytes | None = None
    at: float = 1000.0
    """What the clock of the cache shows."""

    async def answer(self, request: Received, writer: asyncio.StreamWriter) -> bool:
        if self.behaves != "well":
            return await {"hangs": hang, "resets": reset}[self.behaves](request, writer)
        body = self.body if self.body is not None else json.dumps({"keys": self.keys}).encode()
        return await send(writer, body, "Content-Type: application/json", status=self.status)

    @property
    def asked(self) -> int:
        return len(self.peer.received)

    def claims(self, **said: Any) -> dict[str, Any]:
        now = int(time.time())
        usual = {"iss": ISSUER, "aud": CLIENT, "sub": f"000123.{uuid7().hex}.0042", "iat": now, "exp": now + 86400}
        return {name: value for name, value in {**usual, **said}.items() if value is not None}

    def token(self, kid: str = "first", *, key: rsa.RSAPrivateKey | None = None, **said: Any) -> str:
        return signed({"kid": kid, "alg": "RS256"}, self.claims(**said), key)


@asynccontextmanager
async def an_orchard(application: Application) -> AsyncIterator[Orchard]:
    """With a breaker of its own, so that tests do not hear of each other's outages."""
    path = f"/keys-{uuid7().hex}"
    async with a_peer() as peer:
        orchard = Orchard(peer)
        BEHAVIOURS[path] = orchard.answer
        apple = Apple(
            {CLIENT, OTHER_CLIENT},
            peer.url(path),
            application.outbound,
            dependency=Dependency(f"apple_{uuid7().hex}"),
            clock=lambda: orchard.at,
        )
        with APPLE.wired(apple):
            yield orchard
        del BEHAVIOURS[path]


def nonce_of(raw: str) -> str:
    return hashlib.sha256(raw.encode()).hexdigest()


def a_subject() -> str:
    return f"000123.{IdentityId.new()}.0042"


async def signs_in(application: Application, token: str, **more: Any) -> Any:
    """Who it is, or the code of the refusal."""
    answer = await Visitor(application).post("apple/sign-in", identityToken=token, **more)
    return IdentityId.parse(answer.json()["identityId"]) if answer.is_success else answer.json()["errorCode"]
