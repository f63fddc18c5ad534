"""How often somebody may have something for nothing (FIN-082, FIN-083).

Promise: whatever made it free, a promotion or its price, the same is counted: so many for each person and for each
address, after which the door closes for longer each time. Who is denied three times, or comes to a place where too
many others had something for nothing just before, proves that it is them before they go on; a guest signs in. Every
denial stands in the trail and is told, without anybody's name (FIN-084).
"""

from typing import Final

from admitone.finance.payments.commands.denials import Denial, deny
from admitone.finance.payments.errors import SignInToPay
from admitone.finance.payments.model import Checkout
from admitone.kernel import streaks
from admitone.kernel.contracts import Call
from admitone.kernel.errors import Throttled
from admitone.kernel.figures import (
    FREE_CHECKOUT_FAILURES,
    FREE_CHECKOUT_PEOPLE_PER_ADDRESS,
    FREE_CHECKOUT_PEOPLE_PER_DEVICE,
    FREE_CHECKOUT_PER_ADDRESS,
    FREE_CHECKOUT_PER_IDENTITY,
    FREE_CHECKOUT_SEEN,
)
from admitone.kernel.ids import IdentityId
from admitone.kernel.limits import Hit, by_address, by_device, by_identity
from admitone.kernel.scope import Scope
from admitone.kernel.streaks import Mark, Outcome, Result, StepUpRequired

LIMITS: Final = (
    FREE_CHECKOUT_PER_IDENTITY,
    FREE_CHECKOUT_PER_ADDRESS,
    FREE_CHECKOUT_SEEN,
    FREE_CHECKOUT_PEOPLE_PER_DEVICE,
    FREE_CHECKOUT_PEOPLE_PER_ADDRESS,
)


async def count_free(call: Call, checkout: Checkout, buyer: IdentityId, scope: Scope) -> None:
    """Before something is given away; raises what keeps it from being so."""
    try:
        await _check(call, buyer)
        await call.count(
            Hit(FREE_CHECKOUT_PER_IDENTITY, by_identity(buyer)),
            Hit(FREE_CHECKOUT_PER_ADDRESS, by_address(call.caller.address)),
        )
        if await _is_one_of_too_many(call, buyer):
            await _fail(call, buyer, FREE_CHECKOUT_FAILURES.count)
            await _check(call, buyer)
    except (Throttled, StepUpRequired, SignInToPay) as refusal:
        await call.batch(deny, Denial(call.caller, checkout.source, refusal.code), scope=scope)
        raise


async def note_denied(call: Call, buyer: IdentityId) -> None:
    """Somebody wanted something once more than they may; whoever does so again and again is asked who they are."""
    await _fail(call, buyer)


async def _check(call: Call, buyer: IdentityId) -> None:
    try:
        await call.batch(streaks.check, (_mark(buyer),), scope=streaks.SCOPE)
    except StepUpRequired:
        if call.identity is None:
            raise SignInToPay from None  # A guest has nothing else to prove it with.
        raise


async def _fail(call: Call, buyer: IdentityId, times: int = 1) -> None:
    await call.batch(streaks.record, (Outcome(_mark(buyer), Result.FAILED),) * times, scope=streaks.SCOPE)


def _mark(buyer: IdentityId) -> Mark:
    return Mark(FREE_CHECKOUT_FAILURES, by_identity(buyer))


async def _is_one_of_too_many(call: Call, buyer: IdentityId) -> bool:
    """Whether too many others had something for nothing from the same device, or address, just before."""
    places = [(FREE_CHECKOUT_PEOPLE_PER_ADDRESS, by_address(call.caller.address))]
    if call.caller.device:
        places.append((FREE_CHECKOUT_PEOPLE_PER_DEVICE, by_device("free_checkout", call.caller.device)))
    crowded = [
        await _exceeds(call, Hit(limit, place))
        for limit, place in places
        if not await _exceeds(call, Hit(FREE_CHECKOUT_SEEN, f"{place} {buyer}"))  # Who was there before counts once.
    ]
    return any(crowded)


async def _exceeds(call: Call, hit: Hit) -> bool:
    try:
        await call.count(hit)
    except Throttled:
        return True
    return False
