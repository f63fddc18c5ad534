"""Signing in, and up, with a code that is sent by mail.

Promise (IDN-012): every address is answered with the same page; whoever has none of our letters learns nothing here.
"""

from typing import Final
from urllib.parse import quote

from admitone.foundation.identity.routes import signing_in
from admitone.foundation.identity.routes.signing_in import CodeRequest, CodeSent, VerifyRequest
from admitone.kernel.contracts import Call, Html, Redirect, Wire
from admitone.kernel.errors import Refusal
from admitone.web.account.again import SECOND_FACTOR_REQUIRED, show_again
from admitone.web.account.entering import SETS, enter
from admitone.web.form import Address, Form, Secret, Typed, filled
from admitone.web.page import page, show

ASKING: Final = "account/ask-for-code.html"
SHOWING: Final = "account/code.html"


class AskPage(Wire):
    next: Address = "/"


class AskForm(Wire):
    next: Address = "/"
    email: Typed = ""


class CodePage(Wire):
    challenge_id: Typed
    next: Address = "/"


class CodeForm(Wire):
    challenge_id: Typed
    next: Address = "/"
    code: Secret = ""
    second_factor: Secret = ""


ask_page = page("ACCOUNT.CODE.ASK", "Ask for a code by mail.", get="/sign-in/code", takes=AskPage)
ask = page("ACCOUNT.CODE.ASK.DO", "Ask for a code by mail.", post="/sign-in/code", takes=AskForm)
code_page = page("ACCOUNT.CODE", "Type the code that came.", get="/sign-in/code/{challengeId}", takes=CodePage)
verify = page(
    "ACCOUNT.CODE.DO",
    "Sign in with the code that came.",
    post="/sign-in/code/{challengeId}",
    takes=CodeForm,
    sets_cookies=SETS,
)


@ask_page.serves
async def show_ask(call: Call, request: AskPage) -> Html:
    return show(call, ASKING, form=Form({"next": request.next}))


@ask.serves
async def send_code(call: Call, form: AskForm) -> Html | Redirect:
    try:
        sent = await call.ask(signing_in.send_otp, filled(CodeRequest, email=form.email or " "))
    except Refusal as refusal:
        return show_again(call, ASKING, form, refusal)
    return towards_code(sent, form.next)


def towards_code(sent: CodeSent, then: str) -> Redirect:
    """Where the code is typed. The address is not said there: it would stand in the history of the browser."""
    return Redirect(f"/sign-in/code/{sent.challenge_id}?next={quote(Redirect.within(then).location, safe='')}")


@code_page.serves
async def show_code(call: Call, request: CodePage) -> Html:
    return show(call, SHOWING, form=Form.of(request), asks_second_factor=False)


@verify.serves
async def try_code(call: Call, form: CodeForm) -> Html | Redirect:
    try:
        shown = filled(
            VerifyRequest, challenge_id=form.challenge_id, code=form.code.strip(), second_factor=form.second_factor
        )
        tokens = await call.ask(signing_in.verify_otp, shown)
    except Refusal as refusal:
        asks_second = bool(form.second_factor) or refusal.code == SECOND_FACTOR_REQUIRED
        return show_again(call, SHOWING, form, refusal, asks_second_factor=asks_second)
    return await enter(call, tokens, form.next)


CONTRACTS: Final = (ask_page, ask, code_page, verify)
