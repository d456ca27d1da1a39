"""Days named from the day of writing: which are found, and which day each is."""

from datetime import UTC, datetime
from time import thread_time

import pytest

from memtui.day_words import absolute, day_words

WEDNESDAY = int(datetime(2026, 3, 4, 10, tzinfo=UTC).timestamp() * 1000)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("The freeze starts today.", "The freeze starts 2026-03-04."),
        ("Ship it tomorrow, or the day after tomorrow", "Ship it 2026-03-05, or 2026-03-06"),
        ("release by Friday", "release by 2026-03-06"),
        ("release NEXT friday", "release 2026-03-06"),
        ("last Monday's incident", "2026-03-02's incident"),
        ("last Wednesday", "2026-02-25"),
        ("on Wednesday", "on 2026-03-11"),
        ("this Wednesday", "2026-03-04"),
        ("in 2 weeks and 10 days ago", "2026-03-18 and 2026-02-22"),
        ("next week we freeze, last month we did not", "the week of 2026-03-09 we freeze, 2026-02 we did not"),
        ("Der Release ist am Freitag, gestern war Test", "Der Release ist am 2026-03-06, 2026-03-03 war Test"),
        ("vendredi, viernes", "2026-03-06, 2026-03-06"),
        ("昨天发布，明天冻结", "2026-03-03发布，2026-03-05冻结"),
        ("every Friday, on Fridays, today-view, Mondays", "every Friday, on Fridays, today-view, Mondays"),
        ("Not on Friday, never on Monday, the Friday boats", "Not on Friday, never on Monday, the Friday boats"),
        ("yesterdays daysago weekend", "yesterdays daysago weekend"),
    ],
)
def test_a_day_is_said_as_itself(text: str, said: str) -> None:
    assert absolute(text, WEDNESDAY) == said


def test_the_end_of_the_year_is_passed() -> None:
    new_year = int(datetime(2026, 12, 31, 12, tzinfo=UTC).timestamp() * 1000)
    assert absolute("tomorrow, next month", new_year) == "2027-01-01, 2027-01"
    assert [found.day for found in day_words("last month", new_year)] == ["2026-11"]


@pytest.mark.parametrize("piece", ["the day ", "in 12 ", "every ", "next ", "a", "昨", "9 "])
def test_a_megabyte_takes_no_longer_than_its_size(piece: str) -> None:
    text = piece * (1_048_576 // len(piece))
    started = thread_time()
    assert day_words(text, WEDNESDAY) == ()
    assert thread_time() - started < 10
