"""What payments answer over HTTP."""

from admitone.finance.payments.routes import checkout, payments, receipts

CONTRACTS = (*checkout.CONTRACTS, *payments.CONTRACTS, *receipts.CONTRACTS)
LIMITS = checkout.LIMITS
