"""Who gives the packages what they need and do not have. Once per process, before it starts to serve or to work."""

from admitone.entitlements import port as entitlements
from admitone.entrypoints.modules import MODULES
from admitone.finance.disputes.port import EVIDENCE
from admitone.finance.gateways.port import GATEWAYS, Gateways, gateways_of
from admitone.finance.pricing.port import PROMOTIONS, NoPromotions
from admitone.finance.sources.api import SourceType
from admitone.finance.sources.port import SHOPS
from admitone.foundation.identity.port import APPLE, Apple
from admitone.foundation.organizations.api import ProfileBlock
from admitone.foundation.organizations.port import SHOWCASES
from admitone.kernel.alerts.runbooks import RULES
from admitone.kernel.config import Config
from admitone.kernel.crypto import KEYRING
from admitone.kernel.outbound import Outbound
from admitone.selling.fulfilment.port import RECIPES
from admitone.verticals.coupons import api as coupons
from admitone.verticals.events.api import BOOK, TicketShop, TicketWitness, is_anything_on
from admitone.verticals.events.port import INVITES, NoInvites
from admitone.web.port import OPERATOR, Operator


def wire(config: Config) -> None:
    KEYRING.wire(config.keyring)
    RULES.wire({rule.name: rule for module in MODULES for rule in module.alerts})
    SHOPS.wire({SourceType.TICKET_ORDER: TicketShop(), SourceType.COUPON_CAMPAIGN: coupons.CampaignShop()})
    RECIPES.wire({SourceType.TICKET_ORDER: BOOK, SourceType.COUPON_CAMPAIGN: coupons.BOOK})
    INVITES.wire(NoInvites())
    SHOWCASES.wire({ProfileBlock.EVENTS_AGENDA: is_anything_on})
    EVIDENCE.wire({SourceType.TICKET_ORDER: TicketWitness(), SourceType.COUPON_CAMPAIGN: coupons.CampaignWitness()})
    PROMOTIONS.wire(NoPromotions())
    OPERATOR.wire(Operator.of(config))
    entitlements.KINDS.wire({kind.name: kind for kind in (*entitlements.OWN, coupons.COUPON)})


def wire_outside(config: Config, outbound: Outbound) -> None:
    """What calls out, with the client of this process."""
    APPLE.wire(Apple.of(config, outbound))
    GATEWAYS.wire(Gateways(gateways_of(config, outbound)))
