"""The mailbox as pages, for a developer: what would have been sent, and to whom.

Promise: these contracts are made only for a `Mailbox`, so in production there is nothing at their addresses. What a
mail says is shown as text, also its HTML; only its links can be followed.
"""

from datetime import datetime
from email.message import EmailMessage
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from admitone.foundation.mail.mailbox import Mailbox
from admitone.foundation.mail.model import LetterId
from admitone.kernel.authority import Audience
from admitone.kernel.contracts import Call, Contract, Wire, Writes
from admitone.kernel.errors import NotFound

_pages = Environment(
    loader=PackageLoader("admitone.foundation.mail", "pages"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


class MailRequest(Wire):
    letter_id: LetterId


def mailbox_contracts(mailbox: Mailbox) -> tuple[Contract, Contract]:
    newest = _contract("MAIL.MAILBOX", "/dev/mailbox", "Mails that were not sent, because there is no mail server.")
    one = _contract("MAIL.MAILBOX.MAIL", "/dev/mailbox/{letterId}", "One of these mails.", MailRequest)

    @newest.serves
    async def list_mails(call: Call) -> str:  # noqa: ARG001
        mails = [_shown(letter, mail) for letter, mail in await mailbox.list_newest()]
        return _pages.get_template("mailbox.html").render(mails=mails)

    @one.serves
    async def show_mail(call: Call, request: MailRequest) -> str:  # noqa: ARG001
        mail = await mailbox.find(request.letter_id)
        if mail is None:
            raise NotFound
        return _pages.get_template("mail.html").render(mail=_shown(request.letter_id, mail), parts=_parts(mail))

    return newest, one


def _contract(name: str, path: str, summary: str, takes: type[MailRequest] | None = None) -> Contract:
    return Contract(
        id=name,
        version="1.0.0",
        owner="mail",
        consumers=("developers",),
        summary=summary,
        get=path,
        takes=takes,
        refuses=(NotFound,) if takes else (),
        writes=Writes.PAGE,
        audience=Audience.PUBLIC,
        order_key="none",
    )


def _shown(letter: LetterId, mail: EmailMessage) -> dict[str, Any]:
    at: datetime = mail["Date"].datetime
    return {"id": str(letter), "to": mail["To"], "subject": mail["Subject"], "at": f"{at:%Y-%m-%d %H:%M:%S}"}


def _parts(mail: EmailMessage) -> list[tuple[str, str]]:
    return [(part.get_content_type(), part.get_content()) for part in mail.iter_parts()]
