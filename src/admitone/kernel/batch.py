"""Coalescing: calls that come while one is in flight go together as the next.

Promise: no timer, so an idle system answers at once; a busy one shares one lock, one round trip per statement and
one flush among up to 256 callers. Every submitted input runs exactly as if it were alone:

- one flight at a time per (command, organisation, hot key); flights take turns between organisations
- inputs under one idempotency key in flight together: the first runs, equals share its answer, others get 409
- a batch that raises is halved until the poisoned input stands alone, so nobody else is hurt by it
- inputs whose rows others hold are taken out (`Busy`) and wait in a lane of their own, so nobody else waits
- the queue is bounded: over it, and over one organisation's share of it, callers get 503 and when to come back
- a caller who leaves changes nothing: the input runs, and the same key later tells what became of it
- what only reads flies in read-only transactions and in places of its own, and sees all that was committed before it
  was submitted: nobody joins a flight that has begun to look
"""

import asyncio
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Coroutine, Hashable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final, Generic, Protocol, TypeVar

import asyncpg
import msgspec

from admitone.kernel.commands import Command
from admitone.kernel.db import POOL_SIZES, Busy, Database, Overtaken, RowBusy, Transaction, Tx, WritingScope, told_by
from admitone.kernel.errors import OutcomeUnknown, Refusal, Unavailable
from admitone.kernel.idempotency import AnswerOutdated, Keyed, KeyReused, Stored, find_answers, keep_answers, outwait
from admitone.kernel.scope import PlatformScope, Role, Scope

BATCH_LIMIT: Final = 256
QUEUE_LIMIT: Final = 8_192
ORGANIZATION_LIMIT: Final = 4_096
FLIGHTS: Final = {Role.APP: 6, Role.AUTHORITY: 1, Role.IDENTITY: 4, Role.RELAY: 2, Role.MAINTENANCE: 2}
WAITING_FLIGHTS: Final = 4
"""Connections that may stand waiting for locked rows. Together fewer than the pool has: reads find one too."""
READING_FLIGHTS: Final = 8
"""Of commands that only read: however many look, they take no place from those who write, nor the last connection."""

Outcome = TypeVar("Outcome")
Lane = tuple["AnyCommand", Hashable, Hashable, "Pace"]
AnyCommand = Command[Any, Any, Any]


class Overloaded(Unavailable):
    """More work is waiting than can be done in time; try again in a moment."""

    code = "OVERLOADED"


class Pace(Enum):
    """How a lane meets locks that others hold."""

    SWIFT = "goes on without what is held"
    PATIENT = "waits for the rows that it needs"
    WARY = "first waits, with empty hands, for whoever is writing its keys"


class Observed(Protocol):
    """What is measured of a batch."""

    def flew(self, command: str, size: int, waited_seconds: float) -> None: ...


class Unobserved:
    def flew(self, command: str, size: int, waited_seconds: float) -> None:
        pass


class Answered(msgspec.Struct, Generic[Outcome], frozen=True):
    """The outcome of one input, and whether it was answered before."""

    outcome: Outcome
    replayed: bool = False


@dataclass(slots=True, eq=False)
class Entry:
    """One submitted input and everybody who waits for its outcome."""

    input: Any
    keyed: Keyed | None
    name: Hashable
    submitted: float = field(default_factory=time.monotonic)
    waiters: list[asyncio.Future[Answered[Any]]] = field(default_factory=list)

    def join(self) -> asyncio.Future[Answered[Any]]:
        waiter: asyncio.Future[Answered[Any]] = asyncio.get_running_loop().create_future()
        self.waiters.append(waiter)
        return waiter

    def settle(self, answer: Answered[Any] | BaseException) -> None:
        for position, waiter in enumerate(self.waiters):
            if waiter.done():  # The caller left.
                continue
            if isinstance(answer, BaseException):
                waiter.set_exception(answer)
            else:
                waiter.set_result(answer if position == 0 else Answered(answer.outcome, replayed=True))
        # A refusal knows the frames that it went through, and these know the entry: left alone, each refused call
        # would be a circle for the garbage collector.
        self.waiters.clear()


class Flights:
    """Who flies next: organisations take turns, and within one, its lanes do. One place is never the same owner's."""

    def __init__(self, places: int) -> None:
        self.free = places
        self._most_of_one = max(1, places - 1)
        self._flying: Counter[Hashable] = Counter()
        self._turns: OrderedDict[Hashable, deque[Queue]] = OrderedDict()

    def ready(self, queue: "Queue") -> None:
        self._turns.setdefault(queue.owner, deque()).append(queue)

    def next(self) -> "Queue | None":
        if not self.free:
            return None
        owner = next((each for each in self._turns if self._flying[each] < self._most_of_one), None)
        if owner is None:
            return None
        lanes = self._turns.pop(owner)
        queue = lanes.popleft()
        if lanes:
            self._turns[owner] = lanes
        self.free -= 1
        self._flying[owner] += 1
        return queue

    def landed(self, queue: "Queue") -> None:
        self.free += 1
        self._flying[queue.owner] -= 1
        if not self._flying[queue.owner]:
            del self._flying[queue.owner]


@dataclass(slots=True, eq=False)
class Queue:
    """What waits for the next flight of one lane."""

    command: AnyCommand
    scope: WritingScope
    key: Hashable
    flights: Flights
    pace: Pace = Pace.SWIFT
    entries: deque[Entry] = field(default_factory=deque)
    flying: bool = False

    @property
    def owner(self) -> Hashable:
        return _owner(self.scope)

    @property
    def lane(self) -> Lane:
        return (self.command, self.owner, self.key, self.pace)


class Batcher:
    def __init__(self, database: Database, *, observed: Observed | None = None, coalesce: bool = True) -> None:
        self._database = database
        self._observed = observed or Unobserved()
        self._coalesce = coalesce
        self._swift = {role: Flights(free) for role, free in (FLIGHTS if coalesce else POOL_SIZES).items()}
        self._waiting_flights = Flights(WAITING_FLIGHTS)
        self._reading_flights = Flights(READING_FLIGHTS)
        self._queues: dict[Lane, Queue] = {}
        self._by_name: dict[Hashable, Entry] = {}
        self._waiting: dict[Hashable, int] = {}
        self._queued = 0
        self._dispatching = False
        self._tasks: set[asyncio.Task[None]] = set()

    async def submit(
        self, command: Command[Any, Any, Outcome], scope: WritingScope, each: Any, keyed: Keyed | None = None
    ) -> Answered[Outcome]:
        """Run one input with whatever else is waiting; raise the refusal if it is refused."""
        if not self._coalesce:  # One by one, as it would be without us: every call waits for its own rows.
            flights = self._flights(command, scope, Pace.SWIFT)
            return await self._join(Queue(command, scope, object(), flights, Pace.PATIENT), each, keyed)
        return await self._join(self._queue(command, scope, command.hot_key(each), Pace.SWIFT), each, keyed)

    async def run_one(
        self, command: Command[Any, Any, Outcome], scope: WritingScope, each: Any, keyed: Keyed | None = None
    ) -> Answered[Outcome]:
        """Run one input in a transaction of its own."""
        return await self._join(Queue(command, scope, object(), self._swift[scope.role]), each, keyed)

    async def drain(self, seconds: float | None = None) -> None:
        """Wait until everything that was submitted has run; a `TimeoutError` says that it has not."""
        async with asyncio.timeout(seconds):
            while self._queued or self._tasks:
                await (asyncio.wait(self._tasks) if self._tasks else asyncio.sleep(0))

    async def _join(self, queue: Queue, each: Any, keyed: Keyed | None) -> Answered[Any]:
        if keyed and isinstance(queue.scope, PlatformScope):
            raise TypeError(f"{queue.command}: answers are kept per organisation, and the platform is none")
        entry = Entry(each, keyed, (queue.owner, keyed.name) if keyed else None)
        if entry.name is not None and (running := self._by_name.get(entry.name)):
            return await self._follow(running, entry)
        self._admit(queue.owner)
        if entry.name is not None:
            self._by_name[entry.name] = entry
        self._enqueue(queue, entry)
        return await entry.join()

    async def _follow(self, running: Entry, entry: Entry) -> Answered[Any]:
        assert running.keyed is not None
        assert entry.keyed is not None
        if running.keyed.hash != entry.keyed.hash:
            raise KeyReused
        return await running.join()

    def _conclude(self, entry: Entry, answer: Answered[Any] | BaseException) -> None:
        if self._by_name.get(entry.name) is entry:
            del self._by_name[entry.name]
        entry.settle(answer)

    def _admit(self, owner: Hashable) -> None:
        if self._queued >= QUEUE_LIMIT or self._waiting.get(owner, 0) >= ORGANIZATION_LIMIT:
            raise Overloaded(retry_after_seconds=1)

    def _queue(self, command: AnyCommand, scope: WritingScope, key: Hashable, pace: Pace) -> Queue:
        lane = (command, _owner(scope), key, pace)
        queue = self._queues.get(lane)
        if queue is None:
            queue = Queue(command, scope, key, self._flights(command, scope, pace), pace)
        return queue

    def _flights(self, command: AnyCommand, scope: WritingScope, pace: Pace) -> Flights:
        if command.only_reads:
            return self._reading_flights
        return self._swift[scope.role] if pace is Pace.SWIFT else self._waiting_flights

    def _enqueue(self, queue: Queue, entry: Entry) -> None:
        # Known from its first entry to its last landing: a call that is turned away leaves nothing behind.
        self._queues[queue.lane] = queue
        queue.entries.append(entry)
        self._queued += 1
        self._waiting[queue.owner] = self._waiting.get(queue.owner, 0) + 1
        if len(queue.entries) == 1 and not queue.flying:
            queue.flights.ready(queue)
            self._dispatch_soon()

    def _dispatch_soon(self) -> None:
        # Not at once: what arrives in the same turn of the event loop still joins the flight.
        if not self._dispatching:
            self._dispatching = True
            asyncio.get_running_loop().call_soon(self._dispatch)

    def _dispatch(self) -> None:
        self._dispatching = False
        for flights in (*self._swift.values(), self._waiting_flights, self._reading_flights):
            while queue := flights.next():
                queue.flying = True
                self._start(self._fly(queue))

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        """In a task of its own, which no caller can cancel."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _fly(self, queue: Queue) -> None:
        entries = self._board(queue)
        waited = time.monotonic() - entries[0].submitted
        try:
            await self._settle(queue, entries)
            self._observed.flew(queue.command.name, len(entries), waited)
        finally:
            queue.flying = False
            queue.flights.landed(queue)
            if queue.entries:
                queue.flights.ready(queue)
            else:
                self._queues.pop(queue.lane, None)
            self._dispatch_soon()

    def _board(self, queue: Queue) -> list[Entry]:
        entries = [queue.entries.popleft() for _ in range(min(BATCH_LIMIT, len(queue.entries)))]
        self._queued -= len(entries)
        left = self._waiting[queue.owner] - len(entries)
        if left:
            self._waiting[queue.owner] = left
        else:
            del self._waiting[queue.owner]
        return entries

    async def _settle(self, queue: Queue, entries: list[Entry]) -> None:
        """Run the entries and answer everybody who waits for them, whatever happens."""
        while entries:
            try:
                answers = await self._run(queue, entries)
            except Busy as busy:
                rest = self._set_aside(queue, entries, busy)
                if len(rest) < len(entries):
                    entries = rest
                    continue
                # Busy with rows of something else than its inputs: whose they are shows when each goes alone.
                self._wait_or_give_up(queue, entries)
            except asyncpg.LockNotAvailableError:
                self._wait_or_give_up(queue, entries)
            except Refusal as refusal:  # The database is away, or cannot tell: this holds for all of them.
                self._conclude_all(entries, refusal)
            except asyncio.CancelledError:
                self._conclude_all(entries, OutcomeUnknown())
                raise
            except Exception as bug:  # noqa: BLE001, whatever it is, every caller must be answered
                await self._isolate(queue, entries, bug)
            else:
                for entry, answer in zip(entries, answers, strict=True):
                    self._conclude(entry, answer)
            return

    async def _run(self, queue: Queue, entries: Sequence[Entry]) -> list[Answered[Any] | Refusal]:
        async def work(tx: Any) -> list[Answered[Any] | Refusal]:
            return await _perform(tx, queue, entries)

        if queue.command.only_reads:
            return await self._database.read(queue.scope, work)
        return await self._database.run(queue.scope, work, patient=queue.pace is not Pace.SWIFT)

    def _conclude_all(self, entries: Sequence[Entry], answer: BaseException) -> None:
        for entry in entries:
            self._conclude(entry, answer)

    def _set_aside(self, queue: Queue, entries: Sequence[Entry], busy: Busy) -> list[Entry]:
        """The busy inputs wait for their rows, each row in a lane of its own; the others go on without them."""
        key_of = {id(each): key for key, inputs in busy.inputs_by_key.items() for each in inputs}
        rest: list[Entry] = []
        for entry in entries:
            if id(entry.input) in key_of:
                key = key_of[id(entry.input)]
                self._enqueue(self._queue(queue.command, queue.scope, key, Pace.PATIENT), entry)
            else:
                rest.append(entry)
        return rest

    def _wait_or_give_up(self, queue: Queue, entries: list[Entry]) -> None:
        """A lock that nobody expected (a key that another process is writing) held the whole batch up."""
        for entry in entries:
            if queue.pace is Pace.SWIFT:
                self._enqueue(self._queue(queue.command, queue.scope, entry, Pace.WARY), entry)
            else:
                self._conclude(entry, RowBusy(retry_after_seconds=1))

    async def _isolate(self, queue: Queue, entries: list[Entry], bug: BaseException) -> None:
        if len(entries) == 1:
            self._conclude(entries[0], bug)
            return
        middle = len(entries) // 2
        await self._settle(queue, entries[:middle])
        await self._settle(queue, entries[middle:])


def _owner(scope: WritingScope) -> Hashable:
    # The bare number: looked up several times per call, and an id's own hash is Python code.
    return scope.organization.uuid.int if isinstance(scope, Scope) else scope.role


async def _perform(tx: Transaction, queue: Queue, entries: Sequence[Entry]) -> list[Answered[Any] | Refusal]:
    """Answer from what is stored, run the command for the rest, and store what it answered."""
    command = queue.command
    keeper = None if command.only_reads else told_by(tx)
    if keeper is None:
        return [_answer(outcome) for outcome in await command(tx, [entry.input for entry in entries])]
    keys = [entry.keyed for entry in entries if entry.keyed]
    if queue.pace is Pace.WARY:
        await outwait(keeper, keys)
    stored = await find_answers(keeper, keys)
    answers: dict[int, Answered[Any] | Refusal] = {}
    for position, entry in enumerate(entries):
        if entry.keyed and (found := stored.get(entry.keyed.name)):
            answers[position] = _stored_answer(command, found, entry.keyed)
    fresh = [position for position in range(len(entries)) if position not in answers]
    if fresh:
        outcomes = await command(tx, [entries[position].input for position in fresh])
        answers.update(zip(fresh, map(_answer, outcomes), strict=True))
        await _keep(keeper, command, [(entries[position].keyed, answers[position]) for position in fresh])
        refused = [entries[position].keyed for position in fresh if isinstance(answers[position], Refusal)]
        await _look_again(keeper, refused)
    return [answers[position] for position in range(len(entries))]


def _stored_answer(command: AnyCommand, found: Stored, keyed: Keyed) -> Answered[Any] | Refusal:
    if found.request_hash != keyed.hash:
        return KeyReused()
    try:
        return Answered(command.decode(found.answer), replayed=True)
    except msgspec.ValidationError:  # Kept by a version whose answers had another form.
        return AnswerOutdated()


def _answer(outcome: Any) -> Answered[Any] | Refusal:
    return outcome if isinstance(outcome, Refusal) else Answered(outcome)


async def _look_again(tx: Tx, refused: Sequence[Keyed | None]) -> None:
    """While we waited for the rows, another process may have done under these keys what we now refuse."""
    if await find_answers(tx, [keyed for keyed in refused if keyed]):
        raise Overtaken("what is refused now was done under the same key meanwhile")


async def _keep(tx: Tx, command: AnyCommand, answers: Sequence[tuple[Keyed | None, Answered[Any] | Refusal]]) -> None:
    kept = [
        (keyed, command.encode(answer.outcome)) for keyed, answer in answers if keyed and isinstance(answer, Answered)
    ]
    await keep_answers(tx, kept)
