"""The door for other packages: what is due to owners, and what is not paid for now."""

from admitone.finance.payouts.commands.freezing import Frozen, freeze, release
from admitone.finance.payouts.commands.owing import owe
from admitone.finance.payouts.errands import begin_everywhere
from admitone.finance.payouts.model import (
    FreezeOrder,
    Obligation,
    ObligationId,
    ObligationState,
    Owed,
    Owing,
    Payout,
    PayoutId,
    PayoutState,
    PlannedPayout,
    Reason,
)
from admitone.finance.payouts.planning import BATCH, BatchRequest
from admitone.finance.payouts.store.obligations import find_by_payment
from admitone.finance.payouts.store.payouts import list_payouts

__all__ = (
    "BATCH",
    "BatchRequest",
    "FreezeOrder",
    "Frozen",
    "Obligation",
    "ObligationId",
    "ObligationState",
    "Owed",
    "Owing",
    "Payout",
    "PayoutId",
    "PayoutState",
    "PlannedPayout",
    "Reason",
    "begin_everywhere",
    "find_by_payment",
    "freeze",
    "list_payouts",
    "owe",
    "release",
)
