"""Asking for a token.

Promise (CPN-030, CPN-031): people ask for themselves, three times a minute at the most; whoever takes coupons for a
merchant gets none of that merchant's.
"""

from datetime import UTC, datetime

from admitone.foundation.authority import api as authority
from admitone.kernel.contracts import Audience, Call, Contract, Example, Instant, Wire
from admitone.kernel.figures import COUPONS_PER_IDENTITY
from admitone.kernel.ids import OrganizationId
from admitone.kernel.scope import Scope
from admitone.verticals.coupons import errors
from admitone.verticals.coupons.codes import text_of
from admitone.verticals.coupons.commands.issuing import Issuing, issue
from admitone.verticals.coupons.model import CampaignId
from admitone.verticals.coupons.routes.campaigns import SOME_CAMPAIGN, SOME_ORGANIZATION
from admitone.verticals.coupons.routes.validations import COUPONS_RW


class TokenRequest(Wire):
    organization_id: OrganizationId
    """Whose campaign it is."""
    campaign_id: CampaignId


class TokenAnswer(Wire):
    token: str
    """What the QR says, and nothing else."""
    expires_at: Instant


make_token = Contract(
    id="CPN.TOKEN",
    version="1.0.0",
    owner="coupons",
    consumers=("mobile", "web"),
    summary="Ask for a coupon of a campaign: it is good for 300 seconds and for one use.",
    post="/tokens",
    status=201,
    takes=TokenRequest,
    gives=TokenAnswer,
    refuses=(errors.CampaignNotFound, errors.CampaignNotActive, errors.MerchantsMakeNoTokens),
    audience=Audience.PERSON,
    stoppable=True,
    guards=lambda request: (f"organization:{request.organization_id}",),
    limits=(COUPONS_PER_IDENTITY,),
    repeats="whoever has a live one is given that one",
    order_key="none",
    examples=(
        Example(
            "Live for five minutes",
            takes=TokenRequest(organization_id=SOME_ORGANIZATION, campaign_id=SOME_CAMPAIGN),
            gives=TokenAnswer(
                token="9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",  # noqa: S106, of nothing
                expires_at=datetime(2026, 3, 2, 9, 5, tzinfo=UTC),
            ),
        ),
        Example(
            "Not paid, or over",
            takes=TokenRequest(organization_id=SOME_ORGANIZATION, campaign_id=SOME_CAMPAIGN),
            refuses=errors.CampaignNotActive(),
        ),
    ),
)


@make_token.serves
async def give_token(call: Call, request: TokenRequest) -> TokenAnswer:
    assert call.identity is not None
    scopes = await call.read(authority.find_scopes, request.organization_id, call.identity, scope=authority.READING)
    if authority.covers(scopes, COUPONS_RW):
        raise errors.MerchantsMakeNoTokens
    asked = Issuing(call.caller, request.campaign_id, call.identity)
    token = await call.batch(issue, asked, scope=Scope(request.organization_id, "give a coupon"))
    return TokenAnswer(token=text_of(token), expires_at=token.expires_at)
