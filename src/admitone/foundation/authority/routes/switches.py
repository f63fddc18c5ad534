"""Kill switches and features, for those who run the installation (ORG-031).

Every change needs a proof that is fresh, a reason and the case that decided it. A change is no idempotent answer but a
state: whoever repeats a stop that somebody lifted meanwhile means it, and must not be told yesterday's answer.
"""

from datetime import datetime
from enum import StrEnum
from typing import Annotated
from uuid import UUID

from msgspec import Meta

from admitone.foundation.authority.commands import switches as commands
from admitone.foundation.authority.commands.switches import SCOPE, Lift, Stop, SwitchOff, SwitchOn
from admitone.foundation.authority.errors import (
    ExpiryOutOfRange,
    FeatureNotOn,
    NotStopped,
    StopNotAllowed,
    UnknownFeature,
    UnknownOrganization,
)
from admitone.foundation.authority.features import FEATURES
from admitone.foundation.authority.model import StopKind, Target
from admitone.foundation.authority.policy import feature
from admitone.foundation.authority.queries import READING
from admitone.foundation.authority.store import reading, switches
from admitone.foundation.authority.store.switches import Setting
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
from admitone.kernel.ids import PLATFORM_ORGANIZATION, IdentityId, OrganizationId
from admitone.kernel.scope import Scope

SEE, TURN = "PLATFORM_SWITCHES_R", "PLATFORM_SWITCHES_RW"

# Python's $ also matches before a line break at the end, which the column does not take.
CaseReference = Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.:-]{0,99}$(?!\n)", max_length=100)]
SubjectId = Annotated[str, Meta(pattern=r"^[a-z]{2,12}_[0-9a-f]{32}$(?!\n)", max_length=45)]
FeatureName = Annotated[str, Meta(pattern=r"^[a-z0-9_.]{1,100}$(?!\n)", max_length=100)]

AN_EVENT = "evt_0198c9a40000700080000000000000aa"
AN_ADMIN = IdentityId.parse("idn_0198c9a40000700080000000000000ab")
AN_ORGANIZATION = OrganizationId.parse("org_0198c9a40000700080000000000000ac")
AN_INSTANT = datetime.fromisoformat("2026-03-01T02:00:00Z")
ITS_END = datetime.fromisoformat("2026-03-08T02:00:00Z")


class SwitchAnswer(Wire):
    """A switch that holds: a stop, or a feature that is on."""

    organization: OrganizationId
    """Whose it is; the platform's own holds for everybody."""
    key: str
    reason_code: str
    case_reference: str
    set_by: IdentityId
    set_at: datetime
    expires_at: datetime | None

    @classmethod
    def of(cls, organization: OrganizationId, setting: Setting) -> "SwitchAnswer":
        return cls(
            organization=organization,
            key=setting.key,
            reason_code=setting.reason_code,
            case_reference=setting.case_reference,
            set_by=setting.set_by,
            set_at=setting.set_at,
            expires_at=setting.expires_at,
        )


A_STOP = SwitchAnswer(
    organization=PLATFORM_ORGANIZATION,
    key=f"stop:event:{AN_EVENT}",
    reason_code="FRAUD_SUSPECTED",
    case_reference="case-7781",
    set_by=AN_ADMIN,
    set_at=AN_INSTANT,
    expires_at=ITS_END,
)


class SwitchKind(StrEnum):
    STOP = "stop"
    """New business, of something or somebody."""
    FEATURE = "feature"
    """What is switched on."""


class SwitchesRequest(PageRequest):
    organization: OrganizationId | None = None
    """Whose; what holds for everybody is the platform's."""
    kind: SwitchKind | None = None


list_switches = Contract(
    id="AUTHORITY.SWITCHES",
    version="1.0.0",
    owner="authority",
    consumers=("operations",),
    summary="What is stopped and what is on, everywhere; not what expired.",
    get="/api/admin/switches",
    takes=SwitchesRequest,
    gives=Page[SwitchAnswer],
    audience=Audience.ADMIN,
    permission=SEE,
    order_key="organization, key",
    examples=(Example("one", takes=SwitchesRequest(limit=1), gives=Page(items=[A_STOP], next_cursor=None)),),
)


@list_switches.serves
async def show_switches(call: Call, request: SwitchesRequest) -> Page[SwitchAnswer]:
    after = request.after(tuple[UUID, str]) or (UUID(int=0), "")
    whose = request.organization.uuid if request.organization else None
    begins = f"{request.kind}:" if request.kind else None
    rows = await call.read(switches.list_switches, after, whose, begins, request.limit + 1, scope=READING)
    answers = [SwitchAnswer.of(organization, setting) for organization, setting in rows]
    return page_of(answers, request.limit, key=lambda answer: (answer.organization.uuid, answer.key))


class LiftRequest(Wire, kw_only=True):
    kind: StopKind
    id: SubjectId | None = None
    reason_code: ReasonCode
    case_reference: CaseReference

    def __post_init__(self) -> None:
        Target(self.kind, self.id)

    @property
    def target(self) -> Target:
        return Target(self.kind, self.id)


class StopRequest(LiftRequest, kw_only=True):
    expires_at: Instant


stop = Contract(
    id="AUTHORITY.STOP",
    version="1.0.0",
    owner="authority",
    consumers=("operations",),
    summary="Stop new business of an event, an organisation or everybody, or suspend a person, for 90 days at most.",
    post="/api/admin/switches/stop",
    takes=StopRequest,
    gives=SwitchAnswer,
    refuses=(ExpiryOutOfRange, StopNotAllowed),
    audience=Audience.ADMIN,
    permission=TURN,
    step_up=True,
    repeats="the last word about one thing holds",
    order_key="none",
    examples=(
        Example(
            "an event",
            takes=StopRequest(
                kind=StopKind.EVENT,
                id=AN_EVENT,
                reason_code="FRAUD_SUSPECTED",
                case_reference="case-7781",
                expires_at=ITS_END,
            ),
            gives=A_STOP,
        ),
        Example(
            "for ever",
            takes=StopRequest(
                kind=StopKind.PLATFORM,
                reason_code="INCIDENT",
                case_reference="case-7782",
                expires_at=datetime.fromisoformat("2036-03-01T02:00:00Z"),
            ),
            refuses=ExpiryOutOfRange(latest=datetime.fromisoformat("2026-05-30T02:00:00Z")),
        ),
    ),
)


@stop.serves
async def stop_it(call: Call, request: StopRequest) -> SwitchAnswer:
    order = Stop(
        caller=call.caller,
        target=request.target,
        reason_code=request.reason_code,
        case_reference=request.case_reference,
        expires_at=request.expires_at,
    )
    return SwitchAnswer.of(PLATFORM_ORGANIZATION, await call.batch(commands.stop, order, scope=SCOPE))


lift = Contract(
    id="AUTHORITY.LIFT",
    version="1.0.0",
    owner="authority",
    consumers=("operations",),
    summary="Lift a stop, for the case that decided so.",
    post="/api/admin/switches/lift",
    takes=LiftRequest,
    refuses=(NotStopped,),
    audience=Audience.ADMIN,
    permission=TURN,
    step_up=True,
    repeats="what is lifted is: the second attempt is refused",
    order_key="none",
    examples=(
        Example(
            "the same event",
            takes=LiftRequest(
                kind=StopKind.EVENT, id=AN_EVENT, reason_code="NO_FRAUD_FOUND", case_reference="case-7781"
            ),
        ),
    ),
)


@lift.serves
async def lift_it(call: Call, request: LiftRequest) -> None:
    order = Lift(
        caller=call.caller,
        target=request.target,
        reason_code=request.reason_code,
        case_reference=request.case_reference,
    )
    await call.batch(commands.lift, order, scope=SCOPE)


class FeatureAnswer(Wire):
    name: str
    requirement: str
    summary: str
    on: bool
    """For everybody. For whom else it is on stands among the switches."""


list_features = Contract(
    id="AUTHORITY.FEATURES",
    version="1.0.0",
    owner="authority",
    consumers=("operations",),
    summary="What lies behind the cut-line, and whether it is on for everybody.",
    get="/api/admin/features",
    gives=list[FeatureAnswer],
    audience=Audience.ADMIN,
    permission=SEE,
    order_key="as they are written down",
    examples=(
        Example(
            "one of them",
            gives=[FeatureAnswer(name="wallet.passes", requirement="ENT-011", summary="Passes for wallets.", on=False)],
        ),
    ),
)


@list_features.serves
async def show_features(call: Call) -> list[FeatureAnswer]:
    keys = [(PLATFORM_ORGANIZATION.uuid, feature(each.name)) for each in FEATURES]
    on = await call.read(reading.find_switches, keys, scope=READING)
    return [
        FeatureAnswer(name=each.name, requirement=each.requirement, summary=each.summary, on=key in on)
        for each, key in zip(FEATURES, keys, strict=True)
    ]


class SwitchOffRequest(Wire, kw_only=True):
    feature: FeatureName
    organization: OrganizationId | None = None
    """For which one; left out, for everybody."""
    reason_code: ReasonCode
    case_reference: CaseReference

    @property
    def scope(self) -> Scope:
        return Scope(self.organization or PLATFORM_ORGANIZATION, "feature switches")


class SwitchOnRequest(SwitchOffRequest, kw_only=True):
    expires_at: Instant | None = None


switch_on = Contract(
    id="AUTHORITY.FEATURE.ON",
    version="1.0.0",
    owner="authority",
    consumers=("operations",),
    summary="Switch a feature on, for one organisation or for everybody.",
    post="/api/admin/features/{feature}/on",
    takes=SwitchOnRequest,
    gives=SwitchAnswer,
    refuses=(UnknownFeature, UnknownOrganization, ExpiryOutOfRange),
    audience=Audience.ADMIN,
    permission=TURN,
    step_up=True,
    repeats="the last word about one feature holds",
    order_key="none",
    examples=(
        Example(
            "for one",
            takes=SwitchOnRequest(
                feature="wallet.passes",
                organization=AN_ORGANIZATION,
                reason_code="PILOT_APPROVED",
                case_reference="approval-12",
            ),
            gives=SwitchAnswer(
                organization=AN_ORGANIZATION,
                key="feature:wallet.passes",
                reason_code="PILOT_APPROVED",
                case_reference="approval-12",
                set_by=AN_ADMIN,
                set_at=AN_INSTANT,
                expires_at=None,
            ),
        ),
    ),
)


@switch_on.serves
async def switch_it_on(call: Call, request: SwitchOnRequest) -> SwitchAnswer:
    order = SwitchOn(
        caller=call.caller,
        feature=request.feature,
        reason_code=request.reason_code,
        case_reference=request.case_reference,
        expires_at=request.expires_at,
    )
    setting = await call.batch(commands.switch_on, order, scope=request.scope)
    return SwitchAnswer.of(request.scope.organization, setting)


switch_off = Contract(
    id="AUTHORITY.FEATURE.OFF",
    version="1.0.0",
    owner="authority",
    consumers=("operations",),
    summary="Switch a feature off again, for one organisation or for everybody.",
    post="/api/admin/features/{feature}/off",
    takes=SwitchOffRequest,
    refuses=(FeatureNotOn,),
    audience=Audience.ADMIN,
    permission=TURN,
    step_up=True,
    repeats="what is off is: the second attempt is refused",
    order_key="none",
    examples=(
        Example(
            "for one",
            takes=SwitchOffRequest(
                feature="wallet.passes",
                organization=AN_ORGANIZATION,
                reason_code="PILOT_ENDED",
                case_reference="approval-12",
            ),
        ),
    ),
)


@switch_off.serves
async def switch_it_off(call: Call, request: SwitchOffRequest) -> None:
    order = SwitchOff(
        caller=call.caller,
        feature=request.feature,
        reason_code=request.reason_code,
        case_reference=request.case_reference,
    )
    await call.batch(commands.switch_off, order, scope=request.scope)


CONTRACTS = (list_switches, stop, lift, list_features, switch_on, switch_off)
