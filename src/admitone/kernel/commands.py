"""Commands: the unit of work inside. A command takes many inputs and gives one outcome or refusal for each.

Promise: a command is an ordinary function `(tx, inputs)`; declaring it adds a name, the hot key under which its
calls are coalesced, and the type of its outcome, so that an answer can be stored and read back.

    @command(keyed_by=lambda increment: increment.counter)
    async def increment(tx: Tx, increments: Sequence[Increment]) -> list[Counted | Refusal]: ...

One that `only_reads` is a question that many ask at once: it is answered in a read-only transaction, for all who asked
before it began.
"""

import inspect
from collections.abc import Awaitable, Callable, Hashable, Sequence
from types import UnionType
from typing import Any, Generic, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec

from admitone.kernel.errors import Refusal
from admitone.kernel.ids import from_text, to_text

TxKind = TypeVar("TxKind", contravariant=True)
Input = TypeVar("Input", contravariant=True)
Outcome = TypeVar("Outcome", covariant=True)
Work = Callable[[Any, Sequence[Any]], Awaitable[Sequence[Any]]]


class Command(Generic[TxKind, Input, Outcome]):
    """A function that locks, decides, writes and publishes for many inputs at once; or that only looks, for many."""

    def __init__(
        self,
        work: Callable[[TxKind, Sequence[Input]], Awaitable[Sequence[Outcome | Refusal]]],
        *,
        name: str,
        keyed_by: Callable[[Any], Hashable] | None = None,
        only_reads: bool = False,
        outcome: Any = Any,
    ) -> None:
        self.name = name
        self.keyed_by = keyed_by
        self.only_reads = only_reads
        self._work = work
        self._decoder = msgspec.json.Decoder(outcome, dec_hook=from_text)
        self.__doc__ = work.__doc__

    async def __call__(self, tx: TxKind, inputs: Sequence[Input]) -> Sequence[Outcome | Refusal]:
        outcomes = await self._work(tx, inputs)
        if len(outcomes) != len(inputs):
            raise AssertionError(f"{self.name} gave {len(outcomes)} outcomes for {len(inputs)} inputs")
        return outcomes

    def hot_key(self, each: Any) -> Hashable:
        """Calls with the same hot key contend for the same row, so they share a flight."""
        return self.keyed_by(each) if self.keyed_by else None

    def encode(self, outcome: Any) -> bytes:
        return msgspec.json.encode(outcome, enc_hook=to_text)

    def decode(self, answer: bytes) -> Any:
        return self._decoder.decode(answer)

    def __repr__(self) -> str:
        return f"<command {self.name}>"


def command(
    *, keyed_by: Callable[[Any], Hashable] | None = None, only_reads: bool = False
) -> Callable[
    [Callable[[TxKind, Sequence[Input]], Awaitable[Sequence[Outcome | Refusal]]]], Command[TxKind, Input, Outcome]
]:
    """Declare a command. Its name is where it stands: `package.verb`."""

    def declare(
        work: Callable[[TxKind, Sequence[Input]], Awaitable[Sequence[Outcome | Refusal]]],
    ) -> Command[TxKind, Input, Outcome]:
        place = work.__module__.removeprefix("admitone.").replace(".commands", "")
        name, outcome = f"{place}.{work.__name__}", _outcome_of(work)
        return Command(work, name=name, keyed_by=keyed_by, only_reads=only_reads, outcome=outcome)

    return declare


def _outcome_of(work: Callable[..., Any]) -> Any:
    """The type inside `list[Outcome | Refusal]`, without the refusals."""
    returned = get_type_hints(inspect.unwrap(work)).get("return", Any)
    [each] = get_args(returned) or (Any,)
    members = get_args(each) if get_origin(each) in (Union, UnionType) else (each,)
    kept = tuple(m for m in members if not (isinstance(m, type) and issubclass(m, Refusal)))
    return Union[kept] if kept else Any  # noqa: UP007, built at run time
