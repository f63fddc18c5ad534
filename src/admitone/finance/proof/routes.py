"""The proof at the edge: recomputed on demand, the latest verdicts, and over all organisations."""

from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID

from admitone.finance.ledger import api as ledger
from admitone.finance.proof import store
from admitone.finance.proof.model import Both, Check, Difference, Figures, Finding, Noted, Total, Verdict, Word
from admitone.finance.proof.proving import ACROSS, Prover, want
from admitone.finance.proof.store import START, Place
from admitone.kernel.contracts import (
    Audience,
    Call,
    Contract,
    Example,
    Instant,
    Page,
    PageRequest,
    Wire,
    cursor_of,
)
from admitone.kernel.ids import OrganizationId
from admitone.kernel.limits import Limit, Per

FINANCE_PROOF_R: Final = "FINANCE_PROOF_R"
PLATFORM_PROOF_R: Final = "PLATFORM_PROOF_R"
RECOMPUTED: Final = Limit("proof.recomputed", 6, 600, Per.ORGANIZATION)
AT_ONCE: Final = 100_000
"""Transfers that somebody can wait for; more of them are a worker's."""


class DifferenceAnswer(Wire):
    word: Word
    where: str
    found: int | None
    expected: int | None
    currency: str | None

    @classmethod
    def of(cls, difference: Difference) -> "DifferenceAnswer":
        return cls(**{name: getattr(difference, name) for name in cls.__struct_fields__})


class SidesAnswer(Wire):
    """Debits and credits of a trial balance; of the provider's journal, what came in here and there."""

    left_minor: int
    right_minor: int

    @classmethod
    def all_of(cls, sides: dict[str, Both]) -> dict[str, "SidesAnswer"]:
        return {name: cls(left_minor=both.left_minor, right_minor=both.right_minor) for name, both in sides.items()}


class VerdictAnswer(Wire):
    check: Check
    verdict: Verdict
    differing: int
    counts: dict[str, int]
    sides: dict[str, SidesAnswer]
    differences: list[DifferenceAnswer]
    """The first of them."""
    head: str | None
    """The hash of the last seal."""
    reason: str | None
    checked_at: Instant
    organization_id: OrganizationId

    @classmethod
    def of(cls, noted: Noted) -> "VerdictAnswer":
        finding, figures = noted.finding, noted.finding.figures
        return cls(
            check=finding.check,
            verdict=finding.verdict,
            differing=finding.differing,
            counts=figures.counts,
            sides=SidesAnswer.all_of(figures.sides),
            differences=[DifferenceAnswer.of(each) for each in figures.differences],
            head=figures.head,
            reason=figures.reason,
            checked_at=noted.checked_at,
            organization_id=noted.organization,
        )


class ProofAnswer(Wire):
    verdicts: list[VerdictAnswer]
    queued: bool
    """Whether the books are so long that a worker recomputes them: these verdicts are the ones before."""


SOME_ORGANIZATION: Final = OrganizationId.parse("org_0198c9a40000700080000000000000aa")
THEN: Final = datetime(2026, 5, 1, 9, 30, tzinfo=UTC)
SOME_VERDICT: Final = VerdictAnswer.of(
    Noted(
        Finding(
            Check.TRIAL_BALANCE,
            Verdict.RED,
            1,
            Figures(
                {"currencies": 1, "accounts": 4},
                {"EUR": Both(10_001, 10_000)},
                (Difference(Word.UNBALANCED, "EUR", 10_001, 10_000, "EUR"),),
            ),
        ),
        THEN,
        SOME_ORGANIZATION,
    )
)
SOME_PROOF: Final = ProofAnswer(verdicts=[SOME_VERDICT], queued=False)

recompute = Contract(
    id="PROOF.01",
    version="1.0.0",
    owner="proof",
    consumers=("web",),
    summary="Recompute the books, and say whether they prove.",
    post="/api/org/{organizationId}/finance/proof",
    gives=ProofAnswer,
    audience=Audience.ORGANIZATION,
    permission=FINANCE_PROOF_R,
    limits=(RECOMPUTED,),
    repeats="it only looks, and keeps what it saw last",
    order_key="none",
    wait_seconds=60,
    examples=(Example("one cent too much", gives=SOME_PROOF),),
)

latest = Contract(
    id="PROOF.02",
    version="1.0.0",
    owner="proof",
    consumers=("web",),
    summary="What came of the last recomputation.",
    get="/api/org/{organizationId}/finance/proof",
    gives=ProofAnswer,
    audience=Audience.ORGANIZATION,
    permission=FINANCE_PROOF_R,
    order_key="none",
    examples=(Example("one cent too much", gives=SOME_PROOF),),
)


@recompute.serves
async def prove_now(call: Call) -> ProofAnswer:
    queued = await _prove_or_queue(call)
    return ProofAnswer(verdicts=await _verdicts(call), queued=queued)


@latest.serves
async def see_latest(call: Call) -> ProofAnswer:
    return ProofAnswer(verdicts=await _verdicts(call), queued=False)


async def _prove_or_queue(call: Call) -> bool:
    """Whether it was left to a worker."""
    assert call.organization is not None
    if await call.read(ledger.count_transfers) > AT_ONCE:
        await call.batch(want, call.caller)
        return True
    await Prover.of(call).prove(call.organization, call.caller)
    return False


async def _verdicts(call: Call) -> list[VerdictAnswer]:
    return [VerdictAnswer.of(noted) for noted in await call.read(store.list_own)]


class TotalAnswer(Wire):
    """One check over all organisations."""

    check: Check
    green: int
    red: int
    unknown: int
    differing: int
    oldest_at: Instant
    """When the one was checked that was checked longest ago."""

    @classmethod
    def of(cls, total: Total) -> "TotalAnswer":
        return cls(
            check=total.check,
            green=total.organizations.get(Verdict.GREEN, 0),
            red=total.organizations.get(Verdict.RED, 0),
            unknown=total.organizations.get(Verdict.UNKNOWN, 0),
            differing=total.differing,
            oldest_at=total.oldest,
        )


class OverallAnswer(Page[VerdictAnswer]):
    totals: list[TotalAnswer]
    sides: dict[str, SidesAnswer]
    """Debits and credits of all organisations together, by currency."""


def _overall(number: str, path: str, **who: Any) -> Contract:
    return Contract(
        id=number,
        version="1.0.0",
        owner="proof",
        consumers=("operations",),
        summary="All organisations' verdicts, red ones first, and what they sum up to.",
        get=path,
        takes=PageRequest,
        gives=OverallAnswer,
        order_key="severity, organizationId, check",
        examples=(Example("one of three is red", takes=PageRequest(limit=1), gives=ONE_OF_THREE),),
        **who,
    )


ONE_OF_THREE: Final = OverallAnswer(
    items=[SOME_VERDICT],
    next_cursor=None,
    totals=[TotalAnswer(check=Check.TRIAL_BALANCE, green=2, red=1, unknown=0, differing=1, oldest_at=THEN)],
    sides={"EUR": SidesAnswer(left_minor=30_001, right_minor=30_000)},
)
overall = _overall("PROOF.03", "/api/internal/proof", audience=Audience.INTERNAL)
overall_for_people = _overall(
    "PROOF.03.ADMIN", "/api/admin/proof", audience=Audience.ADMIN, permission=PLATFORM_PROOF_R
)


@overall.serves
@overall_for_people.serves
async def see_overall(call: Call, request: PageRequest) -> OverallAnswer:
    after: Place = request.after(tuple[int, UUID, str]) or START
    summed = await call.read(store.sum_all, scope=ACROSS)
    found = await call.read(store.list_worst, after, request.limit + 1, scope=ACROSS)
    shown = found[: request.limit]
    return OverallAnswer(
        items=[VerdictAnswer.of(noted) for _, noted in shown],
        next_cursor=cursor_of(shown[-1][0]) if len(found) > request.limit else None,
        totals=[TotalAnswer.of(total) for total in summed.totals],
        sides=SidesAnswer.all_of(summed.sides),
    )


CONTRACTS: Final = (recompute, latest, overall, overall_for_people)
