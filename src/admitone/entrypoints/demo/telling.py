"""Telling what happened in the month before: all who hear of facts hear of these, as if a worker had been there.

Promise: whoever starts a worker afterwards finds jobs that are due now, and no fact that has waited for a month. Nobody
is written to about what they bought weeks ago: those letters were sent then, as it were.
"""

from typing import Final

from admitone.entrypoints.demo.ground import Ground
from admitone.entrypoints.duties import subscriptions_of
from admitone.entrypoints.modules import MODULES
from admitone.kernel.jobs.relay import Relay, Subscriptions

LETTERS: Final = frozenset({"events.send_receipt", "events.tell_returned"})


async def tell(ground: Ground) -> None:
    """All that is not told yet."""
    ground.calendar.return_to_now()
    everybody = subscriptions_of(MODULES).by_fact
    quiet = {fact: [each for each in hearing if each.kind.name not in LETTERS] for fact, hearing in everybody.items()}
    relay = Relay(ground.database, Subscriptions(quiet))
    while (await relay.pass_on()).facts:
        pass
