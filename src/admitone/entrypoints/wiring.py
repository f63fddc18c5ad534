"""Who gives the packages what they need and do not have. Once per process, before it starts to serve or to work."""

from admitone.entitlements import port as entitlements
from admitone.finance.disputes.port import EVIDENCE
from admitone.finance.gateways.port import GATEWAYS, Gateways, gateways_of
from admitone.finance.pricing.port import PROMOTIONS, NoPromotions
from admitone.finance.sources.api import SourceType
from admitone.finance.sources.port import SHOPS
from admitone.foundation.identity.port import APPLE, Apple
from admitone.kernel.config import Config
from admitone.kernel.crypto import KEYRING
from admitone.kernel.outbound import Outbound
from admitone.selling.fulfilment.port import RECIPES
from admitone.verticals.coupons import api as coupons
from admitone.verticals.events.api import BOOK, TicketShop, TicketWitness
from admitone.verticals.events.port import INVITES, NoInvites


def wire(config: Config) -> None:
    KEYRING.wire(config.keyring)
    SHOPS.wire({SourceType.TICKET_ORDER: TicketShop(), SourceType.COUPON_CAMPAIGN: coupons.CampaignShop()})
    RECIPES.wire({SourceType.TICKET_ORDER: BOOK, SourceType.COUPON_CAMPAIGN: coupons.BOOK})
    INVITES.wire(NoInvites())
    EVIDENCE.wire({SourceType.TICKET_ORDER: TicketWitness(), SourceType.COUPON_CAMPAIGN: coupons.CampaignWitness()})
    PROMOTIONS.wire(NoPromotions())
    entitlements.KINDS.wire({kind.name: kind for kind in (*entitlements.OWN, coupons.COUPON)})


def wire_outside(config: Config, outbound: Outbound) -> None:
    """What calls out, with the client of this process."""
    APPLE.wire(Apple.of(config, outbound))
    GATEWAYS.wire(Gateways(gateways_of(config, outbound)))
