"""What view prints: numbers, names, and what is left out."""

import pytest

from memtui.engine.look.folder_listing import FolderItem, FolderItems
from memtui.memory_tool import scoped
from memtui.memory_tool.call import Refusal
from memtui.memory_tool.scoped import NOT_TEXT, names, numbered


@pytest.mark.parametrize(
    ("data", "offset", "limit", "text"),
    [
        (b"", 1, None, ""),
        (b"", 1, 5, ""),
        (b"one", 1, None, "1\tone"),
        (b"one\ntwo\n", 1, None, "1\tone\n2\ttwo\n3\t"),
        (b"one\r\ntwo\r\n", 2, 1, "2\ttwo\r"),
        (b"a\x0cb\xe2\x80\xa8c\rd", 1, None, "1\ta\x0cb\u2028c\rd"),
        (b"one\ntwo\n", 3, 99, "3\t"),
        (b"\xef\xbb\xbfone", 1, None, "1\t\ufeffone"),
        (b"caf\xe9", 1, None, f"1\tcaf\ufffd\n{NOT_TEXT}"),
    ],
)
def test_lines_are_numbered(data: bytes, offset: int, limit: int | None, text: str) -> None:
    assert numbered(data, offset, limit) == text


@pytest.mark.parametrize(("data", "offset", "lines"), [(b"", 2, 1), (b"a\n", 3, 2), (b"a", 10**50, 1)])
def test_a_window_beyond_the_end_is_refused(data: bytes, offset: int, lines: int) -> None:
    with pytest.raises(Refusal) as caught:
        numbered(data, offset, None)
    assert caught.value.text == f"offset {offset} is beyond the end of the file ({lines} lines)"


def item(path: str, kind: str = "memory", *, shown: bool = True, filled: bool = True) -> FolderItem:
    """A name."""
    return FolderItem(path, kind, 0, shown, filled)


def test_only_what_can_be_opened_is_listed() -> None:
    found = FolderItems(
        (
            item("a.md"),
            item(".hidden", shown=False),
            item("bare", "folder", filled=False),
            item("bare/.x", shown=False),
            item("f", "folder"),
            item("f/b.md"),
            item("f/link", "link"),
            item("new\nline.md"),
            item("odd\\", "folder"),
            item("odd\\/c.md"),
            item("pipe", "other"),
        ),
        0,
    )
    assert names(found) == ["- a.md", "- f/", "  - b.md", "(2 with a name that cannot be used here)"]
    assert names(found, indent=1)[:2] == ["  - a.md", "  - f/"]


def test_what_is_further_in_is_left_out_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scoped, "NAMES", 3)
    found = FolderItems((item("a", "folder"), item("a/b.md"), item("a/c.md"), item("z.md")), 2)
    assert names(found) == ["- a/", "  - b.md", "- z.md", "(3 more not shown: view a directory further in to list it)"]
