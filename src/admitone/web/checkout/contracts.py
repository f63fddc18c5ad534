"""Every page of this part."""

from typing import Final

from admitone.kernel.contracts import Contract
from admitone.web.checkout import choosing, guest, order, orders, paying

CONTRACTS: Final[tuple[Contract, ...]] = (
    *choosing.CONTRACTS,
    *order.CONTRACTS,
    *paying.CONTRACTS,
    *orders.CONTRACTS,
    *guest.CONTRACTS,
)
