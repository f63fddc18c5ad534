"""Disputes at the edge: for the organisation that must answer, and for the platform's own people over all of them.

Promise: whoever says something to a dispute proved a moment ago who they are, says why, and is in the trail; what was
said is shown only to those who may say something.
"""

from datetime import UTC, datetime
from typing import Annotated, Any, Final
from uuid import UUID

from msgspec import Meta

from admitone.finance.disputes import errors, queries, store
from admitone.finance.disputes.commands.answering import put_evidence, take
from admitone.finance.disputes.errands import EVERYWHERE
from admitone.finance.disputes.model import Case, DisputeId, State, Statement, StepKind, Taking, Texts, TrailStep
from admitone.finance.gateways.api import Provider
from admitone.finance.sources.api import PaymentId
from admitone.kernel.contracts import (
    Audience,
    Call,
    Contract,
    Example,
    IdempotencyKey,
    Instant,
    Minor,
    Page,
    PageRequest,
    ReasonCode,
    Wire,
    page_of,
)
from admitone.kernel.ids import IdentityId, OrganizationId
from admitone.kernel.scope import Scope
from admitone.kernel.statements import ListOrder

FINANCE_DISPUTES_R: Final = "FINANCE_DISPUTES_R"
FINANCE_DISPUTES_RW: Final = "FINANCE_DISPUTES_RW"
PLATFORM_DISPUTES_R: Final = "PLATFORM_DISPUTES_R"
PLATFORM_DISPUTES_RW: Final = "PLATFORM_DISPUTES_RW"

Shows = Annotated[str, Meta(pattern=r"^[a-z][a-z0-9_]{1,63}$(?!\n)", max_length=64)]
Words = Annotated[str, Meta(min_length=1, max_length=10_000)]
Evidence = Annotated[dict[Shows, Words], Meta(min_length=1, max_length=20)]


class CaseAnswer(Wire):
    dispute_id: DisputeId
    organization_id: OrganizationId
    payment_id: PaymentId
    provider: Provider
    reference: str
    """The provider's own id."""
    state: State
    reason: str
    amount_minor: Minor
    currency: str
    fee_minor: Minor
    opened_at: Instant
    due_at: Instant | None
    due_known: bool
    """Whether the provider said so; until then it is the shortest time that any of them gives."""
    assignee_id: IdentityId | None
    evidence: int
    """How often something was said."""
    being_submitted: bool
    submitted_at: Instant | None
    closed_at: Instant | None

    @classmethod
    def of(cls, case: Case) -> "CaseAnswer":
        return cls(
            dispute_id=case.id,
            organization_id=case.organization,
            payment_id=case.payment,
            provider=case.provider,
            reference=case.reference,
            state=case.state,
            reason=case.reason,
            amount_minor=case.amount_minor,
            currency=case.currency,
            fee_minor=case.fee_minor,
            opened_at=case.opened_at,
            due_at=case.due_at,
            due_known=case.told_at is not None,
            assignee_id=case.assignee,
            evidence=case.evidence,
            being_submitted=case.is_being_submitted,
            submitted_at=case.submitted_at,
            closed_at=case.closed_at,
        )


class StepAnswer(Wire):
    number: int
    kind: StepKind
    at: Instant
    actor_id: IdentityId | None
    reason_code: str | None
    evidence: int | None
    detail: str | None

    @classmethod
    def of(cls, step: TrailStep) -> "StepAnswer":
        return cls(
            number=step.number,
            kind=step.kind,
            at=step.at,
            actor_id=step.actor,
            reason_code=step.reason_code,
            evidence=step.evidence,
            detail=step.detail,
        )


class DossierAnswer(Wire):
    dispute: CaseAnswer
    trail: list[StepAnswer]


class EvidenceAnswer(Wire):
    dispute: CaseAnswer
    last: dict[str, str] | None
    """What was said last, if anything was and it is still kept."""
    draft: dict[str, str]
    """What the software can say by itself."""


class CasesRequest(PageRequest):
    state: State | None = None
    order: ListOrder = ListOrder.NEWEST


class OneRequest(Wire):
    dispute_id: DisputeId


class TakeRequest(Wire):
    dispute_id: DisputeId
    reason_code: ReasonCode


class EvidenceRequest(Wire):
    dispute_id: DisputeId
    reason_code: ReasonCode
    idempotency_key: IdempotencyKey
    texts: Evidence | None = None
    """By what they show; all of it, in place of what was said before. Left out with `submit`: what was said last."""
    submit: bool = False


class AdminEvidenceRequest(EvidenceRequest, frozen=True, kw_only=True):
    organization: OrganizationId


SOME_DISPUTE: Final = DisputeId.parse("dsp_0198c9a40000700080000000000000d1")
SOME_ORGANIZATION: Final = OrganizationId.parse("org_0198c9a40000700080000000000000ad")
THEN: Final = datetime(2026, 5, 15, 9, 30, tzinfo=UTC)
SOME_CASE: Final = CaseAnswer(
    dispute_id=SOME_DISPUTE,
    organization_id=SOME_ORGANIZATION,
    payment_id=PaymentId.parse("pay_0198c9a40000700080000000000000b1"),
    provider=Provider.SANDBOX,
    reference="dp_1",
    state=State.OPEN,
    reason="fraudulent",
    amount_minor=5_000,
    currency="EUR",
    fee_minor=1_500,
    opened_at=datetime(2026, 5, 1, 9, 30, tzinfo=UTC),
    due_at=THEN,
    due_known=True,
    assignee_id=None,
    evidence=0,
    being_submitted=False,
    submitted_at=None,
    closed_at=None,
)
SUBMITTING: Final = EvidenceRequest(
    dispute_id=SOME_DISPUTE, reason_code="CAME_AND_STAYED", idempotency_key="evidence-1", submit=True
)
SAYS: Final = (errors.DisputeNotFound, errors.DisputeDecided, errors.AlreadySubmitted, errors.EvidenceTooLate)

# -- For organisations

cases = Contract(
    id="DISPUTE.LIST",
    version="1.0.0",
    owner="disputes",
    consumers=("web",),
    summary="Disputes, the newest first.",
    get="/api/org/{organizationId}/finance/disputes",
    takes=CasesRequest,
    gives=Page[CaseAnswer],
    audience=Audience.ORGANIZATION,
    permission=FINANCE_DISPUTES_R,
    order_key="none",
    examples=(Example("One", takes=CasesRequest(), gives=Page(items=[SOME_CASE], next_cursor=None)),),
)


@cases.serves
async def show_cases(call: Call, request: CasesRequest) -> Page[CaseAnswer]:
    (place,) = request.after(tuple[UUID]) or (None,)
    found = await call.read(store.list_cases, place, request.state, request.limit + 1, request.order)
    return request.page([CaseAnswer.of(each) for each in found], key=lambda each: (each.dispute_id.uuid,))


def _page(found: list[Case], limit: int) -> Page[CaseAnswer]:
    return page_of([CaseAnswer.of(each) for each in found], limit, key=lambda each: (each.dispute_id.uuid,))


case = Contract(
    id="DISPUTE.GET",
    version="1.0.0",
    owner="disputes",
    consumers=("web",),
    summary="One dispute with its trail.",
    get="/api/org/{organizationId}/finance/disputes/{disputeId}",
    takes=OneRequest,
    gives=DossierAnswer,
    refuses=(errors.DisputeNotFound,),
    audience=Audience.ORGANIZATION,
    permission=FINANCE_DISPUTES_R,
    order_key="none",
    examples=(Example("Another's", takes=OneRequest(dispute_id=SOME_DISPUTE), refuses=errors.DisputeNotFound()),),
)


@case.serves
async def show_case(call: Call, request: OneRequest) -> DossierAnswer:
    found = await call.read(queries.find_dossier, request.dispute_id)
    if found is None:
        raise errors.DisputeNotFound
    return DossierAnswer(dispute=CaseAnswer.of(found.case), trail=[StepAnswer.of(each) for each in found.trail])


evidence = Contract(
    id="DISPUTE.EVIDENCE",
    version="1.0.0",
    owner="disputes",
    consumers=("web",),
    summary="What was said to a dispute last, and what the software can say by itself.",
    get="/api/org/{organizationId}/finance/disputes/{disputeId}/evidence",
    takes=OneRequest,
    gives=EvidenceAnswer,
    refuses=(errors.DisputeNotFound,),
    audience=Audience.ORGANIZATION,
    permission=FINANCE_DISPUTES_RW,
    order_key="none",
    examples=(Example("Another's", takes=OneRequest(dispute_id=SOME_DISPUTE), refuses=errors.DisputeNotFound()),),
)


@evidence.serves
async def show_evidence(call: Call, request: OneRequest) -> EvidenceAnswer:
    found = await call.read(queries.find_said, request.dispute_id)
    if found is None:
        raise errors.DisputeNotFound
    return EvidenceAnswer(
        dispute=CaseAnswer.of(found.case),
        last=dict(found.last.texts) if found.last else None,
        draft=dict(found.draft),
    )


put = Contract(
    id="DISPUTE.ANSWER",
    version="1.0.0",
    owner="disputes",
    consumers=("web",),
    summary="Say something to a dispute: a draft, another in its place, or the last word.",
    post="/api/org/{organizationId}/finance/disputes/{disputeId}/evidence",
    takes=EvidenceRequest,
    gives=CaseAnswer,
    refuses=(*SAYS, errors.EvidenceMissing),
    audience=Audience.ORGANIZATION,
    permission=FINANCE_DISPUTES_RW,
    verified_only=True,
    step_up=True,
    idempotent_by="idempotencyKey",
    order_key="disputeId",
    max_body_bytes=250_000,
    examples=(
        Example(
            "A draft",
            takes=EvidenceRequest(
                dispute_id=SOME_DISPUTE,
                reason_code="CAME_AND_STAYED",
                idempotency_key="evidence-1",
                texts={"access_activity_log": "Came in at 20:14."},
            ),
            gives=SOME_CASE,
        ),
        Example("Too late", takes=SUBMITTING, refuses=errors.EvidenceTooLate(due_at=THEN)),
    ),
)


@put.serves
async def say(call: Call, request: EvidenceRequest) -> CaseAnswer:
    return CaseAnswer.of(await call.batch(put_evidence, _statement(call, request)))


def _statement(call: Call, request: EvidenceRequest) -> Statement:
    texts: Texts | None = None if request.texts is None else tuple(sorted(request.texts.items()))
    return Statement(call.caller, request.dispute_id, texts, request.submit, request.reason_code)


own = Contract(
    id="DISPUTE.TAKE",
    version="1.0.0",
    owner="disputes",
    consumers=("web",),
    summary="Make a dispute one's own: who has it must answer.",
    post="/api/org/{organizationId}/finance/disputes/{disputeId}/take",
    takes=TakeRequest,
    gives=CaseAnswer,
    refuses=(errors.DisputeNotFound,),
    audience=Audience.ORGANIZATION,
    permission=FINANCE_DISPUTES_RW,
    verified_only=True,
    repeats="whose it is already keeps it",
    order_key="disputeId",
    examples=(Example("One", takes=TakeRequest(dispute_id=SOME_DISPUTE, reason_code="ON_DUTY"), gives=SOME_CASE),),
)


@own.serves
async def make_own(call: Call, request: TakeRequest) -> CaseAnswer:
    return CaseAnswer.of(await call.batch(take, Taking(call.caller, request.dispute_id, request.reason_code)))


# -- For the platform's own people


class EverywhereRequest(PageRequest):
    state: State = State.OPEN


everywhere = Contract(
    id="DISPUTE.EVERYWHERE",
    version="1.0.0",
    owner="disputes",
    consumers=("operations",),
    summary="Disputes of all organisations in one state, the oldest first.",
    get="/api/admin/disputes",
    takes=EverywhereRequest,
    gives=Page[CaseAnswer],
    audience=Audience.ADMIN,
    permission=PLATFORM_DISPUTES_R,
    order_key="none",
    examples=(Example("One", takes=EverywhereRequest(), gives=Page(items=[SOME_CASE], next_cursor=None)),),
)


@everywhere.serves
async def show_everywhere(call: Call, request: EverywhereRequest) -> Page[CaseAnswer]:
    (after,) = request.after(tuple[UUID]) or (store.FIRST,)
    found = await call.read(store.list_everywhere, request.state, after, request.limit + 1, scope=EVERYWHERE)
    return _page(found, request.limit)


for_another = Contract(
    id="DISPUTE.ADMIN",
    version="1.0.0",
    owner="disputes",
    consumers=("operations",),
    summary="Say something to a dispute for the organisation that must answer it, in its trail.",
    post="/api/admin/payments/dispute",
    takes=AdminEvidenceRequest,
    gives=CaseAnswer,
    refuses=(*SAYS, errors.EvidenceMissing),
    audience=Audience.ADMIN,
    permission=PLATFORM_DISPUTES_RW,
    step_up=True,
    idempotent_by="idempotencyKey",
    order_key="disputeId",
    max_body_bytes=250_000,
    examples=(
        Example(
            "What the organisation wrote",
            takes=AdminEvidenceRequest(
                organization=SOME_ORGANIZATION,
                dispute_id=SOME_DISPUTE,
                reason_code="DUE_TODAY",
                idempotency_key="evidence-1",
                submit=True,
            ),
            gives=SOME_CASE,
        ),
    ),
)


@for_another.serves
async def say_for_another(call: Call, request: AdminEvidenceRequest) -> CaseAnswer:
    scope = Scope(request.organization, "answer a dispute")
    return CaseAnswer.of(await call.batch(put_evidence, _statement(call, request), scope=scope))


CONTRACTS: Final[tuple[Any, ...]] = (cases, case, evidence, put, own, everywhere, for_another)
PERMISSIONS: Final = (FINANCE_DISPUTES_R, FINANCE_DISPUTES_RW, PLATFORM_DISPUTES_R, PLATFORM_DISPUTES_RW)
