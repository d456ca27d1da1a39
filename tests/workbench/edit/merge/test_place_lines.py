"""One place of a conflict, as its two changes from BASE, in every view and with every pair of words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.workbench.edit.merge.conflict_lines import BASE_AGENT, BASE_YOURS, EACH, SIDES, WITH_BASE, place_lines
from tests.workbench.edit.merge.test_conflict_lines import text
from tests.workbench.edit.merge.test_decisions import session


def test_two_changes_from_base_with_the_words_that_differ() -> None:
    merged = session(
        "429 counts as a retry\n", "429 and 503 count as a retry\n", "429 counts as a retry; 503 does not\n"
    )
    shown = text(place_lines(merged, 0, 80))
    assert shown[1] == "       1  429 counts as a retry"
    assert shown[4:6] == ["  -    1  429 {counts} as a retry", "  +    1  429 {and 503 count} as a retry"]
    assert shown[8:10] == ["  -    1  429 counts as a retry", "  +    1  429 counts as a retry{; 503 does not}"]


def test_a_side_that_takes_lines_out_or_changes_nothing_says_so() -> None:
    merged = session("a\nb\n", "", "a\nB\n")
    assert "    (takes these lines out)" in text(place_lines(merged, 0, 80))
    only = session("a\n", "b\n", "a\n")
    assert "    (as in BASE)" in text(place_lines(only, 0, 80))


def test_line_ends_are_shown_where_they_matter() -> None:
    merged = session("a", "b\r\n", "c")
    shown = text(place_lines(merged, 0, 80))
    assert any("a  (no line end)" in line for line in shown)
    assert any("b␍" in line for line in shown)


WORDS = session("one two three\n", "one TWO three\n", "one two THREE\n")


@pytest.mark.parametrize(
    ("pair", "yours", "agent"),
    [
        (EACH, "one {TWO} three", "one two {THREE}"),
        (SIDES, "one {TWO three}", "one {two THREE}"),
        (BASE_YOURS, "one {TWO} three", "one two THREE"),
        (BASE_AGENT, "one TWO three", "one two {THREE}"),
    ],
)
@pytest.mark.parametrize("width", [80, 120, 200])
def test_the_pair_decides_which_words_are_marked(pair: int, yours: str, agent: str, width: int) -> None:
    shown = "\n".join(text(place_lines(WORDS, 0, width, beside=width > 100, pair=pair)))
    assert f"+    1  {yours}" in shown
    assert f"+    1  {agent}" in shown


def test_side_by_side_shows_the_unchanged_lines_around() -> None:
    merged = session("h1\nh2\nx\nt1\nt2\n", "h1\nh2\nmine\nt1\nt2\n", "h1\nh2\ntheirs\nt1\nt2\n")
    rows = text(place_lines(merged, 1, 120, beside=True))
    assert any(row.count("h2") == 2 for row in rows)
    assert any("mine" in row and "theirs" in row for row in rows)
    assert any(row.count("   4  t1") == 2 for row in rows)


def test_base_stands_between_the_sides_where_there_is_room() -> None:
    merged = session("base line\n", "mine\n", "theirs\n")
    rows = text(place_lines(merged, 0, WITH_BASE, beside=True))
    assert rows[0].index("YOURS") < rows[0].index("BASE") < rows[0].index("AGENT")
    assert rows[0].count(" | ") == 2
    assert "base line" in rows[1]
    narrow = text(place_lines(merged, 0, WITH_BASE - 1, beside=True))
    assert narrow[0].lstrip().startswith("BASE")


@pytest.mark.parametrize("width", [80, 120, 200])
def test_what_is_chosen_is_said_in_words(width: int) -> None:
    merged = session("x\n", "mine\n", "theirs\n")
    for choice, names in (
        ("yours", ["YOURS"]),
        ("theirs", ["AGENT"]),
        ("base", ["BASE"]),
        ("both", ["YOURS", "AGENT"]),
    ):
        merged.decide([0], choice)
        shown = "\n".join(text(place_lines(merged, 0, width, beside=width > 100)))
        assert [name for name in ("YOURS", "AGENT", "BASE") if f"* {name}  chosen" in shown] == names


@given(st.integers(1, 30), st.integers(1, 30), st.integers(8, 40))
def test_both_sides_begin_within_the_rows_there_are(yours: int, agent: int, rows: int) -> None:
    mine, theirs = ("".join(f"{word} {n}\n" for n in range(count)) for word, count in (("mine", yours), ("its", agent)))
    shown = text(place_lines(session("old\n", mine, theirs), 0, 80, rows=rows))
    names = [next(n for n, line in enumerate(shown) if line.startswith(f"  {name} ")) for name in ("YOURS", "AGENT")]
    assert max(names) + 2 < rows, "the name of each side, and what it did"
    ends = "mine 0", f"mine {yours - 1}", f"its {agent - 1}"
    assert [sum(line.endswith(end) for line in shown) for end in ends] == [1, 1, 1]
    assert any(line.startswith("  BASE") for line in shown)
