"""What an `Insert` sends as text arrives as the driver would have written it, whatever it holds."""

from datetime import UTC, date, datetime, timedelta, timezone
from enum import StrEnum
from typing import Any
from uuid import UUID

import asyncpg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from admitone.kernel.driver import session_of
from admitone.kernel.scope import Role
from admitone.kernel.statements import PLAIN, Insert, array_as_text

TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))
AWKWARD = st.sampled_from(
    ["", "NULL", "null", "{}", '{"a"}', "a,b", '"', "\\", "\\n", "\n\r\t\x01\x7f", "\\u0041", " "]
)
SMALL = st.integers(-(2**15), 2**15 - 1)
OFFSETS = [UTC, *(timezone(timedelta(hours=hours)) for hours in (-3, 16, -23)), timezone(timedelta(seconds=-2205))]
FIRST, LAST = datetime.min + timedelta(days=1), datetime.max - timedelta(days=1)  # noqa: DTZ901  As Hypothesis asks.
FOR_EVER = [each.replace(tzinfo=UTC) for each in (datetime.min, datetime.max)]  # noqa: DTZ901
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "text": TEXT | AWKWARD,
    "smallint": SMALL,
    "integer": SMALL | st.just(2**31 - 1),
    "bigint": SMALL | st.sampled_from([2**63 - 1, -(2**63)]),
    "boolean": st.booleans(),
    "timestamptz": st.datetimes(FIRST, LAST, timezones=st.sampled_from(OFFSETS)) | st.sampled_from(FOR_EVER),
    "date": st.dates(date(1, 1, 1)),
}


@pytest.mark.parametrize("kind", sorted(PLAIN))
async def test_what_is_sent_as_text_arrives_as_from_the_driver(superuser: asyncpg.Connection, kind: str):
    arrive = await superuser.prepare(
        f"SELECT v.sent, v.written FROM unnest($1::text::{kind}[], $2::{kind}[]) AS v(sent, written)"
    )

    @settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(st.lists(st.none() | VALUES[kind], min_size=1, max_size=8))
    def texts(values: list[Any]) -> None:
        drawn.append(values)

    drawn: list[list[Any]] = []
    texts()
    for values in drawn:
        rows = await arrive.fetch(array_as_text(values, kind), values)
        assert [row["sent"] for row in rows] == [row["written"] for row in rows]


class Colour(StrEnum):
    RED = "RED"


def test_a_word_of_ours_is_a_text():
    assert array_as_text([None, "as it is", Colour.RED], "text") == '{null,"as it is","RED"}'


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("text", b"abc"),
        ("text", 1),
        ("text", UUID(int=1)),
        ("integer", "5"),
        ("integer", True),
        ("bigint", 1.0),
        ("smallint", float("nan")),
        ("boolean", 1),
        ("timestamptz", "now"),
        ("timestamptz", date(2026, 1, 1)),
        ("date", datetime(2026, 1, 1, tzinfo=UTC)),
        ("date", "today"),
    ],
)
def test_what_a_column_does_not_hold_is_not_sent(kind: str, value: Any):
    """The server would make something of it, and we would keep that."""
    with pytest.raises(TypeError, match=f"{type(value).__name__} is not what a column of {kind} holds"):
        array_as_text([None, value], kind)


async def test_nothing_stays_nothing_where_a_server_knows_no_nulls(database_url: str):
    """`array_nulls` may be off for a server or a role, and then `null` is a word."""
    settings = {"options": "-c array_nulls=off"} | session_of(Role.APP)
    session = await asyncpg.connect(database_url, server_settings=settings)
    try:
        assert await session.fetchval("SELECT $1::text::text[]", array_as_text([None, "a"], "text")) == [None, "a"]
    finally:
        await session.close()


def test_every_plain_type_is_tried():
    assert VALUES.keys() == PLAIN.keys()


def test_ids_and_bytes_are_left_to_the_driver():
    insert = Insert("a.table", {"id": "uuid", "digest": "bytea", "name": "text", "tags": "text[]", "about": "jsonb"})
    assert "unnest($2::uuid[], $3::bytea[], $4::text::text[], $5::text[], $6::text[])" in insert.sql
