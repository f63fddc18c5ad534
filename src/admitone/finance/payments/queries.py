"""What is asked about payments, without changing anything."""

from admitone.finance.ledger import api as ledger
from admitone.finance.payments.model import Payment
from admitone.finance.payments.store import payments as store
from admitone.finance.sources.api import PaymentId
from admitone.kernel.db import IdentityTx, Tx


async def find_payment(tx: Tx, payment: PaymentId) -> Payment | None:
    return (await store.find_payments(tx, [payment])).get(payment)


async def find_with_net(tx: Tx, payment: PaymentId) -> tuple[Payment, int | None] | None:
    """With what the ledger says is the organisation's of it."""
    found = await find_payment(tx, payment)
    if found is None:
        return None
    net = (await ledger.net_of(tx, [payment])).get(payment)
    return found, net.minor if net else None


async def find_own(tx: IdentityTx, payment: PaymentId) -> Payment | None:
    return await store.find_own(tx, payment)
