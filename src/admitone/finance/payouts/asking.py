"""Asking providers to pay: with no transaction open, some payouts at once.

Promise: whoever asks may be killed at any point, and whoever comes after asks the same under the same key: what was
paid is found, what was not is paid once. An answer that does not come leaves the payout as it is, being asked for.
"""

import asyncio
from collections.abc import Awaitable, Sequence
from typing import Final, TypeVar

from admitone.finance.gateways.api import NotSent, Payout, Provider, Refused, Trouble, Unknown, UnknownStatus
from admitone.finance.gateways.port import GATEWAYS
from admitone.finance.payouts.commands.paying import Asking, begin, take_answers
from admitone.finance.payouts.errors import PayoutUnanswered
from admitone.finance.payouts.model import Answer, PayoutId
from admitone.finance.payouts.orders import payout_order
from admitone.finance.sources.api import SettlementModel
from admitone.kernel import failpoints
from admitone.kernel.breaker import DependencyUnavailable
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import OrganizationId
from admitone.kernel.jobs import Desk
from admitone.kernel.scope import Caller, Scope
from admitone.kernel.telemetry import logger

AT_ONCE: Final = 16
"""How many answers one errand waits for."""
HELD: Final = SettlementModel.PLATFORM_MOR
"""Only what the platform holds is paid out: `payout_order` refuses to order anything else."""
DEFERRED_SECONDS: Final = 30
ANOTHER_ORDER: Final = "idempotency_error"
"""How providers refuse a key that they know: something was done under it, so this is no refusal to pay."""
Said = TypeVar("Said")


async def pay(desk: Desk, organization: OrganizationId, ids: Sequence[PayoutId], caller: Caller) -> list[Refusal]:
    """Ask for these, and write down what is said; what keeps some of them from being known."""
    scope = Scope(organization, "pay out")
    asked = await desk.database.run(scope, lambda tx: begin(tx, ids, caller), patient=True)
    failpoints.reach("payouts.before_asking")
    places = asyncio.Semaphore(AT_ONCE)

    async def one(asking: Asking) -> Refusal | None:
        async with places:
            said = await _said(asking, organization, caller)
        if not isinstance(said, Payout | Refused):
            return _refusal_of(said, asking.payout.provider)
        failpoints.reach("payouts.before_recording")
        try:
            await desk.batcher.submit(take_answers, scope, Answer(caller, asking.payout.id, said))
        except Refusal as refusal:
            return refusal
        return None

    troubles = await asyncio.gather(*(one(each) for each in asked))
    return [each for each in troubles if each is not None]


async def _said(asking: Asking, organization: OrganizationId, caller: Caller) -> Payout | Trouble:
    payout = asking.payout
    gateway, order = GATEWAYS().get(payout.provider), payout_order(organization, payout, caller)
    if asking.again:
        found = await _heard(gateway.find_payout(order))
        if isinstance(found, Refused):  # Who may not look has learnt nothing.
            return Unknown(f"may not look: {found.code}")
        if found is not None:
            return found
    said = await _heard(gateway.pay_out(order))
    if isinstance(said, Refused) and said.code == ANOTHER_ORDER:
        return Unknown("its key was used for another order")
    return said


async def _heard(asking: Awaitable[Said]) -> Said | Unknown:
    """What is said; a word that we do not know decides nothing (PAY-061)."""
    try:
        return await asking
    except UnknownStatus as odd:
        logger().error("payout.unknown_status", status=odd.status[:40])
        return Unknown(f"is {odd.status[:40]!r}")


def _refusal_of(trouble: NotSent | Unknown, provider: Provider) -> Refusal:
    """What was not sent waits for its provider to be there again, however long, and spends nothing; what may have been
    done is asked about so many times, and then by the sweep."""
    if isinstance(trouble, NotSent):
        return DependencyUnavailable(dependency=f"gateway:{provider}", retry_after_seconds=DEFERRED_SECONDS)
    return PayoutUnanswered()
