"""The postman: makes mails of letters and hands them over, one after another on one connection.

Promise: what becomes of a letter is its own affair and none of those beside it. A letter that is handed over twice is
the same mail twice: its Message-ID and its date are the letter's. What the mail server says is never repeated, because
it likes to name the recipient; its codes are.

- There is no such recipient: the letter is REFUSED, for good.
- The server cannot be reached, will not talk to us, or is slow: `DependencyUnavailable`, so the letter and those after
  it wait and spend no attempt. Five times within a minute opens the breaker, for all workers.
- Anything else (busy, full, sender or content not liked, or no answer once the letter was on its way): `NotTaken`.
"""

import asyncio
import re
import ssl
import time
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass, field
from email.headerregistry import Address
from typing import Final, Protocol, Self

import aiosmtplib
from aiosmtplib import SMTPException, SMTPHeloError, SMTPNotSupported, SMTPRecipientRefused, SMTPResponseException

from admitone.foundation.mail import settings
from admitone.foundation.mail.mailbox import Mailbox
from admitone.foundation.mail.model import Fate, Opened
from admitone.foundation.mail.settings import Server, Tls
from admitone.foundation.mail.writing import Mail, mail_of
from admitone.kernel import failpoints
from admitone.kernel.breaker import Admission, Breakers, Dependency, DependencyUnavailable
from admitone.kernel.config import Config

MAIL: Final = Dependency("mail")
CONNECT_SECONDS: Final = 15
SEND_SECONDS: Final = 30
"""Together less than a job, and a probe of the breaker, may take."""
ROUND_SECONDS: Final = 8
"""After which no letter is begun any more: less than a worker has that is told to stop."""
AGAIN_SECONDS: Final = 5
TROUBLE: Final = (SMTPException, OSError, TimeoutError)

_ENHANCED: Final = re.compile(r"[245]\.\d{1,3}\.\d{1,3}(?!\S)")
_NOBODY_THERE: Final = re.compile(r"5\.[12]\.\d+")
_NOBODY_IN_OLD_CODES: Final = frozenset({550, 551, 552, 553, 556})


class NotTaken(Exception):
    """The mail server did not say that it took the letter."""


class Way(Protocol):
    """On which one mail goes after another."""

    async def carry(self, mail: Mail) -> Fate: ...


class Carrier(Protocol):
    """Who takes mails from here."""

    def set_out(self) -> AbstractAsyncContextManager[Way]: ...


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

    async def deliver(self, letters: Sequence[Opened]) -> list[Fate | Exception]:
        """One after another; what became of each, or what went wrong with it and with no other."""
        came: list[Fate | Exception] = []
        last = time.monotonic() + ROUND_SECONDS
        async with self.carrier.set_out() as way:
            for letter in letters:
                if came and time.monotonic() > last:  # A slow server: they come back.
                    came.append(DependencyUnavailable(dependency=MAIL.name, retry_after_seconds=AGAIN_SECONDS))
                elif came and isinstance(came[-1], DependencyUnavailable):  # To knock again would help nobody.
                    came.append(came[-1])
                else:
                    came.append(await self._deliver(way, letter))
                    failpoints.reach("mail.carried")
        return came

    async def _deliver(self, way: Way, letter: Opened) -> Fate | Exception:
        try:
            return await way.carry(mail_of(letter, self.sender, self.site))
        except Exception as error:  # noqa: BLE001  Whatever it is, it happened to this letter.
            return error


@dataclass(frozen=True, slots=True)
class Smtp:
    """A mail server, behind a breaker."""

    server: Server
    breakers: Breakers
    dependency: Dependency = MAIL
    trust: ssl.SSLContext = field(default_factory=ssl.create_default_context)

    @asynccontextmanager
    async def set_out(self) -> AsyncIterator["Conversation"]:
        talk = Conversation(self)
        try:
            yield talk
            await talk.say_goodbye()
        finally:
            talk.hang_up()

    def client(self, own_name: str) -> aiosmtplib.SMTP:
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


@dataclass(slots=True)
class Conversation:
    """With a mail server: a connection carries letters for as long as each is taken, and then there is another."""

    smtp: Smtp
    _client: aiosmtplib.SMTP | None = None
    _admission: Admission | None = None
    _until: float = 0

    async def carry(self, mail: Mail) -> Fate:
        then: Fate | Exception | None = None
        try:
            outcome = await self._carry(mail)
            then = outcome.then
        finally:
            if then is not Fate.SENT:
                self.hang_up()
        assert self._admission is not None
        await self.smtp.breakers.report(self._admission, healthy=outcome.healthy)
        if isinstance(then, Fate):
            return then
        raise then

    async def _carry(self, mail: Mail) -> "_Outcome":
        # A server may have had enough of a connection: what it says before it heard of a letter is no answer to that.
        if self._client and await self._offer(mail):
            self.hang_up()
        if self._client is None:
            await self._connect(mail)
            if refusal := await self._offer(mail):
                return refusal
        return await self._try(self._give(mail)) or _Outcome(Fate.SENT, healthy=True)

    def hang_up(self) -> None:
        if self._client:
            self._client.close()
            self._client = None

    async def say_goodbye(self) -> None:
        if self._client:
            with suppress(*TROUBLE):
                await self._client.quit(timeout=1)  # It has the letters: good manners must not cost us that.

    async def _connect(self, mail: Mail) -> None:
        """Raises `DependencyUnavailable`."""
        self._admission = await self.smtp.breakers.admit(self.smtp.dependency)
        client = self.smtp.client(mail.sender.domain)
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                await client.connect()
        except TROUBLE:
            client.close()
            await self.smtp.breakers.report(self._admission, healthy=False)
            name = self.smtp.dependency.name
            raise DependencyUnavailable(dependency=name, retry_after_seconds=AGAIN_SECONDS) from None
        self._client = client

    async def _offer(self, mail: Mail) -> "_Outcome | None":
        """`None`: it may have the letter, by the time that there is for it."""
        self._until = asyncio.get_running_loop().time() + SEND_SECONDS
        return await self._try(self._say_whose(mail))

    async def _say_whose(self, mail: Mail) -> None:
        client = self._client
        assert client is not None
        if not mail.is_ascii:
            with suppress(SMTPHeloError):
                await client.ehlo()
            if not client.supports_extension("smtputf8"):
                raise SMTPNotSupported("SMTPUTF8")
        await client.mail(mail.sender.addr_spec, options=() if mail.is_ascii else ("SMTPUTF8",))

    async def _give(self, mail: Mail) -> None:
        assert self._client is not None
        await self._client.rcpt(mail.to, encoding="ascii" if mail.is_ascii else "utf-8")
        await self._client.data(mail.content)

    async def _try(self, step: Coroutine[None, None, None]) -> "_Outcome | None":
        try:
            async with asyncio.timeout_at(self._until):
                await step
        except SMTPNotSupported:
            return _Outcome(Fate.REFUSED, healthy=True)  # It cannot spell the address.
        except SMTPRecipientRefused as reply:
            # What it says of one recipient says nothing of the server; else anybody's full mailbox could stop all mail.
            said = _code(reply)
            return _Outcome(Fate.REFUSED if _is_nobody(said) else NotTaken(said), healthy=True)
        except SMTPResponseException as reply:
            return _Outcome(NotTaken(_code(reply)), healthy=reply.code >= 500)
        except TROUBLE as trouble:
            return _Outcome(NotTaken(type(trouble).__name__), healthy=False)
        return None


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
