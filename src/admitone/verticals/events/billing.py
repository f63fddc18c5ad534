"""To whom an invoice goes: a name and a tax number, sealed for the one order that they were given with."""

from uuid import UUID

import msgspec

from admitone.kernel.crypto import KEYRING, Place
from admitone.kernel.ids import OrganizationId
from admitone.verticals.events.model import Order, OrderId


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
