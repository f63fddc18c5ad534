"""The secret by which a guest comes back to the order that they placed.

Promise: it says in clear whose the order is, is made of the ids of order and guest whenever it is needed, and
is stored nowhere. Whoever has it sees that order and how its payment stands, and may go on with that payment; no
code of a ticket and nothing else of the person. It ends with the doors, as the guest's link does, and when the order is
handed to the user that the guest turned out to be. A wrong one is as good as none. It belongs in the header
`x-order-secret`: what stands in an address is written down by everything on its way.
"""

from admitone.kernel.crypto import KEYRING, MalformedSecret, read_secret, same
from admitone.kernel.ids import OrganizationId
from admitone.verticals.events.model import Order

KIND = "ord"
PURPOSE = "events.order_secret"


def order_secret(order: Order) -> str:
    digest = KEYRING().hmac(_text(order), PURPOSE).digest
    return f"{KIND}_{order.organization.uuid.hex}_{digest[:20].hex()}"


def organization_of(secret: str) -> OrganizationId | None:
    """Whose order it says it is of. Whether that is so shows there."""
    try:
        presented = read_secret(secret)
    except MalformedSecret:
        return None
    return presented.organization if presented.kind == KIND else None


def opens(secret: str, order: Order) -> bool:
    """Whether this is the secret of the order as it stands."""
    tail = secret.rpartition("_")[2].encode()
    is_ours = [same(each.digest[:20].hex().encode(), tail) for each in KEYRING().all_hmacs(_text(order), PURPOSE)]
    return any(is_ours)


def _text(order: Order) -> str:
    return f"{order.organization} {order.id} {order.buyer}"
