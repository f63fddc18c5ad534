"""Proving once more that it is you, on the way to something that needs it.

The page asks for what the person has: an authenticator, which alone counts where there is one; else the password; and
whoever has neither, or does not remember, is sent a code.
"""

from typing import Final
from urllib.parse import quote

from admitone.foundation.identity.routes import sessions, step_up
from admitone.foundation.identity.routes.step_up import StepUpRequest
from admitone.kernel.contracts import Audience, Call, Html, Redirect, Wire
from admitone.kernel.errors import Refusal
from admitone.web.account.again import refused
from admitone.web.form import Address, Form, Secret, Typed, filled
from admitone.web.page import page, show

TEMPLATE: Final = "account/step-up.html"


class StepUpPage(Wire):
    next: Address = "/"
    challenge_id: Typed = ""
    """Of a code that was sent."""


class StepUpForm(Wire):
    next: Address = "/"
    password: Secret = ""
    second_factor: Secret = ""
    challenge_id: Typed = ""
    code: Secret = ""


class SendForm(Wire):
    next: Address = "/"


step_up_page = page(
    "STEPUP", "Prove once more that it is you.", get="/step-up", takes=StepUpPage, audience=Audience.PERSON
)
prove = page(
    "STEPUP.DO", "Prove once more that it is you.", post="/step-up", takes=StepUpForm, audience=Audience.PERSON
)
send = page(
    "STEPUP.SEND", "Send a code to my own address.", post="/step-up/code", takes=SendForm, audience=Audience.PERSON
)


@step_up_page.serves
async def show_step_up(call: Call, request: StepUpPage) -> Html:
    return await _show(call, Form.of(request))


@prove.serves
async def try_to_step_up(call: Call, form: StepUpForm) -> Html | Redirect:
    try:
        await call.ask(step_up.step_up, filled(StepUpRequest, **_proof(form)))
    except Refusal as refusal:
        return await _show(call, refused(call, form, refusal))
    return Redirect.within(form.next)


def _proof(form: StepUpForm) -> dict[str, str]:
    """The first of what was typed."""
    if form.second_factor:
        return {"second_factor": form.second_factor}
    if form.code:
        return {"challenge_id": form.challenge_id, "code": form.code.strip()}
    return {"password": form.password}


@send.serves
async def send_code(call: Call, form: SendForm) -> Html | Redirect:
    try:
        sent = await call.ask(step_up.send_code)
    except Refusal as refusal:
        return await _show(call, refused(call, form, refusal))
    towards = quote(Redirect.within(form.next).location, safe="")
    return Redirect(f"/step-up?next={towards}&challengeId={sent.challenge_id}")


async def _show(call: Call, form: Form) -> Html:
    me = await call.ask(sessions.me)
    return show(call, TEMPLATE, status=form.status, form=form, me=me)


CONTRACTS: Final = (step_up_page, prove, send)
