"""The postman: makes a mail of a letter and hands it over.

Promise: a letter that is handed over twice is the same mail twice: its Message-ID and its date are the letter's. What
the mail server says is never repeated, because it likes to name the recipient; its codes are.

- There is no such recipient: the letter is REFUSED, for good.
- The server cannot be reached, or will not talk to us: `DependencyUnavailable`, so the letter waits and spends no
  attempt. Five times within a minute opens the breaker, for all workers.
- Anything else (busy, full, sender or content not liked, or no answer once the letter was on its way): `NotTaken`.
"""

import asyncio
import re
import ssl
from contextlib import suppress
from dataclasses import dataclass, field
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP as INTERNET
from typing import Final, Protocol, Self

import aiosmtplib
from aiosmtplib import SMTPException, SMTPNotSupported, SMTPRecipientsRefused, SMTPResponseException

from admitone.foundation.mail import settings
from admitone.foundation.mail.mailbox import Mailbox
from admitone.foundation.mail.model import Fate, LetterId, Opened, on_the_wire
from admitone.foundation.mail.rendering import rendered
from admitone.foundation.mail.settings import Server, Tls
from admitone.kernel.breaker import Breakers, Dependency, DependencyUnavailable
from admitone.kernel.config import Config

MAIL: Final = Dependency("mail")
CONNECT_SECONDS: Final = 15
SEND_SECONDS: Final = 30
"""Together less than a job, and a probe of the breaker, may take."""
AGAIN_SECONDS: Final = 5
TROUBLE: Final = (SMTPException, OSError, TimeoutError)

_ENHANCED: Final = re.compile(r"[245]\.\d{1,3}\.\d{1,3}(?!\S)")
_NOBODY_THERE: Final = re.compile(r"5\.[12]\.\d+")
_NOBODY_IN_OLD_CODES: Final = frozenset({550, 551, 552, 553, 556})


class NotTaken(Exception):
    """The mail server did not say that it took the letter."""


class Carrier(Protocol):
    """Who takes a mail from here."""

    async def carry(self, letter: LetterId, message: EmailMessage) -> Fate: ...


@dataclass(frozen=True, slots=True)
class Postman:
    """Whom letters come from, where their links lead, and who carries them."""

    carrier: Carrier
    sender: Address
    site: str

    @classmethod
    def of(cls, config: Config, breakers: Breakers) -> Self:
        carrier = Mailbox.of(config) or Smtp(settings.server(config), breakers)
        return cls(carrier, settings.sender(config), settings.site(config))

    async def deliver(self, letter: Opened) -> Fate:
        return await self.carrier.carry(letter.id, message_of(letter, self.sender, self.site))


def message_of(letter: Opened, sender: Address, site: str) -> EmailMessage:
    """The mail: text, and the same as a page."""
    said = rendered(letter.template, letter.language, letter.values, site=site, at=letter.created_at)
    user, _, domain = on_the_wire(letter.to).rpartition("@")
    message = EmailMessage(INTERNET)
    message["From"] = sender
    message["To"] = Address(username=user, domain=domain)
    message["Subject"] = said.subject
    message["Date"] = letter.created_at
    message["Message-ID"] = f"<{letter.id}@{sender.domain}>"
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(said.text, cte="quoted-printable")
    message.add_alternative(said.html, subtype="html", cte="quoted-printable")
    message["Content-Language"] = letter.language.tag
    return message


@dataclass(frozen=True, slots=True)
class Smtp:
    """A mail server, behind a breaker. One connection for each letter: they are few, and a server may be many."""

    server: Server
    breakers: Breakers
    dependency: Dependency = MAIL
    trust: ssl.SSLContext = field(default_factory=ssl.create_default_context)

    async def carry(self, letter: LetterId, message: EmailMessage) -> Fate:  # noqa: ARG002
        admission = await self.breakers.admit(self.dependency)
        client = self._client(str(message["From"].addresses[0].domain))
        try:
            outcome = await self._connect(client) or await self._send(client, message)
        finally:
            client.close()
        await self.breakers.report(admission, healthy=outcome.healthy)
        if isinstance(outcome.then, Fate):
            return outcome.then
        raise outcome.then

    def _client(self, own_name: str) -> aiosmtplib.SMTP:
        return aiosmtplib.SMTP(
            hostname=self.server.host,
            port=self.server.port,
            username=self.server.username,
            password=self.server.password,
            local_hostname=own_name,
            timeout=CONNECT_SECONDS,
            use_tls=self.server.tls is Tls.ALWAYS,
            start_tls=self.server.tls is Tls.UPGRADED,
            tls_context=None if self.server.tls is Tls.NONE else self.trust,
        )

    async def _connect(self, client: aiosmtplib.SMTP) -> "_Outcome | None":
        """`None`: we may send."""
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                await client.connect()
        except TROUBLE:
            away = DependencyUnavailable(dependency=self.dependency.name, retry_after_seconds=AGAIN_SECONDS)
            return _Outcome(away, healthy=False)
        return None

    async def _send(self, client: aiosmtplib.SMTP, message: EmailMessage) -> "_Outcome":
        try:
            async with asyncio.timeout(SEND_SECONDS):
                await client.send_message(message)
        except SMTPNotSupported:
            return _Outcome(Fate.REFUSED, healthy=True)  # It cannot spell the address.
        except SMTPRecipientsRefused as refused:
            # What it says of one recipient says nothing of the server; else anybody's full mailbox could stop all mail.
            [reply] = refused.recipients
            said = _code(reply)
            return _Outcome(Fate.REFUSED if _is_nobody(said) else NotTaken(said), healthy=True)
        except SMTPResponseException as reply:
            return _Outcome(NotTaken(_code(reply)), healthy=reply.code >= 500)
        except TROUBLE as trouble:
            return _Outcome(NotTaken(type(trouble).__name__), healthy=False)
        with suppress(*TROUBLE):
            await client.quit(timeout=1)  # It has the letter: good manners must not cost us that.
        return _Outcome(Fate.SENT, healthy=True)


@dataclass(frozen=True, slots=True)
class _Outcome:
    then: Fate | Exception
    healthy: bool


def _code(reply: SMTPResponseException) -> str:
    """`550 5.1.1`, and nothing of the words after it."""
    enhanced = _ENHANCED.match(reply.message)
    return f"{reply.code} {enhanced[0]}" if enhanced else str(reply.code)


def _is_nobody(said: str) -> bool:
    """Whether it is the recipient who is wrong. That we are not welcome (5.7) is for somebody here to mend."""
    code, _, enhanced = said.partition(" ")
    if enhanced:
        return code.startswith("5") and _NOBODY_THERE.fullmatch(enhanced) is not None
    return int(code) in _NOBODY_IN_OLD_CODES
