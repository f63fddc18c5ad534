"""Names and values: what paths, queries and forms are made of.

Promise: a field comes once unless it is a list, its text becomes exactly the declared type, and none holds a NUL.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any
from urllib.parse import parse_qsl

import msgspec
from msgspec import inspect

from admitone.kernel.contracts.contract import Contract
from admitone.kernel.contracts.refusals import ValidationFailed
from admitone.kernel.contracts.wire import FIRST_YEAR, LAST_YEAR, from_wire, is_sensible
from admitone.kernel.errors import Malformed

MOST_FIELDS = 200
_LISTS = (inspect.ListType, inspect.VarTupleType, inspect.SetType, inspect.FrozenSetType)


def converted_text(fields: Mapping[str, Any], kind: type) -> Any:
    """Text becomes numbers, dates and ids as the type says."""
    refuse_nul(fields)
    try:
        return msgspec.convert(fields, kind, strict=False, dec_hook=from_wire)
    except msgspec.ValidationError as error:
        raise validation_failed(error) from None


def validation_failed(error: msgspec.ValidationError) -> ValidationFailed:
    """msgspec ends its sentence with the place: "Expected `int`, got `str` - at `$.amount`"."""
    message, _, path = str(error).partition(" - at `")
    return ValidationFailed.at(path.removesuffix("`") or "$", message)


def refuse_nul(value: Any, path: str = "$") -> None:
    """PostgreSQL cannot hold a NUL in text, so nothing inside should ever see one."""
    if isinstance(value, str):
        if "\0" in value:
            raise ValidationFailed.at(path, "Text must not contain the NUL character")
    elif isinstance(value, dict):
        for name, inner in value.items():
            refuse_nul(name, f"{path} (a key)")
            refuse_nul(inner, f"{path}.{name}")
    elif isinstance(value, (list, tuple, set, frozenset)):
        for position, inner in enumerate(value):
            refuse_nul(inner, f"{path}[{position}]")


def refuse_odd_times(value: Any, path: str = "$") -> None:
    """An instant at the end of time is one in our zone and none in another's."""
    if isinstance(value, datetime):
        if not is_sensible(value):
            raise ValidationFailed.at(path, f"A time must be between the years {FIRST_YEAR} and {LAST_YEAR}")
    elif isinstance(value, msgspec.Struct):
        for field in msgspec.structs.fields(value):
            refuse_odd_times(getattr(value, field.name), f"{path}.{field.encode_name}")
    elif isinstance(value, (list, tuple, set, frozenset)):
        for position, inner in enumerate(value):
            refuse_odd_times(inner, f"{path}[{position}]")
    elif isinstance(value, dict):
        for name, inner in value.items():
            refuse_odd_times(inner, f"{path}.{name}")


def pairs_of(encoded: bytes) -> list[tuple[str, str]]:
    """Names and values of a query or a form."""
    try:
        text = encoded.decode("ascii")
        return parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=MOST_FIELDS)
    except ValueError:
        raise Malformed() from None


class TextField:
    """How one field is found among names and values."""

    __slots__ = ("is_list", "is_required")

    def __init__(self, each: msgspec.structs.FieldInfo) -> None:
        self.is_list = any(isinstance(kind, _LISTS) for kind in _options(inspect.type_info(each.type)))
        self.is_required = each.required


def _options(kind: inspect.Type) -> Iterator[inspect.Type]:
    if isinstance(kind, inspect.UnionType):
        yield from kind.types
    else:
        yield kind


def fields_of_text(contract: Contract) -> dict[str, TextField]:
    return {name: TextField(each) for name, each in contract.fields.items() if name not in contract.path_names}


def collected(pairs: list[tuple[str, Any]], fields: Mapping[str, TextField]) -> dict[str, Any]:
    """One value per field, except where the field is a list; an empty box of a form is a field left out."""
    found: dict[str, Any] = {}
    for name, value in pairs:
        field = fields.get(name)
        if field is None or (value == "" and not field.is_required):
            continue
        if field.is_list:
            found.setdefault(name, []).append(value)
        elif name in found:
            raise ValidationFailed.at(f"$.{name}", "Must come once")
        else:
            found[name] = value
    return found
