"""The door for other packages: what happened to payments is recorded here, and asked here."""

from admitone.finance.payments.asking import CHARGE_DISPUTED, Clerk, refusal_of
from admitone.finance.payments.commands.accounts import Opened, Opening, change_accounts, keep_accounts, open_accounts
from admitone.finance.payments.commands.answers import Answer, take_answers
from admitone.finance.payments.commands.checkouts import Begun, begin
from admitone.finance.payments.commands.commissions import Commission, hold_commissions, keep_commissions
from admitone.finance.payments.commands.dues import Due, Fallen, fall_due
from admitone.finance.payments.commands.recording import record
from admitone.finance.payments.commands.refunding import (
    PlannedRefund,
    Refunding,
    RefundWanted,
    begin_refunds,
    plan_refunds,
)
from admitone.finance.payments.errands import ask_about_pix, ask_for_fees
from admitone.finance.payments.errors import (
    FreeUncounted,
    NotRefundable,
    OfferEnded,
    PaymentNotFound,
    RefundTooMuch,
    SourceNotSold,
)
from admitone.finance.payments.model import (
    CLOSABLE,
    OPEN,
    PAID,
    AccountTold,
    Checkout,
    GatewayIntent,
    KnownAccount,
    Owner,
    Payment,
    Reason,
    Recorded,
    RefundState,
    Scenario,
    Status,
    Told,
    is_paid,
)
from admitone.finance.payments.orders import GRACE
from admitone.finance.payments.paying import give_up, try_to_pay
from admitone.finance.payments.queries import ToldDispute, find_disputes
from admitone.finance.payments.secrets import status_secret
from admitone.finance.payments.store.accounts import find_accounts
from admitone.finance.payments.store.payments import (
    count_payments,
    find_of_sources,
    find_payments,
    find_statuses,
    find_through,
    list_payments,
    lock_payments,
)
from admitone.finance.payments.store.references import Belonging, put_refs
from admitone.finance.payments.store.references import find_refs as find_owners
from admitone.finance.payments.store.standing import give_back_takings
from admitone.finance.payments.store.subjects import count_of_subject, find_paid, hold_subjects, list_of_subject
from admitone.finance.payments.wires import CheckoutAnswer, WhyNotPaid

__all__ = (
    "CHARGE_DISPUTED",
    "CLOSABLE",
    "GRACE",
    "OPEN",
    "PAID",
    "AccountTold",
    "Answer",
    "Begun",
    "Belonging",
    "Checkout",
    "CheckoutAnswer",
    "Clerk",
    "Commission",
    "Due",
    "Fallen",
    "FreeUncounted",
    "GatewayIntent",
    "KnownAccount",
    "NotRefundable",
    "OfferEnded",
    "Opened",
    "Opening",
    "Owner",
    "Payment",
    "PaymentNotFound",
    "PlannedRefund",
    "Reason",
    "Recorded",
    "RefundState",
    "RefundTooMuch",
    "RefundWanted",
    "Refunding",
    "Scenario",
    "SourceNotSold",
    "Status",
    "Told",
    "ToldDispute",
    "WhyNotPaid",
    "ask_about_pix",
    "ask_for_fees",
    "begin",
    "begin_refunds",
    "change_accounts",
    "count_of_subject",
    "count_payments",
    "fall_due",
    "find_accounts",
    "find_disputes",
    "find_of_sources",
    "find_owners",
    "find_paid",
    "find_payments",
    "find_statuses",
    "find_through",
    "give_back_takings",
    "give_up",
    "hold_commissions",
    "hold_subjects",
    "is_paid",
    "keep_accounts",
    "keep_commissions",
    "list_of_subject",
    "list_payments",
    "lock_payments",
    "open_accounts",
    "plan_refunds",
    "put_refs",
    "record",
    "refusal_of",
    "status_secret",
    "take_answers",
    "try_to_pay",
)
