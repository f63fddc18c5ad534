"""Making a campaign, and how it is paid.

Promise (CPN-007, CPN-062, CPN-063): the answer says how to pay outside; nothing in the request says that it was paid,
or that it costs nothing, or that it is paid later.
"""

from datetime import UTC, datetime
from typing import Annotated, Final

from msgspec import Meta

from admitone.finance.gateways.api import Method
from admitone.finance.payments import api as payments
from admitone.finance.payments.api import CheckoutAnswer, WhyNotPaid
from admitone.kernel.contracts import (
    Audience,
    Call,
    Contract,
    Count,
    Example,
    IdempotencyKey,
    Instant,
    Minor,
    Wire,
)
from admitone.kernel.errors import Unauthenticated
from admitone.kernel.figures import CHECKOUT_PER_ADDRESS, MINUTE
from admitone.kernel.idempotency import KeyReused
from admitone.kernel.ids import OrganizationId
from admitone.kernel.limits import Limit, Per
from admitone.kernel.money import Currency
from admitone.kernel.scope import Scope
from admitone.verticals.coupons import errors
from admitone.verticals.coupons.commands.creating import Creating, create
from admitone.verticals.coupons.model import FEWEST_DAYS, MOST_DAYS, Campaign, CampaignId, CampaignState

CAMPAIGNS_RW: Final = "SHOP_CAMPAIGNS_RW"
CAMPAIGNS_PER_ORGANIZATION: Final = Limit("coupons.campaigns_per_organization", 30, 5 * MINUTE, Per.ORGANIZATION)

Name = Annotated[
    str, Meta(min_length=1, max_length=120, pattern=r"^[^\x00-\x1f\x7f]*[^\s\x00-\x1f\x7f][^\x00-\x1f\x7f]*$(?!\n)")
]
Days = Annotated[int, Meta(ge=FEWEST_DAYS, le=MOST_DAYS)]
Redemptions = Annotated[int, Meta(ge=1, le=10_000_000)]
Cost = Annotated[int, Meta(ge=1, le=10**12)]
Address = Annotated[str, Meta(pattern=r"^https?://[^\s<>\"]+$(?!\n)", max_length=2000)]


class CampaignRequest(Wire):
    name: Name
    days: Days
    redemption_limit: Redemptions
    currency: Currency
    idempotency_key: IdempotencyKey
    method: Method = Method.CARD
    cost_minor: Cost | None = None
    """What you were told that it costs; refused if it is not that."""
    return_url: Address | None = None


class CampaignAnswer(Wire):
    campaign_id: CampaignId
    organization_id: OrganizationId
    name: str
    state: CampaignState
    days: Count
    weeks: Count
    weekly_fee_minor: Minor
    cost_minor: Minor
    currency: str
    redemption_limit: Count
    redeemed: Count
    created_at: Instant
    ends_at: Instant | None
    checkout: CheckoutAnswer | None
    """How to pay it."""
    refusal: WhyNotPaid | None
    """Why it cannot be paid, or not yet: the campaign stands, and another try may."""


SOME_ORGANIZATION: Final = OrganizationId.parse("org_0198c9a40000700080000000000000ad")
SOME_CAMPAIGN: Final = CampaignId.parse("cmp_0198c9a40000700080000000000000d1")

make_campaign = Contract(
    id="CPN.CAMPAIGN",
    version="1.0.0",
    owner="coupons",
    consumers=("web", "partners"),
    summary="Make a campaign and begin to pay for it: it runs from when its money came.",
    post="/campaigns",
    status=201,
    takes=CampaignRequest,
    gives=CampaignAnswer,
    refuses=(errors.CurrencyNotOffered, errors.CampaignCostsOtherwise, KeyReused),
    audience=Audience.ORGANIZATION,
    permission=CAMPAIGNS_RW,
    stoppable=True,
    limits=(CAMPAIGNS_PER_ORGANIZATION, CHECKOUT_PER_ADDRESS),
    repeats="a key makes one campaign of an organisation, for ever, and begins one payment at a time",
    order_key="none",
    examples=(
        Example(
            "Not in this currency",
            takes=CampaignRequest(
                name="Two for one",
                days=15,
                redemption_limit=500,
                currency="USD",
                idempotency_key="campaign:0198c9a4",
            ),
            refuses=errors.CurrencyNotOffered(),
        ),
        Example(
            "To be paid",
            takes=CampaignRequest(
                name="Two for one",
                days=15,
                redemption_limit=500,
                currency="EUR",
                idempotency_key="campaign:0198c9a4",
            ),
            gives=CampaignAnswer(
                campaign_id=SOME_CAMPAIGN,
                organization_id=SOME_ORGANIZATION,
                name="Two for one",
                state=CampaignState.PENDING_PAYMENT,
                days=15,
                weeks=3,
                weekly_fee_minor=4_900,
                cost_minor=14_700,
                currency="EUR",
                redemption_limit=500,
                redeemed=0,
                created_at=datetime(2026, 3, 2, 9, tzinfo=UTC),
                ends_at=None,
                checkout=None,
                refusal=WhyNotPaid(error_code="GATEWAY_KEY_MISSING", message="This way to pay is not available here."),
            ),
        ),
    ),
)


@make_campaign.serves
async def create_campaign(call: Call, request: CampaignRequest) -> CampaignAnswer:
    created = await call.batch(create, _creating(call, request))
    checkout, refusal = await payments.try_to_pay(call, created.checkout, Scope(created.campaign.organization))
    return _answer(created.campaign, checkout, refusal)


def _creating(call: Call, request: CampaignRequest) -> Creating:
    if call.identity is None:
        raise Unauthenticated  # Somebody pays, and answers for it: no key does.
    return Creating(
        caller=call.caller,
        created_by=call.identity,
        name=request.name,
        days=request.days,
        redemption_limit=request.redemption_limit,
        currency=request.currency,
        key=request.idempotency_key,
        method=request.method,
        cost_minor=request.cost_minor,
        return_url=request.return_url,
    )


def _answer(campaign: Campaign, checkout: CheckoutAnswer | None, refusal: WhyNotPaid | None) -> CampaignAnswer:
    return CampaignAnswer(
        campaign_id=campaign.id,
        organization_id=campaign.organization,
        name=campaign.name,
        state=campaign.state,
        days=campaign.days,
        weeks=campaign.weeks,
        weekly_fee_minor=campaign.weekly_fee_minor,
        cost_minor=campaign.cost_minor,
        currency=campaign.currency,
        redemption_limit=campaign.redemption_limit,
        redeemed=campaign.redeemed,
        created_at=campaign.created_at,
        ends_at=campaign.ends_at,
        checkout=checkout,
        refusal=refusal,
    )
