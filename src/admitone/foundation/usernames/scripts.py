"""Which script a letter is of: the few that names may be written in, and nothing else.

Promise: a letter is of one script of this table, or it is refused. Python does not know the Script property of
Unicode, so these are the ranges of the letters that people write their names with, taken from the code charts by
hand: fewer than the property has. What is left out is refused on purpose: letters that only look odd (clicks,
phonetics, Coptic), marks that change nothing but the looks (Hebrew points, Arabic vowels, the tatweel), and rare Han.
"""

import re
from bisect import bisect_right
from enum import StrEnum
from typing import Final


class Script(StrEnum):
    LATIN = "Latin"
    GREEK = "Greek"
    CYRILLIC = "Cyrillic"
    HEBREW = "Hebrew"
    ARABIC = "Arabic"
    DEVANAGARI = "Devanagari"
    HIRAGANA = "Hiragana"
    KATAKANA = "Katakana"
    HAN = "Han"
    HANGUL = "Hangul"


LETTERS: Final = (
    (0x0061, 0x007A, Script.LATIN),
    (0x00DF, 0x00F6, Script.LATIN),
    (0x00F8, 0x01BF, Script.LATIN),
    (0x01C4, 0x024F, Script.LATIN),
    (0x0370, 0x03E1, Script.GREEK),
    (0x03F0, 0x03FF, Script.GREEK),
    (0x0430, 0x045F, Script.CYRILLIC),
    (0x048A, 0x052F, Script.CYRILLIC),
    (0x05D0, 0x05EA, Script.HEBREW),
    (0x0620, 0x063F, Script.ARABIC),
    (0x0641, 0x064A, Script.ARABIC),
    (0x066E, 0x066F, Script.ARABIC),
    (0x0671, 0x06D3, Script.ARABIC),
    (0x0904, 0x0939, Script.DEVANAGARI),
    (0x0972, 0x097F, Script.DEVANAGARI),
    (0x1E00, 0x1EFF, Script.LATIN),
    (0x1F00, 0x1FFF, Script.GREEK),
    (0x3005, 0x3005, Script.HAN),
    (0x3041, 0x3096, Script.HIRAGANA),
    (0x309D, 0x309E, Script.HIRAGANA),
    (0x30A1, 0x30FA, Script.KATAKANA),
    (0x30FC, 0x30FE, Script.KATAKANA),
    (0x3400, 0x4DBF, Script.HAN),
    (0x4E00, 0x9FFF, Script.HAN),
    (0xAC00, 0xD7A3, Script.HANGUL),
)
"""First and last code point of each range, in order."""

VOWEL_SIGNS: Final = frozenset(map(chr, (*range(0x0900, 0x0904), 0x093C, *range(0x093E, 0x094E))))
"""Marks without which Devanagari cannot be written. No other script of ours needs any: NFC composes theirs."""

LOOSE_SIGN: Final = re.compile("(?<![\u0904-\u0939\u0972-\u097f{0}])[{0}]|[{0}]{{4}}".format("".join(VOWEL_SIGNS)))
"""A sign that stands on no letter of its script, or more of them on one than anybody writes."""

TOGETHER: Final = (
    *(frozenset({script}) for script in Script),
    frozenset({Script.HAN, Script.HIRAGANA, Script.KATAKANA}),
    frozenset({Script.HAN, Script.HANGUL}),
)
"""Scripts that one name may be written in: one, or those that Japanese and Korean are customarily written in."""

_STARTS: Final = [first for first, _, _ in LETTERS]


def script_of(letter: str) -> Script | None:
    """The script whose range the character stands in. Whether it is a letter at all is for Unicode to say."""
    code = ord(letter)
    place = bisect_right(_STARTS, code) - 1
    if place >= 0 and code <= LETTERS[place][1]:
        return LETTERS[place][2]
    return None
