"""The door for other packages: what happened to payments is recorded here, and asked here."""

from admitone.finance.payments.commands.recording import record
from admitone.finance.payments.model import (
    PAID,
    AccountTold,
    Owner,
    Payment,
    Recorded,
    Status,
    Told,
    is_paid,
)
from admitone.finance.payments.store.payments import count_payments, find_payments, list_payments
from admitone.finance.payments.store.references import find_refs as find_owners

__all__ = (
    "PAID",
    "AccountTold",
    "Owner",
    "Payment",
    "Recorded",
    "Status",
    "Told",
    "count_payments",
    "find_owners",
    "find_payments",
    "is_paid",
    "list_payments",
    "record",
)
