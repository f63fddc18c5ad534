"""Going on with a payment that was begun, for whoever's page began it.

Promise: what costs nothing is counted before it is given; a provider is asked with no transaction open, after the
intent to ask it was committed; what it did not answer is unknown, and said to be so.
"""

import msgspec

from admitone.finance.payments import errors
from admitone.finance.payments.asking import Case, Clerk
from admitone.finance.payments.commands.checkouts import Begun, begin
from admitone.finance.payments.free import count_free, note_denied
from admitone.finance.payments.model import Checkout, IntentState, Way
from admitone.finance.payments.secrets import status_secret
from admitone.finance.payments.ways import unseal, way_of
from admitone.finance.payments.wires import CheckoutAnswer, checkout_answer
from admitone.kernel.contracts import Call
from admitone.kernel.scope import Scope


async def begin_to_pay(call: Call, checkout: Checkout, scope: Scope) -> Begun:
    try:
        return await call.batch(begin, checkout, scope=scope)
    except errors.FreeUncounted as free:
        return await begin_for_nothing(call, checkout, scope, free)


async def begin_for_nothing(call: Call, checkout: Checkout, scope: Scope, free: errors.FreeUncounted) -> Begun:
    """What turned out to be free: once it was counted."""
    await count_free(call, checkout, free.buyer, scope)
    try:
        return await call.batch(begin, msgspec.structs.replace(checkout, counted=True), scope=scope)
    except errors.FreeLimitReached:
        await note_denied(call, free.buyer)
        raise


async def go_on(call: Call, begun: Begun) -> CheckoutAnswer:
    """How the buyer pays: what the provider said, now or when it was asked before."""
    if begun.intent is None:
        return checkout_answer(begun.payment, Way(), status_secret(begun.payment))
    if begun.intent.state is IntentState.DONE:
        way = unseal(begun.payment.organization, begun.intent)
        return checkout_answer(begun.payment, way, status_secret(begun.payment))
    if begun.intent.state is IntentState.REFUSED:
        raise errors.GatewayRefused(reason=begun.intent.reason or "")
    recorded, charge = await Clerk.of(call).open(Case(begun.payment, (begun.intent,)), call.caller)
    now = msgspec.structs.replace(begun.payment, status=recorded.status)
    return checkout_answer(now, way_of(charge), status_secret(now))
