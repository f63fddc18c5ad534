"""What support sees: what became of a payment after it was paid."""

from datetime import UTC, datetime
from typing import Final
from uuid import UUID

from admitone.finance.refunds.api import RefundId
from admitone.finance.sources.api import PaymentId
from admitone.kernel.contracts import Audience, Call, Contract, Count, Example, Instant, Wire
from admitone.kernel.ids import OrganizationId
from admitone.kernel.scope import Scope
from admitone.selling.fulfilment.model import LEDGER_STEP, Operation, Scenario, State
from admitone.selling.fulfilment.store import find_operations

PLATFORM_FULFILMENT_R: Final = "PLATFORM_FULFILMENT_R"
SOME_ORGANIZATION: Final = OrganizationId.parse("org_0198c9a40000700080000000000000ad")
SOME_PAYMENT: Final = PaymentId.parse("pay_0198c9a40000700080000000000000af")
SOME_CALL: Final = UUID("0198c9a4-0000-7000-8000-0000000000ae")
SOME_TIME: Final = datetime(2026, 11, 16, 10, tzinfo=UTC)


class OperationsRequest(Wire):
    organization: OrganizationId
    payment_id: PaymentId


class OperationAnswer(Wire):
    payment_id: PaymentId
    source_type: str
    source_id: str
    state: State
    scenario: Scenario | None
    dedupe_key: str | None
    steps: list[str]
    reason: str | None
    refund_id: RefundId | None
    attempts: Count
    correlation_id: UUID
    begun_at: Instant
    changed_at: Instant

    @classmethod
    def of(cls, operation: Operation) -> "OperationAnswer":
        return cls(
            payment_id=operation.payment,
            source_type=operation.source.type,
            source_id=operation.source.id,
            state=operation.state,
            scenario=operation.scenario,
            dedupe_key=operation.key,
            steps=[*operation.steps],
            reason=operation.reason,
            refund_id=RefundId(operation.refund_id) if operation.refund_id else None,
            attempts=operation.attempts,
            correlation_id=operation.correlation_id,
            begun_at=operation.begun_at,
            changed_at=operation.changed_at,
        )


class OperationsAnswer(Wire):
    """None: nobody has come to it yet, or it was never paid."""

    operations: list[OperationAnswer]


A_SALE: Final = OperationAnswer(
    payment_id=SOME_PAYMENT,
    source_type="TICKET_ORDER",
    source_id="ord_1",
    state=State.DONE,
    scenario=Scenario.SINGLE,
    dedupe_key=f"ISSUE_TICKETS:{SOME_PAYMENT}",
    steps=[LEDGER_STEP, "ISSUE_TICKETS"],
    reason=None,
    refund_id=None,
    attempts=1,
    correlation_id=SOME_CALL,
    begun_at=SOME_TIME,
    changed_at=SOME_TIME,
)

operations = Contract(
    id="FULFILMENT.OPERATIONS",
    version="1.0.0",
    owner="fulfilment",
    consumers=("operations",),
    summary="What was done for a payment: its scenario, its steps, and how it ended.",
    get="/api/admin/fulfilment/operations",
    takes=OperationsRequest,
    gives=OperationsAnswer,
    audience=Audience.ADMIN,
    permission=PLATFORM_FULFILMENT_R,
    order_key="none",
    examples=(
        Example(
            "Handed over",
            takes=OperationsRequest(organization=SOME_ORGANIZATION, payment_id=SOME_PAYMENT),
            gives=OperationsAnswer(operations=[A_SALE]),
        ),
    ),
)


@operations.serves
async def show_operations(call: Call, request: OperationsRequest) -> OperationsAnswer:
    scope = Scope(request.organization, "what became of a payment")
    found = await call.read(find_operations, [request.payment_id], scope=scope)
    return OperationsAnswer(operations=[OperationAnswer.of(each) for each in found.values()])


CONTRACTS: Final = (operations,)
