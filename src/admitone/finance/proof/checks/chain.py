"""The chain is intact: every seal is recomputed from the transfers, and what is under none is about to be."""

from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID

from admitone.finance.ledger import api as ledger
from admitone.finance.proof.looking import Look
from admitone.finance.proof.model import Check, Difference, Differences, Figures, Finding, Word
from admitone.kernel.db import Tx

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
YOUNG: Final = timedelta(minutes=10)
"""What is posted is sealed within seconds; whoever waits for longer waits for a worker that does not come."""


async def check_chain(look: Look) -> Finding:
    differences = Differences()
    last, transfers = 0, 0
    while (page := await look.read(ledger.verify_chain, last)).seals:
        differences.add(_named(fault) for fault in page.faults)
        last, transfers = page.last, transfers + page.transfers
        look.tell(Check.CHAIN, page.transfers)
    unsealed, oldest = await _tail(look, differences)
    now: datetime = await look.read(_now)
    age = now - oldest if oldest else timedelta(0)
    if age > YOUNG:
        differences.add([Difference(Word.OLD_TAIL, f"since {oldest:%F %T} UTC", unsealed, 0)])
    counts = {
        "seals": last,
        "transfers": transfers,
        "unsealed": unsealed,
        "oldestUnsealedSeconds": max(0, int(age.total_seconds())),
    }
    return Finding.of(Check.CHAIN, differences, Figures(counts, head=page.head.hex()))


async def _tail(look: Look, differences: Differences) -> tuple[int, datetime | None]:
    """How many wait to be sealed, and since when the oldest does."""
    after, unsealed, oldest = UUID(int=0), 0, None
    while (page := await look.read(ledger.verify_tail, after)).looked_at:
        differences.add(_named(fault) for fault in page.faults)
        if page.unsealed and oldest is None:
            oldest = made_at(page.unsealed[0].uuid)
        after, unsealed = page.last, unsealed + len(page.unsealed)
    return unsealed, oldest


def _named(fault: ledger.Fault) -> Difference:
    under = f"seal {fault.seal}" if fault.seal is not None else ""
    which = str(fault.transfer) if fault.transfer else ""
    return Difference(Word(fault.kind.value), f"{under} {which}".strip())


def made_at(own: UUID) -> datetime:
    """By the milliseconds that a UUID of version 7 begins with."""
    return EPOCH + (own.int >> 80) * timedelta(milliseconds=1)


async def _now(tx: Tx) -> datetime:
    return tx.now
