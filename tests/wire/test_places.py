"""What a person writes, to what the engine knows."""

from pathlib import Path

import pytest

from memtui.engine import Engine
from memtui.engine.model import Address, Root
from memtui.errors import NotFoundError, UsageError
from memtui.wire.places import MemorySelection, place, target, version


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    notes = tmp_path / "notes"
    (notes / "deep").mkdir(parents=True)
    (tmp_path / "link").symlink_to(notes)
    roots = (
        Root("memtui:global", str(tmp_path / "global"), "memtui", "global"),
        Root("memtui:project", str(tmp_path / "project"), "memtui", "project"),
        Root("notes", str(notes), aliases=("mine",)),
    )
    return Engine.open(roots, state_dir=str(tmp_path / "state"))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("notes", MemorySelection(("notes",))),
        ("mine/", MemorySelection(("notes",))),
        ("notes/deep/", MemorySelection(("notes",), "deep")),
        ("mine/deep/a.md", MemorySelection(("notes",), "deep/a.md")),
        ("/memories", MemorySelection(("memtui:global", "memtui:project"))),
        ("/memories/", MemorySelection(("memtui:global", "memtui:project"))),
        ("/memories/project/", MemorySelection(("memtui:project",))),
        ("/memories/project/a.md", MemorySelection(("memtui:project",), "a.md")),
    ],
)
def test_a_place_is_a_root_a_folder_or_a_memory(engine: Engine, text: str, found: MemorySelection) -> None:
    assert place(engine, text) == found


def test_a_path_to_a_root_is_that_root(engine: Engine, tmp_path: Path) -> None:
    assert place(engine, str(tmp_path / "notes")) == MemorySelection(("notes",))
    assert place(engine, str(tmp_path / "link")) == MemorySelection(("notes",))
    assert place(engine, str(tmp_path / "notes" / "deep")) == MemorySelection(("notes",), "deep")


@pytest.mark.parametrize("text", ["other", "/memories/channel", "/etc", "."])
def test_what_is_in_no_root_is_not_found(engine: Engine, text: str) -> None:
    with pytest.raises(NotFoundError):
        place(engine, text)


@pytest.mark.parametrize(
    ("text", "split"),
    [
        ("notes/a.md", ("notes/a.md", None)),
        ("notes/a.md@ABCDEF", ("notes/a.md", "abcdef")),
        ("notes/a@b@c0ffee", ("notes/a@b", "c0ffee")),
        ("notes/a.md@abc", ("notes/a.md@abc", None)),
        ("notes/me@home.md", ("notes/me@home.md", None)),
        ("@abcdef", ("@abcdef", None)),
    ],
)
def test_a_version_is_what_looks_like_one(text: str, split: tuple[str, str | None]) -> None:
    assert version(text) == split


def test_a_target_keeps_the_name_for_a_folder_or_a_root(engine: Engine) -> None:
    old = Address("notes", "deep/a.md")
    assert target(engine, old, "memtui:global") == Address("memtui:global", "a.md")
    assert target(engine, old, "notes/other/") == Address("notes", "other/a.md")
    assert target(engine, old, "mine/b.md") == Address("notes", "b.md")
    with pytest.raises(UsageError):
        target(engine, old, "/memories/")
