"""A dispute from the cardholder's bank to its end, through the door and by the real worker; and what time takes away."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import timedelta

import asyncpg
import httpx
import pytest

from admitone.finance.disputes.model import Case, State, StepKind
from admitone.finance.disputes.module import MODULE as DISPUTES
from admitone.finance.disputes.store import find_evidence
from admitone.finance.payments.errands import ask_provider
from admitone.finance.payments.facts import PaymentIncomplete
from admitone.finance.payments.model import Status
from admitone.finance.sources.api import PaymentId
from admitone.finance.webhooks.handlers.applying import apply
from admitone.finance.webhooks.handlers.mourning import tell
from admitone.finance.webhooks.handlers.resolving import resolve
from admitone.kernel.db import Database
from admitone.kernel.jobs import Subscription
from admitone.kernel.manifest import Module
from admitone.kernel.retention import enforce
from tests.finance.disputes.cases import a_read_case, cases_of, filed, open_alerts, says, the_case, told, trail
from tests.finance.payments.telling import a_paid_sale
from tests.finance.world import World
from tests.jobs import DEADLINE_SECONDS, a_worker, duties

K = StepKind
ASKING = Module("asking", jobs=(ask_provider,), subscriptions=(Subscription(PaymentIncomplete, ask_provider),))


class Watcher:
    """Somebody who posts what the provider tells, and waits until the case is as it should be."""

    def __init__(self, world: World, site: httpx.AsyncClient, payment: PaymentId) -> None:
        self.world = world
        self.site = site
        self.payment = payment

    async def until(self, is_so: Callable[[Sequence[Case]], bool]) -> Case:
        async with asyncio.timeout(DEADLINE_SECONDS):
            while not is_so(cases := await cases_of(self.world, self.payment)):
                due = self.world.simulator.due_deliveries()
                for each in due:
                    answer = await self.site.post(each.path, content=each.body, headers=dict(each.headers))
                    assert answer.status_code == 200, answer.text
                self.world.simulator.delivered(*due)
                await asyncio.sleep(0.05)
        return cases[-1]


@pytest.mark.covers("FIN-075")
@pytest.mark.parametrize(
    ("deed", "state", "status"),
    [("win", State.WON, Status.CHARGEBACK_WON), ("lose", State.LOST, Status.CHARGEBACK_LOST)],
)
async def test_a_dispute_is_heard_read_answered_and_decided(
    world: World,
    site: httpx.AsyncClient,
    superuser: asyncpg.Connection,
    database: Database,
    deed: str,
    state: State,
    status: Status,
):
    payment, charge = await a_paid_sale(world)
    watcher = Watcher(world, site, payment)
    async with a_worker(database, duties(resolve, apply, tell, modules=(ASKING, DISPUTES))):
        world.simulator.act("dispute", charge)
        case = await watcher.until(lambda cases: bool(cases) and cases[-1].told_at is not None)
        assert await open_alerts(superuser, case) == {"disputes.opened": "TICKET"}
        answer = await site.post(
            f"/api/org/{world.organization}/finance/disputes/{case.id}/evidence",
            json={
                "reasonCode": "CAME_AND_STAYED",
                "idempotencyKey": "one",
                "texts": {"access_activity_log": "Came in at 20:14."},
                "submit": True,
            },
            headers=world.owner.headers,
        )
        assert answer.status_code == 200, answer.text
        await watcher.until(lambda cases: cases[-1].state is State.EVIDENCE_SUBMITTED)
        world.simulator.act(deed, charge)
        await watcher.until(lambda cases: cases[-1].state is state)
        async with asyncio.timeout(DEADLINE_SECONDS):
            while await open_alerts(superuser, case):  # noqa: ASYNC110  Another task tells nobody.
                await asyncio.sleep(0.05)
    steps = await trail(world, case)
    assert steps == [K.OPENED, K.FILE_READ, K.SUBMISSION_ORDERED, K.SUBMITTED, K(state.value)]
    assert (await world.payment(payment)).status is status
    for name in ("dispute.opened", "risk.dispute_created", "dispute.evidence_submitted", "dispute.closed"):
        assert len(await told(superuser, world, name)) == 1, name


@pytest.mark.covers("FIN-075")
async def test_words_go_with_time_and_the_trail_stays(world: World, superuser: asyncpg.Connection, database: Database):
    old = await filed(world, await says(world, (await a_read_case(world)).case))
    young = await filed(world, await says(world, (await a_read_case(world)).case))
    for case, age in ((old, timedelta(days=401)), (young, timedelta(days=399))):
        await superuser.execute(
            "UPDATE disputes.evidence SET created_at = created_at - $2::interval WHERE dispute_id = $1",
            case.id.uuid,
            age,
        )
    enforced = await enforce(database, [DISPUTES])
    assert enforced.rows["disputes.evidence"] >= 1
    assert await database.read(world.scope, find_evidence, old.id, 1) is None
    assert await database.read(world.scope, find_evidence, young.id, 1) is not None
    assert await the_case(world, old) == old
    assert await trail(world, old) == [K.OPENED, K.FILE_READ, K.EVIDENCE_PUT, K.FILED]
