"""What is told of money, for what it paid for; and what becomes of those that could not be helped."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any, Final

import msgspec

from admitone.finance.payments.facts import (
    ChargebackLost,
    ChargebackWon,
    PaymentPartlyRefunded,
    PaymentRefunded,
    PaymentSucceeded,
)
from admitone.finance.sources.api import PaymentId, Source, SourceType
from admitone.kernel.db import PlatformTx, Tx
from admitone.kernel.facts import Fact
from admitone.kernel.ids import from_text
from admitone.kernel.jobs import Delivered, Job, Kind, Priority, Subscription, enqueue, handler
from admitone.kernel.scope import Caller
from admitone.kernel.telemetry import logger
from admitone.selling.fulfilment.commands import Died, fulfil, fulfil_waiting, give_up
from admitone.selling.fulfilment.model import Wanted
from admitone.selling.fulfilment.telling import FIGURES

LATER: Final[tuple[type[Fact], ...]] = (ChargebackWon, ChargebackLost, PaymentRefunded, PaymentPartlyRefunded)
"""What ends the wait of a purchase whose money was disputed before it was fulfilled, closes one that failed, or is the
first that is told of one at all."""


class Dead(msgspec.Struct, frozen=True, rename="camel"):
    """A fact of a payment that nobody could act on."""

    payment_id: PaymentId
    source_type: SourceType
    source_id: str
    error: str = ""
    attempts: int = 1


@handler("fulfilment.give_up", priority=Priority.CRITICAL)
async def note_dead(tx: Tx, told: Sequence[Delivered[Dead]]) -> None:
    died = [(each.caller, each.payload) for each in told]
    await give_up(
        tx,
        [
            Died(caller, each.payment_id, Source(each.source_type, each.source_id), each.error, each.attempts)
            for caller, each in died
        ],
    )


async def mourn(tx: PlatformTx, failure: Any) -> None:
    """In the transaction that buries the job; the organisation's own writes it down."""
    dead = msgspec.json.decode(failure.job.payload, type=Dead, dec_hook=from_text)
    dead = msgspec.structs.replace(dead, error=failure.error, attempts=failure.number)
    FIGURES.failed[failure.reason] += 1
    caller = Caller(correlation_id=failure.job.correlation_id, causation_id=failure.job.event_id)
    logger().error(
        "fulfilment.failed",
        purchaseId=str(dead.payment_id),
        sourceId=dead.source_id,
        dedupeKey=failure.job.key,
        attemptNo=dead.attempts,
        reason=failure.error,
        correlationId=str(caller.correlation_id),
    )
    job = Job.of(note_dead, dead, caller, key=f"{note_dead.name}:{failure.job.id}")
    await enqueue(tx, [replace(job, organization_id=failure.job.organization_id)])


def _hears(fact: type[Fact], act: Callable[[Tx, Sequence[Wanted]], Awaitable[None]]) -> Subscription:
    async def hear(tx: Tx, told: Sequence[Delivered[Any]]) -> None:
        await act(tx, [Wanted(each.caller, each.payload.payment_id, each.attempt) for each in told])

    name = f"fulfilment.{fact.name.replace('.', '_')}"
    return Subscription(fact, Kind(name, fact, hear, outside=False, priority=Priority.CRITICAL, mourn=mourn))


SUBSCRIPTIONS: Final = (_hears(PaymentSucceeded, fulfil), *(_hears(fact, fulfil_waiting) for fact in LATER))
JOBS: Final = (*(each.kind for each in SUBSCRIPTIONS), note_dead)
