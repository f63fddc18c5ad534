"""The second factor: set up with a picture, confirmed with a code of it, taken away with another.

Promise: the secret and the codes for the day that it is lost are shown to the person who asked, once, by the answer to
their own form; they stand in no address and are kept by no page.
"""

from typing import Final

import segno
from markupsafe import Markup

from admitone.foundation.identity.routes import second_factor, sessions
from admitone.foundation.identity.routes.second_factor import CodeShown, EnrolRequest
from admitone.kernel.contracts import Audience, Call, Html, Redirect, Wire
from admitone.kernel.errors import Refusal
from admitone.web.account.again import refused, show_again
from admitone.web.form import Form, Secret, filled
from admitone.web.page import page, show

OVERVIEW: Final = "account/authenticator.html"
SETTING_UP: Final = "account/authenticator-new.html"
RECOVERY: Final = "account/recovery-codes.html"
WAY: Final = "otpauth://totp/"
LONGEST: Final = 500


class ConfirmForm(Wire):
    code: Secret = ""
    secret: Secret = ""
    uri: Secret = ""
    """As we told it, so that it can be told again when the code was wrong."""


class RemoveForm(Wire):
    code: Secret = ""


overview_page = page("ACCOUNT.TOTP", "My second factor.", get="/account/authenticator", audience=Audience.PERSON)
begin = page("ACCOUNT.TOTP.BEGIN", "Set up an authenticator.", post="/account/authenticator", audience=Audience.PERSON)
confirm = page(
    "ACCOUNT.TOTP.CONFIRM",
    "Confirm an authenticator.",
    post="/account/authenticator/confirm",
    takes=ConfirmForm,
    audience=Audience.PERSON,
)
remove = page(
    "ACCOUNT.TOTP.REMOVE",
    "Take the authenticator away.",
    post="/account/authenticator/remove",
    takes=RemoveForm,
    audience=Audience.PERSON,
)


@overview_page.serves
async def show_overview(call: Call) -> Html:
    return await _overview(call, Form())


async def _overview(call: Call, form: Form) -> Html:
    return show(call, OVERVIEW, status=form.status, form=form, me=await call.ask(sessions.me))


@begin.serves
async def set_up(call: Call) -> Html:
    begun = await call.ask(second_factor.enrol, EnrolRequest())
    form = Form({"secret": begun.secret, "uri": begun.uri})
    return show(call, SETTING_UP, form=form, picture=_picture(begun.uri))


@confirm.serves
async def try_code(call: Call, form: ConfirmForm) -> Html:
    try:
        confirmed = await call.ask(second_factor.confirm, filled(CodeShown, code=form.code.strip()))
    except Refusal as refusal:
        return show_again(call, SETTING_UP, form, refusal, picture=_picture(form.uri))
    return show(call, RECOVERY, codes=confirmed.recovery_codes)


def _picture(uri: str) -> Markup:
    """Black on white, whatever is around it. Of what is no such address, none."""
    if not uri.startswith(WAY) or len(uri) > LONGEST:
        return Markup()
    drawn = segno.make_qr(uri, error="m").svg_inline(border=4, dark="#000", light="#fff", omitsize=True)
    return Markup(drawn)  # noqa: S704  Of paths that we drew: nothing of what was typed stands in it.


@remove.serves
async def take_away(call: Call, form: RemoveForm) -> Html | Redirect:
    try:
        await call.ask(second_factor.disable, filled(CodeShown, code=form.code.strip()))
    except Refusal as refusal:
        return await _overview(call, refused(call, form, refusal))
    return Redirect("/account?done=authenticator")


CONTRACTS: Final = (overview_page, begin, confirm, remove)
