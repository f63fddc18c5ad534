"""Changes of fee policies, shown before they are made."""

from typing import Final

from admitone.finance.pricing.errors import (
    AbsorbedNotAllowed,
    CommissionOutOfRange,
    CurrencyUnknown,
    FeePolicyInvalid,
    FeePolicyNeeded,
    FeePolicyNotFound,
)
from admitone.finance.pricing.planning import POLICY, PolicyAsked
from admitone.finance.pricing.routes import PLATFORM_FEES_RW, SOME, SetRequest, scope_of
from admitone.finance.pricing.wires import TermsWire
from admitone.finance.sources.api import SourceType
from admitone.foundation.organizations.api import OrganizationNotFound
from admitone.kernel.contracts import Audience, Call, Contract, Example, ReasonCode, Wire
from admitone.kernel.ids import OrganizationId
from admitone.kernel.plans import (
    Applied,
    AppliedAnswer,
    Draft,
    Order,
    Plan,
    PlanAnswer,
    PlanExpired,
    PlanId,
    PlanNotFound,
    PlanOvertaken,
    PlanTooLarge,
    apply,
    make,
)

A_PLAN: Final = PlanId.parse("pln_0198c9a40000700080000000000000ad")


class ApplyRequest(Wire, kw_only=True):
    plan_id: PlanId
    organization: OrganizationId | None = None
    """Whose plan it is; left out, the platform's."""
    reason_code: ReasonCode


shown = Contract(
    id="PRICING.PLAN",
    version="1.0.0",
    owner="pricing",
    consumers=("operations",),
    summary="Show what a change of a fee policy would do; nothing is done.",
    post="/api/admin/finance/fee-policies/plan",
    takes=SetRequest,
    gives=PlanAnswer,
    refuses=(
        OrganizationNotFound,
        FeePolicyInvalid,
        FeePolicyNotFound,
        FeePolicyNeeded,
        AbsorbedNotAllowed,
        CommissionOutOfRange,
        CurrencyUnknown,
        PlanTooLarge,
    ),
    audience=Audience.ADMIN,
    permission=PLATFORM_FEES_RW,
    repeats="each is a new plan, and does nothing",
    order_key="organization",
    examples=(
        Example(
            "an amount in no currency",
            takes=SetRequest(
                source_type=SourceType.TICKET_ORDER,
                terms=TermsWire(fee_bps=500, fee_fixed_minor=50),
                reason_code="NEW_PRICES",
            ),
            refuses=FeePolicyInvalid(what="currency"),
        ),
    ),
)
applies = Contract(
    id="PRICING.APPLY",
    version="1.0.0",
    owner="pricing",
    consumers=("operations",),
    summary="Change a fee policy as it was shown, if it still is so.",
    post="/api/admin/finance/fee-policies/plans/{planId}/apply",
    takes=ApplyRequest,
    gives=AppliedAnswer,
    refuses=(PlanNotFound, PlanOvertaken, PlanExpired),
    audience=Audience.ADMIN,
    permission=PLATFORM_FEES_RW,
    step_up=True,
    repeats="a plan is applied once",
    order_key="planId",
    examples=(
        Example("None", takes=ApplyRequest(plan_id=A_PLAN, reason_code="NEW_PRICES"), refuses=PlanNotFound()),
        Example(
            "Of one organisation",
            takes=ApplyRequest(plan_id=A_PLAN, organization=SOME, reason_code="NEW_PRICES"),
            refuses=PlanNotFound(),
        ),
    ),
)


@shown.serves
async def show_change(call: Call, request: SetRequest) -> PlanAnswer:
    asked = PolicyAsked(
        source_type=request.source_type,
        source_id=request.source_id,
        currency=request.currency,
        terms=request.terms,
        reason_code=request.reason_code,
    )
    scope = scope_of(request.organization)
    await call.read(POLICY.look, asked, scope=scope)  # Whatever refuses it refuses only this one.
    plan: Plan = await call.batch(make, Draft(call.caller, POLICY, asked), scope=scope)
    return PlanAnswer.of(plan)


@applies.serves
async def apply_change(call: Call, request: ApplyRequest) -> AppliedAnswer:
    order = Order(call.caller, request.plan_id, request.reason_code, (POLICY,))
    done: Applied = await call.batch(apply, order, scope=scope_of(request.organization))
    return AppliedAnswer.of(done)


CONTRACTS: Final = (shown, applies)
