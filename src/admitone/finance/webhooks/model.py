"""What arrives, and what becomes of it."""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import Annotated, ClassVar, Final

import msgspec
from msgspec import Meta

from admitone.finance.gateways.api import Account, Envelope, Provider, ProviderEvent
from admitone.finance.sources.api import PaymentId
from admitone.kernel.ids import PLATFORM_ORGANIZATION, Id
from admitone.kernel.scope import Caller, Scope
from admitone.kernel.states import Lifecycle

ACCOUNT_UPDATED: Final = "account.updated"
"""The one type whose organisation is looked for before it is acknowledged (FIN-022)."""

PLATFORM: Final = Scope(PLATFORM_ORGANIZATION, "webhooks")
"""Where arrivals are kept until it is known whose they are."""

Word = Annotated[str, Meta(pattern=r"^[A-Za-z0-9_.:-]+$(?!\n)", min_length=1, max_length=200)]
"""As providers name things. The pattern leaves no room for a person."""


Name = tuple[str, str]
"""Of an event: its source, and its id there (PAY-012)."""


class ReceiptId(Id, prefix="whr"):
    """One event that a provider told us, however often it did."""


class ReceiptState(StrEnum):
    RECEIVED = "RECEIVED"
    PROCESSED = "PROCESSED"
    IGNORED = "IGNORED"
    """Of a type that we do not deal with (PAY-018)."""
    ORG_UNRESOLVED = "ORG_UNRESOLVED"
    """Nobody's, or claimed by two; it had no effect."""
    DEAD = "DEAD"


_ENDS = (ReceiptState.PROCESSED, ReceiptState.IGNORED, ReceiptState.ORG_UNRESOLVED, ReceiptState.DEAD)
RECEIPT: Final = Lifecycle(
    "webhook_receipt",
    initial=ReceiptState.RECEIVED,
    moves={
        ReceiptState.RECEIVED: _ENDS,
        # After somebody mended the mapping, or whatever else it was.
        ReceiptState.ORG_UNRESOLVED: (ReceiptState.RECEIVED, *(end for end in _ENDS if end != "ORG_UNRESOLVED")),
        ReceiptState.DEAD: (ReceiptState.RECEIVED, *(end for end in _ENDS if end != "DEAD")),
    },
)

TO_MEND: Final = (ReceiptState.ORG_UNRESOLVED, ReceiptState.DEAD)
OPEN: Final = (ReceiptState.RECEIVED, *TO_MEND)
"""What is not over: a dead letter that is replayed finds its receipt as it left it."""


class Arrival(msgspec.Struct, frozen=True):
    """An event that came to the door, or was fetched, and is what it says it is."""

    caller: Caller
    provider: Provider
    envelope: Envelope
    payload: bytes
    event: ProviderEvent | None = None
    """What it means, where we can tell."""

    @property
    def name(self) -> Name:
        return (self.envelope.source, self.envelope.id)

    @property
    def account(self) -> Account | None:
        """Of `account.updated`."""
        return self.event.account if self.event and self.envelope.type == ACCOUNT_UPDATED else None


class Acknowledged(msgspec.Struct, frozen=True):
    event: str
    duplicate: bool


class Received(msgspec.Struct, frozen=True, rename="camel"):
    """All that the first job knows."""

    receipt: ReceiptId


class Basis(StrEnum):
    """By what it was decided whose an event is, the strongest first (FIN-063)."""

    REFERENCE = "REFERENCE"
    ACCOUNT = "ACCOUNT"
    METADATA = "METADATA"
    PLATFORM = "PLATFORM"
    """About the platform's own balance."""


class Handed(msgspec.Struct, frozen=True, rename="camel"):
    """What the organisation's job knows: the event as it was understood, without a word of what else was in it."""

    receipt: ReceiptId
    provider: Provider
    basis: Basis
    payment: PaymentId | None
    event: ProviderEvent


class Cursor(msgspec.Struct, frozen=True):
    """How far the poller came: a page in the middle, or an instant up to which everything was heard."""

    BEGINNING: ClassVar[timedelta] = timedelta(days=1)
    OVERLAP: ClassVar[timedelta] = timedelta(minutes=10)
    """What a provider lists late, and clocks that differ."""

    position: str | None
    since: datetime
