"""Batches: what may be paid becomes payouts, one for each owner, period and currency.

Promise: two who make the same batch make it once (MOR-036): owners are held one after the other, and the key of a
payout is unique. A payout is what is owed and may be paid, less what its owner owes, and never more than the ledger
owes them. What is planned is what is made: a plan is the very steps, with what they depend on.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

import msgspec

from admitone.finance.gateways.api import Ability, PlannedCall
from admitone.finance.gateways.port import GATEWAYS
from admitone.finance.ledger import api as ledger
from admitone.finance.ledger.api import Event, Posting
from admitone.finance.payments import api as payments
from admitone.finance.payouts.facts import PayoutCreated, PayoutImpossible
from admitone.finance.payouts.model import (
    Destination,
    Item,
    O,
    Obligation,
    Payout,
    PayoutId,
    PayoutState,
    PlannedPayout,
)
from admitone.finance.payouts.policy import Draft, Schedules, drafts_of, grouped
from admitone.finance.payouts.positions import find_positions
from admitone.finance.payouts.store import obligations as obligation_store
from admitone.finance.payouts.store import owners as owner_store
from admitone.finance.payouts.store import payouts as store
from admitone.finance.payouts.store.obligations import Move
from admitone.finance.sources.api import Flow
from admitone.kernel import failpoints
from admitone.kernel.db import Tx
from admitone.kernel.scope import Caller

OWNERS: Final = 500
"""In one transaction."""
OBLIGATIONS: Final = 20_000
"""Of these at once; what is more waits for the next batch."""
LONGEST_PERIOD: Final = timedelta(days=62)
"""However long ago the payout day may be that something is paid for now."""


class Drafted(msgspec.Struct, frozen=True):
    """What would be made now of some owners, and whom there is nowhere to pay."""

    payouts: tuple[PlannedPayout, ...]
    impossible: tuple[Draft, ...] = ()
    until: UUID | None = None
    """The last owner who was looked at."""


async def survey(tx: Tx, owners: Sequence[UUID], at: datetime) -> Drafted:
    """What would be paid to these at that instant. Changes nothing."""
    due, until = _whole(await obligation_store.list_due(tx, owners, at, OBLIGATIONS), owners)
    if not due:
        return Drafted((), until=until)
    paying = next(iter(await destinations(tx)), None)
    schedules = Schedules(await owner_store.find_schedules(tx, owners))
    positions = await find_positions(tx, owners)
    made = await store.find_periods(tx, owners, (at - LONGEST_PERIOD).date())
    drafts: list[Draft] = []
    for (owner, currency), some in sorted(grouped(_payable(due, paying)).items()):
        drafts += drafts_of(some, schedules, positions.of(owner, currency), made.get((owner, currency), ()), at)
    if paying is None:
        return Drafted((), tuple(drafts), until)
    return Drafted(tuple(_planned(draft, paying) for draft in drafts), until=until)


def _whole(due: Sequence[Obligation], owners: Sequence[UUID]) -> tuple[list[Obligation], UUID]:
    """What is owed to those of whom all was read, and the last of them. Of somebody who is owed more than can be read
    at once a part is paid, and the rest for the next period."""
    if len(due) < OBLIGATIONS or due[0].owner == due[-1].owner:
        return [*due], due[-1].owner if len(due) == OBLIGATIONS else owners[-1]
    whole = [each for each in due if each.owner != due[-1].owner]
    return whole, whole[-1].owner


def _payable(due: Sequence[Obligation], paying: Destination | None) -> list[Obligation]:
    """Money of the one mode is never paid with money of the other."""
    return [each for each in due if paying is None or each.livemode is paying.livemode]


async def destinations(tx: Tx) -> list[Destination]:
    """Where the organisation can be paid, the place that is preferred first."""
    known = await payments.find_accounts(tx)
    found = []
    for gateway in GATEWAYS().all():
        account = known.get((gateway.provider, gateway.livemode))
        if Ability.PAYOUTS in gateway.abilities and account is not None and account.payouts_enabled:
            found.append(Destination(gateway.provider, gateway.livemode, account.account))
    return found


def _planned(draft: Draft, paying: Destination) -> PlannedPayout:
    postings = [
        Posting(
            caller=Caller(),
            event=event,
            flow=Flow.STAY,
            currency=draft.currency,
            amounts={"paid": draft.amount_minor},
            cause="planned",
            payee=draft.owner,
        )
        for event in (Event.PAYOUT_INITIATED, Event.PAYOUT_PAID)
    ]
    call = PlannedCall(
        provider=paying.provider,
        action="pay_out",
        reference=paying.account,
        amount_minor=draft.amount_minor,
        currency=draft.currency,
    )
    return PlannedPayout(
        owner=draft.owner,
        period=draft.period,
        currency=draft.currency,
        city_code=draft.city_code,
        destination=paying,
        items=tuple(Item(each.id, each.payment, each.amount_minor) for each in draft.obligations),
        gross_minor=draft.gross_minor,
        recovered_minor=draft.recovered_minor,
        amount_minor=draft.amount_minor,
        postings=ledger.preview(postings),
        calls=(call,),
    )


async def carry_out(tx: Tx, planned: Sequence[PlannedPayout], caller: Caller) -> list[Payout]:
    """Make exactly these, of owners who are held; whatever has changed since makes it fail as a whole."""
    payouts = [_payout(tx, each, caller) for each in planned]
    await store.insert_payouts(tx, payouts)
    failpoints.reach("payouts.before_taking")
    moves = [
        Move(item.obligation, O.IN_PAYOUT, payout.id, item.amount_minor, O.DUE, item.amount_minor)
        for payout, each in zip(payouts, planned, strict=True)
        for item in each.items
    ]
    await obligation_store.move_obligations(tx, moves)
    for payout, each in zip(payouts, planned, strict=True):
        tx.publish(caller, _created(payout, len(each.items)))
    return payouts


def _payout(tx: Tx, planned: PlannedPayout, caller: Caller) -> Payout:
    return Payout(
        id=PayoutId.new(),
        owner=planned.owner,
        city_code=planned.city_code,
        period=planned.period,
        currency=planned.currency,
        provider=planned.destination.provider,
        livemode=planned.destination.livemode,
        account=planned.destination.account,
        gross_minor=planned.gross_minor,
        recovered_minor=planned.recovered_minor,
        state=PayoutState.PAYOUT_PENDING,
        created_at=tx.now,
        correlation_id=caller.correlation_id,
    )


def _created(payout: Payout, obligations: int) -> PayoutCreated:
    return PayoutCreated(
        payout_id=payout.id,
        owner_id=payout.owner,
        period=payout.period,
        amount_minor=payout.amount_minor,
        recovered_minor=payout.recovered_minor,
        currency=payout.currency,
        obligations=obligations,
    )


class Batch(msgspec.Struct, frozen=True):
    """What one transaction made."""

    payouts: tuple[Payout, ...] = ()
    next_owner: UUID | None = None
    """After whom it goes on; none: there is nobody left."""


async def make_batch(tx: Tx, caller: Caller, at: datetime, after: UUID) -> Batch:
    """The payouts of the next owners who may be paid at that instant."""
    owners = await obligation_store.list_owners_due(tx, after, at, OWNERS)
    if not owners:
        return Batch()
    await owner_store.lock_owners(tx, owners)
    drafted = await survey(tx, owners, at)
    payouts = await carry_out(tx, drafted.payouts, caller)
    for draft in drafted.impossible:
        told = PayoutImpossible(
            owner_id=draft.owner,
            period=draft.period,
            amount_minor=draft.amount_minor,
            currency=draft.currency,
            reason="NO_ACCOUNT",
        )
        tx.publish(caller, told)
    is_over = drafted.until == owners[-1] and len(owners) < OWNERS
    return Batch(tuple(payouts), None if is_over else drafted.until)
