"""What somebody is told about payouts, and how it is over."""

from typing import Final
from uuid import UUID

from admitone.kernel.alerts import Above, AlertClass, AlertRule
from admitone.kernel.ids import OrganizationId

NOT_PAID = AlertRule(
    "payouts.not_paid",
    AlertClass.TICKET,
    Above(0),
    "finance operations",
    "payout-not-paid",
    "An owner could not be paid: the provider refused it, it came back, or there is nowhere to pay it to.",
)
UNANSWERED = AlertRule(
    "payouts.unanswered",
    AlertClass.PAGER,
    Above(0),
    "finance operations",
    "payout-unanswered",
    "A provider was asked for a payout more than an hour ago, and nobody knows what became of it.",
)
BLOCKED = AlertRule(
    "payouts.blocked",
    AlertClass.TICKET,
    Above(0),
    "finance operations",
    "payouts-blocked",
    "Something that an organisation sold is disputed; its payouts, which are the provider's, are shown as blocked.",
)
RULES: Final = (NOT_PAID, UNANSWERED, BLOCKED)


def of_owner(organization: OrganizationId, owner: UUID) -> str:
    """Who could not be paid: it is over when something arrives there."""
    return f"{organization}:{owner}"
