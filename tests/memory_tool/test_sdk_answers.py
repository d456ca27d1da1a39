"""The SDK's words and its rules for edits, to the letter."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.memory_tool import sdk
from memtui.memory_tool.sdk import CallFailed


@pytest.mark.parametrize(
    ("count", "shown"),
    [
        (0, "0B"),
        (1, "1B"),
        (1023, "1023B"),
        (1024, "1K"),
        (1025, "1.0K"),
        (1536, "1.5K"),
        (1048575, "1024.0K"),
        (1048576, "1M"),
        (5 << 30, "5G"),
        (3 << 40, "3072G"),
    ],
)
def test_sizes(count: int, shown: str) -> None:
    assert sdk.size(count) == shown


def test_a_folder() -> None:
    assert sdk.listing("/memories", 4096, [("a/", 4096), ("a/b.md", 12)]) == (
        "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items:\n"
        "4K\t/memories\n4K\t/memories/a/\n12B\t/memories/a/b.md"
    )
    assert sdk.listing("/memories/", 0, [("b.md", 0)]).endswith("\n0B\t/memories/\n0B\t/memories//b.md")


MANY = "No replacement was performed. Multiple occurrences of old_str"
HEAD = "Here's the content of p with line numbers:\n"


@pytest.mark.parametrize(
    ("window", "shown"),
    [
        (None, "     1\tone\n     2\ttwo\r\n     3\t"),
        ((2, 2), "     2\ttwo\r"),
        ((0, 1), "     1\tone"),
        ((2, -1), "     2\ttwo\r\n     3\t"),
        ((2, 99), "     2\ttwo\r\n     3\t"),
        ((9, 12), ""),
        ((3, 2), ""),
    ],
)
def test_a_file(window: tuple[int, int] | None, shown: str) -> None:
    assert sdk.content("p", "one\ntwo\r\n", window) == HEAD + shown


@given(st.integers(1, 30), st.integers(-3, 12_000), st.integers(-1, 12_100))
def test_numbers_are_right_however_far_down(lines: int, first: int, last: int) -> None:
    text = "\n".join(["x"] * (lines * 400))
    shown = sdk.content("p", text, (first, last)).split("\n")[1:]
    numbers = range(1, lines * 400 + 1)[max(1, first) - 1 : None if last == -1 else last]
    assert shown == ([f"{number:6}\tx" for number in numbers] or [""])


def test_more_lines_than_are_ever_shown() -> None:
    assert sdk.content("p", "\n" * 999_998, (1, 1)) == HEAD + "     1\t"
    with pytest.raises(CallFailed, match=r"^File p exceeds maximum line limit of 999,999 lines\.$"):
        sdk.content("p", "\n" * 999_999, None)


def test_a_replacement_shows_two_lines_around_it() -> None:
    text, answer = sdk.str_replace("p", "1\n2\n3\n4\n5\n6\n7", "4", "four\nvier")
    assert text == "1\n2\n3\nfour\nvier\n5\n6\n7"
    assert answer == (
        "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n"
        "     2\t2\n     3\t3\n     4\tfour\n     5\tvier\n     6\t5"
    )


@pytest.mark.parametrize("new", ["$&", "$1", r"\1", r"\g<0>", "%s", "{0}"])
def test_every_character_of_a_new_text_stands_for_itself(new: str) -> None:
    assert sdk.str_replace("p", "a b", "a", new)[0] == f"{new} b"


@pytest.mark.parametrize(
    ("text", "old", "words"),
    [
        ("a", "b", "No replacement was performed, old_str `b` did not appear verbatim in p."),
        ("x\ny\nx\nx", "x", f"{MANY} `x` in lines: 1, 3, 4. Please ensure it is unique"),
        ("aaaa", "aa", f"{MANY} `aa` in lines: 1, 1, 1. Please ensure it is unique"),
        ("a\nb", "", f"{MANY} `` in lines: 1, 1, 2, 2. Please ensure it is unique"),
    ],
)
def test_what_is_not_replaced(text: str, old: str, words: str) -> None:
    with pytest.raises(CallFailed) as caught:
        sdk.str_replace("p", text, old, "new")
    assert str(caught.value) == words


@pytest.mark.parametrize(
    ("text", "line", "new", "result"),
    [
        ("", 0, "a", "a\n"),
        ("one\ntwo", 1, "a", "one\na\ntwo\n"),
        ("one\ntwo\n", 2, "a\n\n", "one\ntwo\na\n"),
        ("one\r\ntwo\r\n", 1, "a", "one\r\na\ntwo\r\n"),
        ("a\u2028b\x0cc\n", 1, "d", "a\u2028b\x0cc\nd\n"),
        ("one\n", 0, "", "\none\n"),
    ],
)
def test_lines_are_inserted(text: str, line: int, new: str, result: str) -> None:
    assert sdk.insert(text, line, new) == result


@pytest.mark.parametrize("line", [-1, 3])
def test_a_line_that_is_not_there(line: int) -> None:
    with pytest.raises(CallFailed) as caught:
        sdk.insert("one\ntwo\n", line, "x")
    assert str(caught.value) == f"Invalid `insert_line` parameter: {line}. It should be within the range [0, 2]."
