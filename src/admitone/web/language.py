"""The language that a person chose: kept in a cookie, and with their profile where they are signed in."""

from typing import Final

from admitone.foundation.identity.routes import sessions
from admitone.foundation.identity.routes.sessions import ProfileRequest
from admitone.kernel.contracts import Call, Cookie, Redirect, Wire
from admitone.kernel.contracts.incoming import LANGUAGE_COOKIE
from admitone.kernel.words import choose
from admitone.web.form import Address, Typed
from admitone.web.page import page

A_YEAR_SECONDS: Final = 31_536_000


class LanguageRequest(Wire):
    language: Typed = ""
    next: Address = "/"


choose_language = page(
    "LANGUAGE",
    "Choose the language of the pages.",
    post="/language",
    takes=LanguageRequest,
    recognizes=True,
    sets_cookies=(LANGUAGE_COOKIE,),
)


@choose_language.serves
async def keep_language(call: Call, request: LanguageRequest) -> Redirect:
    chosen = choose(request.language)
    call.set_cookie(Cookie(LANGUAGE_COOKIE, chosen.tag, A_YEAR_SECONDS))
    if call.identity is not None:
        await call.ask(sessions.change_profile, ProfileRequest(language=chosen))
    return Redirect.within(request.next)


CONTRACTS: Final = (choose_language,)
