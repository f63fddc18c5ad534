"""The door of coupons: what finance, fulfilment and the table of codes are given of them."""

from admitone.verticals.coupons.commands.activating import BOOK
from admitone.verticals.coupons.commands.creating import Creating, create
from admitone.verticals.coupons.kinds import COUPON
from admitone.verticals.coupons.shop import CampaignShop
from admitone.verticals.coupons.witness import CampaignWitness

__all__ = ("BOOK", "COUPON", "CampaignShop", "CampaignWitness", "Creating", "create")
