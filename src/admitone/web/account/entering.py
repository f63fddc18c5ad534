"""From a proof to a session: the tokens become cookies, and the person comes to where they were going, in their own
language, whoever sat at this browser before."""

from typing import Final

from admitone.foundation.identity.routes import sessions
from admitone.foundation.identity.routes.sessions import COOKIES, RefreshRequest
from admitone.foundation.identity.routes.wire import DEVICE_COOKIE, Tokens
from admitone.kernel.contracts import Call, Cookie, Redirect
from admitone.kernel.contracts.incoming import LANGUAGE_COOKIE
from admitone.web.language import A_YEAR_SECONDS

SETS: Final = (*COOKIES, DEVICE_COOKIE, LANGUAGE_COOKIE)
"""What somebody is given who comes in."""


async def enter(call: Call, tokens: Tokens, towards: str) -> Redirect:
    known = await call.ask(sessions.refresh, RefreshRequest(refresh_token=tokens.refresh_token))
    call.set_cookie(Cookie(LANGUAGE_COOKIE, known.language.tag, A_YEAR_SECONDS))
    return Redirect.within(towards)
