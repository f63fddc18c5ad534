"""Examples: one request and what comes of it, shown in the reference and run by the tests.

Promise: an example is of the form that its contract takes and gives, bounds included.
"""

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any

import msgspec

from admitone.kernel.contracts.wire import Upload, from_wire, to_json
from admitone.kernel.errors import Refusal


@dataclass(frozen=True, slots=True)
class Example:
    """`takes` and either `gives` or `refuses`, as values."""

    title: str
    _: KW_ONLY
    takes: Any = None
    gives: Any = None
    refuses: Refusal | None = None

    def complaints(self, takes: Any, gives: Any, refuses: tuple[type[Refusal], ...]) -> Iterator[str]:
        yield from self._about("takes", self.takes, takes)
        if self.refuses is None:
            yield from self._about("gives", self.gives, gives)
        elif not isinstance(self.refuses, refuses):
            yield f"example {self.title!r} refuses with {type(self.refuses).__name__}, which is not declared"

    def _about(self, verb: str, value: Any, kind: Any) -> Iterator[str]:
        if (value is None) != (kind is None):
            yield f"example {self.title!r} {verb} {value!r}, the contract {kind}"
        elif kind is not None:
            try:
                msgspec.json.decode(to_json(value), type=kind, dec_hook=_from_example)
            except msgspec.ValidationError as error:
                yield f"example {self.title!r} {verb} what the contract does not: {error}"


def _from_example(kind: type, value: Any) -> Any:
    """As from outside, but a file is only named."""
    if issubclass(kind, Upload):
        return Upload(name=value, content_type="", content=b"")
    return from_wire(kind, value)
