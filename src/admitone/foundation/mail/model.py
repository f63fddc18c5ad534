"""What a letter is.

Promise: a `Letter` in our hands can be written down and sent: its address is one, and its values are short texts on
one line. So nobody who chooses their own name can add a header, a line or a direction of reading to a mail of ours.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from functools import lru_cache
from typing import Final

import idna
import msgspec

from admitone.kernel.ids import Id
from admitone.kernel.scope import Caller
from admitone.kernel.texts import on_one_line
from admitone.kernel.words import Language

LONGEST_ADDRESS: Final = 254
LONGEST_LOCAL_PART: Final = 64
LONGEST_VALUE: Final = 1_000

# Letters of other scripts are let through by `_is_local`; quotes, comments and routes are not worth their trouble.
_ATOM: Final = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]")
_DOMAIN: Final = re.compile(r"(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z0-9](?:[a-z0-9-]*[a-z0-9])?")

Value = str | int


class LetterId(Id, prefix="ltr"):
    """Which letter."""


class Template(StrEnum):
    """What we write to people. The values of each are those that its file asks for."""

    SIGN_IN_CODE = "sign_in_code"
    ALREADY_REGISTERED_CODE = "already_registered_code"
    PASSWORD_RESET = "password_reset"  # noqa: S105  The name of a template.
    PASSWORD_RESET_UNKNOWN = "password_reset_unknown"  # noqa: S105
    PASSWORD_CHANGED = "password_changed"  # noqa: S105
    NEW_SIGN_IN = "new_sign_in"
    EMAIL_CHANGED = "email_changed"
    VERIFY_OFFICIAL_EMAIL = "verify_official_email"
    OFFICIAL_EMAIL_CHANGED = "official_email_changed"
    ORGANIZATION_INVITATION = "organization_invitation"
    GUEST_LINK = "guest_link"
    STEP_UP_CODE = "step_up_code"
    CHANGE_EMAIL_CODE = "change_email_code"
    CHANGE_EMAIL_TAKEN = "change_email_taken"
    ORDER_RECEIPT = "order_receipt"
    ORDER_RETURNED = "order_returned"
    FREE_ORDER_RETURNED = "free_order_returned"
    EVENT_CANCELLED = "event_cancelled"


AT_LEISURE: Final = frozenset(
    {Template.ORDER_RECEIPT, Template.ORDER_RETURNED, Template.FREE_ORDER_RETURNED, Template.EVENT_CANCELLED}
)
"""Of which thousands are posted at once, and for which nobody sits and waits."""


@dataclass(frozen=True, slots=True)
class Letter:
    """A letter to post. Under a `key`, which names nobody, it is posted once, however often it is asked for."""

    caller: Caller
    to: str = field(repr=False)
    template: Template
    language: Language
    values: Mapping[str, Value] = field(default_factory=dict, repr=False)
    """Texts and counts; `link` is a path of ours."""
    key: str | None = None

    def __post_init__(self) -> None:
        if not is_address(self.to):
            raise ValueError("a letter goes to an address; ask is_address first")
        object.__setattr__(self, "values", {name: _tamed(value) for name, value in self.values.items()})


class Content(msgspec.Struct, frozen=True):
    """What is sealed."""

    to: str
    values: dict[str, Value]


@dataclass(frozen=True, slots=True)
class Opened:
    """A letter that is to be sent."""

    id: LetterId
    template: Template
    language: Language
    to: str = field(repr=False)
    values: Mapping[str, Value] = field(repr=False)
    created_at: datetime


class Fate(StrEnum):
    """What became of a letter."""

    SENT = "sent"
    """The mail server has taken it."""
    REFUSED = "refused"
    """There is nobody at its address."""


def is_address(text: str) -> bool:
    """Whether mail can be sent there, as far as the text tells: one plain mailbox at a domain with a dot."""
    local, at, domain = text.rpartition("@")
    if not at or len(text) > LONGEST_ADDRESS or not _is_local(local):
        return False
    try:
        spelt = in_ascii(domain)
    except UnicodeError:
        return False
    return len(local) + 1 + len(spelt) <= LONGEST_ADDRESS and _DOMAIN.fullmatch(spelt) is not None


def on_the_wire(address: str) -> str:
    """The address as mail servers spell it: only the domain has a form in ASCII."""
    local, _, domain = address.rpartition("@")
    return f"{local}@{in_ascii(domain)}"


@lru_cache(maxsize=4096)
def in_ascii(domain: str) -> str:
    """As the domain name system has it (IDNA 2008): all spellings of one domain are one, and no two domains are. Raises
    `UnicodeError` for what can be no domain."""
    return idna.encode(domain, uts46=True, std3_rules=True).decode()


def _is_local(local: str) -> bool:
    atoms = local.split(".")
    known = all(_ATOM.fullmatch(sign) or (not sign.isascii() and sign.isalnum()) for atom in atoms for sign in atom)
    return known and all(atoms) and len(local.encode()) <= LONGEST_LOCAL_PART


def _tamed(value: Value) -> Value:
    if isinstance(value, int):
        return value
    if len(value) > LONGEST_VALUE:
        raise ValueError(f"a value of a letter has at most {LONGEST_VALUE} characters")
    return on_one_line(value)
