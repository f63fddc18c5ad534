"""Every package of the application, by its manifest. What is not named here does not exist."""

from admitone.entitlements.module import MODULE as ENTITLEMENTS
from admitone.finance.disputes.module import MODULE as DISPUTES
from admitone.finance.gateways.module import MODULE as GATEWAYS
from admitone.finance.ledger.module import MODULE as LEDGER
from admitone.finance.payments.module import MODULE as PAYMENTS
from admitone.finance.payouts.module import MODULE as PAYOUTS
from admitone.finance.pricing.module import MODULE as PRICING
from admitone.finance.proof.module import MODULE as PROOF
from admitone.finance.reconciliation.module import MODULE as RECONCILIATION
from admitone.finance.refunds.module import MODULE as REFUNDS
from admitone.finance.sales.module import MODULE as SALES
from admitone.finance.sources.module import MODULE as SOURCES
from admitone.finance.webhooks.module import MODULE as WEBHOOKS
from admitone.foundation.authority.module import MODULE as AUTHORITY
from admitone.foundation.identity.module import MODULE as IDENTITY
from admitone.foundation.mail.module import MODULE as MAIL
from admitone.foundation.organizations.module import MODULE as ORGANIZATIONS
from admitone.foundation.usernames.module import MODULE as USERNAMES
from admitone.kernel.manifest import Module
from admitone.kernel.module import MODULE as KERNEL
from admitone.selling.fulfilment.module import MODULE as FULFILMENT
from admitone.selling.stock.module import MODULE as STOCK
from admitone.verticals.coupons.module import MODULE as COUPONS
from admitone.verticals.events.module import MODULE as EVENTS
from admitone.web.module import MODULE as WEB

MODULES: tuple[Module, ...] = (
    KERNEL,
    AUTHORITY,
    MAIL,
    USERNAMES,
    IDENTITY,
    ORGANIZATIONS,
    SOURCES,
    PRICING,
    LEDGER,
    GATEWAYS,
    PAYMENTS,
    WEBHOOKS,
    DISPUTES,
    SALES,
    REFUNDS,
    PAYOUTS,
    RECONCILIATION,
    PROOF,
    ENTITLEMENTS,
    FULFILMENT,
    STOCK,
    EVENTS,
    COUPONS,
    WEB,
)
