"""Ids: in order, of one kind, and nothing else."""

import time
from concurrent.futures import ThreadPoolExecutor
from uuid import RFC_4122, UUID

import pytest

from admitone.kernel.ids import PLATFORM_ORGANIZATION, Id, IdentityId, InvalidId, OrganizationId, uuid7


def test_an_id_made_later_sorts_later():
    made = [uuid7() for _ in range(10_000)]
    assert made == sorted(made) and len(set(made)) == 10_000


def test_ids_made_by_many_threads_are_all_different_and_in_order_for_each():
    with ThreadPoolExecutor(4) as threads:
        runs = list(threads.map(lambda _: [uuid7() for _ in range(2_000)], range(4)))
    assert len({made for run in runs for made in run}) == 8_000
    assert all(run == sorted(run) for run in runs)


def test_an_id_is_a_uuid_of_version_7_and_tells_its_millisecond():
    before = time.time_ns() // 1_000_000
    made = uuid7()
    assert made.version == 7 and made.variant == RFC_4122
    # The sequence may run ahead of the clock when ids are made faster than 4 a microsecond.
    assert before <= made.int >> 80 <= time.time_ns() // 1_000_000 + 10


def test_ids_of_one_process_cannot_be_guessed_from_each_other():
    assert len({made.int & (2**62 - 1) for made in (uuid7() for _ in range(1_000))}) == 1_000


def test_an_id_survives_the_api():
    made = OrganizationId.new()
    assert str(made) == f"org_{made.uuid.hex}"
    assert OrganizationId.parse(str(made)) == made
    assert repr(made) == f"OrganizationId({made})"


GOOD = "org_0198c9a4b3c27d1e8f00112233445566"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "org",
        "org_",
        GOOD[:-1],
        GOOD + "0",
        GOOD + "\n",
        " " + GOOD,
        GOOD.upper(),
        GOOD.replace("org", "idn"),
        GOOD.replace("_", ""),
        GOOD.replace("_", "__"),
        "0198c9a4-b3c2-7d1e-8f00-112233445566",
        "org_0198c9a4-b3c2-7d1e-8f00-11223344",
        "org_" + "٣" * 32,
        "org_" + "+" + "1" * 31,
        "\x00",
        "\ud800",
        "org_" * 10_000,
    ],
)
def test_text_that_is_not_exactly_an_id_of_the_kind_is_refused(text):
    with pytest.raises(InvalidId) as refused:
        OrganizationId.parse(text)
    assert refused.value.stated() == {"expectedPrefix": "org"}


def test_an_id_is_never_taken_for_another_kind():
    one = uuid7()
    assert OrganizationId(one) != IdentityId(one)
    assert len({OrganizationId(one), IdentityId(one), OrganizationId(one)}) == 2
    assert OrganizationId(one) != one


def test_ids_sort_as_they_were_made():
    first, second = OrganizationId.new(), OrganizationId.new()
    assert sorted([second, first]) == [first, second]


def test_two_kinds_cannot_share_a_prefix():
    with pytest.raises(TypeError, match="belongs to OrganizationId"):

        class Impostor(Id, prefix="org"):
            pass

    assert Id.kinds["org"] is OrganizationId


def test_the_platform_has_an_organization_that_no_new_one_can_get():
    assert PLATFORM_ORGANIZATION.uuid == UUID("00000000-0000-7000-8000-000000000001")
    assert OrganizationId.new() > PLATFORM_ORGANIZATION
