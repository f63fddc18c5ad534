"""The two ways in which others read the ledger: ORYA's signed entries and the journal of 004.

Promise: both are views of the transfers and have no data of their own (U-01); every type and every account has its word
in the journal (MOR-004, MOR-005). The words stand here, and the migration's views say the same.
"""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any, Final
from uuid import UUID

import msgspec

from admitone.finance.ledger.model import Account, EntryType
from admitone.finance.sources.api import PaymentId
from admitone.kernel.money import Currency

RECEIVED, TAKEN, DUE = "payment_received", "commission_taken", "payout_due"
FEE, REFUNDED, WITHHELD = "gateway_fee", "refund_processed", "tax_withheld"
CUSTOMER, OWNER, GATEWAY = "customer", "owner", "gateway"

JOURNAL_TYPE: Final[dict[EntryType, str]] = {
    EntryType.GROSS: RECEIVED,
    EntryType.PLATFORM_FEE: TAKEN,
    EntryType.PROCESSOR_FEES_FINAL: FEE,
    EntryType.PROCESSOR_FEES_ADJUSTMENT: FEE,
    EntryType.DISPUTE_FEE: FEE,
    EntryType.DISPUTE_FEE_REVERSAL: FEE,
    EntryType.REFUND_GROSS: REFUNDED,
    EntryType.REFUND_PLATFORM_FEE_REVERSAL: REFUNDED,
    EntryType.REFUND_PROCESSOR_FEES_REVERSAL: REFUNDED,
    EntryType.CHARGEBACK_GROSS: REFUNDED,
    EntryType.CHARGEBACK_PLATFORM_FEE_REVERSAL: REFUNDED,
    EntryType.TAX_WITHHELD: WITHHELD,
    EntryType.PAYOUT_DUE: DUE,
    EntryType.RESALE_SELLER_SHARE: DUE,
    EntryType.REFUND_GROSS_MIRROR: REFUNDED,
    EntryType.REFUND_PLATFORM_FEE_MIRROR: REFUNDED,
    EntryType.TRANSFER_TO_ORG: DUE,
    EntryType.TRANSFER_REVERSAL: DUE,
    EntryType.TRANSFER_REVERSAL_MIRROR: DUE,
    EntryType.PROCESSOR_FEES_SETTLED: FEE,
    EntryType.REFUND_SETTLED: REFUNDED,
    EntryType.REFUND_SETTLED_MIRROR: REFUNDED,
    EntryType.DISPUTE_FUNDS_WITHDRAWN: REFUNDED,
    EntryType.DISPUTE_FUNDS_REINSTATED: REFUNDED,
    EntryType.COMMISSION_EARNED: TAKEN,
    EntryType.COMMISSION_SWEEP: TAKEN,
    EntryType.TAX_REMITTED: WITHHELD,
    EntryType.PAYOUT_INITIATED: DUE,
    EntryType.PAYOUT_PAID: DUE,
    EntryType.PAYOUT_FAILED: DUE,
    EntryType.SELLER_PAID: DUE,
    EntryType.UNAPPLIED_RECEIPT: RECEIVED,
    EntryType.UNAPPLIED_APPLIED: RECEIVED,
    EntryType.UNAPPLIED_REFUND: REFUNDED,
    EntryType.UNAPPLIED_REFUND_MIRROR: REFUNDED,
    EntryType.UNAPPLIED_CHARGEBACK: REFUNDED,
    EntryType.CAMPAIGN_PREPAYMENT: RECEIVED,
    EntryType.CAMPAIGN_EARNED: TAKEN,
    EntryType.CAMPAIGN_UNEARNED: REFUNDED,
    EntryType.CAMPAIGN_REFUND: REFUNDED,
    EntryType.CAMPAIGN_REFUND_MIRROR: REFUNDED,
    EntryType.CAMPAIGN_CHARGEBACK: REFUNDED,
    EntryType.RECON_ROUNDING: FEE,
    EntryType.BANK_PAYOUT: DUE,
    EntryType.BANK_PAYOUT_RETURNED: DUE,
    EntryType.ACCOUNT_FEE: FEE,
    EntryType.ACCOUNT_FEE_RETURNED: FEE,
}

JOURNAL_ACCOUNT: Final[dict[Account, str]] = {
    **{account: account.value for account in Account},
    # What 004 calls receivable is owed by us (U-02), and what is owed to owners is one account to it.
    Account.ORG: "payouts_receivable",
    Account.SETL: "payouts_receivable",
    Account.GFP: "gateway_fees_receivable",
    Account.FEER: "commission_revenue",
}

COUNTERPARTY: Final[dict[Account, str]] = {
    Account.CASH: GATEWAY,
    Account.MA: GATEWAY,
    Account.BANK: GATEWAY,
    Account.DSP: CUSTOMER,
    Account.SETL: OWNER,
    Account.DEP: CUSTOMER,
    Account.ORG: OWNER,
    Account.REF: CUSTOMER,
    Account.COMH: OWNER,
    Account.GFP: GATEWAY,
    Account.TAX: OWNER,
    Account.TRN: OWNER,
    Account.SEL: CUSTOMER,
    Account.SUS: CUSTOMER,
    Account.DEF: OWNER,
    Account.FEER: OWNER,
    Account.COMR: OWNER,
    Account.CPR: OWNER,
    Account.GFE: GATEWAY,
    Account.RND: GATEWAY,
}


class Entry(msgspec.Struct, frozen=True):
    """ORYA's ledger entry (FIN-041): one line on a payee's position."""

    id: UUID
    account: Account
    transaction_id: UUID
    payee_id: UUID
    city_code: str
    entry_type: EntryType
    amount_signed: int
    currency: Currency
    payment_id: PaymentId | None
    source_type: str | None
    source_id: str | None
    line: int
    causation_id: str
    correlation_id: UUID
    created_at: datetime


class JournalLine(msgspec.Struct, frozen=True):
    """004's journal line (MOR-002): one side of a transfer, in its words."""

    transfer_id: UUID
    direction: str
    entry_id: UUID
    transaction_id: UUID
    booking_id: str | None
    property_id: UUID | None
    city_code: str
    entry_type: str
    amount: int
    account: str
    counterparty: str
    metadata: dict[str, Any]
    created_at: datetime
    payee_id: UUID
    payment_id: UUID | None
    causation_id: str
    correlation_id: UUID
    currency: Currency


def case(column: str, words: Mapping[StrEnum, str]) -> str:
    """The expression by which the view says the same."""
    indent = " " * 11
    chosen = "\n".join(f"{indent}    WHEN '{key}' THEN '{word}'" for key, word in words.items())
    return f"CASE {column}\n{chosen}\n{indent}END"
