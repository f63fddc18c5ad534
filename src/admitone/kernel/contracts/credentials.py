"""With what a request proves who sends it.

Promise: one credential per request, from the Authorization header or the session cookie; a cookie counts for an
unsafe request only when our own pages sent it; the internal secret is compared in constant time.
"""

import hmac
from typing import Final

from admitone.kernel.contracts.incoming import Incoming
from admitone.kernel.contracts.refusals import CredentialsDisagree, CrossSiteRequest, InternalOnly
from admitone.kernel.errors import Unauthenticated

LONGEST_CREDENTIAL: Final = 512
INTERNAL_HEADER = b"x-orya-internal-secret"
_OUR_OWN = (b"same-origin", b"none")


def credential_of(incoming: Incoming, session_cookie: str) -> str | None:
    """The bearer token or the session, if there is any."""
    bearer = _bearer(incoming)
    session = _session(incoming, session_cookie) if b"cookie" in incoming.headers else None
    if bearer and session and bearer != session:
        raise CredentialsDisagree()
    if session and not bearer and not incoming.is_safe:
        refuse_cross_site(incoming, silent_is_ours=False)
    credential = bearer or session
    if credential and not (len(credential) <= LONGEST_CREDENTIAL and credential.isascii() and credential.isprintable()):
        raise Unauthenticated()
    return credential


def _bearer(incoming: Incoming) -> str | None:
    given = incoming.headers.get(b"authorization")
    if given is None:
        return None
    scheme, _, token = given.decode("latin-1").partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise Unauthenticated()
    return token.strip()


def _session(incoming: Incoming, session_cookie: str) -> str | None:
    sessions = {value for name, value in incoming.cookies() if name == session_cookie and value}
    if len(sessions) > 1:
        raise CredentialsDisagree()
    return sessions.pop() if sessions else None


def refuse_cross_site(incoming: Incoming, *, silent_is_ours: bool) -> None:
    """Browsers say where a request comes from. Who says nothing is no browser, so its cookie proves nothing."""
    site = incoming.headers.get(b"sec-fetch-site")
    origin = incoming.headers.get(b"origin")
    if site in _OUR_OWN or (site is None and origin is None and silent_is_ours):
        return
    ours = incoming.scheme.encode() + b"://" + incoming.headers.get(b"host", b"")
    if site is not None or origin != ours:
        raise CrossSiteRequest()


def refuse_outsiders(incoming: Incoming, internal_secret: str) -> None:
    given = incoming.headers.get(INTERNAL_HEADER, b"")
    if not internal_secret or not hmac.compare_digest(given, internal_secret.encode()):
        raise InternalOnly()
