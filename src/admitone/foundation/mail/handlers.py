"""What happens to a letter after it was posted.

Promise: the mail server is called with no transaction open, and what became of a letter commits with the end of its
job. Letters go in groups, and each has its own end: one that fails holds up nobody. A recipient who does not exist is
no failure of ours, so that is written down and wakes nobody; whatever else goes wrong is tried again as `NOTIFICATIONS`
says and ends as a dead letter. While the mail server is away letters wait, without spending an attempt; after ten
minutes of that somebody gets a ticket.
"""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Final
from uuid import UUID

import msgspec

from admitone.foundation.mail import store
from admitone.foundation.mail.model import Fate, LetterId, Opened, Template
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
from admitone.kernel.db import PlatformTx, Record, Tx
from admitone.kernel.jobs import NOTIFICATIONS, Delivered, Desk, Lane, Priority, Round, errand
from admitone.kernel.jobs.schedules import Firing
from admitone.kernel.scope import PlatformScope, Role, Scope
from admitone.kernel.telemetry import logger
from admitone.kernel.words import Language

PATIENCE: Final = timedelta(minutes=10)
LONGEST_ROUND_SECONDS: Final = 90
"""For a group of letters: those that are begun within the time of a round, and the last of them."""
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


@errand(
    "mail.deliver",
    lane=Lane("mail", places=4),
    retry=NOTIFICATIONS,
    priority=Priority.NOTICE,
    group=8,
    seconds=LONGEST_ROUND_SECONDS,
)
async def deliver(desk: Desk, posted: Sequence[Delivered[Posted]]) -> Round:
    return await _deliver(desk, posted)


@errand(
    "mail.deliver_at_leisure",
    lane=Lane("mail-at-leisure", places=16, gives_way=True),
    retry=NOTIFICATIONS,
    priority=Priority.NOTICE,
    group=32,
    seconds=LONGEST_ROUND_SECONDS,
)
async def deliver_at_leisure(desk: Desk, posted: Sequence[Delivered[Posted]]) -> Round:
    """What tells of something that is done: thousands of these keep nobody from signing in, nor from paying."""
    return await _deliver(desk, posted)


async def _deliver(desk: Desk, posted: Sequence[Delivered[Posted]]) -> Round:
    """All in one read, one connection and one end."""
    own = {each.payload.letter_id: each for each in posted}
    scope = Scope(posted[0].organization, "deliver letters")
    rows = await desk.database.read(scope, store.find_waiting, list(own))
    for gone in own.keys() - rows.keys():
        logger().info("mail.nothing_to_send", letterId=str(gone))
    letters, failed = _open(rows, own)
    fates: dict[LetterId, Fate] = {}
    for letter, came in zip(letters, await desk.get(Postman).deliver(letters), strict=True):
        if isinstance(came, Fate):
            fates[letter.id] = came
            logger().info("mail.delivered", letterId=str(letter.id), template=letter.template, fate=came)
        else:
            failed[own[letter.id].id] = came

    async def close(tx: Tx, ended: Sequence[Delivered[Posted]]) -> None:
        for fate in Fate:
            those = [letter for each in ended if fates.get(letter := each.payload.letter_id) is fate]
            await store.close(tx, those, fate)

    return Round(close, failed)


def _open(
    rows: Mapping[LetterId, Record], own: Mapping[LetterId, Delivered[Posted]]
) -> tuple[list[Opened], dict[UUID, BaseException]]:
    """And the jobs of those that cannot be."""
    letters: list[Opened] = []
    failed: dict[UUID, BaseException] = {}
    for each, row in rows.items():
        try:
            content = opened(row["sealed"], own[each].organization, each)
            template, language = Template(row["template"]), Language(row["language"])
            letters.append(Opened(each, template, language, content.to, content.values, row["created_at"]))
        except Exception as error:  # noqa: BLE001  Whatever it is, it happened to this letter.
            failed[own[each].id] = error
    return letters, failed


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
