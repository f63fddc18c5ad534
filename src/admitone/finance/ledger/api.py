"""The door for other packages: post, and ask."""

from admitone.finance.ledger.exporting import BEGINNING, Form, export_end, export_page, headings
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
    count_transfers,
    list_transfers_of,
    net_of,
    statement,
    trial_balance,
)
from admitone.finance.ledger.rolling import Rolled, roll, roll_everybody, roll_out
from admitone.finance.ledger.sealing import Fault, FaultKind
from admitone.finance.ledger.verification import ChainPage, TailPage, verify_chain, verify_tail

__all__ = (
    "BEGINNING",
    "CHART",
    "POSITION",
    "Account",
    "AccountClass",
    "Balance",
    "ChainPage",
    "EntryType",
    "Event",
    "Fault",
    "FaultKind",
    "Form",
    "Holding",
    "NoSuchTemplate",
    "Posted",
    "PostedOtherwise",
    "Posting",
    "Rolled",
    "TailPage",
    "Transfer",
    "TransferId",
    "TrialBalance",
    "WrongAmounts",
    "balance_as_of",
    "balances",
    "count_transfers",
    "export_end",
    "export_page",
    "headings",
    "list_transfers_of",
    "net_of",
    "post",
    "roll",
    "roll_everybody",
    "roll_out",
    "statement",
    "trial_balance",
    "verify_chain",
    "verify_tail",
)
