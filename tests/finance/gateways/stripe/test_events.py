"""What Stripe tells by itself: believed when it is Stripe's, and understood for what it says and no more."""

from datetime import UTC, datetime, timedelta
from typing import Any, get_args

import pytest
import stripe

from admitone.finance.gateways.api import Account, ObjectType, PayoutStatus, ProviderEvent, Ref, Topic, UnknownStatus
from admitone.finance.gateways.stripe.events import OF_ACCOUNTS, TYPES
from admitone.finance.gateways.stripe.gateway import StripeGateway
from admitone.finance.gateways.stripe.keys import Keys
from admitone.finance.gateways.stripe.way import VERSION
from admitone.kernel.errors import Malformed
from admitone.kernel.outbound import Outbound
from tests.finance.gateways.stripe.fixtures import (
    ACCOUNT,
    BORN,
    CARRIED,
    CHARGE,
    DECLINED,
    DISPUTE,
    GIVEN,
    INTENT,
    ORGANIZATION,
    PAYMENT,
    PAYOUT,
    REFUND,
    SESSION,
    TAKEN,
    TOLD,
    TRANSFER,
    an_event,
    as_sent,
    signed_by_stripe,
)
from tests.finance.gateways.stripe.stages import KEYS

ROUTE, PIX_ROUTE, CONNECT = "/api/stripe/webhook", "/webhooks/pix", "/api/organizacao/payouts/webhook"
GATEWAY = StripeGateway(KEYS, "http://127.0.0.1:1", Outbound.__new__(Outbound))


def read(kind: str, about: dict[str, Any], **more: Any) -> ProviderEvent:
    return GATEWAY.read(as_sent(an_event(kind, about, **more)), "stripe")


def told(event: ProviderEvent) -> list[tuple[str, str, int, int]]:
    """Kind, key, when after the beginning, and how much."""
    born = datetime.fromtimestamp(BORN, UTC)
    return [
        (fact.kind.value, fact.key.partition(":")[2], (fact.at - born) // timedelta(seconds=1), fact.amount_minor)
        for fact in event.facts
    ]


PENDING = ("PENDING", "pi_1", 0, 5_000)
PAID = {"status": "succeeded", "amount_received": 5_000, "latest_charge": "ch_1", "payment_method": "pm_1"}
FAILED_3DS = {"code": "payment_intent_authentication_failure", "payment_method": {"id": "pm_1"}}
PIX = {
    "currency": "brl",
    "payment_method_types": ["pix"],
    "payment_method_options": {"pix": {"expires_at": BORN + 30}},
}
ENDED = {"last_payment_error": {"code": "payment_intent_payment_attempt_expired"}}
OPENED = ("DISPUTE_OPENED", "dp_1", 40, 5_000)

SAID: list[Any] = [
    ("payment_intent.created", INTENT, [PENDING]),
    (
        "payment_intent.requires_action",
        INTENT | {"status": "requires_action", "payment_method": "pm_1"},
        [PENDING, ("REQUIRES_ACTION", "pi_1:pm_1", 60, 5_000)],
    ),
    (
        "payment_intent.processing",
        INTENT | {"status": "processing", "payment_method": "pm_1", "latest_charge": "ch_1"},
        [PENDING, ("PROCESSING", "pi_1:pm_1", 60, 5_000)],
    ),
    ("payment_intent.succeeded", INTENT | PAID, [PENDING, ("CAPTURED", "pi_1", 60, 5_000)]),
    (
        "payment_intent.payment_failed",
        INTENT | {"last_payment_error": DECLINED, "latest_charge": "ch_0"},
        [PENDING, ("FAILED", "ch_0", 60, 5_000)],
    ),
    (
        "payment_intent.payment_failed",
        INTENT | {"last_payment_error": FAILED_3DS},
        [PENDING, ("FAILED", "pi_1:pm_1", 60, 5_000)],
    ),
    (
        "payment_intent.canceled",
        INTENT | {"status": "canceled", "canceled_at": BORN + 9},
        [PENDING, ("CANCELLED", "pi_1", 9, 0)],
    ),
    # PIX through Stripe: the code is shown, paid, or ends by itself.
    ("payment_intent.requires_action", INTENT | PIX | {"status": "requires_action"}, [PENDING]),
    ("payment_intent.succeeded", INTENT | PIX | PAID, [PENDING, ("CAPTURED", "pi_1", 30, 5_000)]),
    ("payment_intent.payment_failed", INTENT | PIX | ENDED, [PENDING, ("EXPIRED", "pi_1", 30, 0)]),
    # A page of Stripe's: completed does not mean paid.
    (
        "checkout.session.completed",
        SESSION,
        [("PENDING", "cs_test_1", 0, 5_000), ("CAPTURED", "pi_1", 60, 5_000)],
    ),
    ("checkout.session.completed", SESSION | {"payment_status": "unpaid"}, [("PENDING", "cs_test_1", 0, 5_000)]),
    (
        "checkout.session.expired",
        SESSION | {"payment_status": "unpaid", "status": "expired", "payment_intent": None, "expires_at": BORN + 50},
        [("PENDING", "cs_test_1", 0, 5_000), ("EXPIRED", "cs_test_1", 50, 0)],
    ),
    # What went back: how much, but not by which refunds. It tells nothing, and so it is asked for.
    ("charge.refunded", CHARGE, []),
    ("refund.created", REFUND | {"status": "pending"}, [("REFUND_PENDING", "re_1", 30, 2_000)]),
    ("refund.updated", REFUND, [("REFUNDED", "re_1", 30, 2_000)]),
    (
        "refund.failed",
        REFUND | {"status": "failed", "failure_balance_transaction": "txn_5"},
        [("REFUNDED", "re_1", 30, 2_000), ("REFUND_FAILED", "re_1", 60, 2_000)],
    ),
    (
        "charge.refund.updated",
        REFUND | {"status": "failed", "balance_transaction": None},
        [("REFUND_FAILED", "re_1", 60, 2_000)],
    ),
    ("charge.dispute.created", DISPUTE, [OPENED]),
    ("charge.dispute.funds_withdrawn", DISPUTE, [OPENED]),
    ("charge.dispute.updated", DISPUTE | {"status": "under_review"}, [OPENED]),
    (
        "charge.dispute.closed",
        DISPUTE | {"status": "won", "balance_transactions": [TAKEN, GIVEN]},
        [OPENED, ("DISPUTE_WON", "dp_1", 50, 5_000)],
    ),
    ("charge.dispute.closed", DISPUTE | {"status": "won"}, [OPENED]),
    (
        "charge.dispute.funds_reinstated",
        DISPUTE | {"status": "won", "balance_transactions": [TAKEN, GIVEN]},
        [OPENED, ("DISPUTE_WON", "dp_1", 50, 5_000)],
    ),
    ("charge.dispute.closed", DISPUTE | {"status": "lost"}, [OPENED, ("DISPUTE_LOST", "dp_1", 60, 5_000)]),
    # A bank that only asks has taken nothing.
    ("charge.dispute.created", DISPUTE | {"status": "warning_needs_response", "balance_transactions": []}, []),
    ("charge.dispute.closed", DISPUTE | {"status": "warning_closed", "balance_transactions": []}, []),
    ("charge.dispute.closed", DISPUTE | {"status": "prevented", "balance_transactions": []}, []),
]


@pytest.mark.covers("FIN-064", "PAY-022", "PAY-061", "PAY-062")
@pytest.mark.parametrize(("kind", "about", "facts"), SAID, ids=[each[0] for each in SAID])
def test_an_event_tells_what_happened_to_a_charge(kind: str, about: dict[str, Any], facts: list[Any]):
    event = read(kind, about)
    assert told(event) == facts
    assert event.topic is Topic.CHARGE
    is_ours = about.get("metadata", {}).get("orgId") is not None
    assert (event.organization, event.payment) == ((ORGANIZATION, PAYMENT) if is_ours else (None, None))
    strongest = Ref(ObjectType.SESSION, "cs_test_1") if kind.startswith("checkout") else Ref(ObjectType.INTENT, "pi_1")
    assert event.refs[0] == strongest
    assert all(fact.currency == about["currency"].upper() for fact in event.facts if fact.amount_minor)


def test_what_a_dispute_costs_is_what_stripe_took_and_gave_back():
    won = read("charge.dispute.closed", DISPUTE | {"status": "won", "balance_transactions": [TAKEN, GIVEN]})
    assert [fact.fee_minor for fact in won.facts] == [1_500, 1_500]
    kept = read(
        "charge.dispute.closed", DISPUTE | {"status": "won", "balance_transactions": [TAKEN, GIVEN | {"fee": 0}]}
    )
    assert [fact.fee_minor for fact in kept.facts] == [1_500, 0], "not everywhere does Stripe give its fee back"
    assert {(fact.code, fact.charge) for fact in won.facts} == {("fraudulent", "pi_1")}


def test_what_a_dispute_costs_in_another_currency_is_not_told_in_its_own():
    """Paid in dollars, kept in euros: fifteen euros are not fifteen dollars."""
    there = {"status": "won", "balance_transactions": [TAKEN, GIVEN], "currency": "usd"}
    assert [(fact.fee_minor, fact.amount_minor) for fact in read("charge.dispute.closed", DISPUTE | there).facts] == [
        (0, 5_000),
        (0, 5_000),
    ]


@pytest.mark.covers("PAY-034")
def test_a_second_attempts_failure_is_another_one():
    first = read("payment_intent.payment_failed", INTENT | {"last_payment_error": DECLINED})
    second = read("payment_intent.payment_failed", INTENT | {"last_payment_error": DECLINED | {"charge": "ch_00"}})
    unproved = read("payment_intent.payment_failed", INTENT | {"last_payment_error": FAILED_3DS})
    assert len({event.facts[-1].key for event in (first, second, unproved)}) == 3
    assert first.facts[-1].code == "insufficient_funds"
    generic = DECLINED | {"decline_code": "generic_decline"}
    assert (
        read("payment_intent.payment_failed", INTENT | {"last_payment_error": generic}).facts[-1].code
        == "card_declined"
    )
    assert "authentication" in unproved.facts[-1].code


# -- Accounts, balances, payouts


@pytest.mark.covers("FIN-064", "PAY-038")
def test_what_is_told_of_accounts_and_payouts():
    account = read("account.updated", ACCOUNT, account="acct_1")
    assert account.topic is Topic.ACCOUNT
    assert account.account == Account("acct_1", "standard", True, True, (), False, ORGANIZATION)
    assert account.envelope.source == "stripe_connect"
    paid = read("payout.paid", PAYOUT, account="acct_1")
    assert (paid.topic, paid.payout.status, paid.envelope.account) == (Topic.PAYOUT, PayoutStatus.PAID, "acct_1")
    failed = read("payout.failed", PAYOUT | {"status": "failed", "failure_code": "account_closed"}, account="acct_1")
    assert (failed.payout.status, failed.payout.code) == (PayoutStatus.FAILED, "account_closed")
    assert read("balance.available", {"object": "balance", "available": []}).topic is Topic.BALANCE
    ours = read("transfer.created", TRANSFER)
    assert (ours.topic, ours.payout.status, ours.organization) == (Topic.PAYOUT, PayoutStatus.PAID, ORGANIZATION)
    assert ours.refs == (Ref(ObjectType.PAYOUT, "tr_9"), Ref(ObjectType.ACCOUNT, "acct_1"))
    back = {"id": "trr_1", "created": BORN + 7, "amount": 8_500, "transfer": "tr_9"}
    reversals = {"object": "list", "data": [back], "has_more": False}
    reversed_ = read("transfer.reversed", TRANSFER | {"reversed": True, "reversals": reversals})
    assert (reversed_.payout.status, reversed_.payout.code) == (PayoutStatus.FAILED, "reversed")
    assert reversed_.payout.at == datetime.fromtimestamp(BORN + 7, UTC)
    handed_on = read("transfer.reversed", TRANSFER | {"metadata": TRANSFER["metadata"] | {"returned_refund": "re_1"}})
    assert (handed_on.topic, handed_on.payout) == (Topic.NOTHING, None), "what is handed on again is no payout"
    of_a_charge = read("transfer.created", TRANSFER | {"source_transaction": "ch_1"})
    assert of_a_charge.topic is Topic.NOTHING, "it happened with the charge"


@pytest.mark.covers("FIN-020")
@pytest.mark.parametrize(
    ("asked", "due", "is_rejected"),
    [
        (
            {"currently_due": ["b", "a"], "past_due": ["a"], "disabled_reason": "requirements.past_due"},
            ("a", "b"),
            False,
        ),
        ({"currently_due": [], "past_due": None, "disabled_reason": "rejected.fraud"}, (), True),
        ({"currently_due": [], "past_due": [], "disabled_reason": "under_review"}, (), True),
        (None, (), False),
    ],
)
def test_what_an_account_still_owes(asked: Any, due: tuple[str, ...], is_rejected: bool):
    account = read("account.updated", ACCOUNT | {"requirements": asked}, account="acct_1").account
    assert account is not None
    assert (account.requirements_due, account.rejected) == (due, is_rejected)


def test_what_an_organisation_sells_without_us_is_its_own_business():
    for kind, about in [(kind, about) for kind, about, _ in SAID]:
        assert read(kind, about, account="acct_1").topic is Topic.NOTHING
    assert read("account.updated", ACCOUNT).topic is Topic.NOTHING, "the platform's own account is no organisation's"


# -- Names


def test_every_type_that_we_listen_to_is_one_of_stripes():
    known = set(get_args(stripe.Event.__annotations__["type"]))
    assert len(known) > 200
    assert {*TYPES, *OF_ACCOUNTS} <= known
    assert stripe._api_version._ApiVersion.CURRENT == VERSION


@pytest.mark.covers("PAY-018", "FIN-064")
def test_no_type_that_must_be_dealt_with_is_left_out():
    """003's two, 004's eight, C10's eleven."""
    listed = ["created", "requires_action", "processing", "succeeded", "payment_failed", "canceled"]
    must = {f"payment_intent.{word}" for word in listed} | {"checkout.session.completed", "checkout.session.expired"}
    must |= {"charge.refunded", "charge.dispute.created", "charge.dispute.closed", "balance.available"}
    assert must | {"payout.paid", "payout.failed"} <= TYPES.keys()
    assert {"account.updated", "payout.paid", "payout.failed"} == OF_ACCOUNTS.keys()


@pytest.mark.covers("PAY-018")
@pytest.mark.parametrize("kind", ["customer.created", "charge.succeeded", "payment_intent.partially_funded", "x"])
def test_a_type_that_we_do_not_deal_with_means_nothing(kind: str):
    event = read(kind, {"whatever": 1})
    assert (event.topic, event.facts, event.refs) == (Topic.NOTHING, (), ())


@pytest.mark.covers("PAY-061")
@pytest.mark.parametrize(
    ("kind", "about", "status"),
    [
        ("payment_intent.succeeded", INTENT | {"status": "requires_capture"}, "requires_capture"),
        ("payment_intent.created", INTENT | {"status": "requires_thought"}, "requires_thought"),
        ("checkout.session.completed", SESSION | {"payment_status": "no_payment_required"}, "no_payment_required"),
        ("checkout.session.completed", SESSION | {"status": "paused"}, "paused"),
        ("refund.updated", REFUND | {"status": "wandering"}, "wandering"),
        ("refund.updated", REFUND | {"status": None}, ""),
        ("charge.dispute.updated", DISPUTE | {"status": "wandering"}, "wandering"),
    ],
)
def test_a_word_that_we_do_not_know_is_never_guessed(kind: str, about: dict[str, Any], status: str):
    with pytest.raises(UnknownStatus) as odd:
        read(kind, about)
    assert odd.value.status == status
    assert odd.value.refs
    if "orgId" in about["metadata"]:
        assert (odd.value.organization, odd.value.payment) == (ORGANIZATION, PAYMENT)


def test_a_payout_in_a_state_that_we_do_not_know_is_not_guessed():
    with pytest.raises(UnknownStatus):
        read("payout.paid", PAYOUT | {"status": "floating"}, account="acct_1")


# -- Signatures, made by Stripe's own software


def verified(body: bytes, headers: dict[str, str], route: str = ROUTE, now: datetime | None = None) -> Any:
    return GATEWAY.verify(body, headers, route, now or datetime.now(UTC))


@pytest.mark.covers("PAY-011", "FIN-023")
def test_what_stripe_signs_we_believe_on_its_own_route_and_so_does_stripe():
    body = as_sent(an_event("payment_intent.succeeded", INTENT | PAID))
    for secret, routes, others in (
        (KEYS.account, [ROUTE, PIX_ROUTE, f"{ROUTE}/"], [CONNECT]),
        (KEYS.connect, [CONNECT], [ROUTE, PIX_ROUTE]),
    ):
        headers = signed_by_stripe(body, secret)
        assert stripe.Webhook.construct_event(body, headers["Stripe-Signature"], secret).id == "evt_1"
        for route in routes:
            envelope = verified(body, headers, route)
            assert (envelope.id, envelope.type, envelope.request_id) == ("evt_1", "payment_intent.succeeded", "req_1")
            assert envelope.created == datetime.fromtimestamp(TOLD, UTC)
        assert all(verified(body, headers, route) is None for route in others)


@pytest.mark.covers("PAY-011", "PAY-014")
@pytest.mark.parametrize("seconds", [-301, 301, -86_400])
def test_a_signature_that_is_too_old_is_none_for_us_nor_for_stripe(seconds: int):
    body = as_sent(an_event("payment_intent.succeeded", INTENT))
    at = int(datetime.now(UTC).timestamp()) + seconds
    headers = signed_by_stripe(body, at=at)
    assert verified(body, headers) is None
    if seconds < 0:
        with pytest.raises(stripe.SignatureVerificationError):
            stripe.Webhook.construct_event(body, headers["Stripe-Signature"], KEYS.account)
    almost = datetime.fromtimestamp(at, UTC) + timedelta(seconds=300 if seconds < 0 else -300)
    assert verified(body, headers, now=almost)


@pytest.mark.covers("PAY-011", "PAY-014")
def test_what_is_forged_altered_or_cut_off_is_not_believed():
    body = as_sent(an_event("payment_intent.succeeded", INTENT | PAID))
    headers = signed_by_stripe(body)
    header = headers["Stripe-Signature"]
    assert verified(body, headers)
    assert verified(body, signed_by_stripe(body, "whsec_of_somebody_else")) is None
    assert verified(body.replace(b"5000", b"9000"), headers) is None
    assert verified(body[:-1], headers) is None
    assert verified(body, {}) is None
    for broken in (header[:-1], header.replace("v1=", "v0="), header.partition(",")[2], "", "t=,v1=", f"{header}0"):
        assert verified(body, {"Stripe-Signature": broken}) is None
    rolled = f"{header},v1={'0' * 64}"
    assert verified(body, {"Stripe-Signature": rolled}), "while a secret is rolled there are two"


def test_what_is_signed_and_cannot_be_read_is_malformed():
    for body in (b"{}", b"[]", b"{", as_sent(an_event("payment_intent.succeeded", INTENT))[:-20]):
        with pytest.raises(Malformed):
            verified(body, signed_by_stripe(body))
    for about in ({}, {"id": 1}, INTENT | {"amount": "5000"}, INTENT | {"created": None}):
        with pytest.raises(Malformed):
            read("payment_intent.succeeded", about)


@pytest.mark.covers("FIN-061")
def test_the_mode_is_what_the_event_says():
    live = as_sent(an_event("payment_intent.succeeded", INTENT, livemode=True))
    assert verified(live, signed_by_stripe(live)).livemode is True
    assert GATEWAY.livemode is False
    keys = Keys("rk_live_of_somebody", "whsec_a", "whsec_b")
    assert StripeGateway(keys, "http://127.0.0.1:1", Outbound.__new__(Outbound)).livemode is True


def test_nothing_of_what_people_wrote_is_kept_of_an_event():
    """Names and addresses of the cards' owners are in it, and in nothing that comes of it."""
    event = read("charge.refunded", CHARGE)
    assert "ana@example.org" not in repr(event)
    assert CARRIED["order_key"] not in repr(event)
