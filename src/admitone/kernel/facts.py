"""Facts: what happened, in the past tense.

Promise: a fact has a name (`domain.action`), a version and a subject that are checked when its class is made. It
carries ids, not people: a field that is named after personal data is refused, and free text is redacted before it is
written (PLT-003). It is published by a command through `tx.publish`, so that it commits with the rows.

    class TicketSold(Fact, frozen=True):
        name = "ticket.sold"
        version = "1.0.0"
        subject = ("TICKET", "ticket_id")       its type, and the field that says which

        ticket_id: TicketId
"""

import re
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import msgspec
from msgspec import inspect

from admitone.kernel.ids import to_text
from admitone.kernel.redaction import redact
from admitone.kernel.scope import Caller

NAME = re.compile(r"^[a-z0-9_]+(\.[a-z0-9_]+)+$")
VERSION = re.compile(r"^\d+\.\d+\.\d+$")
PERSONAL = frozenset({"email", "phone", "password", "address", "name", "dob", "ip"})
"""Words that no field of a fact is made of."""
HARMLESS = ("_id", "_hash")


class Fact(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Base of all facts."""

    name: ClassVar[str]
    version: ClassVar[str]
    subject: ClassVar[tuple[str, str]]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if not NAME.match(cls.name):
            raise TypeError(f"a fact is called domain.action in lower case, not {cls.name!r}")
        if not VERSION.match(cls.version):
            raise TypeError(f"a fact has a semantic version, not {cls.version!r}")
        own = {
            field: kind
            for base in reversed(cls.__mro__)
            for field, kind in vars(base).get("__annotations__", {}).items()
        }
        fields = [field for field, kind in own.items() if "ClassVar" not in str(kind)]
        if cls.subject[1] not in fields:
            raise TypeError(f"{cls.name} is about {cls.subject[1]!r}, which is no field of it")
        personal = [field for field in fields if PERSONAL & set(field.split("_")) and not field.endswith(HARMLESS)]
        if personal:
            raise TypeError(f"{cls.name} would tell {', '.join(personal)}; tell an id or a hash")

    @property
    def subject_id(self) -> str:
        return str(getattr(self, self.subject[1]))

    def payload(self) -> str:
        """As it is written: JSON, with whatever looks like a person hidden in free text."""
        texts = free_texts(type(self))
        if not texts:
            return _encode(self).decode()
        told: dict[str, Any] = msgspec.to_builtins(self, enc_hook=to_text)
        for field in texts:
            told[field] = redact(told[field])
        return _encode(told).decode()


_encode = msgspec.json.Encoder(enc_hook=to_text).encode


@cache
def free_texts(kind: type[Fact]) -> tuple[str, ...]:
    """The fields, by their names on the wire, in which anything could stand."""
    described = inspect.type_info(kind)
    assert isinstance(described, inspect.StructType)
    return tuple(field.encode_name for field in described.fields if _is_free(field.type))


def _is_free(kind: inspect.Type) -> bool:
    if isinstance(kind, inspect.UnionType):
        return any(_is_free(each) for each in kind.types)
    if isinstance(kind, inspect.CollectionType):
        return _is_free(kind.item_type)
    if isinstance(kind, inspect.DictType | inspect.StructType | inspect.AnyType):
        return True
    return isinstance(kind, inspect.StrType) and kind.pattern is None


@dataclass(frozen=True, slots=True)
class Published:
    """A fact that a transaction will write, for the caller on whose behalf it happened."""

    caller: Caller
    fact: Fact
    key: str | None = None
    """Under which it may be told only once; without one, it is unlike every other."""
