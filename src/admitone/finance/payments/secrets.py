"""The secret by which whoever began a payment asks how it stands, and may give it up, without signing in.

Promise: it says in clear whose the payment is, is made anew from the payment's id whenever it is needed, and is stored
nowhere. Whoever has it learns where that payment stands, and may go on with it or cancel it while nobody has paid;
nothing else. It belongs in the header `x-status-secret`: what stands in an address is written down by everything on
its way.
"""

from admitone.finance.payments.model import Payment
from admitone.finance.sources.api import PaymentId
from admitone.kernel.crypto import KEYRING, read_secret, same
from admitone.kernel.ids import OrganizationId

KIND = "pst"
PURPOSE = "payments.status_secret"


def status_secret(payment: Payment) -> str:
    digest = KEYRING().hmac(_text(payment.organization, payment.id), PURPOSE).digest
    return f"{KIND}_{payment.organization.uuid.hex}_{digest[:20].hex()}"


def organization_of(secret: str, payment: PaymentId) -> OrganizationId | None:
    """Whose payment it is, if this is its secret."""
    presented = read_secret(secret)
    if presented.kind != KIND or presented.organization is None:
        return None
    text = _text(presented.organization, payment)
    tail = secret.rpartition("_")[2].encode()
    is_ours = [same(each.digest[:20].hex().encode(), tail) for each in KEYRING().all_hmacs(text, PURPOSE)]
    return presented.organization if any(is_ours) else None


def _text(organization: OrganizationId, payment: PaymentId) -> str:
    return f"{organization} {payment}"
