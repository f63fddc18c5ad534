"""The manifest of webhooks."""

from admitone.finance.gateways.port import GATEWAYS
from admitone.finance.webhooks.facts import PayoutReported, WebhookReceived
from admitone.finance.webhooks.handlers.applying import apply
from admitone.finance.webhooks.handlers.mourning import RULES, look_after, tell
from admitone.finance.webhooks.handlers.resolving import resolve
from admitone.finance.webhooks.model import RECEIPT
from admitone.finance.webhooks.polling import poll
from admitone.finance.webhooks.routes import door, operating
from admitone.kernel.jobs import Schedule
from admitone.kernel.manifest import Module, Privacy, Table, TableClass

MODULE = Module(
    name="webhooks",
    contracts=(*door.CONTRACTS, *operating.CONTRACTS),
    permissions=(operating.SEE, operating.MEND),
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
    ports=(GATEWAYS,),
    lifecycles=(RECEIPT,),
    facts=(WebhookReceived, PayoutReported),
    jobs=(resolve, apply, tell, look_after, poll),
    schedules=(
        Schedule("webhooks.poll", "* * * * *", poll),
        Schedule("webhooks.look_after", "*/5 * * * *", look_after),
    ),
    alerts=tuple(RULES.values()),
)
