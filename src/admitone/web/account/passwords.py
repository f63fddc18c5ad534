"""Another password. Whoever never had one proves the address instead, and chooses one by the link that comes."""

from typing import Final

from admitone.foundation.identity.routes import passwords, sessions
from admitone.foundation.identity.routes.passwords import PasswordChange
from admitone.kernel.contracts import Audience, Call, Html, Redirect, Wire
from admitone.kernel.errors import Refusal
from admitone.web.account.again import refused
from admitone.web.form import Form, Secret, filled
from admitone.web.page import page, show

TEMPLATE: Final = "account/password.html"


class PasswordForm(Wire):
    current_password: Secret = ""
    new_password: Secret = ""


password_page = page("ACCOUNT.PASSWORD", "Another password.", get="/account/password", audience=Audience.PERSON)
change = page(
    "ACCOUNT.PASSWORD.DO", "Another password.", post="/account/password", takes=PasswordForm, audience=Audience.PERSON
)


@password_page.serves
async def show_password(call: Call) -> Html:
    return await _show(call, Form())


@change.serves
async def change_password(call: Call, form: PasswordForm) -> Html | Redirect:
    try:
        wanted = filled(PasswordChange, new_password=form.new_password, current_password=form.current_password)
        await call.ask(passwords.change_password, wanted)
    except Refusal as refusal:
        return await _show(call, refused(call, form, refusal))
    return Redirect("/account?done=password")


async def _show(call: Call, form: Form) -> Html:
    return show(call, TEMPLATE, status=form.status, form=form, me=await call.ask(sessions.me))


CONTRACTS: Final = (password_page, change)
