"""An accent can be read, whatever an organisation chose."""

import re
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admitone.web.contrast import (
    DARK,
    HOVERED_PERCENT,
    LIGHT,
    Accent,
    Color,
    NotAColor,
    Scheme,
    accent_in,
    contrast,
    is_readable,
)

channels = st.integers(0, 255)
colors = st.builds(Color, channels, channels, channels)
schemes = st.sampled_from((LIGHT, DARK))
BLACK, WHITE = Color(0, 0, 0), Color(255, 255, 255)
AA = 4.5


@given(colors, schemes)
def test_every_accent_can_be_read_and_so_can_the_words_on_it(chosen: Color, scheme: Scheme):
    accent = accent_in(scheme, chosen)
    assert contrast(accent.color, scheme.paper) >= AA
    assert contrast(accent.color, scheme.sheet) >= AA
    assert contrast(accent.on, accent.color) >= AA
    assert contrast(accent.on.hovered, accent.color.hovered) >= AA


@given(colors, schemes)
def test_what_can_be_read_already_is_shown_as_it_is(chosen: Color, scheme: Scheme):
    if is_readable(Accent(chosen, scheme.paper), scheme):
        assert accent_in(scheme, chosen).color == chosen


@given(colors)
def test_it_gets_darker_in_the_light_and_lighter_in_the_dark(chosen: Color):
    assert accent_in(LIGHT, chosen).color.luminance <= chosen.luminance
    assert accent_in(DARK, chosen).color.luminance >= chosen.luminance


@given(colors)
def test_a_colour_is_read_as_it_is_written(color: Color):
    assert Color.parse(str(color)) == color


@given(st.text(max_size=9))
def test_nothing_else_is_a_colour(text: str):
    if re.fullmatch(r"#[0-9a-f]{6}", text) is None:
        with pytest.raises(NotAColor):
            Color.parse(text)


@given(colors, colors)
def test_contrast_is_between_none_and_black_on_white(one: Color, other: Color):
    assert 1 <= contrast(one, other) == contrast(other, one) <= contrast(BLACK, WHITE)


def test_contrast_is_what_the_guidelines_say():
    assert contrast(BLACK, WHITE) == pytest.approx(21)
    assert contrast(Color.parse("#767676"), WHITE) == pytest.approx(4.54, abs=0.005)
    assert contrast(Color.parse("#777777"), WHITE) == pytest.approx(4.48, abs=0.005)


def test_the_schemes_are_those_of_the_frame():
    frame = files("admitone.web").joinpath("assets", "frame.css").read_text()
    papers, sheets = (re.findall(rf"--{name}: (#\w+);", frame) for name in ("paper", "sheet"))
    assert papers == [str(LIGHT.paper), str(DARK.paper)]
    assert sheets == [str(LIGHT.sheet), str(DARK.sheet)]
    assert f"brightness({HOVERED_PERCENT / 100})" in frame
