"""Where mail goes and whom it comes from, as operators say it.

Promise: no password and no letter crosses a network unencrypted: the way to the mail server is TLS from the first byte
(`smtps`) or before anything is said (`starttls=1`), or does not leave this machine.
"""

from dataclasses import dataclass, field
from email.headerregistry import Address
from email.utils import parseaddr
from enum import Enum
from ipaddress import ip_address
from typing import Final, Self
from urllib.parse import parse_qsl, unquote, urlsplit

from admitone.foundation.mail.model import is_address, on_the_wire
from admitone.kernel.config import Config, ConfigurationProblem, Key, When, reads


class Tls(Enum):
    """How the way to the mail server is encrypted."""

    NONE = "not at all"
    UPGRADED = "before anything is said"
    ALWAYS = "from the first byte"


@dataclass(frozen=True, slots=True)
class Server:
    """A mail server that takes letters from us."""

    host: str
    port: int
    tls: Tls
    username: str | None = None
    password: str | None = field(default=None, repr=False)

    @classmethod
    def parse(cls, text: str) -> Self:
        url = urlsplit(text)
        asked = dict(parse_qsl(url.query, keep_blank_values=True, strict_parsing=True) if url.query else ())
        if url.scheme not in ("smtp", "smtps") or not url.hostname or url.path not in ("", "/") or url.fragment:
            raise ValueError("not smtp://host or smtps://host")
        if asked not in ({}, {"starttls": "1"}) or (asked and url.scheme == "smtps"):
            raise ValueError("starttls=1 is all that can be asked for, of smtp")
        if (url.username is None) != (url.password is None):
            raise ValueError("a user has a password")
        tls = Tls.ALWAYS if url.scheme == "smtps" else Tls.UPGRADED if asked else Tls.NONE
        if tls is Tls.NONE and not _is_here(url.hostname):
            raise ValueError("in clear only within this machine")
        port = url.port or (465 if tls is Tls.ALWAYS else 587)
        return cls(url.hostname, port, tls, _unquoted(url.username), _unquoted(url.password))


def sender_of(text: str) -> Address:
    """`Name <mailbox@domain>`, or the mailbox alone."""
    name, mailbox = parseaddr(text)
    if not is_address(mailbox) or not mailbox.isascii() or not text.isprintable():
        raise ValueError("not a sender")
    return Address(name, addr_spec=on_the_wire(mailbox))


def site_of(text: str) -> str:
    """The address of our own pages, without a slash at its end."""
    url = urlsplit(text)
    safe = url.scheme == "https" or (url.scheme == "http" and _is_here(url.hostname or ""))
    if not safe or not url.hostname or url.query or url.fragment or url.username is not None or not _is_plain(text):
        raise ValueError("not the address of a site")
    return text.rstrip("/")


def site(config: Config) -> str:
    given = config.find(PUBLIC_URL)
    return site_of(given) if given else f"http://127.0.0.1:{config.port}"


def sender(config: Config) -> Address:
    return sender_of(config.find(MAIL_FROM) or "Admit One <no-reply@admitone.localhost>")


def is_private(config: Config) -> bool:
    """Whether nobody but who sits at this machine can reach us, as far as the settings tell."""
    public = config.find(PUBLIC_URL)
    is_known_elsewhere = public is not None and not _is_here(urlsplit(public).hostname or "")
    return not (config.in_production or config.trusted_proxies or is_known_elsewhere) and _is_here(config.host)


def server(config: Config) -> Server:
    """Which mail server; a mailbox that everybody could read is no way out of having none."""
    given = config.find(SMTP_URL)
    if given is None:
        why = "letters stay here only where nobody else reaches us (ADMITONE_HOST, TRUSTED_PROXIES, PUBLIC_URL)"
        raise ConfigurationProblem([f"{SMTP_URL.name} is missing: expected {SMTP_URL.help}; {why}."])
    return Server.parse(given)


def _is_here(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _is_plain(text: str) -> bool:
    return text.isascii() and text.isprintable() and not set(' "<>\\^`{|}') & set(text)


def _unquoted(text: str | None) -> str | None:
    return unquote(text, errors="strict") if text is not None else None


SMTP_URL: Final = Key(
    "SMTP_URL",
    "`smtps://user:password@host:465` or `smtp://user:password@host:587?starttls=1`; without TLS only to this machine",
    When.PRODUCTION,
    reads(Server.parse),
    secret=True,
)
MAIL_FROM: Final = Key(
    "MAIL_FROM", "whom letters come from, as in `Tickets <no-reply@example.org>`", When.PRODUCTION, reads(sender_of)
)
PUBLIC_URL: Final = Key(
    "PUBLIC_URL",
    "the `https://` address at which people reach us, for links in letters",
    When.PRODUCTION,
    reads(site_of),
)
KEYS: Final = (SMTP_URL, MAIL_FROM, PUBLIC_URL)
