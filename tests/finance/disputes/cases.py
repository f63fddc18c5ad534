"""Cases, as tests need them: a sale that is disputed at the sandbox, and what the worker does about it.

case = await a_disputed_sale(world)
case = await says(world, case, "Came in at 20:14.", submit=True)
case = await filed(world, case)                       as the worker does when it hears of it
assert await trail(world, case) == [...]
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import asyncpg
import msgspec

from admitone.finance.disputes import errands, store
from admitone.finance.disputes.commands.answering import put_evidence
from admitone.finance.disputes.commands.following import follow
from admitone.finance.disputes.facts import DisputeClosed, DisputeOpened, EvidencePut, told_of
from admitone.finance.disputes.model import Case, DisputeId, Statement, StepKind, Texts
from admitone.finance.disputes.store import list_steps
from admitone.finance.sources.api import PaymentId
from admitone.kernel.ids import PLATFORM_ORGANIZATION, uuid7
from admitone.kernel.jobs import Delivered, Desk, Kind
from admitone.kernel.jobs.schedules import Firing
from admitone.kernel.scope import Caller
from tests.finance.payments.telling import a_paid_sale, ask
from tests.finance.world import World


@dataclass
class Disputed:
    """A payment somebody wants back, and its charge at the provider."""

    payment: PaymentId
    charge: str
    case: Case


async def a_disputed_sale(world: World, price: int = 5000, *, due_in: int | None = None, **more: Any) -> Disputed:
    """The provider told of it, and we followed."""
    payment, charge = await a_paid_sale(world, price, **more)
    world.simulator.act("dispute", charge, **({} if due_in is None else {"due_in": due_in}))
    await heard(world, payment)
    [case] = await cases_of(world, payment)
    return Disputed(payment, charge, case)


async def a_read_case(world: World, **more: Any) -> Disputed:
    """One of which the provider's file was read."""
    disputed = await a_disputed_sale(world, **more)
    disputed.case = await read(world, disputed.case)
    return disputed


async def heard(world: World, payment: PaymentId) -> None:
    """The provider is asked, and the case follows."""
    await ask(world, payment)
    await followed(world, payment)


async def followed(world: World, *payments: PaymentId) -> None:
    await world.database.run(world.scope, lambda tx: follow(tx, dict.fromkeys(payments, Caller())), patient=True)


async def cases_of(world: World, payment: PaymentId) -> list[Case]:
    found = await world.database.read(world.scope, store.list_cases, None, None, 1000)
    return sorted((case for case in found if case.payment == payment), key=lambda case: case.opened_at)


async def the_case(world: World, case: Case | DisputeId) -> Case:
    own = case.id if isinstance(case, Case) else case
    found = await world.database.read(world.scope, store.find_case, own)
    assert found is not None
    return found


async def trail(world: World, case: Case) -> list[StepKind]:
    return [step.kind for step in await world.database.read(world.scope, list_steps, case.id)]


# -- What the worker does


def desk_of(world: World) -> Desk:
    return Desk(world.database, world.batcher)


async def run(world: World, kind: Kind[Any], payload: Any, *, organization: Any = None) -> None:
    own = organization or world.organization
    job = Delivered(uuid7(), own, payload, Caller(), "key", None, 1, datetime.now(UTC))
    await kind.work(desk_of(world), job)


async def read(world: World, case: Case) -> Case:
    payment = await world.payment(case.payment)
    await run(world, errands.read_file, told_of(DisputeOpened, case, payment.source))
    return await the_case(world, case)


async def filed(world: World, case: Case, number: int | None = None) -> Case:
    await run(world, errands.file_evidence, EvidencePut(dispute_id=case.id, evidence=number or case.evidence))
    return await the_case(world, case)


async def ended(world: World, case: Case) -> None:
    payment = await world.payment(case.payment)
    await run(world, errands.end_closed, told_of(DisputeClosed, case, payment.source, outcome=case.state.value))


async def watched(world: World) -> None:
    firing = Firing("disputes.watch", datetime.now(UTC))
    await run(world, errands.watch, firing, organization=PLATFORM_ORGANIZATION)


# -- What people do


def a_statement(
    case: Case, words: str | None = "Came in at 20:14.", *, submit: bool = False, caller: Caller | None = None
) -> Statement:
    texts: Texts | None = None if words is None else (("access_activity_log", words),)
    return Statement(caller or Caller(), case.id, texts, submit, "CAME_AND_STAYED")


async def says(world: World, case: Case, words: str | None = "Came in at 20:14.", *, submit: bool = False) -> Case:
    statement = a_statement(case, words, submit=submit, caller=world.owner.caller)
    said: Case = await world.submit(put_evidence, statement)
    return said


# -- What others see


async def told(superuser: asyncpg.Connection, world: World, name: str) -> list[dict[str, Any]]:
    """The payloads of these facts of this organisation, in their order."""
    rows = await superuser.fetch(
        "SELECT payload::text AS payload FROM kernel.event_log WHERE organization_id = $1 AND type = $2 ORDER BY id",
        world.organization.uuid,
        name,
    )
    return [msgspec.json.decode(row["payload"]) for row in rows]


async def open_alerts(superuser: asyncpg.Connection, case: Case) -> dict[str, str]:
    """Rules that stand open for a case, with their class."""
    rows = await superuser.fetch(
        "SELECT rule, class FROM kernel.alert WHERE subject = $1 AND resolved_at IS NULL", str(case.id)
    )
    return {row["rule"]: row["class"] for row in rows}
