"""Another address: a code goes there, and the address counts when the code comes back.

Promise (IDN-012): whether another account has the new address shows nowhere before the person has proved that it is
theirs.
"""

from typing import Final

from admitone.foundation.identity.routes import email_change, sessions
from admitone.foundation.identity.routes.email_change import EmailChangeRequest, EmailConfirmation
from admitone.kernel.contracts import Audience, Call, Html, Redirect, Wire
from admitone.kernel.errors import Refusal
from admitone.kernel.streaks import StepUpRequired
from admitone.web.account.again import refused, show_again
from admitone.web.form import Form, Secret, Typed, filled
from admitone.web.page import page, show

ASKING: Final = "account/email.html"
CONFIRMING: Final = "account/email-code.html"


class EmailForm(Wire):
    new_email: Typed = ""


class EmailCodePage(Wire):
    challenge_id: Typed


class EmailCodeForm(Wire):
    challenge_id: Typed
    code: Secret = ""


email_page = page("ACCOUNT.EMAIL", "Another address.", get="/account/email", audience=Audience.PERSON)
change = page("ACCOUNT.EMAIL.DO", "Another address.", post="/account/email", takes=EmailForm, audience=Audience.PERSON)
code_page = page(
    "ACCOUNT.EMAIL.CODE",
    "Type the code that came to the new address.",
    get="/account/email/{challengeId}",
    takes=EmailCodePage,
    audience=Audience.PERSON,
)
confirm = page(
    "ACCOUNT.EMAIL.CODE.DO",
    "Take the new address.",
    post="/account/email/{challengeId}",
    takes=EmailCodeForm,
    audience=Audience.PERSON,
)


@email_page.serves
async def show_email(call: Call) -> Html:
    return await _show(call, Form())


@change.serves
async def ask_for_address(call: Call, form: EmailForm) -> Html | Redirect:
    try:
        sent = await call.ask(email_change.change, filled(EmailChangeRequest, new_email=form.new_email or " "))
    except StepUpRequired:
        raise
    except Refusal as refusal:
        return await _show(call, refused(call, form, refusal))
    return Redirect(f"/account/email/{sent.challenge_id}")


async def _show(call: Call, form: Form) -> Html:
    return show(call, ASKING, status=form.status, form=form, me=await call.ask(sessions.me))


@code_page.serves
async def show_code(call: Call, request: EmailCodePage) -> Html:
    return show(call, CONFIRMING, form=Form.of(request))


@confirm.serves
async def take_address(call: Call, form: EmailCodeForm) -> Html | Redirect:
    try:
        shown = filled(EmailConfirmation, challenge_id=form.challenge_id, code=form.code.strip())
        await call.ask(email_change.confirm, shown)
    except Refusal as refusal:
        return show_again(call, CONFIRMING, form, refusal)
    return Redirect("/account?done=email")


CONTRACTS: Final = (email_page, change, code_page, confirm)
