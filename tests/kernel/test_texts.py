"""What people choose stays in its place."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admitone.kernel.texts import name_of, on_one_line


@given(st.text())
def test_nothing_breaks_a_line_or_turns_a_direction(text: str) -> None:
    tamed = on_one_line(text)
    assert on_one_line(tamed) == tamed == tamed.strip()
    assert not [sign for sign in tamed if unicodedata.category(sign) in ("Cc", "Cs", "Zl", "Zp")]
    assert not [sign for sign in tamed if unicodedata.bidirectional(sign) in ("LRO", "RLO", "LRE", "RLE", "LRI", "RLI")]


@pytest.mark.parametrize("text", ["", " ", "\u3000", "\u200b\u2060", "\u00ad", "\ufeff ", "a\0b"])
def test_what_nobody_sees_cannot_be_read(text: str) -> None:
    with pytest.raises(ValueError, match="can be read"):
        name_of(text)


@pytest.mark.parametrize("text", ["Ana", "João", "أنا", "👩‍👩‍👧", "1"])
def test_a_name_stays_what_it_is(text: str) -> None:
    assert on_one_line(text) == text == name_of(text)
