"""Paying: what is asked of the provider, and what follows from what it says.

Promise: a payout is marked before its provider is asked, and weighed once more then: what was disputed meanwhile leaves
it, and it is never more than the ledger owes its owner at that moment. What the provider took is in the ledger in the
transaction that writes its answer down; what it says twice, or in another order, counts once. What it refused or sent
back is owed again, and paid with the next batch (MOR-033, MOR-035).
"""

from collections.abc import Collection, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from admitone.finance.gateways.api import ObjectType, PayoutStatus, Provider, Ref, Refused
from admitone.finance.gateways.api import Payout as TakenPayout
from admitone.finance.ledger import api as ledger
from admitone.finance.ledger.api import Event, Posting
from admitone.finance.payments import api as payments
from admitone.finance.payments.api import Belonging, Status
from admitone.finance.payouts import telling
from admitone.finance.payouts.commands.freezing import Heard, look_again, return_kept
from admitone.finance.payouts.errors import PayoutMismatch, PayoutNotFound
from admitone.finance.payouts.facts import ObligationPaid, PayoutUnknown
from admitone.finance.payouts.model import (
    Answer,
    O,
    Obligation,
    P,
    Payout,
    PayoutId,
    Report,
    Reported,
    code_of,
    in_order,
)
from admitone.finance.payouts.policy import kept_of, weighed
from admitone.finance.payouts.positions import find_positions
from admitone.finance.payouts.store import obligations as obligation_store
from admitone.finance.payouts.store import owners as owner_store
from admitone.finance.payouts.store import payouts as store
from admitone.finance.payouts.store.obligations import Move
from admitone.finance.payouts.sweeping import recovery, returns, sweep
from admitone.finance.sources.api import Flow
from admitone.kernel.commands import command
from admitone.kernel.db import Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import PLATFORM_ORGANIZATION
from admitone.kernel.scope import Caller
from admitone.kernel.telemetry import logger

# -- Before the provider is asked


class Asking(msgspec.Struct, frozen=True):
    """A payout that the provider is to be asked for."""

    payout: Payout
    again: bool
    """Somebody has asked before, and does not know what became of it: look first."""


async def begin(tx: Tx, ids: Collection[PayoutId], caller: Caller) -> list[Asking]:
    """Those of these that are to be asked for, marked so; the rest is withdrawn, or ended before."""
    found = await _hold(tx, ids)
    fresh = {own: each for own, each in found.items() if each.state is P.PAYOUT_PENDING}
    await _take_out_disputed(tx, fresh, caller)
    found |= await store.find_payouts(tx, fresh)
    asked = await _weigh(tx, [each for own, each in found.items() if own in fresh and each.state is P.PAYOUT_PENDING])
    again = [Asking(each, again=True) for each in found.values() if each.state is P.PROCESSING]
    return [*(Asking(each, again=False) for each in asked), *again]


async def _hold(tx: Tx, ids: Collection[PayoutId]) -> dict[PayoutId, Payout]:
    """Payouts whose owners are held until the end, as they are then."""
    owners = {each.owner for each in (await store.find_payouts(tx, ids)).values()}
    await owner_store.lock_owners(tx, owners)
    return await store.find_payouts(tx, ids)


async def _take_out_disputed(tx: Tx, fresh: Collection[PayoutId], caller: Caller) -> None:
    """Also what is disputed since a moment ago, and of which nobody has told us yet."""
    items = [each for some in (await obligation_store.find_by_payout(tx, fresh)).values() for each in some]
    statuses = await payments.find_statuses(tx, [each.payment for each in items])
    disputed = [own for own, status in statuses.items() if status is Status.DISPUTED]
    if disputed:
        await look_again(tx, [Heard(own, caller) for own in disputed])


async def _weigh(tx: Tx, payouts: Sequence[Payout]) -> list[Payout]:
    """What each comes to now: those of which something is left are being asked for from now on."""
    positions = await find_positions(tx, {each.owner for each in payouts})
    moves = []
    for before in sorted(payouts, key=lambda each: (each.owner, each.period, each.id)):
        own = before.owner, before.currency
        # As if it were not made yet: what it is for is open, and nothing is committed to it.
        unmade = positions.of(*own).after(-before.gross_minor, -before.amount_minor)
        amount, recovered = weighed(before.gross_minor, unmade)
        if amount:
            after = replace(before, recovered_minor=recovered, state=P.PROCESSING, asked_at=tx.now)
        else:
            after = replace(before, gross_minor=0, recovered_minor=0, state=P.FROZEN)
        positions.put(*own, unmade.after(after.gross_minor, amount))
        moves.append(store.Move(before, after))
    await store.move_payouts(tx, moves)
    gone = [move for move in moves if move.after.state is P.FROZEN]
    await _give_back(tx, [move.before.id for move in gone])
    for move in gone:
        tx.publish(Caller(correlation_id=move.before.correlation_id), telling.withdrawn(move.before))
    return [move.after for move in moves if move.after.state is P.PROCESSING]


async def _give_back(tx: Tx, ids: Collection[PayoutId]) -> list[Obligation]:
    """What these were for is owed as before; what is frozen by now stays behind."""
    items = [each for some in (await obligation_store.find_by_payout(tx, ids)).values() for each in some]
    await obligation_store.move_obligations(tx, [Move.of(each, O.DUE) for each in items])
    return items


# -- What the provider says


@command()
async def take_answers(tx: Tx, answers: Sequence[Answer]) -> list[Payout | Refusal]:
    """What providers answered to our orders."""
    found = await _hold(tx, {each.payout for each in answers})
    ends = _Ends()
    outcomes: list[PayoutId | Refusal] = []
    for each in answers:
        payout = ends.after.get(each.payout) or found.get(each.payout)
        if payout is None:
            outcomes.append(PayoutNotFound())
        elif isinstance(each.said, TakenPayout) and _differs(payout, each.said):
            tx.publish(each.caller, _unknown(payout.provider, each.said, payout.id))
            outcomes.append(PayoutMismatch())
        else:
            if payout.state is P.PROCESSING:
                ends.take(payout, each)
            outcomes.append(payout.id)
    await _settle(tx, ends)
    return [(ends.after.get(each) or found[each]) if isinstance(each, PayoutId) else each for each in outcomes]


async def hear(tx: Tx, reports: Sequence[Report]) -> None:
    """What providers say of payouts by themselves: kept, and of ours, what follows from it; of a payout that we cannot
    have anything to do with, somebody is told (MOR-035). What goes from the platform's balance to its own bank is its
    own: reconciliation books it by the provider's journal."""
    by_provider: dict[Provider, dict[str, Report]] = {}
    for each in sorted(reports, key=in_order):
        by_provider.setdefault(each.provider, {})[each.reference] = each
    for provider, said in sorted(by_provider.items()):
        await _hold(tx, {each.id for each in (await store.find_by_reference(tx, provider, said)).values()})
    fresh = await store.put_reported(tx, reports)
    known = await payments.find_accounts(tx)
    for provider, said in sorted(by_provider.items()):
        ours = await store.find_by_reference(tx, provider, said)
        await _settle_reported(tx, ours, said)
        is_platform = tx.scope.organization == PLATFORM_ORGANIZATION
        has_account = any(own[0] is provider for own in known)
        for reference, each in said.items():
            is_its_own = each.to_bank if is_platform else has_account
            if reference not in ours and not is_its_own and (provider, reference) in fresh:
                tx.publish(each.caller, _unknown(provider, each))


async def _settle_reported(tx: Tx, ours: Mapping[str, Payout], said: Mapping[str, Report]) -> None:
    """Of ours, by the provider's ids: what is kept of what it told counts, which may be more than it says now."""
    found = await _hold(tx, {each.id for each in ours.values()})
    ends = _Ends()
    for provider in {each.provider for each in found.values()}:
        told = await store.find_reported(tx, provider, ours)
        for reference, report in told.items():
            payout, caller = found[ours[reference].id], said[reference].caller
            if _differs(payout, report) or _contradicts(payout, report):
                tx.publish(caller, _unknown(provider, report, payout.id))
            else:
                ends.end(payout, report, caller)
    await _settle(tx, ends)


def _differs(payout: Payout, said: TakenPayout | Reported) -> bool:
    return (payout.amount_minor, payout.currency) != (said.amount_minor, said.currency)


def _contradicts(payout: Payout, said: Reported) -> bool:
    """Whether it had ended otherwise."""
    ended = {P.COMPLETED: PayoutStatus.PAID, P.FAILED: PayoutStatus.FAILED}.get(payout.state)
    return ended is not None and said.status not in (ended, PayoutStatus.PENDING)


def _unknown(provider: Provider, said: TakenPayout | Reported | Report, ours: PayoutId | None = None) -> PayoutUnknown:
    return PayoutUnknown(
        provider=provider,
        reference=said.id if isinstance(said, TakenPayout) else said.reference,
        status=said.status,
        amount_minor=said.amount_minor,
        currency=said.currency,
        at=said.at,
        payout_id=ours,
    )


class _Ends:
    """What some answers and reports make of payouts, decided one after the other."""

    def __init__(self) -> None:
        self.before: dict[PayoutId, Payout] = {}
        self.after: dict[PayoutId, Payout] = {}
        self.callers: dict[PayoutId, Caller] = {}
        self.taken: list[Payout] = []
        """Those that the ledger does not know yet."""

    def take(self, payout: Payout, answer: Answer) -> None:
        """What was being asked for was answered."""
        self._remember(payout, answer.caller)
        if isinstance(answer.said, Refused):
            self.after[payout.id] = replace(payout, state=P.FAILED, code=code_of(answer.said.code, "refused"))
            return
        taken = replace(payout, state=P.TRANSFERRED, reference=answer.said.id)
        self.taken.append(taken)
        self.after[payout.id] = taken
        self.end(taken, answer.said, answer.caller)

    def end(self, payout: Payout, said: TakenPayout | Reported, caller: Caller) -> bool:
        """Whether it arrived, or came back, by this."""
        payout = self.after.get(payout.id, payout)
        if payout.state is not P.TRANSFERRED or said.status is PayoutStatus.PENDING:
            return False
        self._remember(payout, caller)
        is_paid = said.status is PayoutStatus.PAID
        code = "" if is_paid else code_of(said.code, "returned")
        self.after[payout.id] = replace(payout, state=P.COMPLETED if is_paid else P.FAILED, code=code)
        return True

    def _remember(self, payout: Payout, caller: Caller) -> None:
        self.before.setdefault(payout.id, payout)
        self.callers.setdefault(payout.id, caller)


async def _settle(tx: Tx, ends: _Ends) -> None:
    """Post, move, tell."""
    if not ends.after:
        return
    await _know(tx, ends)
    completed = [each for each in ends.after.values() if each.state is P.COMPLETED]
    failed = [each for each in ends.after.values() if each.state is P.FAILED]
    await _post(tx, ends, completed, failed)
    for step in _steps(ends):
        await store.move_payouts(tx, step)
    await _pay_off(tx, completed, ends)
    items = await _give_back(tx, [each.id for each in failed])
    for each in ends.after.values():
        caller = ends.callers[each.id]
        if each in completed:
            tx.publish(caller, telling.completed(each))
        elif each in failed:
            tx.publish(caller, telling.failed(each))
        else:
            tx.publish(caller, telling.transferred(each))
    if items:  # What was disputed or refunded while it was being paid.
        callers = {own: ends.callers[own] for own in ends.after}
        await look_again(tx, [Heard(each.payment, callers[each.payout]) for each in items if each.payout])


async def _know(tx: Tx, ends: _Ends) -> None:
    """Whose they are, for whatever the provider tells of them; and what it has told already."""
    taken = {each.reference: each for each in ends.taken if each.reference is not None}
    refs = [Belonging(each.provider, Ref(ObjectType.PAYOUT, own), None) for own, each in taken.items()]
    for foreign in await payments.put_refs(tx, refs):
        logger().error("payout.foreign_reference", payoutId=str(taken[foreign.id].id))
    await store.claim_reported(tx, [_noted(own, each) for own, each in taken.items()])
    for provider in {each.provider for each in taken.values()}:
        for reference, told in (await store.find_reported(tx, provider, taken)).items():
            ends.end(taken[reference], told, ends.callers[taken[reference].id])


def _noted(reference: str, payout: Payout) -> Reported:
    return Reported(
        payout.provider,
        reference,
        PayoutStatus.PENDING,
        payout.amount_minor,
        payout.currency,
        "",
        payout.created_at,
        payout.id,
    )


def _steps(ends: _Ends) -> list[list[store.Move]]:
    """What was taken and has ended at once goes through what lies between."""
    taken = {each.id: each for each in ends.taken}
    first = [store.Move(ends.before[own], each) for own, each in taken.items()]
    rest = [
        store.Move(taken.get(own) or ends.before[own], each)
        for own, each in ends.after.items()
        if each is not taken.get(own)
    ]
    return [first, rest]


async def _post(tx: Tx, ends: _Ends, completed: Sequence[Payout], failed: Sequence[Payout]) -> None:
    postings = [_posting(each, Event.PAYOUT_INITIATED, ends) for each in ends.taken]
    for each in completed:
        postings += [_posting(each, Event.PAYOUT_PAID, ends), *recovery(each, ends.callers[each.id])]
    postings += [_posting(each, Event.PAYOUT_FAILED, ends) for each in failed if each.reference]
    await ledger.post(tx, postings)


def _posting(payout: Payout, event: Event, ends: _Ends) -> Posting:
    return Posting(
        caller=ends.callers[payout.id],
        event=event,
        flow=Flow.STAY,
        currency=payout.currency,
        amounts={"paid": payout.amount_minor},
        cause=str(payout.id),
        payee=payout.owner,
        city_code=payout.city_code,
        reference=payout.reference,
        metadata={"owner": str(payout.owner), "period": payout.period.isoformat()},
    )


async def _pay_off(tx: Tx, completed: Sequence[Payout], ends: _Ends) -> None:
    """What they were for is paid; what is left of its payments is the platform's own."""
    by_payout = await obligation_store.find_by_payout(tx, [each.id for each in completed])
    items = [each for some in by_payout.values() for each in some]
    kept = {own: minor for payout in completed for own, minor in kept_of(payout, by_payout[payout.id]).items()}
    moves = [Move.of(each, O.PAID, payout=each.payout, kept_minor=kept[each]) for each in items]
    await obligation_store.move_obligations(tx, moves)
    returned = [one for payout in completed for one in returns(payout, by_payout[payout.id], ends.callers[payout.id])]
    await ledger.post(tx, returned)
    for own, some in by_payout.items():
        await sweep(tx, {each: each.amount_minor for each in some}, ends.callers[own], f"paid:{own}")
        for each in some:
            tx.publish(ends.callers[own], ObligationPaid(payment_id=each.payment, payout_id=own))
    # Also what an earlier payout kept: while something of it was being paid, nothing more of it could be owed again.
    keepers = {each.payout for each, minor in kept.items() if minor}
    if recovered := {payout.owner: ends.callers[payout.id] for payout in completed if payout.id in keepers}:
        await return_kept(tx, recovered)
