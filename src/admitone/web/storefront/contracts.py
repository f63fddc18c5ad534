"""Every page of this part."""

from typing import Final

from admitone.web.storefront import crawling, discover, event, legal, organization

CONTRACTS: Final = (
    *discover.CONTRACTS,
    *organization.CONTRACTS,
    *event.CONTRACTS,
    *legal.CONTRACTS,
    *crawling.CONTRACTS,
)
