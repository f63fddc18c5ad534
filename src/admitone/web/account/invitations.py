"""An invitation to a team: the link of its letter leads here, and whoever is meant says yes.

As with every link of ours the secret stands behind its `#`, and nothing happens before the button is pressed.
"""

from typing import Final

from admitone.foundation.organizations.routes import invitations
from admitone.foundation.organizations.routes.invitations import AcceptRequest
from admitone.kernel.contracts import Audience, Call, Html, Redirect, Wire
from admitone.kernel.errors import Refusal
from admitone.web.account.again import show_again
from admitone.web.account.links import secret_of
from admitone.web.form import Form, Secret, filled
from admitone.web.page import page, show

TEMPLATE: Final = "account/invitation.html"


class InvitationForm(Wire):
    token: Secret = ""


invitation_page = page("ACCOUNT.INVITATION", "An invitation to a team.", get="/invitations/accept")
accept = page(
    "ACCOUNT.INVITATION.DO",
    "Say yes to an invitation.",
    post="/invitations/accept",
    takes=InvitationForm,
    audience=Audience.PERSON,
)


@invitation_page.serves
async def show_invitation(call: Call) -> Html:
    return show(call, TEMPLATE, form=Form())


@accept.serves
async def say_yes(call: Call, form: InvitationForm) -> Html | Redirect:
    try:
        joined = await call.ask(invitations.say_yes, filled(AcceptRequest, token=secret_of(form.token)))
    except Refusal as refusal:
        return show_again(call, TEMPLATE, form, refusal)
    return Redirect(f"/org/{joined.organization}")


CONTRACTS: Final = (invitation_page, accept)
