"""The difference of one change as drawn lines: hunks, words, what cannot be shown, and hostile text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.engine.model import Address, Change
from memtui.features.changes.view_texts import ShownChange, draw
from memtui.safe_text import cell_width
from memtui.ui.draw.difference import DiffStyle, fold_runs

A = Address("r", "a.md")


def shown(before: bytes | None, after: bytes | None, *, width: int = 60, words: bool = False) -> ShownChange:
    old, new = "a" * 64 if before is not None else None, "b" * 64 if after is not None else None
    change = Change(A, "modified", "outside", old, new, 0)
    return draw(change, before, after, ["Changed by x."], DiffStyle(width, words))


def lines(found: ShownChange) -> list[str]:
    return ["".join(text for text, _ in line.runs).rstrip() for line in found.page]


def test_hunks_with_a_little_around_them_each_line_once() -> None:
    before = b"".join(b"line %d\n" % n for n in range(1, 31))
    after = before.replace(b"line 5\n", b"line five\n").replace(b"line 8\n", b"").replace(b"line 25\n", b"25\n25b\n")
    found = shown(before, after)
    text = lines(found)
    assert len(found.hunks) == len(found.starts) == 3
    assert [text[start] for start in found.starts] == [
        " @@ hunk 1 of 3, line 5",
        " @@ hunk 2 of 3, line 8",
        " @@ hunk 3 of 3, line 24",
    ]
    assert "   5 - line {5}" in text
    assert "   5 + line {five}" in text
    assert "   8 - line 8" in text
    assert "  25 - line 25" in text
    assert "  25 + 25b" in text
    around = [line for line in text if line[4:8] == "   l"]
    assert len(around) == len(set(around))
    assert "   6   line 6" in around
    assert "  15   line 16" not in around


def test_word_by_word() -> None:
    text = lines(shown(b"keep this word\n", b"keep that word\n", words=True))
    assert "   ~   keep [-this-]{+that+} word" in text


def test_what_is_new_deleted_or_only_renamed_has_no_hunks() -> None:
    new = shown(None, b"text\n")
    assert not new.hunks
    assert new.whole.startswith("It is new as a whole")
    assert any("text" in line for line in lines(new))
    gone = shown(b"text\n", None)
    assert "What it held:" in "\n".join(lines(gone))
    change = Change(A, "renamed", "outside", "a" * 64, "a" * 64, 0, Address("r", "b.md"))
    moved = draw(change, b"x", b"x", [], DiffStyle(60))
    assert moved.whole == "Only the name changed."


def test_binary_too_big_and_not_utf_8_are_said_plainly() -> None:
    text = "\n".join(lines(shown(b"a\0b", b"Zo\xeb\n")))
    assert "Before: binary, 3 bytes." in text
    assert "Now: not UTF-8 at byte 2, 4 bytes." in text
    big = "\n".join(lines(shown(b"x\n", b"y" * 1_048_577)))
    assert "Now: too large to show here, 1,048,577 bytes." in big


def test_a_text_that_is_not_kept_is_said() -> None:
    change = Change(A, "modified", "outside", "a" * 64, "b" * 64, 0)
    found = draw(change, None, b"now\n", [], DiffStyle(60))
    assert not found.hunks
    text = "\n".join(lines(found))
    assert "The text you last saw is not kept any more." in text
    assert "now" in text


def test_line_ends_and_a_missing_last_one_show() -> None:
    text = "\n".join(lines(shown(b"a\r\nb\n", b"a\nb")))
    assert "b  (no line end)" in text
    assert text.count(" + a") == 1


TEXTS = st.text(st.sampled_from("ab \n\t\r\x1b\u202eé日x[/]{}"), max_size=60).map(str.encode)


@given(TEXTS, TEXTS, st.integers(12, 50), st.booleans())
def test_lines_fit_and_are_harmless(before: bytes, after: bytes, width: int, words: bool) -> None:
    for line in shown(before, after, width=width, words=words).page:
        text = "".join(part for part, _ in line.runs)
        assert cell_width(text) <= max(width, 15)
        assert not {"\x1b", "\u202e", "\n", "\r"} & set(text)


@given(
    st.lists(st.tuples(st.text("ab é日", min_size=1, max_size=30), st.sampled_from("xy")), max_size=5),
    st.integers(2, 20),
)
def test_folded_runs_keep_every_character(pieces: list[tuple[str, str]], width: int) -> None:
    folded = fold_runs(pieces, width)
    before = "".join(text for text, _ in pieces)
    lines = ["".join(text for text, _ in line) for line in folded]
    assert "".join(lines).replace(" ", "") == before.replace(" ", "")
    assert len(before) - len("".join(lines)) <= len(lines) - 1, "a break takes the place of one blank at most"
    assert all(cell_width(line) <= width for line in lines)


@pytest.mark.parametrize("plain", [False, True])
def test_tag_characters_are_read_out_in_short_and_flags_stay(plain: bool) -> None:
    token = "ghp_" + "Ab3dE5" * 6
    hidden = "".join(chr(0xE0000 + ord(sign)) for sign in f" Obey {token} and " + "x" * 200)
    flag = "\U0001f3f4" + "".join(chr(0xE0000 + ord(sign)) for sign in "gbsct") + "\U000e007f"
    text = "".join(text for line in fold_runs([(f"a{hidden}b{flag}", "x")], 200, plain=plain) for text, _ in line)
    assert text.startswith(f"a{'<' if plain else '⟨'}{len(hidden)} tag characters: Obey [masked: GitHub token] and x")
    assert token not in text
    assert text.endswith(f"b{flag}")
    assert cell_width(text) < 120


@pytest.mark.parametrize("width", range(8, 60))
def test_no_word_is_cut_that_fits_into_a_line(width: int) -> None:
    text = [("full for (", "del"), ("{an hour}", "word"), (") while nobody paid", "del")]
    lines = ["".join(part for part, _ in line) for line in fold_runs(text, width)]
    assert " ".join(line.strip() for line in lines) == "full for ({an hour}) while nobody paid"
    assert not [line for line in lines if line.startswith(" ")]
