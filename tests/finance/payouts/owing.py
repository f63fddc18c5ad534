"""What the tests of payouts have in common: something that was paid for and is over, a batch, a provider that pays.

night = await a_stay(world)                       paid, confirmed, its fee told
await owed(world, night, 85_000, "2026-02-14T20:00Z")
await batch(world, "2026-02-16T00:00Z")           made, asked for, and answered
arrive(world)                                     and it arrives, and is told
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from admitone.finance.gateways.api import Payout as TakenPayout
from admitone.finance.gateways.sandbox.objects import Payout as SandboxPayout
from admitone.finance.gateways.sandbox.reading import payout_of
from admitone.finance.ledger import api as ledger
from admitone.finance.payments.api import Commission, Recorded, hold_commissions, keep_commissions
from admitone.finance.payouts.api import FreezeOrder, Owed, Owing, Reason, freeze, owe, release
from admitone.finance.payouts.asking import pay
from admitone.finance.payouts.commands.batching import make_batch
from admitone.finance.payouts.commands.freezing import Heard, look_again
from admitone.finance.payouts.commands.paying import hear
from admitone.finance.payouts.model import Obligation, Payout, PayoutState, Report
from admitone.finance.payouts.store import obligations as obligation_store
from admitone.finance.payouts.store import payouts as payout_store
from admitone.finance.sources.api import PaymentId, SourceType
from admitone.kernel.db import Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.jobs import Desk
from admitone.kernel.scope import Caller
from tests.finance.lives import hear as hear_of
from tests.finance.world import World

STAY = {"type": SourceType.STAY_RESERVATION}
FIRST, LAST = UUID(int=0), UUID(int=2**128 - 1)
SATURDAY = "2026-02-14T20:00Z"
MONDAY = "2026-02-16T00:00Z"
NEXT_MONDAY = "2026-02-23T00:00Z"
MOST = 10_000


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


@dataclass(frozen=True)
class Stay:
    payment: PaymentId
    charge: str


async def a_stay(world: World, price: int = 100_000, commission: int = 15_000, **more: Any) -> Stay:
    """Paid and confirmed; what the provider took is known."""
    payment, charge = await world.opened(world.shop.sells(world.buyer.identity, price, **(STAY | more)))
    world.simulator.act("pay", charge)
    world.simulator.act("tell_fees", charge)
    await hear_of(world, payment)
    if commission:
        assert isinstance(
            await does(world, hold_commissions, Commission(Caller(), payment, commission, "ok")), Recorded
        )
    return Stay(payment, charge)


async def does(world: World, command: Any, each: Any) -> Any:
    [outcome] = await world.database.run(world.scope, lambda tx: command(tx, [each]), patient=True)
    return outcome


async def keeps(world: World, stay: Stay, commission: int) -> None:
    kept = await does(world, keep_commissions, Commission(Caller(), stay.payment, commission, "tier"))
    assert isinstance(kept, Recorded), kept


async def refunded(world: World, stay: Stay, amount: int | None = None) -> None:
    world.simulator.act("refund", stay.charge, **({"amount": amount} if amount else {}))
    await hear_of(world, stay.payment)


def an_owing(stay: Stay, amount: int, left: str = SATURDAY, **more: Any) -> Owing:
    return Owing(Caller(), stay.payment, amount, at(left), **more)


async def owed(world: World, stay: Stay, amount: int = 85_000, left: str = SATURDAY, **more: Any) -> Owed:
    outcome = await does(world, owe, an_owing(stay, amount, left, **more))
    assert isinstance(outcome, Owed), outcome
    return outcome


async def an_owed_stay(world: World, left: str = SATURDAY, price: int = 100_000, **more: Any) -> Stay:
    """Fifteen of a hundred are the platform's."""
    owing = {key: more.pop(key) for key in ("property_key", "hold_days") if key in more}
    stay = await a_stay(world, price, price * 15 // 100, **more)
    await owed(world, stay, price - price * 15 // 100, left, **owing)
    return stay


async def made(world: World, when: str = MONDAY) -> tuple[Payout, ...]:
    """A batch; nobody is asked yet."""
    batch = await world.database.run(world.scope, lambda tx: make_batch(tx, Caller(), at(when), FIRST), patient=True)
    return batch.payouts


async def asked(world: World, payouts: Sequence[Payout]) -> list[Refusal]:
    return await pay(Desk(world.database, world.batcher), world.organization, [each.id for each in payouts], Caller())


async def batch(world: World, when: str = MONDAY) -> list[Payout]:
    """Made, asked for and answered."""
    payouts = await made(world, when)
    assert await asked(world, payouts) == []
    return [each for each in await all_payouts(world) if each.id in {one.id for one in payouts}]


async def ends(world: World, payout: Payout, deed: str = "arrive") -> None:
    """It arrives, or comes back, and we are told as by a webhook."""
    [current] = [each for each in await all_payouts(world) if each.id == payout.id]
    assert current.reference is not None
    world.simulator.act(deed, current.reference)
    await told(world, current.reference)


async def told(world: World, reference: str) -> None:
    await world.database.run(world.scope, lambda tx: hear(tx, [report_of(world, reference)]), patient=True)


def report_of(world: World, reference: str) -> Report:
    """What the provider says of it by itself."""
    said = there(world, reference)
    provider = world.gateway.provider
    return Report(Caller(), provider, said.id, said.status, said.amount_minor, said.currency, said.at, said.code)


def there(world: World, reference: str) -> TakenPayout:
    """As the provider has it."""
    found = world.simulator.find(reference)
    assert isinstance(found, SandboxPayout)
    return payout_of(found)


def all_there(world: World) -> list[TakenPayout]:
    return [payout_of(each) for each in world.simulator.list_newest(SandboxPayout, MOST)]


async def happened(world: World, *stays: Stay, refund_failed: bool | None = None) -> None:
    """Something was told of their payments, and we hear of it as a subscriber does."""
    heard = [Heard(each.payment, Caller(), refund_failed) for each in stays]
    await world.database.run(world.scope, lambda tx: look_again(tx, heard), patient=True)


async def disputed(world: World, stay: Stay) -> None:
    world.simulator.act("dispute", stay.charge)
    await hear_of(world, stay.payment)


async def decided(world: World, stay: Stay, deed: str) -> None:
    world.simulator.act(deed, stay.charge)
    await hear_of(world, stay.payment)
    await happened(world, stay)


async def frozen(world: World, stay: Stay, reason: Reason = Reason.OPERATOR) -> Any:
    return await does(world, freeze, FreezeOrder(Caller(), stay.payment, reason, "FRAUD_SUSPECTED"))


async def released(world: World, stay: Stay, reason: Reason = Reason.OPERATOR) -> Any:
    return await does(world, release, FreezeOrder(Caller(), stay.payment, reason, "NO_FRAUD_FOUND"))


async def all_payouts(world: World) -> list[Payout]:
    return await world.database.read(world.scope, payout_store.list_payouts, LAST, None, None, MOST)


async def states(world: World) -> list[PayoutState]:
    return [each.state for each in await all_payouts(world)]


async def obligation(world: World, stay: Stay) -> Obligation:
    found = await world.database.read(world.scope, obligation_store.find_by_payment, [stay.payment])
    return found[stay.payment]


async def trial(world: World, currency: str = "EUR") -> dict[str, int]:
    """What stands, debits positive, as in the tables of the unification."""
    trials = await world.database.read(world.scope, ledger.trial_balance)
    assert all(each.debits_minor == each.credits_minor for each in trials)
    [ours] = [each for each in trials if each.currency == currency]
    return {
        account: minor if ledger.CHART[account].grows_by_debit else -minor
        for account, minor in ours.accounts.items()
        if minor
    }


async def owes(world: World, owner: UUID | None = None, currency: str = "EUR") -> int:
    """What the ledger owes the owner."""

    async def find(tx: Tx) -> int:
        own = owner or world.organization.uuid
        found = await ledger.balances_of(tx, [ledger.Account.ORG, ledger.Account.SETL], [own])
        return sum(
            each.minor * (1 if holding.account is ledger.Account.ORG else -1)
            for holding, each in found.items()
            if holding.currency == currency
        )

    return await world.database.read(world.scope, find)
