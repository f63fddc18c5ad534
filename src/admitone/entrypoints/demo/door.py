"""The doors: to an evening that is over most came in its first hour, and some showed their ticket twice; to the
exhibition that is on people come all day.

Promise: each shows the code that their wallet showed then, and the door decides as every door does. Whoever was let in
before is not asked again when the demonstration is laid out again.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from admitone.entitlements import api as entitlements
from admitone.entrypoints.demo.ground import Ground
from admitone.entrypoints.demo.houses import House, done
from admitone.finance.sources.api import SourceType
from admitone.kernel.ids import IdentityId
from admitone.kernel.scope import Caller

QUARTER: Final = timedelta(minutes=15)
GATES: Final = ("Porta principal", "Porta do pátio")
TWICE: Final = 11
"""Every so many-th is shown again."""
SPARE: Final = timedelta(hours=1)


@dataclass(frozen=True)
class Stream:
    """How people come."""

    counts: tuple[int, ...]
    """How many, from quarter to quarter of an hour; no fewer than come."""
    absent: int
    """Of those who bought first so many have forgotten it, or take their time."""


EVENING: Final = Stream((2, 5, 9, 16, 21, 24, 18, 12, 8, 5, 3, 2), absent=14)
"""From half an hour before it begins."""
ALL_DAY: Final = Stream((1, 2, 4, 3, 2, 5, 6, 4, 3, 5, 6, 5, 4, 3, 3, 2), absent=14)


async def let_in(
    ground: Ground, house: House, orders: list[str], stream: Stream, quarter: datetime, steward: IdentityId
) -> None:
    """Those who come, with what they bought by these orders, from that quarter of an hour on."""
    scope = house.scope
    rights = await ground.database.read(scope, entitlements.list_of_sources, SourceType.TICKET_ORDER, orders)
    coming = sorted(rights, key=lambda each: str(each.id))[stream.absent :]
    waiting = [each for each in coming if not each.entered]
    for count in stream.counts:
        comers, waiting = waiting[:count], waiting[count:]
        ground.calendar.turn_to(quarter + timedelta(minutes=4))
        await _scan(ground, house, comers, Caller(steward))
        quarter += QUARTER


async def _scan(ground: Ground, house: House, comers: list[entitlements.Entitlement], steward: Caller) -> None:
    run, scope = ground.database.run, house.scope
    renewals = [entitlements.Renewal(each.id, SPARE, each.owner) for each in comers]
    tokens = [done(each) for each in await run(scope, lambda tx: entitlements.renew(tx, renewals))]
    shown = [*tokens, *tokens[TWICE - 1 :: TWICE]]
    scans = [
        entitlements.Scan(
            steward,
            entitlements.Place(comers[0].event_id or "", None, GATES[place % 2], f"demo-{place % 2 + 1}"),
            digest=each.digest,
        )
        for place, each in enumerate(shown)
    ]
    await run(scope, lambda tx: entitlements.consume(tx, scans))
