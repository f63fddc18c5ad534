"""Coming to take money: begin at the provider, and see how far one is.

Promise: the provider is asked with no transaction open; whoever repeats what broke off gets the same account, and a
new link to it.
"""

from datetime import UTC, datetime
from typing import Annotated, Any, Final

from msgspec import Meta

from admitone.finance.gateways.api import Account, AccountLink, Method, NotSent, Refused, Trouble
from admitone.finance.gateways.port import GATEWAYS, Gateway
from admitone.finance.payments import errors, queries
from admitone.finance.payments.commands.accounts import Opening, keep_accounts, open_accounts
from admitone.finance.payments.model import AccountTold, KnownAccount, Onboarding
from admitone.foundation.organizations.api import OfficialEmailRequired, OrganizationNotFound
from admitone.kernel.contracts import Audience, Call, Contract, Example, Instant, Wire
from admitone.kernel.errors import OutcomeUnknown, Refusal

FINANCE_ONBOARDING_R = "FINANCE_ONBOARDING_R"
FINANCE_ONBOARDING_RW = "FINANCE_ONBOARDING_RW"
NOT_BEGUN: Final = "NOT_BEGUN"
THEN: Final = datetime(2026, 5, 1, 9, 30, tzinfo=UTC)

ReturnUrl = Annotated[str, Meta(pattern=r"^https?://[^\s<>\"]+$(?!\n)", max_length=2000)]


class OnboardingRequest(Wire):
    return_url: ReturnUrl
    """Where the provider sends whoever has told it everything."""
    method: Method = Method.CARD
    """For which way of paying: where cards and PIX are taken by different providers, an account at each is needed."""


class OnboardingQuestion(Wire):
    method: Method = Method.CARD


class LinkAnswer(Wire):
    url: str
    """At the provider: there the organisation says who it is."""
    expires_at: Instant
    status: str


class OnboardingAnswer(Wire):
    status: str
    """`NOT_BEGUN`, or as it is kept: `PENDING`, `COMPLETE`, `RESTRICTED`."""
    missing: list[str]
    """What the organisation owes here: settings, and documents by their names."""
    requirements_due: list[str]
    """What the provider still asks for, in its own words."""
    charges_enabled: bool
    payouts_enabled: bool
    account_id: str | None
    on_hold: bool


def _begins(own: str, path: str) -> Contract:
    return Contract(
        id=own,
        version="1.0.0",
        owner="payments",
        consumers=("web",),
        summary="Begin to take payments, or go on with it: where the organisation tells the provider who it is.",
        post=path,
        takes=OnboardingRequest,
        gives=LinkAnswer,
        refuses=(
            OrganizationNotFound,
            OfficialEmailRequired,
            errors.OnboardingIncomplete,
            errors.GatewayKeyMissing,
            errors.AccountMismatch,
            errors.AccountTypeRefused,
            errors.GatewayRefused,
        ),
        audience=Audience.ORGANIZATION,
        permission=FINANCE_ONBOARDING_RW,
        verified_only=True,
        repeats="there is one account at a provider, and each time another link to it",
        order_key="organizationId",
        examples=(
            Example(
                "Begun",
                takes=OnboardingRequest(return_url="https://clube.example/finance"),
                gives=LinkAnswer(url="https://provider.example/setup/1", expires_at=THEN, status=Onboarding.PENDING),
            ),
        ),
    )


begin = _begins("C02.X01", "/api/org/{organizationId}/finance/onboarding")
connect = _begins("C02.X01.CONNECT", "/api/organizacao/payouts/connect")
"""The same, by the name that it had (OPS-010)."""


@connect.serves
@begin.serves
async def begin_onboarding(call: Call, request: OnboardingRequest) -> LinkAnswer:
    gateway = GATEWAYS().find_for(request.method, direct=True)
    if gateway is None:
        raise errors.GatewayKeyMissing
    account = await _account(call, gateway)
    link = await gateway.link_account(call.caller, account.account, request.return_url)
    if not isinstance(link, AccountLink):
        raise _refusal(link)
    return LinkAnswer(url=link.url, expires_at=link.expires_at, status=account.onboarding_status)


async def _account(call: Call, gateway: Gateway) -> KnownAccount:
    opened = await call.batch(open_accounts, Opening(call.caller, gateway.provider, gateway.livemode))
    if opened.account is not None:
        return opened.account
    said = await gateway.open_account(opened.order)
    if not isinstance(said, Account):
        raise _refusal(said)
    return await call.batch(keep_accounts, AccountTold(call.caller, gateway.provider, said, opened.at))


def _refusal(trouble: Trouble) -> Refusal:
    match trouble:
        case NotSent(refusal=refusal):
            return refusal
        case Refused(code=code):
            return errors.GatewayRefused(reason=code)
        case _:
            return OutcomeUnknown()


show = Contract(
    id="C02.X01.STATUS",
    version="1.0.0",
    owner="payments",
    consumers=("web",),
    summary="How far the organisation is on its way to take payments, and what is missing.",
    get="/api/org/{organizationId}/finance/onboarding",
    takes=OnboardingQuestion,
    gives=OnboardingAnswer,
    refuses=(OrganizationNotFound,),
    audience=Audience.ORGANIZATION,
    permission=FINANCE_ONBOARDING_R,
    order_key="none",
    examples=(
        Example(
            "Nothing yet",
            takes=OnboardingQuestion(),
            gives=OnboardingAnswer(
                status=NOT_BEGUN,
                missing=["OFFICIAL_EMAIL", "INVOICING", "ORGANIZER_RESPONSIBILITY"],
                requirements_due=[],
                charges_enabled=False,
                payouts_enabled=False,
                account_id=None,
                on_hold=False,
            ),
        ),
    ),
)


@show.serves
async def show_onboarding(call: Call, request: OnboardingQuestion) -> OnboardingAnswer:
    gateway = GATEWAYS().find_for(request.method, direct=True)
    provider, livemode = (gateway.provider, gateway.livemode) if gateway else (None, False)
    found = await call.read(queries.find_standing, provider, livemode)
    account = found.account
    return OnboardingAnswer(
        status=account.onboarding_status if account else NOT_BEGUN,
        missing=list(found.missing),
        requirements_due=list(account.requirements_due) if account else [],
        charges_enabled=account is not None and account.charges_enabled,
        payouts_enabled=account is not None and account.payouts_enabled,
        account_id=account.account if account else None,
        on_hold=found.hold is not None,
    )


CONTRACTS: tuple[Any, ...] = (begin, connect, show)
