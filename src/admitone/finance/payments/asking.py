"""Asking providers about payments: with no transaction open, one payment at a time.

Promise: whoever asks may be killed at any point, and whoever comes after asks the same under the same key: what was
done is found, what was not is done once. An answer that does not come leaves everything as it was.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Literal, TypeVar
from uuid import UUID

from admitone.finance.gateways.api import (
    Charge,
    FactKind,
    HandedOn,
    NotSent,
    Refund,
    Refused,
    Reversal,
    Trouble,
    Unknown,
    UnknownStatus,
)
from admitone.finance.gateways.port import GATEWAYS, Gateway
from admitone.finance.ledger import api as ledger
from admitone.finance.payments.commands.answers import Answer, take_answers
from admitone.finance.payments.commands.closing import Closing, close
from admitone.finance.payments.commands.receipts import (
    Decision,
    RefusedReturn,
    begin_returns,
    count_unanswered,
    refuse_returns,
)
from admitone.finance.payments.commands.recording import record
from admitone.finance.payments.commands.refunding import RefusedRefund, refuse_refunds
from admitone.finance.payments.commands.unreadable import Unreadable, mark_unreadable
from admitone.finance.payments.errors import GatewayRefused, NotAtProvider, ProviderUnanswered, RefundPutOff
from admitone.finance.payments.model import (
    CLOSABLE,
    GatewayIntent,
    IntentAction,
    IntentState,
    Payment,
    Recorded,
    Status,
    Told,
)
from admitone.finance.payments.orders import charge_order, hand_on_order, return_order, reversal_order
from admitone.finance.payments.store import intents as intent_store
from admitone.finance.payments.store import payments as store
from admitone.finance.sources.api import PaymentId
from admitone.kernel import failpoints
from admitone.kernel.alerts import (
    ALERTS,
    Above,
    Alert,
    AlertClass,
    AlertRule,
    Resolution,
    raise_alerts,
    resolve_alerts,
)
from admitone.kernel.commands import Command, command
from admitone.kernel.contracts import Call
from admitone.kernel.db import Tx
from admitone.kernel.errors import OutcomeUnknown, Refusal
from admitone.kernel.ids import OrganizationId
from admitone.kernel.jobs import Desk
from admitone.kernel.scope import Caller, Scope

Closure = Literal[FactKind.EXPIRED, FactKind.CANCELLED]
Said = TypeVar("Said")

DECIDED: Final = frozenset({FactKind.CAPTURED, FactKind.EXPIRED, FactKind.CANCELLED})
"""What leaves nothing to cancel."""

TAKEN: Final = frozenset({Status.DISPUTED, Status.CHARGEBACK_LOST})
CHARGE_DISPUTED: Final = "charge_disputed"
"""What the bank has taken we do not give back besides (U-17): whether or not its provider would refuse it, it is not
asked."""

MISSING: Final = AlertRule(
    "payments.charge_missing",
    AlertClass.TICKET,
    Above(0),
    "finance operations",
    "provider-disagrees",
    "A provider does not know a charge that it had opened for us; the payment was closed here.",
)
ODD: Final = AlertRule(
    "payments.unknown_status",
    AlertClass.TICKET,
    Above(0),
    "finance operations",
    "provider-disagrees",
    "A provider uses a word for the state of a charge that we do not know; what became of it is not decided.",
)


NOT_TAKEN_BACK: Final = AlertRule(
    "payments.not_taken_back",
    AlertClass.TICKET,
    Above(0),
    "finance operations",
    "not-taken-back",
    "A dispute was lost, and the provider does not give back what had gone on to the organisation's account.",
)
NOT_HANDED_ON: Final = AlertRule(
    "payments.not_handed_on",
    AlertClass.TICKET,
    Above(0),
    "finance operations",
    "not-taken-back",
    "A refund came back, and what the organisation's account had given for it does not go there again.",
)
UNANSWERED: Final = AlertRule(
    "payments.refund_unanswered",
    AlertClass.TICKET,
    Above(0),
    "finance operations",
    "refund-unanswered",
    "A provider does not say what became of a refund: it was asked three times, or waits for half an hour.",
)
LOSSES: Final = (ledger.Event.DISPUTE_LOST, ledger.Event.UNAPPLIED_LOST)


@dataclass(frozen=True)
class Case:
    """A payment and what was asked for it."""

    payment: Payment
    intents: tuple[GatewayIntent, ...]

    @property
    def gateway(self) -> Gateway:
        assert self.payment.provider is not None, "what costs nothing has no provider"
        return GATEWAYS().get(self.payment.provider)

    @property
    def opening(self) -> GatewayIntent | None:
        return next((each for each in self.intents if each.action is IntentAction.OPEN), None)


@command()
async def find_cases(tx: Tx, payments: Sequence[PaymentId]) -> list[Case | None]:
    """Many who are about to ask look together."""
    found = await store.find_payments(tx, payments)
    intents = await intent_store.find_intents(tx, list(found))
    return [Case(found[each], tuple(intents[each])) if each in found else None for each in payments]


@command()
async def find_taken_back(tx: Tx, payments: Sequence[PaymentId]) -> list[list[ledger.Transfer]]:
    """What the books say that the organisation's account gave for disputes that were lost."""
    booked = [
        each
        for each in await ledger.list_transfers_of(tx, payments)
        if each.event in LOSSES and each.entry_type is ledger.EntryType.TRANSFER_REVERSAL
    ]
    return [[each for each in booked if each.payment_id == payment] for payment in payments]


@command()
async def find_handed_on(tx: Tx, payments: Sequence[PaymentId]) -> list[list[ledger.Transfer]]:
    """What the books say that went to the organisation's account again. Of a refund that never arrived they say it,
    too: for that one the account had given nothing."""
    booked = await ledger.list_transfers_of(tx, payments)
    arrived = {
        (each.payment_id, each.causation_id)
        for each in booked
        if each.entry_type is ledger.EntryType.REFUND_SETTLED_MIRROR
    }
    again = [
        each
        for each in booked
        if each.entry_type is ledger.EntryType.TRANSFER_REVERSAL_MIRROR
        and (each.payment_id, each.causation_id) in arrived
    ]
    return [[each for each in again if each.payment_id == payment] for payment in payments]


Look = Callable[[Scope, PaymentId], Awaitable[Case | None]]


class Clerk:
    """Sees to payments of any organisation, on behalf of a call or of a job; both know how to look and to write."""

    def __init__(self, look: Look, submit: Callable[..., Awaitable[Any]]) -> None:
        self._look = look
        self._write = submit

    @classmethod
    def at(cls, desk: Desk) -> "Clerk":
        async def submit(command: Command[Any, Any, Any], each: Any, *, scope: Scope) -> Any:
            return (await desk.batcher.submit(command, scope, each)).outcome

        async def look(scope: Scope, payment: PaymentId) -> Case | None:
            found: Case | None = await submit(find_cases, payment, scope=scope)
            return found

        return cls(look, submit)

    @classmethod
    def of(cls, call: Call) -> "Clerk":
        async def look(scope: Scope, payment: PaymentId) -> Case | None:
            [found] = await call.read(find_cases, [payment], scope=scope)
            assert not isinstance(found, Refusal)
            return found

        return cls(look, call.batch)

    async def find(self, organization: OrganizationId, payment: PaymentId) -> Case | None:
        return await self._look(Scope(organization, "ask a provider"), payment)

    async def open(self, case: Case, caller: Caller) -> tuple[Recorded, Charge]:
        """Ask for the charge that a payment began with. Raises what keeps it from being known, or from being."""
        assert case.opening is not None
        said = await self.order(case.payment, case.opening, caller)
        answer = Answer(caller, case.payment.id, case.opening, said)
        recorded: Recorded = await self._submit(take_answers, case.payment.organization, answer)
        if isinstance(said, Refused):
            raise GatewayRefused(reason=said.code)
        return recorded, said

    async def order(self, payment: Payment, opening: GatewayIntent, caller: Caller) -> Charge | Refused:
        """Ask for it, and leave it to the caller to write down what was said."""
        failpoints.reach("payments.before_asking")
        gateway = Case(payment, (opening,)).gateway
        said = await self._heard(payment, gateway.open_charge(charge_order(payment, opening, caller)))
        match said:
            case NotSent(refusal=refusal):
                raise refusal
            case Unknown():
                raise OutcomeUnknown
        return said

    async def complete(self, organization: OrganizationId, payment: PaymentId, caller: Caller) -> None:
        """Find out what became of a charge that we asked for and heard nothing of. Raises while it is not known."""
        case = await self.find(organization, payment)
        if case is None or case.opening is None or case.opening.state is not IntentState.OPEN:
            return
        order = charge_order(case.payment, case.opening, caller)
        said = _looked_up(await self._heard(case.payment, case.gateway.find_ordered(order)))
        if said is None:  # It never came there, or is not there yet: under the same key it is made once.
            said = await self._heard(case.payment, case.gateway.open_charge(order))
        if not isinstance(said, Charge | Refused):
            raise refusal_of(said)
        await self._submit(take_answers, organization, Answer(caller, payment, case.opening, said))

    async def ask(self, organization: OrganizationId, payment: PaymentId, caller: Caller) -> Recorded | None:
        """Record everything that the provider knows of a payment; of one that it never knew, nothing. Raises what keeps
        it from being known."""
        case = await self.find(organization, payment)
        if case is None or case.payment.charge_id is None or case.payment.provider is None:
            return None
        said = await self._heard(case.payment, case.gateway.find_charge(caller, case.payment.charge_id))
        if not isinstance(said, Charge):
            raise refusal_of(said)
        told = Told(caller, payment, case.payment.provider, said.refs, said.facts, asked=True)
        recorded: Recorded = await self._submit(record, organization, told)
        return recorded

    async def close(self, organization: OrganizationId, payment: PaymentId, kind: Closure, caller: Caller) -> bool:
        """Close a payment that is not to be paid any more: it is closed then, or was paid, or a slow bank has yet to
        answer. Raises what keeps that from being known. Whether its provider has ever heard of it."""
        await self.complete(organization, payment, caller)
        case = await self.find(organization, payment)
        if case is None or case.payment.status not in CLOSABLE:
            return True
        charge: Charge | None = None
        if case.payment.charge_id is not None:
            charge = await self._cancelled(case, case.payment.charge_id, caller)
        await self._submit(close, organization, Closing(caller, payment, kind, charge))
        is_missing = charge is None and case.payment.charge_id is not None
        if is_missing:
            await self._alert(MISSING, case.payment, f"closed here as {kind}", caller)
        return not is_missing

    async def _cancelled(self, case: Case, charge: str, caller: Caller) -> Charge | None:
        """How the provider left it; nothing if it has no such charge."""
        said = await self._heard(case.payment, case.gateway.cancel_charge(caller, charge))
        if not isinstance(said, Refused):
            if not isinstance(said, Charge):
                raise refusal_of(said)
            return said
        found = await self._heard(case.payment, case.gateway.find_charge(caller, charge))
        if found is None:
            return None
        if not isinstance(found, Charge):
            raise refusal_of(found)
        if not {fact.kind for fact in found.facts} & DECIDED:
            raise GatewayRefused(reason=said.code)  # It can still be paid: to be tried later.
        return found

    async def give_back(self, organization: OrganizationId, decision: Decision) -> Recorded:
        """Give back money that paid for nothing. Raises what must be tried again, or what was refused."""
        begun = await self._submit(begin_returns, organization, decision)
        return await self._give_back(begun.payment, begun.intent, decision.caller)

    async def refund(self, organization: OrganizationId, payment: PaymentId, refund: UUID, caller: Caller) -> None:
        """Give back what was ordered under this id, unless that has ended. Raises what must be tried again."""
        case = await self.find(organization, payment)
        intent = next((each for each in case.intents if each.id == refund), None) if case else None
        if case is not None and intent is not None and intent.state is IntentState.OPEN:
            await self._give_back(case.payment, intent, caller)

    async def give_back_left(self, organization: OrganizationId, payment: PaymentId, own: UUID, caller: Caller) -> None:
        """What a crash, or a provider that did not answer, left open: the money that paid for nothing, or a refund."""
        case = await self.find(organization, payment)
        intent = next((each for each in case.intents if each.id == own), None) if case else None
        if intent is not None and intent.is_return:
            await self.give_back(organization, Decision(caller, payment))
        elif intent is not None:
            await self.refund(organization, payment, own, caller)

    async def take_back(self, organization: OrganizationId, payment: PaymentId, caller: Caller) -> None:
        """Have the organisation's account give what the books say that it gives for lost disputes (U-12, T8), once for
        each. Raises what must be tried again, or what was refused."""
        async for case, each in self._booked(find_taken_back, organization, payment):
            asking = case.gateway.take_back(reversal_order(case.payment, each, caller))
            await self._move(case.payment, each, asking, NOT_TAKEN_BACK, caller)

    async def hand_on(self, organization: OrganizationId, payment: PaymentId, caller: Caller) -> None:
        """Give the organisation's account again what the books say that goes there of refunds that had arrived and came
        back (U-12), once for each. Raises what must be tried again, or what was refused."""
        async for case, each in self._booked(find_handed_on, organization, payment):
            asking = case.gateway.hand_on(hand_on_order(case.payment, each, caller))
            await self._move(case.payment, each, asking, NOT_HANDED_ON, caller)

    async def _booked(
        self, find: Command[Any, PaymentId, list[ledger.Transfer]], organization: OrganizationId, payment: PaymentId
    ) -> AsyncIterator[tuple[Case, ledger.Transfer]]:
        """What the books have moved between us and the organisation's account, for the provider to move."""
        case = await self.find(organization, payment)
        if case is not None:
            for each in await self._submit(find, organization, payment):
                yield case, each

    async def _move(
        self,
        payment: Payment,
        booked: ledger.Transfer,
        asking: Awaitable[Reversal | HandedOn | Trouble],
        rule: AlertRule,
        caller: Caller,
    ) -> None:
        """Between us and the organisation's account, as the books have it already."""
        said = await self._heard(payment, asking)
        if isinstance(said, Refused):
            detail = f"{booked.amount_minor} {booked.currency} for {booked.reference}: {said.code}"
            await self._alert(rule, payment, detail, caller)
        if not isinstance(said, Reversal | HandedOn):
            raise refusal_of(said)

    async def _give_back(self, payment: Payment, intent: GatewayIntent, caller: Caller) -> Recorded:
        assert payment.provider is not None
        gateway, order = GATEWAYS().get(payment.provider), return_order(payment, intent, caller)
        said: Refund | Trouble | None = None
        is_taken = payment.status in TAKEN and not intent.is_return
        if intent.is_return or is_taken or not intent.is_fresh(datetime.now(UTC)):
            said = _looked_up(await self._heard(payment, gateway.find_refund(order)))
        if said is None:
            said = Refused(CHARGE_DISPUTED) if is_taken else await self._heard(payment, gateway.refund(order))
        if not intent.is_return:
            await self._tell_of_silence(payment, intent, said, caller)
        match said:
            case Refund():
                answer = Answer(caller, payment.id, intent, said)
                recorded: Recorded = await self._submit(take_answers, payment.organization, answer)
                return recorded
            case Refused(code=code) if intent.is_return:
                await self._submit(refuse_returns, payment.organization, RefusedReturn(intent, code))
            case Refused(code=code):
                refused = RefusedRefund(caller, payment.id, intent, code)
                if not await self._submit(refuse_refunds, payment.organization, refused):
                    raise RefundPutOff(reason=code)
            case Unknown():
                await self._submit(count_unanswered, payment.organization, intent)
        raise refusal_of(said)

    async def _tell_of_silence(self, payment: Payment, intent: GatewayIntent, said: object, caller: Caller) -> None:
        """Before anything is recorded: whoever is killed then asks again, and is answered."""
        is_overdue, own = intent.is_overdue(datetime.now(UTC)), str(intent.id)
        if isinstance(said, NotSent | Unknown):
            if is_overdue:
                await self._alert(UNANSWERED, payment, f"{intent.amount_minor} {intent.currency}", caller, own)
        elif is_overdue or intent.unanswered:
            await self._write(resolve_alerts, Resolution(UNANSWERED, own), scope=ALERTS)

    async def _heard(self, payment: Payment, asking: Awaitable[Said]) -> Said | Unknown:
        """What is said; a word that we do not know decides nothing, and somebody is told to look (PAY-061)."""
        try:
            return await asking
        except UnknownStatus as odd:
            await self._submit(mark_unreadable, payment.organization, Unreadable(payment.id, odd.status))
            await self._alert(ODD, payment, str(odd), Caller())
            return Unknown(f"is {odd.status[:40]!r}")

    async def _alert(
        self, rule: AlertRule, payment: Payment, detail: str, caller: Caller, subject: str | None = None
    ) -> None:
        own = str(payment.id)
        entities = {"paymentId": own, "chargeId": payment.charge_id or ""}
        alert = Alert(rule, subject or own, detail, payment.organization, entities, caller)
        await self._write(raise_alerts, alert, scope=ALERTS)

    async def _submit(self, command: Command[Any, Any, Any], organization: OrganizationId, each: Any) -> Any:
        failpoints.reach("payments.before_recording")
        return await self._write(command, each, scope=Scope(organization, "payments"))


def _looked_up(said: Said) -> Said | Unknown:
    """Of a look-up only an answer counts, or that there is none: who may not look has learnt nothing."""
    return Unknown(f"may not look: {said.code}") if isinstance(said, Refused) else said


def refusal_of(trouble: Trouble | None) -> Refusal:
    """How what is not an answer is told: what was not sent by its own refusal, a refusal and what is not there for
    good, and what is unknown as something that may be tried again, so many times."""
    match trouble:
        case NotSent(refusal=refusal):
            return refusal
        case Refused(code=code):
            return GatewayRefused(reason=code)
        case Unknown():
            return ProviderUnanswered()
        case None:
            return NotAtProvider()
