"""What the conflict screen shows, line by line, without a screen."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.safe_text import cell_width, has_hidden, visible
from memtui.tui.draw.lines import Line
from memtui.tui.merge.session import MergeSession
from memtui.tui.merge.view import (
    Parties,
    closing_words,
    file_change,
    file_lines,
    header,
    hunk_lines,
    hunk_title,
    result_lines,
)

PARTIES = Parties("notes/a.md", "as you opened it 11:38", "your unsaved draft", "claude 11:52")
TEXT = st.text(st.sampled_from("ab\n\r\t[]{}漢😀\x1b\u202e\x00"), max_size=40)


def text(lines: list[Line]) -> list[str]:
    return ["".join(part for part, _ in line) for line in lines]


def session(base: str, yours: str, agent: str) -> MergeSession:
    return MergeSession.of(base.encode(), yours.encode(), agent.encode())


@given(TEXT, TEXT, TEXT, st.integers(64, 130), st.booleans())
def test_every_line_fits_and_can_be_drawn(base: str, yours: str, agent: str, width: int, beside: bool) -> None:
    merged = session(base, yours, agent)
    lines: list[Line] = [*header(PARTIES, merged, width)[:1]]
    for index in merged.hunks:
        lines += hunk_lines(merged, index, PARTIES, width, beside=beside and width > 90)
        lines += result_lines(merged, index, width)
        lines += file_lines(merged, index, width)[0]
    lines += file_change(base, yours, width)
    for line in text(lines):
        drawn = visible(line)
        assert not has_hidden(drawn)
        assert cell_width(drawn) <= width, drawn


def test_two_changes_from_base_with_the_words_that_differ() -> None:
    merged = session(
        "429 counts as a retry\n", "429 and 503 count as a retry\n", "429 counts as a retry; 503 does not\n"
    )
    shown = text(hunk_lines(merged, 0, PARTIES, 80))
    assert shown[1] == "       1  429 counts as a retry"
    assert shown[4:6] == ["  -    1  429 {counts} as a retry", "  +    1  429 {and 503 count} as a retry"]
    assert shown[8:10] == ["  -    1  429 counts as a retry", "  +    1  429 counts as a retry{; 503 does not}"]


def test_a_side_that_takes_lines_out_or_changes_nothing_says_so() -> None:
    merged = session("a\nb\n", "", "a\nB\n")
    assert "    (takes these lines out)" in text(hunk_lines(merged, 0, PARTIES, 80))
    only = session("a\n", "b\n", "a\n")
    assert "    (as in BASE)" in text(hunk_lines(only, 0, PARTIES, 80))


@pytest.mark.parametrize(
    ("choice", "words"),
    [
        ("", "conflict 1/1  line 1  OPEN"), ("yours", "-> YOURS"), ("theirs", "-> AGENT"), ("base", "-> BASE"),
        ("both", "-> both, YOURS first"),
    ],
)  # fmt: skip
def test_the_title_of_a_place_says_what_was_decided(choice: str, words: str) -> None:
    merged = session("a\nx\nb\n", "A\nx\nb\n", "aa\nx\nB\n")
    if choice:
        merged.decide([0], choice)
    assert words in hunk_title(merged, 0)
    assert "change 1/1" in hunk_title(merged, merged.hunks[1])
    assert "only AGENT changed, merged -> AGENT" in hunk_title(merged, merged.hunks[1])


def test_a_conflict_of_blanks_is_named() -> None:
    assert "only white space differs" in hunk_title(session("a b\n", "a  b\n", "a b \n"), 0)


def test_the_file_names_where_lines_come_from_and_what_is_open() -> None:
    merged = session("a\nx\nb\n", "A\nx\nb\n", "aa\nx\nB\n")
    lines, top = file_lines(merged, 0, 40)
    assert text(lines) == ["  ???     <open conflict>", "       1  x", "       2  B                        agent"]
    assert top == 0
    merged.decide([0], "yours")
    assert text(file_lines(merged, 0, 40)[0])[0] == "  >    1  A                        yours"


def test_the_last_line_says_what_ctrl_s_does() -> None:
    merged = session("a\nx\nb\n", "A\nx\nb\n", "aa\nx\nB\n")
    assert closing_words(merged) == "ctrl+s is off: 1 conflict is still open"
    merged.decide([0], "both")
    assert closing_words(merged) == "ctrl+s writes 4 lines: 2 both, 1 agent"


def test_line_ends_are_shown_where_they_matter() -> None:
    merged = session("a", "b\r\n", "c")
    shown = text(hunk_lines(merged, 0, PARTIES, 80))
    assert any("a  (no line end)" in line for line in shown)
    assert any("b␍" in line for line in shown)
