"""Giving money back through Stripe, with the organisation's part and our fee's.

Promise: exactly so much of our fee goes back as is ordered. Stripe gives back its proportion of it together with the
refund; where that is not what is ordered, the refund goes without it, and the fee by an order of its own, under a key
of its own. Until both are done the order is not: whoever repeats it finds the one and makes the other. What was
refunded under an order is looked for before anything is ordered, so that no order is done twice, however late it is
repeated. What is taken back for a dispute carries its name, and is looked for by that; so does what is handed on again
for a refund that came back, and no more of it goes than came.
"""

from typing import Any, Final

import msgspec

from admitone.finance.gateways import model
from admitone.finance.gateways.model import HandOnOrder, RefundOrder, Refused, ReversalOrder, Trouble
from admitone.finance.gateways.stripe import parameters, reading
from admitone.finance.gateways.stripe.listing import listed, read_all
from admitone.finance.gateways.stripe.objects import (
    ApplicationFee,
    Attempt,
    FeeRefund,
    Intent,
    Page,
    Refund,
    Reversal,
    Session,
    Transfer,
)
from admitone.finance.gateways.stripe.way import MISSING, Seen, Way, is_missing
from admitone.kernel.scope import Caller

FEE_EXCEEDED: Final = "application_fee_exceeded"
OTHER_ORDER: Final = "idempotency_error"
NO_TRANSFER: Final = "no_transfer"
NOT_RETURNED: Final = "refund_not_returned"
FEE_OWED: Final = "application_fee_owed"
TOO_MUCH: Final = "amount_too_large"
NOT_ARRIVED: Final = ("failed", "canceled")


class Known(msgspec.Struct, frozen=True):
    """A charge, and what went back of it."""

    intent: Intent
    refunds: tuple[Refund, ...]
    """The oldest first."""

    @property
    def attempt(self) -> Attempt | None:
        latest = self.intent.latest_charge
        return latest if isinstance(latest, Attempt) else None

    @property
    def transfer(self) -> str | None:
        """By which it went on to an account."""
        transfer = self.attempt.transfer if self.attempt else None
        return transfer.id if isinstance(transfer, Transfer) else transfer

    @property
    def fee(self) -> ApplicationFee | None:
        fee = self.attempt.application_fee if self.attempt else None
        return fee if isinstance(fee, ApplicationFee) else None

    def made_by(self, order: RefundOrder) -> tuple[Refund, int] | None:
        """With what had gone back by then."""
        made = (each for each in reading.totals(self.refunds) if each[0].carried.get("order_key") == str(order.key))
        return next(made, None)

    def total_after(self, refund: Refund) -> int:
        return next((total for each, total in reading.totals((*self.refunds, refund)) if each.id == refund.id), 0)


class Refunding:
    def __init__(self, way: Way) -> None:
        self._way = way
        self._v1 = way.v1

    async def refund(self, order: RefundOrder) -> model.Refund | Trouble:
        known = await self._known(order)
        if not isinstance(known, Known):
            return known or Refused(MISSING)
        if made := known.made_by(order):
            refund, total = made
            if refund.amount != order.amount_minor:
                return Refused(OTHER_ORDER)
        else:
            if order.application_fee_minor > fee_left(known.fee):
                return Refused(FEE_EXCEEDED)
            ordered = await self._order(order, known)
            if not isinstance(ordered, Seen):
                return ordered
            refund, total = ordered.it, known.total_after(ordered.it)
        if owes_fee(refund) and known.fee:
            trouble = await self._give_fee_back(order, known.fee)
            if trouble is not None:
                return trouble
        return reading.refund_of(refund, total)

    async def find(self, order: RefundOrder) -> model.Refund | Trouble | None:
        """Not before everything that was ordered with it is done, too."""
        known = await self._known(order)
        if not isinstance(known, Known):
            return known
        made = known.made_by(order)
        if made is None:
            return None
        if owes_fee(made[0]) and known.fee:
            given = await self._fee_refund(order.caller, str(order.key), known.fee)
            if not isinstance(given, FeeRefund):
                return given
        return reading.refund_of(*made)

    async def take_back(self, order: ReversalOrder) -> model.Reversal | Trouble:
        """From the account to which the charge went; the fee that it left with us is no part of that."""
        seen = await self._intent(order.caller, order.charge)
        if not isinstance(seen, Seen):
            return seen
        transfer = Known(seen.it, ()).transfer
        if transfer is None:
            return Refused(NO_TRANSFER)
        made = await self._reversal(order, transfer)
        if not isinstance(made, Reversal):
            return made
        if made.amount != order.amount_minor:
            return Refused(OTHER_ORDER)
        return model.Reversal(made.id, made.amount, order.currency)

    async def _reversal(self, order: ReversalOrder, transfer: str) -> Reversal | Trouble:
        known = await self._reversals(order.caller, transfer)
        if not isinstance(known, list):
            return known
        if made := next((each for each in known if each.carried.get(parameters.DISPUTE) == order.dispute), None):
            return made
        given, key = parameters.reversal_parameters(order), f"{order.dispute}:reversal"
        call = self._v1.transfers.reversals.create_async(transfer, given, {"idempotency_key": key})
        said = await self._way.hear(order.caller, call, Reversal)
        return said.it if isinstance(said, Seen) else said

    async def _reversals(self, caller: Caller, transfer: str) -> list[Reversal] | Trouble:
        reversals = self._v1.transfers.reversals
        return await read_all(listed(self._way, caller, lambda asked: reversals.list_async(transfer, asked), Reversal))

    async def hand_on(self, order: HandOnOrder) -> model.HandedOn | Trouble:
        """By a transfer of its own: what was reversed stays so. What the account did not give it is not given."""
        asked: Any = {"transfer_group": parameters.hand_on_group(order), "limit": 1}
        found = await self._way.hear(order.caller, self._v1.transfers.list_async(asked), Page[Transfer])
        if not isinstance(found, Seen):
            return found
        if found.it.data:
            return _as_handed_on(found.it.data[0], order)
        trouble = await self._why_not(order)
        if trouble is not None:
            return trouble
        given: Any = {"idempotency_key": f"{order.refund}:handed_on"}
        call = self._v1.transfers.create_async(parameters.hand_on_parameters(order), given)
        made = await self._way.hear(order.caller, call, Transfer)
        return _as_handed_on(made.it, order) if isinstance(made, Seen) else made

    async def _why_not(self, order: HandOnOrder) -> Trouble | None:
        """Whether the account gave at least so much for a refund that came back."""
        seen = await self._intent(order.caller, order.charge)
        if not isinstance(seen, Seen):
            return seen
        known = Known(seen.it, ())
        if known.transfer is None:
            return Refused(NO_TRANSFER)
        refund = await self._way.hear(order.caller, self._v1.refunds.retrieve_async(order.refund), Refund)
        if not isinstance(refund, Seen):
            return refund
        if refund.it.status not in NOT_ARRIVED or refund.it.payment_intent != seen.it.id:
            return Refused(NOT_RETURNED)
        reversals = await self._reversals(order.caller, known.transfer)
        if not isinstance(reversals, list):
            return reversals
        came = sum(each.amount for each in reversals if each.refund == order.refund)
        if not came:
            return Refused(NO_TRANSFER)
        if order.amount_minor > came:
            return Refused(TOO_MUCH)
        return await self._owed_fee(order, refund.it, known.fee)

    async def _owed_fee(self, order: HandOnOrder, refund: Refund, fee: ApplicationFee | None) -> Trouble | None:
        """Our fee's part, which was to go back by an order of its own and did not before the refund came back: then the
        account gave more than the books say, and somebody must decide."""
        if parameters.APART not in refund.carried or fee is None:
            return None
        given = await self._fee_refund(order.caller, refund.carried.get("order_key", ""), fee)
        if given is None:
            return Refused(FEE_OWED)
        return None if isinstance(given, FeeRefund) else given

    async def _order(self, order: RefundOrder, known: Known) -> Seen[Refund] | Trouble:
        given = parameters.refund_parameters(
            order,
            known.intent,
            transferred=known.attempt is not None and known.attempt.transfer is not None,
            fee_apart=order.application_fee_minor > 0 and not is_proportion(order, known),
        )
        call = self._v1.refunds.create_async(given, {"idempotency_key": str(order.key)})
        said = await self._way.hear(order.caller, call, Refund)
        # What goes with it depends on the refunds before it: it was ordered before, and what became of it is not shown.
        is_known = isinstance(said, Refused) and said.code == OTHER_ORDER
        return model.Unknown("ordered before, in other words") if is_known else said

    async def _give_fee_back(self, order: RefundOrder, fee: ApplicationFee) -> Trouble | None:
        given = await self._fee_refund(order.caller, str(order.key), fee)
        if isinstance(given, FeeRefund):
            return None
        if given is not None:
            return given
        asked: Any = {"amount": order.application_fee_minor, "metadata": {"order_key": str(order.key)}}
        call = self._v1.application_fees.refunds.create_async(fee.id, asked, {"idempotency_key": f"{order.key}:fee"})
        said = await self._way.hear(order.caller, call, FeeRefund)
        # The money is on its way: that the fee is not is no refusal of the whole.
        if isinstance(said, Refused):
            return model.Unknown(f"refunded, and the fee was refused: {said.code}")
        return said if not isinstance(said, Seen) else None

    async def _fee_refund(self, caller: Caller, key: str, fee: ApplicationFee) -> FeeRefund | Trouble | None:
        fetch = listed(self._way, caller, self._fee_refunds(fee.id), FeeRefund)
        found = await read_all(fetch)
        if not isinstance(found, list):
            return found
        return next((each for each in found if each.carried.get("order_key") == key), None)

    def _fee_refunds(self, fee: str) -> Any:
        return lambda asked: self._v1.application_fees.refunds.list_async(fee, asked)

    async def _known(self, order: RefundOrder) -> Known | Trouble | None:
        intent = await self._intent(order.caller, order.charge)
        if not isinstance(intent, Seen):
            return None if is_missing(intent) else intent
        if intent.it.latest_charge is None:
            return Known(intent.it, ())  # Nobody has tried to pay.
        found = await read_all(
            listed(self._way, order.caller, self._v1.refunds.list_async, Refund, payment_intent=intent.it.id)
        )
        return Known(intent.it, tuple(found)) if isinstance(found, list) else found

    async def _intent(self, caller: Caller, charge: str) -> Seen[Intent] | Trouble:
        name = charge
        if charge.startswith("cs_"):
            session = await self._way.hear(caller, self._v1.checkout.sessions.retrieve_async(charge), Session)
            if not isinstance(session, Seen):
                return session
            if not isinstance(session.it.payment_intent, str):
                return Refused(MISSING)
            name = session.it.payment_intent
        asked: Any = {"expand": ["latest_charge.application_fee"]}
        return await self._way.hear(caller, self._v1.payment_intents.retrieve_async(name, asked), Intent)


def _as_handed_on(transfer: Transfer, order: HandOnOrder) -> model.HandedOn | Trouble:
    ordered = (order.amount_minor, order.currency.lower(), order.account)
    if (transfer.amount, transfer.currency, transfer.destination) != ordered:
        return Refused(OTHER_ORDER)
    return model.HandedOn(transfer.id, transfer.amount, order.currency)


def owes_fee(refund: Refund) -> bool:
    """Whether our fee's part goes back by an order of its own: not for money that did not arrive."""
    return parameters.APART in refund.carried and refund.status not in NOT_ARRIVED


def fee_left(fee: ApplicationFee | None) -> int:
    return fee.amount - fee.amount_refunded if fee else 0


def is_proportion(order: RefundOrder, known: Known) -> bool:
    """Whether what Stripe gives back of the fee by itself is to the cent what is ordered: the refund's part of it, if
    that is a whole number and everything before went the same way. How Stripe rounds is not written anywhere."""
    fee, attempt = known.fee, known.attempt
    if fee is None or attempt is None:
        return False
    so_far = fee.amount_refunded * attempt.amount == fee.amount * attempt.amount_refunded
    return so_far and order.application_fee_minor * attempt.amount == fee.amount * order.amount_minor
