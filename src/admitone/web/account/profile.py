"""My account: who I am here, what I am called, in which language, and where I leave."""

from typing import Final

from admitone.foundation.identity.routes import sessions
from admitone.foundation.identity.routes.sessions import COOKIES, LogoutRequest, Me, ProfileRequest
from admitone.foundation.organizations.routes import organizations
from admitone.kernel.contracts import Audience, Call, Cookie, Html, PageRequest, Redirect, Wire
from admitone.kernel.contracts.incoming import LANGUAGE_COOKIE
from admitone.kernel.errors import Refusal
from admitone.kernel.words import Language
from admitone.web.account.again import refused
from admitone.web.form import Form, Typed, filled
from admitone.web.language import A_YEAR_SECONDS
from admitone.web.page import page, show
from admitone.web.speech import NAMES

TEMPLATE: Final = "account/account.html"
MOST_SHOWN: Final = 5
SAID_WORDS: Final[dict[str, str]] = {
    "profile": "Your profile was changed.",
    "email": "Your address was changed. Every other session has ended.",
    "password": "Your password was changed. Every other session has ended.",
    "authenticator": "The authenticator was taken away.",
}
"""What is said after a deed, by its name in the address."""


class AccountPage(Wire):
    done: Typed = ""


class ProfileForm(Wire):
    display_name: Typed = ""
    language: Typed = ""


account_page = page("ACCOUNT", "My account.", get="/account", takes=AccountPage, audience=Audience.PERSON)
change = page(
    "ACCOUNT.PROFILE",
    "Change what I am called, and my language.",
    post="/account",
    takes=ProfileForm,
    audience=Audience.PERSON,
    sets_cookies=(LANGUAGE_COOKIE,),
)
leave_everywhere = page(
    "ACCOUNT.SIGNOUT",
    "Sign out everywhere.",
    post="/account/sign-out",
    audience=Audience.PERSON,
    sets_cookies=COOKIES,
)


@account_page.serves
async def show_account(call: Call, request: AccountPage) -> Html:
    me = await call.ask(sessions.me)
    form = Form({"displayName": me.display_name or "", "language": me.language.value})
    return await _show(call, me, form, SAID_WORDS.get(request.done, ""))


@change.serves
async def change_profile(call: Call, form: ProfileForm) -> Html | Redirect:
    try:
        wanted = filled(ProfileRequest, display_name=form.display_name.strip(), language=form.language)
        me = await call.ask(sessions.change_profile, wanted)
    except Refusal as refusal:
        return await _show(call, await call.ask(sessions.me), refused(call, form, refusal))
    call.set_cookie(Cookie(LANGUAGE_COOKIE, me.language.tag, A_YEAR_SECONDS))
    return Redirect("/account?done=profile")


async def _show(call: Call, me: Me, form: Form, said: str = "") -> Html:
    places = await call.ask(organizations.mine, PageRequest(limit=MOST_SHOWN))
    languages = [(each.value, NAMES[each]) for each in Language]
    return show(call, TEMPLATE, status=form.status, me=me, form=form, said=said, places=places, tongues=languages)


@leave_everywhere.serves
async def sign_out_everywhere(call: Call) -> Redirect:
    await call.ask(sessions.logout, LogoutRequest(everywhere=True))
    return Redirect("/")


CONTRACTS: Final = (account_page, change, leave_everywhere)
