"""Changes of one entry on a real engine: guarded, one undo step, and never over what an agent wrote meanwhile."""

from collections.abc import Callable
from pathlib import Path

import pytest

from memtui.engine import Engine
from memtui.engine.model import Actor, Address, Conflict, Policy, Root, Saved, Unchanged
from memtui.errors import RefusedError
from memtui.features.entries import guarded
from memtui.features.entries.entry_names import EntryGoneError, Name, exact

ME = Actor("cli")
TEXT = b"alpha\n\nbeta\n\ngamma\n\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "notes"
    path.mkdir()
    (path / "a.txt").write_bytes(TEXT)
    (path / "b.md").write_bytes(TEXT)
    return path


@pytest.fixture
def engine(folder: Path, tmp_path: Path) -> Engine:
    policy = Policy(entries=(("*.txt", "goose"), ("*.new", "something-new")))
    return Engine.open([Root("notes", str(folder), policy=policy)], state_dir=str(tmp_path / "state"))


AT = Address("notes", "a.txt")


def test_the_layout_says_what_holds_entries(engine: Engine, folder: Path) -> None:
    root = engine.roots.find("notes")
    assert guarded.format_of(root, "x.txt") == "goose"
    assert guarded.format_of(root, "x.md") is None
    assert guarded.format_of(root, "x.new") is None
    with pytest.raises(RefusedError, match="is one memory, not a file of entries") as caught:
        guarded.read_file(engine, Address("notes", "b.md"))
    assert caught.value.code == "E_ENTRY"


def test_each_change_is_one_step_of_undo(engine: Engine, folder: Path) -> None:
    path = folder / "a.txt"
    file, snapshot = guarded.read_file(engine, AT)
    assert snapshot.bytes == TEXT
    assert isinstance(guarded.replace(engine, AT, exact(file.entries[1]), b"BETA", actor=ME), Saved)
    assert path.read_bytes() == b"alpha\n\nBETA\n\ngamma\n\n"
    assert isinstance(guarded.add(engine, AT, b"delta", actor=ME), Saved)
    assert isinstance(guarded.remove(engine, AT, Name(1, "alpha"), actor=ME), Saved)
    assert path.read_bytes() == b"BETA\n\ngamma\n\ndelta\n\n"
    assert isinstance(guarded.replace(engine, AT, Name(1), b"BETA", actor=ME), Unchanged)
    for _ in range(3):
        engine.undo.undo(actor=ME)
    assert path.read_bytes() == TEXT


def test_what_an_agent_wrote_meanwhile_stays(engine: Engine, folder: Path) -> None:
    file, _ = guarded.read_file(engine, AT)
    (folder / "a.txt").write_bytes(b"# new\nfirst\n\n" + TEXT + b"last\n\n")
    guarded.replace(engine, AT, exact(file.entries[2]), b"GAMMA", actor=ME)
    assert (folder / "a.txt").read_bytes() == b"# new\nfirst\n\nalpha\n\nbeta\n\nGAMMA\n\nlast\n\n"


def test_an_entry_that_an_agent_changed_is_left_alone(engine: Engine, folder: Path) -> None:
    file, _ = guarded.read_file(engine, AT)
    theirs = TEXT.replace(b"beta", b"beta, and more")
    (folder / "a.txt").write_bytes(theirs)
    with pytest.raises(EntryGoneError):
        guarded.remove(engine, AT, exact(file.entries[1]), actor=ME)
    with pytest.raises(EntryGoneError):
        guarded.replace(engine, AT, exact(file.entries[1]), b"x", actor=ME)
    assert (folder / "a.txt").read_bytes() == theirs


class Busy:
    """Somebody who writes between each reading of an engine and the write that follows."""

    def __init__(self, engine: Engine, path: Path, times: int, monkeypatch: pytest.MonkeyPatch) -> None:
        self.path, self.times, self.real = path, times, engine.memories.edit
        monkeypatch.setattr(engine.memories, "edit", self.edit)

    def edit(
        self, address: Address, change: Callable[[bytes], str | bytes], *, actor: Actor
    ) -> Saved | Unchanged | Conflict:
        """Edit, and let the other one write as long as there are times left."""

        def slow(data: bytes) -> str | bytes:
            made = change(data)
            if self.times:
                self.times -= 1
                self.path.write_bytes(data + b"theirs\n\n")
            return made

        return self.real(address, slow, actor=actor)


def test_a_write_in_between_makes_it_look_again(engine: Engine, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Busy(engine, folder / "a.txt", 2, monkeypatch)
    result = guarded.replace(engine, AT, Name(2, "beta"), b"BETA", actor=ME)
    assert isinstance(result, Saved)
    assert (folder / "a.txt").read_bytes() == b"alpha\n\nBETA\n\ngamma\n\ntheirs\n\ntheirs\n\n"


def test_who_writes_without_end_leaves_a_conflict(
    engine: Engine, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    busy = Busy(engine, folder / "a.txt", 1_000, monkeypatch)
    assert isinstance(guarded.remove(engine, AT, Name(1, "alpha"), actor=ME), Conflict)
    assert (folder / "a.txt").read_bytes() == TEXT + b"theirs\n\n" * guarded.TRIES
    assert busy.times == 1_000 - guarded.TRIES
