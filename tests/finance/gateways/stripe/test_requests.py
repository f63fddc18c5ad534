"""What is asked of Stripe, to the letter."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import msgspec
import pytest

from admitone.finance.gateways.api import NOT_OFFERED, Account, Charge, Method, Refund, Refused
from admitone.finance.gateways.stripe import parameters
from admitone.finance.sources.api import SettlementModel
from admitone.kernel.ids import OrganizationId, uuid7
from admitone.kernel.money import digits
from admitone.kernel.scope import Caller
from tests.finance.gateways.builders import (
    a_charge_order,
    a_payout_order,
    a_pix_order,
    a_refund_order,
    an_account_order,
    an_evidence_order,
    sure,
)
from tests.finance.gateways.stage import paid
from tests.finance.gateways.stripe.checking import NoSuchRequest, check_request
from tests.finance.gateways.stripe.stages import StripeStage

BACK = "http://127.0.0.1:8000/back"


def sent(stage: StripeStage, method: str, path: str) -> tuple[dict[str, str], dict[str, Any]]:
    """The last one there: its headers and its form."""
    return [(headers, form) for verb, to, headers, form in stage.peer.received if (verb, to) == (method, path)][-1]


async def an_account(stage: StripeStage) -> Account:
    account = sure(Account, await stage.gateway.open_account(an_account_order()))
    await stage.do("complete", account.id)
    return account


def carried(order: Any) -> dict[str, str]:
    return {
        "orgId": str(order.organization),
        "payment_id": str(order.payment),
        "correlation_id": str(order.caller.correlation_id),
        "order_key": str(order.key),
    }


# -- Charges


@pytest.mark.covers("FIN-005", "PAY-001", "PAY-045")
async def test_a_charge_for_an_organisation_is_a_destination_charge_on_its_behalf(stage: StripeStage):
    account = await an_account(stage)
    order = a_charge_order(account=account.id, metadata=(("source_type", "EVENT"), ("source_id", "e1")))
    sure(Charge, await stage.gateway.open_charge(order))
    headers, form = sent(stage, "POST", "/v1/payment_intents")
    assert form == {
        "amount": "5000",
        "currency": "eur",
        "description": "Two tickets",
        "payment_method_types": ["card"],
        "application_fee_amount": "300",
        "transfer_data": {"destination": account.id},
        "on_behalf_of": account.id,
        "metadata": {"source_type": "EVENT", "source_id": "e1", **carried(order)},
    }
    assert headers["idempotency-key"] == str(order.key)
    assert headers["stripe-version"] == "2026-08-26.dahlia"


@pytest.mark.covers("FIN-007")
async def test_where_the_platform_sells_all_of_it_is_the_platforms(stage: StripeStage):
    account = await an_account(stage)
    order = a_charge_order(account=account.id, settlement=SettlementModel.PLATFORM_MOR, application_fee_minor=0)
    sure(Charge, await stage.gateway.open_charge(order))
    _, form = sent(stage, "POST", "/v1/payment_intents")
    assert not {"transfer_data", "application_fee_amount", "on_behalf_of"} & form.keys()


@pytest.mark.covers("PAY-001")
async def test_a_session_carries_the_same_on_itself_and_on_its_intent(stage: StripeStage):
    account = await an_account(stage)
    order = a_charge_order(account=account.id, return_url=BACK)
    charge = sure(Charge, await stage.gateway.open_charge(order))
    headers, form = sent(stage, "POST", "/v1/checkout/sessions")
    assert form["metadata"] == form["payment_intent_data"]["metadata"] == carried(order)
    assert form["payment_intent_data"]["transfer_data"] == {"destination": account.id}
    assert form["payment_intent_data"]["on_behalf_of"] == account.id
    assert form["payment_intent_data"]["application_fee_amount"] == "300"
    assert (form["mode"], form["success_url"], form["cancel_url"]) == ("payment", BACK, BACK)
    [item] = form["line_items"]
    assert (item["quantity"], item["price_data"]["unit_amount"], item["price_data"]["currency"]) == ("1", "5000", "eur")
    assert headers["idempotency-key"] == str(order.key)
    assert charge.id.startswith("cs_")


@pytest.mark.covers("PAY-050")
async def test_pix_is_confirmed_at_once_and_ends_when_the_payment_does(stage: StripeStage):
    order = a_pix_order(expires_at=datetime.now(UTC) + timedelta(minutes=15))
    charge = sure(Charge, await stage.gateway.open_charge(order))
    _, form = sent(stage, "POST", "/v1/payment_intents")
    assert (form["currency"], form["payment_method_types"], form["confirm"]) == ("brl", ["pix"], "true")
    assert form["payment_method_data"] == {"type": "pix"}
    assert form["payment_method_options"] == {"pix": {"expires_at": str(int(order.expires_at.timestamp()))}}
    assert charge.pix
    assert charge.client_secret is None, "with it, somebody could begin it anew"


@pytest.mark.covers("FIN-030")
@pytest.mark.parametrize("currency", ["ISK", "UGX", "MGA"])
async def test_nothing_is_charged_in_a_currency_that_stripe_counts_otherwise(stage: StripeStage, currency: str):
    """Stripe writes crowns of Iceland with two decimals, and an ariary with none: it would take a hundredth of the
    price, or a hundred times as much."""
    stripes_digits = {"ISK": 2, "UGX": 2, "MGA": 0}
    assert digits(currency) != stripes_digits[currency]
    said = [
        await stage.gateway.open_charge(a_charge_order(currency=currency)),
        await stage.gateway.open_charge(a_charge_order(currency=currency, return_url=BACK)),
        await stage.gateway.pay_out(a_payout_order("acct_1", OrganizationId.new(), currency=currency)),
    ]
    assert {sure(Refused, each).code for each in said} == {NOT_OFFERED}
    assert stage.peer.received == [], "and nothing is sent"


# -- Sessions and their end (U-25)


@pytest.mark.covers("PAY-002")
@pytest.mark.parametrize(
    ("lasts", "is_told"),
    [
        (timedelta(minutes=29), False),
        (timedelta(minutes=30), False),
        (timedelta(minutes=36), True),
        (timedelta(hours=23, minutes=59), True),
        (timedelta(hours=24, minutes=1), False),
    ],
)
async def test_stripe_is_told_when_a_session_ends_only_if_it_takes_that(
    stage: StripeStage, lasts: timedelta, is_told: bool
):
    order = a_charge_order(key=uuid7(), return_url=BACK, expires_at=datetime.now(UTC) + lasts)
    sure(Charge, await stage.gateway.open_charge(order))
    _, form = sent(stage, "POST", "/v1/checkout/sessions")
    assert form.get("expires_at") == (str(int(order.expires_at.timestamp())) if is_told else None)


def test_an_order_says_the_same_however_late_it_is_repeated():
    """Of a key that does not say when it was given, nothing is told."""
    early = UUID(int=(int(datetime.now(UTC).timestamp() - 7_000) * 1_000 << 80) | (7 << 76) | (2 << 62))
    order = a_charge_order(key=early, return_url=BACK, expires_at=datetime.now(UTC) + timedelta(minutes=5))
    assert parameters.session_end(order) == int(order.expires_at.timestamp())
    assert parameters.session_end(msgspec.structs.replace(order, key=uuid4())) is None


async def test_a_repeated_order_is_the_same_request(stage: StripeStage):
    order = a_charge_order(return_url=BACK, key=uuid7())
    first = sure(Charge, await stage.gateway.open_charge(order))
    again = sure(Charge, await stage.gateway.open_charge(order))
    assert again == first
    forms = [form for verb, to, _, form in stage.peer.received if verb == "POST"]
    assert forms[0] == forms[1]


async def test_our_cancel_expires_the_session(stage: StripeStage):
    charge = sure(Charge, await stage.gateway.open_charge(a_charge_order(return_url=BACK)))
    closed = sure(Charge, await stage.gateway.cancel_charge(Caller(), charge.id))
    assert [fact.kind for fact in closed.facts] == ["PENDING", "EXPIRED"]
    assert closed.facts[-1].at < datetime.now(UTC) + timedelta(hours=1), "before its time"
    assert closed.redirect_url is None
    assert {fact.key for fact in sure(Charge, await stage.gateway.cancel_charge(Caller(), charge.id)).facts} == {
        fact.key for fact in closed.facts
    }


async def test_the_intent_of_a_session_is_closed_by_its_page(stage: StripeStage):
    """Whoever heard of the intent first knows the charge by that."""
    charge = sure(Charge, await stage.gateway.open_charge(a_charge_order(return_url=BACK)))
    await stage.do("pay", charge.id, card="card_declined")
    tried = sure(Charge, await stage.gateway.find_charge(Caller(), charge.id))
    [intent] = [ref.id for ref in tried.refs if ref.type == "intent"]
    closed = sure(Charge, await stage.gateway.cancel_charge(Caller(), intent))
    assert {"FAILED", "EXPIRED"} <= {fact.kind for fact in closed.facts}


# -- What else is made


@pytest.mark.covers("FIN-005")
async def test_a_refund_says_whose_it_is_and_takes_the_accounts_part(stage: StripeStage):
    account = await an_account(stage)
    order, charge = await paid(stage, account=account.id)
    refund = a_refund_order(order, charge, 2_000, application_fee_minor=120)
    sure(Refund, await stage.gateway.refund(refund))
    headers, form = sent(stage, "POST", "/v1/refunds")
    assert form == {
        "payment_intent": charge.id,
        "amount": "2000",
        "reverse_transfer": "true",
        "refund_application_fee": "true",
        "metadata": carried(refund) | {"correlation_id": str(order.caller.correlation_id)},
    }
    assert headers["idempotency-key"] == str(refund.key)


async def test_a_refund_of_the_platforms_own_charge_reverses_nothing(stage: StripeStage):
    order, charge = await paid(stage)
    sure(Refund, await stage.gateway.refund(a_refund_order(order, charge, 2_000)))
    _, form = sent(stage, "POST", "/v1/refunds")
    assert not {"reverse_transfer", "refund_application_fee"} & form.keys()


@pytest.mark.covers("FIN-004", "FIN-020")
async def test_accounts_are_standard_and_are_sent_to_stripes_own_pages(stage: StripeStage):
    order = an_account_order()
    account = sure(Account, await stage.gateway.open_account(order))
    headers, form = sent(stage, "POST", "/v1/accounts")
    assert (form["type"], form["country"], form["email"]) == ("standard", "PT", "ana@example.org")
    assert form["metadata"] == {"orgId": str(order.organization), "order_key": str(order.key)}
    assert headers["idempotency-key"] == str(order.key)
    await stage.gateway.link_account(Caller(), account.id, BACK)
    _, form = sent(stage, "POST", "/v1/account_links")
    assert form == {"account": account.id, "type": "account_onboarding", "return_url": BACK, "refresh_url": BACK}


async def test_a_payout_is_a_transfer_in_a_group_of_its_own(stage: StripeStage):
    owner = an_account_order()
    account = sure(Account, await stage.gateway.open_account(owner))
    await stage.do("complete", account.id)
    order = a_payout_order(account.id, owner.organization)
    await stage.gateway.pay_out(order)
    headers, form = sent(stage, "POST", "/v1/transfers")
    assert form == {
        "amount": "8500",
        "currency": "eur",
        "destination": account.id,
        "transfer_group": str(order.key),
        "metadata": {"orgId": str(owner.organization), "order_key": str(order.key)},
    }
    assert headers["idempotency-key"] == str(order.key)
    stage.peer.forget_keys()
    other = msgspec.structs.replace(order, amount_minor=9_000)
    assert isinstance(await stage.gateway.pay_out(other), Refused)
    assert (await stage.gateway.pay_out(order)).id, "a day later it is still the same one"
    assert len([path for verb, path, *_ in stage.peer.received if (verb, path) == ("POST", "/v1/transfers")]) == 1


async def test_evidence_is_given_as_the_texts_that_stripe_takes(stage: StripeStage):
    order, charge = await paid(stage)
    await stage.do("dispute", charge.id)
    dispute = sure(Charge, await stage.gateway.find_charge(Caller(), charge.id)).facts[-1].reference
    texts = (("refund_policy", "None."), ("cancellation_policy", "None, either."), ("access_activity_log", "20:14"))
    evidence = an_evidence_order(order, dispute, texts=texts, submit=True)
    await stage.gateway.answer_dispute(evidence)
    headers, form = sent(stage, "POST", f"/v1/disputes/{dispute}")
    assert form["evidence"] == {
        "refund_policy_disclosure": "None.",
        "cancellation_policy_disclosure": "None, either.",
        "access_activity_log": "20:14",
    }
    assert (form["submit"], headers["idempotency-key"]) == ("true", str(evidence.key))


# -- The check itself


async def test_nothing_but_what_stripe_needs_goes_there(stage: StripeStage):
    await paid(stage)
    told = {name for _, _, headers, _ in stage.peer.received for name in headers}
    assert told == {
        "host",
        "user-agent",
        "accept",
        "accept-encoding",
        "x-correlation-id",
        "authorization",
        "content-type",
        "content-length",
        "idempotency-key",
        "stripe-version",
    }
    assert {headers["user-agent"].partition("/")[0] for _, _, headers, _ in stage.peer.received} == {"admitone"}


@pytest.mark.parametrize(
    ("form", "complaint"),
    [
        ("currency=eur", "amount"),
        ("amount=five&currency=eur", "amount"),
        ("amount=5&currency=eur&ammount=5", "ammount"),
        ("amount=5&currency=eur&transfer_data[destination]=a&transfer_data[amonut]=1", "transfer_data.amonut"),
        ("amount=5&currency=eur&payment_method_options[pix][expires_on]=1", "payment_method_options"),
        ("amount=5&currency=eur&metadata=5", "metadata"),
        ("amount=5&currency=eur&idempotency_key=5", "idempotency_key"),
    ],
)
def test_a_request_that_stripe_would_not_understand_is_found(form: str, complaint: str):
    check_request("POST", "/v1/payment_intents", "amount=5&currency=eur")
    with pytest.raises(AssertionError, match=complaint):
        check_request("POST", "/v1/payment_intents", form)


def test_a_request_that_nobody_thought_of_is_found():
    with pytest.raises(NoSuchRequest):
        check_request("POST", "/v1/customers", "")


@pytest.mark.covers("FIN-005")
@pytest.mark.parametrize(
    "how", [{}, {"return_url": "http://127.0.0.1:8000/back"}, {"method": Method.PIX, "currency": "BRL"}], ids=str
)
async def test_what_an_organisation_sells_without_an_account_is_refused_before_anything_is_sent(
    stage: StripeStage, how: dict[str, Any]
):
    """It would be a charge of the platform's own, without our fee and for nobody."""
    order = a_charge_order(settlement=SettlementModel.ORG_MOR, account=None, **how)
    assert sure(Refused, await stage.gateway.open_charge(order)).code == "account_missing"
    assert stage.peer.received == []
