"""Times on the wire."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.wire.times import parse_time, rfc3339

NOW = 1_767_225_600_000


@pytest.mark.parametrize(
    ("ms", "text"),
    [
        (0, "1970-01-01T00:00:00.000Z"),
        (NOW + 7, "2026-01-01T00:00:00.007Z"),
        (-1, "1969-12-31T23:59:59.999Z"),
        (10**18, "9999-12-31T23:59:59.999Z"),
        (-(10**18), "0001-01-01T00:00:00.000Z"),
    ],
)
def test_a_time_is_written_in_utc_and_clamped_to_the_calendar(ms: int, text: str) -> None:
    assert rfc3339(ms) == text


@given(st.integers(-62_000_000_000_000, 253_000_000_000_000))
def test_what_is_written_is_read_back(ms: int) -> None:
    assert parse_time(rfc3339(ms), NOW) == ms


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("90s", NOW - 90_000),
        ("2h", NOW - 7_200_000),
        ("3d", NOW - 259_200_000),
        ("1w", NOW - 604_800_000),
        ("2026-01-01", NOW),
        ("2026-01-01T01:00:00+01:00", NOW),
        ("2026-01-01T00:00:00Z", NOW),
    ],
)
def test_people_and_scripts_can_give_a_time(text: str, ms: int) -> None:
    assert parse_time(text, NOW) == ms


@pytest.mark.parametrize("text", ["", "h", "yesterday", "-2h", "2y", "٢h", "9999999999h", "2026-13-01"])
def test_anything_else_is_no_time(text: str) -> None:
    assert parse_time(text, NOW) is None
