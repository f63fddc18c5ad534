"""Going on with a payment that was begun, for whoever's page began it.

Promise: what costs nothing is counted before it is given; a provider is asked with no transaction open, after the
intent to ask it was committed; what it did not answer is unknown, and said to be so.
"""

import msgspec

from admitone.finance.gateways.api import FactKind
from admitone.finance.payments import errors
from admitone.finance.payments.asking import Case, Clerk
from admitone.finance.payments.commands.checkouts import Begun, begin
from admitone.finance.payments.free import count_free, note_denied
from admitone.finance.payments.model import CLOSABLE, Checkout, IntentState, Payment, Way
from admitone.finance.payments.secrets import status_secret
from admitone.finance.payments.ways import unseal, way_of
from admitone.finance.payments.wires import CheckoutAnswer, WhyNotPaid, checkout_answer
from admitone.kernel.contracts import Call
from admitone.kernel.errors import OutcomeUnknown, Refusal
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


async def try_to_pay(call: Call, checkout: Checkout, scope: Scope) -> tuple[CheckoutAnswer | None, WhyNotPaid | None]:
    """For whoever has placed what is to be paid, which stands either way: how they pay, or why they cannot yet."""
    try:
        return await go_on(call, await begin_to_pay(call, checkout, scope)), None
    except OutcomeUnknown:
        raise
    except Refusal as refusal:
        return None, WhyNotPaid(error_code=refusal.code, message=call.words.say(refusal.message()))


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


async def give_up(call: Call, payment: Payment) -> None:
    """Close what is not to be paid any more; if its provider says that it was paid, or a bank has yet to answer, it
    stands so."""
    if payment.status not in CLOSABLE or payment.provider is None:
        return
    # What could not be asked is unknown: whoever sees to it finds out, and closes it in time.
    try:
        await Clerk.of(call).close(payment.organization, payment.id, FactKind.CANCELLED, call.caller)
    except (errors.GatewayRefused, errors.ProviderUnanswered) as trouble:
        raise OutcomeUnknown from trouble
