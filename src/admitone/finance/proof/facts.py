"""What is told of proofs."""

from admitone.kernel.facts import Fact
from admitone.kernel.ids import OrganizationId


class ProofWanted(Fact, frozen=True):
    """Somebody wants the books recomputed, and they are too long to wait for it."""

    name = "proof.wanted"
    version = "1.0.0"
    subject = ("ORGANIZATION", "organization_id")

    organization_id: OrganizationId
