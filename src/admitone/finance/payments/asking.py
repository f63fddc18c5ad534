"""Asking providers about payments: with no transaction open, one payment at a time.

Promise: whoever asks may be killed at any point, and whoever comes after asks the same under the same key: what was
done is found, what was not is done once. An answer that does not come leaves everything as it was.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Literal

from admitone.finance.gateways.api import Charge, FactKind, NotSent, Refund, Refused, Trouble, Unknown
from admitone.finance.gateways.port import GATEWAYS, Gateway
from admitone.finance.payments.commands.answers import Answer, take_answers
from admitone.finance.payments.commands.closing import Closing, close
from admitone.finance.payments.commands.receipts import Decision, begin_returns, reopen_receipts
from admitone.finance.payments.commands.recording import record
from admitone.finance.payments.errors import GatewayRefused
from admitone.finance.payments.model import CLOSABLE, GatewayIntent, IntentAction, IntentState, Payment, Recorded, Told
from admitone.finance.payments.orders import charge_order, return_order
from admitone.finance.payments.store import payments as store
from admitone.finance.sources.api import PaymentId
from admitone.kernel import failpoints
from admitone.kernel.commands import Command
from admitone.kernel.contracts import Call
from admitone.kernel.db import Tx
from admitone.kernel.errors import OutcomeUnknown
from admitone.kernel.ids import OrganizationId
from admitone.kernel.jobs import Desk
from admitone.kernel.scope import Caller, Scope

Closure = Literal[FactKind.EXPIRED, FactKind.CANCELLED]


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


async def find_case(tx: Tx, payment: PaymentId) -> Case | None:
    found = (await store.find_payments(tx, [payment])).get(payment)
    return Case(found, tuple((await store.find_intents(tx, [payment]))[payment])) if found else None


class Clerk:
    """Sees to payments of any organisation, on behalf of a call or of a job; both know how to read and to write."""

    def __init__(self, read: Callable[..., Awaitable[Any]], submit: Callable[..., Awaitable[Any]]) -> None:
        self._read = read
        self._write = submit

    @classmethod
    def at(cls, desk: Desk) -> "Clerk":
        async def read(query: Any, *args: Any, scope: Scope) -> Any:
            return await desk.database.read(scope, query, *args)

        async def submit(command: Command[Any, Any, Any], each: Any, *, scope: Scope) -> Any:
            return (await desk.batcher.submit(command, scope, each)).outcome

        return cls(read, submit)

    @classmethod
    def of(cls, call: Call) -> "Clerk":
        return cls(call.read, call.batch)

    async def find(self, organization: OrganizationId, payment: PaymentId) -> Case | None:
        found: Case | None = await self._read(find_case, payment, scope=Scope(organization, "ask a provider"))
        return found

    async def open(self, case: Case, caller: Caller) -> tuple[Recorded, Charge]:
        """Ask for the charge that a payment began with. Raises what keeps it from being known, or from being."""
        assert case.opening is not None
        failpoints.reach("payments.before_asking")
        said = await case.gateway.open_charge(charge_order(case.payment, case.opening, caller))
        match said:
            case NotSent(refusal=refusal):
                raise refusal
            case Unknown():
                raise OutcomeUnknown
        answer = Answer(caller, case.payment.id, case.opening, said)
        recorded: Recorded = await self._submit(take_answers, case.payment.organization, answer)
        if isinstance(said, Refused):
            raise GatewayRefused(reason=said.code)
        return recorded, said

    async def complete(self, organization: OrganizationId, payment: PaymentId, caller: Caller) -> bool:
        """Find out what became of a charge that we asked for and heard nothing of. Whether it is known now."""
        case = await self.find(organization, payment)
        if case is None or case.opening is None or case.opening.state is not IntentState.OPEN:
            return True
        order = charge_order(case.payment, case.opening, caller)
        said = await case.gateway.find_ordered(order)
        if said is None:  # It never came there, or is not there yet: under the same key it is made once.
            said = await case.gateway.open_charge(order)
        if not isinstance(said, Charge | Refused):
            return False
        await self._submit(take_answers, organization, Answer(caller, payment, case.opening, said))
        return True

    async def ask(self, organization: OrganizationId, payment: PaymentId, caller: Caller) -> Recorded | Trouble | None:
        """Record everything that the provider knows of a payment."""
        case = await self.find(organization, payment)
        if case is None or case.payment.charge_id is None or case.payment.provider is None:
            return None
        said = await case.gateway.find_charge(caller, case.payment.charge_id)
        if not isinstance(said, Charge):
            return said
        told = Told(caller, payment, case.payment.provider, said.refs, said.facts, asked=True)
        recorded: Recorded = await self._submit(record, organization, told)
        return recorded

    async def close(self, organization: OrganizationId, payment: PaymentId, kind: Closure, caller: Caller) -> bool:
        """Close a payment that is not to be paid any more. Whether its provider said what becomes of it: it is closed,
        or was paid, or a slow bank has yet to answer."""
        if not await self.complete(organization, payment, caller):
            return False
        case = await self.find(organization, payment)
        if case is None or case.payment.status not in CLOSABLE:
            return True
        charge: Charge | None = None
        if case.payment.charge_id is not None:
            said = await case.gateway.cancel_charge(caller, case.payment.charge_id)
            if not isinstance(said, Charge):
                return False
            charge = said
        await self._submit(close, organization, Closing(caller, payment, kind, charge))
        return True

    async def give_back(self, organization: OrganizationId, decision: Decision) -> Recorded:
        """Give back money that paid for nothing. Raises what must be tried again, or what was refused."""
        begun = await self._submit(begin_returns, organization, decision)
        gateway = GATEWAYS().get(begun.payment.provider)
        order = return_order(begun.payment, begun.intent, decision.caller)
        said = await gateway.find_refund(order)
        if said is None:
            said = await gateway.refund(order)
        match said:
            case Refund() | Refused():
                recorded: Recorded = await self._submit(
                    take_answers, organization, Answer(decision.caller, decision.payment, begun.intent, said)
                )
                if isinstance(said, Refused):
                    await self._submit(reopen_receipts, organization, decision)
                    raise GatewayRefused(reason=said.code)
                return recorded
            case _:
                raise OutcomeUnknown

    async def _submit(self, command: Command[Any, Any, Any], organization: OrganizationId, each: Any) -> Any:
        failpoints.reach("payments.before_recording")
        return await self._write(command, each, scope=Scope(organization, "payments"))
