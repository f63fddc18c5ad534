"""Texts that people choose, on one line; and names as people look for them.

Promise: what was tamed adds no line and no header to whatever it is put into, and turns no direction of reading. Nobody
has to type accents or capitals to be understood.
"""

import re
import unicodedata
from collections.abc import Sequence
from typing import Final

_BREAKS: Final = frozenset({"Cc", "Cs", "Zl", "Zp"})
_DIRECTIONS: Final = dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F, 0x061C])


def on_one_line(text: str) -> str:
    """Breaks and control signs are spaces, each space is one, and there is none at either end; nothing turns around."""
    plain = (" " if unicodedata.category(sign) in _BREAKS else sign for sign in text)
    return " ".join("".join(plain).translate(_DIRECTIONS).split())


def name_of(text: str) -> str:
    """What somebody or something is called, on one line; raises `ValueError` if there is nothing to see, or a NUL
    among it, which nobody types."""
    name = on_one_line(text)
    if "\0" in text or not any(sign.isprintable() and not sign.isspace() for sign in name):
        raise ValueError("Expected a name that can be read")
    return name


def is_called(name: str, words: Sequence[str]) -> bool:
    """Whether every word begins some part of the name."""
    parts = parts_of(name)
    return all(any(part.startswith(word) for part in parts) for word in words)


def parts_of(text: str) -> list[str]:
    """Its words, letters and figures without accents and capitals."""
    taken_apart = unicodedata.normalize("NFKD", text.casefold())
    return re.findall(r"[^\W_]+", "".join(sign for sign in taken_apart if not unicodedata.combining(sign)))
