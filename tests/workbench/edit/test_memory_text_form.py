"""Bytes to editable text and back: nothing changes by opening and saving, and what would change is read-only."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.widgets.text_area import Document

from memtui.safe_text import has_hidden
from memtui.workbench.edit.memory_text import (
    EDIT_BYTES,
    LINE_BYTES,
    SHOWN_CHARACTERS,
    clean_paste,
    read_form,
    same_text,
    to_bytes,
)

LINE = st.text(st.characters(exclude_categories=["Cs", "Cc"]) | st.sampled_from("\t é漢😀"), max_size=30)


@given(st.lists(LINE, max_size=12), st.sampled_from(["\n", "\r\n", "\r"]), st.booleans(), st.booleans())
def test_one_kind_of_line_end_comes_back_byte_for_byte(lines: list[str], newline: str, final: bool, bom: bool) -> None:
    data = (("\ufeff" if bom else "") + newline.join(lines) + (newline if final else "")).encode()
    form = read_form(data)
    if form.editable:
        assert to_bytes(form.text, form) == data
        assert Document(form.text).text == form.text
        assert "\r" not in form.text


@given(st.binary(max_size=400))
def test_any_bytes_either_come_back_or_are_read_only(data: bytes) -> None:
    form = read_form(data)
    assert not form.editable or to_bytes(form.text, form) == data
    assert not has_hidden(form.text)


@given(st.text(st.sampled_from("ab\r\n\x0b\x0c\x1c\x85\u2028\x00\u202e\ufeff")))
def test_nothing_that_splits_or_hides_reaches_the_widget(text: str) -> None:
    form = read_form(text.encode())
    assert not has_hidden(form.text)
    assert Document(form.text).text == form.text


@given(
    st.lists(LINE, min_size=1, max_size=8),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.integers(0, 200),
    st.text("xyz", max_size=3),
)
def test_an_edit_changes_only_what_was_typed(lines: list[str], newline: str, at: int, typed: str) -> None:
    data = newline.join(lines).encode()
    form = read_form(data)
    if not form.editable:
        return
    at = min(at, len(form.text))
    edited = to_bytes(form.text[:at] + typed + form.text[at:], form)
    front = to_bytes(form.text[:at], form)
    assert edited == front + typed.encode() + data[len(front) :]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"a\nb\r\nc", "mixed line ends: 1 CRLF, 1 LF"),
        (b"a\rb\n", "mixed line ends"),
        (b"a\r\n\rb", "mixed line ends"),
        (b"one\n\x0ctwo\n", "a form feed in line 2"),
        ("a\u2028b".encode(), "a line separator (U+2028) in line 1"),
        ("a\u0085b".encode(), "a next-line mark (U+0085)"),
        (b"a\x1cb", "a file separator (U+001C)"),
        (b"a\x1db", "a group separator"),
        (b"a\x1eb", "a record separator"),
        (b"a\x0bb", "a vertical tab"),
        (b"a\x00b", "a NUL character in line 1"),
        (b"\xff\xfea\x00", "not UTF-8 at byte 0"),
        ("naïve".encode("latin-1"), "not UTF-8 at byte 2"),
        (b"red \x1b[31m", "hidden or control characters in line 1"),
        ("a\nb\u202ec\n".encode(), "hidden or control characters in line 2"),
        ("\ufeff\ufeffa".encode(), "hidden or control characters in line 1"),
        (b"x" * (LINE_BYTES + 1), "line 1 is longer than 10,240 bytes"),
        (b"y\n" * 20_000, "20,001 lines, more than the 20,000 that can be edited here"),
        (b"y\n" * (EDIT_BYTES // 2 + 1), "over the 262,144 that can be edited here"),
    ],
)
def test_read_only_with_the_reason(data: bytes, reason: str) -> None:
    form = read_form(data)
    assert not form.editable
    assert reason in form.reason


@pytest.mark.parametrize(
    "data",
    [b"", b"\n", b"\n\n\n", b"\r\n", b"\r", b"\xef\xbb\xbf", b"\xef\xbb\xbfa\r\n", b"a", "👩‍👩‍👧 ✔️\n".encode(), b"\tx"],
)
def test_ordinary_content_is_editable(data: bytes) -> None:
    form = read_form(data)
    assert form.editable, form.reason
    assert to_bytes(form.text, form) == data


def test_the_root_may_allow_less() -> None:
    assert read_form(b"x" * 11, limit=10).reason == "11 bytes, over the 10 that can be edited here"
    assert read_form(b"x" * 10, limit=10).editable


def test_a_huge_line_is_drawn_folded_and_shortened() -> None:
    form = read_form(b"x" * 1_048_576)
    assert max(map(len, form.text.split("\n"))) <= 1000
    assert len(form.text) < SHOWN_CHARACTERS + 1000
    assert form.text.endswith("(and 917,504 more bytes)")


def test_a_paste_is_cleaned_and_capped() -> None:
    assert clean_paste("a\r\nb\rc\u2028d\x1b[31m\tx\u202e", room=100) == ("a\nb\nc\nd[31m\tx", 2)
    text, removed = clean_paste("é" * 600_000, room=1001)
    assert text == "é" * 500
    assert removed == 600_000 - 500
    assert clean_paste("x", room=-5) == ("", 1)
    developer = "👩\u200d💻 and ❤\ufe0f"
    assert clean_paste(f"{developer}\u200d", room=100) == (developer, 1)


def test_line_ends_and_mark_alone_are_the_same_text() -> None:
    assert same_text(b"\xef\xbb\xbfa\r\nb\r", b"a\nb\n")
    assert not same_text(b"a\n", b"a")


def test_half_a_million_lines_are_drawn_in_part() -> None:
    form = read_form(b"\n" * 500_000)
    assert form.text.count("\n") <= 20_000
    assert form.text.endswith("(and 480,001 more bytes)")
