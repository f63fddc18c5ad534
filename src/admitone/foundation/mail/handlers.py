"""What happens to a letter after it was posted.

Promise: the mail server is called with no transaction open, and what became of the letter commits with the end of its
job. A recipient who does not exist is no failure of ours, so that is written down and wakes nobody; whatever else goes
wrong is tried again as `NOTIFICATIONS` says and ends as a dead letter. While the mail server is away letters wait,
without spending an attempt; after ten minutes of that somebody gets a ticket.
"""

from datetime import timedelta
from functools import partial
from typing import Final

import msgspec

from admitone.foundation.mail import store
from admitone.foundation.mail.model import LetterId, Opened, Template
from admitone.foundation.mail.postman import Postman
from admitone.foundation.mail.sealing import opened
from admitone.kernel.alerts import (
    ALERTS,
    Above,
    Alert,
    AlertClass,
    AlertRule,
    Resolution,
    raise_alerts,
    resolve_alerts,
)
from admitone.kernel.db import PlatformTx, Tx
from admitone.kernel.jobs import NOTIFICATIONS, Delivered, Desk, Lane, Priority, errand
from admitone.kernel.jobs.model import Finish
from admitone.kernel.jobs.schedules import Firing
from admitone.kernel.scope import PlatformScope, Role, Scope
from admitone.kernel.telemetry import logger
from admitone.kernel.words import Language

PATIENCE: Final = timedelta(minutes=10)
INTEREST: Final = timedelta(days=1)
"""A letter that is older is a dead one, of which jobs.dead tells, or nobody waits for it any more."""

NOT_SENT = AlertRule(
    "mail.not_sent",
    AlertClass.TICKET,
    Above(0, seconds=PATIENCE.total_seconds()),
    "platform operations",
    "mail-not-sent",
    "Letters (sign-in codes, invitations) have been waiting for more than ten minutes: people cannot sign in.",
)
SUBJECT: Final = "letters"
COUNTING: Final = PlatformScope("count the letters that wait", Role.RELAY)


class Posted(msgspec.Struct, frozen=True, rename="camel"):
    """All that a job knows of its letter."""

    letter_id: LetterId


@errand("mail.deliver", lane=Lane("mail", places=4), retry=NOTIFICATIONS, priority=Priority.NOTICE)
async def deliver(desk: Desk, posted: Delivered[Posted]) -> Finish | None:
    return await _deliver(desk, posted)


@errand(
    "mail.deliver_at_leisure",
    lane=Lane("mail-at-leisure", places=16, gives_way=True),
    retry=NOTIFICATIONS,
    priority=Priority.NOTICE,
)
async def deliver_at_leisure(desk: Desk, posted: Delivered[Posted]) -> Finish | None:
    """What tells of something that is done: thousands of these keep nobody from signing in, nor from paying."""
    return await _deliver(desk, posted)


async def _deliver(desk: Desk, posted: Delivered[Posted]) -> Finish | None:
    own = posted.payload.letter_id
    row = await desk.database.read(Scope(posted.organization, "deliver a letter"), store.find_waiting, own)
    if row is None:
        logger().info("mail.nothing_to_send", letterId=str(own))
        return None
    content = opened(row["sealed"], posted.organization, own)
    template, language = Template(row["template"]), Language(row["language"])
    letter = Opened(own, template, language, content.to, content.values, row["created_at"])
    fate = await desk.get(Postman).deliver(letter)
    logger().info("mail.delivered", letterId=str(own), template=template, fate=fate)
    return partial(store.close, letter=own, fate=fate)


# In a lane of its own: when all places of the other one hang, this is what notices.
@errand("mail.notice_waiting", lane=Lane("mail-watch", places=1))
async def notice_waiting(desk: Desk, firing: Delivered[Firing]) -> None:  # noqa: ARG001
    """By schedule: tells of letters that wait too long, and when that is over."""

    async def count(tx: PlatformTx) -> tuple[int, str]:
        letters, oldest_at = await store.count_waiting(tx, tx.now - INTEREST, tx.now - PATIENCE)
        return letters, f"{letters} letters wait, the oldest since {oldest_at:%Y-%m-%d %H:%M}Z" if oldest_at else ""

    letters, detail = await desk.database.read(COUNTING, count)

    async def tell(tx: Tx) -> None:
        if letters:
            await raise_alerts(tx, [Alert(NOT_SENT, SUBJECT, detail)])
        else:
            await resolve_alerts(tx, [Resolution(NOT_SENT, SUBJECT)])

    await desk.database.run(ALERTS, tell, patient=True)
