"""The manifest of refunds."""

from admitone.finance.payments import facts as payments
from admitone.finance.refunds import calling_off, facts, handlers, routes, wires
from admitone.finance.refunds.cancelling import cancel
from admitone.finance.refunds.model import REFUND
from admitone.kernel.jobs import Subscription
from admitone.kernel.manifest import Module, Privacy, Table, TableClass

AS_LONG = "who gave back what, and why, is part of the payment, and is there as long"

MODULE = Module(
    name="refunds",
    contracts=routes.CONTRACTS,
    permissions=(routes.FINANCE_REFUNDS_R, wires.FINANCE_REFUNDS_RW, routes.PLATFORM_REFUNDS_RW),
    jobs=(
        handlers.settled,
        handlers.not_settled,
        handlers.dispute_recorded,
        handlers.tell_of_failure,
        handlers.seen_to,
        cancel,
        calling_off.give_all_back,
    ),
    subscriptions=(
        Subscription(payments.RefundSettled, handlers.settled),
        Subscription(payments.RefundFailed, handlers.not_settled),
        Subscription(payments.DisputeRecorded, handlers.dispute_recorded),
        Subscription(facts.RefundFailed, handlers.tell_of_failure),
        Subscription(facts.RefundSeenTo, handlers.seen_to),
    ),
    alerts=(handlers.FAILED,),
    tables=(
        Table("refund", TableClass.TENANT, Privacy.PSEUDONYMOUS, kept_because=AS_LONG),
        Table("refund_line", TableClass.TENANT),
    ),
    lifecycles=(REFUND,),
    facts=facts.FACTS,
)
