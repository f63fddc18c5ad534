"""How the customer goes on, kept sealed: whoever can read the database cannot pay, and cannot see who does."""

import msgspec

from admitone.finance.gateways.api import Charge
from admitone.finance.payments.model import GatewayIntent, Way
from admitone.kernel.crypto import KEYRING, Place
from admitone.kernel.ids import OrganizationId

_decode = msgspec.json.Decoder(Way).decode


def way_of(charge: Charge) -> Way:
    return Way(charge.client_secret, charge.redirect_url, charge.pix)


def seal(way: Way, organization: OrganizationId, intent: GatewayIntent) -> bytes:
    return KEYRING().seal(msgspec.json.encode(way), _place(organization, intent))


def unseal(organization: OrganizationId, intent: GatewayIntent) -> Way:
    """Nothing while the provider has not answered."""
    if intent.answer is None:
        return Way()
    return _decode(KEYRING().open(intent.answer, _place(organization, intent)))


def _place(organization: OrganizationId, intent: GatewayIntent) -> Place:
    return Place("payments.gateway_intent", "answer", organization.uuid, intent.id)
