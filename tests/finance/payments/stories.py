"""What happened to a payment, as tests tell it: facts by hand, or a whole life from the sandbox itself.

payment = a_payment(5000, fee=300)
stands(payment, captured(at=10), refunded(2000, at=20), opened(at=30))

story = Story()
story.does("pay")
story.does("refund", amount=1000)
story.facts()                          everything that happened
story.events()                         the same, as the provider told it, oldest first
"""

from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import msgspec

from admitone.finance.gateways.api import FactKind, Provider, ProviderEvent, ProviderFact
from admitone.finance.gateways.sandbox import reading
from admitone.finance.gateways.sandbox.charges import No
from admitone.finance.gateways.sandbox.keys import Keys
from admitone.finance.gateways.sandbox.objects import Intent
from admitone.finance.gateways.sandbox.parameters import ChargeParameters
from admitone.finance.gateways.sandbox.simulator import Simulator
from admitone.finance.ledger.api import CHART, POSITION, Account
from admitone.finance.ledger.policy import transfers_of
from admitone.finance.payments.books import postings
from admitone.finance.payments.commands.recording import History
from admitone.finance.payments.model import (
    APPLIED,
    COMMISSION_HELD,
    COMMISSION_KEPT,
    DUE,
    REFUND_BEGUN,
    REFUND_GIVEN_UP,
    TAX_WITHHELD,
    FeesStatus,
    Payment,
    PaymentMethod,
    RecordedFact,
    RefundState,
    Scenario,
    Status,
    Told,
)
from admitone.finance.payments.policy import Standing, fold, way
from admitone.finance.sources.api import SOURCE_TYPES, PaymentId, Source, SourceType
from admitone.kernel.ids import IdentityId, OrganizationId
from admitone.kernel.scope import Caller

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
K = FactKind
OWN = OrganizationId(UUID("018f0000-0000-7000-8000-0000000000aa"))
CALLER = Caller()


def a_payment(
    amount: int = 5000,
    *,
    fee: int = 300,
    type: SourceType = SourceType.TICKET_ORDER,  # noqa: A002, the word of the domain
    **more: Any,
) -> Payment:
    """By card, just begun, for an hour."""
    manner = SOURCE_TYPES[type]
    given: dict[str, Any] = {
        "id": PaymentId.new(),
        "organization": OWN,
        "city_code": "GLOBAL",
        "identity": IdentityId.new(),
        "payee": OWN.uuid,
        "source": Source(type, "src_1"),
        "flow": manner.flow,
        "settlement": manner.settlement,
        "scenario": Scenario.PAID,
        "method": PaymentMethod.CARD,
        "provider": Provider.SANDBOX,
        "account": "acct_1",
        "livemode": False,
        "amount_minor": amount,
        "fee_minor": fee,
        "currency": "EUR",
        "fee_policy_version": "v1",
        "snapshot": "{}",
        "snapshot_hash": "0" * 64,
        "subjects": (),
        "idempotency_key": "key",
        "request_hash": bytes(32),
        "correlation_id": OWN.uuid,
        "status": Status.CREATED,
        "refund_state": RefundState.NONE,
        "manual_reason": None,
        "applied": False,
        "captured_minor": 0,
        "refunded_minor": 0,
        "failed_attempts": 0,
        "processor_fees_status": FeesStatus.PENDING,
        "processor_fees_actual": None,
        "charge_id": None,
        "version": 1,
        "created_at": NOON,
        "changed_at": NOON,
        "expires_at": NOON + timedelta(hours=1),
    }
    return Payment(**(given | more))


# -- Facts by hand: `at` is in minutes after noon


def a_fact(kind: FactKind | str, reference: str, at: int, amount: int = 0, **more: Any) -> RecordedFact:
    given = {"amount_minor": amount, "currency": "EUR"} | more
    return RecordedFact(kind, f"{kind.lower()}:{reference}", NOON + timedelta(minutes=at), reference, **given)


def captured(amount: int = 5000, *, at: int = 10, of: str = "ch_1", currency: str = "EUR") -> RecordedFact:
    return a_fact(K.CAPTURED, of, at, amount, currency=currency)


def failed(code: str = "card_declined", *, at: int = 5, of: str = "ch_0") -> RecordedFact:
    return a_fact(K.FAILED, of, at, code=code)


def refunded(
    amount: int, *, at: int = 20, total: int | None = None, of: str = "re_1", charge: str = ""
) -> RecordedFact:
    return a_fact(K.REFUNDED, of, at, amount, total_minor=amount if total is None else total, charge=charge)


def refund_failed(amount: int, *, at: int = 40, of: str = "re_1") -> RecordedFact:
    return a_fact(K.REFUND_FAILED, of, at, amount)


def opened(amount: int = 5000, *, at: int = 20, of: str = "dp_1", fee: int = 1500, charge: str = "") -> RecordedFact:
    return a_fact(K.DISPUTE_OPENED, of, at, amount, fee_minor=fee, charge=charge)


def won(amount: int = 5000, *, at: int = 25, of: str = "dp_1", fee: int = 1500) -> RecordedFact:
    return a_fact(K.DISPUTE_WON, of, at, amount, fee_minor=fee)


def lost(amount: int = 5000, *, at: int = 25, of: str = "dp_1", charge: str = "") -> RecordedFact:
    return a_fact(K.DISPUTE_LOST, of, at, amount, charge=charge)


def closed_here(kind: FactKind = K.EXPIRED, *, at: int = 5) -> RecordedFact:
    return RecordedFact(kind, f"{kind.lower()}:here", NOON + timedelta(minutes=at), "pay_1")


def held(amount: int, *, at: int = 12) -> RecordedFact:
    return a_fact(COMMISSION_HELD, "confirmed", at, amount)


def kept(amount: int, *, at: int = 14) -> RecordedFact:
    return a_fact(COMMISSION_KEPT, "tier", at, amount)


def withheld(amount: int, *, at: int = 16) -> RecordedFact:
    return a_fact(TAX_WITHHELD, "tax", at, amount)


def due(amount: int, *, at: int = 16) -> RecordedFact:
    return a_fact(DUE, "over", at, amount)


def closed(kind: FactKind = K.EXPIRED, *, at: int = 5) -> RecordedFact:
    return a_fact(kind, "pi_1", at)


def begun(amount: int, at: int = 30, of: str = "rfd_1", *, fee: int = 0) -> RecordedFact:
    """We ordered it."""
    return a_fact(REFUND_BEGUN, of, at, amount, fee_minor=fee)


def given_up(at: int = 40, of: str = "rfd_1") -> RecordedFact:
    return a_fact(REFUND_GIVEN_UP, of, at)


def applied(*, at: int = 30, of: str = "ch_1") -> RecordedFact:
    return RecordedFact(APPLIED, f"applied:captured:{of}", NOON + timedelta(minutes=at), of)


def in_order(*facts: RecordedFact) -> list[RecordedFact]:
    """As if we had learnt them in this order."""
    return [msgspec.structs.replace(fact, ordinal=number) for number, fact in enumerate(facts, start=1)]


def stands(payment: Payment, *facts: RecordedFact, rival: bool = False) -> Standing:
    return fold(payment, in_order(*facts), rival=rival)


# -- Books


def posted(payment: Payment, facts: Iterable[RecordedFact], *, rival: bool = False) -> Counter[tuple[Any, ...]]:
    """Every transfer that follows from these facts, whatever their order."""
    return Counter(
        (each.entry_type, each.debit_account, each.credit_account, each.amount_minor, each.currency, each.causation_id)
        for posting in postings(payment, facts, CALLER, rival=rival)
        for each in transfers_of(OWN.uuid, posting, OWN.uuid, NOON)
        if each.amount_minor
    )


def balances(transfers: Counter[tuple[Any, ...]]) -> dict[Account, int]:
    """What stands on each account that is not empty, positive on the side on which it grows."""
    sums: Counter[Account] = Counter()
    for (_, debit, credit, amount, *_), times in transfers.items():
        sums[debit] += amount * times * (1 if CHART[debit].grows_by_debit else -1)
        sums[credit] += amount * times * (-1 if CHART[credit].grows_by_debit else 1)
    return {account: minor for account, minor in sums.items() if minor}


def net(transfers: Counter[tuple[Any, ...]]) -> int:
    return sum(
        amount * times * ((credit in POSITION) - (debit in POSITION))
        for (_, debit, credit, amount, *_), times in transfers.items()
    )


# -- Recording without a database


class Book:
    """One payment and what was recorded of it, decided as the command decides it; what it would publish is noted."""

    def __init__(self, payment: Payment) -> None:
        self.payment = payment
        self.facts: list[RecordedFact] = []
        self.told: list[Status] = []
        self.steps: list[tuple[Status, Status]] = []
        self.must_ask = False
        self.contradicted: list[Status] = []

    def hear(self, facts: Iterable[ProviderFact], *, asked: bool = False) -> None:
        told = Told(CALLER, self.payment.id, Provider.SANDBOX, (), tuple(facts), asked=asked)
        history = History(self.payment, self.facts)
        history.hear(CALLER, told.facts, is_whole=told.is_whole)
        self._take(history)

    def learn(self, fact: RecordedFact) -> None:
        history = History(self.payment, self.facts)
        history.learn(fact)
        self._take(history)

    def _take(self, history: History) -> None:
        self.must_ask = self.must_ask or history.must_ask
        if not history.news:
            return
        standing = fold(self.payment, history.after)
        steps = way(self.payment, standing)
        if steps is None:
            self.contradicted.append(standing.status)
            standing, steps = msgspec.structs.replace(standing, status=self.payment.status), []
        self.must_ask = self.must_ask or standing.must_ask
        self.steps += zip([self.payment.status, *steps], steps, strict=False)
        self.told += steps
        self.facts = history.after
        self.payment = msgspec.structs.replace(
            self.payment,
            status=standing.status,
            applied=standing.applied,
            refunded_minor=standing.refunded_minor,
            captured_minor=standing.captured_minor,
        )


# -- Lives from the sandbox


class Story:
    """One charge at a sandbox of its own."""

    def __init__(self, payment: Payment | None = None, *, pix: bool = False, session: bool = False) -> None:
        self.payment = payment or a_payment(
            method=PaymentMethod.PIX if pix else PaymentMethod.CARD, currency="BRL" if pix else "EUR"
        )
        self._now = NOON
        self.simulator = Simulator(Keys.of("stories"), clock=lambda: self._now)
        given = ChargeParameters(
            amount=self.payment.amount_minor,
            currency=self.payment.currency.lower(),
            payment_method="pix" if pix else "card",
            order_key="order",
            expires_at=int(self.payment.expires_at.timestamp()),
            metadata={"orgId": str(OWN), "payment_id": str(self.payment.id)},
            return_url="https://shop.example/" if session else None,
        )
        headers = {"authorization": f"Bearer {self.simulator.keys.api}"}
        status, body = self.simulator.handle("POST", "/v1/payment_intents", msgspec.json.encode(given), headers)
        assert status == 200, body
        self.charge: str = msgspec.json.decode(body)["id"]

    def does(self, deed: str, **options: Any) -> bool:
        """Whether the provider let it happen."""
        try:
            self.simulator.act(deed, self.charge, **options)
        except No:
            return False
        return True

    def passes(self, minutes: int) -> None:
        self._now += timedelta(minutes=minutes)
        self.simulator.tick()

    def facts(self) -> list[ProviderFact]:
        intent = self.simulator.get(self.charge)
        assert isinstance(intent, Intent)
        return reading.facts_of(intent)

    def events(self) -> list[ProviderEvent]:
        newest_first = self.simulator.list_events_about(self.charge, limit=1000)
        return [reading.read_event(msgspec.json.encode(each), "sandbox") for each in reversed(newest_first)]
