"""BR Codes: the central bank's own examples, and everything that we can write, read again by a strict bank."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admitone.finance.gateways.brcode import (
    ANY_TXID,
    LONGEST_CITY,
    LONGEST_NAME,
    BrCode,
    NoBrCode,
    amount_of,
    checksum,
    folded,
    minor_of,
    png,
    svg,
)

STATIC = (
    "00020126580014br.gov.bcb.pix0136123e4567-e12b-12d1-a456-4266554400005204000053039865802BR5913Fulano de Tal"
    "6008BRASILIA62070503***63041D3D"
)
DYNAMIC = (
    "00020101021226700014br.gov.bcb.pix2548pix.example.com/8b3da2f39a4140d1a91abd93113bd4415204000053039865802BR"
    "5913Fulano de Tal6008BRASILIA62070503***630464E4"
)
EXAMPLES = {
    STATIC: BrCode(merchant="Fulano de Tal", city="BRASILIA", key="123e4567-e12b-12d1-a456-426655440000"),
    DYNAMIC: BrCode(merchant="Fulano de Tal", city="BRASILIA", url="pix.example.com/8b3da2f39a4140d1a91abd93113bd441"),
}

printable = st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=1, max_size=77)
names = st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=1, max_size=LONGEST_NAME)
codes = st.one_of(
    st.builds(
        BrCode,
        merchant=names,
        city=names.map(lambda name: name[:LONGEST_CITY]),
        key=printable.map(lambda key: key[:77]),
        amount_minor=st.none() | st.integers(1, 999_999_999_999),
        txid=st.just(ANY_TXID) | st.text("abcXYZ0189", min_size=1, max_size=25),
    ),
    st.builds(
        BrCode,
        merchant=names,
        city=names.map(lambda name: name[:LONGEST_CITY]),
        url=printable.map(lambda url: url[:77]),
        amount_minor=st.none() | st.integers(1, 999_999_999_999),
    ),
)


@pytest.mark.parametrize("text", EXAMPLES)
def test_the_central_banks_examples_are_written_and_read(text: str):
    assert EXAMPLES[text].encode() == text
    assert BrCode.decode(text) == EXAMPLES[text]


@given(codes)
def test_what_is_written_is_read_again(code: BrCode):
    text = code.encode()
    assert text.isascii()
    assert BrCode.decode(text) == code


@given(codes, st.integers(0, 10_000), st.integers(1, 127))
def test_a_code_that_was_altered_is_no_code(code: BrCode, place: int, change: int):
    text = code.encode()
    index = place % len(text)
    altered = text[:index] + chr(ord(text[index]) ^ change) + text[index + 1 :]
    with pytest.raises(NoBrCode):
        BrCode.decode(altered)


def test_a_checksum_has_four_digits_also_when_it_begins_with_a_nought():
    codes = [BrCode(merchant="Loja", city="RIO", key=f"k{n}").encode() for n in range(400)]
    assert any(code[-4] == "0" for code in codes)
    assert all(BrCode.decode(code).encode() == code for code in codes)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("João & Irmãos Açougue", "Joao & Irmaos Acougue"),
        ("Uma loja com um nome muito comprido", "Uma loja com um nome muit"),
        ("São\tPaulo\n", "Sao Paulo"),
        ("Ação   Dupla", "Acao Dupla"),
        ("ﬁesta", "fiesta"),
    ],
)
def test_names_are_folded_to_what_banks_show(name: str, shown: str):
    assert folded(name, LONGEST_NAME) == shown
    assert BrCode.decode(BrCode(merchant=name, city="RIO", key="k").encode()).merchant == shown


@pytest.mark.parametrize(
    "changes",
    [
        {"merchant": ""},
        {"merchant": "東京"},
        {"key": None},
        {"url": "pix.example.com/1"},
        {"key": "k" * 78},
        {"key": "ch\u00e1ve"},
        {"key": ""},
        {"amount_minor": 0},
        {"amount_minor": -1},
        {"amount_minor": 10**13},
        {"txid": ""},
        {"txid": "a" * 26},
        {"txid": "with space"},
        {"txid": "****"},
        {"key": None, "url": "pix.example.com/1", "txid": "abc"},
    ],
)
def test_what_cannot_be_written_is_refused(changes: dict[str, object]):
    usual = {"merchant": "Fulano de Tal", "city": "BRASILIA", "key": "k"}
    with pytest.raises(NoBrCode):
        BrCode(**(usual | changes)).encode()


@pytest.mark.parametrize(
    ("minor", "text"), [(1, "0.01"), (100, "1.00"), (5_099, "50.99"), (10**12 - 1, "9999999999.99")]
)
def test_amounts_are_reais_with_two_places(minor: int, text: str):
    assert amount_of(minor) == text
    assert minor_of(text) == minor


@pytest.mark.parametrize(
    "text", ["1", "1.0", "1,00", "01.00", ".50", "1.000", "-1.00", " 1.00", "", "1e2", "٣.00", "0.00"]
)
def test_other_amounts_are_none(text: str):
    with pytest.raises(NoBrCode):
        minor_of(text)


def resealed(body: str) -> str:
    """With a checksum that is right, so that nothing but the rest can be wrong."""
    return body + checksum(body)


@pytest.mark.parametrize(
    "body",
    [
        STATIC[:-4].replace("5303986", "5303978"),
        STATIC[:-4].replace("5802BR", "5802PT"),
        STATIC[:-4].replace("000201", "000202"),
        STATIC[:-4].replace("0014br.gov.bcb.pix", "0014br.gov.bcb.pox"),
        STATIC[:-4].replace("5913Fulano de Tal", "5926" + "x" * 26),
        STATIC[:-4].replace("5913Fulano de Tal", ""),
        STATIC[:-4].replace("5913Fulano de Tal", "59"),
        STATIC[:-4].replace("62070503***", ""),
        STATIC[:-4].replace("000201", "000201010212"),
        DYNAMIC[:-4].replace("010212", ""),
        STATIC[:-4].replace("5802BR", "5802BR5802BR"),
        STATIC[:-8] + "630400006304",
        "6304" + "AAAA" + STATIC[:-8],
        STATIC[:-8].replace("000201", "") + "0002016304",
        STATIC[:-8] + "80046304",
        STATIC[:-4].replace("5802BR", "54040.005802BR"),
        "6304",
        "",
    ],
)
def test_a_strict_bank_refuses_what_is_not_by_the_book(body: str):
    with pytest.raises(NoBrCode):
        BrCode.decode(resealed(body))


def test_between_the_first_and_the_last_tag_any_order_is_read():
    moved = STATIC[:-4].replace("5204000053039865802BR", "5802BR530398652040000")
    assert moved != STATIC[:-4]
    assert BrCode.decode(resealed(moved)) == EXAMPLES[STATIC]


def test_the_code_is_drawn():
    assert svg(STATIC).startswith("<svg")
    assert png(STATIC).startswith(b"\x89PNG")
