"""Every event of unification (b), and of the platform's own balance, and the transfers that follow: the ledger's one
table of postings.

Promise: what is not in this table is not posted. Each leg moves one amount from the credited to the debited account, so
every template balances; which types touch the position, and with which sign, follows from the table and nothing else.
"""

from typing import Final

from admitone.finance.ledger.model import Account, EntryType, Event, Leg
from admitone.finance.sources.api import Flow

CASH, MA, DSP, SETL = Account.CASH, Account.MA, Account.DSP, Account.SETL
DEP, ORG, REF, COMH = Account.DEP, Account.ORG, Account.REF, Account.COMH
GFP, TAX, TRN, SEL = Account.GFP, Account.TAX, Account.TRN, Account.SEL
SUS, DEF, FEER, COMR = Account.SUS, Account.DEF, Account.FEER, Account.COMR
CPR, GFE, RND, BANK = Account.CPR, Account.GFE, Account.RND, Account.BANK
E = EntryType

CLEARING: Final = {Flow.SALE: MA, Flow.RESALE: MA, Flow.CAMPAIGN: MA, Flow.STAY: CASH, Flow.STAY_LEFT: MA}
"""Where the provider's side of the money of a flow of sources stands."""

_OWN: Final[dict[tuple[Event, Flow], tuple[Leg, ...]]] = {
    # -- Tickets, courts, registrations, goods: T1 to T8
    (Event.CAPTURED, Flow.SALE): (
        Leg(E.GROSS, MA, ORG, "gross"),
        Leg(E.PLATFORM_FEE, ORG, FEER, "fee"),
        Leg(E.TRANSFER_TO_ORG, SETL, MA, "transfer"),
    ),
    (Event.FEES_FINAL, Flow.SALE): (Leg(E.PROCESSOR_FEES_FINAL, ORG, MA, "fee"),),
    (Event.FEES_ROSE, Flow.SALE): (Leg(E.PROCESSOR_FEES_ADJUSTMENT, ORG, MA, "fee"),),
    (Event.FEES_FELL, Flow.SALE): (Leg(E.PROCESSOR_FEES_ADJUSTMENT, MA, ORG, "fee"),),
    (Event.REFUND_ACCRUED, Flow.SALE): (
        Leg(E.REFUND_GROSS, ORG, REF, "gross"),
        Leg(E.REFUND_PLATFORM_FEE_REVERSAL, FEER, ORG, "fee"),
        Leg(E.TRANSFER_REVERSAL, MA, SETL, "transfer"),
    ),
    (Event.REFUND_FAILED, Flow.SALE): (
        Leg(E.REFUND_GROSS_MIRROR, REF, ORG, "gross"),
        Leg(E.REFUND_PLATFORM_FEE_MIRROR, ORG, FEER, "fee"),
        Leg(E.TRANSFER_REVERSAL_MIRROR, SETL, MA, "transfer"),
    ),
    (Event.REFUND_FEES_RETURNED, Flow.SALE): (Leg(E.REFUND_PROCESSOR_FEES_REVERSAL, MA, ORG, "fee"),),
    (Event.DISPUTE_LOST, Flow.SALE): (
        Leg(E.CHARGEBACK_GROSS, ORG, DSP, "gross"),
        Leg(E.CHARGEBACK_PLATFORM_FEE_REVERSAL, FEER, ORG, "fee"),
        Leg(E.TRANSFER_REVERSAL, MA, SETL, "transfer"),
    ),
    # What paid for nothing was moved on with the rest, and comes back with it: L1
    (Event.RECEIPT_UNAPPLIED, Flow.SALE): (
        Leg(E.UNAPPLIED_RECEIPT, MA, SUS, "gross"),
        Leg(E.TRANSFER_TO_ORG, SETL, MA, "transfer"),
    ),
    (Event.UNAPPLIED_APPLIED, Flow.SALE): (
        Leg(E.UNAPPLIED_APPLIED, SUS, MA, "gross"),
        Leg(E.TRANSFER_REVERSAL, MA, SETL, "transfer"),
    ),
    (Event.UNAPPLIED_REFUNDED, Flow.SALE): (
        Leg(E.UNAPPLIED_REFUND, SUS, REF, "gross"),
        Leg(E.TRANSFER_REVERSAL, MA, SETL, "transfer"),
    ),
    (Event.UNAPPLIED_REFUND_FAILED, Flow.SALE): (
        Leg(E.UNAPPLIED_REFUND_MIRROR, REF, SUS, "gross"),
        Leg(E.TRANSFER_REVERSAL_MIRROR, SETL, MA, "transfer"),
    ),
    (Event.UNAPPLIED_LOST, Flow.SALE): (
        Leg(E.UNAPPLIED_CHARGEBACK, SUS, DSP, "gross"),
        Leg(E.TRANSFER_REVERSAL, MA, SETL, "transfer"),
    ),
    # -- A ticket that is sold on: T9
    (Event.CAPTURED, Flow.RESALE): (
        Leg(E.GROSS, MA, ORG, "gross"),
        Leg(E.PLATFORM_FEE, ORG, FEER, "fee"),
        Leg(E.RESALE_SELLER_SHARE, ORG, SEL, "share"),
    ),
    (Event.SELLER_PAID, Flow.RESALE): (Leg(E.SELLER_PAID, SEL, MA, "share"),),
    # -- Stays, until the guest has left: S1 to S8, S10
    (Event.CAPTURED, Flow.STAY): (Leg(E.GROSS, CASH, DEP, "gross"),),
    (Event.COMMISSION_HELD, Flow.STAY): (Leg(E.PLATFORM_FEE, DEP, COMH, "fee"),),
    (Event.TAX_WITHHELD, Flow.STAY): (Leg(E.TAX_WITHHELD, DEP, TAX, "tax"),),
    (Event.TAX_REMITTED, Flow.STAY): (Leg(E.TAX_REMITTED, TAX, CASH, "tax"),),
    (Event.CHECKED_OUT, Flow.STAY): (
        Leg(E.PAYOUT_DUE, DEP, ORG, "due"),
        Leg(E.COMMISSION_EARNED, COMH, COMR, "commission"),
    ),
    (Event.PAYOUT_INITIATED, Flow.STAY): (Leg(E.PAYOUT_INITIATED, SETL, TRN, "paid"),),
    (Event.PAYOUT_PAID, Flow.STAY): (Leg(E.PAYOUT_PAID, TRN, CASH, "paid"),),
    (Event.PAYOUT_FAILED, Flow.STAY): (Leg(E.PAYOUT_FAILED, TRN, SETL, "paid"),),
    (Event.COMMISSION_SWEPT, Flow.STAY): (Leg(E.COMMISSION_SWEEP, MA, CASH, "commission"),),
    (Event.RECOVERY_RETURNED, Flow.STAY): (Leg(E.COMMISSION_SWEEP, CASH, MA, "recovered"),),
    (Event.REFUND_ACCRUED, Flow.STAY): (
        Leg(E.REFUND_PLATFORM_FEE_REVERSAL, COMH, DEP, "fee"),
        Leg(E.REFUND_GROSS, DEP, REF, "gross"),
    ),
    (Event.REFUND_FAILED, Flow.STAY): (
        Leg(E.REFUND_PLATFORM_FEE_MIRROR, DEP, COMH, "fee"),
        Leg(E.REFUND_GROSS_MIRROR, REF, DEP, "gross"),
    ),
    (Event.DISPUTE_LOST, Flow.STAY): (
        Leg(E.CHARGEBACK_PLATFORM_FEE_REVERSAL, COMH, DEP, "fee"),
        Leg(E.CHARGEBACK_GROSS, DEP, DSP, "gross"),
    ),
    # -- Stays, when what was held is due or paid already: S9
    (Event.REFUND_ACCRUED, Flow.STAY_LEFT): (
        Leg(E.REFUND_PLATFORM_FEE_REVERSAL, COMR, ORG, "fee"),
        Leg(E.REFUND_GROSS, ORG, REF, "gross"),
    ),
    (Event.REFUND_FAILED, Flow.STAY_LEFT): (
        Leg(E.REFUND_PLATFORM_FEE_MIRROR, ORG, COMR, "fee"),
        Leg(E.REFUND_GROSS_MIRROR, REF, ORG, "gross"),
    ),
    (Event.DISPUTE_LOST, Flow.STAY_LEFT): (
        Leg(E.CHARGEBACK_PLATFORM_FEE_REVERSAL, COMR, ORG, "fee"),
        Leg(E.CHARGEBACK_GROSS, ORG, DSP, "gross"),
    ),
    # -- Campaigns, paid before: C1 to C3; what goes back is no income any more: C5
    (Event.CAPTURED, Flow.CAMPAIGN): (
        Leg(E.CAMPAIGN_PREPAYMENT, MA, DEF, "gross"),
        Leg(E.UNAPPLIED_RECEIPT, MA, SUS, "surplus"),
    ),
    (Event.CAMPAIGN_EARNED, Flow.CAMPAIGN): (Leg(E.CAMPAIGN_EARNED, DEF, CPR, "earned"),),
    (Event.CAMPAIGN_UNEARNED, Flow.CAMPAIGN): (Leg(E.CAMPAIGN_UNEARNED, CPR, DEF, "unearned"),),
    (Event.REFUND_ACCRUED, Flow.CAMPAIGN): (Leg(E.CAMPAIGN_REFUND, DEF, REF, "gross"),),
    (Event.REFUND_FAILED, Flow.CAMPAIGN): (Leg(E.CAMPAIGN_REFUND_MIRROR, REF, DEF, "gross"),),
    (Event.DISPUTE_LOST, Flow.CAMPAIGN): (Leg(E.CAMPAIGN_CHARGEBACK, DEF, DSP, "gross"),),
    # -- The platform's own balance at a provider, in the platform's own books
    (Event.BANK_PAYOUT, Flow.OWN): (Leg(E.BANK_PAYOUT, BANK, MA, "moved"),),
    (Event.BANK_PAYOUT_RETURNED, Flow.OWN): (Leg(E.BANK_PAYOUT_RETURNED, MA, BANK, "moved"),),
    (Event.ACCOUNT_FEE, Flow.OWN): (Leg(E.ACCOUNT_FEE, GFE, MA, "moved"),),
    (Event.ACCOUNT_FEE_RETURNED, Flow.OWN): (Leg(E.ACCOUNT_FEE_RETURNED, MA, GFE, "moved"),),
}


def _everywhere(flow: Flow) -> dict[tuple[Event, Flow], tuple[Leg, ...]]:
    """What differs between flows only in where the provider's money stands: refunds settled, disputes, late money (L1),
    rounding (R1)."""
    clearing = CLEARING[flow]
    return {
        (Event.REFUND_SETTLED, flow): (Leg(E.REFUND_SETTLED, REF, clearing, "gross"),),
        (Event.REFUND_RETURNED, flow): (Leg(E.REFUND_SETTLED_MIRROR, clearing, REF, "gross"),),
        (Event.DISPUTE_OPENED, flow): (Leg(E.DISPUTE_FUNDS_WITHDRAWN, DSP, clearing, "gross"),),
        (Event.DISPUTE_WON, flow): (Leg(E.DISPUTE_FUNDS_REINSTATED, clearing, DSP, "gross"),),
        (Event.DISPUTE_FEE_CHARGED, flow): (Leg(E.DISPUTE_FEE, ORG, MA, "fee"),),
        (Event.DISPUTE_FEE_RETURNED, flow): (Leg(E.DISPUTE_FEE_REVERSAL, MA, ORG, "fee"),),
        (Event.RECEIPT_UNAPPLIED, flow): (Leg(E.UNAPPLIED_RECEIPT, clearing, SUS, "gross"),),
        (Event.UNAPPLIED_APPLIED, flow): (Leg(E.UNAPPLIED_APPLIED, SUS, clearing, "gross"),),
        (Event.UNAPPLIED_REFUNDED, flow): (Leg(E.UNAPPLIED_REFUND, SUS, REF, "gross"),),
        (Event.UNAPPLIED_REFUND_FAILED, flow): (Leg(E.UNAPPLIED_REFUND_MIRROR, REF, SUS, "gross"),),
        (Event.UNAPPLIED_LOST, flow): (Leg(E.UNAPPLIED_CHARGEBACK, SUS, DSP, "gross"),),
        (Event.ROUNDED_DOWN, flow): (Leg(E.RECON_ROUNDING, RND, clearing, "difference"),),
        (Event.ROUNDED_UP, flow): (Leg(E.RECON_ROUNDING, clearing, RND, "difference"),),
    }


def _borne_by_platform(flow: Flow) -> dict[tuple[Event, Flow], tuple[Leg, ...]]:
    """The processor's fee where the platform bears it (U-10), owed and paid at once."""
    return {
        (Event.FEES_FINAL, flow): (
            Leg(E.PROCESSOR_FEES_FINAL, GFE, GFP, "fee"),
            Leg(E.PROCESSOR_FEES_SETTLED, GFP, MA, "fee"),
        ),
        (Event.FEES_ROSE, flow): (Leg(E.PROCESSOR_FEES_ADJUSTMENT, GFE, MA, "fee"),),
        (Event.FEES_FELL, flow): (Leg(E.PROCESSOR_FEES_ADJUSTMENT, MA, GFE, "fee"),),
        (Event.REFUND_FEES_RETURNED, flow): (Leg(E.REFUND_PROCESSOR_FEES_REVERSAL, MA, GFE, "fee"),),
    }


TEMPLATES: Final[dict[tuple[Event, Flow], tuple[Leg, ...]]] = {
    **{key: legs for flow in CLEARING for key, legs in _everywhere(flow).items()},
    **_OWN,
    **{
        key: legs
        for flow in (Flow.RESALE, Flow.STAY, Flow.STAY_LEFT, Flow.CAMPAIGN)
        for key, legs in _borne_by_platform(flow).items()
    },
}


def constraint() -> str:
    """The body of the CHECK that keeps out of the table of transfers whatever no template makes: a type stands there
    with the accounts, and so with the sign, that it has here (FIN-040)."""
    allowed = sorted({f"{leg.entry} {leg.debit} {leg.credit}" for legs in TEMPLATES.values() for leg in legs})
    words = ",\n        ".join(f"'{each}'" for each in allowed)
    return f"(entry_type || ' ' || debit_account || ' ' || credit_account) IN (\n        {words}\n    )"
