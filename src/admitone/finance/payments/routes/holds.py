"""The holds of those who watch over risk: an organisation's new checkouts wait until somebody has looked."""

from typing import Any, Final

from admitone.finance.payments import errors
from admitone.finance.payments.commands.holds import HoldOrder, lift_holds, place_holds
from admitone.foundation.organizations.api import OrganizationNotFound
from admitone.kernel.contracts import Audience, Call, Contract, Example, ReasonCode, Wire
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import OrganizationId
from admitone.kernel.scope import Scope

PLATFORM_RISK_RW = "PLATFORM_RISK_RW"


class HoldRequest(Wire):
    organization: OrganizationId
    reason_code: ReasonCode


class HoldAnswer(Wire):
    organization: OrganizationId
    on_hold: bool


SOME_ORGANIZATION: Final = OrganizationId.parse("org_0198c9a40000700080000000000000ad")


def _holds(number: str, path: str, summary: str, refuses: type[Refusal], reason: str, *, on_hold: bool) -> Contract:
    return Contract(
        id=number,
        version="1.0.0",
        owner="payments",
        consumers=("operations",),
        summary=summary,
        post=path,
        takes=HoldRequest,
        gives=HoldAnswer,
        refuses=(OrganizationNotFound, refuses),
        audience=Audience.ADMIN,
        permission=PLATFORM_RISK_RW,
        step_up=True,
        repeats="what is so already is refused",
        order_key="organization",
        examples=(
            Example(
                "One club",
                takes=HoldRequest(organization=SOME_ORGANIZATION, reason_code=reason),
                gives=HoldAnswer(organization=SOME_ORGANIZATION, on_hold=on_hold),
            ),
        ),
    )


place = _holds(
    "C14.HOLD",
    "/api/admin/organizations/{organization}/risk-hold",
    "Hold new checkouts of an organisation until somebody has looked; no funds are held.",
    errors.AlreadyOnHold,
    "DISPUTES_RISING",
    on_hold=True,
)
lift = _holds(
    "C14.LIFT",
    "/api/admin/organizations/{organization}/risk-hold/lift",
    "Let an organisation sell again.",
    errors.NotOnHold,
    "NO_FRAUD_FOUND",
    on_hold=False,
)


@place.serves
async def place_hold(call: Call, request: HoldRequest) -> HoldAnswer:
    held = await call.batch(place_holds, HoldOrder(call.caller, request.reason_code), scope=_place(request))
    return HoldAnswer(organization=request.organization, on_hold=held.standing)


@lift.serves
async def lift_hold(call: Call, request: HoldRequest) -> HoldAnswer:
    held = await call.batch(lift_holds, HoldOrder(call.caller, request.reason_code), scope=_place(request))
    return HoldAnswer(organization=request.organization, on_hold=held.standing)


def _place(request: HoldRequest) -> Scope:
    return Scope(request.organization, "risk hold")


CONTRACTS: tuple[Any, ...] = (place, lift)
