"""The manifest of payments."""

from admitone.finance.payments import errands, routes
from admitone.finance.payments.facts import (
    FACTS,
    AccountUnclear,
    AttemptsSpent,
    DisputeRecorded,
    PaymentContradicted,
    PaymentIncomplete,
    PaymentNeedsManual,
    ReceiptChanged,
    ReceiptUnapplied,
    RefundBegun,
    RefundReturned,
)
from admitone.finance.payments.model import INTENT, PAYMENT, RECEIPT
from admitone.finance.payments.wires import FINANCE_PAYMENTS_R, FINANCE_PAYMENTS_RW
from admitone.kernel.jobs import Schedule, Subscription
from admitone.kernel.manifest import Module, Privacy, Table, TableClass

TEN_YEARS = "the law wants payments for ten years, and who paid is an id that tells nothing once the person is erased"

MODULE = Module(
    name="payments",
    contracts=routes.CONTRACTS,
    permissions=(FINANCE_PAYMENTS_R, FINANCE_PAYMENTS_RW, *routes.PERMISSIONS),
    limits=routes.LIMITS,
    jobs=(
        errands.ask_provider,
        errands.close_spent,
        errands.refund,
        errands.see_to_receipt,
        errands.see_to_contradiction,
        errands.see_to_unpaid,
        errands.take_back,
        errands.hand_on,
        errands.tell_of_receipt,
        errands.ask_about_account,
        errands.fetch_fees_of,
        errands.complete_intents,
        errands.expire,
        errands.fetch_fees,
    ),
    subscriptions=(
        Subscription(PaymentIncomplete, errands.ask_provider),
        Subscription(AttemptsSpent, errands.close_spent),
        Subscription(RefundBegun, errands.refund),
        Subscription(ReceiptUnapplied, errands.see_to_receipt),
        Subscription(PaymentContradicted, errands.see_to_contradiction),
        Subscription(PaymentNeedsManual, errands.see_to_unpaid),
        Subscription(DisputeRecorded, errands.take_back),
        Subscription(RefundReturned, errands.hand_on),
        Subscription(ReceiptChanged, errands.tell_of_receipt),
        Subscription(AccountUnclear, errands.ask_about_account),
    ),
    schedules=(
        Schedule("payments.complete_intents", "* * * * *", errands.complete_intents),
        Schedule("payments.expire", "* * * * *", errands.expire),
        Schedule("payments.fetch_fees", "*/5 * * * *", errands.fetch_fees),
    ),
    alerts=errands.RULES,
    tables=(
        Table("payment", TableClass.TENANT, Privacy.PSEUDONYMOUS, kept_because=TEN_YEARS),
        Table("payment_fact", TableClass.TENANT, append_only=True),
        Table("gateway_intent", TableClass.TENANT),
        Table("unapplied_receipt", TableClass.TENANT),
        Table("account", TableClass.TENANT),
        Table("risk_hold", TableClass.TENANT, Privacy.PSEUDONYMOUS, kept_because="who held whom is part of the trail"),
        Table("free_claim", TableClass.TENANT, Privacy.PSEUDONYMOUS, kept_because="once is once, also next year"),
        Table("free_taking", TableClass.TENANT, Privacy.PSEUDONYMOUS, kept_because="once is once, also next year"),
        Table("paid_subject", TableClass.TENANT),
        Table("provider_ref", TableClass.REGISTRY),
    ),
    lifecycles=(PAYMENT, RECEIPT, INTENT),
    facts=FACTS,
    listed_statements=(
        "store.payments.FIND_OWN",
        "store.sweeping.LIST_UNSETTLED",
        "store.sweeping.LIST_OVERDUE",
        "store.sweeping.LIST_PENDING_PIX",
        "store.sweeping.LIST_WITHOUT_FEE",
        "store.sweeping.LIST_WITHOUT_FEE_OF",
    ),
    listed_indexes=("payment_of_identity", "payment_overdue", "payment_without_fee", "gateway_intent_unsettled"),
    definer_functions=("put_refs", "find_refs"),
)
