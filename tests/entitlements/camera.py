"""A camera's eyes: pictures of QR codes, read module by module as the standard says (ISO/IEC 18004), and by nobody's
library. It knows version 2 and the alphanumeric mode, which is what our codes are."""

import re
import struct
import zlib
from collections.abc import Callable, Iterator

Modules = list[list[bool]]
"""Row by row; dark is true."""

SIZE, BORDER = 25, 4
ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:"
MASKS: list[Callable[[int, int], bool]] = [
    lambda row, column: (row + column) % 2 == 0,
    lambda row, column: row % 2 == 0,
    lambda row, column: column % 3 == 0,
    lambda row, column: (row + column) % 3 == 0,
    lambda row, column: (row // 2 + column // 3) % 2 == 0,
    lambda row, column: row * column % 2 + row * column % 3 == 0,
    lambda row, column: (row * column % 2 + row * column % 3) % 2 == 0,
    lambda row, column: ((row + column) % 2 + row * column % 3) % 2 == 0,
]


def in_png(picture: bytes, pixels: int) -> Modules:
    """Of a picture with one bit for each pixel, where 0 is black."""
    assert picture.startswith(b"\x89PNG\r\n\x1a\n")
    at, packed = 8, b""
    while at < len(picture):
        [length] = struct.unpack(">I", picture[at : at + 4])
        kind, body = picture[at + 4 : at + 8], picture[at + 8 : at + 8 + length]
        if kind == b"IHDR":
            width, height, depth, colour = struct.unpack(">IIBB", body[:10])
            assert (depth, colour) == (1, 0)
            assert width == height == (SIZE + 2 * BORDER) * pixels
        packed += body if kind == b"IDAT" else b""
        at += 12 + length
    rows = _unfiltered(zlib.decompress(packed), (width + 7) // 8)
    first = (BORDER * pixels) + pixels // 2

    def is_dark(row: int, column: int) -> bool:
        x, line = first + column * pixels, rows[first + row * pixels]
        return not line[x // 8] >> (7 - x % 8) & 1

    return [[is_dark(row, column) for column in range(SIZE)] for row in range(SIZE)]


def _unfiltered(raw: bytes, width: int) -> list[bytes]:
    """Each row is as it is (0), or told by what differs from the row above (2)."""
    rows, above = [], bytes(width)
    for start in range(0, len(raw), width + 1):
        how, told = raw[start], raw[start + 1 : start + 1 + width]
        assert how in (0, 2)
        above = told if how == 0 else bytes((one + other) % 256 for one, other in zip(told, above, strict=True))
        rows.append(above)
    return rows


def in_svg(picture: str) -> Modules:
    """Of a picture whose dark modules are horizontal strokes."""
    size = SIZE + 2 * BORDER
    assert f'viewBox="0 0 {size} {size}"' in picture
    found = re.search(r'stroke="#000"[^>]* d="([^"]+)"', picture)
    assert found is not None
    modules = [[False] * SIZE for _ in range(SIZE)]
    x = y = 0.0
    for step, first, second in re.findall(r"([Mmh])(-?[\d.]+)(?: (-?[\d.]+))?", found[1]):
        if step == "h":
            for column in range(int(x), int(x) + int(first)):
                modules[int(y) - BORDER][column - BORDER] = True
            x += float(first)
        else:
            x, y = (float(first), float(second)) if step == "M" else (x + float(first), y + float(second))
    return modules


def read(modules: Modules) -> str:
    bits = iter(_bits(modules))

    def number(length: int) -> int:
        return int("".join("1" if next(bits) else "0" for _ in range(length)), 2)

    assert number(4) == 0b0010, "letters and digits"
    left, text = number(9), ""
    while left > 1:
        high, low = divmod(number(11), 45)
        text, left = text + ALPHABET[high] + ALPHABET[low], left - 2
    return text + (ALPHABET[number(6)] if left else "")


def _bits(modules: Modules) -> Iterator[bool]:
    """In the order in which they were laid: two columns at a time from the right, up and down by turns."""
    told = [modules[8][column] for column in (0, 1, 2, 3, 4, 5, 7, 8)]
    mask = MASKS[int("".join("1" if bit else "0" for bit in told[2:5]), 2) ^ 0b101]
    upwards = True
    for right in (*range(SIZE - 1, 6, -2), 5, 3, 1):
        for row in range(SIZE - 1, -1, -1) if upwards else range(SIZE):
            for column in (right, right - 1):
                if not _is_fixed(row, column):
                    yield modules[row][column] != mask(row, column)
        upwards = not upwards


def _is_fixed(row: int, column: int) -> bool:
    near_row, near_column = row <= 8, column <= 8
    corner = (near_row and (near_column or column >= SIZE - 8)) or (near_column and row >= SIZE - 8)
    aligned = 16 <= row <= 20 and 16 <= column <= 20
    return corner or aligned or row == 6 or column == 6
