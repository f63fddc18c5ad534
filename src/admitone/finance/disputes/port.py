"""What disputes ask of whoever sold: what became of what was bought, in words that a bank reads."""

from collections.abc import Mapping, Sequence
from typing import Final, Protocol

from admitone.finance.sources.api import Source, SourceType
from admitone.kernel.db import Tx
from admitone.kernel.ports import Port


class Witness(Protocol):
    """A vertical, as a dispute sees it."""

    async def testify(self, tx: Tx, sources: Sequence[Source]) -> Sequence[Mapping[str, str]]:
        """What is known of each, in their order, by what it shows: `access_activity_log` (who came in, when),
        `service_date`, `refund_policy`… Nobody is named whom the bank need not know."""
        ...


EVIDENCE: Final = Port[Mapping[SourceType, Witness]]("finance.evidence")
"""Who knows what of which sources, as the entry point knows it; of a type that nobody names, nothing is known."""
