"""What somebody typed into a form, and what is wrong with it.

Promise: nothing that was typed is lost when something fails. A page's form takes text, whatever it is; only when it is
handed to a contract must it be of that contract's form, and what is not is said beside the field.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta

from admitone.kernel.contracts import FieldError, ValidationFailed, status_of
from admitone.kernel.contracts.texts import converted_text
from admitone.kernel.contracts.wire import to_wire
from admitone.kernel.errors import Refusal
from admitone.kernel.words import Words

Taken = TypeVar("Taken", bound=msgspec.Struct)

Typed = Annotated[str, Meta(max_length=4000)]
"""Whatever somebody typed: what it must be is said by the contract that it is handed to."""
Secret = Annotated[str, Meta(max_length=4000, extra={"secret": True})]
"""A password, a code, the token of a link: a form with one is never kept anywhere, not even in its own browser."""
Address = Annotated[str, Meta(max_length=2000)]
"""Where to go on, if that is on this site (`Redirect.within`)."""


def filled(kind: type[Taken], /, **values: Any) -> Taken:
    """A contract's request from typed text; raises `ValidationFailed`, which names the field. What is empty is left
    out, as an empty box of a form is."""
    given = {name: value for name, value in values.items() if value not in ("", None)}
    names = {each.name: each.encode_name for each in msgspec.structs.fields(kind)}
    missing = [each for each in msgspec.structs.fields(kind) if each.required and each.name not in given]
    if missing:
        raise ValidationFailed(
            errors=tuple(FieldError(path=f"$.{each.encode_name}", message="Required") for each in missing)
        )
    taken: Taken = converted_text({names[name]: _plain(value) for name, value in given.items()}, kind)
    return taken


def _plain(value: Any) -> Any:
    return msgspec.to_builtins(value, enc_hook=to_wire)


@dataclass(frozen=True)
class Form:
    """A form as it is shown: empty, or with what was typed and why it is shown again."""

    typed: Mapping[str, Any] = field(default_factory=dict)
    wrong: Mapping[str, str] = field(default_factory=dict)
    """What is wrong, by the name of the field."""
    says: str = ""
    """What is wrong with the whole of it."""
    next_step: str = ""
    status: int = 200

    def __getitem__(self, name: str) -> Any:
        return self.typed.get(name, "")

    @classmethod
    def of(cls, typed: msgspec.Struct, **more: Any) -> "Form":
        """By the names that the fields have in the page."""
        return cls({**_plain(typed), **more})

    @classmethod
    def refused(cls, typed: msgspec.Struct, refusal: Refusal, words: Words) -> "Form":
        """Shown again, because of this."""
        status = status_of(type(refusal))
        if isinstance(refusal, ValidationFailed):
            wrong = {_name_of(each.path): words.say("Please check this field.") for each in refusal.errors}
            says = words.say("Something is missing or not as it should be.")
            return cls(_plain(typed), wrong, says, status=status)
        next_step = words.say(refusal.next_step) if refusal.next_step else ""
        return cls(_plain(typed), {}, words.say(refusal.message()), next_step, status)


def _name_of(path: str) -> str:
    """`$.lines[0].quantity` is in the field `lines`."""
    return path.removeprefix("$.").partition(".")[0].partition("[")[0]
