"""What Mercado Pago's words mean: every one of their papers', and no other."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import msgspec
import pytest

from admitone.finance.gateways.api import Charge, FactKind, Refund, Refused, Topic, Unknown, UnknownStatus
from admitone.finance.gateways.mercadopago.objects import Payment
from admitone.finance.gateways.mercadopago.objects import Refund as TheirRefund
from admitone.finance.gateways.mercadopago.reading import charge_of
from admitone.finance.gateways.pix import centavos_of, reais_of
from admitone.finance.sources.api import PaymentId
from admitone.kernel.db import Database
from admitone.kernel.ids import OrganizationId, uuid7
from admitone.kernel.scope import Caller
from tests.finance.gateways.builders import a_refund_order, kinds, sure
from tests.finance.gateways.pix_peer import FEE
from tests.finance.gateways.pix_stage import PixStage, mercadopago
from tests.finance.gateways.stage import an_order, facts_of, paid

K = FactKind
AT = "2026-11-16T09:00:00.000-03:00"


@pytest.fixture
async def stage(database: Database):
    async with mercadopago(database) as stage:
        yield stage


def a_payment(**changes: Any) -> Payment:
    usual = {
        "id": 1300000001,
        "status": "pending",
        "currency_id": "BRL",
        "transaction_amount": Decimal("50.00"),
        "date_created": AT,
        "date_last_updated": "2026-11-16T09:05:00.000-03:00",
        "date_approved": "2026-11-16T09:04:00.000-03:00",
        "live_mode": False,
    }
    return msgspec.convert(usual | changes, Payment)


def a_refund(**changes: Any) -> TheirRefund:
    usual = {"id": 7, "payment_id": 1300000001, "amount": Decimal("1.00"), "status": "approved", "date_created": AT}
    return msgspec.convert(usual | changes, TheirRefund)


@pytest.mark.covers("PAY-062")
@pytest.mark.parametrize(
    ("status", "detail", "means"),
    [
        ("pending", "pending_waiting_transfer", []),
        ("pending", "pending_waiting_payment", []),
        ("in_process", "pending_review_manual", [K.PROCESSING]),
        ("in_process", "pending_contingency", [K.PROCESSING]),
        ("authorized", "pending_capture", [K.PROCESSING]),
        ("approved", "accredited", [K.CAPTURED]),
        ("approved", "partially_refunded", [K.CAPTURED]),
        ("in_mediation", "pending", [K.CAPTURED]),
        ("refunded", "refunded", [K.CAPTURED]),
        ("refunded", "by_admin", [K.CAPTURED]),
        ("refunded", "bpp_refunded", [K.CAPTURED]),
        ("rejected", "rejected_by_bank", [K.FAILED, K.CANCELLED]),
        ("rejected", "bank_error", [K.FAILED, K.CANCELLED]),
        ("cancelled", "expired", [K.EXPIRED]),
        ("cancelled", "by_collector", [K.CANCELLED]),
        ("cancelled", "by_payer", [K.CANCELLED]),
        ("cancelled", "by_admin", [K.CANCELLED]),
    ],
)
def test_every_status_of_their_papers_has_a_meaning(status: str, detail: str, means: list[FactKind]):
    charge = charge_of(a_payment(status=status, status_detail=detail), ())
    assert kinds(charge) == [K.PENDING, *means]
    assert all(fact.key == f"{fact.kind.lower()}:1300000001" for fact in charge.facts)


@pytest.mark.covers("PAY-062")
@pytest.mark.parametrize("status", ["charged_back", "settled", "", "APPROVED", "paid"])
def test_a_status_that_is_not_in_the_table_is_never_guessed(status: str):
    organization, payment = OrganizationId.new(), PaymentId.new()
    metadata = {"org_id": str(organization), "payment_id": str(payment)}
    with pytest.raises(UnknownStatus) as odd:
        charge_of(a_payment(status=status, metadata=metadata), ())
    assert (odd.value.refs[0].id, odd.value.organization, odd.value.payment) == ("1300000001", organization, payment)


@pytest.mark.parametrize(
    ("status", "means"),
    [
        ("approved", K.REFUNDED),
        ("in_process", K.REFUND_PENDING),
        ("authorized", K.REFUND_PENDING),
        ("rejected", K.REFUND_FAILED),
        ("cancelled", K.REFUND_FAILED),
    ],
)
def test_every_status_of_a_refund_has_a_meaning(status: str, means: FactKind):
    charge = charge_of(a_payment(status="approved"), [a_refund(status=status)])
    [fact] = [fact for fact in charge.facts if fact.reference == "7"]
    assert (fact.kind, fact.amount_minor, fact.charge, fact.order) == (means, 100, "1300000001", "")
    assert (fact.total_minor, bool(fact.code)) == (100 if means is K.REFUNDED else 0, means is K.REFUND_FAILED)


def test_a_refund_in_an_unknown_state_is_not_guessed_either():
    with pytest.raises(UnknownStatus) as odd:
        charge_of(a_payment(status="approved"), [a_refund(status="on_the_moon")])
    assert [ref.id for ref in odd.value.refs] == ["1300000001", "7"]


async def test_a_payment_in_an_unknown_state_is_raised_by_whoever_asks(stage: PixStage):
    charge = sure(Charge, await stage.gateway.open_charge(an_order(stage)))
    await stage.do("say", charge.id, status="charged_back")
    with pytest.raises(UnknownStatus):
        await stage.gateway.find_charge(Caller(), charge.id)
    with pytest.raises(UnknownStatus):
        await stage.gateway.cancel_charge(Caller(), charge.id)


# -- Amounts


@pytest.mark.parametrize(
    ("minor", "text"),
    [(1, "0.01"), (10, "0.10"), (99, "0.99"), (101, "1.01"), (1999, "19.99"), (2829, "28.29"), (5_000, "50.00")],
)
def test_amounts_are_reais_digit_by_digit(minor: int, text: str):
    assert str(reais_of(minor)) == text
    assert centavos_of(Decimal(text)) == minor


def test_every_amount_comes_back_as_it_went():
    for minor in (*range(1, 30_000, 7), 10**12 - 1):
        assert centavos_of(reais_of(minor)) == minor


@pytest.mark.parametrize("text", ["0.001", "1.005", "NaN", "Infinity", "-0.01", "1E+999999999", "9" * 40])
def test_what_is_no_number_of_centavos_is_not_read(text: str):
    with pytest.raises(ValueError, match="centavos"):
        centavos_of(Decimal(text))
    with pytest.raises(msgspec.ValidationError):
        a_payment(transaction_amount=Decimal(text))


@pytest.mark.parametrize("minor", [1, 29, 57, 1_009, 1_999, 2_829, 113_115, 99_999_999])
async def test_odd_centavos_are_charged_and_refunded_exactly(stage: PixStage, minor: int):
    """Amounts for which floats are known to be off by one."""
    order, charge = await paid(stage, amount_minor=minor)
    assert [fact.amount_minor for fact in charge.facts] == [minor, minor]
    [sent] = [each for each in stage.peer.received if each.method == "POST"]
    assert f'"transaction_amount":{minor // 100}.{minor % 100:02d},'.encode() in sent.body
    refund = sure(Refund, await stage.gateway.refund(a_refund_order(order, charge, minor)))
    assert (refund.fact.amount_minor, refund.fact.total_minor) == (minor, minor)


async def test_the_fee_is_what_it_takes_of_us(stage: PixStage):
    _, charge = await paid(stage)
    assert K.FEE not in kinds(charge), "it does not say yet"
    await stage.do("tell_fees", charge.id)
    [fee] = [fact for fact in await facts_of(stage, charge) if fact.kind is K.FEE]
    assert (fee.amount_minor, fee.currency, fee.key) == (FEE, "BRL", f"fee:{charge.id}")


# -- Orders


async def test_its_code_ends_later_than_ours_and_says_so_only_to_itself(stage: PixStage):
    """They take no end that is nearer than half an hour; we close ours after a quarter."""
    order = an_order(stage, expires_at=datetime.now(UTC) + timedelta(minutes=15))
    charge = sure(Charge, await stage.gateway.open_charge(order))
    assert charge.pix
    assert charge.pix.expires_at == order.expires_at.replace(microsecond=0)
    [kept] = stage.peer.charges.values()
    assert kept.expires - order.expires_at > timedelta(minutes=29)
    assert await stage.gateway.open_charge(order) == charge


async def test_nothing_of_a_person_is_sent(stage: PixStage):
    order = an_order(stage)
    await stage.gateway.open_charge(order)
    [sent] = stage.peer.received
    said = msgspec.json.decode(sent.body)
    assert said["payer"] == {"email": "pix@example.org"}
    assert said["metadata"]["orgId"] == str(order.organization)
    assert said["metadata"]["payment_id"] == str(order.payment)
    assert said["metadata"]["correlation_id"] == str(order.caller.correlation_id)
    assert sent.headers["x-idempotency-key"] == said["external_reference"] == str(order.key)


async def test_an_answer_of_the_other_mode_is_no_answer(stage: PixStage):
    order = an_order(stage)
    charge = sure(Charge, await stage.gateway.open_charge(order))
    stage.peer.live_mode = True
    sure(Unknown, await stage.gateway.find_charge(Caller(), charge.id))
    sure(Unknown, await stage.gateway.find_ordered(order))


async def test_the_same_asked_a_moment_ago_is_no_refusal(stage: PixStage, monkeypatch: pytest.MonkeyPatch):
    said = (400, {"message": "Already posted", "error": "bad_request", "cause": [{"code": 2001}]})
    monkeypatch.setattr(stage.peer, "handle", lambda _: said)
    sure(Unknown, await stage.gateway.open_charge(an_order(stage)))


async def test_a_refusal_has_their_code(stage: PixStage):
    order, charge = await paid(stage)
    refused = sure(Refused, await stage.gateway.refund(a_refund_order(order, charge, 5_001)))
    assert (refused.code, bool(refused.message)) == ("3024", True)


# -- Finding refunds


def keyed(at: datetime) -> UUID:
    """An order that was written down then."""
    return UUID(int=(int(at.timestamp() * 1000) << 80) | (uuid7().int & ((1 << 80) - 1)))


@pytest.mark.parametrize(
    ("age", "amount", "found"),
    [(timedelta(hours=1), 1_000, None), (timedelta(days=2), 1_000, Unknown), (timedelta(days=2), 999, None)],
)
async def test_of_an_old_order_nobody_guesses_which_refund_it_made(
    stage: PixStage, age: timedelta, amount: int, found: type | None
):
    """Young: their keys are remembered, and who orders again is given what was made. Old: it may have been this."""
    order, charge = await paid(stage)
    await stage.do("refund", charge.id, amount=1_000)
    wanted = a_refund_order(order, charge, amount, key=keyed(datetime.now(UTC) - age))
    answer = await stage.gateway.find_refund(wanted)
    assert answer is None if found is None else isinstance(answer, found)


async def test_a_refund_from_before_the_order_was_not_made_by_it(stage: PixStage):
    order, charge = await paid(stage)
    await stage.do("refund", charge.id, amount=1_000)
    stage.peer.charges[charge.id].refunds[0].at -= timedelta(days=3)
    wanted = a_refund_order(order, charge, 1_000, key=keyed(datetime.now(UTC) - timedelta(days=2)))
    assert await stage.gateway.find_refund(wanted) is None


# -- Notices


async def test_a_notice_tells_what_to_ask_for_and_nothing_else(stage: PixStage):
    _, charge = await paid(stage)
    created, updated = [stage.gateway.read(each.body, "mercadopago") for each in await stage.webhooks()]
    assert (updated.topic, updated.refs, updated.facts) == (Topic.CHARGE, charge.refs, ())
    assert (updated.organization, updated.payment) == (None, None)
    assert (created.topic, created.refs) == (Topic.NOTHING, ()), "our own order was answered, or is asked for again"


@pytest.mark.parametrize(
    "type", ["topic_claims_integration_wh", "topic_merchant_order_wh", "mp-connect", "", "Payment"]
)
async def test_a_notice_about_something_else_means_nothing(stage: PixStage, type: str):  # noqa: A002  Their word.
    await paid(stage)
    body = msgspec.json.decode((await stage.webhooks())[-1].body) | {"type": type}
    assert stage.gateway.read(msgspec.json.encode(body), "mercadopago").topic is Topic.NOTHING
