"""Taking a token.

Promise (CPN-026, CPN-030 to CPN-033): only the merchant whose campaign it is redeems it; sixty a minute for a merchant;
five failures in a row of a person, a key or an address close the door to them for a quarter of an hour, whatever they
bring; a success makes up for failures, and a race that was lost is none. The answer names nobody.
"""

from datetime import UTC, datetime
from typing import Annotated, Final, Literal

from msgspec import Meta

from admitone.kernel import streaks
from admitone.kernel.contracts import Audience, Call, Contract, Example, Instant, Wire
from admitone.kernel.limits import by_address, by_identity
from admitone.kernel.streaks import Mark, Outcome, Result
from admitone.verticals.coupons import errors
from admitone.verticals.coupons.codes import digest_of
from admitone.verticals.coupons.commands.redeeming import Showing, Verdict, redeem
from admitone.verticals.coupons.kinds import COUPON
from admitone.verticals.coupons.model import CampaignId
from admitone.verticals.coupons.watching import VALIDATE

COUPONS_RW: Final = "SHOP_COUPONS_RW"
SOME_TOKEN: Final = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"  # noqa: S105, of nothing
SOME_CAMPAIGN: Final = CampaignId.parse("cmp_0198c9a40000700080000000000000d1")

Shown = Annotated[str, Meta(min_length=1, max_length=200)]
"""Whatever a camera read: what is no token is not found."""


class ValidateRequest(Wire):
    token: Shown


class ValidateAnswer(Wire):
    status: Literal["REDEEMED"]
    campaign_id: CampaignId
    campaign: str
    redeemed_at: Instant


validate = Contract(
    id=VALIDATE,
    version="1.0.0",
    owner="coupons",
    consumers=("web", "scanner", "partners"),
    summary="Take a coupon: it is redeemed now, and never again.",
    post="/validate",
    takes=ValidateRequest,
    gives=ValidateAnswer,
    refuses=(
        errors.TokenNotFound,
        errors.TokenOfAnother,
        errors.TokenRedeemed,
        errors.CampaignNotActive,
        errors.TokenExpired,
    ),
    audience=Audience.ORGANIZATION,
    permission=COUPONS_RW,
    limits=COUPON.limits,
    repeats="a token is redeemed once; whoever repeats is told that it was",
    order_key="none",
    examples=(
        Example(
            "Redeemed",
            takes=ValidateRequest(token=SOME_TOKEN),
            gives=ValidateAnswer(
                status="REDEEMED",
                campaign_id=SOME_CAMPAIGN,
                campaign="Two for one",
                redeemed_at=datetime(2026, 3, 2, 9, 1, tzinfo=UTC),
            ),
        ),
        Example("Never was", takes=ValidateRequest(token=SOME_TOKEN), refuses=errors.TokenNotFound()),
    ),
)


@validate.serves
async def take_token(call: Call, request: ValidateRequest) -> ValidateAnswer:
    marks = _marks(call)
    has_failed = await call.batch(streaks.check, marks, scope=streaks.SCOPE)
    verdict = await call.batch(redeem, Showing(call.caller, digest_of(request.token)))
    if result := _result(verdict, has_failed=has_failed):
        await call.batch(streaks.record, tuple(Outcome(mark, result) for mark in marks), scope=streaks.SCOPE)
    if verdict.refusal is not None:
        raise verdict.refusal
    assert verdict.campaign is not None
    return ValidateAnswer(
        status="REDEEMED",
        campaign_id=verdict.campaign.id,
        campaign=verdict.campaign.name,
        redeemed_at=verdict.at,
    )


def _marks(call: Call) -> tuple[Mark, ...]:
    """Whose failures are counted: the address's, and the person's or the key's."""
    [streak] = COUPON.streaks
    whose = by_identity(call.identity) if call.identity else f"key:{call.credential}"
    return (Mark(streak, by_address(call.caller.address)), Mark(streak, whose))


def _result(verdict: Verdict, *, has_failed: bool) -> Result | None:
    """What is to be remembered: a success, if there is something to make up for."""
    if verdict.refusal is None:
        return Result.SUCCEEDED if has_failed else None
    return Result.FAILED if verdict.is_strike else None
