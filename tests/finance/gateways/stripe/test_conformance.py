"""Stripe passes the suite that every provider must pass, to who plays it here, over real HTTP."""

from tests.finance.gateways.conformance import Conformance
from tests.finance.gateways.dispute_conformance import DisputeConformance
from tests.finance.gateways.webhook_conformance import WebhookConformance


class TestStripe(Conformance, WebhookConformance, DisputeConformance):
    """Every request on the way is checked against the types of Stripe's SDK."""
