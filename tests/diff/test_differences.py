"""Differences as data: complete, in order, and a patch that other tools can apply."""

from __future__ import annotations

import random
import subprocess
import time
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memtui.diff.differences import (
    ADDED,
    REMOVED,
    SAME,
    byte_lines,
    changed_lines,
    hunks,
    line_changes,
    line_counts,
    matching,
    split_lines,
    take_back,
    unified,
    why_not_text,
    word_edits,
    word_spans,
)

text = st.builds(
    lambda lines, end: "\n".join(lines) + end,
    st.lists(st.sampled_from(["a", "b", "c", "", "a\r", "x\f", "-- y", "++ z"]), max_size=12),
    st.sampled_from(["", "\n"]),
)


def test_a_diff_reads_like_any_other() -> None:
    old = "".join(f"{n}\n" for n in range(1, 21))
    new = old.replace("5\n", "five\n", 1).replace("18\n", "18\nnew\n")
    assert unified(old, new, "before", "after") == [
        "--- before", "+++ after",
        "@@ -2,7 +2,7 @@", " 2", " 3", " 4", "-5", "+five", " 6", " 7", " 8",
        "@@ -16,5 +16,6 @@", " 16", " 17", " 18", "+new", " 19", " 20",
    ]  # fmt: skip


def test_a_change_in_the_middle_of_a_key_is_masked_as_in_the_whole() -> None:
    lines = [f"{n}" + "Qx9z" * 15 for n in range(12)]
    old = "\n".join(["-----BEGIN PRIVATE KEY-----", *lines, "-----END PRIVATE KEY-----", "", "after", ""])
    new = old.replace("6Qx", "7Rx").replace("after", "then")
    assert "Qx9z" not in "".join(unified(old, new, "a", "b"))
    assert {"-[masked: secret]", "+[masked: secret]", "-after", "+then"} <= set(unified(old, new, "a", "b"))
    assert "-6Qx9z" in "\n".join(unified(old, new, "a", "b", secrets=True))


def test_equal_texts_have_no_diff() -> None:
    assert unified("a\n", "a\n", "x", "y") == []


def test_changes_close_together_share_a_heading() -> None:
    old = "".join(f"{n}\n" for n in range(1, 21))
    assert (
        sum(line.startswith("@@") for line in unified(old, old.replace("5\n", "V\n", 1).replace("12\n", "X\n"), "", ""))
        == 1
    )
    assert (
        sum(line.startswith("@@") for line in unified(old, old.replace("5\n", "V\n", 1).replace("13\n", "X\n"), "", ""))
        == 2
    )


def test_a_missing_final_newline_and_line_ends_show() -> None:
    assert unified("a", "a\n", "x", "y")[2:] == ["@@ -1 +1 @@", "-a", "\\ No newline at end of file", "+a"]
    assert unified("", "a", "x", "y")[2:] == ["@@ -0,0 +1 @@", "+a", "\\ No newline at end of file"]
    assert unified("a\r\n", "a\n", "x", "y")[2:] == ["@@ -1 +1 @@", "-a\r", "+a"]


@given(text, text)
def test_both_texts_can_be_read_back(old: str, new: str) -> None:
    changes = line_changes(old, new)

    def joined(kind: str) -> str:
        return "".join(change.text + "\n" * change.ended for change in changes if change.kind in ("same", kind))

    assert joined("removed") == old
    assert joined("added") == new
    for number, side in ((2, old), (3, new)):
        numbers = [change[number] for change in changes if change[number] is not None]
        assert numbers == list(range(1, len(numbers) + 1)), side


@given(text, text)
def test_the_diff_is_a_patch(old: str, new: str) -> None:
    """Applied by hand: every hunk stands where its heading says, and turns one text into the other."""
    lines = old.split("\n")[:-1] if old.endswith("\n") else old.split("\n") if old else []
    result: list[str] = []
    at = 0
    for line in unified(old, new, "x", "y")[2:]:
        if line.startswith("@@"):
            start, _, size = line.split()[1][1:].partition(",")
            first = int(start) - (size != "0")
            result += lines[at:first]
            at = first
        elif line.startswith("\\"):
            continue
        elif line.startswith("+"):
            result.append(line[1:])
        else:
            assert lines[at] == line[1:]
            at += 1
            if line.startswith(" "):
                result.append(line[1:])
    result += lines[at:]
    assert result == (new.split("\n")[:-1] if new.endswith("\n") else new.split("\n") if new else [])


@pytest.mark.parametrize(
    ("old", "new"), [("a\nb\nc", "a\nc"), ("a\n", "a"), ("x\r\ny\n" * 20, "x\r\ny\n" * 9 + "z\n"), ("a\n", "a\n\f\n")]
)
def test_patch_applies_it(old: str, new: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(old.encode())
    patch = "\n".join(unified(old, new, "a/file", "b/file")) + "\n"
    try:
        subprocess.run(
            ["git", "apply", "--unsafe-paths", "-"], input=patch.encode(), cwd=tmp_path, check=True, capture_output=True
        )
    except FileNotFoundError:
        pytest.skip("git is not installed")
    assert (tmp_path / "file").read_bytes() == new.encode()


def test_words_that_differ() -> None:
    old, new = "use npm for builds", "use pnpm for all builds"
    before, after = word_spans(old, new)
    assert [old[a:b] for a, b in before] == ["npm"]
    assert [new[a:b].strip() for a, b in after] == ["pnpm", "all"]
    assert word_spans("same", "same") == ([], [])
    assert word_spans("", "new") == ([], [(0, 3)])
    assert word_spans("one two three", "uno dos tres") == ([(0, 13)], [(0, 12)])
    assert word_spans("設定を変更", "設定を更新") != ([(0, 5)], [(0, 5)])


@given(st.text(st.sampled_from("ab c.,\n漢é"), max_size=30), st.text(st.sampled_from("ab c.,\n漢é"), max_size=30))
def test_what_is_outside_the_spans_is_equal(old: str, new: str) -> None:
    before, after = word_spans(old, new)

    def rest(whole: str, spans: list[tuple[int, int]]) -> str:
        return "".join("" if any(a <= n < b for a, b in spans) else letter for n, letter in enumerate(whole))

    # A blank that is only in one of them counts for neither word beside it.
    assert "".join(rest(old, before).split()) == "".join(rest(new, after).split())
    for whole, spans in ((old, before), (new, after)):
        ends = [end for span in spans for end in span]
        assert ends == sorted(set(ends))
        assert not ends or ends[-1] <= len(whole)


def test_a_very_long_line_is_one_span() -> None:
    old, new = "a " * 30_000, "b " * 30_000
    assert word_spans(old, new) == ([(0, len(old))], [(0, len(new))])


@given(st.text("ab \n.é", max_size=40), st.text("ab \n.é", max_size=40))
def test_pieces_of_words_make_up_both_texts(old: str, new: str) -> None:
    pieces = word_edits(old, new)
    assert "".join(text for kind, text in pieces if kind != ADDED) == old
    assert "".join(text for kind, text in pieces if kind != REMOVED) == new
    assert all(text for _, text in pieces)


def test_pieces_of_a_changed_word() -> None:
    assert word_edits("keep this\n", "keep that\n") == [
        (SAME, "keep "), (REMOVED, "this"), (ADDED, "that"), (SAME, "\n"),
    ]  # fmt: skip


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


LINES = st.sampled_from(
    [b"a", b"b", b"c", b"", b"\r", b"x\r", b"\xff\xfe", b"\xef\xbb\xbf# t", b"\x0c", "é\u2028".encode()]
)
TEXTS = st.builds(
    lambda lines, end: b"\n".join(lines) + end, st.lists(LINES, max_size=12), st.sampled_from([b"", b"\n", b"\r\n"])
)


@given(st.binary(max_size=60))
def test_lines_are_the_bytes_again(data: bytes) -> None:
    assert b"".join(byte_lines(data)) == data


@given(TEXTS, TEXTS)
def test_equal_texts_have_no_places_and_different_ones_have_some(before: bytes, after: bytes) -> None:
    assert bool(hunks(before, after)) == (before != after)


@given(TEXTS, TEXTS, st.data())
def test_taking_everything_back_one_by_one_gives_the_old_bytes(
    before: bytes, after: bytes, data: st.DataObject
) -> None:
    steps = 0
    while found := hunks(before, after):
        after = take_back(before, after, data.draw(st.sampled_from(found)))
        steps += 1
        assert steps <= 40
    assert after == before


@given(TEXTS, TEXTS, st.data())
def test_taking_several_back_leaves_the_others(before: bytes, after: bytes, data: st.DataObject) -> None:
    found = hunks(before, after)
    assert take_back(before, after, *found) == before
    out = sorted(data.draw(st.sets(st.sampled_from(found)))) if found else []
    kept = take_back(before, after, *out)
    assert len(hunks(before, kept)) <= len(found) - len(out)


@given(TEXTS, TEXTS, st.data())
def test_taking_one_back_touches_no_byte_outside_it(before: bytes, after: bytes, data: st.DataObject) -> None:
    found = hunks(before, after)
    if not found:
        return
    hunk = data.draw(st.sampled_from(found))
    result = take_back(before, after, hunk)
    new, old = byte_lines(after), byte_lines(before)
    head, tail = b"".join(new[: hunk.after[0]]), b"".join(new[hunk.after[1] :])
    assert result == head + b"".join(old[hunk.before[0] : hunk.before[1]]) + tail
    # No line of the rest was joined to another one.
    assert byte_lines(result)[: hunk.after[0]] == new[: hunk.after[0]]
    assert byte_lines(tail) == new[hunk.after[1] :]
    kept = len(new) - hunk.after[1]
    assert byte_lines(result)[len(byte_lines(result)) - kept :] == new[hunk.after[1] :]


@given(TEXTS, TEXTS)
def test_places_stand_apart_and_rise(before: bytes, after: bytes) -> None:
    found = hunks(before, after)
    for one, two in pairwise(found):
        assert one.before[1] < two.before[0]
        assert one.after[1] < two.after[0]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (b"a\nb\n", b"a\nB\n", b"a\nb\n"),
        (b"a\r\nb\r\n", b"a\r\nb\n", b"a\r\nb\r\n"),
        (b"a\nb", b"a\nb\n", b"a\nb"),
        (b"\xef\xbb\xbfa\nb\n", b"a\nb\n", b"\xef\xbb\xbfa\nb\n"),
        (b"a\n\xff\n", b"a\n\xfe\n", b"a\n\xff\n"),
        (b"", b"new\n", b""),
        (b"gone", b"", b"gone"),
    ],
)
def test_line_ends_and_odd_bytes_come_back(before: bytes, after: bytes, expected: bytes) -> None:
    (hunk,) = hunks(before, after)
    assert take_back(before, after, hunk) == expected


def test_the_places_of_a_usual_edit() -> None:
    before, after = b"one\ntwo\nthree\nfour\nfive\n", b"one\n2\nthree\nfour\nfive\nsix\n"
    first, second = hunks(before, after)
    assert (first.before, first.after) == ((1, 2), (1, 2))
    assert (second.before, second.after) == ((5, 5), (5, 6))
    assert take_back(before, after, first) == b"one\ntwo\nthree\nfour\nfive\nsix\n"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (None, ""),
        (b"", ""),
        ("Zoë\n".encode(), ""),
        (b"\x00\x01", "binary, 2 bytes"),
        (b"Zo\xeb", "not UTF-8 at byte 2, 3 bytes"),
        (b"x" * 101, "too large to show here, 101 bytes"),
    ],
)
def test_what_is_no_text_is_said(data: bytes | None, words: str) -> None:
    assert why_not_text(data, 100) == words


def test_lines_that_came_and_went_are_counted_in_texts() -> None:
    assert line_counts(b"a\nb\n", b"a\nc\nd\n", 20) == (2, 1)
    assert line_counts(b"", b"a\n", 20) == (1, 0)
    assert line_counts(b"", b"\xff", 20) == (0, 0)
    assert changed_lines(b"", b"a\n" * 20, 20) == frozenset()


@given(
    st.lists(st.sampled_from(["a", "b", "c", ""]), max_size=12), st.lists(st.sampled_from(["a", "b", "d"]), max_size=12)
)
def test_lines_that_are_new_are_found(old: list[str], new: list[str]) -> None:
    before, after = "\n".join(old).encode(), "\n".join(new).encode()
    found = changed_lines(before, after, 1_000)
    assert all(1 <= line <= max(len(new), 1) for line in found)
    assert bool(found) == (before != after)
