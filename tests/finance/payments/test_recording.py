"""What is recorded of payments, on the real database: once, together, and only of its own."""

import asyncio
from datetime import timedelta
from typing import Any

import asyncpg
import msgspec
import pytest

from admitone.finance.gateways.api import (
    Method,
    ObjectType,
    Provider,
    ProviderFact,
    Ref,
    UnknownStatus,
)
from admitone.finance.gateways.sandbox import reading
from admitone.finance.gateways.sandbox.objects import Intent
from admitone.finance.gateways.words import Event, Subject
from admitone.finance.payments.commands.receipts import Decision, apply
from admitone.finance.payments.commands.recording import record
from admitone.finance.payments.errors import ForeignReference, NotReturnable, PaymentNotFound
from admitone.finance.payments.model import (
    FeesStatus,
    Reason,
    Recorded,
    Status,
    Told,
)
from admitone.finance.payments.store.references import find_refs
from admitone.finance.pricing.api import PolicyChange, Priced, Target, Terms, set_policies
from admitone.finance.sources.api import PaymentId, Source
from admitone.kernel.batch import Batcher
from admitone.kernel.db import Database, Tx
from admitone.kernel.ids import PLATFORM_ORGANIZATION, uuid7
from admitone.kernel.scope import Caller, Scope
from tests.builders import rows_of
from tests.finance.payments.telling import (
    K,
    a_fact,
    a_paid_sale,
    a_sale,
    ask,
    balances,
    counted,
    published,
    see_to_receipt,
    tell,
    told,
    whole,
)
from tests.finance.world import World
from tests.people import a_person, an_organization_of

# -- Once


@pytest.mark.covers("FIN-051")
async def test_a_second_delivery_adds_nothing(world: World):
    payment, charge = await a_paid_sale(world)
    world.simulator.act("tell_fees", charge)
    world.simulator.act("refund", charge, amount=1000)
    first = await world.tell(payment, await whole(world, charge))
    before, row = await counted(world), await world.payment(payment)
    second = await world.tell(payment, await whole(world, charge))
    assert (first.fresh, second.fresh) == (True, False)
    assert first.status is second.status is Status.PARTIAL_REFUND
    assert await counted(world) == before
    assert await world.payment(payment) == row


@pytest.mark.covers("FIN-051")
async def test_twenty_who_tell_the_same_through_two_processes_make_one_ledger(world: World, database_url: str):
    payment, charge = await a_sale(world)
    for deed, options in (("pay", {}), ("tell_fees", {}), ("refund", {"amount": 1234})):
        world.simulator.act(deed, charge, **options)
    said = await whole(world, charge)
    async with Database(database_url) as another:
        batchers = [world.batcher, Batcher(another)]
        each = told(payment, *said.facts, refs=said.refs)
        outcomes = await asyncio.gather(
            *(batchers[number % 2].submit(record, world.scope, each) for number in range(20))
        )
        await batchers[1].drain()
    assert {answer.outcome.status for answer in outcomes} == {Status.PARTIAL_REFUND}
    assert sum(answer.outcome.fresh for answer in outcomes) >= 1
    assert await rows_of(world.database, world.scope, "payments.payment_fact") == len(said.facts)
    assert len(await world.transfers(payment)) == 8
    assert await published(world, "payment.partly_refunded") == 1


@pytest.mark.covers("FIN-041", "FIN-051")
async def test_also_without_its_facts_nothing_is_posted_twice(world: World, superuser: asyncpg.Connection):
    """The ledger knows each cause by itself: a second layer, should the first be lost."""
    payment, charge = await a_paid_sale(world)
    before = await world.transfers(payment)
    await superuser.execute("DELETE FROM payments.payment_fact WHERE payment_id = $1", payment.uuid)
    await world.tell(payment, await whole(world, charge))
    assert await world.transfers(payment) == before
    assert (await world.payment(payment)).status is Status.SUCCEEDED


async def test_every_part_that_is_refunded_is_told(world: World):
    payment, charge = await a_paid_sale(world)
    for number, status in enumerate((Status.PARTIAL_REFUND, Status.PARTIAL_REFUND, Status.REFUNDED), start=1):
        world.simulator.act("refund", charge, amount=1000 if number < 3 else 3000)
        assert (await ask(world, payment)).status is status
    assert await published(world, "payment.partly_refunded") == 2
    assert await published(world, "payment.refunded") == 1
    row = await world.payment(payment)
    assert (row.refunded_minor, row.captured_minor) == (5000, 5000)
    assert await balances(world) == {}


@pytest.mark.covers("FIN-052")
async def test_what_cannot_be_kept_is_not_posted_either(world: World, superuser: asyncpg.Connection):
    """Ledger, status and facts commit together: here the last of them cannot."""
    payment, charge = await a_sale(world)
    world.simulator.act("pay", charge)
    before = await counted(world)
    await superuser.execute(
        "ALTER TABLE payments.payment ADD CONSTRAINT broken CHECK (status <> 'SUCCEEDED') NOT VALID"
    )
    try:
        with pytest.raises(asyncpg.CheckViolationError):
            await ask(world, payment)
        assert await counted(world) == before
    finally:
        await superuser.execute("ALTER TABLE payments.payment DROP CONSTRAINT broken")
    assert (await ask(world, payment)).status is Status.SUCCEEDED


# -- Fees


@pytest.mark.covers("FIN-042", "FIN-036")
async def test_a_fee_told_twice_counts_once_and_a_changed_one_by_its_difference(world: World):
    payment, _ = await a_paid_sale(world)
    row = await world.payment(payment)
    assert (row.processor_fees_status, row.processor_fees_actual) == (FeesStatus.PENDING, None)
    fee = a_fact(K.FEE, "txn_1", 100)
    for _ in range(2):
        await tell(world, payment, fee)
    later = msgspec.structs.replace(fee, amount_minor=107, at=fee.at + timedelta(seconds=1))
    for each in (later, later, fee):
        await tell(world, payment, each)
    row = await world.payment(payment)
    assert (row.processor_fees_status, row.processor_fees_actual) == (FeesStatus.FINAL, 107)
    fees = [(entry, minor) for entry, _, _, minor in await world.transfers(payment) if entry.startswith("PROCESSOR")]
    assert fees == [("PROCESSOR_FEES_ADJUSTMENT", 7), ("PROCESSOR_FEES_FINAL", 100)]
    assert await world.net(payment) == 5000 - row.fee_minor - 107
    assert await published(world, "payment.fees_final") == 2


@pytest.mark.covers("FIN-042")
async def test_a_fee_in_another_currency_is_booked_in_that_and_told_in_none(
    world: World, superuser: asyncpg.Connection
):
    """The provider keeps our account in another currency than this was sold in."""
    payment, _ = await a_paid_sale(world)
    await tell(world, payment, a_fact(K.FEE, "txn_1", 900, currency="BRL"))
    row = await world.payment(payment)
    assert (row.processor_fees_status, row.processor_fees_actual) == (FeesStatus.PENDING, None)
    assert await published(world, "payment.fees_final") == 0
    booked = "SELECT amount_minor, currency FROM ledger.transfer WHERE payment_id = $1 AND entry_type LIKE 'PROCESSOR%'"
    assert [tuple(each) for each in await superuser.fetch(booked, payment.uuid)] == [(900, "BRL")]
    await tell(world, payment, a_fact(K.FEE, "txn_2", 100, minutes=1))
    row = await world.payment(payment)
    assert (row.processor_fees_status, row.processor_fees_actual) == (FeesStatus.FINAL, 100)
    told = "SELECT payload->>'feesMinor' AS minor, payload->>'currency' AS currency FROM kernel.event_log"
    own = " WHERE organization_id = $1 AND type = 'payment.fees_final'"
    assert [tuple(each) for each in await superuser.fetch(told + own, world.organization.uuid)] == [("100", "EUR")]


@pytest.mark.covers("FIN-042")
async def test_final_fees_are_never_unknown(world: World):
    payment, _ = await a_paid_sale(world)

    async def lie(tx: Tx) -> None:
        await tx.execute(
            "UPDATE payments.payment SET processor_fees_status = 'FINAL' WHERE organization_id = $1 AND id = $2",
            payment.uuid,
        )

    with pytest.raises(asyncpg.CheckViolationError):
        await world.database.run(world.scope, lie)


# -- Only its own


async def owners(world: World, *refs: Ref) -> dict[Ref, PaymentId | None]:
    platform = Scope(PLATFORM_ORGANIZATION, "test")
    found = await world.database.read(platform, find_refs, Provider.SANDBOX, refs)
    return {ref: owner.payment for ref, owner in found.items()}


async def test_what_names_another_payments_charge_is_refused_with_all_that_came_with_it(world: World):
    mine, _ = await a_sale(world)
    other, foreign = await a_sale(world)
    own = Ref(ObjectType.CHARGE, f"ch_{uuid7()}")
    before, row = await counted(world), await world.payment(mine)
    with pytest.raises(ForeignReference):
        await tell(world, mine, a_fact(K.CAPTURED, own.id, 5000), refs=(own, Ref(ObjectType.INTENT, foreign)))
    assert await counted(world) == before
    assert await world.payment(mine) == row
    assert await owners(world, own, Ref(ObjectType.INTENT, foreign)) == {Ref(ObjectType.INTENT, foreign): other}


async def test_whoever_claims_what_is_mine_beside_me_takes_nothing_from_me(world: World):
    """Both in one transaction: each is answered as if it were alone."""
    mine, charge = await a_sale(world)
    other, _ = await a_sale(world)
    ref, new = Ref(ObjectType.INTENT, charge), Ref(ObjectType.CHARGE, f"ch_{uuid7()}")
    claims = [
        told(other, a_fact(K.CAPTURED, "ch_a", 5000), refs=(ref, Ref(ObjectType.CHARGE, "ch_a"))),
        told(mine, a_fact(K.CAPTURED, new.id, 5000), refs=(ref, new)),
    ]
    refused, recorded = await world.database.run(world.scope, lambda tx: record(tx, claims))
    assert isinstance(refused, ForeignReference)
    assert isinstance(recorded, Recorded)
    assert recorded.status is Status.SUCCEEDED
    assert (await world.payment(other)).status is Status.PENDING
    assert await owners(world, new, Ref(ObjectType.CHARGE, "ch_a")) == {new: mine}


@pytest.mark.covers("PAY-004")
async def test_of_two_who_claim_the_same_new_thing_at_once_one_has_it(world: World):
    payments = [(await a_sale(world))[0] for _ in range(2)]
    charge = Ref(ObjectType.CHARGE, f"ch_{uuid7()}")
    outcomes = await asyncio.gather(
        *(
            world.submit(record, told(payment, a_fact(K.CAPTURED, charge.id, 5000), refs=(charge,)))
            for payment in payments
        ),
        return_exceptions=True,
    )
    assert sorted(type(each).__name__ for each in outcomes) == ["ForeignReference", "Recorded"]
    [winner] = [each.payment for each in outcomes if isinstance(each, Recorded)]
    assert await owners(world, charge) == {charge: winner}
    assert sorted([(await world.payment(payment)).status for payment in payments]) == ["PENDING", "SUCCEEDED"]


async def test_another_organisations_payment_is_not_found_and_nothing_is_written(world: World):
    payment, charge = await a_sale(world)
    world.simulator.act("pay", charge)
    said = await whole(world, charge)
    stranger = Scope(await an_organization_of(world.database, await a_person(world.database)), "test")
    before = await counted(world)
    with pytest.raises(PaymentNotFound):
        await world.batcher.submit(record, stranger, told(payment, *said.facts, refs=said.refs))
    assert await counted(world) == before
    assert await rows_of(world.database, stranger, "payments.payment_fact") == 0
    assert (await world.payment(payment)).status is Status.PENDING


async def test_another_provider_says_nothing_of_our_payment(world: World):
    payment, _ = await a_sale(world)
    foreign = Told(Caller(), payment, Provider.STRIPE, (), (a_fact(K.CAPTURED, "ch_x", 5000),))
    with pytest.raises(PaymentNotFound):
        await world.submit(record, foreign)


# -- What is told alone


@pytest.mark.covers("FIN-050")
@pytest.mark.parametrize(
    "alone",
    [a_fact(K.REFUNDED, "re_1", 5000, total_minor=5000), a_fact(K.DISPUTE_OPENED, "dp_1", 5000, fee_minor=1500)],
    ids=lambda fact: fact.kind,
)
async def test_a_refund_or_a_dispute_before_its_capture_only_makes_us_ask(world: World, alone: ProviderFact):
    payment, _ = await a_sale(world)
    recorded = await tell(world, payment, alone)
    assert recorded.status is Status.PENDING
    assert await published(world, "payment.incomplete") == 1
    assert await world.transfers(payment) == []


@pytest.mark.covers("FIN-050", "FIN-051")
@pytest.mark.parametrize("first", ["refunded", "disputed"])
async def test_the_end_of_a_payment_is_taken_from_whoever_tells_the_whole(world: World, first: str):
    """The dispute was lost after all had been refunded, and we hear of the dispute alone: the end must wait."""
    payment, charge = await a_paid_sale(world)
    for deed in ("refund", "dispute", "lose") if first == "refunded" else ("dispute", "refund", "lose"):
        world.simulator.act(deed, charge)
    newest_first = world.simulator.list_events_about(charge)
    closed = next(each for each in newest_first if each.type == "charge.dispute.closed")
    event = reading.read_event(msgspec.json.encode(closed), "sandbox")
    asked = await published(world, "payment.incomplete")

    recorded = await tell(world, payment, *event.facts, refs=event.refs)
    assert recorded.status is Status.DISPUTED
    assert await published(world, "payment.incomplete") == asked + 1
    assert "CHARGEBACK_GROSS" not in {entry for entry, *_ in await world.transfers(payment)}

    final = Status.REFUNDED if first == "refunded" else Status.CHARGEBACK_LOST
    assert (await ask(world, payment)).status is final
    assert await published(world, "payment.incomplete") == asked + 1


# -- Only what says that it is paid is paid

WAYS: dict[str, dict[str, Any]] = {
    "session": {"return_url": "https://shop.example/thanks"},
    "intent": {},
    "pix": {"method": Method.PIX},
}


def an_event(world: World, charge: str, way: str, word: str) -> bytes:
    """What the provider would tell, with this word for how far the payment is."""
    intent = world.simulator.get(charge)
    assert isinstance(intent, Intent)
    about: Any = msgspec.structs.replace(intent, status=word)
    kind = "pix.charge.paid" if way == "pix" else "payment_intent.succeeded"
    if intent.session:
        about = msgspec.structs.replace(intent.session, status="complete", payment_status=word, payment_intent=intent)
        kind = "checkout.session.completed"
    data = Subject(object=msgspec.Raw(msgspec.json.encode(about)))
    return msgspec.json.encode(Event(id="evt_1", type=kind, created=intent.created, data=data))


@pytest.mark.covers("PAY-022")
@pytest.mark.parametrize("way", WAYS)
async def test_completed_alone_never_means_paid(world: World, way: str):
    currency = "BRL" if way == "pix" else "EUR"
    payment, charge = await world.opened(world.shop.sells(world.buyer.identity, 5000, currency=currency), **WAYS[way])
    unpaid = {"session": "unpaid", "intent": "processing", "pix": "pending"}[way]
    event = reading.read_event(an_event(world, charge, way, unpaid), "sandbox")
    assert (await tell(world, payment, *event.facts, refs=event.refs)).status is Status.PENDING
    with pytest.raises(UnknownStatus):
        reading.read_event(an_event(world, charge, way, "perhaps"), "sandbox")
    assert await world.transfers(payment) == []

    world.simulator.act("pay", charge)
    [newest, *_] = world.simulator.list_events_about(charge)
    paid = reading.read_event(msgspec.json.encode(newest), "sandbox")
    assert (await tell(world, payment, *paid.facts, refs=paid.refs)).status is Status.SUCCEEDED


@pytest.mark.covers("PAY-022")
@pytest.mark.parametrize("way", WAYS)
async def test_paid_with_another_amount_is_for_somebody_to_look_at(world: World, way: str):
    currency = "BRL" if way == "pix" else "EUR"
    payment, charge = await world.opened(world.shop.sells(world.buyer.identity, 5000, currency=currency), **WAYS[way])
    world.simulator.act("pay", charge, amount=4000)
    assert (await ask(world, payment)).status is Status.NEEDS_MANUAL
    assert await published(world, "payment.succeeded") == 0


# -- One source is paid once


async def two_for_one(world: World) -> tuple[Source, list[tuple[PaymentId, str]]]:
    """The first attempt failed, so somebody began again; then both charges are paid."""
    source = world.shop.sells(world.buyer.identity, 5000)
    begun: list[tuple[PaymentId, str]] = []
    for card in ("card_declined", None):
        payment, charge = await world.opened(source)
        begun.append((payment, charge))
        if card:
            world.simulator.act("pay", charge, card=card)
            assert (await ask(world, payment)).status is Status.FAILED
    for _, charge in begun:
        world.simulator.act("pay", charge)
    return source, begun


@pytest.mark.parametrize("at_once", [False, True])
async def test_the_second_who_pays_for_a_source_is_given_it_back(world: World, at_once: bool, database_url: str):
    _, begun = await two_for_one(world)
    if at_once:
        async with Database(database_url) as another:
            batchers = [world.batcher, Batcher(another)]
            said = [told(payment, *(await whole(world, charge)).facts) for payment, charge in begun]
            await asyncio.gather(
                *(batcher.submit(record, world.scope, each) for batcher, each in zip(batchers, said, strict=True))
            )
            await batchers[1].drain()
    else:
        for payment, _ in begun:
            await ask(world, payment)
    rows = sorted([await world.payment(payment) for payment, _ in begun], key=lambda row: not row.applied)
    assert [row.status for row in rows] == [Status.SUCCEEDED, Status.NEEDS_MANUAL]
    assert [row.manual_reason for row in rows] == [None, Reason.SOURCE_ALREADY_PAID]
    if not at_once:
        assert rows[0].id == begun[0][0]
    with pytest.raises(NotReturnable):
        await world.submit(apply, Decision(Caller(), rows[1].id))
    await see_to_receipt(world, rows[1].id)
    assert (await world.payment(rows[1].id)).status is Status.REFUNDED
    assert (await world.payment(rows[0].id)).status is Status.SUCCEEDED
    assert await world.net(rows[1].id) == 0


async def test_two_who_pay_for_one_source_in_one_breath(world: World):
    """Both in one batch: it is halved, and the second sees the first."""
    _, begun = await two_for_one(world)
    others = [await a_sale(world) for _ in range(2)]  # Those who fly while these two wait for each other.
    said = [told(payment, *(await whole(world, charge)).facts) for payment, charge in [*others, *begun]]
    await asyncio.gather(*(world.submit(record, each) for each in said))
    statuses = sorted([(await world.payment(payment)).status for payment, _ in begun])
    assert statuses == [Status.NEEDS_MANUAL, Status.SUCCEEDED]


async def test_what_failed_is_not_tried_again_while_somebody_pays_otherwise(world: World):
    """U-28: the old charge asks for a proof in another window, while a new payment of the same source is open."""
    source = world.shop.sells(world.buyer.identity, 5000)
    old, charge = await world.opened(source)
    world.simulator.act("pay", charge, card="card_declined")
    assert (await ask(world, old)).status is Status.FAILED
    new, _ = await world.opened(source)
    world.simulator.act("pay", charge, card="asks")
    assert (await ask(world, old)).status is Status.FAILED
    assert (await world.payment(new)).status is Status.PENDING
    world.simulator.act("authenticate", charge)
    assert (await ask(world, old)).status is Status.SUCCEEDED


async def test_what_failed_may_be_tried_again_while_nobody_else_does(world: World):
    payment, charge = await a_sale(world)
    world.simulator.act("pay", charge, card="card_declined")
    assert (await ask(world, payment)).status is Status.FAILED
    world.simulator.act("pay", charge, card="asks")
    assert (await ask(world, payment)).status is Status.REQUIRES_ACTION


@pytest.mark.covers("PAY-040")
async def test_the_second_decline_closes_the_charge(world: World):
    payment, charge = await a_sale(world)
    for _ in range(2):
        world.simulator.act("pay", charge, card="card_declined")
    assert (await ask(world, payment)).status is Status.FAILED
    assert await published(world, "payment.attempts_spent") == 1
    assert await world.clerk.close(world.organization, payment, K.CANCELLED, Caller())
    assert (await world.payment(payment)).status is Status.CANCELLED
    assert (await world.payment(payment)).failed_attempts == 2


# -- What never changes


@pytest.mark.covers("FIN-015")
@pytest.mark.parametrize("word", ["PAID", "succeeded", "pending", "partially_refunded", "needs_manual", "dispute_won"])
async def test_no_word_of_others_is_ever_kept(world: World, word: str):
    await a_sale(world)

    async def keep(tx: Tx) -> None:
        await tx.execute("UPDATE payments.payment SET status = $2 WHERE organization_id = $1", word)

    with pytest.raises(asyncpg.CheckViolationError):
        await world.database.run(world.scope, keep)


FROZEN = ("snapshot", "snapshot_hash", "amount_minor", "fee_minor", "currency", "fee_policy_version", "source_id")


@pytest.mark.covers("FIN-034")
@pytest.mark.parametrize("column", FROZEN)
async def test_the_price_of_a_payment_is_never_touched(world: World, column: str):
    await a_sale(world)

    async def meddle(tx: Tx) -> None:
        await tx.execute(f"UPDATE payments.payment SET {column} = {column} WHERE organization_id = $1")

    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await world.database.run(world.scope, meddle)


@pytest.mark.covers("FIN-034", "FIN-035", "FIN-032")
async def test_a_refund_after_the_fees_changed_is_computed_by_the_snapshot(world: World):
    payment, charge = await a_paid_sale(world)
    before = await world.payment(payment)
    change = PolicyChange(world.owner.caller, Target(), Terms(2000), "NEW_PRICES")
    await world.database.run(world.scope, lambda tx: set_policies(tx, [change]))
    world.shop.changes(before.source, description="Another")
    for deed, options in (("tell_fees", {}), ("refund", {"amount": 2500})):
        world.simulator.act(deed, charge, **options)
    after = await ask(world, payment)
    assert after.processor_fees_status is FeesStatus.FINAL
    assert (after.snapshot, after.snapshot_hash) == (before.snapshot, before.snapshot_hash)
    priced = Priced.read(after.snapshot, after.snapshot_hash)
    assert (priced.snapshot.processor_fees_status, priced.snapshot.platform_fee) == ("PENDING", 250)
    back = [minor for entry, _, _, minor in await world.transfers(payment) if entry == "REFUND_PLATFORM_FEE_REVERSAL"]
    assert back == [125]
    new, _ = await a_paid_sale(world)
    assert (await world.payment(new)).fee_minor == 1000


@pytest.mark.covers("FIN-051")
@pytest.mark.parametrize(
    "change",
    [
        "UPDATE payments.payment_fact SET amount_minor = 1 WHERE organization_id = $1",
        "DELETE FROM payments.payment_fact WHERE organization_id = $1",
        "DELETE FROM payments.payment WHERE organization_id = $1",
    ],
)
async def test_what_happened_is_never_taken_back(world: World, change: str):
    await a_paid_sale(world)
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await world.database.run(world.scope, lambda tx: tx.execute(change))


async def test_an_event_that_tells_nothing_makes_us_ask_and_an_answer_that_tells_nothing_does_not(world: World):
    payment, _ = await a_sale(world)
    await tell(world, payment, asked=True)
    assert await published(world, "payment.incomplete") == 0
    recorded = await tell(world, payment)
    assert (recorded.status, recorded.fresh) == (Status.PENDING, False)
    assert await published(world, "payment.incomplete") == 1
