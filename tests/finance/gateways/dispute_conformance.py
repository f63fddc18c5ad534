"""What the adapter of a provider with disputes must do with their files: find them, put evidence there, submit it once.

A test module that inherits `Conformance` inherits this, too; a provider without disputes is left out.
"""

import asyncio
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from admitone.finance.gateways.api import (
    Ability,
    Account,
    Charge,
    ChargeOrder,
    Dispute,
    DisputeStatus,
    FactKind,
    MovementKind,
    Refund,
    Refused,
    Reversal,
)
from admitone.kernel.scope import Caller
from tests.finance.gateways.builders import a_refund_order, a_reversal_order, an_account_order, an_evidence_order, sure
from tests.finance.gateways.stage import Stage, all_movements, needs, paid, read_webhooks

Is = DisputeStatus


async def disputed(stage: Stage, due_in: int | None = None) -> tuple[ChargeOrder, Charge, Dispute]:
    """What somebody paid for and wants back."""
    if Ability.DISPUTES not in stage.gateway.abilities:
        pytest.skip(f"{stage.gateway.provider} has no disputes")
    order, charge = await paid(stage)
    await stage.do("dispute", charge.id, **({} if due_in is None else {"due_in": due_in}))
    charge = sure(Charge, await stage.gateway.find_charge(Caller(), charge.id))
    [opened] = [fact for fact in charge.facts if fact.kind is FactKind.DISPUTE_OPENED]
    return order, charge, sure(Dispute, await stage.gateway.find_dispute(Caller(), opened.reference))


class DisputeConformance:
    """The suite."""

    async def test_what_is_on_file_is_what_was_told(self, stage: Stage):
        _, charge, dispute = await disputed(stage)
        opened = charge.facts[-1]
        assert (dispute.id, dispute.charge, dispute.opened_at) == (opened.reference, opened.charge, opened.at)
        assert (dispute.amount_minor, dispute.currency) == (opened.amount_minor, opened.currency) == (5_000, "EUR")
        assert dispute.status is Is.NEEDS_RESPONSE
        assert dispute.reason == opened.code != ""
        assert (dispute.has_evidence, dispute.submissions) == (False, 0)
        assert dispute.due_at
        assert dispute.due_at > datetime.now(UTC) + timedelta(hours=1)

    @pytest.mark.covers("PAY-067")
    @pytest.mark.parametrize("end", [None, "lose", "win"])
    async def test_what_a_bank_has_is_not_given_back_besides(self, stage: Stage, end: str | None):
        order, charge, _ = await disputed(stage)
        if end:
            await stage.do(end, charge.id)
        said = await stage.gateway.refund(a_refund_order(order, charge, 2_000))
        if end == "win":
            assert sure(Refund, said).fact.amount_minor == 2_000
        else:
            assert sure(Refused, said).code == "charge_disputed"

    async def test_a_dispute_that_never_was_is_nothing(self, stage: Stage):
        await disputed(stage)
        for name in ("dp_0", "dp_00000000000000000000000"):
            assert await stage.gateway.find_dispute(Caller(), name) is None
            order = an_evidence_order((await paid(stage))[0], name, submit=True)
            sure(Refused, await stage.gateway.answer_dispute(order))

    async def test_evidence_is_on_file_replaced_and_submitted(self, stage: Stage):
        order, charge, dispute = await disputed(stage)
        answer = stage.gateway.answer_dispute
        draft = sure(Dispute, await answer(an_evidence_order(order, dispute.id)))
        assert (draft.status, draft.has_evidence, draft.submissions) == (Is.NEEDS_RESPONSE, True, 0)
        second = (("access_activity_log", "Came in at 20:14."), ("refund_policy", "None."))
        again = sure(Dispute, await answer(an_evidence_order(order, dispute.id, texts=second)))
        assert (again.status, again.submissions) == (Is.NEEDS_RESPONSE, 0)
        done = sure(Dispute, await answer(an_evidence_order(order, dispute.id, texts=second, submit=True)))
        assert (done.status, done.has_evidence, done.submissions) == (Is.UNDER_REVIEW, True, 1)
        assert await stage.gateway.find_dispute(Caller(), dispute.id) == done
        facts = sure(Charge, await stage.gateway.find_charge(Caller(), charge.id)).facts
        assert facts == charge.facts, "evidence moves no money"
        for event in await read_webhooks(stage, charge):
            assert set(event.facts) <= set(facts), "and what is told of it is nothing new"

    async def test_submitted_evidence_is_not_changed_any_more(self, stage: Stage):
        order, _, dispute = await disputed(stage)
        done = sure(Dispute, await stage.gateway.answer_dispute(an_evidence_order(order, dispute.id, submit=True)))
        for submit in (False, True):
            late = an_evidence_order(order, dispute.id, texts=(("refund_policy", "Another."),), submit=submit)
            assert sure(Refused, await stage.gateway.answer_dispute(late)).code
        assert await stage.gateway.find_dispute(Caller(), dispute.id) == done

    async def test_the_same_order_again_is_the_same_answer(self, stage: Stage):
        order, _, dispute = await disputed(stage)
        evidence = an_evidence_order(order, dispute.id, submit=True)
        answers = await asyncio.gather(*(stage.gateway.answer_dispute(evidence) for _ in range(4)))
        assert len({sure(Dispute, each) for each in answers}) == 1
        found = sure(Dispute, await stage.gateway.find_dispute(Caller(), dispute.id))
        assert found.submissions == 1
        other = an_evidence_order(order, dispute.id, key=evidence.key, texts=(("refund_policy", "Another."),))
        sure(Refused, await stage.gateway.answer_dispute(other))

    async def test_of_many_who_submit_one_does(self, stage: Stage):
        order, _, dispute = await disputed(stage)
        orders = [an_evidence_order(order, dispute.id, key=uuid4(), submit=True) for _ in range(5)]
        answers = await asyncio.gather(*(stage.gateway.answer_dispute(each) for each in orders))
        assert [type(each) for each in answers].count(Dispute) == 1
        assert sure(Dispute, await stage.gateway.find_dispute(Caller(), dispute.id)).submissions == 1

    @pytest.mark.parametrize("submit", [False, True])
    async def test_evidence_after_its_time_is_refused(self, stage: Stage, submit: bool):
        order, _, dispute = await disputed(stage, due_in=0)
        late = await stage.gateway.answer_dispute(an_evidence_order(order, dispute.id, submit=submit))
        assert sure(Refused, late).code
        found = sure(Dispute, await stage.gateway.find_dispute(Caller(), dispute.id))
        assert (found.status, found.has_evidence, found.submissions) == (Is.NEEDS_RESPONSE, False, 0)

    @pytest.mark.parametrize(("deed", "ends"), [("win", Is.WON), ("lose", Is.LOST)])
    @pytest.mark.parametrize("submitted", [False, True])
    async def test_a_file_says_how_it_ended_and_takes_nothing_more(
        self, stage: Stage, deed: str, ends: DisputeStatus, submitted: bool
    ):
        order, charge, dispute = await disputed(stage)
        if submitted:
            await stage.gateway.answer_dispute(an_evidence_order(order, dispute.id, submit=True))
        await stage.do(deed, charge.id)
        closed = sure(Dispute, await stage.gateway.find_dispute(Caller(), dispute.id))
        assert (closed.status, closed.submissions) == (ends, int(submitted))
        sure(Refused, await stage.gateway.answer_dispute(an_evidence_order(order, dispute.id, submit=True)))
        assert await stage.gateway.find_dispute(Caller(), dispute.id) == closed

    # -- What went on to the organisation's account

    @pytest.mark.covers("FIN-005", "PAY-037")
    async def test_what_a_lost_dispute_took_comes_back_from_the_account_once(self, stage: Stage):
        needs(stage, Ability.ACCOUNTS)
        owner = an_account_order()
        account = sure(Account, await stage.gateway.open_account(owner))
        await stage.do("complete", account.id)
        order, charge = await paid(stage, account=account.id, organization=owner.organization)
        for deed in ("dispute", "lose"):
            await stage.do(deed, charge.id)
        facts = sure(Charge, await stage.gateway.find_charge(Caller(), charge.id)).facts
        [dispute] = [fact.reference for fact in facts if fact.kind is FactKind.DISPUTE_LOST]
        back = a_reversal_order(order, charge, dispute)
        made = await asyncio.gather(*(stage.gateway.take_back(back) for _ in range(4)))
        assert {(sure(Reversal, each).amount_minor, each.currency) for each in made} == {(4_700, "EUR")}
        sure(Refused, await stage.gateway.take_back(a_reversal_order(order, charge, dispute, amount_minor=4_000)))
        rows = await all_movements(stage.gateway, owner.organization)
        assert [each.amount_minor for each in rows if each.kind is MovementKind.TRANSFER_REVERSED] == [4_700]
        after = sure(Charge, await stage.gateway.find_charge(Caller(), charge.id)).facts
        assert {fact.key for fact in after} == {fact.key for fact in facts}, "which is between us and them"

    async def test_from_where_nothing_went_nothing_comes_back(self, stage: Stage):
        order, charge, dispute = await disputed(stage)
        await stage.do("lose", charge.id)
        said = await stage.gateway.take_back(a_reversal_order(order, charge, dispute.id))
        assert sure(Refused, said).code == "no_transfer"
