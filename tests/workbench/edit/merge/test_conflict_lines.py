"""What the conflict screen shows, line by line, without a screen."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.safe_text import cell_width, has_hidden, visible
from memtui.ui.draw.text import Line
from memtui.workbench.edit.merge.conflict_lines import (
    BASE_AGENT,
    BASE_YOURS,
    EACH,
    PAIRS,
    SIDES,
    WITH_BASE,
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
