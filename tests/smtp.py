"""A real mail server on loopback: it keeps what it is sent, and can be told to be difficult.

async with a_mail_server() as server:
    server.answers["RCPT"] = ["451 4.3.0 later"]       once; then all is well
    server.nobody.add("gone@example.org")              550 5.1.1, with the address in its words, as servers do
    server.silent_at = "DATA"                          never answers this command (or CONNECT, the greeting)
    server.most_at_once = 2                            takes so many mails on one connection, and then 421
    ...
    [mail] = server.sent_to("ana@example.org")
"""

import asyncio
import socket
import ssl
from collections import Counter, defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from typing import Any

from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session


@dataclass(frozen=True)
class Received:
    """One mail, and whom its envelope named."""

    sender: str
    recipients: tuple[str, ...]
    mail: EmailMessage
    raw: bytes
    was_encrypted: bool

    def part(self, kind: str) -> str:
        """The text, or the page."""
        part = self.mail.get_body((kind,))
        assert part is not None
        return str(part.get_content())


class MailServer:
    def __init__(self, tls: ssl.SSLContext | None = None, password: str | None = None, *, utf8: bool = True) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = int(probe.getsockname()[1])
        self.received: list[Received] = []
        self.answers: dict[str, list[str]] = defaultdict(list)
        self.nobody: set[str] = set()
        self.silent_at: str | None = None
        self.calls = 0
        self.most_at_once: int | None = None
        self._taken: Counter[Session] = Counter()
        self._tls, self._password, self._utf8 = tls, password, utf8
        self._server: asyncio.Server | None = None

    @property
    def url(self) -> str:
        return f"smtp://127.0.0.1:{self.port}"

    def sent_to(self, address: str) -> list[EmailMessage]:
        return [each.mail for each in self.received if address in each.recipients]

    async def start(self) -> None:
        self._server = await asyncio.get_running_loop().create_server(self._talk, "127.0.0.1", self.port)

    async def stop(self) -> None:
        if self._server:
            self._server.close()
            self._server = None

    def _talk(self) -> asyncio.Protocol:
        self.calls += 1
        if self.silent_at == "CONNECT":
            return asyncio.Protocol()
        return SMTP(
            self,
            hostname="mail.test",
            enable_SMTPUTF8=self._utf8,
            tls_context=self._tls,
            authenticator=self._authenticate if self._password else None,
            auth_required=self._password is not None,
        )

    def _authenticate(self, _server: Any, _session: Any, _envelope: Any, _mechanism: str, given: Any) -> AuthResult:
        right = isinstance(given, LoginPassword) and given.password.decode() == self._password
        return AuthResult(success=right, handled=False)

    async def _say(self, command: str) -> str | None:
        if self.silent_at == command:
            await asyncio.Event().wait()
        return self.answers[command].pop(0) if self.answers[command] else None

    # What aiosmtpd calls by these names.

    async def handle_MAIL(
        self, _server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if answer := await self._say("MAIL"):
            return answer
        if self.most_at_once is not None and self._taken[session] >= self.most_at_once:
            return "421 4.7.0 Too many mails on this connection"
        envelope.mail_from, envelope.mail_options = address, options
        return "250 2.1.0 OK"

    async def handle_RCPT(
        self, _server: SMTP, _session: Session, envelope: Envelope, address: str, _options: list[str]
    ) -> str:
        if answer := await self._say("RCPT"):
            return answer
        if address in self.nobody:
            return f"550 5.1.1 <{address}>: Recipient address rejected: User unknown"
        envelope.rcpt_tos.append(address)
        return "250 2.1.5 OK"

    async def handle_DATA(self, _server: SMTP, session: Session, envelope: Envelope) -> str:
        if answer := await self._say("DATA"):
            return answer
        assert isinstance(envelope.content, bytes)
        mail = message_from_bytes(envelope.content, policy=default)
        assert isinstance(mail, EmailMessage)
        encrypted = session.ssl is not None
        self.received.append(
            Received(str(envelope.mail_from), tuple(map(str, envelope.rcpt_tos)), mail, envelope.content, encrypted)
        )
        self._taken[session] += 1
        return "250 2.0.0 Taken"


@asynccontextmanager
async def a_mail_server(
    tls: ssl.SSLContext | None = None, password: str | None = None, *, utf8: bool = True
) -> AsyncIterator[MailServer]:
    server = MailServer(tls, password, utf8=utf8)
    await server.start()
    try:
        yield server
    finally:
        await server.stop()
