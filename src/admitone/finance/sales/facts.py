"""What is told of sales."""

from admitone.finance.sources.api import PaymentId
from admitone.kernel.facts import Fact


class SaleUnreadable(Fact, frozen=True):
    """The price that a payment was made at is not what was priced, or no price: its sale was not written."""

    name = "sale.unreadable"
    version = "1.0.0"
    subject = ("PAYMENT", "payment_id")

    payment_id: PaymentId
