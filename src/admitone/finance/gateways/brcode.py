"""BR Codes: what a PIX QR code says, and what people copy and paste instead.

Promise: what is written here is read by every bank's app: EMV tags in their order, lengths counted in characters of
ASCII, and a checksum of four digits also when it begins with a nought. What cannot be written is refused, never cut in
the middle of a meaning; names, which are only shown, lose their accents and their end. The decoder accepts exactly what
a strict bank accepts.

    BrCode(merchant="Fulano de Tal", city="BRASILIA", url="pix.example.com/8b3d…").encode()
"""

import binascii
import io
import re
import unicodedata
from typing import Final, Self

import msgspec
import segno

GUI: Final = "br.gov.bcb.pix"
REAIS: Final = "986"
ANY_TXID: Final = "***"
LONGEST_NAME, LONGEST_CITY, LONGEST_AMOUNT, LONGEST_TEMPLATE = 25, 15, 13, 99

_TXID: Final = re.compile(r"[A-Za-z0-9]{1,25}", re.ASCII)
_AMOUNT: Final = re.compile(r"(0|[1-9][0-9]*)\.[0-9]{2}", re.ASCII)


class NoBrCode(ValueError):
    """This cannot be written as a BR Code, or is none."""


class BrCode(msgspec.Struct, frozen=True, kw_only=True):
    """A static code has a key, a dynamic one the address at which banks fetch the charge."""

    merchant: str
    city: str
    key: str | None = None
    url: str | None = None
    amount_minor: int | None = None
    txid: str = ANY_TXID

    def encode(self) -> str:
        if (self.key is None) == (self.url is None):
            raise NoBrCode("a code has a key or an address")
        if self.txid != ANY_TXID and (self.url or not _TXID.fullmatch(self.txid)):
            raise NoBrCode("a txid is 1 to 25 letters and digits, and stands in a static code only")
        account = _tag(0, GUI) + (_tag(1, self.key) if self.key else _tag(25, self.url or ""))
        amount = _tag(54, amount_of(self.amount_minor)) if self.amount_minor is not None else ""
        body = (
            _tag(0, "01")
            + (_tag(1, "12") if self.url else "")
            + _tag(26, account)
            + _tag(52, "0000")
            + _tag(53, REAIS)
            + amount
            + _tag(58, "BR")
            + _tag(59, folded(self.merchant, LONGEST_NAME))
            + _tag(60, folded(self.city, LONGEST_CITY))
            + _tag(62, _tag(5, self.txid))
            + "6304"
        )
        return body + checksum(body)

    @classmethod
    def decode(cls, text: str) -> Self:
        if not text.isascii() or text[-8:-4] != "6304" or checksum(text[:-4]) != text[-4:]:
            raise NoBrCode("the checksum is not right")
        tags = _tags(text)
        numbers = list(tags)
        if numbers[0] != 0 or numbers[-1] != 63:
            raise NoBrCode("a code begins with its version and ends with its checksum")
        if (tags.get(0), tags.get(52), tags.get(53), tags.get(58)) != ("01", "0000", REAIS, "BR"):
            raise NoBrCode("this is no PIX in reais")
        account, more = _tags(tags.get(26, "")), _tags(tags.get(62, ""))
        if account.get(0, "").lower() != GUI or (1 in account) == (25 in account) or 5 not in more:
            raise NoBrCode("this is no PIX account")
        if (tags.get(1) == "12") != (25 in account):
            raise NoBrCode("it says itself that it is another kind of code")
        amount = tags.get(54)
        return cls(
            merchant=_bounded(tags.get(59, ""), LONGEST_NAME),
            city=_bounded(tags.get(60, ""), LONGEST_CITY),
            key=account.get(1),
            url=account.get(25),
            amount_minor=None if amount is None else minor_of(amount),
            txid=more[5],
        )


def amount_of(minor: int) -> str:
    """Reais with two decimal places."""
    text = f"{minor // 100}.{minor % 100:02d}"
    if minor <= 0 or len(text) > LONGEST_AMOUNT:
        raise NoBrCode("this amount cannot be asked for")
    return text


def minor_of(text: str) -> int:
    if not _AMOUNT.fullmatch(text) or len(text) > LONGEST_AMOUNT:
        raise NoBrCode("this is no amount")
    minor = int(text.replace(".", ""))
    if minor == 0:
        raise NoBrCode("nothing cannot be asked for")
    return minor


def folded(name: str, longest: int) -> str:
    """As plain ASCII, as long as there is room."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    shown = " ".join("".join(letter if letter.isprintable() else " " for letter in plain).split())[:longest].strip()
    if not shown:
        raise NoBrCode("nothing is left of this name in ASCII")
    return shown


def checksum(text: str) -> str:
    """CRC-16/CCITT, always four digits."""
    return f"{binascii.crc_hqx(text.encode(), 0xFFFF):04X}"


def svg(text: str) -> str:
    """The QR code, to be put into a page."""
    drawn: str = _drawn(text).svg_inline(scale=4, border=4)
    return drawn


def png(text: str) -> bytes:
    drawn = io.BytesIO()
    _drawn(text).save(drawn, kind="png", scale=6, border=4)
    return drawn.getvalue()


def _drawn(text: str) -> segno.QRCode:
    # To weigh all eight masks against each other costs four times as much as the rest, and every reader takes any.
    return segno.make(text, error="m", mask=3)


def _tag(number: int, value: str) -> str:
    if not value.isascii() or not value.isprintable() or not 0 < len(value) <= LONGEST_TEMPLATE:
        raise NoBrCode(f"tag {number:02d} takes 1 to 99 characters of ASCII")
    return f"{number:02d}{len(value):02d}{value}"


def _tags(text: str) -> dict[int, str]:
    """Each tag once, in the order in which they stand, and nothing between or after them."""
    found: dict[int, str] = {}
    rest = text
    while rest:
        head = rest[:4]
        if len(head) < 4 or not head.isdecimal():
            raise NoBrCode("a tag is broken")
        number, length = int(head[:2]), int(head[2:])
        value, rest = rest[4 : 4 + length], rest[4 + length :]
        if len(value) != length or not length or number in found:
            raise NoBrCode("a tag is broken")
        found[number] = value
    return found


def _bounded(text: str, longest: int) -> str:
    if not 0 < len(text) <= longest or not text.isprintable():
        raise NoBrCode("a name is missing or too long")
    return text
