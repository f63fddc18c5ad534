"""One order, as its page finds it: by its address, and by the session or the cookie of whoever placed it.

Promise: an order of another organisation than the address says, of another person or of nobody is the same: not found.
"""

from typing import Final

from admitone.kernel.contracts import Call, Wire
from admitone.kernel.errors import Unauthenticated
from admitone.kernel.ids import OrganizationId
from admitone.verticals.events.api import OrderId, OrderNotFound
from admitone.verticals.events.routes import seeing
from admitone.verticals.events.routes.orders import OwnAnswer
from admitone.verticals.events.routes.seeing import SeeRequest

COOKIE: Final = "order"
"""A guest's order secret, sent to the pages of that order alone and read by no script."""


class Place(Wire):
    organization_id: OrganizationId
    order_id: OrderId

    @property
    def path(self) -> str:
        return f"/checkout/{self.organization_id}/{self.order_id}"


async def look_at(call: Call, place: Place) -> OwnAnswer:
    secret = call.cookies.get(COOKIE)
    if secret is None and call.identity is None:
        raise Unauthenticated
    order: OwnAnswer = await call.ask(seeing.see_order, SeeRequest(order_id=place.order_id, order_secret=secret))
    if order.organization_id != place.organization_id:
        raise OrderNotFound
    return order
