"""The manifest of disputes."""

from admitone.finance.disputes import errands, routes
from admitone.finance.disputes.facts import (
    FACTS,
    DisputeClosed,
    DisputeEvidenceSubmitted,
    DisputeOpened,
    EvidencePut,
)
from admitone.finance.disputes.handlers import follow_payments
from admitone.finance.disputes.model import DISPUTE
from admitone.finance.disputes.port import EVIDENCE
from admitone.finance.payments.facts import DisputeRecorded
from admitone.kernel.jobs import Schedule, Subscription
from admitone.kernel.manifest import Module, Privacy, Table, TableClass

TEN_YEARS = "the law wants disputes as long as their payments, and who dealt with one is part of its trail"

MODULE = Module(
    name="disputes",
    contracts=routes.CONTRACTS,
    permissions=routes.PERMISSIONS,
    jobs=(
        follow_payments,
        errands.read_file,
        errands.file_evidence,
        errands.end_submitted,
        errands.end_closed,
        errands.watch,
    ),
    subscriptions=(
        Subscription(DisputeRecorded, follow_payments),
        Subscription(DisputeOpened, errands.read_file),
        Subscription(EvidencePut, errands.file_evidence),
        Subscription(DisputeEvidenceSubmitted, errands.end_submitted),
        Subscription(DisputeClosed, errands.end_closed),
    ),
    schedules=(Schedule("disputes.watch", "*/15 * * * *", errands.watch),),
    alerts=errands.ALL_RULES,
    tables=(
        Table("dispute", TableClass.TENANT, Privacy.PSEUDONYMOUS, kept_because=TEN_YEARS),
        # Longer than any bank takes to decide, also when it is asked a second time.
        Table("evidence", TableClass.TENANT, Privacy.PERSONAL, append_only=True, retention_days=400),
        Table("step", TableClass.TENANT, Privacy.PSEUDONYMOUS, append_only=True, kept_because=TEN_YEARS),
    ),
    lifecycles=(DISPUTE,),
    facts=FACTS,
    ports=(EVIDENCE,),
    listed_statements=("store.LIST_EVERYWHERE",),
    listed_indexes=("dispute_everywhere", "evidence_by_age"),
)
