"""Where a new line of an index goes, how it looks, and which index a memory belongs to."""

import pytest

from memtui.pointers.lines import (
    Style,
    home_of,
    is_entry,
    is_text,
    place_of,
    spans,
    style_of,
    text_of,
    write_entry,
)


def added(data: bytes, line: bytes) -> bytes:
    """The index with a new line where `place_of` puts it."""
    lines = spans(data)
    entries = [number for number, span in enumerate(lines) if is_entry(text_of(data, span))]
    at, lead, tail = place_of(data, lines, entries, style_of(data, lines, entries).end)
    return data[:at] + lead + line + tail + data[at:]


@pytest.mark.parametrize(
    ("data", "wanted"),
    [
        (b"", b"NEW\n"),
        (b"# Index\n\n- [A](a.md) - x\n\nEnd\n", b"# Index\n\n- [A](a.md) - x\nNEW\n\nEnd\n"),
        (b"- [A](a.md)\r\n- [B](b.md)\r\n", b"- [A](a.md)\r\n- [B](b.md)\r\nNEW\r\n"),
        (b"- [A](a.md)", b"- [A](a.md)\nNEW"),
        (b"- [A](a.md)\n  more of it\nText\n", b"- [A](a.md)\n  more of it\nText\nNEW\n"),
        (b"- [A](a.md)\n  more of it\n\nText\n", b"- [A](a.md)\n  more of it\nNEW\n\nText\n"),
    ],
)
def test_a_new_line_goes_behind_the_last_entry_and_what_belongs_to_it(data: bytes, wanted: bytes) -> None:
    assert added(data, b"NEW") == wanted


def test_a_new_line_looks_like_those_before_it() -> None:
    data = b"1. [a.md](a.md): one\n2. [b.md](b.md): two\n"
    style = style_of(data, spans(data), [0, 1])
    assert write_entry(style, "c.md", "c.md", "three", limit=None) == "3. [c.md](c.md): three"
    assert write_entry(style, "d.md", "d.md", "", limit=None, step=1) == "4. [d.md](d.md)"


def test_a_line_is_cut_at_a_word_to_the_limit() -> None:
    line = write_entry(Style(), "c.md", "c.md", "one two three four", limit=22)
    assert line == "- [C](c.md) — one two…"


@pytest.mark.parametrize(
    ("index_file", "path", "present", "wanted"),
    [
        ("MEMORY.md", "a/b.md", (), "MEMORY.md"),
        ("*/MEMORY.md", "a/b.md", (), "a/MEMORY.md"),
        ("*/MEMORY.md", "b.md", (), ""),
        ("**/MEMORY.md", "a/b/c.md", ("a/MEMORY.md",), "a/MEMORY.md"),
        ("**/MEMORY.md", "a/b/c.md", (), "MEMORY.md"),
    ],
)
def test_the_index_of_a_memory_is_the_layouts(
    index_file: str, path: str, present: tuple[str, ...], wanted: str
) -> None:
    assert home_of(index_file, path, present) == wanted


def test_what_is_no_text_is_told() -> None:
    assert is_text("é\r\n\ufeff".encode())
    assert not is_text(b"a\x00b")
    assert not is_text(b"\xff\xfe")
