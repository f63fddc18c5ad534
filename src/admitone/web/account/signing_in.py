"""Signing in and out.

Promise: the page knows as little as the API says: whether an address has an account shows nowhere. Whoever was on the
way to another page of ours comes there, and nowhere else.
"""

from typing import Final
from urllib.parse import quote

from admitone.foundation.identity.routes import sessions, signing_in
from admitone.foundation.identity.routes.sessions import COOKIES, LogoutRequest
from admitone.foundation.identity.routes.signing_in import LoginRequest
from admitone.kernel.contracts import Call, Html, Redirect, Wire
from admitone.kernel.errors import Refusal, Unauthenticated
from admitone.web.account.again import SECOND_FACTOR_REQUIRED, refused
from admitone.web.account.entering import SETS, enter
from admitone.web.form import Address, Form, Secret, Typed, filled
from admitone.web.page import SIGNED_IN, page, show
from admitone.web.unsent import TYPED, forgotten, without_signing_in

TEMPLATE: Final = "account/sign-in.html"
NEW_PASSWORD: Final = "password"  # noqa: S105  The name of an occasion.


class SignInPage(Wire):
    next: Address = "/"
    after: Typed = ""
    """What came before: a new password."""


class SignInForm(Wire):
    next: Address = "/"
    email: Typed = ""
    password: Secret = ""
    second_factor: Secret = ""


sign_in_page = page("SIGNIN", "Sign in.", get="/sign-in", takes=SignInPage)
sign_in = page("SIGNIN.DO", "Sign in.", post="/sign-in", takes=SignInForm, sets_cookies=SETS)
sign_out = page("SIGNOUT", "Sign out.", post="/sign-out", sets_cookies=(*COOKIES, TYPED))


@sign_in_page.serves
async def show_sign_in(call: Call, request: SignInPage) -> Html | Redirect:
    """Whoever has a session that only has to be renewed is not asked again."""
    if SIGNED_IN in call.cookies:
        return Redirect(f"/api/auth/resume?next={quote(Redirect.within(request.next).location, safe='')}")
    return _show(call, Form({"next": request.next}), has_new_password=request.after == NEW_PASSWORD)


@sign_in.serves
async def try_to_sign_in(call: Call, form: SignInForm) -> Html | Redirect:
    try:
        asked = filled(LoginRequest, email=form.email, password=form.password, second_factor=form.second_factor)
        tokens = await call.ask(signing_in.login, asked)
    except Refusal as refusal:
        asks_code = bool(form.second_factor) or refusal.code == SECOND_FACTOR_REQUIRED
        return _show(call, refused(call, form, refusal), asks_second_factor=asks_code)
    return await enter(call, tokens, form.next)


def _show(call: Call, form: Form, *, asks_second_factor: bool = False, has_new_password: bool = False) -> Html:
    return show(
        call,
        TEMPLATE,
        status=form.status,
        form=form,
        asks_second_factor=asks_second_factor,
        has_new_password=has_new_password,
        as_guest=without_signing_in(form["next"]),
    )


@sign_out.serves
async def leave(call: Call) -> Redirect:
    """Also whoever's session ran out meanwhile: nobody walks away from a browser that would renew it."""
    try:
        await call.ask(sessions.logout, LogoutRequest())
    except Unauthenticated:
        await call.ask(sessions.clear)
    call.set_cookie(forgotten())
    return Redirect("/")


CONTRACTS: Final = (sign_in_page, sign_in, sign_out)
