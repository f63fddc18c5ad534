"""Beginning to pay.

Promise: what is charged is computed here and nowhere else, at this moment, from what the shop offers and the policies
in force; what a client was shown must be the same (FIN-010). A key begins one payment of a source for ever (FIN-014);
nobody learns of a payment, nor gets its secrets, by knowing its key: who repeats it must be who began it, and a guest,
who cannot prove that, must come from the same place and be let in by the shop again, while it can still be paid.
A refused checkout writes no payment. What is being paid is kept until it is paid or cannot be any more, by the same
commit, or it is not begun (PAY-002). What costs nothing asks no provider and is paid at once (FIN-081), within the
guardrails that hold for whatever made it free (FIN-082).
"""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import msgspec

from admitone.finance.gateways.api import Method
from admitone.finance.gateways.port import GATEWAYS, Gateway
from admitone.finance.payments import errors
from admitone.finance.payments.commands.denials import Denial, tell_denied
from admitone.finance.payments.facts import AttemptsSpent, told_of
from admitone.finance.payments.model import (
    OPEN,
    Checkout,
    FeesStatus,
    GatewayIntent,
    IntentAction,
    IntentState,
    KnownAccount,
    Onboarding,
    Payment,
    PaymentMethod,
    RefundState,
    Scenario,
    Status,
)
from admitone.finance.payments.orders import GRACE, expires_at
from admitone.finance.payments.store import intents as intent_store
from admitone.finance.payments.store import payments as store
from admitone.finance.payments.store import standing
from admitone.finance.payments.store.accounts import find_accounts
from admitone.finance.payments.store.standing import Claim, Taking
from admitone.finance.payments.store.subjects import insert_subjects
from admitone.finance.pricing.api import Priced, price
from admitone.finance.sources.api import SOURCE_TYPES, PaymentId, SettlementModel, Source
from admitone.finance.sources.port import SHOPS, Keeping, Offer, Wanted
from admitone.foundation.authority import api as authority
from admitone.kernel import audit
from admitone.kernel.commands import command
from admitone.kernel.contracts.wire import to_canonical
from admitone.kernel.db import Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.idempotency import KeyReused
from admitone.kernel.ids import IdentityId, OrganizationId, uuid7

PIX_CURRENCY: Final = "BRL"


class Begun(msgspec.Struct, frozen=True):
    """A payment that was begun, now or under the same key before, and what is asked of its provider."""

    payment: Payment
    intent: GatewayIntent | None = None
    replayed: bool = False


class Quote(msgspec.Struct, frozen=True):
    """What a checkout would cost."""

    offer: Offer
    priced: Priced


def hash_of(checkout: Checkout) -> bytes:
    """What must be the same when a key comes again."""
    asked = (
        checkout.caller.key,
        checkout.buyer,
        checkout.method,
        checkout.snapshot_hash,
        checkout.amount_minor,
        checkout.currency,
        checkout.promo_code,
        checkout.invite_token,
        checkout.return_url,
    )
    return hashlib.sha256(to_canonical(asked)).digest()


@command(keyed_by=None)
async def begin(tx: Tx, checkouts: Sequence[Checkout]) -> list[Begun | Refusal]:
    """Begin to pay for each, or say why not."""
    known = await store.find_decisive(tx, checkouts)
    replays = [_replayed(checkout, known[checkout.source]) for checkout in checkouts]
    before = {each.id for each in (_begun_before(one, known[one.source]) for one in checkouts) if each}
    intents = await intent_store.find_intents(tx, before) if before else {}
    desk = await _open_desk(
        tx, [each for each, replay in zip(checkouts, replays, strict=True) if replay is None], known
    )
    outcomes = [
        _with_intent(replay or desk.decide(each), intents) for each, replay in zip(checkouts, replays, strict=True)
    ]
    ended = await desk.keep()
    await desk.write()
    return [ended.get(each.payment.id, each) if isinstance(each, Begun) else each for each in outcomes]


async def quote(tx: Tx, checkouts: Sequence[Checkout]) -> list[Quote | Refusal]:
    """What each would cost now. Whoever begins to pay is told again."""
    offers = await ask_shops(tx, [_wanted(each) for each in checkouts])
    offered = [(each, offer) for each, offer in zip(checkouts, offers, strict=True) if isinstance(offer, Offer)]
    prices = iter(await price(tx, [_wanted(each) for each, _ in offered], [offer for _, offer in offered]))
    quotes: list[Quote | Refusal] = []
    for offer in offers:
        if isinstance(offer, Refusal):
            quotes.append(offer)
            continue
        priced = next(prices)
        quotes.append(priced if isinstance(priced, Refusal) else Quote(offer, priced))
    return quotes


def _wanted(checkout: Checkout) -> Wanted:
    actor = checkout.caller.actor
    return Wanted(checkout.caller, checkout.source, actor is not None, checkout.promo_code, checkout.invite_token)


async def ask_shops(tx: Tx, wanted: Sequence[Wanted]) -> list[Offer | Refusal]:
    """What the shops say, each asked once for all that is wanted of it."""
    shops = SHOPS()
    offers: dict[int, Offer | Refusal] = {}
    for kind in sorted({each.source.type for each in wanted}):
        places = [at for at, each in enumerate(wanted) if each.source.type is kind]
        if kind not in shops:
            offers |= dict.fromkeys(places, errors.SourceNotSold())
            continue
        said = await shops[kind].offer(tx, [wanted[at] for at in places])
        offers |= zip(places, said, strict=True)
    return [offers[at] for at in range(len(wanted))]


def _payable_until(checkout: Checkout, offer: Offer) -> datetime:
    """The money of the last moment must still find it."""
    if offer.payable_until is None:
        return offer.expires_at
    return (offer.expires_at if checkout.kept else offer.payable_until) - GRACE


def _begun_before(checkout: Checkout, known: Sequence[Payment]) -> Payment | None:
    return next((each for each in known if each.idempotency_key == checkout.idempotency_key), None)


def _replayed(checkout: Checkout, known: Sequence[Payment]) -> Begun | Refusal | None:
    """What somebody who is signed in began under this key. Anybody else is told nothing of it here: the shop is asked
    first whether it is theirs to pay."""
    before = _begun_before(checkout, known)
    if before is None or checkout.caller.actor is None:
        return None
    if before.request_hash == hash_of(checkout):
        return Begun(before, replayed=True)
    return KeyReused() if before.identity == checkout.caller.actor else None


def _with_intent(outcome: Begun | Refusal, intents: Mapping[PaymentId, Sequence[GatewayIntent]]) -> Begun | Refusal:
    """What was asked for a payment that was begun before."""
    if not isinstance(outcome, Begun) or outcome.intent is not None:
        return outcome
    opening = [each for each in intents.get(outcome.payment.id, ()) if each.action is IntentAction.OPEN]
    return msgspec.structs.replace(outcome, intent=opening[0] if opening else None)


async def _open_desk(tx: Tx, checkouts: Sequence[Checkout], known: Mapping[Source, list[Payment]]) -> "_Desk":
    """Everything that the decisions need, read once for all."""
    quotes = await quote(tx, checkouts)
    offers = [each.offer for each in quotes if isinstance(each, Quote)]
    guards = {subject for offer in offers for subject in offer.subjects}
    guards |= {f"identity:{offer.buyer}" for offer in offers} | {f"organization:{tx.scope.organization}", "platform"}
    free = [each.offer for each in quotes if isinstance(each, Quote) and each.priced.snapshot.total == 0]
    claims = {claim for offer in free for claim in _claims_of(offer)}
    return _Desk(
        tx,
        dict(zip(map(id, checkouts), quotes, strict=True)),
        {source: [*payments] for source, payments in known.items()},
        stopped=await authority.find_stopped(tx, guards) if checkouts else frozenset(),
        hold=await standing.find_hold(tx) if checkouts else None,
        accounts=await find_accounts(tx) if checkouts else {},
        taken=await standing.lock_claims(tx, claims),
    )


def _claims_of(offer: Offer) -> Counter[Claim]:
    """So much of each is taken if it is given away."""
    claims: Counter[Claim] = Counter()
    for each in offer.guards:
        claims[Claim(each.key, offer.buyer)] += each.quantity
    return claims


class _Desk:
    """Decides checkouts one after another: the second for a source sees the first."""

    def __init__(
        self,
        tx: Tx,
        quotes: Mapping[int, Quote | Refusal],
        known: dict[Source, list[Payment]],
        *,
        stopped: frozenset[str],
        hold: str | None,
        accounts: Mapping[Any, KnownAccount],
        taken: Mapping[Claim, int],
    ) -> None:
        self._tx = tx
        self._quotes = quotes
        self._known = known
        self._stopped = stopped
        self._hold = hold
        self._accounts = accounts
        self._taken = Counter(taken)
        self._begun: list[tuple[Checkout, Begun]] = []
        self._entries: list[audit.Entry] = []

    def decide(self, checkout: Checkout) -> Begun | Refusal:
        twin = _replayed(checkout, self._known[checkout.source])
        if twin is not None:  # The same came twice in this batch.
            return self._like_its_twin(twin)
        quoted = self._quotes[id(checkout)]
        if isinstance(quoted, Refusal):
            return quoted
        earlier = self._earlier_of_guest(checkout, quoted.offer)
        if earlier is not None:
            return self._like_its_twin(Begun(earlier, replayed=True))
        refusal = self._refused(checkout, quoted.offer) or self._priced_otherwise(checkout, quoted.priced)
        if refusal is None and _begun_before(checkout, self._known[checkout.source]):
            refusal = KeyReused()
        if refusal is not None:
            again = isinstance(refusal, errors.AlreadyPaid) and quoted.priced.snapshot.total == 0
            return self._deny(checkout, refusal) if again else refusal
        if quoted.priced.snapshot.total == 0:
            return self._give(checkout, quoted)
        return self._charge(checkout, quoted)

    def _like_its_twin(self, twin: Begun | Refusal) -> Begun | Refusal:
        if isinstance(twin, Refusal):
            return twin
        first = next((begun for _, begun in self._begun if begun.payment.id == twin.payment.id), twin)
        return msgspec.structs.replace(first, replayed=True)

    def _earlier_of_guest(self, checkout: Checkout, offer: Offer) -> Payment | None:
        """What a guest began under this key: given again from the same device and address, for the same request, while
        it can be paid and the shop still lets guests pay. To any other guest it is somebody else's."""
        before = _begun_before(checkout, self._known[checkout.source])
        if checkout.caller.actor is not None or before is None or not offer.guest_allowed:
            return None
        is_same = before.request_hash == hash_of(checkout) and checkout.buyer in (None, offer.buyer)
        return before if is_same and before.status in OPEN else None

    def _refused(self, checkout: Checkout, offer: Offer) -> Refusal | None:
        """Who, then whether it is sold, then whether it is still to be paid."""
        actor = checkout.caller.actor
        if actor is None and not offer.guest_allowed:
            return errors.SignInToPay()
        if (actor or offer.buyer) != offer.buyer or checkout.buyer not in (None, offer.buyer):
            return errors.SourceNotSold()
        guards = {*offer.subjects, f"identity:{offer.buyer}", f"organization:{self._tx.scope.organization}", "platform"}
        if guards & self._stopped:
            return errors.SaleStopped()
        if self._hold is not None:
            return errors.OnRiskHold()
        earlier = self._known[checkout.source]
        if any(payment.applied for payment in earlier):
            return errors.AlreadyPaid()
        if any(payment.status in OPEN for payment in earlier):
            return errors.PaymentInProgress()
        return errors.OfferEnded() if min(offer.expires_at, _payable_until(checkout, offer)) <= self._tx.now else None

    def _priced_otherwise(self, checkout: Checkout, priced: Priced) -> Refusal | None:
        snapshot = priced.snapshot
        shown = (
            checkout.snapshot_hash in (None, priced.hash),
            checkout.amount_minor in (None, snapshot.total),
            checkout.currency in (None, snapshot.currency),
        )
        if all(shown):
            return None
        return errors.PriceChanged(snapshot_hash=priced.hash, amount_minor=snapshot.total, currency=snapshot.currency)

    # -- What costs nothing

    def _give(self, checkout: Checkout, quoted: Quote) -> Begun | Refusal:
        offer = quoted.offer
        if not SOURCE_TYPES[checkout.source.type].may_be_free:
            return errors.FreeNotAllowed()
        if not checkout.counted:
            return errors.FreeUncounted(buyer=offer.buyer)
        taken = self._taken + _claims_of(offer)
        if any(taken[Claim(each.key, offer.buyer)] > each.most for each in offer.guards):
            return self._deny(checkout, errors.FreeLimitReached())
        self._taken = taken
        return self._begin(checkout, Begun(self._payment(checkout, quoted, PaymentMethod.FREE)))

    def _deny(self, checkout: Checkout, refusal: Refusal) -> Refusal:
        self._entries.append(tell_denied(self._tx, Denial(checkout.caller, checkout.source, refusal.code)))
        return refusal

    # -- What does not

    def _charge(self, checkout: Checkout, quoted: Quote) -> Begun | Refusal:
        snapshot = quoted.priced.snapshot
        is_theirs = snapshot.settlement_model is SettlementModel.ORG_MOR
        gateway = GATEWAYS().find_for(checkout.method, direct=is_theirs)
        if gateway is None:
            return errors.GatewayKeyMissing()
        if checkout.method is Method.PIX and snapshot.currency != PIX_CURRENCY:
            return errors.MethodNotForCurrency()
        # The platform may take money where nobody else has an account, and pay what is due where somebody has.
        holder = GATEWAYS().find_with_accounts(gateway)
        account = self._accounts.get((holder.provider, holder.livemode)) if holder else None
        is_ready = account is not None and account.onboarding_status is Onboarding.COMPLETE
        if SOURCE_TYPES[checkout.source.type].needs_account and not is_ready:
            return errors.ConnectNotReady()
        there = account if holder is gateway else None
        payment = self._payment(checkout, quoted, PaymentMethod(checkout.method), gateway, there)
        intent = GatewayIntent(
            uuid7(),
            payment.id,
            IntentAction.OPEN,
            IntentState.OPEN,
            payment.amount_minor,
            payment.currency,
            quoted.offer.description,
            checkout.return_url,
        )
        return self._begin(checkout, Begun(payment, intent))

    def _payment(
        self,
        checkout: Checkout,
        quoted: Quote,
        method: PaymentMethod,
        gateway: Gateway | None = None,
        account: KnownAccount | None = None,
    ) -> Payment:
        offer, snapshot = quoted.offer, quoted.priced.snapshot
        organization: OrganizationId = self._tx.scope.organization
        is_free = method is PaymentMethod.FREE
        return Payment(
            id=PaymentId.new(),
            organization=organization,
            city_code=offer.city_code,
            identity=IdentityId(offer.buyer.uuid),
            payee=offer.payee or organization.uuid,
            source=checkout.source,
            flow=SOURCE_TYPES[checkout.source.type].flow,
            settlement=snapshot.settlement_model,
            scenario=Scenario.FREE_CHECKOUT if is_free else Scenario.PAID,
            method=method,
            provider=gateway.provider if gateway else None,
            account=account.account if account else None,
            livemode=gateway.livemode if gateway else any(each.livemode for each in GATEWAYS().all()),
            amount_minor=snapshot.total,
            fee_minor=snapshot.platform_fee,
            currency=snapshot.currency,
            fee_policy_version=snapshot.fee_policy_version,
            snapshot=quoted.priced.text,
            snapshot_hash=quoted.priced.hash,
            subjects=offer.subjects,
            idempotency_key=checkout.idempotency_key,
            request_hash=hash_of(checkout),
            correlation_id=checkout.caller.correlation_id,
            status=Status.SUCCEEDED if is_free else Status.CREATED,
            refund_state=RefundState.NONE,
            manual_reason=None,
            applied=is_free,
            captured_minor=0,
            refunded_minor=0,
            failed_attempts=0,
            processor_fees_status=FeesStatus.FINAL if is_free else FeesStatus.PENDING,
            processor_fees_actual=0 if is_free else None,
            charge_id=None,
            version=2 if is_free else 1,
            created_at=self._tx.now,
            changed_at=self._tx.now,
            expires_at=expires_at(checkout.method, self._tx.now, _payable_until(checkout, offer)),
        )

    def _begin(self, checkout: Checkout, begun: Begun) -> Begun:
        # FIN-080: whatever has a price is no free checkout.
        assert (begun.payment.amount_minor > 0) == (begun.payment.scenario is Scenario.PAID)
        self._begun.append((checkout, begun))
        self._known[checkout.source].append(begun.payment)
        return begun

    async def keep(self) -> dict[PaymentId, Refusal]:
        """What is begun is kept while it can be paid, and what is given away until it is handed over: by whoever sells
        it, who may say that it is over by now."""
        longer = [(checkout, begun.payment) for checkout, begun in self._begun if self._can_be_kept(checkout)]
        ended: dict[PaymentId, Refusal] = {}
        for kind in sorted({checkout.source.type for checkout, _ in longer}):
            own = [(checkout, payment) for checkout, payment in longer if checkout.source.type is kind]
            said = await SHOPS()[kind].keep(
                self._tx,
                [Keeping(each, each.caller, each.source, self._needed_until(payment)) for each, payment in own],
            )
            ended |= {payment.id: why for (_, payment), why in zip(own, said, strict=True) if why}
        self._begun = [each for each in self._begun if each[1].payment.id not in ended]
        return ended

    def _can_be_kept(self, checkout: Checkout) -> bool:
        quoted = self._quotes[id(checkout)]
        return isinstance(quoted, Quote) and quoted.offer.payable_until is not None and not checkout.kept

    def _needed_until(self, payment: Payment) -> datetime:
        return (self._tx.now if payment.scenario is Scenario.FREE_CHECKOUT else payment.expires_at) + GRACE

    async def write(self) -> None:
        tx = self._tx
        if self._begun:
            await store.insert_payments(tx, [begun.payment for _, begun in self._begun])
            await intent_store.insert_intents(tx, [begun.intent for _, begun in self._begun if begun.intent])
            await insert_subjects(tx, [begun.payment for _, begun in self._begun if begun.payment.applied])
        given = [each for each in self._begun if each[1].payment.scenario is Scenario.FREE_CHECKOUT]
        await standing.take_claims(tx, [taking for each in given for taking in self._takings(*each)])
        entries = [audit.Entry(one.caller, "payments.free_checkout", str(begun.payment.id)) for one, begun in given]
        await audit.record(tx, [*entries, *self._entries])
        for checkout, begun in self._begun:
            self._tell(checkout, begun.payment)

    def _takings(self, checkout: Checkout, begun: Begun) -> list[Taking]:
        quoted = self._quotes[id(checkout)]
        assert isinstance(quoted, Quote), "it was given away"
        claims = _claims_of(quoted.offer)
        return [Taking(begun.payment.id, each.guard_key, each.identity_id, claims[each]) for each in claims]

    def _tell(self, checkout: Checkout, payment: Payment) -> None:
        path = (Status.CREATED, Status.SUCCEEDED) if payment.scenario is Scenario.FREE_CHECKOUT else (Status.CREATED,)
        for version, status in enumerate(path, start=1):
            self._tx.publish(checkout.caller, told_of(payment, status, version))
        # What failed before could still be paid at the provider, and then the same would be paid twice.
        for earlier in self._known[checkout.source]:
            if earlier.status is Status.FAILED:
                self._tx.publish(checkout.caller, AttemptsSpent(payment_id=earlier.id))
