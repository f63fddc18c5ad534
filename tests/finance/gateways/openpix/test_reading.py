"""What OpenPix's words mean: every one of their papers', and no other; and whose events count."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest

from admitone.finance.gateways.api import (
    Charge,
    FactKind,
    ObjectType,
    Ref,
    Refund,
    Refused,
    Topic,
    Unknown,
    UnknownStatus,
)
from admitone.finance.gateways.openpix.objects import Charge as TheirCharge
from admitone.finance.gateways.openpix.objects import Refund as TheirRefund
from admitone.finance.gateways.openpix.reading import charge_of, read_event
from admitone.finance.sources.api import PaymentId
from admitone.kernel.db import Database
from admitone.kernel.ids import OrganizationId
from admitone.kernel.scope import Caller
from tests.finance.gateways.builders import a_refund_order, kinds, sure
from tests.finance.gateways.pix_peer import FEE, Fault
from tests.finance.gateways.pix_stage import PixStage, openpix
from tests.finance.gateways.stage import an_order, facts_of, paid

K = FactKind
CREATED, PAID, CHANGED, ENDS = (f"2026-11-16T12:0{minute}:00.000Z" for minute in (0, 4, 5, 9))


@pytest.fixture
async def stage(database: Database) -> AsyncIterator[PixStage]:
    async with openpix(database) as stage:
        yield stage


def a_charge(**changes: Any) -> dict[str, Any]:
    usual = {
        "correlationID": "9134e286-6f71-427a-bf00-241681624586",
        "transactionID": "d983a07836cf48ed9a65764d3c184273",
        "status": "ACTIVE",
        "value": 5_000,
        "brCode": "000201",
        "createdAt": CREATED,
        "updatedAt": CHANGED,
        "expiresDate": ENDS,
        "fee": 85,
    }
    return usual | changes


def their(**changes: Any) -> TheirCharge:
    return msgspec.convert(a_charge(**changes), TheirCharge)


def a_refund(**changes: Any) -> TheirRefund:
    usual = {"correlationID": "of-our-order", "status": "CONFIRMED", "value": 100, "time": PAID}
    return msgspec.convert(usual | changes, TheirRefund)


def an_event(type: str, **said: Any) -> bytes:  # noqa: A002  Its name at the provider.
    return msgspec.json.encode({"event": type, "company": {"id": "1"}, "account": {"environment": "TESTING"}, **said})


@pytest.mark.covers("PAY-062")
@pytest.mark.parametrize(
    ("status", "means"),
    [("ACTIVE", []), ("COMPLETED", [K.CAPTURED, K.FEE]), ("EXPIRED", [K.EXPIRED])],
)
def test_every_status_of_their_papers_has_a_meaning(status: str, means: list[FactKind]):
    charge = charge_of(their(status=status, paidAt=PAID))
    assert kinds(charge) == [K.PENDING, *means]
    assert all(fact.key == f"{fact.kind.lower()}:d983a07836cf48ed9a65764d3c184273" for fact in charge.facts)


@pytest.mark.covers("PAY-062")
@pytest.mark.parametrize("status", ["PAID", "active", "", "CANCELLED"])
def test_a_status_that_is_not_in_the_table_is_never_guessed(status: str):
    organization, payment = OrganizationId.new(), PaymentId.new()
    info = [{"key": "orgId", "value": str(organization)}, {"key": "payment_id", "value": str(payment)}]
    with pytest.raises(UnknownStatus) as odd:
        charge_of(their(status=status, additionalInfo=info))
    assert (odd.value.organization, odd.value.payment) == (organization, payment)


@pytest.mark.parametrize(
    ("status", "means"),
    [("IN_PROCESSING", K.REFUND_PENDING), ("CONFIRMED", K.REFUNDED), ("REJECTED", K.REFUND_FAILED)],
)
def test_every_status_of_a_refund_has_a_meaning(status: str, means: FactKind):
    charge = charge_of(their(status="COMPLETED", paidAt=PAID), [a_refund(status=status)])
    [fact] = [fact for fact in charge.facts if fact.reference == "of-our-order"]
    assert (fact.kind, fact.amount_minor, fact.order) == (means, 100, "of-our-order")
    assert fact.charge == "d983a07836cf48ed9a65764d3c184273"
    assert (fact.total_minor, bool(fact.code)) == (100 if means is K.REFUNDED else 0, means is K.REFUND_FAILED)


def test_a_refund_in_an_unknown_state_is_not_guessed_either():
    with pytest.raises(UnknownStatus):
        charge_of(their(status="COMPLETED"), [a_refund(status="NOT_ACCOMPLISHED")])


async def test_a_charge_in_an_unknown_state_is_raised_by_whoever_asks(stage: PixStage):
    charge = sure(Charge, await stage.gateway.open_charge(an_order(stage)))
    await stage.do("say", charge.id, status="REMOVED")
    with pytest.raises(UnknownStatus):
        await stage.gateway.find_charge(Caller(), charge.id)


@pytest.mark.parametrize("value", [-1, 1.5, "100", None, 10**15])
def test_what_is_no_number_of_centavos_is_not_read(value: object):
    with pytest.raises(msgspec.ValidationError):
        their(value=value)


# -- Events


BY_NAME = (Ref(ObjectType.CHARGE, "d983a07836cf48ed9a65764d3c184273"),)
BY_BANK = (Ref(ObjectType.CHARGE, "E31680151202508141543GVL7OCT44VU"),)
PIX = {"value": 5_000, "time": PAID, "endToEndId": BY_BANK[0].id}


@pytest.mark.parametrize(
    ("type", "said", "refs", "told"),
    [
        (
            "OPENPIX:CHARGE_COMPLETED",
            {"charge": a_charge(status="COMPLETED", paidAt=PAID), "pix": PIX},
            BY_NAME + BY_BANK,
            [K.PENDING, K.CAPTURED, K.FEE],
        ),
        (
            "woovi:CHARGE_COMPLETED",
            {"charge": a_charge(status="COMPLETED", paidAt=PAID)},
            BY_NAME,
            [K.PENDING, K.CAPTURED, K.FEE],
        ),
        (
            "OPENPIX:CHARGE_COMPLETED_NOT_SAME_CUSTOMER_PAYER",
            {"charge": a_charge(status="COMPLETED", paidAt=PAID), "payer": {"name": "Ana"}},
            BY_NAME,
            [K.PENDING, K.CAPTURED, K.FEE],
        ),
        ("OPENPIX:CHARGE_EXPIRED", {"charge": a_charge(status="EXPIRED")}, BY_NAME, [K.PENDING, K.EXPIRED]),
        ("OPENPIX:TRANSACTION_REFUND_RECEIVED", {"charge": a_charge(status="COMPLETED"), "pix": PIX}, BY_NAME, []),
        (
            "PIX_TRANSACTION_REFUND_SENT_CONFIRMED",
            {"refundTransaction": {"endToEndId": "D1", "time": CHANGED}, "originalTransaction": PIX},
            BY_BANK,
            [],
        ),
        (
            "PIX_TRANSACTION_REFUND_SENT_REJECTED",
            {"refundTransaction": {"endToEndId": "D1", "time": CHANGED}, "originalTransaction": PIX, "error": "ED05"},
            BY_BANK,
            [],
        ),
    ],
)
def test_events_are_about_their_charge_and_tell_what_they_can(type: str, said: Any, refs: Any, told: list[FactKind]):  # noqa: A002
    event = read_event(an_event(type, **said), "openpix", livemode=False)
    assert (event.topic, event.refs) == (Topic.CHARGE, refs)
    assert [fact.kind for fact in event.facts] == told
    assert (event.organization, event.payment) == (None, None), "anybody may write there whose it is"
    assert event.envelope.created > datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    "type",
    [
        "OPENPIX:CHARGE_CREATED",
        "OPENPIX:TRANSACTION_RECEIVED",
        "OPENPIX:MOVEMENT_CONFIRMED",
        "OPENPIX:DISPUTE_CREATED",
        "PIX_TRANSACTION_REFUND_RECEIVED_CONFIRMED",
        "PIX_TRANSACTION_REFUND_RECEIVED_REJECTED",
        "PIX_AUTOMATIC_APPROVED",
        "OPENPIX:SOMETHING_NEW",
        "OPENPIX:TRANSACTION_REFUND_RECEIVED",
    ],
)
@pytest.mark.parametrize("charge", [None, [], {"what": "ever"}])
def test_events_that_are_not_about_a_charge_mean_nothing(type: str, charge: Any):  # noqa: A002
    if type.endswith("REFUND_RECEIVED") and charge is not None:
        pytest.skip("that is one of a charge which cannot be read")
    event = read_event(an_event(type, charge=charge, pix={"endToEndId": "D1", "time": PAID}), "openpix", livemode=False)
    assert (event.topic, event.refs, event.facts) == (Topic.NOTHING, (), ())


@pytest.mark.parametrize(
    ("place", "live"), [("PRODUCTION", True), ("TESTING", False), (None, True), ("ELSEWHERE", True)]
)
def test_an_event_says_its_mode_or_has_ours(place: str | None, live: bool):
    body = an_event("OPENPIX:CHARGE_CREATED", charge=a_charge(), account={"environment": place})
    assert read_event(body, "openpix", livemode=True).envelope.livemode is live


def test_an_event_with_our_correlation_id_and_another_transaction_is_about_that_other_one():
    """Any customer of theirs may give a charge any correlation id, pay it to themselves, and have the event signed."""
    own = Ref(ObjectType.PIX, a_charge()["correlationID"])
    theirs = a_charge(transactionID="0" * 32, status="COMPLETED", paidAt=PAID)
    event = read_event(an_event("OPENPIX:CHARGE_COMPLETED", charge=theirs), "openpix", livemode=False)
    assert own not in event.refs
    assert event.refs == (Ref(ObjectType.CHARGE, "0" * 32),)


# -- Orders


@pytest.mark.parametrize("minor", [1, 29, 57, 1_009, 1_999, 2_829, 113_115, 99_999_999])
async def test_odd_centavos_are_charged_and_refunded_exactly(stage: PixStage, minor: int):
    order, charge = await paid(stage, amount_minor=minor)
    assert [fact.amount_minor for fact in charge.facts] == [minor, minor, FEE]
    [sent] = [each for each in stage.peer.received if each.method == "POST"]
    assert f'"value":{minor},'.encode() in sent.body
    refund = sure(Refund, await stage.gateway.refund(a_refund_order(order, charge, minor)))
    assert (refund.fact.amount_minor, refund.fact.total_minor) == (minor, minor)


async def test_nothing_of_a_person_is_sent(stage: PixStage):
    order = an_order(stage, description="x" * 300)
    await stage.gateway.open_charge(order)
    [sent] = stage.peer.received
    said = msgspec.json.decode(sent.body)
    assert set(said) == {"correlationID", "value", "comment", "expiresDate", "additionalInfo"}
    assert (said["correlationID"], len(said["comment"])) == (str(order.key), 140)
    carried = {each["key"]: each["value"] for each in said["additionalInfo"]}
    assert (carried["orgId"], carried["payment_id"]) == (str(order.organization), str(order.payment))
    assert carried["correlation_id"] == str(order.caller.correlation_id)


def test_a_code_that_says_only_how_long_it_lasts_has_an_end_too():
    charge = charge_of(their(expiresDate=None, expiresIn=900))
    assert charge.pix
    assert charge.pix.expires_at == datetime(2026, 11, 16, 12, 15, tzinfo=UTC)


async def test_a_code_ends_when_the_order_does(stage: PixStage):
    order = an_order(stage, expires_at=datetime.now(UTC) + timedelta(minutes=15))
    charge = sure(Charge, await stage.gateway.open_charge(order))
    assert charge.pix
    assert charge.pix.expires_at == order.expires_at.replace(microsecond=0)
    [kept] = stage.peer.charges.values()
    assert kept.expires == charge.pix.expires_at


@pytest.mark.parametrize(
    ("status", "said"), [(400, "Cobrança não encontrada"), (400, "Charge not found"), (404, "whatever")]
)
async def test_what_is_not_there_is_nothing_however_they_say_it(stage: PixStage, status: int, said: str):
    stage.peer.says_missing = (status, said)
    order = an_order(stage)
    assert await stage.gateway.find_ordered(order) is None
    sure(Refused, await stage.gateway.cancel_charge(Caller(), str(order.key)))


async def test_who_may_not_look_has_not_learnt_that_there_is_nothing(stage: PixStage):
    stage.peer.says_missing = (400, "Parâmetros inválidos")
    sure(Refused, await stage.gateway.find_ordered(an_order(stage)))


@pytest.mark.parametrize("refuses", [False, True])
async def test_a_repeated_refund_is_the_same_whether_they_show_it_or_say_no(stage: PixStage, refuses: bool):
    stage.peer.refuses_repeated_refunds = refuses
    order, charge = await paid(stage)
    refund = a_refund_order(order, charge, 1_000)
    made = sure(Refund, await stage.gateway.refund(refund))
    assert await stage.gateway.refund(refund) == made
    assert (await facts_of(stage, charge))[-1].total_minor == 1_000


async def test_what_was_paid_while_it_was_cancelled_is_paid(stage: PixStage, monkeypatch: pytest.MonkeyPatch):
    """Between our look and the deletion."""
    charge = sure(Charge, await stage.gateway.open_charge(an_order(stage)))
    delete = stage.peer._delete

    def paid_meanwhile(kept: Any) -> Any:
        stage.peer.act("pay", charge.id)
        return delete(kept)

    monkeypatch.setattr(stage.peer, "_delete", paid_meanwhile)
    assert K.CAPTURED in kinds(await stage.gateway.cancel_charge(Caller(), charge.id))


@pytest.mark.parametrize("fault", [Fault.LOST, Fault.ERROR_AFTER, Fault.ERROR_BEFORE])
async def test_a_deletion_that_was_not_answered_is_unknown(stage: PixStage, fault: Fault):
    charge = sure(Charge, await stage.gateway.open_charge(an_order(stage)))
    stage.peer.faults = [Fault.NONE, fault]
    sure(Unknown, await stage.gateway.cancel_charge(Caller(), charge.id))
