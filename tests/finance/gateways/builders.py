"""Orders as payments would give them, and a sandbox in memory."""

from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar
from uuid import uuid4

from admitone.finance.gateways.api import (
    AccountOrder,
    Charge,
    ChargeOrder,
    EvidenceOrder,
    FactKind,
    HandOnOrder,
    Method,
    PayoutOrder,
    Refund,
    RefundOrder,
    ReversalOrder,
)
from admitone.finance.gateways.sandbox.gateway import SandboxGateway
from admitone.finance.gateways.sandbox.keys import Keys
from admitone.finance.gateways.sandbox.simulator import Simulator
from admitone.finance.sources.api import PaymentId, SettlementModel
from admitone.kernel.ids import OrganizationId
from admitone.kernel.scope import Caller

KEYS = Keys.of("the secret of all sandboxes in tests")
Wanted = TypeVar("Wanted")


def a_charge_order(**changes: Any) -> ChargeOrder:
    usual = {
        "caller": Caller(),
        "key": uuid4(),
        "payment": PaymentId.new(),
        "organization": OrganizationId.new(),
        "method": Method.CARD,
        "amount_minor": 5_000,
        "currency": "EUR",
        "settlement": SettlementModel.ORG_MOR if changes.get("account") else SettlementModel.PLATFORM_MOR,
        "account": None,
        "application_fee_minor": 300,
        "description": "Two tickets",
        "expires_at": datetime.now(UTC) + timedelta(minutes=30),
    }
    return ChargeOrder(**(usual | changes))


def a_pix_order(**changes: Any) -> ChargeOrder:
    return a_charge_order(**({"method": Method.PIX, "currency": "BRL"} | changes))


def a_refund_order(order: ChargeOrder, charge: Charge, amount_minor: int, **changes: Any) -> RefundOrder:
    usual = {
        "caller": Caller(),
        "key": uuid4(),
        "payment": order.payment,
        "organization": order.organization,
        "charge": charge.id,
        "amount_minor": amount_minor,
        "currency": order.currency,
    }
    return RefundOrder(**(usual | changes))


def an_evidence_order(order: ChargeOrder, dispute: str, **changes: Any) -> EvidenceOrder:
    usual = {
        "caller": Caller(),
        "key": uuid4(),
        "payment": order.payment,
        "organization": order.organization,
        "dispute": dispute,
        "texts": (("product_description", "Two tickets, both used."),),
        "submit": False,
    }
    return EvidenceOrder(**(usual | changes))


def a_reversal_order(order: ChargeOrder, charge: Charge, dispute: str, **changes: Any) -> ReversalOrder:
    usual = {
        "caller": Caller(),
        "payment": order.payment,
        "organization": order.organization,
        "charge": charge.id,
        "dispute": dispute,
        "amount_minor": 4_700,
        "currency": order.currency,
    }
    return ReversalOrder(**(usual | changes))


def a_hand_on_order(order: ChargeOrder, charge: Charge, refund: str, **changes: Any) -> HandOnOrder:
    usual = {
        "caller": Caller(),
        "payment": order.payment,
        "organization": order.organization,
        "account": order.account,
        "charge": charge.id,
        "refund": refund,
        "amount_minor": 1_880,
        "currency": order.currency,
    }
    return HandOnOrder(**(usual | changes))


def an_account_order(**changes: Any) -> AccountOrder:
    usual = {
        "caller": Caller(),
        "key": uuid4(),
        "organization": OrganizationId.new(),
        "country": "PT",
        "email": "ana@example.org",
    }
    return AccountOrder(**(usual | changes))


def a_payout_order(account: str, organization: OrganizationId, **changes: Any) -> PayoutOrder:
    usual = {
        "caller": Caller(),
        "key": uuid4(),
        "organization": organization,
        "account": account,
        "amount_minor": 8_500,
        "currency": "EUR",
    }
    return PayoutOrder(**(usual | changes))


def sure(kind: type[Wanted], answer: object) -> Wanted:
    """The answer, when it is one."""
    assert isinstance(answer, kind), answer
    return answer


def kinds(answer: Charge | Refund | object) -> list[FactKind]:
    return [fact.kind for fact in sure(Charge, answer).facts]


def a_sandbox(**how: Any) -> tuple[Simulator, SandboxGateway]:
    simulator = Simulator(KEYS, **how)
    return simulator, SandboxGateway.in_process(simulator)
