"""Asking providers what they told us, so that a webhook that was lost is only late.

Promise: what is listed goes the way of what arrives, so what was heard before changes nothing. The cursor moves after
everything before it is kept, never ahead, nor past this run's own moment; a run reads so many pages and leaves the rest
to the next one. Nothing that is listed stops it: what would be refused at the door is passed over, and a place in a
list that the provider does not know any more is given up for the instant at which that list began.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import Final

from admitone.finance.gateways.api import Ability, EventPage, Refused
from admitone.finance.gateways.port import GATEWAYS, Gateway
from admitone.finance.webhooks import store
from admitone.finance.webhooks.arriving import LARGEST_EVENT_BYTES, bounded, meaning_of
from admitone.finance.webhooks.commands.receiving import receive
from admitone.finance.webhooks.errors import AccountUnresolved
from admitone.finance.webhooks.model import PLATFORM, Arrival, Cursor
from admitone.finance.webhooks.telling import say
from admitone.kernel import failpoints
from admitone.kernel.errors import Malformed, Unavailable
from admitone.kernel.jobs import WEBHOOKS, Delivered, Desk, Lane, errand
from admitone.kernel.jobs.schedules import Firing
from admitone.kernel.scope import Caller
from admitone.kernel.telemetry import logger

PAGES: Final = 20
"""Of each provider in one run."""


@errand("webhooks.poll", lane=Lane("webhooks-poll", places=1), retry=WEBHOOKS, seconds=300)
async def poll(desk: Desk, firing: Delivered[Firing]) -> None:
    """By schedule. One provider that is away does not keep us from asking the others; one that lists nothing is not
    asked, and its payments are, when their time is over."""
    listing = [gateway for gateway in GATEWAYS().all() if Ability.EVENTS in gateway.abilities]
    away = [each for gateway in listing if (each := await _poll_one(desk, gateway, firing))]
    if away:
        raise away[0]


async def _poll_one(desk: Desk, gateway: Gateway, firing: Delivered[Firing]) -> Unavailable | None:
    caller, put = firing.caller, partial(store.put_cursor, provider=gateway.provider)
    cursor = await desk.database.read(PLATFORM, store.find_cursor, gateway.provider)
    for _ in range(PAGES):
        page = await gateway.list_events(caller, cursor.position, cursor.since - Cursor.OVERLAP)
        if isinstance(page, Refused) and cursor.position is not None:
            logger().error("webhook.position_refused", source=gateway.provider.value, reason=page.code)
            cursor = Cursor(None, cursor.since)
            await desk.database.run(PLATFORM, partial(put, cursor=cursor))
            continue
        if not isinstance(page, EventPage):
            return Unavailable()
        arrivals = [each for payload in page.payloads if (each := _arrival(gateway, caller, payload))]
        await asyncio.gather(*(_take_in(desk, each) for each in arrivals))
        failpoints.reach("webhooks.before_cursor")
        cursor = _after(cursor, page, [each.envelope.created for each in arrivals], firing.payload.at)
        await desk.database.run(PLATFORM, partial(put, cursor=cursor))
        say("webhook.polled", source=gateway.provider.value, events=len(arrivals))
        if page.next_cursor is None:
            break
    return None


def _arrival(gateway: Gateway, caller: Caller, payload: bytes) -> Arrival | None:
    """As if it had come to the door; what would be refused there is passed over."""
    if len(payload) > LARGEST_EVENT_BYTES:
        logger().error("webhook.listed_too_large", source=gateway.provider.value)
        return None
    try:
        envelope = bounded(gateway.open_envelope(payload, gateway.provider.value))
    except Malformed:
        logger().error("webhook.listed_malformed", source=gateway.provider.value)
        return None
    if envelope.livemode != gateway.livemode:
        return None
    event = meaning_of(gateway, envelope, payload)
    return Arrival(Caller(causation_id=caller.causation_id), gateway.provider, envelope, payload, event)


async def _take_in(desk: Desk, arrival: Arrival) -> None:
    with suppress(AccountUnresolved):  # It is kept, and somebody was told.
        await desk.batcher.submit(receive, PLATFORM, arrival)


def _after(cursor: Cursor, page: EventPage, heard: Sequence[datetime], now: datetime) -> Cursor:
    """Within a list, the next page of the same list; at its end, from the latest that was heard. One that says it is
    from the future would have us ask for nothing until then."""
    if page.next_cursor is not None:
        return Cursor(page.next_cursor, cursor.since)
    return Cursor(None, min(now, max([cursor.since, *heard])))
