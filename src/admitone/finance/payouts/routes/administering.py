"""What those do who run the platform: see what a batch would pay, pay exactly that, and keep something from being
paid."""

from datetime import date, datetime
from typing import Any, Literal
from uuid import UUID

from admitone.finance.gateways.api import PlannedCall, Provider
from admitone.finance.ledger.api import Account, EntryType, PlannedTransfer
from admitone.finance.payments.api import PaymentNotFound
from admitone.finance.payouts import errors
from admitone.finance.payouts.commands.freezing import freeze, release
from admitone.finance.payouts.model import FreezeOrder, PayoutState, PlannedPayout, Reason
from admitone.finance.payouts.planning import BATCH, BatchRequest
from admitone.finance.payouts.routes.showing import LAST
from admitone.finance.payouts.routes.wires import (
    A_PAYOUT,
    PLATFORM_PAYOUTS_R,
    PLATFORM_PAYOUTS_RW,
    SOMEBODY,
    THEN,
    PayoutAnswer,
)
from admitone.finance.payouts.store import payouts as store
from admitone.finance.sources.api import PaymentId
from admitone.kernel.contracts import (
    Audience,
    Call,
    Contract,
    Example,
    Instant,
    Page,
    PageRequest,
    ReasonCode,
    Wire,
    page_of,
)
from admitone.kernel.db import Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import OrganizationId
from admitone.kernel.plans import (
    Draft,
    Order,
    Plan,
    PlanExpired,
    PlanId,
    PlanNotFound,
    PlanOvertaken,
    PlanTooLarge,
    apply,
    make,
)
from admitone.kernel.scope import Scope

SOME_ORGANIZATION = OrganizationId.parse("org_0198c9a40000700080000000000000ad")
SOME_PLAN = PlanId.parse("pln_0198c9a40000700080000000000000ae")
SOME_PAYMENT = PaymentId.parse("pay_0198c9a40000700080000000000000bb")


class PlanRequest(Wire):
    organization: OrganizationId
    at: Instant | None = None
    """As of when, but no later than now; left out: now."""


class PlannedPayoutAnswer(Wire):
    owner: UUID
    period: date
    currency: str
    obligations: int
    gross_minor: int
    recovered_minor: int
    """What the owner owes, and is kept."""
    amount_minor: int
    postings: list[PlannedTransfer]
    calls: list[PlannedCall]

    @classmethod
    def of(cls, planned: PlannedPayout) -> "PlannedPayoutAnswer":
        return cls(
            owner=planned.owner,
            period=planned.period,
            currency=planned.currency,
            obligations=len(planned.items),
            gross_minor=planned.gross_minor,
            recovered_minor=planned.recovered_minor,
            amount_minor=planned.amount_minor,
            postings=list(planned.postings),
            calls=list(planned.calls),
        )


class PlanAnswer(Wire):
    plan: PlanId
    expires_at: Instant
    payouts: list[PlannedPayoutAnswer]

    @classmethod
    def of(cls, plan: Plan) -> "PlanAnswer":
        steps = BATCH.read_steps(plan.steps)
        return cls(plan=plan.id, expires_at=plan.expires_at, payouts=[PlannedPayoutAnswer.of(each) for each in steps])


plan_batch = Contract(
    id="C14.PLAN",
    version="1.0.0",
    owner="payouts",
    consumers=("operations",),
    summary="What a batch would pay now: every payout with its postings and its call to the provider. Nothing is done.",
    post="/api/admin/payouts/plan",
    takes=PlanRequest,
    gives=PlanAnswer,
    refuses=(PlanTooLarge,),
    audience=Audience.ADMIN,
    permission=PLATFORM_PAYOUTS_RW,
    repeats="a plan changes nothing",
    order_key="organization",
    examples=(
        Example(
            "one owner",
            takes=PlanRequest(organization=SOME_ORGANIZATION),
            gives=PlanAnswer(
                plan=SOME_PLAN,
                expires_at=THEN,
                payouts=[
                    PlannedPayoutAnswer(
                        owner=SOMEBODY,
                        period=THEN.date(),
                        currency="EUR",
                        obligations=1,
                        gross_minor=85_000,
                        recovered_minor=0,
                        amount_minor=85_000,
                        postings=[
                            PlannedTransfer(
                                entry_type=EntryType.PAYOUT_INITIATED,
                                debit=Account.SETL,
                                credit=Account.TRN,
                                amount_minor=85_000,
                                currency="EUR",
                            )
                        ],
                        calls=[
                            PlannedCall(
                                provider=Provider.SANDBOX,
                                action="pay_out",
                                reference="acct_1",
                                amount_minor=85_000,
                                currency="EUR",
                            )
                        ],
                    )
                ],
            ),
        ),
    ),
)


@plan_batch.serves
async def show_plan(call: Call, request: PlanRequest) -> PlanAnswer:
    scope = _scope(request.organization)
    at = request.at if request.at is not None else await call.read(_now, scope=scope)
    return PlanAnswer.of(await call.batch(make, Draft(call.caller, BATCH, BatchRequest(at)), scope=scope))


async def _now(tx: Tx) -> datetime:
    return tx.now


def _scope(organization: OrganizationId) -> Scope:
    return Scope(organization, "administer payouts")


class ApplyRequest(Wire):
    organization: OrganizationId
    plan: PlanId
    reason_code: ReasonCode


class ApplyAnswer(Wire):
    plan: PlanId
    payouts: int
    already: bool
    """Whether somebody had applied it before."""


apply_batch = Contract(
    id="C14.APPLY",
    version="1.0.0",
    owner="payouts",
    consumers=("operations",),
    summary="Pay what a plan says, and nothing else; refused if anything that it depends on has changed.",
    post="/api/admin/payouts/plan/{plan}/apply",
    takes=ApplyRequest,
    gives=ApplyAnswer,
    refuses=(PlanNotFound, PlanOvertaken, PlanExpired),
    audience=Audience.ADMIN,
    permission=PLATFORM_PAYOUTS_RW,
    verified_only=True,
    step_up=True,
    repeats="a plan is applied once",
    order_key="plan",
    examples=(
        Example(
            "applied",
            takes=ApplyRequest(organization=SOME_ORGANIZATION, plan=SOME_PLAN, reason_code="BATCH_WAS_MISSED"),
            gives=ApplyAnswer(plan=SOME_PLAN, payouts=1, already=False),
        ),
    ),
)


@apply_batch.serves
async def apply_plan(call: Call, request: ApplyRequest) -> ApplyAnswer:
    order = Order(call.caller, request.plan, request.reason_code, (BATCH,))
    applied = await call.batch(apply, order, scope=_scope(request.organization))
    return ApplyAnswer(plan=applied.plan, payouts=applied.steps, already=applied.already)


class AdminListRequest(PageRequest, kw_only=True):
    organization: OrganizationId
    owner: UUID | None = None
    state: PayoutState | None = None


list_all = Contract(
    id="C14.ADMIN",
    version="1.0.0",
    owner="payouts",
    consumers=("operations",),
    summary="Payouts of an organisation, the newest first.",
    get="/api/admin/payouts",
    takes=AdminListRequest,
    gives=Page[PayoutAnswer],
    audience=Audience.ADMIN,
    permission=PLATFORM_PAYOUTS_R,
    order_key="none",
    examples=(
        Example(
            "one",
            takes=AdminListRequest(organization=SOME_ORGANIZATION, limit=1),
            gives=Page(items=[A_PAYOUT], next_cursor=None),
        ),
    ),
)


@list_all.serves
async def show_all(call: Call, request: AdminListRequest) -> Page[PayoutAnswer]:
    (place,) = request.after(tuple[UUID]) or (None,)
    scope = _scope(request.organization)
    found = await call.read(store.list_payouts, place, request.owner, request.state, request.limit + 1, scope=scope)
    shown = [PayoutAnswer.of(each) for each in found]
    return page_of(shown, request.limit, key=lambda each: (each.id.uuid if each.id else LAST,))


class FreezeRequest(Wire):
    organization: OrganizationId
    payment_id: PaymentId
    reason_code: ReasonCode


class ReleaseRequest(FreezeRequest, kw_only=True):
    reason: Literal["OPERATOR", "REFUND_FAILED"] = "OPERATOR"
    """What is over: somebody has looked, or a refund that cannot arrive was seen to by hand (MOR-045). A dispute is
    over when it is decided, and not when somebody says so."""


class FreezeAnswer(Wire):
    payment_id: PaymentId
    reasons: list[Reason]
    """Why it is not paid; none: it is."""


def _freezes(
    own: str, path: str, summary: str, refuses: tuple[type[Refusal], ...], takes: type[FreezeRequest], reason: str
) -> Contract:
    return Contract(
        id=own,
        version="1.0.0",
        owner="payouts",
        consumers=("operations",),
        summary=summary,
        post=path,
        takes=takes,
        gives=FreezeAnswer,
        refuses=(PaymentNotFound, *refuses),
        audience=Audience.ADMIN,
        permission=PLATFORM_PAYOUTS_RW,
        verified_only=True,
        step_up=True,
        repeats="what is so already stays so",
        order_key="paymentId",
        examples=(
            Example(
                "another's",
                takes=takes(organization=SOME_ORGANIZATION, payment_id=SOME_PAYMENT, reason_code=reason),
                refuses=PaymentNotFound(),
            ),
        ),
    )


freeze_one = _freezes(
    "C14.FREEZE",
    "/api/admin/payouts/freeze",
    "Keep what is owed of a payment from being paid, until it is released.",
    (),
    FreezeRequest,
    "FRAUD_SUSPECTED",
)
release_one = _freezes(
    "C14.RELEASE",
    "/api/admin/payouts/unfreeze",
    "Let what is owed of a payment be paid again, as far as nothing else keeps it.",
    (errors.NothingFrozen,),
    ReleaseRequest,
    "NO_FRAUD_FOUND",
)


@freeze_one.serves
async def freeze_payment(call: Call, request: FreezeRequest) -> FreezeAnswer:
    frozen = await call.batch(freeze, _order(call, request), scope=_scope(request.organization))
    return FreezeAnswer(payment_id=frozen.payment, reasons=list(frozen.reasons))


@release_one.serves
async def release_payment(call: Call, request: ReleaseRequest) -> FreezeAnswer:
    frozen = await call.batch(
        release, _order(call, request, Reason(request.reason)), scope=_scope(request.organization)
    )
    return FreezeAnswer(payment_id=frozen.payment, reasons=list(frozen.reasons))


def _order(call: Call, request: FreezeRequest, reason: Reason = Reason.OPERATOR) -> FreezeOrder:
    return FreezeOrder(call.caller, request.payment_id, reason, request.reason_code)


CONTRACTS: tuple[Any, ...] = (plan_batch, apply_batch, list_all, freeze_one, release_one)
