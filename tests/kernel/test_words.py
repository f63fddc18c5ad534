"""Words: everybody reads their own language, and nobody can break the choosing."""

from datetime import UTC, date, datetime
from decimal import Decimal
from importlib import import_module
from time import perf_counter

import pytest
from babel.messages import Catalog, Message
from hypothesis import given
from hypothesis import strategies as st

from admitone.kernel.clock import zone
from admitone.kernel.errors import Conflict, Forbidden, Refusal
from admitone.kernel.money import Money
from admitone.kernel.words import (
    TRANSLATED,
    Language,
    Words,
    _add,
    _is_complete,
    catalogue_of,
    choose,
    placeholders,
    untranslated,
    untranslated_refusals,
)

LISBON = zone("Europe/Lisbon")
EVENING = datetime(2026, 6, 1, 19, 30, tzinfo=UTC)
ENGLISH, PORTUGUESE, BRAZILIAN = Language


def spaces_made_plain(text: str) -> str:
    return text.replace("\u00a0", " ").replace("\u202f", " ")


@pytest.mark.parametrize(
    ("header", "language"),
    [
        (None, ENGLISH),
        ("", ENGLISH),
        ("pt", PORTUGUESE),
        ("pt-PT", PORTUGUESE),
        ("PT-br", BRAZILIAN),
        ("pt-AO", PORTUGUESE),
        ("en-GB,pt;q=0.9", ENGLISH),
        ("pt-BR,pt;q=0.9,en;q=0.8", BRAZILIAN),
        ("en;q=0.8, pt-BR;q=0.9", BRAZILIAN),
        ("fr, de;q=0.9, pt;q=0.1", PORTUGUESE),
        ("fr", ENGLISH),
        ("*", ENGLISH),
        ("pt;q=0", ENGLISH),
        ("pt;q=0.0, *;q=0.5", ENGLISH),
        ("pt , en", PORTUGUESE),
        ("pt;q=nan,en", ENGLISH),
        ("pt;q=99,pt-BR;q=0.1", BRAZILIAN),
        ("pt;level=1", ENGLISH),
    ],
)
def test_the_language_is_the_one_the_browser_likes_best(header, language):
    assert choose(header) is language


@pytest.mark.parametrize(
    "header",
    [
        "," * 10**6,
        "pt" * 10**6,
        "pt;q=" + "1" * 10**6,
        "\x00\xff",
        "\ud800",
        "pt;;;",
        ";q=1",
        "-" * 35,
        "é,pt;q=0.5\r\n",
    ],
)
def test_a_hostile_header_chooses_some_language(header):
    assert choose(header) in Language


def test_an_endless_header_costs_no_more_than_a_long_one():
    started = perf_counter()
    choose("pt-BR;q=0.1," * 10**6)
    assert perf_counter() - started < 5  # Reading all of it takes longer than anybody waits.


@given(st.text())
def test_no_header_can_make_the_choosing_fail(header):
    assert choose(header) in Language


def test_a_refusal_is_told_in_the_language_of_the_reader():
    assert [Words(language).say(Forbidden.message()) for language in Language] == [
        "You may not do this.",
        "Não tem permissão para fazer isto.",
        "Você não tem permissão para fazer isso.",
    ]


def test_a_sentence_without_translation_comes_out_in_english():
    assert Words(PORTUGUESE).say("Nobody translated {this}.", this="me") == "Nobody translated me."
    assert Words(PORTUGUESE).plural("{count} hat", "{count} hats", 2) == "2 hats"


def test_the_empty_sentence_is_empty_and_not_the_head_of_the_catalogue():
    assert Words(PORTUGUESE).say("") == ""


def test_braces_in_a_sentence_without_values_stay():
    assert Words().say("Send { } please.") == "Send { } please."


def test_values_take_the_form_of_the_language():
    told = [
        Words(language).say("{total} for {count}", total=Money(125_050, "EUR"), count=12_345) for language in Language
    ]
    assert [spaces_made_plain(text) for text in told] == [
        "€1,250.50 for 12,345",
        "1 250,50 € for 12 345",
        "€ 1.250,50 for 12.345",
    ]


@pytest.mark.parametrize(
    ("amount", "shown"),
    [
        (Money(-5, "EUR"), "-€0.05"),
        (Money(500, "JPY"), "¥500"),
        (Money(1, "BHD"), "BHD 0.001"),
        (Money(105, "RSD"), "RSD 1.05"),
        (Money(2**63 - 1, "EUR"), "€92,233,720,368,547,758.07"),
    ],
)
def test_a_price_shows_all_that_is_charged(amount, shown):
    assert spaces_made_plain(Words().money(amount)).replace("BHD0", "BHD 0").replace("RSD1", "RSD 1") == shown


def test_an_amount_whose_currency_stands_elsewhere_keeps_its_cents():
    amounts = (Money(125_000, "EUR"), Money(-5, "EUR"), Money(500, "JPY"), Money(1, "BHD"))
    assert [Words().amount(each) for each in amounts] == ["1,250.00", "-0.05", "500", "0.001"]
    assert Words(BRAZILIAN).amount(amounts[0]) == "1.250,00"


def test_numbers_and_percentages_look_as_at_home():
    assert Words(BRAZILIAN).number(Decimal("1234.56789")) == "1.234,56789"
    assert Words(BRAZILIAN).percent(1_234) == "12,34%"
    assert Words().percent(10_000) == "100%"


def test_a_time_is_shown_in_the_zone_of_the_place():
    assert spaces_made_plain(Words().time(EVENING, LISBON)) == "8:30 PM"
    assert Words(PORTUGUESE).moment(EVENING, LISBON) == "1 de junho de 2026, 20:30"
    assert Words(BRAZILIAN).date(datetime(2026, 6, 1, 23, 30, tzinfo=UTC), LISBON) == "2 de junho de 2026"
    assert Words().day(date(2026, 6, 1)) == "June 1, 2026"


def test_a_time_without_a_zone_is_not_shown():
    with pytest.raises(ValueError, match="without a zone"):
        Words().time(datetime(2026, 6, 1), LISBON)  # noqa: DTZ001
    with pytest.raises(TypeError):
        Words().day(EVENING)


def test_every_sentence_is_in_every_language():
    ids = [{message.id for message in catalogue_of(language) if message.id} for language in TRANSLATED]
    assert ids[0] == ids[1] and ids[0]
    for language in TRANSLATED:
        assert [message.id for message in catalogue_of(language) if message.id and not _is_complete(message)] == []


@pytest.mark.parametrize("language", TRANSLATED)
def test_translations_ask_for_the_same_values(language):
    for message in catalogue_of(language):
        originals = [message.id] if isinstance(message.id, str) else list(message.id)
        translations = [message.string] if isinstance(message.string, str) else list(message.string)
        asked = set().union(*map(placeholders, originals))
        assert all(name.isidentifier() for name in asked), message.id
        for translation in translations:
            assert placeholders(translation) <= asked, message.id
        assert set().union(*map(placeholders, translations)) == asked, message.id


def test_the_kernel_refuses_in_every_language():
    modules = {f"admitone.kernel.{name}" for name in ("clock", "crypto", "errors", "ids", "money", "states")}
    for module in modules:
        import_module(module)
    sentences = {kind.message() for kind in every(Refusal) if kind.__module__ in modules}
    assert len(sentences) >= 16
    for language in TRANSLATED:
        assert untranslated(language, sentences) == []


def every(kind):
    yield kind
    for narrower in kind.__subclasses__():
        yield from every(narrower)


def test_a_refusal_nobody_translated_is_found():
    class Unheard(Conflict):
        """Nobody has ever heard of this."""

        __module__ = "admitone.somewhere"

    class NotOurs(Conflict):
        """This one lives in a test."""

    for language in TRANSLATED:
        missing = untranslated_refusals()[language]
        assert "Nobody has ever heard of this." in missing
        assert "This one lives in a test." not in missing
    Unheard.__module__ = NotOurs.__module__


def test_two_packages_cannot_translate_a_sentence_differently():
    whole = Catalog(locale="pt_PT")
    for _ in range(2):
        _add(whole, Message("Yes.", "Sim."))
    with pytest.raises(ValueError, match="two translations"):
        _add(whole, Message("Yes.", "Pois."))
