"""The disputes of the unification, lived through at the sandbox: their nets, trial balances and cases, and the proof
that the provider's own journal says the same."""

from dataclasses import dataclass
from functools import partial

import asyncpg
import pytest

from admitone.finance.disputes.model import State
from admitone.finance.gateways.api import Account, AccountOrder, Payout, PayoutOrder
from admitone.finance.gateways.sandbox.charges import Terms
from admitone.finance.ledger.api import Event, post
from admitone.finance.payments import projections
from admitone.finance.payments.api import Commission, hold_commissions
from admitone.finance.payments.model import Status
from admitone.finance.pricing.api import PolicyChange, Target, set_policies
from admitone.finance.pricing.api import Terms as FeeTerms
from admitone.finance.proof.model import Verdict
from admitone.finance.proof.proving import Prover
from admitone.finance.sources.api import Flow, PaymentId, SourceType
from admitone.kernel.batch import Batcher
from admitone.kernel.db import Database
from admitone.kernel.ids import uuid7
from admitone.kernel.scope import Caller
from tests.finance.disputes.cases import cases_of, desk_of, filed, heard, read, says, the_case
from tests.finance.ledger.books import a_posting, standing, the_trial
from tests.finance.ledger.scenarios import SCENARIOS
from tests.finance.payments.telling import a_paid_sale
from tests.finance.world import World, a_world

STAYS = Terms(fee_bps=290, fee_fixed_minor=30)


@dataclass(frozen=True)
class Life:
    deed: str
    stay: bool
    paid_out: bool = False
    state: State = State.LOST
    status: Status = Status.CHARGEBACK_LOST
    says_004: str = "dispute_lost"


LIVES = {
    "T7 dispute won": Life("win", False, state=State.WON, status=Status.CHARGEBACK_WON, says_004="dispute_won"),
    "T8 dispute lost": Life("lose", False),
    "S8 lost before payout": Life("lose", True),
    "S9 lost after payout": Life("lose", True, paid_out=True),
    "S10 won": Life("win", True, state=State.WON, status=Status.CHARGEBACK_WON, says_004="dispute_won"),
}


@pytest.mark.covers("MOR-044")
@pytest.mark.parametrize("name", LIVES)
async def test_a_dispute_comes_out_as_it_is_written(
    database: Database, batcher: Batcher, superuser: asyncpg.Connection, name: str
):
    terms = STAYS if LIVES[name].stay else Terms()
    async with a_world(database, batcher, terms=terms) as world:
        await lives_through(world, superuser, name, LIVES[name])


async def lives_through(world: World, superuser: asyncpg.Connection, name: str, life: Life) -> None:
    payment, charge = await (a_stay(world) if life.stay else a_sale(world))
    world.simulator.act("tell_fees", charge)
    if life.stay:
        await heard(world, payment)
        await world.submit(hold_commissions, Commission(Caller(), payment, 15_000, "confirmed"))
    if life.paid_out:
        await left_and_paid_out(world, superuser, payment)
    world.simulator.act("dispute", charge)
    await heard(world, payment)
    assert (await world.payment(payment)).status is Status.DISPUTED
    [case] = await cases_of(world, payment)
    case = await filed(world, await says(world, await read(world, case), submit=True))
    world.simulator.act(life.deed, charge)
    for _ in range(2):
        await heard(world, payment)

    scenario = SCENARIOS[name]
    trial = await the_trial(world.database, world.scope)
    assert await world.net(payment) == scenario.net
    assert standing(trial) == scenario.stands
    assert trial.debits_minor == trial.credits_minor
    row = await world.payment(payment)
    assert row.status is life.status
    assert projections.reserve(row) == life.says_004
    assert (await the_case(world, case)).state is life.state
    assert refunds_at(world, charge) == 0, "a bank took it: no refund is ordered (U-17)"
    findings = await Prover.at(desk_of(world)).prove(world.organization, Caller())
    assert {finding.check: finding.verdict for finding in findings} == {
        finding.check: Verdict.GREEN for finding in findings
    }


async def a_sale(world: World) -> tuple[PaymentId, str]:
    """Of which the platform has six of a hundred."""
    change = PolicyChange(Caller(), Target(), FeeTerms(fee_bps=600), "SCENARIOS")
    await world.database.run(world.scope, lambda tx: set_policies(tx, [change]))
    return await a_paid_sale(world)


async def a_stay(world: World) -> tuple[PaymentId, str]:
    return await a_paid_sale(world, 100_000, type=SourceType.STAY_RESERVATION)


async def left_and_paid_out(world: World, superuser: asyncpg.Connection, payment: PaymentId) -> None:
    """What payouts do when a guest has left: what was held is due, and is paid out at the provider."""
    row = await world.payment(payment)
    order = AccountOrder(Caller(), uuid7(), world.organization, "PT", None)
    account = await world.gateway.open_account(order)
    assert isinstance(account, Account)
    world.simulator.act("complete", account.id)
    paid = await world.gateway.pay_out(
        PayoutOrder(Caller(), uuid7(), world.organization, account.id, 85_000, row.currency)
    )
    assert isinstance(paid, Payout)
    world.simulator.act("arrive", paid.id)
    steps = (
        (Event.CHECKED_OUT, {"due": 85_000, "commission": 15_000}),
        (Event.PAYOUT_INITIATED, {"paid": 85_000}),
        (Event.PAYOUT_PAID, {"paid": 85_000}),
        (Event.COMMISSION_SWEPT, {"commission": 15_000}),
    )
    about = {"payment": payment, "source": row.source, "reference": paid.id}
    postings = [a_posting(event, Flow.STAY, cause=f"left {paid.id}", **about, **amounts) for event, amounts in steps]
    await world.database.run(world.scope, partial(post, postings=postings))
    await superuser.execute("UPDATE payments.payment SET flow = 'STAY_LEFT' WHERE id = $1", payment.uuid)


def refunds_at(world: World, charge: str) -> int:
    intent = world.simulator.get(charge)
    return len(intent.paid.refunds)  # type: ignore[union-attr]
