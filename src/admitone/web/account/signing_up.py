"""Signing up: an account is there when the code that is sent comes back.

Promise (IDN-012): an address that has an account already is answered with the same page; its owner reads in the letter
how to sign in.
"""

from typing import Final

from admitone.foundation.identity.routes import signing_in
from admitone.foundation.identity.routes.signing_in import SignUpRequest
from admitone.kernel.contracts import Call, Html, Redirect, Wire
from admitone.kernel.errors import Refusal
from admitone.web.account.again import show_again
from admitone.web.account.mailed_codes import towards_code
from admitone.web.form import Address, Form, Secret, Typed, filled
from admitone.web.page import page, show

TEMPLATE: Final = "account/sign-up.html"


class SignUpPage(Wire):
    next: Address = "/account"


class SignUpForm(Wire):
    next: Address = "/account"
    display_name: Typed = ""
    email: Typed = ""
    password: Secret = ""


sign_up_page = page("ACCOUNT.SIGNUP", "Begin an account.", get="/sign-up", takes=SignUpPage)
sign_up = page("ACCOUNT.SIGNUP.DO", "Begin an account.", post="/sign-up", takes=SignUpForm)


@sign_up_page.serves
async def show_sign_up(call: Call, request: SignUpPage) -> Html:
    return show(call, TEMPLATE, form=Form.of(request))


@sign_up.serves
async def begin(call: Call, form: SignUpForm) -> Html | Redirect:
    try:
        asked = filled(SignUpRequest, email=form.email, password=form.password, display_name=form.display_name.strip())
        sent = await call.ask(signing_in.sign_up, asked)
    except Refusal as refusal:
        return show_again(call, TEMPLATE, form, refusal)
    return towards_code(sent, form.next)


CONTRACTS: Final = (sign_up_page, sign_up)
