"""Colours that can be read: how an accent that an organisation chose is shown, in the light and in the dark.

Promise: whatever was chosen, the accent can be read on the paper and on the sheets of its scheme, and the words on a
button of it can be read, also while somebody points at it (WCAG 2.2, AA). What can be read already is shown as it is.
"""

import re
from dataclasses import dataclass
from typing import Final

LEAST_CONTRAST: Final = 4.5
HOVERED_PERCENT: Final = 108
"""How bright a button is while somebody points at it (frame.css)."""
STEPS: Final = 100
_FORM: Final = re.compile("#[0-9a-f]{6}")


class NotAColor(ValueError):
    """It is not of the form #rrggbb."""


@dataclass(frozen=True)
class Color:
    red: int
    green: int
    blue: int

    @classmethod
    def parse(cls, text: str) -> "Color":
        if not _FORM.fullmatch(text):
            raise NotAColor(text)
        return cls(*bytes.fromhex(text.removeprefix("#")))

    def __str__(self) -> str:
        return f"#{self.red:02x}{self.green:02x}{self.blue:02x}"

    @property
    def luminance(self) -> float:
        red, green, blue = map(_linear, (self.red, self.green, self.blue))
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    def towards(self, other: "Color", step: int) -> "Color":
        """So many steps of the way: 0 is this one, `STEPS` the other."""
        return Color(
            _between(self.red, other.red, step),
            _between(self.green, other.green, step),
            _between(self.blue, other.blue, step),
        )

    @property
    def hovered(self) -> "Color":
        return Color(_brightened(self.red), _brightened(self.green), _brightened(self.blue))


def _linear(channel: int) -> float:
    share = channel / 255
    return share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4


def _between(one: int, other: int, step: int) -> int:
    return (one * (STEPS - step) + other * step) // STEPS


def _brightened(channel: int) -> int:
    return min(channel * HOVERED_PERCENT // 100, 255)


def contrast(one: Color, other: Color) -> float:
    """From 1, the same, to 21, black on white."""
    darker, lighter = sorted((one.luminance, other.luminance))
    return (lighter + 0.05) / (darker + 0.05)


@dataclass(frozen=True)
class Scheme:
    """What an accent stands on, and where it goes when it cannot be read there."""

    paper: Color
    sheet: Color
    refuge: Color


LIGHT: Final = Scheme(Color.parse("#ffffff"), Color.parse("#f6f5f1"), refuge=Color.parse("#000000"))
DARK: Final = Scheme(Color.parse("#12141a"), Color.parse("#1b1e26"), refuge=Color.parse("#ffffff"))
"""As in frame.css; a test compares."""


@dataclass(frozen=True)
class Accent:
    color: Color
    on: Color
    """Of the words on it."""


def accent_in(scheme: Scheme, chosen: Color) -> Accent:
    """The nearest to what was chosen that can be read. Words on it are of the colour of the paper."""
    tones = (chosen.towards(scheme.refuge, step) for step in range(STEPS + 1))
    return next(accent for tone in tones if is_readable(accent := Accent(tone, scheme.paper), scheme))


def is_readable(accent: Accent, scheme: Scheme) -> bool:
    pairs = (
        (accent.color, scheme.paper),
        (accent.color, scheme.sheet),
        (accent.on, accent.color),
        (accent.on.hovered, accent.color.hovered),
    )
    return all(contrast(one, other) >= LEAST_CONTRAST for one, other in pairs)
