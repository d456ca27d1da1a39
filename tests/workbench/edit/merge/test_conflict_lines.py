"""What the conflict screen shows, line by line, without a screen."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.safe_text import cell_width, has_hidden, visible
from memtui.ui.draw.spans import Line
from memtui.workbench.edit.merge.conflict_lines import (
    PAIRS,
    MergedFile,
    Parties,
    closing_words,
    file_change,
    header,
    hunk_title,
    place_lines,
    result_lines,
)
from tests.test_mask import GITHUB, KEY
from tests.workbench.edit.merge.test_decisions import session

SECRETS = f"one\n{KEY}\ntoken {GITHUB} is\n"
PARTIES = Parties("notes/a.md", "as you opened it 11:38", "your unsaved draft", "claude", "11:52")
TEXT = st.text(st.sampled_from("ab\n\r\t[]{}漢😀\x1b\u202e\x00"), max_size=40)


def text(lines: list[Line]) -> list[str]:
    return ["".join(part for part, _ in line) for line in lines]


@given(TEXT, TEXT, TEXT, st.integers(64, 200), st.booleans(), st.integers(0, len(PAIRS) - 1))
def test_every_line_fits_and_can_be_drawn(
    base: str, yours: str, agent: str, width: int, beside: bool, pair: int
) -> None:
    merged = session(base, yours, agent)
    lines: list[Line] = [*header(PARTIES, merged, width)[:1]]
    file = MergedFile()
    for index in merged.hunks:
        lines += place_lines(merged, index, width, beside=beside and width > 90, pair=pair)
        lines += result_lines(merged, index, width)
        lines += file.lines(merged, index, width)[0]
    lines += file_change(base, yours, width)
    for line in text(lines):
        drawn = visible(line)
        assert not has_hidden(drawn)
        assert cell_width(drawn) <= width, drawn


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
    lines, top = MergedFile().lines(merged, 0, 40)
    assert text(lines) == ["> ???     <open conflict>", "       1  x", "       2  B                        agent"]
    assert top == 0
    merged.decide([0], "yours")
    assert text(MergedFile().lines(merged, 0, 40)[0])[0] == "  >    1  A                        yours"


def test_the_last_line_says_what_ctrl_s_does() -> None:
    merged = session("a\nx\nb\n", "A\nx\nb\n", "aa\nx\nB\n")
    assert closing_words(merged) == "ctrl+s is off: 1 conflict is still open"
    merged.decide([0], "both")
    assert closing_words(merged) == "ctrl+s writes 4 lines: 2 both, 1 agent"


def test_what_is_drawn_again_is_what_is_drawn_anew() -> None:
    merged = session("a\nx\nb\ny\nc\n", "A\nx\nb\ny\nC\n", "aa\nx\nB\ny\ncc\n")
    file = MergedFile()
    for width in (40, 60):
        for index, choice in ((0, "yours"), (0, "both"), (4, "theirs"), (2, "base"), (0, ""), (2, "")):
            merged.decide([index], choice)
            for current in merged.hunks:
                assert file.lines(merged, current, width) == MergedFile().lines(merged, current, width)


def test_white_space_only_conflicts_are_counted_in_the_header() -> None:
    merged = session("a\n=\nb\n", "a \n=\n1\n", "a  \n=\n2\n")
    assert "2 open (1 white space only), 0 merged" in text([*header(PARTIES, merged, 100)])[0]


def test_what_was_begun_is_offered() -> None:
    merged = session("a\n", "b\n", "c\n")
    merged.started = {0: "begun\n"}
    assert "e goes on with what you had typed" in text(result_lines(merged, 0, 100))[0]


@pytest.mark.parametrize("width", range(60, 130))
def test_the_header_says_at_every_width_who_and_when(width: int) -> None:
    parties = PARTIES._replace(who="mcp:claude-code")
    (_, who) = text([*header(parties, session("a\n", "b\n", "c\n"), width)])
    assert "BASE" in who
    assert "YOURS" in who
    assert who.endswith("AGENT mcp:claude-code 11:52")
    assert cell_width(who) <= width
    assert ("as you opened it" in who) == (width >= 85)


@pytest.mark.parametrize("pair", range(len(PAIRS)))
def test_no_line_of_a_conflict_shows_a_secret(pair: int) -> None:
    texts = SECRETS.replace("one", "two"), SECRETS, SECRETS.replace("one", "three").replace("AAAAC3", "AAAAD3")
    merged = session(*texts)
    file = MergedFile()
    for index in merged.hunks:
        for choice in ("", "yours", "theirs"):
            if choice:
                merged.decide([index], choice)
            lines = place_lines(merged, index, 120, beside=False, pair=pair) + result_lines(merged, index, 120)
            drawn = " ".join(visible(line) for line in text(lines + file.lines(merged, index, 120)[0]))
            assert "[masked: private key]" in drawn
            assert not [part for part in KEY.split("\n")[1:3] if part in drawn]
    shown = " ".join(map(visible, text(file_change(texts[0], texts[1] + "more", 120))))
    assert "more" in shown
    assert GITHUB[:9] not in shown
