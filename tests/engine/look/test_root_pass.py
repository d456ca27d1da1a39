"""An edit that somebody else's version took back is noticed, and one that still stands is not."""

import time

from hypothesis import given
from hypothesis import strategies as st

from memtui.engine.look.root_pass import lost_lines

texts = st.lists(st.sampled_from(["a", "b", "c", "", "  ", "a\r"]), max_size=8).map("\n".join)


def test_a_write_from_a_stale_base_takes_the_edit_back() -> None:
    base = "# Tools\nuse npm\nkeep short\n"
    edited = "# Tools\nuse pnpm\nkeep short\nnew line\n"
    taken = lost_lines(base, edited, base + "agent's own line\n")
    assert taken.lost == ("use pnpm", "new line")
    assert taken.returned == ("use npm",)
    assert taken


def test_a_write_on_top_of_the_edit_does_not() -> None:
    base, edited = "a\nb\n", "a\nB\nc\n"
    for later in (edited, edited + "more\n", "c\nB\na\n", "x\na\nB\n\nc\n", edited.replace("\n", "\r\n"), "a\nB\nc"):
        assert not lost_lines(base, edited, later), later


def test_changing_the_edited_line_again_counts() -> None:
    taken = lost_lines("count: 1\n", "count: 2\n", "count: 3\n")
    assert (taken.lost, taken.returned) == (("count: 2",), ())


def test_a_removed_line_that_is_back_counts() -> None:
    taken = lost_lines("a\nb\n", "a\n", "a\nb\nc\n")
    assert (taken.lost, taken.returned) == ((), ("b",))


def test_an_edit_of_one_of_several_equal_lines_counts_once() -> None:
    assert lost_lines("x\nx\n", "x\nx\nx\n", "x\nx\n").lost == ("x",)
    assert not lost_lines("x\nx\n", "x\n", "x\ny\n")
    assert lost_lines("x\nx\n", "x\n", "x\nx\n").returned == ("x",)


def test_deleting_the_whole_text_takes_the_edit_back() -> None:
    assert lost_lines("", "a\nb\n", "").lost == ("a", "b")


@given(texts, texts)
def test_going_back_to_the_start_undoes_every_change(before: str, after: str) -> None:
    taken = lost_lines(before, after, before)
    meant = {line.rstrip("\r") for line in after.split("\n")} ^ {line.rstrip("\r") for line in before.split("\n")}
    assert bool(taken) or not any(line.strip() for line in meant)
    assert not lost_lines(before, after, after)
    assert not lost_lines(before, before, after)


@given(texts, texts, texts)
def test_what_is_named_was_there(before: str, after: str, later: str) -> None:
    taken = lost_lines(before, after, later)
    assert set(taken.lost) <= {line.rstrip("\r") for line in after.split("\n")}
    assert set(taken.returned) <= {line.rstrip("\r") for line in later.split("\n")}


def test_it_is_linear() -> None:
    def took(lines: int) -> float:
        texts = ["\n".join(f"{side}{n % 900}" for n in range(lines)) for side in "abc"]
        start = time.thread_time()
        lost_lines(*texts)
        return time.thread_time() - start

    assert took(80_000) < 24 * max(min(took(10_000) for _ in range(3)), 0.001)
