"""Money: whole minor units, one currency, no lost cent."""

from decimal import Decimal

import msgspec
import pytest

from admitone.kernel.money import LARGEST, SMALLEST, AmountTooLarge, CurrenciesDiffer, Money, currencies, digits


def euros(minor: int) -> Money:
    return Money(minor, "EUR")


@pytest.mark.covers("FIN-030")
@pytest.mark.parametrize("minor", [12.5, 12.0, Decimal(12), "12", None, True])
def test_an_amount_is_a_whole_number_of_minor_units(minor):
    with pytest.raises(TypeError):
        Money(minor, "EUR")


@pytest.mark.covers("FIN-030")
@pytest.mark.parametrize("factor", [0.5, 2.0, Decimal(2), True])
def test_an_amount_is_never_multiplied_by_a_fraction(factor):
    with pytest.raises(TypeError):
        euros(100) * factor
    with pytest.raises(TypeError):
        factor * euros(100)


@pytest.mark.parametrize(
    "share", [lambda: euros(100).share(2.5), lambda: euros(100).part(0.5, 1), lambda: euros(100).allocate([0.5, 0.5])]
)
def test_shares_and_weights_are_whole_numbers_too(share):
    with pytest.raises(TypeError):
        share()


@pytest.mark.covers("FIN-030")
@pytest.mark.parametrize(
    ("minor", "basis_points", "share"),
    [
        (125_000, 1_500, 18_750),  # MOR-023: 15 % of 1250.00
        (1, 5_000, 1),  # half a cent goes up
        (1, 4_999, 0),
        (3, 5_000, 2),
        (-1, 5_000, -1),  # and for a debt away from zero: the mirror of the fee
        (-3, 5_000, -2),
        (-1, 4_999, 0),
        (999, 0, 0),
        (999, 10_000, 999),
        (100, 15_000, 150),
    ],
)
def test_a_share_rounds_half_up(minor, basis_points, share):
    assert euros(minor).share(basis_points) == euros(share)


def test_commission_and_owner_share_of_a_stay_make_up_its_price():
    base = euros(25_000) * 4 + euros(25_000)
    commission = base.share(1_500)
    assert (commission, base - commission) == (euros(18_750), euros(106_250))


@pytest.mark.parametrize("wrong", [(-1, 10), (1, 0), (1, -1)])
def test_a_part_is_a_fraction_that_is_not_negative(wrong):
    with pytest.raises(ValueError, match="fraction"):
        euros(100).part(*wrong)


@pytest.mark.parametrize(
    ("minor", "weights", "parts"),
    [
        (100, [1, 1, 1], [34, 33, 33]),
        (-100, [1, 1, 1], [-34, -33, -33]),
        (5, [7, 3], [4, 1]),  # exactly 3.5 and 1.5: the earlier part gets the cent
        (100, [0, 1, 0], [0, 100, 0]),
        (1, [0, 1, 1, 1], [0, 1, 0, 0]),
        (0, [1, 2], [0, 0]),
        (LARGEST, [1], [LARGEST]),
    ],
)
def test_an_amount_is_split_by_weight_to_the_last_cent(minor, weights, parts):
    assert euros(minor).allocate(weights) == [euros(part) for part in parts]


@pytest.mark.parametrize("weights", [[], [0], [0, 0], [2, -1]])
def test_an_amount_cannot_be_split_among_nobody(weights):
    with pytest.raises(ValueError, match="weights"):
        euros(100).allocate(weights)


@pytest.mark.parametrize(
    "mix",
    [
        lambda a, b: a + b,
        lambda a, b: a - b,
        lambda a, b: a < b,
        lambda a, b: a <= b,
        lambda a, b: a > b,
        lambda a, b: a >= b,
        lambda a, b: Money.total([a], b.currency),
    ],
)
def test_two_currencies_never_meet_in_one_sum(mix):
    with pytest.raises(CurrenciesDiffer):
        mix(euros(1), Money(1, "BRL"))


def test_the_same_number_in_another_currency_is_another_amount():
    assert euros(1) != Money(1, "BRL")


def test_money_does_not_add_to_a_bare_number():
    with pytest.raises(TypeError, match="money goes with money"):
        euros(1) + 1
    with pytest.raises(TypeError):
        sum([euros(1)])


def test_amounts_are_compared_added_and_negated():
    assert euros(1) < euros(2) <= euros(2) and euros(3) > euros(2) >= euros(2)
    assert Money.total([euros(1), euros(2)], "EUR") == euros(3) == 3 * euros(1)
    assert Money.total([], "EUR") == Money.zero("EUR") == euros(0)
    assert -euros(5) == euros(-5) == euros(5) - euros(10) and abs(euros(-5)) == euros(5)
    assert max(euros(1), euros(2)) == euros(2)


@pytest.mark.parametrize(
    "too_large",
    [
        lambda: euros(LARGEST) + euros(1),
        lambda: euros(SMALLEST) - euros(1),
        lambda: euros(2**32) * 2**31,
        lambda: -euros(SMALLEST),
        lambda: euros(LARGEST).share(10_001),
        lambda: euros(2**63),
    ],
)
def test_what_the_database_cannot_hold_is_refused(too_large):
    with pytest.raises(AmountTooLarge):
        too_large()


@pytest.mark.parametrize("currency", ["eur", "EURO", "", "XXX", "DEM", "ZZZ", "XAU", "E R"])
def test_only_money_that_is_legal_tender_somewhere_is_known(currency):
    with pytest.raises(ValueError, match="currency"):
        Money(1, currency)


# From ISO 4217's own table; where printers leave the cents away, the cents are still charged (ALL, RSD, IQD).
@pytest.mark.parametrize(
    ("currency", "places"),
    [
        ("EUR", 2),
        ("BRL", 2),
        ("USD", 2),
        ("JPY", 0),
        ("CLP", 0),
        ("BHD", 3),
        ("KWD", 3),
        ("HUF", 2),
        ("ALL", 2),
        ("RSD", 2),
        ("IQD", 3),
        ("ISK", 0),
    ],
)
def test_each_currency_has_the_minor_unit_of_iso_4217(currency, places):
    assert digits(currency) == places


def test_every_known_currency_has_a_minor_unit():
    assert len(currencies()) > 140
    assert {digits(currency) for currency in currencies()} <= {0, 2, 3, 4}


@pytest.mark.parametrize(
    ("money", "text"),
    [
        (Money(1250, "EUR"), "12.50 EUR"),
        (Money(-5, "EUR"), "-0.05 EUR"),
        (Money(5, "JPY"), "5 JPY"),
        (Money(LARGEST, "BHD"), "9223372036854775.807 BHD"),
    ],
)
def test_an_amount_can_be_read(money, text):
    assert str(money) == text


def test_on_the_wire_money_is_minor_units_and_a_currency():
    assert msgspec.json.encode(euros(1250)) == b'{"minor":1250,"currency":"EUR"}'
    assert msgspec.json.decode(b'{"minor":1250,"currency":"EUR"}', type=Money) == euros(1250)


@pytest.mark.parametrize(
    "wire",
    [
        b'{"minor":12.5,"currency":"EUR"}',
        b'{"minor":9223372036854775808,"currency":"EUR"}',
        b'{"minor":-9223372036854775809,"currency":"EUR"}',
        b'{"minor":1e400,"currency":"EUR"}',
        b'{"minor":"1","currency":"EUR"}',
        b'{"minor":true,"currency":"EUR"}',
        b'{"minor":1,"currency":"eur"}',
        b'{"minor":1,"currency":"ZZZ"}',
        b'{"minor":1,"currency":"EUR\\u0000"}',
        b'{"minor":1}',
    ],
)
def test_what_is_not_money_is_refused_at_the_edge(wire):
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(wire, type=Money)


def test_an_amount_does_not_change():
    with pytest.raises(AttributeError):
        euros(1).minor = 2
    assert len({euros(1), euros(1), euros(2)}) == 2
