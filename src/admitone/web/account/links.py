"""Signing in with a link that was sent: what a guest bought with the address is theirs from then on.

The secret stands behind the `#` of the link, so that no server and no log on the way sees it: a script puts it into the
form, and whoever has none copies the link into it. Nothing happens before somebody presses the button, so that a mail
program that looks at links uses none of them up.
"""

from typing import Final

from admitone.foundation.identity.routes import signing_in
from admitone.foundation.identity.routes.signing_in import LinkRequest
from admitone.kernel.contracts import Call, Html, Redirect, Wire
from admitone.kernel.errors import Refusal
from admitone.web.account.again import SECOND_FACTOR_REQUIRED, show_again
from admitone.web.account.entering import SETS, enter
from admitone.web.form import Form, Secret, filled
from admitone.web.page import page, show

TEMPLATE: Final = "account/link.html"
CLAIMED: Final = "/wallet?claimed=yes"


class LinkForm(Wire):
    token: Secret = ""
    second_factor: Secret = ""


link_page = page("ACCOUNT.LINK", "Come in by a link that was sent.", get="/auth/link")
follow = page(
    "ACCOUNT.LINK.DO", "Come in by a link that was sent.", post="/auth/link", takes=LinkForm, sets_cookies=SETS
)


@link_page.serves
async def show_link(call: Call) -> Html:
    return show(call, TEMPLATE, form=Form(), asks_second_factor=False)


@follow.serves
async def try_link(call: Call, form: LinkForm) -> Html | Redirect:
    try:
        asked = filled(LinkRequest, token=secret_of(form.token), second_factor=form.second_factor)
        tokens = await call.ask(signing_in.verify_link, asked)
    except Refusal as refusal:
        asks_code = bool(form.second_factor) or refusal.code == SECOND_FACTOR_REQUIRED
        return show_again(call, TEMPLATE, form, refusal, asks_second_factor=asks_code)
    return await enter(call, tokens, CLAIMED)


def secret_of(pasted: str) -> str:
    """Of the whole link what stands behind its `#`, or what was typed."""
    return pasted.strip().rpartition("#")[2]


CONTRACTS: Final = (link_page, follow)
