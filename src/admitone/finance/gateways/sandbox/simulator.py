"""The sandbox: a payment provider in one object, with books of its own, that can lose, repeat, delay, reorder and lie.

Promise: `handle` is the provider as it should be: what it answers, it has done and written down; the same key and body
get the same answer for a day, the same key and another body get none. `reach` is the way there, with everything that
can go wrong on it. Events are told on two routes, each signed with a secret of its own; `due_deliveries` gives those
that are due, and whoever delivers them says so. Nothing is random but by the seed, and time is what the clock says.

    simulator = Simulator(Keys.of("secret"))
    simulator.act("pay", charge.id)
    for delivery in simulator.due_deliveries():
        ...post delivery.body with delivery.headers to delivery.path...
        simulator.delivered(delivery)
"""

import asyncio
import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final, TypeVar

import msgspec

from admitone.finance.gateways import signature
from admitone.finance.gateways.sandbox import orders
from admitone.finance.gateways.sandbox.charges import No, Step, Terms
from admitone.finance.gateways.sandbox.deeds import DEEDS, Options, Setting
from admitone.finance.gateways.sandbox.faults import CallFault, Dice, Faults, Forgery
from admitone.finance.gateways.sandbox.journal import Journal, Waiting
from admitone.finance.gateways.sandbox.keys import Keys, route_of, source_of
from admitone.finance.gateways.sandbox.objects import (
    MILLION,
    Account,
    Failure,
    Fault,
    Intent,
    Kept,
    Payout,
)
from admitone.finance.gateways.words import EPOCH, Cause, Event, Subject
from admitone.kernel.crypto import same

TICK: Final = timedelta(microseconds=1)
KEYS_LAST: Final = timedelta(hours=24) // TICK
LONGEST_PAUSE: Final = 3_600 * MILLION
MOST_ATTEMPTS: Final = 16
KINDS: Final[dict[str, type[Kept]]] = {"pi": Intent, "pix": Intent, "acct": Account, "po": Payout}
OK: Final = 200

Clock = Callable[[], datetime]
Found = TypeVar("Found", Intent, Account, Payout)


class Lost(Exception):
    """The provider acted, and its answer never arrives."""


class Unreachable(Exception):
    """Nothing arrived at the provider."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """A webhook to be posted."""

    id: int
    path: str
    body: bytes
    headers: Mapping[str, str]
    forgery: Forgery = Forgery.NONE
    """Not the provider's: somebody else sends it in its name."""


def _system_clock() -> datetime:
    return datetime.now(UTC)


class Simulator:
    """One provider on one journal."""

    def __init__(
        self,
        keys: Keys,
        journal: Journal | None = None,
        *,
        seed: int = 1,
        faults: Faults | None = None,
        terms: Terms | None = None,
        clock: Clock = _system_clock,
        url: str = "http://127.0.0.1:8001",
        untold: Collection[str] = (),
    ) -> None:
        self.keys = keys
        self._untold = frozenset(untold)
        """Types of events for which no endpoint was set up: they are listed, and that is all."""
        self.journal = journal or Journal()
        self.url = url
        self._clock = clock
        self._dice = Dice(faults or Faults(), seed)
        self._setting = Setting(terms or Terms(), self.new_id, self._dice)
        self._seen_until: int | None = None
        self._seed = seed.to_bytes(8, "big", signed=True)

    def misbehave(self, faults: Faults) -> None:
        """From now on as these say."""
        self._dice.misbehave(faults)

    # -- The API

    async def reach(self, method: str, path: str, body: bytes, headers: Mapping[str, str]) -> tuple[int, bytes]:
        """Call it over a network that is as bad as the faults say."""
        fault = self._dice.call()
        if self._dice.hits(self._dice.faults.slow):
            await asyncio.sleep(timedelta(milliseconds=self._dice.faults.slow_ms).total_seconds())
        if fault is CallFault.UNREACHABLE:
            raise Unreachable
        if fault is CallFault.ERROR_BEFORE:
            return _failed(No("api_error", "something broke", status=500))
        if fault is CallFault.BUSY:
            return _failed(No("rate_limit", "too many at once", status=429))
        if fault is CallFault.KEY_IN_USE and "idempotency-key" in headers:
            return _failed(No("idempotency_key_in_use", "another call with this key is not over", status=409))
        is_stale = fault is CallFault.STALE and method == "GET"
        answer = self._handle_late(path, headers) if is_stale else self.handle(method, path, body, headers)
        if fault is CallFault.LOST:
            raise Lost
        return _failed(No("api_error", "something broke", status=500)) if fault is CallFault.ERROR_AFTER else answer

    def handle(self, method: str, path: str, body: bytes, headers: Mapping[str, str]) -> tuple[int, bytes]:
        """Status and body of the answer. Names of headers are in lower case."""
        try:
            if not same(headers.get("authorization", "").encode(), f"Bearer {self.keys.api}".encode()):
                raise No("unauthorized", "the API key is not this sandbox's", status=401)
            if method == "GET":
                return OK, orders.look(self, path)
            return self._do(path, body, headers.get("idempotency-key"))
        except No as refusal:
            return _failed(refusal)

    def _handle_late(self, path: str, headers: Mapping[str, str]) -> tuple[int, bytes]:
        """A look at what it has as it was a while ago."""
        self._seen_until = self.now() - self._dice.faults.stale_ms * 1_000
        try:
            return self.handle("GET", path, b"", headers)
        finally:
            self._seen_until = None

    def _do(self, path: str, body: bytes, key: str | None) -> tuple[int, bytes]:
        digest = hashlib.blake2b(b"%s\n%s" % (path.encode(), body), digest_size=16).digest()
        with self.journal.writing():
            now = self.now()
            if key and (kept := self.journal.find_answer(key, now - KEYS_LAST)):
                known, status, said = kept
                if known != digest:
                    raise No("idempotency_error", "this key was used with other parameters")
                return status, said
            said = orders.order(self, path, body, key, now)
            if key:
                self.journal.keep_answer(key, digest, OK, said, now)
        return OK, said

    # -- What people and banks do

    def act(self, deed: str, name: str, /, **options: Any) -> Kept:
        """Let something happen to a charge, an account or a payout: see `deeds.DEEDS`."""
        with self.journal.writing():
            return self.perform(deed, name, msgspec.convert(options, Options, strict=False))

    def perform(self, deed: str, name: str, options: Options, key: str | None = None) -> Kept:
        """The same, inside a transaction of the journal."""
        thing = self.get(name)
        step = DEEDS.get((type(thing).__name__, deed))
        if step is None:
            raise No("resource_missing", f"nothing called {deed} can happen to {name}", status=404)
        return self.apply(step(self._setting, thing, options, self.now()), thing, key)

    def tick(self) -> int:
        """Do what is due by now: charges expire, fees are told, old answers are forgotten."""
        with self.journal.writing():
            due = self.journal.take_timers(self.now())
            self.journal.forget_answers(self.now() - KEYS_LAST)
            for _, deed, name in due:
                try:
                    self.perform(deed, name, Options())
                except No:
                    continue  # It was closed, or told, in another way.
        return len(due)

    # -- Webhooks

    def due_deliveries(self, limit: int = 100) -> list[Delivery]:
        """Those that are due now; unless it is said that one was delivered, it comes again later, and then later."""
        self.tick()
        with self.journal.writing():
            now = self.now()
            waiting = self.journal.list_deliveries(now, limit)
            over = [each.id for each in waiting if each.forgery or each.attempt >= MOST_ATTEMPTS]
            self.journal.put_off_deliveries([(now + _pause(each.attempt), each.id) for each in waiting])
            self.journal.remove_deliveries(over)
        deliveries = [self._delivery(each, now) for each in waiting]
        if self._dice.hits(self._dice.faults.shuffled):
            self._dice.shuffle(deliveries)
        return deliveries

    def delivered(self, *deliveries: Delivery) -> None:
        with self.journal.writing():
            self.journal.remove_deliveries([each.id for each in deliveries])

    def _delivery(self, waiting: Waiting, now: int) -> Delivery:
        route, forgery = route_of(waiting.type, waiting.account), Forgery(waiting.forgery)
        secret = "whsec_forged" if forgery is Forgery.SECRET else self.keys.signing(source_of(route))
        signed = signature.sign(waiting.body, secret, EPOCH + now * TICK)
        body = waiting.body.replace(b'"amount":', b'"amount":9') if forgery is Forgery.BODY else waiting.body
        headers = {"content-type": "application/json", signature.HEADER: signed}
        return Delivery(waiting.id, route, body, headers, forgery)

    # -- The books

    def now(self) -> int:
        return (self._clock() - EPOCH) // TICK

    def find(self, name: str) -> Kept | None:
        kind = KINDS.get(name.partition("_")[0])
        body = self.journal.find(name, self._seen_until) if kind else None
        return msgspec.json.decode(body, type=kind) if kind and body else None

    def get(self, name: str) -> Kept:
        thing = self.find(name)
        if thing is None:
            raise No("resource_missing", f"no such thing: {name}", status=404)
        return thing

    def list_newest(self, kind: type[Found], limit: int = 50) -> list[Found]:
        return [msgspec.json.decode(body, type=kind) for body in self.journal.list_newest(kind.__name__, limit)]

    def list_events_about(self, name: str, limit: int = 50) -> list[Event]:
        """The newest first."""
        return [msgspec.json.decode(body, type=Event) for body in self.journal.list_events_about(name, limit)]

    def apply(self, step: Step, before: Kept | None, key: str | None = None) -> Kept:
        """Write down what follows from a step."""
        thing = step.thing
        if thing is before:
            return thing
        at = _version(thing)
        if before is None:
            self.journal.create(type(thing).__name__, thing.id, key, at, msgspec.json.encode(thing))
        else:
            self.journal.change(thing.id, at, msgspec.json.encode(thing))
        for type_, about in step.events:
            self._tell(step, type_, about, at, key)
        for movement in step.movements:
            self.journal.append_movement(movement.organization, msgspec.json.encode(movement))
        for name in step.parts:
            self.journal.add_part(name, thing.id)
        for due_at, deed in step.timers:
            self.journal.put_timer(due_at, deed, thing.id)
        return thing

    def _tell(self, step: Step, type_: str, about: Any, at: int, key: str | None) -> None:
        event = Event(
            id=self.new_id("evt", step.thing.id, at, type_),
            type=type_,
            created=at // MILLION,
            data=Subject(object=msgspec.Raw(msgspec.json.encode(about))),
            account=step.account,
            request=Cause(id=f"req_{key}" if key else None, idempotency_key=key),
        )
        sequence = self.journal.append_event(
            step.thing.id, type_, step.account, event.created, msgspec.json.encode(event)
        )
        if type_ in self._untold:
            return
        for due_at, forgery in self._fates(self.now()):
            self.journal.put_delivery(sequence, due_at, forgery.value)

    def _fates(self, now: int) -> Sequence[tuple[int, Forgery]]:
        """How often and when an event is told."""
        dice, faults = self._dice, self._dice.faults
        if dice.hits(faults.dropped):
            return ()
        times = 1 + (dice.up_to(faults.repeated_times) if dice.hits(faults.repeated) else 0)
        fates = [(now + self._lateness(), Forgery.NONE) for _ in range(times)]
        forgery = dice.forgery()
        return [*fates, (now, forgery)] if forgery is not Forgery.NONE else fates

    def _lateness(self) -> int:
        faults = self._dice.faults
        return self._dice.up_to(faults.late_ms) * 1_000 if self._dice.hits(faults.late) else 0

    def new_id(self, prefix: str, *scope: object) -> str:
        """By what it is for, not by its turn: the same in every run of a seed, and in whatever process."""
        words = "\n".join(map(str, (prefix, *scope)))
        return f"{prefix}_{hashlib.blake2b(words.encode(), digest_size=12, key=self._seed).hexdigest()}"


def _version(thing: Kept) -> int:
    return thing.touched if isinstance(thing, Intent) else max(thing.status_transitions.values())


def _pause(attempt: int) -> int:
    return min((1 << attempt) * MILLION, LONGEST_PAUSE)


def _failed(refusal: No) -> tuple[int, bytes]:
    kind = "idempotency_error" if refusal.code == "idempotency_error" else "invalid_request_error"
    fault = Fault(type=kind, code=refusal.code, message=refusal.message, payment_intent=refusal.intent)
    return refusal.status, msgspec.json.encode(Failure(error=fault))
