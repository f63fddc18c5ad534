"""What payments answer over HTTP."""

from admitone.finance.payments import free
from admitone.finance.payments.routes import checkout, holds, onboarding, payments, receipts, reprocessing

CONTRACTS = (
    *checkout.CONTRACTS,
    *payments.CONTRACTS,
    *receipts.CONTRACTS,
    *onboarding.CONTRACTS,
    *holds.CONTRACTS,
    *reprocessing.CONTRACTS,
)
LIMITS = (*checkout.LIMITS, *free.LIMITS)
PERMISSIONS = (
    onboarding.FINANCE_ONBOARDING_R,
    onboarding.FINANCE_ONBOARDING_RW,
    holds.PLATFORM_RISK_RW,
    reprocessing.PLATFORM_PAYMENTS_RW,
)
