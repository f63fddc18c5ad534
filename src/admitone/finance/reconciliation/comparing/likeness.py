"""What in the ledger a movement of a provider's is. What is compared with nothing says why."""

from typing import Final

from admitone.finance.gateways.api import MovementKind
from admitone.finance.ledger.api import Account, EntryType, Event, Likeness, Name, Transfer

E, K = EntryType, MovementKind
KINDS: Final[dict[EntryType, MovementKind]] = {
    E.GROSS: K.CHARGE,
    E.CAMPAIGN_PREPAYMENT: K.CHARGE,
    E.UNAPPLIED_RECEIPT: K.CHARGE,
    E.UNAPPLIED_APPLIED: K.CHARGE,
    E.TRANSFER_TO_ORG: K.TRANSFER,
    E.PROCESSOR_FEES_FINAL: K.FEE,
    E.PROCESSOR_FEES_SETTLED: K.FEE,
    E.PROCESSOR_FEES_ADJUSTMENT: K.FEE,
    E.REFUND_PROCESSOR_FEES_REVERSAL: K.FEE,
    E.REFUND_SETTLED: K.REFUND,
    E.REFUND_SETTLED_MIRROR: K.REFUND_RETURNED,
    E.DISPUTE_FUNDS_WITHDRAWN: K.DISPUTE,
    E.DISPUTE_FUNDS_REINSTATED: K.DISPUTE_RETURNED,
    E.DISPUTE_FEE: K.DISPUTE_FEE,
    E.DISPUTE_FEE_REVERSAL: K.DISPUTE_FEE_RETURNED,
    E.PAYOUT_INITIATED: K.PAYOUT,
    E.PAYOUT_FAILED: K.PAYOUT_RETURNED,
    E.BANK_PAYOUT: K.BANK_PAYOUT,
    E.BANK_PAYOUT_RETURNED: K.BANK_PAYOUT_RETURNED,
    E.ACCOUNT_FEE: K.ACCOUNT_FEE,
    E.ACCOUNT_FEE_RETURNED: K.ACCOUNT_FEE,
}
"""What a transfer says that the provider moved. Other types are between us and the organisation, or stand below."""
TAKEN_BACK: Final = (E.TRANSFER_REVERSAL, Event.UNAPPLIED_APPLIED)
"""Says that what was posted for money that paid for nothing was for something: the provider moved nothing again."""
SAYS_ITSELF: Final = E.RECON_ROUNDING
"""Corrects what a comparison found, and so belongs to the object that it corrects: which, it says in its metadata."""
KIND: Final = "kind"
"""Under which word it does."""
NOT_COMPARED: Final[dict[EntryType | MovementKind, str]] = {
    E.TRANSFER_REVERSAL: "posted for what is refunded or lost, whether or not the order took it from the account",
    E.TRANSFER_REVERSAL_MIRROR: "as the reversal that it takes back",
    K.TRANSFER_REVERSED: "as the reversal in the ledger",
    K.TRANSFER_AGAIN: "as the mirror in the ledger",
    K.APPLICATION_FEE_REFUNDED: "as the reversal in the ledger",
    E.SELLER_PAID: "no provider pays sellers yet: there is no movement for it",
    E.TAX_REMITTED: "paid to an authority by a bank, and not by the provider",
    E.PAYOUT_PAID: "both sides of it are the provider's: the payout moved when it was begun",
    E.COMMISSION_SWEEP: "both sides of it are the provider's: from one of our accounts there to another",
}
"""What touches the provider's side, or is in its journal, and is in no comparison; and why."""
COMES_IN: Final = frozenset(
    {
        K.CHARGE,
        K.REFUND_RETURNED,
        K.DISPUTE_RETURNED,
        K.DISPUTE_FEE_RETURNED,
        K.PAYOUT_RETURNED,
        K.BANK_PAYOUT_RETURNED,
    }
)
FEES: Final = frozenset({K.FEE, K.DISPUTE_FEE, K.DISPUTE_FEE_RETURNED, K.ACCOUNT_FEE})
"""What the provider takes for itself, and gives back of that."""
PROVIDERS_SIDE: Final = frozenset({Account.MA, Account.CASH, Account.TRN})

LIKENESS: Final = Likeness(
    names=(
        *(Name(entry, kind) for entry, kind in KINDS.items()),
        Name(TAKEN_BACK[0], K.TRANSFER, TAKEN_BACK[1]),
        Name(SAYS_ITSELF, None),
    ),
    inward=tuple(sorted(COMES_IN)),
    accounts=tuple(sorted(PROVIDERS_SIDE)),
)


def kind_of(transfer: Transfer) -> MovementKind | None:
    """What it says that the provider moved, if it does."""
    if (transfer.entry_type, transfer.event) == TAKEN_BACK:
        return K.TRANSFER
    if transfer.entry_type is SAYS_ITSELF:
        said = (transfer.metadata or {}).get(KIND)
        return K(said) if said in set(K) else None
    return KINDS.get(transfer.entry_type)


def minor_of(transfer: Transfer, kind: MovementKind) -> int:
    """How much of it: positive if it says that the provider moved so much."""
    came_in = (transfer.debit_account in PROVIDERS_SIDE) - (transfer.credit_account in PROVIDERS_SIDE)
    return transfer.amount_minor * (came_in if kind in COMES_IN else -came_in)
