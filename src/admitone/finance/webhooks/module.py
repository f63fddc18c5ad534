"""The manifest of webhooks."""

from admitone.finance.webhooks import routes
from admitone.finance.webhooks.facts import PayoutReported, WebhookReceived
from admitone.finance.webhooks.handlers.resolving import resolve
from admitone.finance.webhooks.model import RECEIPT
from admitone.kernel.manifest import Module, Privacy, Table, TableClass

MODULE = Module(
    name="webhooks",
    contracts=routes.CONTRACTS,
    tables=(
        Table(
            "receipt",
            TableClass.PLATFORM,
            Privacy.PSEUDONYMOUS,
            kept_because="metadata of money, kept for ten years: an event is known for as long as its payment is",
        ),
        Table("payload", TableClass.PLATFORM, Privacy.PERSONAL, append_only=True, retention_days=90),
        Table("cursor", TableClass.PLATFORM, kept_because="one row for each provider"),
    ),
    lifecycles=(RECEIPT,),
    facts=(WebhookReceived, PayoutReported),
    jobs=(resolve,),
)
