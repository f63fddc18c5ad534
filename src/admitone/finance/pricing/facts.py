"""What happens to fee policies. Ids only."""

from typing import Annotated

from msgspec import Meta

from admitone.kernel.facts import Fact
from admitone.kernel.ids import OrganizationId


class FeePolicyChanged(Fact, frozen=True):
    """From now on prices are made by another version: of an organisation, of its choice, or of the platform."""

    name = "pricing.fee_policy_changed"
    version = "1.0.0"
    subject = ("ORGANIZATION", "organization_id")

    organization_id: OrganizationId
    fee_policy_version: Annotated[str, Meta(pattern="^(fee|fmc)_[0-9a-f]{32}$")]
