"""What is said to a dispute: on file as often as one likes, submitted once, whatever goes wrong on the way."""

import asyncpg
import pytest

from admitone.finance.disputes import errands, errors
from admitone.finance.disputes.asking import Clerk
from admitone.finance.disputes.commands.answering import put_evidence, take
from admitone.finance.disputes.facts import DisputeEvidenceSubmitted, told_of
from admitone.finance.disputes.model import Case, DisputeId, State, StepKind, Taking
from admitone.finance.disputes.port import EVIDENCE
from admitone.finance.disputes.queries import find_said
from admitone.finance.disputes.store import find_evidence
from admitone.finance.gateways.api import Ability, Dispute, ObjectType, Ref, Refused, UnknownStatus
from admitone.finance.gateways.port import GATEWAYS, Gateways
from admitone.finance.gateways.sandbox.faults import CallFault, Faults
from admitone.finance.gateways.sandbox.gateway import SandboxGateway
from admitone.finance.gateways.sandbox.objects import Intent
from admitone.finance.payments.errors import ProviderUnanswered
from admitone.finance.sources.api import Source, SourceType
from admitone.kernel import audit
from admitone.kernel.breaker import DependencyUnavailable
from admitone.kernel.crypto import KEYRING, CannotOpen, Place
from admitone.kernel.db import Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import uuid7
from admitone.kernel.scope import Caller
from tests.finance.disputes.cases import (
    a_disputed_sale,
    a_read_case,
    a_statement,
    desk_of,
    filed,
    heard,
    open_alerts,
    read,
    run,
    says,
    the_case,
    told,
    trail,
)
from tests.finance.world import World

K = StepKind


def at_the_provider(world: World, charge: str) -> tuple[str, dict[str, str], int]:
    """Status, evidence and how often it was submitted."""
    intent = world.simulator.get(charge)
    assert isinstance(intent, Intent) and intent.paid
    dispute = intent.paid.disputes[-1]
    return dispute.status, dispute.evidence, dispute.evidence_details.submission_count


@pytest.mark.covers("FIN-075")
async def test_a_dispute_is_answered_from_its_opening_to_its_end(world: World):
    """Evidence, due date and who did what: the whole record."""
    disputed = await a_disputed_sale(world)
    case = await read(world, disputed.case)
    assert case.due_at is not None and case.told_at is not None
    assert (case.due_at - case.opened_at).days in (13, 14)

    case = await filed(world, await says(world, case, "A first draft."))
    assert at_the_provider(world, disputed.charge) == (
        "needs_response",
        {"access_activity_log": "A first draft."},
        0,
    )
    case = await filed(world, await says(world, case, "A second one."))
    case = await filed(world, await says(world, case, "Came in at 20:14.", submit=True))
    assert at_the_provider(world, disputed.charge) == (
        "under_review",
        {"access_activity_log": "Came in at 20:14."},
        1,
    )
    assert (case.state, case.submission, case.filed, case.assignee) == (
        State.EVIDENCE_SUBMITTED,
        3,
        3,
        world.owner.identity,
    )
    assert case.submitted_at is not None
    world.simulator.act("win", disputed.charge)
    await heard(world, disputed.payment)
    assert (await the_case(world, case)).state is State.WON
    assert await trail(world, case) == [
        K.OPENED,
        K.FILE_READ,
        *(K.EVIDENCE_PUT, K.FILED) * 2,
        K.SUBMISSION_ORDERED,
        K.SUBMITTED,
        K.WON,
    ]


@pytest.mark.covers("FIN-075")
async def test_who_said_something_and_why_is_in_the_trail_of_all_trails(world: World):
    case = (await a_read_case(world)).case
    await says(world, case, "Ana Lima came in at 20:14.")
    await says(world, case, None, submit=True)

    async def newest(tx: Tx) -> list[audit.Entry]:
        return await audit.list_entries(tx, uuid7(), 2)

    submitted, put = await world.database.read(world.scope, newest)
    assert [each.action for each in (put, submitted)] == ["disputes.put_evidence", "disputes.submit_evidence"]
    assert {each.subject for each in (put, submitted)} == {str(case.id)}
    assert {each.actor_id for each in (put, submitted)} == {world.owner.identity}
    assert {each.reason_code for each in (put, submitted)} == {"CAME_AND_STAYED"}
    assert "Ana" not in str((put.after, submitted.after))


async def test_what_was_said_is_sealed_for_its_row_alone(world: World, superuser: asyncpg.Connection):
    case = (await a_read_case(world)).case
    await says(world, case, "Ana Lima came in at 20:14.")
    [row] = await superuser.fetch("SELECT * FROM disputes.evidence WHERE dispute_id = $1", case.id.uuid)
    assert b"Ana" not in row["sealed"]
    steps = await superuser.fetch("SELECT * FROM disputes.step WHERE dispute_id = $1", case.id.uuid)
    assert "Ana" not in str(steps)
    with pytest.raises(CannotOpen):
        KEYRING().open(row["sealed"], Place("disputes.evidence", "sealed", world.organization.uuid, uuid7()))
    said = await world.database.read(world.scope, find_evidence, case.id, 1)
    assert said is not None and dict(said.texts) == {"access_activity_log": "Ana Lima came in at 20:14."}


async def test_a_case_is_taken_by_whoever_takes_it_and_by_who_speaks_first(world: World):
    case = (await a_read_case(world)).case
    assert case.assignee is None
    mine: Case = await world.submit(take, Taking(world.owner.caller, case.id, "ON_DUTY"))
    assert mine.assignee == world.owner.identity
    again: Case = await world.submit(take, Taking(world.owner.caller, case.id, "ON_DUTY"))
    assert again == mine, "who has it keeps it, and nothing is written"
    theirs: Case = await world.submit(take, Taking(world.buyer.caller, case.id, "HOLIDAYS"))
    await says(world, case)
    assert (await the_case(world, case)).assignee == theirs.assignee == world.buyer.identity
    assert (await trail(world, case))[-3:] == [K.TAKEN, K.TAKEN, K.EVIDENCE_PUT]


# -- What is not taken


async def refused(world: World, case: Case, *, submit: bool = False, words: str | None = "Too late.") -> type:
    with pytest.raises(Refusal) as found:
        await world.submit(put_evidence, a_statement(case, words, submit=submit))
    return type(found.value)


@pytest.mark.parametrize("submit", [False, True])
async def test_submitted_evidence_is_the_last_word(world: World, submit: bool):
    case = (await a_read_case(world)).case
    await says(world, case, submit=True)
    assert await refused(world, case, submit=submit) is errors.AlreadySubmitted, "also while it is on its way"
    await filed(world, await the_case(world, case))
    assert await refused(world, case, submit=submit) is errors.AlreadySubmitted


@pytest.mark.parametrize("submit", [False, True])
async def test_what_is_late_or_over_is_refused(world: World, submit: bool):
    late = (await a_read_case(world, due_in=0)).case
    assert await refused(world, late, submit=submit) is errors.EvidenceTooLate
    disputed = await a_read_case(world)
    world.simulator.act("lose", disputed.charge)
    await heard(world, disputed.payment)
    assert await refused(world, disputed.case, submit=submit) is errors.DisputeDecided


async def test_there_must_be_something_to_submit_and_somewhere(world: World):
    case = (await a_read_case(world)).case
    assert await refused(world, case, submit=True, words=None) is errors.EvidenceMissing
    nowhere = a_statement(case)
    with pytest.raises(errors.DisputeNotFound):
        await world.submit(put_evidence, type(nowhere)(Caller(), DisputeId.new(), nowhere.texts, False, "WHY"))


async def test_one_batch_takes_drafts_in_their_order_and_one_submission(world: World):
    case = (await a_read_case(world)).case
    statements = [
        a_statement(case, "One."),
        a_statement(case, "Two."),
        a_statement(case, None, submit=True),
        a_statement(case, "Three."),
        a_statement(case, None, submit=True),
    ]
    outcomes = await world.database.run(world.scope, lambda tx: put_evidence(tx, statements))
    assert [type(each).__name__ for each in outcomes] == ["Case", "Case", "Case", *["AlreadySubmitted"] * 2]
    said = await world.database.read(world.scope, find_evidence, case.id, 3)
    assert said is not None and (said.submits, dict(said.texts)) == (True, {"access_activity_log": "Two."})


# -- The way to the provider


async def test_a_draft_that_was_replaced_is_not_sent_after_its_successor(world: World):
    disputed = await a_read_case(world)
    await says(world, disputed.case, "Old.")
    case = await says(world, disputed.case, "New.")
    await filed(world, case)
    assert await filed(world, case, number=1) == await the_case(world, case)
    assert at_the_provider(world, disputed.charge)[1] == {"access_activity_log": "New."}


@pytest.mark.parametrize("fault", [CallFault.LOST, CallFault.ERROR_AFTER])
async def test_an_answer_that_was_lost_submits_nothing_twice(world: World, fault: CallFault):
    disputed = await a_read_case(world)
    case = await says(world, disputed.case, submit=True)
    world.simulator.misbehave(Faults(script=(fault,)))
    with pytest.raises(ProviderUnanswered):
        await filed(world, case)
    assert (await the_case(world, case)).is_being_submitted
    done = await filed(world, case)
    assert (done.state, at_the_provider(world, disputed.charge)[2]) == (State.EVIDENCE_SUBMITTED, 1)
    assert await filed(world, case) == done, "and a third time is nothing"
    assert (await trail(world, case)).count(K.SUBMITTED) == 1


@pytest.mark.parametrize("fault", [CallFault.UNREACHABLE, CallFault.ERROR_BEFORE, CallFault.BUSY])
async def test_what_did_not_arrive_is_tried_again(world: World, fault: CallFault):
    disputed = await a_read_case(world)
    case = await says(world, disputed.case, submit=True)
    world.simulator.misbehave(Faults(script=(fault,)))
    with pytest.raises(Refusal) as trouble:
        await filed(world, case)
    assert trouble.value.retryable
    assert not isinstance(trouble.value, DependencyUnavailable) or fault is CallFault.UNREACHABLE
    assert (await filed(world, case)).state is State.EVIDENCE_SUBMITTED


async def test_who_forgot_the_key_meanwhile_is_not_asked_to_submit_twice(world: World):
    """The provider keeps keys for a day; a week later it refuses, and its file says why."""
    disputed = await a_read_case(world)
    case = await says(world, disputed.case, submit=True)
    world.simulator.misbehave(Faults(script=(CallFault.LOST,)))
    with pytest.raises(ProviderUnanswered):
        await filed(world, case)
    with world.simulator.journal.writing():
        world.simulator.journal.forget_answers(2**62)
    done = await filed(world, case)
    assert (done.state, at_the_provider(world, disputed.charge)[2]) == (State.EVIDENCE_SUBMITTED, 1)
    assert (await trail(world, case))[-1] is K.SUBMITTED


async def test_what_was_submitted_at_the_providers_own_page_counts(world: World, superuser: asyncpg.Connection):
    disputed = await a_read_case(world)
    world.simulator.act("answer_dispute", disputed.charge)
    case = await read(world, disputed.case)
    assert (case.state, case.submission) == (State.EVIDENCE_SUBMITTED, None)
    assert (await trail(world, case))[-1] is K.SUBMITTED_ELSEWHERE
    assert len(await told(superuser, world, "dispute.evidence_submitted")) == 1
    assert await refused(world, case, submit=True) is errors.AlreadySubmitted


async def test_evidence_that_meets_another_there_is_not_ours_and_not_sent_again(world: World):
    """Ordered here, and answered at the provider's own page before ours arrived."""
    disputed = await a_read_case(world)
    case = await says(world, disputed.case, submit=True)
    world.simulator.act("answer_dispute", disputed.charge)
    done = await filed(world, case)
    assert (done.state, at_the_provider(world, disputed.charge)[2]) == (State.EVIDENCE_SUBMITTED, 1)


class Refusing(SandboxGateway):
    """Takes nothing."""

    async def answer_dispute(self, order: object) -> Refused:
        return Refused("evidence_too_long")


class Without(SandboxGateway):
    """Has no files of disputes."""

    abilities = frozenset(Ability) - {Ability.DISPUTES}  # type: ignore[misc]

    async def answer_dispute(self, order: object) -> Refused:
        raise AssertionError("it was asked for what it does not offer")

    find_dispute = answer_dispute  # type: ignore[assignment]


class Odd(SandboxGateway):
    """Uses words that nobody taught us."""

    async def find_dispute(self, caller: Caller, dispute: str) -> Dispute:
        raise UnknownStatus("perhaps", (Ref(ObjectType.DISPUTE, dispute),))


@pytest.mark.parametrize("kind", [Refusing, Without])
async def test_what_the_provider_refuses_is_told_and_can_be_said_anew(
    world: World, superuser: asyncpg.Connection, kind: type[SandboxGateway]
):
    disputed = await a_read_case(world)
    case = await says(world, disputed.case, submit=True)
    with GATEWAYS.wired(Gateways([kind.in_process(world.simulator)])):
        refused_case = await filed(world, case)
    assert (refused_case.state, refused_case.submission) == (State.OPEN, None)
    assert (await trail(world, case))[-1] is K.REFUSED
    assert (await open_alerts(superuser, case))["disputes.evidence_refused"] == "TICKET"
    await filed(world, await says(world, refused_case, "Shorter.", submit=True))
    done = await the_case(world, case)
    assert done.state is State.EVIDENCE_SUBMITTED
    await run(world, errands.end_submitted, await submitted_fact(world, done))
    assert await open_alerts(superuser, case) == {}


async def test_a_draft_that_is_not_taken_wakes_nobody(world: World, superuser: asyncpg.Connection):
    case = await says(world, (await a_read_case(world)).case)
    with GATEWAYS.wired(Gateways([Refusing.in_process(world.simulator)])):
        after = await filed(world, case)
    assert (after.filed, (await trail(world, case))[-1]) == (1, K.REFUSED)
    assert "disputes.evidence_refused" not in await open_alerts(superuser, case)


async def submitted_fact(world: World, case: Case) -> object:
    return told_of(DisputeEvidenceSubmitted, case, (await world.payment(case.payment)).source)


async def test_a_provider_without_files_is_not_asked_for_one(world: World):
    disputed = await a_disputed_sale(world)
    with GATEWAYS.wired(Gateways([Without.in_process(world.simulator)])):
        case = await read(world, disputed.case)
    assert (case.told_at, case.due_at) == (None, disputed.case.due_at)


async def test_a_word_that_we_do_not_know_decides_nothing(world: World):
    disputed = await a_disputed_sale(world)
    odd = Odd.in_process(world.simulator)
    with GATEWAYS.wired(Gateways([odd])), pytest.raises(ProviderUnanswered):
        await read(world, disputed.case)
    assert (await the_case(world, disputed.case)).told_at is None


async def test_a_dispute_that_cannot_be_found_yet_is_looked_for_again(world: World):
    disputed = await a_disputed_sale(world)
    world.simulator.misbehave(Faults(script=(CallFault.STALE,), stale_ms=10**9))
    with pytest.raises(ProviderUnanswered):
        await read(world, disputed.case)
    assert (await read(world, disputed.case)).told_at is not None


async def test_what_is_decided_meanwhile_is_kept_and_moves_nothing(world: World, superuser: asyncpg.Connection):
    """The provider took it; before we wrote that down, the bank had decided."""
    disputed = await a_read_case(world)
    case = await says(world, disputed.case, submit=True)
    world.simulator.misbehave(Faults(script=(CallFault.LOST,)))
    with pytest.raises(ProviderUnanswered):
        await filed(world, case)
    world.simulator.act("lose", disputed.charge)
    await heard(world, disputed.payment)
    assert (await filed(world, case)).state is State.LOST
    assert await told(superuser, world, "dispute.evidence_submitted") == []

    other = await a_read_case(world)
    case = await says(world, other.case, submit=True)
    world.simulator.act("win", other.charge)
    late = await filed(world, case)
    assert (late.state, late.submission) == (State.OPEN, None), "it says no, and who closes it are the facts"
    assert "disputes.evidence_refused" not in await open_alerts(superuser, case), "there is nothing to be done"
    await heard(world, other.payment)
    assert (await the_case(world, case)).state is State.WON


# -- What the software can say


class Door:
    """A vertical that knows who came in."""

    async def testify(self, tx: Tx, sources: list[Source]) -> list[dict[str, str]]:
        return [{"access_activity_log": f"{source.id}: one came in at 20:14."} for source in sources]


async def test_a_draft_says_what_was_bought_and_what_the_vertical_knows(world: World):
    disputed = await a_disputed_sale(world)
    payment = await world.payment(disputed.payment)
    with EVIDENCE.wired({SourceType.TICKET_ORDER: Door()}):
        said = await world.database.read(world.scope, find_said, disputed.case.id)
    assert said is not None and said.last is None
    draft = dict(said.draft)
    assert draft["access_activity_log"] == f"{payment.source.id}: one came in at 20:14."
    assert "1 x A line: 50.00 EUR" in draft["product_description"]
    assert "In all: 50.00 EUR" in draft["product_description"]
    assert str(payment.source) in draft["uncategorized_text"]
    assert world.buyer.email not in str(draft)
    alone = await world.database.read(world.scope, find_said, disputed.case.id)
    assert alone is not None and {*dict(alone.draft)} == {"product_description", "uncategorized_text"}


async def test_a_clerk_knows_of_nothing_that_is_not_there(world: World):
    clerk = Clerk(desk_of(world), world.organization, Caller())
    assert await clerk.read_file(DisputeId.new()) is None
    assert (await clerk.file_evidence(DisputeId.new(), 1)).case is None
