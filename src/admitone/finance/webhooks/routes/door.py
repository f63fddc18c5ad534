"""Where providers knock (unification (d), steps 1 to 7).

Promise: one way in for all of them, under every address that they know (U-40). The raw bytes are read once and are
believed when a gateway of ours says that the signature over them is its provider's; before that nothing is stored.
The answer is 200 after everything is committed, 400 for what can never be right, 5xx for what is to be sent again.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final, Literal

import msgspec

from admitone.finance.gateways.api import Envelope
from admitone.finance.gateways.port import GATEWAYS, Gateway, Renewing
from admitone.finance.webhooks.arriving import LARGEST_EVENT_BYTES, bounded, meaning_of
from admitone.finance.webhooks.commands.receiving import receive
from admitone.finance.webhooks.errors import AccountUnresolved, InvalidSignature, LivemodeMismatch
from admitone.finance.webhooks.model import PLATFORM, Arrival
from admitone.kernel.contracts import Audience, Call, Contract, Example, Reads, Wire

PATHS: Final = {
    "C10": "/api/stripe/webhook",
    "C10.STRIPE": "/api/webhooks/stripe",
    "C10.STRIPE.SHORT": "/webhooks/stripe",
    "C10.PAYMENT": "/webhooks/payment",
    "C10.PIX": "/webhooks/pix",
    "C10.MERCADOPAGO": "/webhooks/mercadopago",
    "C10.OPENPIX": "/webhooks/openpix",
    "C10.SANDBOX": "/webhooks/sandbox",
    "C10.CONNECT": "/api/organizacao/payouts/webhook",
}
"""The canonical one first; the last has a secret of its own (FIN-023)."""


class Ack(Wire, omit_defaults=True):
    status: Literal["ACK"]
    stripe_event_id: str
    idempotency_hit: bool = msgspec.field(default=False, name="idempotency_hit")


def _contract(own: str, path: str) -> Contract:
    return Contract(
        id=own,
        version="1.0.0",
        owner="finance",
        consumers=("payment providers",),
        summary="Tell us what happened to a payment, an account or a payout.",
        post=path,
        reads=Reads.RAW,
        max_body_bytes=LARGEST_EVENT_BYTES,
        gives=Ack,
        refuses=(InvalidSignature, LivemodeMismatch, AccountUnresolved),
        audience=Audience.PUBLIC,
        repeats="an event is known by its provider's id for ever",
        order_key="none",
        examples=(
            Example("kept", gives=Ack(status="ACK", stripe_event_id="evt_1")),
            Example("again", gives=Ack(status="ACK", stripe_event_id="evt_1", idempotency_hit=True)),
            Example("forged", refuses=InvalidSignature()),
        ),
    )


async def take_in(call: Call) -> Ack:
    gateway, envelope = await _verified(call)
    if envelope.livemode != gateway.livemode:
        raise LivemodeMismatch()
    event = meaning_of(gateway, envelope, call.body)
    arrival = Arrival(call.caller, gateway.provider, envelope, call.body, event)
    kept = await call.batch(receive, arrival, scope=PLATFORM)
    return Ack(status="ACK", stripe_event_id=kept.event, idempotency_hit=kept.duplicate)


async def _verified(call: Call) -> tuple[Gateway, Envelope]:
    # The process's own clock: a signature is too old or not before any transaction is open.
    now, gateways = datetime.now(UTC), GATEWAYS().all()
    route = f"{call.contract.path}?{call.query}" if call.query else call.contract.path
    found = _recognised(call, gateways, route, now)
    if found is None:
        renewing = [each for each in gateways if isinstance(each, Renewing)]
        renewed = [each for each in renewing if await each.renew(call.headers, route, call.caller, now)]
        found = _recognised(call, renewed, route, now)
    if found is None:
        raise InvalidSignature()
    gateway, envelope = found
    return gateway, bounded(envelope)


def _recognised(call: Call, gateways: Sequence[Gateway], route: str, now: datetime) -> tuple[Gateway, Envelope] | None:
    verified = ((each, each.verify(call.body, call.headers, route, now)) for each in gateways)
    return next(((each, envelope) for each, envelope in verified if envelope is not None), None)


CONTRACTS: Final = tuple(_contract(own, path) for own, path in PATHS.items())
for contract in CONTRACTS:
    contract.serves(take_in)
