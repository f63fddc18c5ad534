"""Fee policies at the edge: an organisation sees its own and chooses the mode, the platform sets them."""

from datetime import UTC, datetime
from typing import Annotated, Final

from msgspec import Meta

from admitone.finance.pricing import queries, store
from admitone.finance.pricing.commands import choose_modes, set_policies
from admitone.finance.pricing.errors import (
    AbsorbedNotAllowed,
    CommissionOutOfRange,
    CurrencyUnknown,
    FeeModeFixed,
    FeePolicyInvalid,
    FeePolicyNeeded,
    FeePolicyNotFound,
)
from admitone.finance.pricing.model import (
    Choice,
    FeeChoiceId,
    FeeMode,
    FeePolicyId,
    InForce,
    ModeChoice,
    Policy,
    PolicyChange,
    Target,
)
from admitone.finance.pricing.wires import TermsWire
from admitone.finance.sources.api import SourceId, SourceType
from admitone.foundation.organizations.api import OrganizationNotFound
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
from admitone.kernel.ids import PLATFORM_ORGANIZATION, OrganizationId
from admitone.kernel.scope import Scope

FEES_R, FEES_RW = "FINANCE_FEES_R", "FINANCE_FEES_RW"
PLATFORM_FEES_R, PLATFORM_FEES_RW = "PLATFORM_FEES_R", "PLATFORM_FEES_RW"

CurrencyCode = Annotated[str, Meta(pattern=r"^[A-Z]{3}$(?!\n)", max_length=3)]

# -- What an organisation pays


class RulesRequest(Wire):
    currency: CurrencyCode = "EUR"


class RuleAnswer(Wire):
    """By what a type of source is charged, unless one source has a rule of its own."""

    source_type: SourceType
    fee_policy_version: str
    fee_mode: FeeMode
    terms: TermsWire

    @classmethod
    def of(cls, source_type: SourceType, rule: InForce) -> "RuleAnswer":
        return cls(
            source_type=source_type,
            fee_policy_version=rule.version,
            fee_mode=rule.fee_mode,
            terms=TermsWire.of(rule.terms),
        )


A_POLICY: Final = FeePolicyId.parse("fee_0198c9a40000700080000000000000aa")
A_CHOICE: Final = FeeChoiceId.parse("fmc_0198c9a40000700080000000000000ab")
SOME: Final = OrganizationId.parse("org_0198c9a40000700080000000000000ac")
THEN: Final = datetime(2026, 5, 1, 9, 30, tzinfo=UTC)
FIVE: Final = TermsWire(fee_bps=500)

rules = Contract(
    id="PRICING.RULES",
    version="1.0.0",
    owner="pricing",
    consumers=("web", "mobile"),
    summary="What the platform takes of each type of sale, in one currency, as it is now.",
    get="/api/org/{organizationId}/finance/fee-policies",
    takes=RulesRequest,
    gives=list[RuleAnswer],
    audience=Audience.ORGANIZATION,
    permission=FEES_R,
    order_key="as the types are written down",
    examples=(
        Example(
            "one of them",
            takes=RulesRequest(),
            gives=[
                RuleAnswer(
                    source_type=SourceType.TICKET_ORDER,
                    fee_policy_version=f"{A_POLICY}+{A_CHOICE}",
                    fee_mode=FeeMode.ADDED,
                    terms=FIVE,
                )
            ],
        ),
    ),
)


@rules.serves
async def show_rules(call: Call, request: RulesRequest) -> list[RuleAnswer]:
    found = await call.read(queries.rules_in_force, request.currency)
    return [RuleAnswer.of(source_type, rule) for source_type, rule in found.items()]


class PolicyAnswer(Wire):
    """One version. It never changes; what is retired says that there is no rule for its target from then on."""

    id: FeePolicyId
    version: int
    source_type: SourceType | None
    source_id: str | None
    currency: str | None
    terms: TermsWire
    retired: bool
    created_at: Instant

    @classmethod
    def of(cls, policy: Policy) -> "PolicyAnswer":
        return cls(
            id=policy.id,
            version=policy.version,
            source_type=policy.target.source_type,
            source_id=policy.target.source_id,
            currency=policy.target.currency,
            terms=TermsWire.of(policy.terms),
            retired=policy.retired,
            created_at=policy.created_at,
        )


THE_VERSION: Final = PolicyAnswer(
    id=A_POLICY,
    version=3,
    source_type=SourceType.TICKET_ORDER,
    source_id=None,
    currency=None,
    terms=FIVE,
    retired=False,
    created_at=THEN,
)

versions = Contract(
    id="PRICING.VERSIONS",
    version="1.0.0",
    owner="pricing",
    consumers=("web", "mobile"),
    summary="Every version of the organisation's own fee policies, the newest first.",
    get="/api/org/{organizationId}/finance/fee-policies/versions",
    takes=PageRequest,
    gives=Page[PolicyAnswer],
    audience=Audience.ORGANIZATION,
    permission=FEES_R,
    order_key="version, newest first",
    examples=(Example("one", takes=PageRequest(limit=1), gives=Page(items=[THE_VERSION], next_cursor=None)),),
)


@versions.serves
async def list_versions(call: Call, request: PageRequest) -> Page[PolicyAnswer]:
    return await _page(call, request, None)


async def _page(call: Call, request: PageRequest, scope: Scope | None) -> Page[PolicyAnswer]:
    (below,) = request.after(tuple[int]) or (store.NEWEST,)
    found = await call.read(store.list_policies, below, request.limit + 1, scope=scope)
    return page_of([PolicyAnswer.of(each) for each in found], request.limit, key=lambda answer: (answer.version,))


class ModeRequest(Wire, kw_only=True):
    source_type: SourceType | None = None
    """For which; left out, for all without a choice of their own."""
    fee_mode: FeeMode | None
    """Nothing: as the policy says."""


class ModeAnswer(Wire):
    id: FeeChoiceId
    version: int
    source_type: SourceType | None
    fee_mode: FeeMode | None
    created_at: Instant

    @classmethod
    def of(cls, choice: Choice) -> "ModeAnswer":
        return cls(
            id=choice.id,
            version=choice.version,
            source_type=choice.source_type,
            fee_mode=choice.fee_mode,
            created_at=choice.created_at,
        )


choose = Contract(
    id="PRICING.MODE",
    version="1.0.0",
    owner="pricing",
    consumers=("web", "mobile"),
    summary="Choose whether the fee is part of the price, comes on top, or is absorbed, where that is allowed.",
    post="/api/org/{organizationId}/finance/fee-policies",
    takes=ModeRequest,
    gives=ModeAnswer,
    refuses=(OrganizationNotFound, AbsorbedNotAllowed, FeeModeFixed),
    audience=Audience.ORGANIZATION,
    permission=FEES_RW,
    verified_only=True,
    repeats="what is chosen already stays, under its version",
    order_key="sourceType",
    examples=(
        Example(
            "on top",
            takes=ModeRequest(source_type=SourceType.TICKET_ORDER, fee_mode=FeeMode.ADDED),
            gives=ModeAnswer(
                id=A_CHOICE, version=1, source_type=SourceType.TICKET_ORDER, fee_mode=FeeMode.ADDED, created_at=THEN
            ),
        ),
        Example("absorbed", takes=ModeRequest(fee_mode=FeeMode.ABSORBED), refuses=AbsorbedNotAllowed()),
    ),
)


@choose.serves
async def choose_mode(call: Call, request: ModeRequest) -> ModeAnswer:
    wanted = ModeChoice(call.caller, request.source_type, request.fee_mode)
    return ModeAnswer.of(await call.batch(choose_modes, wanted))


# -- What the platform takes


class SetRequest(Wire, kw_only=True):
    organization: OrganizationId | None = None
    """Whose; left out, the platform's: for everything, it holds for whoever has no other rule; for a type, for whoever
    has none of their own for that type, and comes before what they have for everything."""
    source_type: SourceType | None = None
    source_id: SourceId | None = None
    currency: CurrencyCode | None = None
    terms: TermsWire | None
    """Nothing: there is no rule for this any more, and the next weaker one holds."""
    reason_code: ReasonCode

    @property
    def target(self) -> Target:
        return Target(self.source_type, self.source_id, self.currency)


put = Contract(
    id="PRICING.SET",
    version="1.0.0",
    owner="pricing",
    consumers=("operations",),
    summary="Set or retire a fee policy, of everybody or of one organisation. What was priced before keeps its own.",
    post="/api/admin/finance/fee-policies",
    takes=SetRequest,
    gives=PolicyAnswer,
    refuses=(
        OrganizationNotFound,
        FeePolicyInvalid,
        FeePolicyNotFound,
        FeePolicyNeeded,
        AbsorbedNotAllowed,
        CommissionOutOfRange,
        CurrencyUnknown,
    ),
    audience=Audience.ADMIN,
    permission=PLATFORM_FEES_RW,
    step_up=True,
    repeats="what is so already stays, under its version; what is retired cannot be retired again",
    order_key="organization",
    examples=(
        Example(
            "tickets of one organisation",
            takes=SetRequest(
                organization=SOME, source_type=SourceType.TICKET_ORDER, terms=FIVE, reason_code="CONTRACT_RENEWED"
            ),
            gives=THE_VERSION,
        ),
        Example(
            "an amount in no currency",
            takes=SetRequest(terms=TermsWire(fee_bps=500, fee_fixed_minor=50), reason_code="NEW_PRICES"),
            refuses=FeePolicyInvalid(what="currency"),
        ),
    ),
)


@put.serves
async def set_policy(call: Call, request: SetRequest) -> PolicyAnswer:
    terms = request.terms.terms() if request.terms else None
    change = PolicyChange(call.caller, request.target, terms, request.reason_code)
    return PolicyAnswer.of(await call.batch(set_policies, change, scope=scope_of(request.organization)))


class HistoryRequest(PageRequest):
    organization: OrganizationId | None = None
    """Whose; left out, the platform's."""


history = Contract(
    id="PRICING.HISTORY",
    version="1.0.0",
    owner="pricing",
    consumers=("operations",),
    summary="Every version of the platform's fee policies, or of one organisation's, the newest first.",
    get="/api/admin/finance/fee-policies",
    takes=HistoryRequest,
    gives=Page[PolicyAnswer],
    audience=Audience.ADMIN,
    permission=PLATFORM_FEES_R,
    order_key="version, newest first",
    examples=(Example("one", takes=HistoryRequest(limit=1), gives=Page(items=[THE_VERSION], next_cursor=None)),),
)


@history.serves
async def list_history(call: Call, request: HistoryRequest) -> Page[PolicyAnswer]:
    return await _page(call, request, scope_of(request.organization))


def scope_of(organization: OrganizationId | None) -> Scope:
    return Scope(organization or PLATFORM_ORGANIZATION, "fee policies")


CONTRACTS = (rules, versions, choose, put, history)
PERMISSIONS = (FEES_R, FEES_RW, PLATFORM_FEES_R, PLATFORM_FEES_RW)
