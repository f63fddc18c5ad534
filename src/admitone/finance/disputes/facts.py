"""What became of disputes, for whoever sold what was paid for and whoever watches over risk."""

from typing import Final

from admitone.finance.disputes.model import Case, DisputeId
from admitone.finance.sources.api import PaymentId, Source
from admitone.kernel.facts import Fact

RISK_DISPUTE_CREATED: Final = "RISK_DISPUTE_CREATED"


class DisputeFact(Fact, frozen=True):
    """What all of them tell: which dispute, of which payment, for what."""

    name = "dispute.changed"
    version = "1.0.0"
    subject = ("DISPUTE", "dispute_id")

    dispute_id: DisputeId
    payment_id: PaymentId
    source_type: str
    source_id: str
    amount_minor: int
    currency: str


class DisputeOpened(DisputeFact, frozen=True):
    """What was sold is in question until it is decided."""

    name = "dispute.opened"


class DisputeEvidenceSubmitted(DisputeFact, frozen=True):
    name = "dispute.evidence_submitted"


class DisputeClosed(DisputeFact, frozen=True):
    """It is decided: `WON`, the money came back; `LOST`, it is gone."""

    name = "dispute.closed"

    outcome: str


class RiskDisputeCreated(DisputeFact, frozen=True):
    """For whoever keeps safety cases (SAF-018)."""

    name = "risk.dispute_created"

    reason_code: str = RISK_DISPUTE_CREATED


class EvidencePut(Fact, frozen=True):
    """Something was said to a dispute; it goes to the provider next."""

    name = "dispute.evidence_put"
    version = "1.0.0"
    subject = ("DISPUTE", "dispute_id")

    dispute_id: DisputeId
    evidence: int


FACTS: Final[tuple[type[Fact], ...]] = (
    DisputeOpened,
    DisputeEvidenceSubmitted,
    DisputeClosed,
    RiskDisputeCreated,
    EvidencePut,
)


def told_of(kind: type[DisputeFact], case: Case, source: Source, **more: str) -> DisputeFact:
    return kind(
        dispute_id=case.id,
        payment_id=case.payment,
        source_type=source.type,
        source_id=source.id,
        amount_minor=case.amount_minor,
        currency=case.currency,
        **more,
    )
