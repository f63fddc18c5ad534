"""What is asked about cases, without changing anything."""

import msgspec

from admitone.finance.disputes import store
from admitone.finance.disputes.model import Case, DisputeId, Dossier, Evidence, Texts
from admitone.finance.disputes.policy import drafted
from admitone.finance.disputes.port import EVIDENCE
from admitone.finance.payments import api as payments
from admitone.finance.payments.api import Payment
from admitone.finance.pricing.api import Snapshot, Tampered
from admitone.kernel.db import Tx


async def find_dossier(tx: Tx, dispute: DisputeId) -> Dossier | None:
    case = await store.find_case(tx, dispute)
    return Dossier(case, tuple(await store.list_steps(tx, dispute))) if case else None


class Said(msgspec.Struct, frozen=True):
    """What was said to a dispute last, and what the software would say."""

    case: Case
    last: Evidence | None
    draft: Texts


async def find_said(tx: Tx, dispute: DisputeId) -> Said | None:
    case = await store.find_case(tx, dispute)
    if case is None:
        return None
    last = await store.find_evidence(tx, dispute, case.evidence) if case.evidence else None
    return Said(case, last, await _draft(tx, case))


async def _draft(tx: Tx, case: Case) -> Texts:
    payment = (await payments.find_payments(tx, [case.payment]))[case.payment]
    witness = EVIDENCE().get(payment.source.type)
    [testimony] = await witness.testify(tx, [payment.source]) if witness else [{}]
    return drafted(payment, _snapshot(payment), testimony)


def _snapshot(payment: Payment) -> Snapshot | None:
    try:
        return payment.price
    except Tampered:  # Sales tell somebody.
        return None
