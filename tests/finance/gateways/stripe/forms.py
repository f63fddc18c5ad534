"""Stripe's form encoding, read as Stripe reads it: `a[b][0][c]=1`."""

from typing import Any
from urllib.parse import parse_qsl


def read_form(text: str) -> dict[str, Any]:
    form: dict[str, Any] = {}
    for name, value in parse_qsl(text, keep_blank_values=True, strict_parsing=bool(text)):
        first, *rest = name.replace("]", "").split("[")
        _put(form, [first, *rest], value)
    return {name: _listed(value) for name, value in form.items()}


def _put(into: dict[str, Any], path: list[str], value: str) -> None:
    here, *rest = path
    if rest:
        _put(into.setdefault(here, {}), rest, value)
    else:
        assert here not in into, f"{here} was said twice"
        into[here] = value


def _listed(value: Any) -> Any:
    """What is numbered from nought on is a list."""
    if not isinstance(value, dict):
        return value
    read = {name: _listed(each) for name, each in value.items()}
    return [*read.values()] if list(read) == [str(number) for number in range(len(read))] else read
