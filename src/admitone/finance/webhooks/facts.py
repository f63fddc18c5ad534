"""What webhooks tell: that something arrived, never what it said."""

from datetime import datetime

from admitone.finance.gateways.api import PayoutStatus, Provider
from admitone.finance.webhooks.model import ReceiptId, Word
from admitone.kernel.facts import Fact


class WebhookReceived(Fact, frozen=True):
    name = "webhook.received"
    version = "1.0.0"
    subject = ("WEBHOOK_RECEIPT", "receipt_id")

    receipt_id: ReceiptId
    provider: Provider
    source: Word
    event_id: Word
    type: Word
    account_id: Word | None


class PayoutReported(Fact, frozen=True):
    """A provider says what became of a payout (FIN-064)."""

    name = "payout.reported"
    version = "1.0.0"
    subject = ("PAYOUT", "payout_id")

    receipt_id: ReceiptId
    provider: Provider
    payout_id: Word
    status: PayoutStatus
    amount_minor: int
    currency: Word
    at: datetime
    code: str
    to_bank: bool = False
