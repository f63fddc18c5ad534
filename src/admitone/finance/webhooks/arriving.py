"""What is looked at before an event is kept, whether it came to the door or was listed."""

from typing import Final

import msgspec

from admitone.finance.gateways.api import Envelope, ProviderEvent
from admitone.finance.gateways.port import Gateway
from admitone.finance.webhooks.model import Word
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


def meaning_of(gateway: Gateway, envelope: Envelope, payload: bytes) -> ProviderEvent | None:
    """Nothing, if we cannot tell: it is kept like any other event, and whoever resolves it puts it before a person."""
    try:
        return gateway.read(payload, envelope.source)
    except Exception:  # noqa: BLE001, whatever is wrong with it, it is theirs to tell and ours to keep
        return None
