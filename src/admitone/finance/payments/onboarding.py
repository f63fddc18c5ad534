"""What an organisation owes before it takes money, and what is ordered of a provider for it: pure.

Promise: nobody is sent to a provider before the organisation can be reached officially, has said who it is for the law
and how it invoices, and has agreed to what it answers for (FIN-008, FIN-021). However often it is asked and whatever
breaks in between, an organisation gets one account at a provider in a mode: the order has the same key every time.
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import Final
from uuid import UUID, uuid5

from admitone.finance.gateways.api import AccountOrder, Provider
from admitone.finance.payments.model import account_name
from admitone.foundation.organizations.api import ON_OFFER, Accepted, LegalDocument, Organization
from admitone.kernel.ids import OrganizationId
from admitone.kernel.scope import Caller

ORDERS: Final = UUID("5b1a5d0e-7c1c-5e0a-9f43-2a6d0c1f8e21")
NEEDED_DOCUMENTS: Final = (
    LegalDocument.PAYMENT_TERMS,
    LegalDocument.ORGANIZER_RESPONSIBILITY,
    LegalDocument.PLATFORM_ENFORCEMENT,
)


class Missing(StrEnum):
    """What an organisation owes, besides documents, which have names of their own."""

    OFFICIAL_EMAIL = "OFFICIAL_EMAIL"
    LEGAL_NAME = "LEGAL_NAME"
    TAX_ID = "TAX_ID"
    INVOICE_ADDRESS = "INVOICE_ADDRESS"
    INVOICING = "INVOICING"


def missing_of(organization: Organization, accepted: Sequence[Accepted]) -> tuple[str, ...]:
    """What is still to be said, proved or agreed to, in a version that is on offer."""
    settings, official = organization.settings, organization.official
    owed = {
        Missing.OFFICIAL_EMAIL: official.email and official.verified_at,
        Missing.LEGAL_NAME: settings.legal_name,
        Missing.TAX_ID: settings.tax_id and settings.tax_country,
        Missing.INVOICE_ADDRESS: settings.invoice_address,
        Missing.INVOICING: settings.invoicing,
    }
    agreed = {each.document for each in accepted if each.version in ON_OFFER[each.document]}
    documents = [each.value for each in NEEDED_DOCUMENTS if each not in agreed]
    return (*(each.value for each, given in owed.items() if not given), *documents)


def account_order(organization: Organization, provider: Provider, caller: Caller, *, livemode: bool) -> AccountOrder:
    """Of an organisation of which nothing is missing."""
    country = organization.settings.tax_country
    assert country is not None
    key = order_key(organization.id, provider, livemode=livemode)
    return AccountOrder(caller, key, organization.id, country, organization.official.email)


def order_key(organization: OrganizationId, provider: Provider, *, livemode: bool) -> UUID:
    return uuid5(ORDERS, f"{organization} {account_name(provider, livemode=livemode)}")
