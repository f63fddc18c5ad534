"""What coupons have and what they must not have, by their own manifest and source; and decisions, each by itself."""

import re
import secrets
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from admitone.entrypoints.modules import MODULES
from admitone.finance.ledger.api import Account
from admitone.kernel.alerts import ShareAbove, Uptime
from admitone.kernel.alerts.figures import readings_of_paces, readings_of_uptimes
from admitone.kernel.alerts.model import Tally
from admitone.kernel.alerts.policy import breached
from admitone.kernel.contracts.refusals import status_of
from admitone.kernel.ids import IdentityId, OrganizationId
from admitone.kernel.jobs import Schedule
from admitone.kernel.scope import Caller
from admitone.kernel.telemetry import Metrics
from admitone.verticals.coupons import errors, policy, watching
from admitone.verticals.coupons.commands.redeeming import Showing, redeem
from admitone.verticals.coupons.model import (
    CAMPAIGN,
    TOKEN,
    Campaign,
    CampaignId,
    CampaignState,
    EndedFor,
    Token,
    TokenId,
    TokenStatus,
)
from admitone.verticals.coupons.module import MODULE
from tests.verticals.coupons.shop import Shop

SOURCE = Path(policy.__file__).parent
NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
PUBLIC = {("POST", "/campaigns"), ("POST", "/tokens"), ("POST", "/validate")}
S = CampaignState


def a_campaign(**more: Any) -> Campaign:
    usual = {
        "organization": OrganizationId.new(),
        "id": CampaignId.new(),
        "name": "Two for one",
        "days": 15,
        "weeks": 3,
        "weekly_fee_minor": 4900,
        "cost_minor": 14_700,
        "currency": "EUR",
        "redemption_limit": 10,
        "redeemed": 0,
        "state": S.ACTIVE,
        "created_by": IdentityId.new(),
        "key": "k",
        "request_hash": bytes(32),
        "payment_id": None,
        "created_at": NOW,
        "activated_at": NOW,
        "ends_at": NOW + timedelta(days=15),
        "ended_at": None,
        "ended_for": None,
        "earned_weeks": 0,
        "earned_minor": 0,
        "due_at": NOW + timedelta(days=7),
        "watched_until": NOW + timedelta(days=100),
    }
    return Campaign(**(usual | more))


def a_token(campaign: Campaign, **more: Any) -> Token:
    usual = {
        "id": TokenId.new(),
        "campaign": campaign.id,
        "holder": IdentityId.new(),
        "digest": bytes(32),
        "key_version": 1,
        "status": TokenStatus.GENERATED,
        "created_at": NOW,
        "expires_at": NOW + timedelta(seconds=300),
    }
    return Token(**(usual | more))


# -- The scope is closed


@pytest.mark.covers("CPN-064", "CPN-062")
def test_there_are_four_endpoints_and_no_more():
    assert {(each.method, each.path) for each in MODULE.contracts} == PUBLIC
    everywhere = {(each.method, each.path) for module in MODULES for each in module.contracts}
    about = {each for each in everywhere if re.search(r"campaign|coupon|/tokens|/validate|webhooks/payment", each[1])}
    assert about == PUBLIC | {("POST", "/webhooks/payment")}
    for contract in MODULE.contracts:
        assert not {"status", "state", "paid", "paymentStatus", "paidAt"} & contract.fields.keys()


@pytest.mark.covers("CPN-005")
def test_one_statement_makes_a_campaign_active():
    found = [
        (path.relative_to(SOURCE).as_posix(), line.strip())
        for path in sorted(SOURCE.rglob("*.py"))
        for line in path.read_text().splitlines()
        if re.search(r"SET state = 'ACTIVE'|state=CampaignState\.ACTIVE", line)
    ]
    assert [path for path, _ in found] == ["commands/activating.py", "store/campaigns.py"]
    callers = [path.name for path in SOURCE.rglob("*.py") if "store.activate(" in path.read_text()]
    assert callers == ["activating.py"]


@pytest.mark.covers("CPN-004")
def test_nothing_by_the_clock_charges_anybody():
    names = {each.name for each in MODULE.schedules if isinstance(each, Schedule)}
    assert names == {"coupons.see_to", "coupons.compare", "coupons.forget"}
    for name in ("errands.py", "commands/earning.py", "comparing.py"):
        text = (SOURCE / name).read_text()
        assert "payments.begin" not in text and "go_on" not in text


@pytest.mark.covers("CPN-002", "CPN-022")
def test_states_move_forward_only():
    assert {*CAMPAIGN.moves()} == {(S.PENDING_PAYMENT, S.ACTIVE), (S.ACTIVE, S.ENDED)}
    assert CAMPAIGN.terminal() == (S.ENDED,)
    assert TokenStatus.REDEEMED in TOKEN.terminal()


# -- Which refusal


@pytest.mark.covers("CPN-040", "CPN-041", "CPN-042", "CPN-043")
@pytest.mark.parametrize(
    ("kind", "status"),
    [
        (errors.TokenNotFound, 404),
        (errors.TokenOfAnother, 403),
        (errors.TokenRedeemed, 409),
        (errors.CampaignNotActive, 402),
        (errors.TokenExpired, 410),
    ],
)
def test_each_refusal_has_its_status(kind: type, status: int):
    assert status_of(kind) == status


@pytest.mark.covers("CPN-040", "CPN-041", "CPN-042", "CPN-043")
@pytest.mark.parametrize("is_expired", [False, True])
@pytest.mark.parametrize("is_over", [False, True])
@pytest.mark.parametrize("is_redeemed", [False, True])
@pytest.mark.parametrize("is_own", [False, True])
@pytest.mark.parametrize("is_known", [False, True])
def test_the_order_of_reasons_is_one(is_known: bool, is_own: bool, is_redeemed: bool, is_over: bool, is_expired: bool):
    campaign = a_campaign(state=S.ENDED if is_over else S.ACTIVE)
    token = a_token(campaign)
    if is_redeemed:
        token = msgspec.structs.replace(token, status=TokenStatus.REDEEMED, redeemed_at=NOW)
    now = NOW + timedelta(seconds=300 if is_expired else 0)
    own = (token, campaign) if is_own and is_known else (None, None)
    refusal = policy.why_not_redeem(is_known, *own, now)
    first = next(
        (
            kind
            for is_so, kind in (
                (not is_known, errors.TokenNotFound),
                (not is_own, errors.TokenOfAnother),
                (is_redeemed, errors.TokenRedeemed),
                (is_over, errors.CampaignNotActive),
                (is_expired, errors.TokenExpired),
            )
            if is_so
        ),
        type(None),
    )
    assert type(refusal) is first


@pytest.mark.covers("CPN-033")
def test_what_is_a_strike():
    assert not policy.is_strike(None, NOW)
    assert policy.is_strike(errors.TokenNotFound(), NOW)
    assert not policy.is_strike(errors.TokenRedeemed(redeemed_at=NOW - timedelta(seconds=10)), NOW)
    assert policy.is_strike(errors.TokenRedeemed(redeemed_at=NOW - timedelta(seconds=10.1)), NOW)


# -- What is earned


@pytest.mark.parametrize(
    ("days", "later", "weeks"),
    [(15, 6.99, 0), (15, 7, 1), (15, 14, 2), (15, 14.99, 2), (21, 20.99, 2), (22, 21, 3), (22, 21.99, 3)],
)
def test_a_week_is_earned_when_it_is_over(days: int, later: float, weeks: int):
    campaign = a_campaign(days=days, weeks=policy.weeks_of(days), ends_at=NOW + timedelta(days=days))
    assert policy.weeks_earned(campaign, NOW + timedelta(days=later)) == weeks
    ended = msgspec.structs.replace(campaign, state=S.ENDED, ended_for=EndedFor.EXHAUSTED)
    assert policy.weeks_earned(ended, NOW) == policy.weeks_of(days)
    undone = msgspec.structs.replace(campaign, state=S.ENDED, ended_for=EndedFor.REVERSED, earned_weeks=1)
    assert policy.weeks_earned(undone, NOW + timedelta(days=30)) == 1


def test_never_more_is_earned_than_is_deferred():
    campaign = a_campaign()
    assert policy.earnings(campaign, 3, 14_700) == [4900, 4900, 4900]
    assert policy.earnings(campaign, 3, 6_000) == [4900, 1100, 0]
    assert policy.earnings(campaign, 3, -10) == [0, 0, 0]
    assert Account.DEF != Account.CPR


# -- What is promised


@pytest.mark.covers("CPN-051", "CPN-052")
def test_slow_and_failing_validations_are_told():
    metrics = Metrics()
    for status, seconds in (("200", 0.01), ("409", 0.15), ("200", 0.35), ("503", 0.01)):
        metrics.requests.labels(watching.VALIDATE, status, "").inc()
        metrics.latency.labels(watching.VALIDATE).observe(seconds)
    [slow] = readings_of_paces(metrics, [(watching.VALIDATE, 0.2, watching.SLOW)], NOW)
    [failing] = readings_of_uptimes(metrics, [(watching.VALIDATE, watching.FAILING)], NOW)
    assert slow.samples == [Tally(NOW, 1, 4)]
    assert failing.samples == [Tally(NOW, 1, 4)]
    assert isinstance(watching.SLOW.threshold, ShareAbove) and watching.SLOW.threshold.percent == 5
    assert {each.rule for each in MODULE.paces} == {watching.SLOW, watching.FAILING, watching.WEARING}


@pytest.mark.covers("CPN-052")
def test_failing_a_little_for_days_is_told_too():
    """Two in a thousand for three days: no hour of them is worth waking anybody, and thirty such days break the
    promise."""
    hours = [Tally(NOW + timedelta(hours=hour), 2 * hour, 1_000 * hour) for hour in range(73)]
    assert breached(watching.WEARING.threshold, hours)
    assert not breached(watching.FAILING.threshold, hours)
    kept = [Tally(each.at, each.all / 1_000, each.all) for each in hours]
    assert not breached(watching.WEARING.threshold, kept), "999 in 1000 is what was promised"
    assert not breached(watching.WEARING.threshold, [*hours[:-1], Tally(hours[-1].at, 0, 0)])
    metrics = Metrics()
    metrics.requests.labels(watching.VALIDATE, "503", "").inc()
    uptimes = [(each.contract, each.rule) for each in MODULE.paces if isinstance(each, Uptime)]
    assert {each.rule for each in readings_of_uptimes(metrics, uptimes, NOW)} == {watching.FAILING, watching.WEARING}


# -- Guesses


@pytest.mark.covers("CPN-023", "CPN-027")
async def test_nobody_guesses_a_token(shop: Shop):
    made = await shop.running()
    await shop.token(made)
    before = await shop.row(made)
    for _ in range(20):
        guesses = [Showing(Caller(), secrets.token_bytes(32)) for _ in range(250)]
        verdicts = await shop.database.run(shop.scope, lambda tx, guesses=guesses: redeem(tx, guesses))
        assert {type(each.refusal) for each in verdicts} == {errors.TokenNotFound}
        assert all(each.is_strike for each in verdicts)
    answers = [await shop.validate(each, shop.owner) for each in ("0" * 64, "not a token", "'; --", before["id"].hex)]
    bodies = [each.json() for each in answers]
    for body in bodies:
        body.pop("correlationId")
    assert [each.status_code for each in answers] == [404] * 4
    assert all(body == bodies[0] for body in bodies)
    assert await shop.row(made) == before
