"""A password that was forgotten: a link is asked for, and a new one is chosen with it.

Promise (IDN-012): whoever asks is told the same, whether the address has an account or not.
"""

from typing import Final

from admitone.foundation.identity.routes import passwords
from admitone.foundation.identity.routes.passwords import ResetCompletion, ResetRequest
from admitone.kernel.contracts import Call, Html, Redirect, Wire
from admitone.kernel.errors import Refusal
from admitone.web.account.again import show_again
from admitone.web.account.links import secret_of
from admitone.web.account.signing_in import NEW_PASSWORD
from admitone.web.form import Form, Secret, Typed, filled
from admitone.web.page import page, show

ASKING: Final = "account/forgotten.html"
CHOOSING: Final = "account/reset.html"
SENT: Final = "account/reset-sent.html"


class ForgottenForm(Wire):
    email: Typed = ""


class ResetForm(Wire):
    token: Secret = ""
    new_password: Secret = ""


forgotten_page = page("ACCOUNT.FORGOTTEN", "Ask for a new password.", get="/forgotten")
forgotten = page("ACCOUNT.FORGOTTEN.DO", "Ask for a new password.", post="/forgotten", takes=ForgottenForm)
sent_page = page("ACCOUNT.FORGOTTEN.SENT", "What happens next.", get="/forgotten/sent")
reset_page = page("ACCOUNT.RESET", "Choose a new password.", get="/auth/reset")
reset = page("ACCOUNT.RESET.DO", "Choose a new password.", post="/auth/reset", takes=ResetForm)


@forgotten_page.serves
async def show_forgotten(call: Call) -> Html:
    return show(call, ASKING, form=Form())


@forgotten.serves
async def ask_for_link(call: Call, form: ForgottenForm) -> Html | Redirect:
    try:
        await call.ask(passwords.request_reset, filled(ResetRequest, email=form.email or " "))
    except Refusal as refusal:
        return show_again(call, ASKING, form, refusal)
    return Redirect("/forgotten/sent")


@sent_page.serves
async def show_sent(call: Call) -> Html:
    return show(call, SENT)


@reset_page.serves
async def show_reset(call: Call) -> Html:
    return show(call, CHOOSING, form=Form())


@reset.serves
async def choose_password(call: Call, form: ResetForm) -> Html | Redirect:
    try:
        chosen = filled(ResetCompletion, token=secret_of(form.token), new_password=form.new_password)
        await call.ask(passwords.complete_reset, chosen)
    except Refusal as refusal:
        return show_again(call, CHOOSING, form, refusal)
    return Redirect(f"/sign-in?after={NEW_PASSWORD}&next=/account")


CONTRACTS: Final = (forgotten_page, forgotten, sent_page, reset_page, reset)
