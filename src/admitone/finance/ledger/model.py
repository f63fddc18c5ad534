"""Accounts, types of entries, and what is asked of the ledger."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Final
from uuid import UUID

import msgspec
from msgspec import Meta

from admitone.finance.sources.api import Flow, PaymentId, Source
from admitone.kernel.contracts.wire import Wire
from admitone.kernel.ids import Id
from admitone.kernel.money import Currency
from admitone.kernel.scope import GLOBAL, Caller


class AccountClass(StrEnum):
    ASSET = "ASSET"
    CONTRA_LIABILITY = "CONTRA_LIABILITY"
    LIABILITY = "LIABILITY"
    REVENUE = "REVENUE"
    EXPENSE = "EXPENSE"

    @property
    def grows_by_debit(self) -> bool:
        return self in (AccountClass.ASSET, AccountClass.CONTRA_LIABILITY, AccountClass.EXPENSE)


class Account(StrEnum):
    """The chart, by the names that stand in the rows; the members are the codes of unification (b), and BANK, the
    platform's own bank, to which its providers pay its balance out."""

    CASH = "cash_reserve"
    MA = "merchant_account"
    BANK = "bank_account"
    DSP = "disputed_funds"
    SETL = "org_settlements"
    DEP = "customer_deposits"
    ORG = "org_payable"
    REF = "refunds_payable"
    COMH = "commissions_payable"
    GFP = "gateway_fees_payable"
    TAX = "tax_payable"
    TRN = "payouts_in_transit"
    SEL = "resale_seller_payable"
    SUS = "unapplied_receipts"
    DEF = "deferred_revenue"
    FEER = "platform_fee_revenue"
    COMR = "commission_revenue"
    CPR = "coupon_revenue"
    GFE = "gateway_fee_expense"
    RND = "rounding_adjustment"


CHART: Final[dict[Account, AccountClass]] = {
    Account.CASH: AccountClass.ASSET,
    Account.MA: AccountClass.ASSET,
    Account.BANK: AccountClass.ASSET,
    Account.DSP: AccountClass.ASSET,
    Account.SETL: AccountClass.CONTRA_LIABILITY,
    Account.DEP: AccountClass.LIABILITY,
    Account.ORG: AccountClass.LIABILITY,
    Account.REF: AccountClass.LIABILITY,
    Account.COMH: AccountClass.LIABILITY,
    Account.GFP: AccountClass.LIABILITY,
    Account.TAX: AccountClass.LIABILITY,
    Account.TRN: AccountClass.LIABILITY,
    Account.SEL: AccountClass.LIABILITY,
    Account.SUS: AccountClass.LIABILITY,
    Account.DEF: AccountClass.LIABILITY,
    Account.FEER: AccountClass.REVENUE,
    Account.COMR: AccountClass.REVENUE,
    Account.CPR: AccountClass.REVENUE,
    Account.GFE: AccountClass.EXPENSE,
    Account.RND: AccountClass.EXPENSE,
}


class OwnAccount(StrEnum):
    """The accounts that are an organisation's business, whoever runs the platform: what is held for it, owed to it and
    paid to it, owed to its customers, and what it paid in fees and taxes. Not what the platform has at its gateways,
    and not what these cost it."""

    SETL = Account.SETL.value
    DSP = Account.DSP.value
    DEP = Account.DEP.value
    ORG = Account.ORG.value
    REF = Account.REF.value
    COMH = Account.COMH.value
    TAX = Account.TAX.value
    TRN = Account.TRN.value
    SEL = Account.SEL.value
    SUS = Account.SUS.value
    DEF = Account.DEF.value
    FEER = Account.FEER.value
    COMR = Account.COMR.value
    CPR = Account.CPR.value


OWN_ACCOUNTS: Final = frozenset(Account(each.value) for each in OwnAccount)

POSITION: Final = frozenset({Account.DEP, Account.ORG})
"""What these say is a payee's: `netToOrg` is the sum over them, whatever the type of entry."""


class EntryType(StrEnum):
    """Why a transfer was made. The first eleven are ORYA's, then the extensions that touch the position; the rest
    touch it never."""

    GROSS = "GROSS"
    PLATFORM_FEE = "PLATFORM_FEE"
    PROCESSOR_FEES_FINAL = "PROCESSOR_FEES_FINAL"
    PROCESSOR_FEES_ADJUSTMENT = "PROCESSOR_FEES_ADJUSTMENT"
    DISPUTE_FEE = "DISPUTE_FEE"
    DISPUTE_FEE_REVERSAL = "DISPUTE_FEE_REVERSAL"
    REFUND_GROSS = "REFUND_GROSS"
    REFUND_PLATFORM_FEE_REVERSAL = "REFUND_PLATFORM_FEE_REVERSAL"
    REFUND_PROCESSOR_FEES_REVERSAL = "REFUND_PROCESSOR_FEES_REVERSAL"
    CHARGEBACK_GROSS = "CHARGEBACK_GROSS"
    CHARGEBACK_PLATFORM_FEE_REVERSAL = "CHARGEBACK_PLATFORM_FEE_REVERSAL"

    TAX_WITHHELD = "TAX_WITHHELD"
    PAYOUT_DUE = "PAYOUT_DUE"
    RESALE_SELLER_SHARE = "RESALE_SELLER_SHARE"
    REFUND_GROSS_MIRROR = "REFUND_GROSS_MIRROR"
    REFUND_PLATFORM_FEE_MIRROR = "REFUND_PLATFORM_FEE_MIRROR"

    TRANSFER_TO_ORG = "TRANSFER_TO_ORG"
    TRANSFER_REVERSAL = "TRANSFER_REVERSAL"
    TRANSFER_REVERSAL_MIRROR = "TRANSFER_REVERSAL_MIRROR"
    PROCESSOR_FEES_SETTLED = "PROCESSOR_FEES_SETTLED"
    REFUND_SETTLED = "REFUND_SETTLED"
    REFUND_SETTLED_MIRROR = "REFUND_SETTLED_MIRROR"
    DISPUTE_FUNDS_WITHDRAWN = "DISPUTE_FUNDS_WITHDRAWN"
    DISPUTE_FUNDS_REINSTATED = "DISPUTE_FUNDS_REINSTATED"
    COMMISSION_EARNED = "COMMISSION_EARNED"
    COMMISSION_SWEEP = "COMMISSION_SWEEP"
    TAX_REMITTED = "TAX_REMITTED"
    PAYOUT_INITIATED = "PAYOUT_INITIATED"
    PAYOUT_PAID = "PAYOUT_PAID"
    PAYOUT_FAILED = "PAYOUT_FAILED"
    SELLER_PAID = "SELLER_PAID"
    UNAPPLIED_RECEIPT = "UNAPPLIED_RECEIPT"
    UNAPPLIED_APPLIED = "UNAPPLIED_APPLIED"
    UNAPPLIED_REFUND = "UNAPPLIED_REFUND"
    UNAPPLIED_REFUND_MIRROR = "UNAPPLIED_REFUND_MIRROR"
    UNAPPLIED_CHARGEBACK = "UNAPPLIED_CHARGEBACK"
    CAMPAIGN_PREPAYMENT = "CAMPAIGN_PREPAYMENT"
    CAMPAIGN_EARNED = "CAMPAIGN_EARNED"
    CAMPAIGN_UNEARNED = "CAMPAIGN_UNEARNED"
    CAMPAIGN_REFUND = "CAMPAIGN_REFUND"
    CAMPAIGN_REFUND_MIRROR = "CAMPAIGN_REFUND_MIRROR"
    CAMPAIGN_CHARGEBACK = "CAMPAIGN_CHARGEBACK"
    RECON_ROUNDING = "RECON_ROUNDING"
    BANK_PAYOUT = "BANK_PAYOUT"
    BANK_PAYOUT_RETURNED = "BANK_PAYOUT_RETURNED"
    ACCOUNT_FEE = "ACCOUNT_FEE"
    ACCOUNT_FEE_RETURNED = "ACCOUNT_FEE_RETURNED"


class Event(StrEnum):
    """What happened to money. Together with the flow it names the template."""

    CAPTURED = "CAPTURED"
    COMMISSION_HELD = "COMMISSION_HELD"
    TAX_WITHHELD = "TAX_WITHHELD"
    TAX_REMITTED = "TAX_REMITTED"
    FEES_FINAL = "FEES_FINAL"
    FEES_ROSE = "FEES_ROSE"
    FEES_FELL = "FEES_FELL"
    CHECKED_OUT = "CHECKED_OUT"
    COMMISSION_SWEPT = "COMMISSION_SWEPT"
    RECOVERY_RETURNED = "RECOVERY_RETURNED"
    """What was recovered from an owner is theirs after all."""
    PAYOUT_INITIATED = "PAYOUT_INITIATED"
    PAYOUT_PAID = "PAYOUT_PAID"
    PAYOUT_FAILED = "PAYOUT_FAILED"
    SELLER_PAID = "SELLER_PAID"
    REFUND_ACCRUED = "REFUND_ACCRUED"
    REFUND_SETTLED = "REFUND_SETTLED"
    REFUND_FAILED = "REFUND_FAILED"
    REFUND_RETURNED = "REFUND_RETURNED"
    """It had arrived, and came back."""
    REFUND_FEES_RETURNED = "REFUND_FEES_RETURNED"
    DISPUTE_OPENED = "DISPUTE_OPENED"
    DISPUTE_FEE_CHARGED = "DISPUTE_FEE_CHARGED"
    DISPUTE_WON = "DISPUTE_WON"
    DISPUTE_FEE_RETURNED = "DISPUTE_FEE_RETURNED"
    DISPUTE_LOST = "DISPUTE_LOST"
    RECEIPT_UNAPPLIED = "RECEIPT_UNAPPLIED"
    UNAPPLIED_APPLIED = "UNAPPLIED_APPLIED"
    UNAPPLIED_REFUNDED = "UNAPPLIED_REFUNDED"
    UNAPPLIED_REFUND_FAILED = "UNAPPLIED_REFUND_FAILED"
    UNAPPLIED_LOST = "UNAPPLIED_LOST"
    CAMPAIGN_EARNED = "CAMPAIGN_EARNED"
    CAMPAIGN_UNEARNED = "CAMPAIGN_UNEARNED"
    """More of its money went back than was still deferred."""
    ROUNDED_DOWN = "ROUNDED_DOWN"
    """The ledger stood above the gateway."""
    ROUNDED_UP = "ROUNDED_UP"
    BANK_PAYOUT = "BANK_PAYOUT"
    """A provider paid of the platform's balance to the platform's bank."""
    BANK_PAYOUT_RETURNED = "BANK_PAYOUT_RETURNED"
    ACCOUNT_FEE = "ACCOUNT_FEE"
    """A provider took something for itself, and for no payment."""
    ACCOUNT_FEE_RETURNED = "ACCOUNT_FEE_RETURNED"


class Leg(msgspec.Struct, frozen=True):
    """One transfer of a template: by which of the posting's amounts, from where to where."""

    entry: EntryType
    debit: Account
    credit: Account
    amount: str


Cause = Annotated[str, Meta(min_length=1, max_length=200)]
Metadata = Mapping[str, str | int]


class Posting(msgspec.Struct, frozen=True):
    """Something that happened to money, to be posted once for its cause."""

    caller: Caller
    event: Event
    flow: Flow
    currency: Currency
    amounts: Mapping[str, int]
    """By the names that the template uses, none negative; a transfer of nothing is not made."""
    cause: Cause
    payment: PaymentId | None = None
    source: Source | None = None
    payee: UUID | None = None
    """Left out: the organisation itself."""
    city_code: str = GLOBAL
    line: int = 0
    """Of the payment's items, for what concerns one of them."""
    reference: str | None = None
    """The provider's own id of it: charge, refund, dispute, payout, fee."""
    metadata: Metadata | None = None
    """What it was computed from, for whoever reads the journal (MOR-010 to MOR-015): no names, no decisions."""


class PlannedTransfer(Wire):
    """A line that would be posted, for whoever is asked before."""

    entry_type: EntryType
    debit: Account
    credit: Account
    amount_minor: int
    currency: str


class TransferId(Id, prefix="tfr"):
    """One transfer."""


class Transfer(msgspec.Struct, frozen=True):
    """One row of the ledger: so much from the credited account to the debited one, since when, and why."""

    id: TransferId
    transaction_id: UUID
    """What was posted together."""
    city_code: str
    payee_id: UUID
    entry_type: EntryType
    event: Event
    flow: Flow
    line: int
    debit_account: Account
    credit_account: Account
    amount_minor: int
    currency: Currency
    payment_id: PaymentId | None
    source_type: str | None
    source_id: str | None
    causation_id: Cause
    correlation_id: UUID
    reference: str | None
    metadata: dict[str, str | int] | None
    posted_at: datetime

    @property
    def net_minor(self) -> int:
        """What it adds to the payee's position."""
        return self.amount_minor * ((self.credit_account in POSITION) - (self.debit_account in POSITION))


class Posted(msgspec.Struct, frozen=True):
    """What became of a posting."""

    transaction_id: UUID
    new: bool
    """Whether anything was added: not by a replay, and not by amounts that are all nothing."""


class Holding(msgspec.Struct, frozen=True, order=True):
    """Of what a balance is kept."""

    account: Account
    payee: UUID
    currency: Currency


class Balance(msgspec.Struct, frozen=True):
    """What went through an account for a payee, each side for itself."""

    holding: Holding
    debits_minor: int
    credits_minor: int

    @property
    def minor(self) -> int:
        """What it amounts to, positive on the side on which accounts of its class grow."""
        difference = self.debits_minor - self.credits_minor
        return difference if CHART[self.holding.account].grows_by_debit else -difference
