"""The door for other packages: the words that all of finance shares."""

from admitone.finance.sources.model import (
    LARGEST_AMOUNT,
    SOURCE_TYPES,
    Bearer,
    Flow,
    LatePayment,
    Manner,
    PaymentId,
    SettlementModel,
    Source,
    SourceId,
    SourceType,
)

__all__ = (
    "LARGEST_AMOUNT",
    "SOURCE_TYPES",
    "Bearer",
    "Flow",
    "LatePayment",
    "Manner",
    "PaymentId",
    "SettlementModel",
    "Source",
    "SourceId",
    "SourceType",
)
