"""Draws the icons of the door: a ticket with a tick, safe inside every mask. Run it when the drawing changes:

python -m tests.web.door_icons
"""

from importlib.resources import files
from pathlib import Path

from PIL import Image, ImageDraw

INK, PAPER, ACCENT = "#12141a", "#f6f5f1", "#0b5c57"
LARGE = 1024
HOLES = 7


def drawn() -> Image.Image:
    """Large, so that what is made smaller has smooth edges."""
    picture = Image.new("RGB", (LARGE, LARGE), INK)
    pen = ImageDraw.Draw(picture)
    left, right, top, bottom = 230, 794, 310, 714
    pen.rectangle((left, top, right, bottom), fill=PAPER)
    step = (bottom - top) / HOLES
    for hole in range(HOLES):
        middle = top + step * (hole + 0.5)
        for edge in (left, right):
            pen.ellipse((edge - 18, middle - 18, edge + 18, middle + 18), fill=INK)
    pen.line(((360, 520), (470, 630), (670, 410)), fill=ACCENT, width=78, joint="curve")
    return picture


def draw(folder: Path) -> None:
    for size in (192, 512):
        smaller = drawn().resize((size, size), Image.Resampling.LANCZOS).quantize(32)
        smaller.save(folder / f"door-{size}.png", optimize=True)


if __name__ == "__main__":
    draw(Path(str(files("admitone.web").joinpath("assets"))))
