"""What can be a username, and in which form it is kept."""

import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admitone.foundation.usernames.errors import Rule, UsernameInvalid
from admitone.foundation.usernames.policy import canonical, folded, normalise

ANYTHING = st.text(st.characters(), max_size=30)
"""Of all of Unicode, lone surrogates and unassigned code points too."""
MARKS = ("\u0307", "\u0308", "\u030a", "\u030c", "\u0331", "\u0345")
"""On a small letter some of these become one with it, and on its capital they do not: H and a line below."""
ODD_CASES = st.text(
    st.sampled_from("İIıiſẞßΣςσΩÅKåÄǅﬁＡａ \u00a0\u2003\tHTJ\u0307\u0308\u0301\u030c\u0331\u0345\u0130\u1e9e\u03f4")
)

CHANGING = [
    each
    for each in map(chr, range(sys.maxunicode + 1))
    if each.isspace() or unicodedata.combining(each) or not each == each.lower() == unicodedata.normalize("NFD", each)
]


def refused(rule: Rule) -> UsernameInvalid:
    return UsernameInvalid(rule=rule)


@pytest.mark.covers("IDN-030")
@given(st.one_of(ANYTHING, ODD_CASES))
def test_what_is_normal_stays_as_it_is(text: str):
    assert_normal(text)


@pytest.mark.covers("IDN-030")
@pytest.mark.parametrize("around", ["{}", "a{}", "Σ{}Σ", *(f"{{}}{mark}" for mark in MARKS)])
def test_every_character_that_can_change_has_one_normal_form(around: str):
    for each in CHANGING:
        assert_normal(around.format(each))


def assert_normal(text: str) -> None:
    """It stays as it is, and so does whatever Unicode calls the same text."""
    once = normalise(text)
    assert normalise(once) == once, ascii(text)
    assert unicodedata.is_normalized("NFC", once), ascii(text)
    assert normalise(unicodedata.normalize("NFD", text)) == once, ascii(text)
    assert normalise(unicodedata.normalize("NFC", text)) == once, ascii(text)


@pytest.mark.covers("IDN-030")
@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("  Casa.Fado \n", "casa.fado"),
        ("ana \t  silva", "ana silva"),
        ("ana\u00a0\u2003silva", "ana silva"),
        ("JOSÉ", "josé"),
        ("jose\u0301", "josé"),
        ("\u212bngstro\u0308m", "ångström"),
        ("\u212aelvin", "kelvin"),
        ("ΝΙΚΟΣ", "νικος"),
        ("H\u0331aha", "\u1e96aha"),
        ("STRASSE", "strasse"),
        ("GROẞ", "groß"),
    ],
)
def test_names_are_compared_in_one_form(text: str, normal: str):
    assert normalise(text) == normal


@pytest.mark.covers("IDN-030")
@pytest.mark.parametrize("letter", ["a", "é", "ж", "中", "ह"])
def test_a_name_has_four_to_fifteen_characters(letter: str):
    assert canonical(letter * 3) == refused(Rule.LENGTH)
    assert canonical(letter * 4) == letter * 4
    assert canonical(letter * 15) == letter * 15
    assert canonical(letter * 16) == refused(Rule.LENGTH)


@pytest.mark.covers("IDN-030")
def test_characters_are_counted_after_normalising():
    assert canonical("  abcd  ") == "abcd"
    assert canonical("  abc  ") == refused(Rule.LENGTH)
    assert canonical("e\u0301" * 15) == "é" * 15
    assert canonical("e\u0301" * 3) == refused(Rule.LENGTH)


@pytest.mark.covers("IDN-031")
@pytest.mark.parametrize(
    "name",
    [
        *("joana", "joana.silva", "joana_silva", "j.o.a.n.a", "joana1990", "1990", "7eleven_lx"),
        *("joão", "ğıöşçü", "łukasz", "straße", "nguyễn"),
        *("αθήνα", "νίκος1", "москва", "їжак", "שלום", "سلام", "پارسا1"),
        *("हिन्दी", "दिल्ली", "सड़कें", "東京タワー", "ひらがな", "カタカナ", "佐々木まり", "서울시청", "大韓民國서울"),
    ],
)
def test_people_write_their_names_in_their_own_script(name: str):
    assert canonical(name) == unicodedata.normalize("NFC", name)


@pytest.mark.covers("IDN-031")
@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("jo\u0430na", Rule.MIXED_SCRIPTS),  # Cyrillic а
        ("p\u0430yp\u0430l", Rule.MIXED_SCRIPTS),
        ("j\u03bfana", Rule.MIXED_SCRIPTS),  # Greek ο
        ("москвa", Rule.MIXED_SCRIPTS),  # Latin a
        ("αθήνаа", Rule.MIXED_SCRIPTS),  # Cyrillic а
        ("joana東京", Rule.MIXED_SCRIPTS),
        ("서울カタ", Rule.MIXED_SCRIPTS),
        ("שלוםسلام", Rule.MIXED_SCRIPTS),
        ("joanaहिन", Rule.MIXED_SCRIPTS),
        ("ana silva", Rule.CHARACTERS),
        ("ana\u00a0silva", Rule.CHARACTERS),
        ("ana\u3000silva", Rule.CHARACTERS),
        ("ana-silva", Rule.CHARACTERS),
        ("ana@silva", Rule.CHARACTERS),
        ("ana/silva", Rule.CHARACTERS),
        ("ana\0silva", Rule.CHARACTERS),
        ("ｊｏａｎａ", Rule.CHARACTERS),
        ("ﬁlipa", Rule.CHARACTERS),
        ("ǆordje", Rule.CHARACTERS),
        ("joanaª", Rule.CHARACTERS),
        ("joana²", Rule.CHARACTERS),
        ("ⓙⓞⓐⓝⓐ", Rule.CHARACTERS),
        ("𝐣𝐨𝐚𝐧𝐚", Rule.CHARACTERS),
        ("ｶﾀｶﾅ", Rule.CHARACTERS),
        ("İstanbul", Rule.CHARACTERS),  # lowered: an i and a mark
        ("joana\u0308\u0301\u0323x\u0301", Rule.CHARACTERS),
        ("q\u0308q\u0308q\u0308q\u0308", Rule.CHARACTERS),
        ("\u0301\u0301\u0301\u0301", Rule.CHARACTERS),
        ("jo\u200bana", Rule.CHARACTERS),
        ("jo\u200dana", Rule.CHARACTERS),
        ("jo\u00adana", Rule.CHARACTERS),
        ("joana\ufe0f", Rule.CHARACTERS),
        ("\u202eanaoj", Rule.CHARACTERS),
        ("\u2066joana\u2069", Rule.CHARACTERS),
        ("joana😀", Rule.CHARACTERS),
        ("👩\u200d👩\u200d👧\u200d👦", Rule.CHARACTERS),
        ("joana\ue000", Rule.CHARACTERS),
        ("joana\U000e0061", Rule.CHARACTERS),
        ("joana\U00010ffe", Rule.CHARACTERS),
        ("joana\ud800", Rule.CHARACTERS),
        ("joana\u115f", Rule.CHARACTERS),  # a Hangul filler, which is a letter
        ("\u3164\u3164\u3164\u3164", Rule.CHARACTERS),
        ("ǃǃǃǃ", Rule.CHARACTERS),  # clicks, which are Latin letters
        ("abcdᏣᎳᎩ", Rule.CHARACTERS),  # Cherokee, which we do not take
        ("joana١٢", Rule.CHARACTERS),
        ("سـلام", Rule.CHARACTERS),  # tatweel
        ("سَلام", Rule.CHARACTERS),
        ("שָׁלוֹם", Rule.CHARACTERS),
        ("joan\u0901", Rule.CHARACTERS),  # a sign of Devanagari on a Latin letter
        ("\u093eहिन्दी", Rule.CHARACTERS),
        ("क\u093f\u093f\u093f\u093fक", Rule.CHARACTERS),
        ("joana٫", Rule.CHARACTERS),
        (".joana", Rule.PUNCTUATION),
        ("joana.", Rule.PUNCTUATION),
        ("_joana", Rule.PUNCTUATION),
        ("joana_", Rule.PUNCTUATION),
        ("jo..ana", Rule.PUNCTUATION),
        ("jo__ana", Rule.PUNCTUATION),
        ("jo._ana", Rule.PUNCTUATION),
        ("____", Rule.PUNCTUATION),
    ],
)
def test_what_could_be_mistaken_for_another_name_is_refused(text: str, rule: Rule):
    assert canonical(text) == refused(rule)


@pytest.mark.covers("IDN-031")
@pytest.mark.parametrize(
    "text",
    [
        *(
            "admin",
            "ADMIN",
            "adm1n",
            "a.d.m.i.n",
            "a_d_m_1_n",
            "ádmin",
            "àdmìn",
            "admın",
            "Admitone",
            "adm1t0ne",
            "orya",
        ),
        *(
            "0rya",
            "ory4",
            "a.p.i",
            "o_r_g",
            "organizacao",
            "organização",
            "0rganizacao",
            "suporte",
            "support",
            "5upp0rt",
        ),
        *("root", "r00t", "login", "l0gin", "1ogin", "iogin", "conta", "wallet", "wa11et", "carteira", "øwner"),
        *(
            "openapi.json",
            "favicon.ico",
            "null",
            "puta",
            "put4",
            "caralh0",
            "xx.caralho.xx",
            "fuckyou",
            "f.u.c.k",
            "n1gg3r",
        ),
    ],
)
def test_reserved_words_and_abuse_are_seen_through_their_disguise(text: str):
    assert canonical(text) == refused(Rule.RESERVED)


@pytest.mark.covers("IDN-031")
@pytest.mark.parametrize(
    "text", ["computador", "disputa", "scunthorpe", "therapist", "administra", "rootbeer", "orgulho"]
)
def test_innocent_names_that_contain_such_a_word_are_not_refused(text: str):
    assert canonical(text) == text


@pytest.mark.covers("IDN-030", "IDN-031")
@given(st.one_of(ANYTHING, ODD_CASES, st.text("abcxyzéßж東12._ ", min_size=3, max_size=17)))
def test_a_name_that_is_taken_on_means_itself(text: str):
    name = canonical(text)
    if isinstance(name, str):
        assert canonical(name) == name
        assert 4 <= len(name) <= 15
        assert name == name.lower() == unicodedata.normalize("NFKC", name)
        assert folded(name)
