"""A run: compare, ask about what we do not have, book what only the provider can know, write down what still differs,
close what does not, and tell.

Promise: everything but the writing is reading, so a run that is cut off has done nothing that the next one would not.
What a provider moved for a payment that we know, and we do not have, is asked for first: only what is still missing
after its answer is an issue (U-31). What only a webhook says to be paid is not asked for, and waits for it (U-51). What
it moved of the platform's own balance is booked by its word. Somebody is woken for as long as anything differs, and no
longer.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any, Final, TypeVar

from admitone.finance.gateways.api import MovementKind
from admitone.finance.ledger import api as ledger
from admitone.finance.payments import api as payments
from admitone.finance.reconciliation import commands
from admitone.finance.reconciliation.alerting import Woken
from admitone.finance.reconciliation.clearing import list_stayed
from admitone.finance.reconciliation.comparing.comparing import Comparison, compare
from admitone.finance.reconciliation.comparing.likeness import COMES_IN, minor_of
from admitone.finance.reconciliation.comparing.streams import Look
from admitone.finance.reconciliation.comparing.sums import Object
from admitone.finance.reconciliation.differences import Difference, DifferenceClass, differences_of
from admitone.finance.reconciliation.model import (
    Beginning,
    Begun,
    Booking,
    Both,
    Counted,
    Finishing,
    Found,
    Noted,
    Run,
    Settling,
)
from admitone.finance.reconciliation.policy import is_of, is_own, may_ask
from admitone.finance.reconciliation.store.runs import find_run
from admitone.finance.sources.api import PaymentId
from admitone.kernel.commands import Command
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import OrganizationId
from admitone.kernel.jobs import Desk
from admitone.kernel.scope import Scope
from admitone.kernel.telemetry import logger

AT_ONCE: Final = 16
"""How many providers' answers a run waits for at once."""
MOST_ASKED: Final = 1_000
"""Payments that one run asks for; the rest are issues until the next one."""
CHUNK: Final = 200
Each = TypeVar("Each")


class Reconciler:
    """Reconciles on behalf of a job or of an operator."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._clerk = payments.Clerk.at(desk)

    async def _read(self, query: Any, *args: Any, scope: Scope) -> Any:
        return await self._desk.database.read(scope, query, *args)

    async def _submit(self, command: Command[Any, Any, Any], each: Any, *, scope: Scope) -> Any:
        return (await self._desk.batcher.submit(command, scope, each)).outcome

    async def reconcile(
        self, organization: OrganizationId, wanted: Beginning, tell: Callable[[int], None] | None = None
    ) -> Run:
        """What it came to."""
        scope = Scope(organization, "reconcile")
        begun: Begun = await self._submit(commands.begin, wanted, scope=scope)
        if not begun.is_over:
            look = Look(organization, wanted.caller, partial(self._read, scope=scope))
            await self._run(replace(look, tell=tell) if tell else look, begun)
        made: Run = await self._read(find_run, wanted.run, scope=scope)
        return made

    async def _run(self, look: Look, begun: Begun) -> None:
        comparison = await compare(look, begun.since)
        counts = _counts(comparison)
        if comparison.untold is None:
            asked, booked = await self._ask(look, comparison), await self._book(look, comparison)
            differences = [*differences_of(comparison.differing), *await list_stayed(look, comparison.sums.began)]
            noted = await self._note(look, begun, comparison, differences)
            await self._settle(look, begun, comparison)
            counts |= Counter(each.difference.value for each in differences)
            counts |= {Counted.ASKED: asked, Counted.BOOKED: booked}
            counts |= {Counted.ROUNDED: noted.rounded, Counted.ACCEPTED: noted.accepted}
            await self._finish(look, begun, comparison, counts)
            await Woken(look.organization, look.caller, self._read, self._submit).tell(noted)
        else:
            await self._finish(look, begun, comparison, counts)

    # -- What we do not have

    async def _ask(self, look: Look, comparison: Comparison) -> int:
        """Ask for the payments that are missing something here, and look again at what they have then."""
        missing = [
            each
            for each in differences_of(comparison.differing)
            if each.difference is DifferenceClass.MISSING_HERE and each.payment
        ]
        wanted = sorted({each.payment for each in missing if each.payment})[:MOST_ASKED]
        known = [
            own
            for chunk in _chunks(wanted)
            for own, payment in (await look.read(payments.find_payments, chunk)).items()
            if may_ask(payment)
        ]
        places = asyncio.Semaphore(AT_ONCE)

        async def ask(payment: PaymentId) -> None:
            async with places:
                try:
                    await self._clerk.ask(look.organization, payment, look.caller)
                except Refusal as refusal:
                    logger().warning("reconciliation.not_asked", paymentId=str(payment), reason=refusal.code)

        await asyncio.gather(*(ask(each) for each in known))
        for chunk in _chunks(known):
            transfers = await look.read(ledger.list_transfers_of, chunk)
            of_payment = {own: [each for each in transfers if each.payment_id == own] for own in chunk}
            for each in missing:
                if each.payment in of_payment:
                    _look_again(comparison, each, of_payment[each.payment])
        return len(known)

    async def _book(self, look: Look, comparison: Comparison) -> int:
        """In the platform's own books, what the provider paid to its bank or took for itself."""
        own = [
            each
            for each in differences_of(comparison.differing)
            if is_own(each, look.organization, comparison.differing[_object_of(each)].movements)
        ]
        scope, booked = Scope(look.organization, "book what only the provider can know"), 0
        for chunk in _chunks(own):
            booked += await self._submit(commands.book, Booking(look.caller, chunk), scope=scope)
        for each in own:
            about = _object_of(each)
            del comparison.differing[about]
            comparison.sums.moved[about.currency][1] += each.there_minor * (1 if about.kind in COMES_IN else -1)
        return booked

    # -- What is written down

    async def _note(self, look: Look, begun: Begun, comparison: Comparison, differences: Sequence[Difference]) -> Noted:
        found = Found(look.caller, begun.run, comparison.sums.began)
        parts = [
            *(Found(found.caller, found.run, found.began, differences=chunk) for chunk in _chunks(differences)),
            *(
                Found(found.caller, found.run, found.began, timing=chunk)
                for chunk in _chunks([(each.kind.value, each.reference, each.currency) for each in comparison.timing])
            ),
        ]
        scope, noted = Scope(look.organization, "note what differs"), [Noted()]
        noted += [await self._submit(commands.note, part, scope=scope) for part in parts]
        return Noted(
            sum(each.rounded for each in noted),
            sum(each.accepted for each in noted),
            sum(each.above for each in noted),
            next((each.first_above for each in noted if each.first_above), ""),
        )

    async def _settle(self, look: Look, begun: Begun, comparison: Comparison) -> None:
        """What was not found any more is closed; unless not everything was looked at."""
        if comparison.left_out:
            return
        settling = Settling(look.caller, begun.run, begun.since, comparison.sums.began, CHUNK)
        while await self._submit(commands.settle, settling, scope=Scope(look.organization, "close what is settled")):
            continue

    async def _finish(self, look: Look, begun: Begun, comparison: Comparison, counts: dict[str, int]) -> None:
        sums = {currency: Both(here, there) for currency, (there, here) in sorted(comparison.sums.moved.items())}
        until: datetime = comparison.sums.began
        finishing = Finishing(look.caller, begun.run, begun.since, until, counts, sums, comparison.untold)
        await self._submit(commands.finish, finishing, scope=Scope(look.organization, "finish a reconciliation"))


def _look_again(comparison: Comparison, missing: Difference, transfers: Sequence[ledger.Transfer]) -> None:
    """What is here now of what was missing; what is the same now is no difference any more."""
    about = _object_of(missing)
    seen = comparison.differing[about]
    seen.here = sum(minor_of(each, about.kind) for each in transfers if is_of(each, missing))
    if not seen.differs:
        del comparison.differing[about]


def _object_of(found: Difference) -> Object:
    return Object(MovementKind(found.kind), found.reference, found.currency)


def _counts(comparison: Comparison) -> dict[str, int]:
    sums = comparison.sums
    return {
        Counted.MOVEMENTS: sums.movements,
        Counted.TRANSFERS: sums.transfers,
        Counted.MATCHED: comparison.matched,
        Counted.TIMING: len(comparison.timing),
        Counted.NOT_COMPARED: comparison.not_compared,
        Counted.MORE: comparison.left_out,
        **dict.fromkeys(DifferenceClass, 0),
    }


def _chunks(many: Sequence[Each]) -> Iterator[tuple[Each, ...]]:
    return (tuple(many[first : first + CHUNK]) for first in range(0, len(many), CHUNK))
