"""What an `Insert` sends arrives as it was, whatever it holds."""

from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import asyncpg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from admitone.kernel.statements import PLAIN, Insert, array_as_text

TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))
AWKWARD = st.sampled_from(
    ["", "NULL", "null", "{}", '{"a"}', "a,b", '"', "\\", "\\n", "\n\r\t\x01\x7f", "\\u0041", " "]
)
SMALL = st.integers(-(2**15), 2**15 - 1)
FIRST, LAST = datetime.min + timedelta(days=1), datetime.max - timedelta(days=1)  # noqa: DTZ901  As Hypothesis asks.
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "text": TEXT | AWKWARD,
    "smallint": SMALL,
    "integer": SMALL | st.just(2**31 - 1),
    "bigint": SMALL | st.sampled_from([2**63 - 1, -(2**63)]),
    "boolean": st.booleans(),
    "timestamptz": st.datetimes(FIRST, LAST, timezones=st.sampled_from([UTC, timezone(timedelta(hours=-3))])),
    "date": st.dates(date(1, 1, 1)),
}


@pytest.mark.parametrize("kind", sorted(PLAIN))
async def test_what_is_sent_as_text_arrives_as_it_was(superuser: asyncpg.Connection, kind: str):
    arrive = await superuser.prepare(f"SELECT v FROM unnest($1::text::{kind}[]) AS v")

    @settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(st.lists(st.none() | VALUES[kind], min_size=1, max_size=8))
    def texts(values: list[Any]) -> None:
        drawn.append(values)

    drawn: list[list[Any]] = []
    texts()
    for values in drawn:
        assert [row["v"] for row in await arrive.fetch(array_as_text(values))] == values


def test_every_plain_type_is_tried():
    assert VALUES.keys() == PLAIN


def test_ids_and_bytes_are_left_to_the_driver():
    insert = Insert("a.table", {"id": "uuid", "digest": "bytea", "name": "text", "tags": "text[]", "about": "jsonb"})
    assert "unnest($2::uuid[], $3::bytea[], $4::text::text[], $5::text[], $6::text[])" in insert.sql
