"""What is looked at before an event is kept, whether it came to the door or was listed."""

from typing import Final

import msgspec

from admitone.finance.gateways.api import Account, Envelope, UnknownStatus
from admitone.finance.gateways.port import Gateway
from admitone.finance.webhooks.model import ACCOUNT_UPDATED, Word
from admitone.kernel.errors import Malformed

LARGEST_EVENT_BYTES: Final = 256 * 1024

_Words = tuple[Word, Word, Word, Word | None, Word | None]


def bounded(envelope: Envelope) -> Envelope:
    """It goes into columns and facts as it is; `Malformed` if it cannot."""
    words = (envelope.source, envelope.id, envelope.type, envelope.account, envelope.request_id)
    try:
        msgspec.convert(words, _Words)
    except msgspec.ValidationError:
        raise Malformed() from None
    return envelope


def account_in(gateway: Gateway, envelope: Envelope, payload: bytes) -> Account | None:
    """Of the one type whose owner must be clear before it is acknowledged. In a state for which we have no word it is
    kept like any other event: whoever resolves it puts it before a person."""
    if envelope.type != ACCOUNT_UPDATED:
        return None
    try:
        return gateway.read(payload, envelope.source).account
    except UnknownStatus:
        return None
