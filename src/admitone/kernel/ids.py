"""Ids: UUIDv7 in the database, prefixed in the API, typed in between.

Promise: an id made later sorts later (to the millisecond, and within one process always), an id of one kind is
never taken for another, and text that is not exactly an id of the kind is refused.

    class CounterId(Id, prefix="ctr"): ...
    CounterId.new()                          a fresh one
    CounterId.parse("ctr_0198c9a4…")         from the API, else InvalidId
    str(counter_id)                          to the API
    counter_id.uuid                          to the database
"""

import os
import struct
import threading
import time
from typing import Any, ClassVar, Self
from uuid import UUID

from asyncpg.pgproto import pgproto

from admitone.kernel.errors import Invalid

DriversUuid = pgproto.UUID
"""The kind that stands in every row: made, compared, written and sent in a fraction of the library's time."""


class InvalidId(Invalid):
    """This is not an id of the kind that is asked for."""

    code = "INVALID_ID"
    expected_prefix: str


class _Source:
    """A 12 bit counter below the millisecond, so that ids made in one process never go backwards, and chance.

    Chance is drawn for many ids at once: asking the system for each costs more than everything else here.
    """

    BLOCK = 512

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last = 0
        self._chance: list[int] = []
        # A child that goes on drawing from its parent's block would make its parent's ids.
        os.register_at_fork(after_in_child=self._chance.clear)

    def next(self) -> tuple[int, int]:
        now = (time.time_ns() // 1_000_000) << 12
        with self._lock:
            self._last = last = now if now > self._last else self._last + 1
            if not self._chance:
                self._chance.extend(struct.unpack(f"{self.BLOCK}Q", os.urandom(8 * self.BLOCK)))
            return last, self._chance.pop()


_source = _Source()


def uuid7() -> UUID:
    """A fresh one; one made later in this process sorts later."""
    return uuid7_at(*_source.next())


def uuid7_at(ticks: int, chance: int) -> UUID:
    """A UUID of version 7 (RFC 9562): 48 bits of milliseconds and 12 bits of sequence, in one number, and 62 bits of
    chance, of 64 that are given."""
    high, low = (ticks >> 12) << 16 | 0x7000 | ticks & 0xFFF, 1 << 63 | chance >> 2
    return DriversUuid((high << 64 | low).to_bytes(16))


class Id:
    """One kind of id. Equal only to an id of the same kind."""

    __slots__ = ("uuid",)
    prefix: ClassVar[str]
    kinds: ClassVar[dict[str, type["Id"]]] = {}
    """Every kind by its prefix: two kinds under one prefix would be mistaken for each other."""

    uuid: UUID

    def __init_subclass__(cls, prefix: str) -> None:
        other = Id.kinds.setdefault(prefix, cls)
        if other is not cls and other.__qualname__ != cls.__qualname__:
            raise TypeError(f"prefix {prefix!r} belongs to {other.__qualname__}")
        cls.prefix = prefix

    def __init__(self, uuid: UUID) -> None:
        self.uuid = uuid

    @classmethod
    def new(cls) -> Self:
        return cls(uuid7())

    @classmethod
    def parse(cls, text: str) -> Self:
        prefix, _, digits = text.partition("_")
        try:
            uuid = DriversUuid(digits)
        except ValueError:
            raise InvalidId(expected_prefix=cls.prefix) from None
        if prefix != cls.prefix or uuid.hex != digits:  # Hyphens and capitals are not ours.
            raise InvalidId(expected_prefix=cls.prefix)
        return cls(uuid)

    def __str__(self) -> str:
        return f"{self.prefix}_{self.uuid.hex}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self})"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.uuid == other.uuid

    def __lt__(self, other: Self) -> bool:
        return self.uuid < other.uuid

    def __hash__(self) -> int:
        return hash(self.uuid)


class OrganizationId(Id, prefix="org"):
    """Which organisation: the first column of every tenant table."""


class IdentityId(Id, prefix="idn"):
    """Which person."""


PLATFORM_ORGANIZATION = OrganizationId(UUID("00000000-0000-7000-8000-000000000001"))
"""Stands where a row needs an organisation and the platform itself is meant."""


def to_text(value: Any) -> Any:
    """For encoders, in answers and in stored documents alike: an id is its text."""
    if isinstance(value, Id):
        return str(value)
    raise NotImplementedError(f"{type(value).__name__} is no id")


def from_text(kind: type, value: Any) -> Any:
    """For decoders of what we wrote ourselves."""
    if issubclass(kind, Id) and isinstance(value, str):
        return kind.parse(value)
    raise NotImplementedError(f"{kind.__name__} is no id")
