"""To whom an invoice goes: a name and a tax number, sealed for the one order that they were given with, and every night
under the newest key: orders are kept for ten years, keys are not."""

from collections.abc import Collection
from functools import partial
from typing import Final
from uuid import UUID

import msgspec

from admitone.kernel.crypto import KEYRING, Place
from admitone.kernel.db import Tx
from admitone.kernel.ids import OrganizationId
from admitone.kernel.jobs import Delivered, Desk, Schedule, errand
from admitone.kernel.jobs.schedules import Firing
from admitone.kernel.rotation import KEYS, Walked, renew, walk
from admitone.kernel.scope import Scope
from admitone.verticals.events.model import Order, OrderId
from admitone.verticals.events.store import rotation
from admitone.verticals.events.store.rotation import BEFORE_ALL, ROTATING, Stale

PAGE: Final = 500


class Billing(msgspec.Struct, frozen=True):
    name: str
    tax_number: str | None = None


def sealed(billing: Billing | None, organization: OrganizationId, order: OrderId) -> bytes | None:
    if billing is None:
        return None
    return KEYRING().seal(msgspec.json.encode(billing), _place(organization, order.uuid))


def opened(order: Order) -> Billing | None:
    if order.billing is None:
        return None
    plain = KEYRING().open(order.billing, _place(order.organization, order.id.uuid))
    return msgspec.json.decode(plain, type=Billing)


def _place(organization: OrganizationId, order: UUID) -> Place:
    return Place("events.ticket_order", "billing", organization.uuid, order)


@errand("events.rotate_keys", lane=KEYS, seconds=3600)
async def rotate_keys(desk: Desk, firing: Delivered[Firing]) -> None:  # noqa: ARG001
    await walk("events", "orders' invoice data", BEFORE_ALL, partial(_rotate_page, desk))


async def _rotate_page(desk: Desk, after: Stale) -> Walked[Stale]:
    """What stands under an older key, organisation by organisation."""
    page = await desk.database.read(ROTATING, rotation.list_stale, after, KEYRING().current, PAGE)
    stale: dict[OrganizationId, list[OrderId]] = {}
    for each in page:
        stale.setdefault(each.organization, []).append(each.order)
    changed = unreadable = 0
    for organization, own in stale.items():
        scope = Scope(organization, ROTATING.reason)
        renewed, lost = await desk.database.run(scope, partial(reseal, orders=own), patient=True)
        changed, unreadable = changed + renewed, unreadable + lost
    return Walked(page[-1] if page else None, changed, unreadable)


async def reseal(tx: Tx, orders: Collection[OrderId]) -> tuple[int, int]:
    """How many were written anew, and how many nobody can read."""
    was = await rotation.find_billing(tx, orders)
    renewed = renew(was, lambda own: _place(tx.scope.organization, own.uuid))
    return await rotation.write_billing(tx, was, renewed.sealed), renewed.unreadable


JOBS: Final = (rotate_keys,)
SCHEDULES: Final = (Schedule("events.rotate_keys", "45 3 * * *", rotate_keys),)
