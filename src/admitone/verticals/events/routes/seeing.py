"""Looking at an order, with or without signing in.

Promise: whoever placed it sees it, by their session or by the secret that a guest was given with it: until the doors
close, and until the order is a user's, who signs in. An order of another, a secret of another order or that is over and
what never was are the same: not found.
"""

from typing import Annotated, Final

from msgspec import Meta

from admitone.kernel.contracts import Audience, Call, Contract, Example, Wire
from admitone.kernel.db import Tx
from admitone.kernel.figures import MINUTE
from admitone.kernel.limits import Limit, Per
from admitone.kernel.scope import IdentityScope, Scope
from admitone.verticals.events.errors import OrderNotFound
from admitone.verticals.events.model import Order, OrderId
from admitone.verticals.events.policy import closes_at
from admitone.verticals.events.routes.orders import SOME_ORDER, OwnAnswer, whole_order
from admitone.verticals.events.secrets import opens, organization_of
from admitone.verticals.events.store import events, orders

SECRET_HEADER: Final = "x-order-secret"  # noqa: S105  Where it travels.
# Not in A1, so ours: a page that waits asks every few seconds, and many wait behind one address.
LOOKS_PER_ADDRESS: Final = Limit("orders.looks_per_address", 1_200, 5 * MINUTE, Per.ADDRESS)
LIMITS: Final = (LOOKS_PER_ADDRESS,)

Secret = Annotated[str, Meta(min_length=1, max_length=120)]


class SeeRequest(Wire):
    """A guest shows the order's secret: in the header `x-order-secret`, for addresses are written down on their way;
    `orderSecret` is for clients that cannot send one."""

    order_id: OrderId
    order_secret: Secret | None = None


see_order = Contract(
    id="EVT.ORDER.SEE",
    version="1.0.0",
    owner="events",
    consumers=("web", "mobile"),
    summary="An order, to whoever placed it: signed in, or as a guest with its secret.",
    get="/api/orders/{orderId}",
    takes=SeeRequest,
    gives=OwnAnswer,
    refuses=(OrderNotFound,),
    audience=Audience.PUBLIC,
    recognizes=True,
    limits=LIMITS,
    order_key="none",
    examples=(Example("Another's", takes=SeeRequest(order_id=SOME_ORDER), refuses=OrderNotFound()),),
)


@see_order.serves
async def look_at_order(call: Call, request: SeeRequest) -> OwnAnswer:
    found = await _find(call, request)
    if found is None:
        raise OrderNotFound
    return await whole_order(call, found)


async def _find(call: Call, request: SeeRequest) -> Order | None:
    own, secret = request.order_id, call.headers.get(SECRET_HEADER) or request.order_secret
    found: Order | None = None
    if secret and (whose := organization_of(secret)):
        found = await call.read(find_by_secret, own, secret, scope=Scope(whose, "show a guest their order"))
    if found is None and call.identity is not None:
        found = await call.read(orders.find_own, own, scope=IdentityScope(call.identity))
    return found


async def find_by_secret(tx: Tx, own: OrderId, secret: str) -> Order | None:
    order = (await orders.find_orders(tx, [own])).get(own)
    if order is None or not opens(secret, order):
        return None
    event = (await events.find_events(tx, [order.event_id]))[order.event_id]
    sessions = (await events.find_sessions(tx, [event.id]))[event.id]
    return order if tx.now < closes_at(event, sessions) else None


CONTRACTS: Final = (see_order,)
