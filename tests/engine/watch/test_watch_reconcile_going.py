"""What goes is missing, then deleted; what was renamed, replaced or went with its root is neither."""

import errno
from collections.abc import Callable
from pathlib import Path

import pytest

from memtui.engine.disk import fsio
from memtui.engine.look import root_pass
from memtui.engine.look.detect import AT_WORK_MS, DELETED_MS, EMPTIED_MS, MISSING_MS
from memtui.engine.model import Actor, Changes, Policy
from tests.engine.reading_world import ReadingWorld, joined, kinds, versions

CLI = Actor("cli")


def test_what_goes_is_missing_then_deleted(known: ReadingWorld) -> None:
    (known.folder / "a.md").unlink()
    assert known.look("a.md").changes == ()
    assert "a.md" in known.rows()
    assert not known.rows()["a.md"].missing
    known.hands.advance(MISSING_MS)
    changes = known.look()
    assert changes.touched == {known.at("a.md")}
    assert known.rows()["a.md"].missing
    known.hands.advance(DELETED_MS - MISSING_MS - 1)
    assert known.look() == Changes()
    known.hands.advance(1)
    gone = known.look()
    assert kinds(gone) == {"a.md": "deleted"}
    assert gone.rows == {known.at("a.md"): None}
    assert "a.md" not in known.rows()
    with known.engine() as engine:
        assert [entry.address.path for entry in engine.undo.trash.entries()] == ["a.md"]
        assert [change.kind for change in engine.changes.unseen()] == ["deleted"]


def test_a_file_replaced_slowly_is_changed_not_deleted(known: ReadingWorld) -> None:
    (known.folder / "a.md").unlink()
    known.look("a.md")
    assert known.settle(DELETED_MS - 100).changes == ()
    known.write("a.md", "again")
    assert kinds(known.settle(DELETED_MS * 2)) == {"a.md": "modified"}


def test_a_rename_carries_pins_and_history_along(known: ReadingWorld) -> None:
    with known.engine() as engine:
        engine.pins.set([known.at("a.md")], pinned=True, actor=CLI)
    (known.folder / "a.md").rename(known.folder / "sub" / "moved.md")
    (change,) = known.settle(DELETED_MS * 2).changes
    assert (change.kind, change.address, change.old_address) == ("renamed", known.at("sub/moved.md"), known.at("a.md"))
    assert known.rows()["sub/moved.md"].pinned
    assert versions(known, "sub/moved.md")[0] == ("created", "outside")


def test_a_folder_renamed_renames_what_is_in_it(known: ReadingWorld) -> None:
    (known.folder / "sub").rename(known.folder / "other")
    (change,) = known.settle(DELETED_MS * 2).changes
    assert (change.kind, change.address, change.old_address) == (
        "renamed",
        known.at("other/c.md"),
        known.at("sub/c.md"),
    )


def rename_over(file: Path, data: bytes) -> None:
    other = file.with_name(file.name + ".tmp")
    other.write_bytes(data)
    other.rename(file)


def backup_first(file: Path, data: bytes) -> None:
    backup = file.with_name(file.name + "~")
    file.rename(backup)
    file.write_bytes(data)
    backup.unlink()


def keep_backup(file: Path, data: bytes) -> None:
    file.with_name("#" + file.name + "#").write_bytes(data)
    file.rename(file.with_name(file.name + "~"))
    file.write_bytes(data)
    file.with_name("#" + file.name + "#").unlink()


def truncate(file: Path, data: bytes) -> None:
    file.write_bytes(data)


@pytest.mark.parametrize("save", [rename_over, backup_first, truncate])
def test_however_an_editor_saves_it_is_one_change(known: ReadingWorld, save: Callable[[Path, bytes], None]) -> None:
    save(known.folder / "a.md", b"edited\n")
    assert kinds(known.settle(AT_WORK_MS, 200)) == {"a.md": "modified"}


def test_a_backup_that_stays_is_a_memory_of_its_own(known: ReadingWorld) -> None:
    keep_backup(known.folder / "a.md", b"edited\n")
    assert kinds(known.settle(AT_WORK_MS, 200)) == {"a.md": "modified", "a.md~": "created"}


def test_a_root_that_goes_is_no_thousand_deletions(known: ReadingWorld) -> None:
    known.folder.rename(known.base / "away")
    changes = known.look(everything=True)
    assert changes == Changes(roots=frozenset({"t"}))
    assert known.settle(EMPTIED_MS * 2, 1_000) == Changes()
    (known.base / "away").rename(known.folder)
    changes = known.look(everything=True)
    assert changes == Changes(roots=frozenset({"t"}))
    assert known.settle().changes == ()


def test_an_emptied_root_is_believed_only_after_a_minute(known: ReadingWorld) -> None:
    for path in ("sub/c.md", "a.md", "b.md"):
        (known.folder / path).unlink()
    changes = known.settle(EMPTIED_MS - 1_000, 500)
    assert changes.changes == ()
    assert changes.roots == frozenset({"t"})
    assert known.rows() == {}
    assert kinds(known.settle(2_000)) == {"sub/c.md": "deleted", "a.md": "deleted", "b.md": "deleted"}


def test_another_folder_in_the_root_s_place_deletes_nothing(known: ReadingWorld) -> None:
    known.folder.rename(known.base / "away")
    known.folder.mkdir()
    changes = known.settle(EMPTIED_MS * 2, 1_000)
    assert changes == Changes(roots=frozenset({"t"}))
    known.folder.rmdir()
    (known.base / "away").rename(known.folder)
    assert known.settle(EMPTIED_MS * 2, 1_000).changes == ()


def test_another_folder_found_at_the_start_deletes_nothing(known: ReadingWorld) -> None:
    known.close()
    known.folder.rename(known.base / "away")
    known.folder.mkdir()
    known.hands.advance(EMPTIED_MS * 10)
    known.open()
    assert known.reconcile().changes == ()
    assert known.settle(EMPTIED_MS * 2, 1_000).changes == ()


def test_a_folder_that_cannot_be_listed_now_deletes_nothing(
    known: ReadingWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_beneath = fsio.open_beneath

    def refuse(root: int, parts: tuple[str, ...]) -> int:
        if parts == ("sub",):
            raise OSError(errno.EACCES, "no")
        return open_beneath(root, parts)

    monkeypatch.setattr(fsio, "open_beneath", refuse)
    assert known.settle(AT_WORK_MS, 500).changes == ()
    known.close()
    known.hands.advance(AT_WORK_MS)
    known.open()
    assert known.reconcile().changes == ()
    assert known.settle(AT_WORK_MS, 500).changes == ()


def test_what_a_layout_no_longer_shows_is_not_deleted(known: ReadingWorld) -> None:
    known.close()
    known.root = known.root._replace(policy=Policy(ignore=("a.md",)))
    known.hands.advance(AT_WORK_MS)
    known.open()
    assert known.reconcile().changes == ()
    assert known.settle(AT_WORK_MS, 500).changes == ()
    assert sorted(known.rows()) == ["b.md", "sub/c.md"]


def test_what_a_limit_hides_is_not_deleted(known: ReadingWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known.catalog.cache(known.root).tree, "_max_files", 2)
    assert known.settle(AT_WORK_MS, 500).changes == ()


def test_a_checkout_to_and_fro_deletes_nothing(known: ReadingWorld) -> None:
    (known.folder / ".git").mkdir()
    found = []
    for _ in range(10):
        (known.folder / ".git" / "index.lock").write_text("")
        texts = {path: (known.folder / path).read_bytes() for path in ("a.md", "b.md")}
        for path in texts:
            (known.folder / path).unlink()
        found.append(known.look(everything=True))
        known.hands.advance(DELETED_MS + 1_000)
        found.append(known.look(everything=True))
        for path, data in texts.items():
            known.write(path, data)
        found.append(known.look(everything=True))
        known.hands.advance(500)
        found.append(known.look())
        known.hands.wall = (known.folder / ".git" / "index.lock").stat().st_mtime_ns // 1_000_000
    assert joined(found).changes == ()


def test_a_file_that_is_there_for_a_moment_only_is_not_forgotten(
    known: ReadingWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is gone when the folder is listed, back when that is checked, and gone for good after that."""
    (known.folder / "a.md").unlink()
    with monkeypatch.context() as patch:
        patch.setattr(root_pass, "_is_there", lambda *_: True)
        assert known.look("a.md").changes == ()
    found = []
    for _ in range(10):
        known.hands.advance(1_000)
        found.append(known.look(everything=True))
    assert kinds(joined(found)) == {"a.md": "deleted"}
