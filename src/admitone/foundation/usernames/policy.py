"""What can be a username: decided from the text alone.

Promise: `normalise` gives the one form in which a name is compared and kept, and leaves that form as it is.
`canonical` gives that form of what can be a name, or the first rule that it breaks:

- Whitespace is trimmed and collapsed as the normal form wants it, and what is left is refused: "ana silva" is never
  silently taken for "anasilva", which may be somebody else's.
- Characters that are variants of others (full-width letters, ligatures, half-width kana), that cannot be seen, or that
  are not assigned, are refused; so are combining marks, but for the signs of Devanagari, three of which may follow a
  letter. Turkish "İ" is lowered to "i" and a mark, so it is refused; "i" and "ı" are not.
- Digits are 0 to 9: the same number in two sets of digits would be two names that look alike.
- Reserved words and abuse are found under accents, points and digits that stand for letters: `adm1n`, `a.d.m.i.n`.

Scripts are told apart by a small table (`scripts`). Letters of one script that look like those of another, throughout
a whole name, are not found (IDN-031 leaves that for later).
"""

import re
import unicodedata
from collections.abc import Sequence
from datetime import datetime
from functools import cache
from importlib.resources import files
from math import ceil
from typing import Final

from admitone.foundation.usernames.errors import Rule, UsernameCooldown, UsernameInvalid, UsernameTaken
from admitone.foundation.usernames.model import Claimed, Outcome, Verdict
from admitone.foundation.usernames.scripts import LOOSE_SIGN, TOGETHER, VOWEL_SIGNS, script_of
from admitone.kernel.errors import Refusal

SHORTEST, LONGEST = 4, 15
DIGITS: Final = frozenset("0123456789")
POINTS: Final = frozenset("._")
LETTERS: Final = frozenset({"Ll", "Lo", "Lm"})
_MISPLACED = re.compile(r"^[._]|[._]$|[._]{2}")

_LOOKS_LIKE: Final = str.maketrans(
    {"0": "o", "1": "i", "3": "e", "4": "a", "5": "s", "7": "t", "8": "b", "9": "g", "l": "i", "ı": "i"}
    | {"ø": "o", "đ": "d", "ð": "d", "ł": "i", "ħ": "h", "ŧ": "t", "æ": "ae", "œ": "oe", "þ": "th"}
    | {".": "", "_": ""}
)


def normalise(text: str) -> str:
    """Lower case, no space around and one at most between, Unicode's form C."""
    # Composed last: a small letter is one with marks that its capital is not one with (an H with a line below).
    return unicodedata.normalize("NFC", " ".join(text.lower().split()))


def canonical(text: str) -> str | UsernameInvalid:
    """The name that the text means, or why it cannot be one."""
    name = normalise(text)
    broken = _broken(name)
    return name if broken is None else UsernameInvalid(rule=broken)


def answers(
    names: Sequence[str | UsernameInvalid], verdicts: Sequence[Verdict], now: datetime
) -> list[Claimed | Refusal]:
    """One for each name; the registry was asked about those that can be names at all."""
    asked = iter(verdicts)
    return [name if isinstance(name, Refusal) else answer(name, next(asked), now) for name in names]


def answer(name: str, verdict: Verdict, now: datetime) -> Claimed | Refusal:
    """What the registry's verdict on a claim means for whoever made it."""
    match verdict.outcome:
        case Outcome.CLAIMED | Outcome.KEPT:
            return Claimed(name, is_new=verdict.outcome is Outcome.CLAIMED)
        case Outcome.TAKEN:
            return UsernameTaken()
        case Outcome.COOLDOWN:
            assert verdict.until is not None
            # Rounded up: whoever comes back when told to is not too early.
            return UsernameCooldown(retry_after_seconds=ceil((verdict.until - now).total_seconds()))


def _broken(name: str) -> Rule | None:
    """The first rule that the name breaks."""
    if not SHORTEST <= len(name) <= LONGEST:
        return Rule.LENGTH
    if unicodedata.normalize("NFKC", name) != name or not all(map(_may_stand, name)) or LOOSE_SIGN.search(name):
        return Rule.CHARACTERS
    if _MISPLACED.search(name):
        return Rule.PUNCTUATION
    scripts = {script for each in name if (script := script_of(each))}
    if not any(scripts <= together for together in TOGETHER):
        return Rule.MIXED_SCRIPTS
    return Rule.RESERVED if _is_reserved(name) else None


def _may_stand(each: str) -> bool:
    if each in DIGITS or each in POINTS or each in VOWEL_SIGNS:
        return True
    return unicodedata.category(each) in LETTERS and script_of(each) is not None


def _is_reserved(name: str) -> bool:
    shape = folded(name)
    return shape in _words("reserved.txt") or any(word in shape for word in _words("blacklist.txt"))


def folded(name: str) -> str:
    """What is left of a name when accents, points and digits for letters are looked through; l and i are one."""
    apart = unicodedata.normalize("NFKD", name.casefold())
    return "".join(each for each in apart if not unicodedata.combining(each)).translate(_LOOKS_LIKE)


@cache
def _words(file: str) -> frozenset[str]:
    text = files(__package__).joinpath(file).read_text(encoding="utf-8")
    words = (word for line in text.splitlines() for word in line.partition("#")[0].split())
    return frozenset(folded(normalise(word)) for word in words)
