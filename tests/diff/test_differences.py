"""Differences as data: complete, in order, and a patch that other tools can apply."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.diff.differences import ADDED, REMOVED, SAME, line_changes, unified, word_edits, word_spans

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
