"""What a camera saw: the text of a QR code in a picture.

Promise: a picture is looked at in memory and kept by nobody. What is no JPEG, would unfold to more than a telephone
needs to show a code, or is drawn in many layers, is refused before a single pixel of it is unpacked. However many are
sent, few are looked at at once, and those who would have to wait for long are told to come again.
"""

import asyncio
import io
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from PIL import Image, UnidentifiedImageError

from admitone.entitlements.codes import LONGEST
from admitone.entitlements.errors import NoPicture, PictureTooLarge
from admitone.kernel.errors import Unavailable

MOST_PIXELS: Final = 1_300_000
"""1280 by 960 and a little more; a QR code at arm's length needs a quarter of it."""
MOST_WAITING: Final = 16


def text_in(picture: bytes) -> str | None:
    """Of the first QR code in it, if there is any that could be one of ours."""
    # Loaded where somebody scans: when a process ends, the library complains aloud about what of it is still there.
    import zxingcpp

    found = zxingcpp.read_barcode(_grey(picture), formats=zxingcpp.BarcodeFormats(zxingcpp.BarcodeFormat.QRCode))
    return found.text if found and 0 < len(found.text) <= LONGEST else None


def _grey(picture: bytes) -> Image.Image:
    try:
        opened = Image.open(io.BytesIO(picture), formats=("JPEG",))
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise PictureTooLarge(most_pixels=MOST_PIXELS) from None
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError):
        raise NoPicture from None
    # The size stands in the head of the file; nothing has been unpacked yet.
    if opened.width * opened.height > MOST_PIXELS:
        raise PictureTooLarge(most_pixels=MOST_PIXELS)
    # Drawn over itself again and again: a few bytes more cost a whole picture more. No camera of a page sends these.
    if "progressive" in opened.info:
        raise NoPicture
    try:
        return opened.convert("L")
    except (OSError, ValueError, SyntaxError):
        raise NoPicture from None


class Eyes:
    """Looks at pictures beside the event loop, two at a time."""

    def __init__(self, most_waiting: int = MOST_WAITING) -> None:
        self._most_waiting = most_waiting
        self._waiting = 0
        self._readers = ThreadPoolExecutor(2, thread_name_prefix="camera")

    async def read(self, picture: bytes) -> str | None:
        if self._waiting >= self._most_waiting:
            raise Unavailable
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._readers, text_in, picture)
        finally:
            self._waiting -= 1


EYES: Final = Eyes()
