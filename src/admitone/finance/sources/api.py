"""The door for other packages: the words that all of finance shares."""

from admitone.finance.sources.model import (
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
