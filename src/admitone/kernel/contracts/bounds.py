"""Which request types are too open to let in.

Promise: a contract whose request could carry unbounded text, a list without end, an integer that PostgreSQL cannot
hold, a float or a time without zone is refused when it is declared, not when somebody sends one.
"""

from collections.abc import Iterator
from typing import Any

from msgspec import inspect

from admitone.kernel.contracts.wire import LARGEST_INTEGER, SMALLEST_INTEGER, Upload
from admitone.kernel.ids import Id

_HARMLESS = (
    inspect.BoolType,
    inspect.NoneType,
    inspect.EnumType,
    inspect.LiteralType,
    inspect.UUIDType,
    inspect.DateType,
)
_LISTS = (inspect.ListType, inspect.VarTupleType, inspect.SetType, inspect.FrozenSetType)


def complaints_about(request: type) -> Iterator[str]:
    """Every field that is too open, each as `field: what is wrong`."""
    try:
        kind = inspect.type_info(request)
    except (TypeError, ValueError) as error:
        yield f"{request.__name__}: {error}"
    else:
        yield from _of(kind, at=request.__name__, within=())


def holds_times(request: type) -> bool:
    """Whether an instant stands anywhere in it."""
    return any(isinstance(kind, inspect.DateTimeType) for kind in _parts(inspect.type_info(request), set()))


def _parts(kind: Any, seen: set[type]) -> Iterator[inspect.Type]:
    """The type and everything inside it."""
    yield kind
    if isinstance(kind, inspect.StructType):
        if kind.cls in seen:
            return
        seen.add(kind.cls)
        inner = [field.type for field in kind.fields]
    else:
        names = ("type", "item_type", "key_type", "value_type")
        inner = [getattr(kind, name) for name in names if isinstance(getattr(kind, name, None), inspect.Type)]
        inner += [*getattr(kind, "types", ()), *getattr(kind, "item_types", ())]
    for each in inner:
        yield from _parts(each, seen)


def _of(kind: inspect.Type, at: str, within: tuple[type, ...]) -> Iterator[str]:
    match kind:
        case inspect.Metadata(type=inner):
            yield from _of(inner, at, within)
        case inspect.StructType():
            yield from _of_struct(kind, at, within)
        case inspect.UnionType(types=types):
            for option in types:
                yield from _of(option, at, within)
        case inspect.TupleType(item_types=items):
            for item in items:
                yield from _of(item, at, within)
        case inspect.DictType():
            yield from _of_length(kind, at)
            yield from _of(kind.key_type, f"{at} (key)", within)
            yield from _of(kind.value_type, f"{at} (value)", within)
        case inspect.ListType() | inspect.VarTupleType() | inspect.SetType() | inspect.FrozenSetType():
            yield from _of_length(kind, at)
            yield from _of(kind.item_type, f"{at}[]", within)
        case _:
            yield from _of_leaf(kind, at)


def _of_struct(kind: inspect.StructType, at: str, within: tuple[type, ...]) -> Iterator[str]:
    if kind.forbid_unknown_fields:
        yield f"{at}: forbids unknown fields, which a consumer may always send"
    if kind.cls in within:
        return  # A type that contains itself: its fields are already being looked at, and depth is bounded by the body.
    for field in kind.fields:
        yield from _of(field.type, f"{at}.{field.encode_name}", (*within, kind.cls))


def _of_length(kind: Any, at: str) -> Iterator[str]:
    if kind.max_length is None:
        yield f"{at}: needs a largest length (Meta(max_length=…))"


def _of_leaf(kind: inspect.Type, at: str) -> Iterator[str]:
    match kind:
        case inspect.StrType() | inspect.BytesType():
            yield from _of_length(kind, at)
        case inspect.IntType():
            yield from _of_integer(kind, at)
        case inspect.DateTimeType(tz=tz) if tz is not True:
            yield f"{at}: needs a time zone (Instant)"
        case inspect.DateTimeType():
            pass
        case inspect.CustomType(cls=cls) if issubclass(cls, (Id, Upload)):
            pass
        case _ if isinstance(kind, _HARMLESS):
            pass
        case _:
            yield f"{at}: {type(kind).__name__.removesuffix('Type').lower()} cannot be taken from outside"


def _of_integer(kind: inspect.IntType, at: str) -> Iterator[str]:
    lowest = kind.ge if kind.ge is not None else kind.gt
    highest = kind.le if kind.le is not None else kind.lt
    if lowest is None or highest is None or lowest < SMALLEST_INTEGER or highest > LARGEST_INTEGER:
        yield f"{at}: needs bounds within 64 bits (Meta(ge=…, le=…))"
