"""A letter as it travels: the bytes of a mail, text and page.

Promise: the bytes are a valid mail (RFC 5322, MIME), in ASCII but for an address that has no ASCII form; whatever the
values say stays within its header or part. The same letter is the same bytes, whenever it is written.

Written by hand: `email.message` parses every header that it is given and folds it again, which takes longer than
everything else that is done for a letter. What has a form of its own, subject and sender, is left to `email`.
"""

from binascii import b2a_qp
from dataclasses import dataclass, field
from email.header import Header
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP as INTERNET
from email.utils import format_datetime
from functools import cache
from typing import Final

from admitone.foundation.mail.model import LetterId, Opened, on_the_wire
from admitone.foundation.mail.rendering import rendered

LONGEST_LINE: Final = 76


@dataclass(frozen=True, slots=True)
class Mail:
    """What is handed over, and what stands on its envelope."""

    letter: LetterId
    sender: Address
    to: str = field(repr=False)
    content: bytes = field(repr=False)

    @property
    def is_ascii(self) -> bool:
        return self.to.isascii()


def mail_of(letter: Opened, sender: Address, site: str) -> Mail:
    said = rendered(letter.template, letter.language, letter.values, site=site, at=letter.created_at)
    to = on_the_wire(letter.to)
    # What is quoted-printable never says `=_`, so no part can end before its end.
    boundary = f"=_{letter.id}"
    lines = [
        _from(str(sender)),
        f"To: {to}",
        _subject(said.subject),
        f"Date: {format_datetime(letter.created_at)}",
        f"Message-ID: <{letter.id}@{sender.domain}>",
        "Auto-Submitted: auto-generated",
        "MIME-Version: 1.0",
        "Content-Type: multipart/alternative;",
        f' boundary="{boundary}"',
        f"Content-Language: {letter.language.tag}",
        "",
        *_part(boundary, "plain", said.text),
        *_part(boundary, "html", said.html),
        f"--{boundary}--",
        "",
    ]
    return Mail(letter.id, sender, to, "\r\n".join(lines).encode())


@cache
def _from(sender: str) -> str:
    message = EmailMessage(INTERNET)
    message["From"] = sender
    line: str = INTERNET.fold("From", message["From"])
    return line.removesuffix("\r\n")


def _subject(text: str) -> str:
    line = f"Subject: {text}"
    if text.isascii() and text.isprintable() and "=?" not in text and len(line) <= LONGEST_LINE:
        return line
    return "Subject: " + Header(text, "utf-8", LONGEST_LINE, "Subject").encode(linesep="\r\n")


def _part(boundary: str, kind: str, text: str) -> tuple[str, ...]:
    content = "\r\n".join(text.splitlines()).encode()
    return (
        f"--{boundary}",
        f'Content-Type: text/{kind}; charset="utf-8"',
        "Content-Transfer-Encoding: quoted-printable",
        "",
        b2a_qp(content, istext=True).decode("ascii"),
        "",
    )
