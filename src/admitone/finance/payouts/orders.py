"""What is ordered of a provider for a payout: pure, so that whoever repeats an order repeats it exactly."""

from msgspec.structs import replace

from admitone.finance.gateways.api import PayoutOrder
from admitone.finance.payouts.model import Payout
from admitone.finance.sources.api import SettlementModel
from admitone.kernel.ids import OrganizationId
from admitone.kernel.scope import Caller


def payout_order(organization: OrganizationId, payout: Payout, caller: Caller) -> PayoutOrder:
    """Of what the platform holds, and of nothing else (FIN-006)."""
    assert payout.settlement_model is SettlementModel.PLATFORM_MOR, "what is theirs is not ours to pay out"
    return PayoutOrder(
        caller=replace(caller, correlation_id=payout.correlation_id),
        key=payout.id.uuid,
        organization=organization,
        account=payout.account,
        amount_minor=payout.amount_minor,
        currency=payout.currency,
    )
