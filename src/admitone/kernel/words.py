"""Words: what people read, in their language.

Promise: a sentence without a translation comes out in English rather than not at all; nothing a browser sends can
make choosing a language fail; amounts, numbers and times look as they do at home. English is the source: the
sentence in the code is its own key. Each package may have a folder `catalogues` with one `.po` file per language;
they are read together and compiled in memory, so there is nothing to build and nothing to forget to build.

    words = Words(choose(request.headers.get("accept-language")))
    words.say("Your order costs {total}.", total=Money(1250, "EUR"))
    words.plural("{count} ticket", "{count} tickets", 3)
"""

import datetime as dt
import re
import string
from collections.abc import Iterable, Iterator
from decimal import Decimal
from enum import StrEnum
from functools import cache, lru_cache
from gettext import GNUTranslations
from importlib.resources import files
from importlib.resources.abc import Traversable
from io import BytesIO
from typing import Any
from zoneinfo import ZoneInfo

from babel import Locale
from babel.dates import format_date, format_time
from babel.messages import Catalog, Message
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from babel.numbers import NumberPattern, format_decimal, format_percent, get_currency_symbol, parse_pattern

from admitone.kernel.clock import local
from admitone.kernel.errors import Refusal
from admitone.kernel.money import BASIS_POINTS, Currency, Money, digits


class Language(StrEnum):
    """The languages we speak."""

    ENGLISH = "en"
    PORTUGUESE = "pt_PT"
    BRAZILIAN = "pt_BR"

    @property
    def tag(self) -> str:
        """As HTML and HTTP spell it."""
        return self.value.replace("_", "-")


TRANSLATED = (Language.PORTUGUESE, Language.BRAZILIAN)

_BY_TAG = {
    "en": Language.ENGLISH,
    "pt": Language.PORTUGUESE,
    "pt-pt": Language.PORTUGUESE,
    "pt-br": Language.BRAZILIAN,
    "*": Language.ENGLISH,
}
_PREFERENCE = re.compile(r"\s*([A-Za-z-]{1,35}|\*)\s*(?:;\s*[qQ]=(0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?)\s*)?", re.ASCII)
_LONGEST_HEADER = 1000


def choose(accept_language: str | None) -> Language:
    """The language of ours that the header likes best; English when it says nothing that we understand."""
    liked = [_preference(entry) for entry in (accept_language or "")[:_LONGEST_HEADER].split(",")]
    liking, language = max(liked, key=lambda preference: preference[0])  # The first of equals, as browsers mean it.
    return language if liking > 0 else Language.ENGLISH


def _preference(entry: str) -> tuple[Decimal, Language]:
    match = _PREFERENCE.fullmatch(entry)
    if match is None:
        return Decimal(0), Language.ENGLISH
    tag = match[1].lower()
    language = _BY_TAG.get(tag) or _BY_TAG.get(tag.partition("-")[0])
    return (Decimal(match[2] or 1), language) if language else (Decimal(0), Language.ENGLISH)


class Words:
    """How we say things in one language."""

    def __init__(self, language: Language = Language.ENGLISH) -> None:
        self.language = language
        self._locale = _locale(language)
        self._translations = _translations(language)

    def say(self, message: str, **values: Any) -> str:
        """The sentence, with the values put in for its `{names}` in the form of the language."""
        return self._filled(self._translations.gettext(message) if message else "", values)

    def plural(self, one: str, many: str, count: int, **values: Any) -> str:
        """The form of the sentence that goes with the count, which fills `{count}`."""
        return self._filled(self._translations.ngettext(one, many, count), {"count": count, **values})

    def money(self, amount: Money) -> str:
        shown: str = _money_pattern(self.language, amount.currency).apply(amount.decimal(), self._locale)
        return shown

    def amount(self, amount: Money) -> str:
        """Without its currency, which stands elsewhere: at the head of a table."""
        pattern = _amount_pattern(self.language, digits(amount.currency))
        shown: str = pattern.apply(amount.decimal(), self._locale)
        return shown

    def number(self, value: int | Decimal) -> str:
        return format_decimal(value, locale=self._locale, decimal_quantization=False)

    def percent(self, basis_points: int) -> str:
        share = Decimal(basis_points) / BASIS_POINTS
        return format_percent(share, locale=self._locale, decimal_quantization=False)

    def day(self, day: dt.date) -> str:
        """A calendar day, which is the same in every zone."""
        if isinstance(day, dt.datetime):
            raise TypeError("an instant falls on a day only in a zone: use date()")
        return _day_shown(self.language, day)

    def date(self, instant: dt.datetime, zone: ZoneInfo) -> str:
        return _day_shown(self.language, local(instant, zone).date())

    def time(self, instant: dt.datetime, zone: ZoneInfo) -> str:
        there = local(instant, zone)
        return _time_shown(self.language, there.hour, there.minute)

    def moment(self, instant: dt.datetime, zone: ZoneInfo) -> str:
        """Day and time together."""
        return f"{self.date(instant, zone)}, {self.time(instant, zone)}"

    def _filled(self, sentence: str, values: dict[str, Any]) -> str:
        return sentence.format_map({name: self._shown(value) for name, value in values.items()}) if values else sentence

    def _shown(self, value: Any) -> str:
        match value:
            case Money():
                return self.money(value)
            case bool():
                return str(value)
            case int() | Decimal():
                return self.number(value)
            case _:
                return str(value)


def placeholders(sentence: str) -> set[str]:
    """The `{names}` in a sentence."""
    return {name for _, name, _, _ in string.Formatter().parse(sentence) if name is not None}


def untranslated(language: Language, sentences: Iterable[str]) -> list[str]:
    """Those of the sentences that the catalogue of the language lacks."""
    catalogue = catalogue_of(language)
    return sorted({sentence for sentence in sentences if sentence and not _is_complete(catalogue.get(sentence))})


def untranslated_refusals() -> dict[Language, list[str]]:
    """What our refusals say and a language of ours cannot; only refusals of modules that are loaded are known."""
    sentences = {sentence for kind in _refusals(Refusal) for sentence in (kind.message(), kind.next_step)}
    return {language: untranslated(language, sentences) for language in TRANSLATED}


def _refusals(kind: type[Refusal]) -> Iterator[type[Refusal]]:
    if kind.__module__.partition(".")[0] == "admitone":
        yield kind
    for narrower in kind.__subclasses__():
        yield from _refusals(narrower)


def _is_complete(message: Message | None) -> bool:
    if message is None or message.fuzzy:
        return False
    return all(message.string) if isinstance(message.string, list | tuple) else bool(message.string)


@cache
def catalogue_of(language: Language) -> Catalog:
    """All packages' sentences in one catalogue. Two packages that translate a sentence differently are refused."""
    whole = Catalog(locale=language.value)
    for source in _sources(files("admitone"), f"{language.value}.po"):
        with source.open("rb") as opened:
            for message in read_po(opened, locale=language.value, abort_invalid=True):
                if message.id:
                    _add(whole, message)
    return whole


def _add(whole: Catalog, message: Message) -> None:
    known = whole.get(message.id)
    if known is not None and known.string != message.string:
        raise ValueError(f"{whole.locale}: two translations of {message.id!r}")
    whole[message.id] = message


def _sources(package: Traversable, file_name: str) -> Iterator[Traversable]:
    """The catalogues in a package and in the packages inside it."""
    for inner in sorted(package.iterdir(), key=lambda entry: entry.name):
        if inner.name == "catalogues" and inner.joinpath(file_name).is_file():
            yield inner.joinpath(file_name)
        elif inner.is_dir():
            yield from _sources(inner, file_name)


@cache
def _translations(language: Language) -> GNUTranslations:
    compiled = BytesIO()
    write_mo(compiled, catalogue_of(language))
    compiled.seek(0)
    return GNUTranslations(compiled)


@cache
def _locale(language: Language) -> Locale:
    return Locale.parse(language.value)


@lru_cache(maxsize=4096)
def _day_shown(language: Language, day: dt.date) -> str:
    return format_date(day, format="long", locale=_locale(language))


@lru_cache(maxsize=4096)  # As many as there are minutes in a day, in each language.
def _time_shown(language: Language, hour: int, minute: int) -> str:
    return format_time(dt.time(hour, minute), format="short", locale=_locale(language))


@cache
def _money_pattern(language: Language, currency: Currency) -> NumberPattern:
    # Babel prints some currencies without their cents (see kernel.money); a price must show all that is charged.
    pattern = parse_pattern(_locale(language).currency_formats["standard"].pattern)
    pattern.frac_prec = (digits(currency), digits(currency))
    # With its sign in place, of which Babel would else look up all the names for each amount.
    sign = get_currency_symbol(currency, _locale(language))
    pattern.prefix = _with(sign, pattern.prefix)
    pattern.suffix = _with(sign, pattern.suffix)
    return pattern


def _with(sign: str, both: tuple[str, str]) -> tuple[str, str]:
    positive, negative = both
    return positive.replace("¤", sign), negative.replace("¤", sign)


@cache
def _amount_pattern(language: Language, decimal_places: int) -> NumberPattern:
    pattern = parse_pattern(_locale(language).decimal_formats[None].pattern)
    pattern.frac_prec = (decimal_places, decimal_places)
    return pattern
