"""A payment is due to its owner.

Promise: what becomes due is posted, and the obligation written, in one transaction, once for a payment (U-15). It may
be paid a day later, and as many days later as the schedule of its property says at that moment. What is disputed by
then is owed and frozen.
"""

from collections.abc import Mapping, Sequence

from admitone.finance.payments import api as payments
from admitone.finance.payments.api import Due, Fallen, Status
from admitone.finance.payouts.errors import OwedOtherwise
from admitone.finance.payouts.model import (
    Obligation,
    ObligationId,
    ObligationState,
    Owed,
    Owing,
    Reason,
)
from admitone.finance.payouts.policy import Schedules, eligible_at
from admitone.finance.payouts.store import obligations as store
from admitone.finance.payouts.store import owners as owner_store
from admitone.finance.payouts.store.obligations import Freeze
from admitone.finance.sources.api import PaymentId
from admitone.kernel.commands import command
from admitone.kernel.db import Tx
from admitone.kernel.errors import Refusal


@command()
async def owe(tx: Tx, owings: Sequence[Owing]) -> list[Owed | Refusal]:
    """What is held of each payment is its owner's from now on."""
    fallen = await payments.fall_due(tx, [Due(each.caller, each.payment, each.amount_minor) for each in owings])
    due = {each.payment.id: each for each in fallen if isinstance(each, Fallen)}
    owners = {each.payment.payee for each in due.values()}
    await owner_store.lock_owners(tx, owners)
    known = await store.find_by_payment(tx, due)
    schedules = Schedules(await owner_store.find_schedules(tx, owners))
    frozen = await _frozen(tx, due)
    made: dict[PaymentId, Obligation] = {}
    outcomes: list[Owed | Refusal] = []
    for each, outcome in zip(owings, fallen, strict=True):
        if isinstance(outcome, Refusal):
            outcomes.append(outcome)
            continue
        wanted = _obligation(each, outcome, schedules, is_frozen=bool(frozen.get(each.payment)))
        there = known.get(each.payment) or made.get(each.payment)
        if outcome.new and there is None and outcome.amount_minor:
            made[each.payment] = wanted
        outcomes.append(_owed(wanted, there, outcome))
    await store.insert_obligations(tx, [*made.values()])
    return outcomes


async def _frozen(tx: Tx, due: Mapping[PaymentId, Fallen]) -> Mapping[PaymentId, set[Reason]]:
    """Also of what is disputed, and of which nobody has told us yet."""
    disputed = {own for own, each in due.items() if each.new and each.payment.status is Status.DISPUTED}
    await store.put_freezes(tx, [Freeze(own, Reason.DISPUTE, due[own].payment.settlement) for own in disputed])
    return await store.find_standing(tx, due)


def _obligation(owing: Owing, fallen: Fallen, schedules: Schedules, *, is_frozen: bool) -> Obligation:
    payment = fallen.payment
    days = schedules.of(payment.payee, owing.property_key).hold_days if owing.hold_days is None else owing.hold_days
    return Obligation(
        id=ObligationId.new(),
        payment=payment.id,
        owner=payment.payee,
        city_code=payment.city_code,
        property_key=owing.property_key,
        livemode=payment.livemode,
        currency=payment.currency,
        due_minor=fallen.amount_minor,
        amount_minor=fallen.amount_minor,
        checked_out_at=owing.checked_out_at,
        hold_days=days,
        eligible_at=eligible_at(owing.checked_out_at, days),
        state=ObligationState.FROZEN if is_frozen else ObligationState.DUE,
    )


def _owed(wanted: Obligation, there: Obligation | None, fallen: Fallen) -> Owed | Refusal:
    """What is said again is as it was: the hold that the schedule says by now is not asked."""
    if there is None:
        own = wanted.id if fallen.new and fallen.amount_minor else None
        return Owed(wanted.payment, own, wanted.eligible_at, fallen.new)
    if (there.checked_out_at, there.property_key) != (wanted.checked_out_at, wanted.property_key):
        return OwedOtherwise()
    return Owed(there.payment, there.id, there.eligible_at, new=False)
