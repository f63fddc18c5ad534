"""What is kept of a price: one text, one hash, for ever."""

import json
from hashlib import sha256

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from admitone.finance.pricing.api import FeeMode, LineItem, Priced, Snapshot, Tampered
from admitone.finance.sources.api import SourceType
from admitone.finance.sources.port import Tax
from tests.finance.pricing.offers import a_rule, an_offer, computed

KEPT = (
    '{"currency":"EUR","discounts":100,"feeBps":500,"feeFixed":25,"feeMode":"ADDED","feePolicyVersion":"fee_1",'
    '"gross":2000,"lineItems":[{"discount":100,"fee":120,"gross":2000,"key":"line-0","label":"Line 0","quantity":2,'
    '"tax":437,"total":2457,"unitPrice":1000}],"netToOrgPending":2337,"platformFee":120,"processorFeeBearer":"ORG",'
    '"processorFeesActual":null,"processorFeesStatus":"PENDING","promoPolicyVersion":null,"promotions":[],'
    '"settlementModel":"ORG_MOR","sourceId":"order-1","sourceType":"TICKET_ORDER",'
    '"taxes":[{"amount":437,"bearer":"CUSTOMER","jurisdiction":"PT","name":"IVA à taxa normal","rateBps":2300}],'
    '"total":2457}'
)
KEPT_HASH = "e6adc8239dc6f575a2642499ba23433119393165d26517a97b70fb310b845a6d"


def the_snapshot() -> Snapshot:
    offer = an_offer((1000, 2), discount_minor=100, taxes=(Tax("IVA à taxa normal", "PT", 2300),))
    return computed(offer, a_rule(500, 25, mode=FeeMode.ADDED))


@pytest.mark.covers("FIN-034")
def test_what_was_kept_by_an_older_installation_is_still_the_same():
    assert Priced.of(the_snapshot()) == Priced(the_snapshot(), KEPT, KEPT_HASH)
    assert Priced.read(KEPT, KEPT_HASH).snapshot == the_snapshot()
    assert sha256(KEPT.encode()).hexdigest() == KEPT_HASH


@pytest.mark.covers("FIN-034")
def test_the_text_has_sorted_keys_no_spaces_and_whole_numbers_only():
    text = Priced.of(the_snapshot()).text
    again = json.dumps(json.loads(text), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert text == again

    def no_float(number: str) -> int:
        raise AssertionError(number)

    json.loads(text, parse_float=no_float)


@pytest.mark.covers("FIN-034")
def test_a_snapshot_cannot_be_changed():
    snapshot = the_snapshot()
    with pytest.raises(AttributeError):
        snapshot.total = 1  # type: ignore[misc]
    with pytest.raises(AttributeError):
        snapshot.line_items[0].total = 1  # type: ignore[misc]


OTHER_PRICES = [('"total":2457}', '"total":2458}'), ('"platformFee":120', '"platformFee":0')]
OTHER_TEXTS = [
    ('"currency":"EUR"', '"currency": "EUR"'),
    ('{"currency":"EUR",', '{"currency":"EUR","hint":1,'),
    ('"total":2457,"unit', '"hint":[],"total":2457,"unit'),
    ('"processorFeesActual":null,"processorFeesStatus":"PENDING",', ""),
    ("à", "\\u00e0"),
]
"""Which say the same; as a text of another version may, that knew more fields, or fewer."""
NO_PRICES = [
    ('"processorFeesActual":null', '"processorFeesActual":5'),
    ('"processorFeesStatus":"PENDING"', '"processorFeesStatus":"FINAL"'),
    ('"gross":2000,"line', '"gross":2000.0,"line'),
    ('"gross":2000,"line', '"gross":true,"line'),
    ('"gross":2000,"line', '"line'),
    (KEPT, ""),
]


@pytest.mark.covers("FIN-034")
@pytest.mark.parametrize(("old", "new"), [*OTHER_PRICES, *OTHER_TEXTS, *NO_PRICES])
def test_a_text_that_was_touched_is_not_read(old: str, new: str):
    assert old in KEPT
    with pytest.raises(Tampered):
        Priced.read(KEPT.replace(old, new), KEPT_HASH)


@pytest.mark.parametrize(("old", "new"), NO_PRICES)
def test_a_text_that_is_no_price_is_not_read_under_any_hash(old: str, new: str):
    touched = KEPT.replace(old, new)
    with pytest.raises(Tampered):
        Priced.read(touched, sha256(touched.encode()).hexdigest())


@pytest.mark.covers("FIN-034")
@pytest.mark.parametrize(("old", "new"), OTHER_TEXTS)
def test_what_another_version_kept_is_read_as_long_as_its_hash_is_its_own(old: str, new: str):
    kept = KEPT.replace(old, new)
    assert kept != KEPT
    hashed = sha256(kept.encode()).hexdigest()
    assert Priced.read(kept, hashed) == Priced(the_snapshot(), kept, hashed)


CHANGES = {
    "currency": st.sampled_from(["BRL", "USD"]),
    "fee_mode": st.sampled_from([FeeMode.INCLUDED, FeeMode.ABSORBED]),
    "source_type": st.sampled_from([SourceType.BOOKING, SourceType.STORE_ORDER]),
    "promo_policy_version": st.text(min_size=1, max_size=5),
    "line_items": st.lists(
        st.builds(LineItem, st.text(max_size=3), st.text(max_size=3), *[st.integers(0, 9)] * 7), max_size=2
    ).map(tuple),
    **{
        name: st.integers(0, 2**53 - 1)
        for name in ("gross", "discounts", "platform_fee", "total", "net_to_org_pending", "fee_bps", "fee_fixed")
    },
    "source_id": st.text("abc", max_size=5),
    "fee_policy_version": st.text("abc", max_size=5),
}


@pytest.mark.covers("FIN-034")
@given(st.sampled_from(sorted(CHANGES)).flatmap(lambda name: st.tuples(st.just(name), CHANGES[name])))
def test_another_price_has_another_hash(change: tuple[str, object]):
    snapshot = the_snapshot()
    other = msgspec.structs.replace(snapshot, **{change[0]: change[1]})
    assert (Priced.of(other).hash == KEPT_HASH) == (other == snapshot)


@pytest.mark.covers("FIN-034", "FIN-036")
def test_a_snapshot_has_the_fields_of_the_paper():
    assert sorted(json.loads(KEPT)) == sorted(
        [
            "currency",
            "gross",
            "discounts",
            "taxes",
            "platformFee",
            "total",
            "netToOrgPending",
            "feeMode",
            "feeBps",
            "feeFixed",
            "feePolicyVersion",
            "promoPolicyVersion",
            "sourceType",
            "sourceId",
            "lineItems",
            "processorFeesStatus",
            "processorFeesActual",
            "promotions",
            "settlementModel",
            "processorFeeBearer",
        ]
    )
