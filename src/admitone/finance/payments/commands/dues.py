"""What the platform holds for somebody becomes due to them.

Promise: all of what is held of a payment becomes due at once, to its payee, to the authority whose tax was withheld and
to the platform as its commission, so nothing is stranded (U-04, U-07, U-08); it happens once, and whoever says it again
is told what happened then. What goes back afterwards goes back from what is owed.
"""

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from admitone.finance.ledger import api as ledger
from admitone.finance.ledger.api import Account
from admitone.finance.payments.commands.recording import History, read_histories, write_histories
from admitone.finance.payments.errors import NotHeld, NotWhatIsHeld, PaymentNotFound
from admitone.finance.payments.model import DUE, PAID, TAX_WITHHELD, Payment, RecordedFact, Status
from admitone.finance.payments.store import payments as store
from admitone.finance.sources.api import Flow, PaymentId
from admitone.kernel.commands import command
from admitone.kernel.db import Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.money import Money
from admitone.kernel.scope import Caller

MAY_BE_DUE: Final = PAID | {Status.DISPUTED}
"""What is disputed is owed too, until it is lost: whoever pays it out waits."""


class Due(msgspec.Struct, frozen=True):
    """What is held of a payment is its payee's now: so much, by whoever sold it."""

    caller: Caller
    payment: PaymentId
    amount_minor: int


class Fallen(msgspec.Struct, frozen=True):
    """What became due."""

    payment: Payment
    amount_minor: int
    commission_minor: int
    new: bool
    """Not of what had become due before."""


class _Held(msgspec.Struct, frozen=True):
    """What the books hold of a payment."""

    deposit: int
    commission: int

    def tax_of(self, payment: Payment) -> int:
        """In proportion to what is left of the price."""
        whole = payment.price.withheld_taxes
        return Money(whole, payment.currency).part(self.deposit + self.commission, payment.amount_minor).minor


@command()
async def fall_due(tx: Tx, dues: Sequence[Due]) -> list[Fallen | Refusal]:
    """Post what is due of each, unless it is not what is held; in the caller's transaction."""
    histories = await read_histories(tx, dues)
    held = await _held(tx, histories)
    outcomes: list[Fallen | Refusal] = []
    for each in dues:
        history = histories.get(each.payment)
        outcomes.append(_fallen(tx, each, history, held[each.payment]) if history else PaymentNotFound())
    fresh = {each.payment.id for each in outcomes if isinstance(each, Fallen) and each.new}
    await write_histories(tx, [histories[own] for own in fresh])
    await store.become_due(tx, fresh)
    return outcomes


def _fallen(tx: Tx, due: Due, history: History, held: _Held) -> Fallen | Refusal:
    payment = history.payment
    known = next((fact for fact in history.after if fact.kind == DUE), None)
    if known is not None:
        if known.amount_minor != due.amount_minor:
            return NotWhatIsHeld(due_minor=known.amount_minor, currency=payment.currency)
        return Fallen(payment, known.amount_minor, known.fee_minor, new=False)
    if payment.flow is not Flow.STAY or not payment.applied or payment.status not in MAY_BE_DUE:
        return NotHeld()
    tax = held.tax_of(payment)
    if due.amount_minor != held.deposit - tax:
        return NotWhatIsHeld(due_minor=max(held.deposit - tax, 0), currency=payment.currency)
    history.caller = due.caller
    if tax:
        history.learn(RecordedFact(TAX_WITHHELD, "tax_withheld", tx.now, "", tax, payment.currency))
    history.learn(RecordedFact(DUE, "due", tx.now, "", due.amount_minor, payment.currency, fee_minor=held.commission))
    owed = msgspec.structs.replace(payment, flow=Flow.STAY_LEFT)
    return Fallen(owed, due.amount_minor, held.commission, new=True)


async def _held(tx: Tx, histories: Mapping[PaymentId, History]) -> dict[PaymentId, _Held]:
    stands = await ledger.accounts_of(tx, sorted(histories))
    held = {}
    for own, history in histories.items():
        on = stands.get((own, history.payment.currency), {})
        held[own] = _Held(on.get(Account.DEP, 0), on.get(Account.COMH, 0))
    return held
