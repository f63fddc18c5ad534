"""The door for other packages: post, and ask."""

from admitone.finance.ledger.model import (
    CHART,
    POSITION,
    Account,
    AccountClass,
    Balance,
    EntryType,
    Event,
    Holding,
    Posted,
    Posting,
    Transfer,
    TransferId,
)
from admitone.finance.ledger.policy import NoSuchTemplate, PostedOtherwise, WrongAmounts
from admitone.finance.ledger.posting import post
from admitone.finance.ledger.queries import (
    TrialBalance,
    balance_as_of,
    balances,
    list_transfers_of,
    net_of,
    trial_balance,
)

__all__ = (
    "CHART",
    "POSITION",
    "Account",
    "AccountClass",
    "Balance",
    "EntryType",
    "Event",
    "Holding",
    "NoSuchTemplate",
    "Posted",
    "PostedOtherwise",
    "Posting",
    "Transfer",
    "TransferId",
    "TrialBalance",
    "WrongAmounts",
    "balance_as_of",
    "balances",
    "list_transfers_of",
    "net_of",
    "post",
    "trial_balance",
)
