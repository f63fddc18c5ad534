"""What may be written down: everything but people and secrets.

Promise: no e-mail address, phone number, card, bank or tax number, network address, password, token, cookie or raw
payload leaves through a log line, at any depth, in names, texts, bytes, links or messages of exceptions (PRV-004).
Ids stay readable, because they are what one searches for. The work is bounded: depth, width and length are cut.

A name that sounds secret hides its value, whatever it is. All other text is searched for what looks like a secret.
"""

import enum
import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from datetime import date, timedelta
from decimal import Decimal
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple
from uuid import UUID

import msgspec

from admitone.kernel.ids import Id

HIDDEN = "[redacted]"
CUT = "…"
DEEPEST = 6
WIDEST = 64
LONGEST = 2_000
LARGEST = 16_000
"""Characters of all texts of one event together; every value counts for at least a few."""

_SMALL = 10**8
"""Below it, a number is too short to be anybody's."""


def redact(value: Any) -> Any:
    """The value in plain types, fit to be shown."""
    return _Showing().any(value, 0)


def redact_fields(named: Mapping[Any, Any]) -> dict[str, Any]:
    """Each value under its name, or hidden if the name says that it is nobody's business."""
    return _Showing().fields(named, 0)


def redact_text(text: str, longest: int = LONGEST) -> str:
    """The text, with everything hidden in it that looks like a person or a secret."""
    if len(text) > longest:
        return _redact_long(text, longest)
    if text in _harmless or _ID.fullmatch(text):
        return text
    if _SUSPECT.search(text):
        return _hidden(text)
    _remember_harmless(text)
    return text


def _redact_long(text: str, longest: int) -> str:
    # A secret that the cut falls into would no longer be recognised, so the stretch before the cut goes too.
    stretch = 256
    return _hidden(text[: longest + stretch])[:-stretch][:longest] + CUT


_harmless: set[str] = set()
"""Names of events, contracts, methods: the same few words in every line need not be searched each time."""


def _remember_harmless(text: str) -> None:
    if len(text) <= 64:
        if len(_harmless) >= 4096:
            _harmless.clear()
        _harmless.add(text)


class _Showing:
    """One event being made fit to be shown, with the room that is left for it."""

    __slots__ = ("room",)

    def __init__(self) -> None:
        self.room = LARGEST

    def any(self, value: Any, depth: int) -> Any:
        show = _SHOW.get(type(value)) or _learn_to_show(type(value))
        return show(self, value, depth)

    def fields(self, named: Mapping[Any, Any], depth: int) -> dict[str, Any]:
        shown: dict[str, Any] = {}
        for key, value in islice(named.items(), WIDEST):
            self.room -= 16
            if self.room <= 0:
                break
            name, is_secret, is_measure = _name(key) if type(key) is str and len(key) <= 128 else self.odd_name(key)
            if is_secret and not _is_harmless(value, is_measure):
                shown[name] = HIDDEN
            elif type(value) is str:
                shown[name] = value if value in _harmless or _ID.fullmatch(value) else self.text(value, depth)
            else:
                shown[name] = self.any(value, depth)
        if len(named) > len(shown):
            shown[CUT] = f"{len(named) - len(shown)} more"
        return shown

    def odd_name(self, key: Any) -> "_Name":
        shown = str(self.any(key, DEEPEST - 1))
        # A name too long to be read to its end may end in "password".
        return _name(shown) if len(shown) <= 128 else _Name(shown[:128] + CUT, is_secret=True, is_measure=False)

    def text(self, value: str, _depth: int) -> str:
        self.room -= min(len(value), LONGEST)
        return redact_text(value) if self.room > 0 else CUT

    def inner(self, named: Mapping[Any, Any], depth: int) -> Any:
        return self.fields(named, depth + 1) if depth < DEEPEST else CUT

    def many(self, values: Any, depth: int) -> Any:
        if depth >= DEEPEST:
            return CUT
        if len(values) == 2 and isinstance(values, list | tuple) and isinstance(values[0], str | bytes):
            # Headers and forms come as pairs of a name and a value.
            return [shown for pair in self.fields({values[0]: values[1]}, depth + 1).items() for shown in pair]
        shown = []
        for value in islice(values, WIDEST):
            self.room -= 16
            if self.room <= 0:
                break
            shown.append(self.any(value, depth + 1))
        left = len(values) - len(shown)
        return [*shown, f"{CUT} {left} more"] if left else shown

    def binary(self, value: bytes | bytearray | memoryview, depth: int) -> str:
        return self.text(bytes(value[: 2 * LONGEST]).decode("utf-8", "replace"), depth)

    def integer(self, value: int, depth: int) -> Any:
        number = int(value)
        if -_SMALL < number < _SMALL:
            return number
        if number.bit_length() > 63:
            return f"integer of {number.bit_length()} bits"
        # Card and tax numbers are numbers too.
        shown = self.text(str(number), depth)
        return number if shown == str(number) else shown

    def structure(self, value: msgspec.Struct, depth: int) -> Any:
        return self.inner({name: getattr(value, name, None) for name in value.__struct_fields__}, depth)

    def exception(self, value: BaseException, depth: int) -> Any:
        return {"type": type(value).__qualname__, "message": self.text(words_of(value), depth)}


def words_of(error: BaseException) -> str:
    """The exception's message, not yet redacted; nothing if it cannot speak."""
    try:
        return str(error)
    except Exception:  # noqa: BLE001  Its type and its place are still worth a line.
        return ""


def _other(showing: _Showing, value: Any, depth: int) -> Any:
    if not is_dataclass(value):
        # Any other object might say anything in its repr.
        return f"<{type(value).__qualname__}>"
    # What hides from its repr hides from logs.
    return showing.inner({field.name: getattr(value, field.name, None) for field in fields(value) if field.repr}, depth)


def _unchanged(_showing: _Showing, value: Any, _depth: int) -> Any:
    return value


def _plainly(_showing: _Showing, value: Any, _depth: int) -> str:
    return str(value)


Show = Callable[[_Showing, Any, int], Any]

_KINDS: tuple[tuple[type | tuple[type, ...], Show], ...] = (
    ((bool, float, type(None)), _unchanged),
    (enum.Enum, lambda showing, value, depth: showing.any(value.value, depth)),
    (str, lambda showing, value, depth: showing.text(str.__str__(value), depth)),
    (int, _Showing.integer),
    ((Id, UUID, date, timedelta), _plainly),
    (Decimal, lambda showing, value, depth: showing.text(str(value), depth)),
    ((bytes, bytearray, memoryview), _Showing.binary),
    (Mapping, _Showing.inner),
    ((list, tuple, set, frozenset), _Showing.many),
    (BaseException, _Showing.exception),
    (msgspec.Struct, _Showing.structure),
    (type, lambda _showing, value, _depth: value.__qualname__),
    (object, _other),
)


_SHOW: dict[type, Show] = {}


def _learn_to_show(kind: type) -> Show:
    return _SHOW.setdefault(kind, next(show for known, show in _KINDS if issubclass(kind, known)))


# Names that sound secret. First: parts, read without case and punctuation, so apiKey, API_KEY and x-api-key are one.
_SECRET_PARTS = re.compile(
    "password|passwd|passphrase|senha|secret|token|authoriz|cookie|credential|apikey|privatekey|accesskey|keyring|"
    "signature|email|phone|msisdn|whatsapp|telefone|telemovel|celular|fullname|firstname|lastname|surname|username|"
    "guestname|buyername|holdername|customername|birth|documentid|documentnumber|passport|cardnumber|iban|ipaddress|"
    "remoteaddr|forwardedfor|useragent|databaseurl|qrcode"
)
# Then whole words: they are short enough to stand inside innocent ones (span, shipping, captcha).
_SECRET_WORDS = frozenset(
    {
        "address",
        "args",
        "auth",
        "body",
        "cnpj",
        "cpf",
        "cvc",
        "cvv",
        "dob",
        "dsn",
        "headers",
        "ip",
        "jwt",
        "mail",
        "nif",
    }
    | {"otp", "pan", "pass", "payload", "pin", "pwd", "qr", "raw", "ssn", "street"}
)
# "tokenCount" and "payloadBytes" measure a secret without telling it.
_MEASURES = frozenset({"attempts", "bytes", "count", "length", "seconds", "size", "version"})
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_NOT_LETTERS = re.compile(r"[\W_]+")


class _Name(NamedTuple):
    shown: str
    is_secret: bool
    is_measure: bool


@lru_cache(maxsize=4096)
def _name(key: str) -> _Name:
    plain = unicodedata.normalize("NFKC", key)
    words = [word.lower() for word in _WORD.findall(plain)]
    secret = bool(_SECRET_PARTS.search(_NOT_LETTERS.sub("", plain).lower())) or not _SECRET_WORDS.isdisjoint(words)
    return _Name(redact_text(key), secret, bool(words) and words[-1] in _MEASURES)


def _is_harmless(value: Any, is_measure: bool) -> bool:
    return value is None or type(value) is bool or (is_measure and type(value) is int and abs(value) < _SMALL)


# What secrets look like in a text.
_PAIRED_NAME = r"""
    (?: (?i:password|passwd|passphrase|senha|secret|token|authorization|cookie|credential|api[_-]?key|private[_-]?key
           |signature|e-?mail|phone|payload) [A-Za-z0-9_-]{0,24}
      | (?<![A-Za-z])(?i:pwd|pin|pan|otp|cvv|cvc|cpf|nif|iban|qr|sig|auth)(?![A-Za-z]) )
    (?:\]|%5[dD])? \\?["']? \s{0,4} (?:[=:]|%3[dDaA]) \s{0,4}
"""
_PAIRED_VALUE = r"""
    (?: \\?"(?:[^"\\]|\\.)*" | '(?:[^'\\]|\\.)*' | \\?["']?(?:(?i:bearer|basic)\s+)?[^\s&,;"'}\])]+ )
"""
_MAIL_LETTER = r"""[^\s@<>()"',;:=&?/\[\]|{}\\]"""
_ANY_ID = r"""
    (?: [a-z]{2,8}_[0-9a-f]{32} | [0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12} )
"""
_ID = re.compile(_ANY_ID, re.VERBOSE)
_TIME = r"[0-9]{4}-[01][0-9]-[0-3][0-9]T[0-9:.]{5,15}(?:Z|[+-][0-9]{2}:?[0-9]{2})?"

# The order matters: the first that fits at a place wins. Every part is bounded in length or reads each letter once.
_SECRETS = re.compile(
    rf"""
      (?P<own>       \b[a-z][a-z0-9]{{1,11}}_(?:[0-9a-f]{{32}}|0)_[0-9a-f]{{6,}} )
    | (?P<keep>      \b(?:{_ANY_ID}|{_TIME})(?![0-9A-Za-z_]) )
    | (?P<armour>    -----BEGIN\ [A-Z ]{{0,40}}KEY-----(?s:.*?)(?:-----END[A-Z -]*-----|\Z) )
    | (?P<provider>  \b(?:(?:sk|rk|pk)_(?:live|test)_|whsec_|xox[a-z]-|gh[a-z]_|AKIA)[A-Za-z0-9_-]{{8,}}
                     | \b[a-z]{{2,5}}_[A-Za-z0-9]{{1,64}}_secret_[A-Za-z0-9]+ )
    | (?P<jwt>       (?<![A-Za-z0-9])eyJ[A-Za-z0-9_-]{{6,}}(?:\.[A-Za-z0-9_-]*){{0,4}} )
    | (?P<scheme>    \b(?i:bearer|basic)(?:\s|%20|\+){{1,4}}[A-Za-z0-9._~+/=-]{{6,}} )
    # PostgreSQL and asyncpg quote the row or the argument that they did not like.
    | (?P<row>       (?<=contains\ )\((?s:.*)\) | (?<=\)=)\((?s:.*?)\)(?=\ (?:already|is|conflicts|still)|$)
                     | (?<=query\ argument\ \$)[0-9]+:(?s:.*) )
    | (?P<login>     (?<=://)[^\s@"'<>]{{1,200}}@ )
    | (?P<named>     {_PAIRED_NAME} ) {_PAIRED_VALUE}
    | (?P<mail>      {_MAIL_LETTER}{{1,80}}?(?:@|%40){_MAIL_LETTER}{{1,120}} )
    | (?P<phone>     (?:\+|%2[bB]|\b00(?=[1-9]))(?:[\ ().-]{{0,2}}[0-9]){{8,15}}(?![0-9]) )
    | (?P<tax>       (?<![0-9])[0-9]{{3}}\.[0-9]{{3}}\.[0-9]{{3}}-[0-9]{{2}}(?![0-9]) )
    | (?P<network>   (?<![0-9])(?<![0-9]\.)(?!127\.|0\.0)[0-9]{{1,3}}(?:\.[0-9]{{1,3}}){{3}}(?!\.?[0-9])
                     | (?<![0-9A-Za-z:])(?:[0-9a-fA-F]{{1,4}}:){{2,7}}(?::[0-9a-fA-F]{{1,4}}){{1,5}}
                     | (?<![0-9A-Za-z:])(?:[0-9a-fA-F]{{1,4}}:){{7}}[0-9a-fA-F]{{1,4}} )
    """,
    re.VERBOSE,
)

# Figures come second, and by themselves: a row of groups can be a card between two other numbers.
_FIGURES = re.compile(
    rf"""
      (?P<keep>      \b(?:{_ANY_ID}|{_TIME})(?![0-9A-Za-z_]) )
    | (?P<iban>      (?<![0-9A-Za-z])[A-Za-z]{{2}}[0-9]{{2}}(?:[\ -]?[0-9A-Za-z]{{4}}){{2,}}
                     (?:[\ -]?[0-9A-Za-z]{{1,3}})?(?![0-9A-Za-z]) )
    | (?P<number>    (?<![0-9])[0-9](?:[ .-]?[0-9]){{10,}} )
    """,
    re.VERBOSE,
)

# One quick look that lets ordinary text pass: whatever _SECRETS can hide contains one of these.
_SUSPECT = re.compile(
    r"[@=:%$+]|[0-9](?:[ .-]?[0-9]){9}|[0-9]\.[0-9]{1,3}\.[0-9]|_0_|_[0-9a-f]{32}_|eyJ|-----B|contains \(|"
    r"[srp]k_|whsec_|xox|gh[a-z]_|AKIA|_secret_|[Bb](?:[Ee][Aa][Rr][Ee][Rr]|[Aa][Ss][Ii][Cc])"
)


def _hidden(text: str) -> str:
    return _FIGURES.sub(_hide, _SECRETS.sub(_hide, text))


def _hide(found: re.Match[str]) -> str:
    match found.lastgroup:
        case "keep":
            return found[0]
        case "named":
            return found["named"] + HIDDEN
        case "login":
            return HIDDEN + "@"
        case "number" | "iban":
            return _hide_groups(found[0])
        case _:
            return HIDDEN


_GROUP = re.compile(r"[0-9A-Za-z]+")


def _hide_groups(text: str) -> str:
    """Hide those neighbouring groups of figures that make up somebody's number; others may stand around them."""
    groups = list(_GROUP.finditer(text))
    if len(groups) > 40 or _is_someones("".join(group[0] for group in groups)):
        return HIDDEN
    for at, first in enumerate(groups):
        joined = ""
        for last in groups[at:]:
            joined += last[0]
            # Single figures in a row are a list of small numbers rather than a card.
            if len(last[0]) == 1 < len(joined) < 15 or len(joined) > 34:
                break
            if _is_someones(joined):
                return text[: first.start()] + HIDDEN + _hide_groups(text[last.end() :])
    return text


def _is_someones(joined: str) -> bool:
    if not joined.isdigit():
        return 15 <= len(joined) <= 34 and _is_iban(joined)
    if joined[:2] == "00" != joined[1:3] and 10 <= len(joined) <= 17:
        return True  # A phone number, dialled from abroad.
    figures = [int(figure) for figure in joined]
    return _is_cpf(figures) if len(figures) == 11 else 13 <= len(figures) <= 19 and _is_card(figures)


def _is_card(figures: list[int]) -> bool:
    """Luhn's check: every second figure from the right counts double."""
    doubled = (figure * 2 - 9 if figure > 4 else figure * 2 for figure in figures[-2::-2])
    return (sum(figures[-1::-2]) + sum(doubled)) % 10 == 0


def _is_cpf(figures: list[int]) -> bool:
    """The tax number of a person in Brazil: nine figures and two that check them."""
    return all(
        figures[at] == sum(figure * (at + 1 - place) for place, figure in enumerate(figures[:at])) * 10 % 11 % 10
        for at in (9, 10)
    )


def _is_iban(text: str) -> bool:
    """The remainder by 97 is one once the country stands last and letters count from ten."""
    if not (text[:2].isalpha() and text[2:4].isdigit()):
        return False
    return int("".join(str(int(letter, 36)) for letter in text[4:] + text[:4])) % 97 == 1
