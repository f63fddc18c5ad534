"""Sessions over HTTP: refreshed, shown, left.

Promise: refreshing is the only thing that makes cookies of tokens (IDN-014); they are HttpOnly, and the refresh
token goes nowhere but to the auth API. Only our own pages may send them with a change: `kernel.contracts.credentials`.
"""

from html import escape
from typing import Annotated, Final
from urllib.parse import quote

from msgspec import Meta

from admitone.foundation.authority.api import (
    ACCESS_LASTS,
    REFRESH_LASTS,
    InvalidSession,
    JustRenewed,
    Opened,
    Refresh,
    rotate,
)
from admitone.foundation.identity.commands import accounts
from admitone.foundation.identity.commands.accounts import ProfileChange, SignOut
from admitone.foundation.identity.errors import IdentityNotFound, MissingTokens
from admitone.foundation.identity.routes.wire import (
    AN_EMAIL,
    AUTH_PATH,
    HINT_COOKIE,
    REFRESH_COOKIE,
    REFRESHES_PER_ADDRESS,
    SCOPE,
    SESSION_COOKIE,
    SOME_TOKENS,
    Named,
    Token,
    Tokens,
    auth_contract,
)
from admitone.kernel.commands import Command
from admitone.kernel.contracts import Audience, Call, Cookie, Example, Html, Instant, Redirect, Wire, Writes
from admitone.kernel.db import PeopleTx
from admitone.kernel.ids import IdentityId
from admitone.kernel.words import Language

ACCESS_SECONDS: Final = int(ACCESS_LASTS.total_seconds())
REFRESH_SECONDS: Final = int(REFRESH_LASTS.total_seconds())
COOKIES: Final = (SESSION_COOKIE, REFRESH_COOKIE, HINT_COOKIE)
SIGN_IN_PAGE: Final = "/sign-in"
RESUME_PATH: Final = "/api/auth/resume"
refresh_sessions: Command[PeopleTx, Refresh, Opened] = Command(rotate, name="identity.refresh", outcome=Opened)


class RefreshRequest(Wire):
    """Without a token the cookie counts. `asCookies`: whether the new tokens come as cookies, or in the body."""

    refresh_token: Token | None = None
    as_cookies: bool = True


class ResumeRequest(Wire):
    next: Annotated[str, Meta(max_length=2000)] = "/"
    """The page of ours that one was on the way to."""
    again: bool = False
    """Whether a page of ours led here."""


class Refreshed(Wire):
    identity_id: IdentityId
    access_expires_at: Instant
    language: Language
    """In which they are spoken to, whatever this browser likes best."""
    tokens: Tokens | None = None
    """Only when they did not come as cookies."""


class Me(Wire):
    identity_id: IdentityId
    email: str
    email_verified: bool
    display_name: str | None
    language: Language
    has_password: bool
    has_second_factor: bool
    """By what one can prove again that it is oneself; else by a code that is sent."""


class ProfileRequest(Named):
    language: Language | None = None


class LogoutRequest(Wire):
    everywhere: bool = False


class SignedOut(Wire):
    ok: bool = True


ME: Final = Me(
    identity_id=SOME_TOKENS.identity_id,
    email=AN_EMAIL,
    email_verified=True,
    display_name="Ana",
    language=Language.PORTUGUESE,
    has_password=True,
    has_second_factor=False,
)

refresh = auth_contract(
    "REFRESH",
    "Exchange a refresh token for new ones; a token that is shown twice ends its session.",
    post="/api/auth/refresh",
    takes=RefreshRequest,
    gives=Refreshed,
    refuses=(MissingTokens, InvalidSession, IdentityNotFound),
    limits=(REFRESHES_PER_ADDRESS,),
    sets_cookies=COOKIES,
    examples=(
        Example(
            "As cookies",
            takes=RefreshRequest(refresh_token=SOME_TOKENS.refresh_token),
            gives=Refreshed(
                identity_id=SOME_TOKENS.identity_id,
                access_expires_at=SOME_TOKENS.access_expires_at,
                language=Language.PORTUGUESE,
            ),
        ),
        Example("Spent", takes=RefreshRequest(refresh_token="refresh_0_?"), refuses=InvalidSession()),  # noqa: S106
    ),
)

resume = auth_contract(
    "RESUME",
    "For pages: go on where one was, with new cookies while there is a session to go on with.",
    get=RESUME_PATH,
    takes=ResumeRequest,
    writes=Writes.PAGE,
    limits=(REFRESHES_PER_ADDRESS,),
    sets_cookies=COOKIES,
)

me = auth_contract(
    "ME",
    "Who is signed in.",
    get="/api/auth/me",
    gives=Me,
    audience=Audience.PERSON,
    refuses=(IdentityNotFound,),
    examples=(Example("Ana", gives=ME),),
)

change_profile = auth_contract(
    "PROFILE",
    "Change what one is called, and in which language one is written to.",
    patch="/api/auth/me",
    takes=ProfileRequest,
    gives=Me,
    audience=Audience.PERSON,
    refuses=(IdentityNotFound,),
    examples=(Example("Ana", takes=ProfileRequest(display_name="Ana"), gives=ME),),
)

logout = auth_contract(
    "LOGOUT",
    "End this session, or all of them.",
    post="/api/auth/logout",
    takes=LogoutRequest,
    gives=SignedOut,
    audience=Audience.PERSON,
    sets_cookies=COOKIES,
    examples=(Example("Out", takes=LogoutRequest(), gives=SignedOut()),),
)

clear = auth_contract(
    "CLEAR",
    "Take the cookies away, also those of a session that has ended.",
    post="/api/auth/clear",
    gives=SignedOut,
    sets_cookies=COOKIES,
    examples=(Example("Clear", gives=SignedOut()),),
)

CONTRACTS = (refresh, resume, me, change_profile, logout, clear)


@refresh.serves
async def serve_refresh(call: Call, request: RefreshRequest) -> Refreshed:
    token = request.refresh_token or call.cookies.get(REFRESH_COOKIE)
    if not token:
        raise MissingTokens
    opened = await call.batch(refresh_sessions, Refresh(call.caller, token), scope=SCOPE)
    if request.as_cookies:
        _keep(call, opened)
    found = await call.batch(accounts.show, opened.identity, scope=SCOPE)
    return Refreshed(
        identity_id=opened.identity,
        access_expires_at=opened.access_expires_at,
        language=found.profile.language,
        tokens=None if request.as_cookies else Tokens.of(opened),
    )


@resume.serves
async def serve_resume(call: Call, request: ResumeRequest) -> Redirect | Html:
    back = Redirect.within(request.next)
    named = quote(back.location, safe="")
    try:
        await serve_refresh(call, RefreshRequest())
    except MissingTokens:
        return _without_a_token(call, named, again=request.again)
    except JustRenewed:
        # Another page of theirs was quicker: its cookies are on their way.
        return _in_a_moment(call, back.location, seconds=1)
    except InvalidSession:
        _clear(call)
        return Redirect(f"{SIGN_IN_PAGE}?next={named}")
    return back


def _without_a_token(call: Call, named: str, *, again: bool) -> Redirect | Html:
    """Whom another site led here (a letter, a provider's page) has the strict cookie once a page of ours leads them, so
    that its absence ends no session. Where a page of ours did, only the word that there is one is taken back, or it
    would be asked for ever."""
    if HINT_COOKIE in call.cookies:
        # `again` stands in an address that anybody can write; where the way began, the browser says.
        if not again or call.headers.get("sec-fetch-site") == "cross-site":
            return _in_a_moment(call, f"{RESUME_PATH}?next={named}&again=true", seconds=0)
        call.set_cookie(Cookie(HINT_COOKIE, "", 0))
    return Redirect(f"{SIGN_IN_PAGE}?next={named}")


def _in_a_moment(call: Call, location: str, seconds: int) -> Html:
    """A step of our own, without a script and without a style."""
    said, where = escape(call.words.say("One moment.")), escape(location, quote=True)
    return Html(
        f'<!doctype html>\n<html lang="{call.words.language.tag}"><head><meta charset="utf-8"><title>{said}</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta http-equiv="refresh" content="{seconds};url={where}"></head>'
        f'<body><main><p><a href="{where}">{said}</a></p></main></body></html>\n'
    )


def _keep(call: Call, opened: Opened) -> None:
    call.set_cookie(Cookie(SESSION_COOKIE, opened.access_token, ACCESS_SECONDS))
    call.set_cookie(Cookie(HINT_COOKIE, str(opened.identity), REFRESH_SECONDS))
    strictly = Cookie(REFRESH_COOKIE, opened.refresh_token, REFRESH_SECONDS, AUTH_PATH, same_site="Strict")
    call.set_cookie(strictly)


@me.serves
async def serve_me(call: Call) -> Me:
    assert call.identity is not None
    return _me(await call.batch(accounts.show, call.identity, scope=SCOPE))


def _me(found: accounts.Me) -> Me:
    return Me(
        identity_id=found.identity,
        email=found.profile.email,
        email_verified=found.is_verified,
        display_name=found.profile.display_name,
        language=found.profile.language,
        has_password=found.proofs.has_password,
        has_second_factor=found.proofs.has_authenticator,
    )


@change_profile.serves
async def serve_change_profile(call: Call, request: ProfileRequest) -> Me:
    assert call.identity is not None
    change = ProfileChange(call.identity, request.display_name, request.language)
    await call.batch(accounts.change_profile, change, scope=SCOPE)
    return _me(await call.batch(accounts.show, call.identity, scope=SCOPE))


@logout.serves
async def serve_logout(call: Call, request: LogoutRequest) -> SignedOut:
    assert call.identity is not None
    assert call.credential is not None
    await call.batch(accounts.sign_out, SignOut(call.identity, call.credential, request.everywhere), scope=SCOPE)
    _clear(call)
    return SignedOut()


@clear.serves
async def serve_clear(call: Call) -> SignedOut:
    _clear(call)
    return SignedOut()


def _clear(call: Call) -> None:
    call.set_cookie(Cookie(SESSION_COOKIE, "", 0))
    call.set_cookie(Cookie(HINT_COOKIE, "", 0))
    call.set_cookie(Cookie(REFRESH_COOKIE, "", 0, AUTH_PATH, same_site="Strict"))
