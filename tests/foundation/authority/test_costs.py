"""What gates cost: one statement more for all who arrive together, and nothing for who needs none."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

from admitone.foundation.authority.api import TableAuthority
from admitone.foundation.authority.store.reading import FIND_SWITCHES, RESOLVE
from admitone.kernel.authority import Ask, Audience, AuthorityReader, Granted
from admitone.kernel.batch import Batcher
from admitone.kernel.db import Database, PlatformTx
from admitone.kernel.errors import Refusal
from admitone.kernel.limits import FIND_BANS
from tests.foundation.authority.shop import GATE, an_ask, an_event
from tests.people import a_person, an_organization_of

CALLERS = 64


class Counting(TableAuthority):
    """Counts what its transactions send, also after it has answered: bans are looked up in the same one."""

    def __init__(self) -> None:
        self.sent: Counter[str] = Counter()
        self.transactions = 0

    async def resolve(self, tx: PlatformTx, asks: Sequence[Ask]) -> Sequence[Granted | Refusal]:
        self.transactions += 1
        fetch = tx.fetch

        async def counted(sql: str, *values: Any) -> Any:
            self.sent[sql] += 1
            return await fetch(sql, *values)

        tx.fetch = counted  # type: ignore[method-assign]
        return await super().resolve(tx, asks)


@pytest.mark.parametrize(
    ("gated", "statements"),
    [(False, {RESOLVE: 1, FIND_BANS: 1}), (True, {RESOLVE: 1, FIND_SWITCHES: 1, FIND_BANS: 1})],
    ids=["plain", "stoppable and gated"],
)
async def test_sixty_four_who_come_together_share_one_read(
    batcher: Batcher, database: Database, gated: bool, statements: dict[str, int]
):
    counting = Counting()
    reader = AuthorityReader(batcher, counting)
    people = [await a_person(database) for _ in range(CALLERS)]
    clubs = [await an_organization_of(database, person) for person in people[:8]]
    asks = [
        an_ask(
            Audience.ORGANIZATION,
            person.access_token,
            organization=clubs[n % 8],
            permission="EVENTS_R",
            stoppable=gated,
            gate=GATE if gated else None,
            guards=(f"event:{an_event()}",) if gated else (),
        )
        for n, person in enumerate(people)
    ]
    answers = await asyncio.gather(*(reader.ask(ask) for ask in asks), return_exceptions=True)
    assert len(answers) == CALLERS
    assert counting.transactions == 1
    assert counting.sent == statements
