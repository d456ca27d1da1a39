"""What two sequences have in common: right, good enough, and never slow."""

import random
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memtui.diff.differences import matching, split_lines

sequences = st.lists(st.sampled_from("abcde"), max_size=14)


def longest_common(a: list[str], b: list[str]) -> int:
    """The most items that could be matched."""
    row = [0] * (len(b) + 1)
    for item in a:
        before = row
        row = [0]
        for n, other in enumerate(b):
            row.append(before[n] + 1 if item == other else max(before[n + 1], row[n]))
    return row[-1]


@given(st.text(st.sampled_from("ab\n\r\f\u2028\x85")))
def test_only_line_feeds_end_lines(text: str) -> None:
    lines = split_lines(text)
    assert "".join(lines) == text
    assert all(line.count("\n") == line.endswith("\n") for line in lines)
    assert all(lines)
    assert all(line.endswith("\n") for line in lines[:-1])


@given(sequences, sequences)
@example(list("abb"), list("bbab"))
def test_runs_are_equal_rising_and_as_long_as_they_can_be(a: list[str], b: list[str]) -> None:
    at_a = at_b = 0
    for run in matching(a, b):
        assert run.size > 0
        assert run.a >= at_a
        assert run.b >= at_b
        assert a[run.a : run.a + run.size] == b[run.b : run.b + run.size]
        at_a, at_b = run.a + run.size, run.b + run.size
        assert a[at_a : at_a + 1] != b[at_b : at_b + 1] or not (a[at_a:] and b[at_b:])


@given(sequences)
def test_equal_sequences_match_whole(a: list[str]) -> None:
    assert [run.size for run in matching(a, a)] == ([len(a)] if a else [])


def test_answers_are_close_to_the_best() -> None:
    rolls = random.Random(1)
    found = best = 0
    for _ in range(500):
        a, b = ([rolls.choice("abcd") for _ in range(rolls.randrange(14))] for _ in "ab")
        found += sum(run.size for run in matching(a, b))
        best += longest_common(a, b)
    assert found > 0.95 * best


def test_a_changed_line_does_not_move_the_others() -> None:
    a = split_lines("# A\n\ntext\n\n# B\n\ntext\n\n# C\n")
    b = split_lines("# A\n\ntext\n\n# New\n\nmore\n\n# B\n\ntext\n\n# C\n")
    assert [tuple(run) for run in matching(a, b)] == [(0, 0, 4), (4, 8, 5)]


ROLLS = random.Random(2)
HOSTILE = {
    "blank": ([""] * 60_000, [""] * 59_000),
    "shifted": (list("ab" * 30_000), list("ba" * 30_000)),
    "two letters": (ROLLS.choices("ab", k=60_000), ROLLS.choices("ab", k=60_000)),
    "a thousand": (ROLLS.choices(range(1000), k=60_000), ROLLS.choices(range(1000), k=60_000)),
    "backwards": (list(range(60_000)), list(range(60_000))[::-1]),
    "pairs backwards": ([n // 2 for n in range(60_000)], [n // 2 for n in range(60_000)][::-1]),
    "shuffled": (ROLLS.sample(range(60_000), 60_000), ROLLS.sample(range(60_000), 60_000)),
    "nothing": (list(range(60_000)), list(range(60_000, 120_000))),
}


@pytest.mark.parametrize(("a", "b"), HOSTILE.values(), ids=HOSTILE.keys())
def test_no_text_is_slow(a: list[object], b: list[object]) -> None:
    start = time.thread_time()
    matching(a, b)
    assert time.thread_time() - start < 3
