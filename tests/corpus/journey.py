"""What each folder of an archive goes through, and what is counted on the way."""

import os
import tarfile
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from memtui.engine import Engine
from memtui.engine.model import Actor, Address, FieldEdit, Memory, Policy, Root, Saved, Unchanged
from memtui.errors import MemtuiError

ME = Actor("tui")
LIMIT = 262_144
"""The largest memory memtui writes outside its own roots, in bytes."""

NOT_DESCRIBED = ("E_FRONTMATTER", "E_FRONTMATTER_UNSAFE", "E_FRONTMATTER_TOO_BIG", "E_TEXT", "E_TOO_BIG")


class Fact(NamedTuple):
    """Everything about a file that a journey must not change."""

    data: bytes
    mode: int


def unpack(archive: Path, into: Path) -> list[Path]:
    """Unpack an archive of folders; returns the folders.

    Raises:
        AssertionError: there is nothing in it.
    """
    with tarfile.open(archive) as bundle:
        bundle.extractall(into, filter="data")
    folders = sorted(path for path in into.iterdir() if path.is_dir())
    if len(folders) == 1 and not any(path.is_file() for path in folders[0].iterdir()):
        folders = sorted(path for path in folders[0].iterdir() if path.is_dir())
    assert folders, f"{archive} holds no folders"
    return folders


def facts(folder: Path) -> dict[str, Fact]:
    """Every file below a folder, hidden ones included, by path."""
    found = {}
    for parent, _, names in os.walk(folder):
        for name in names:
            path = Path(parent, name)
            if path.is_file() and not path.is_symlink():
                found[str(path.relative_to(folder))] = Fact(path.read_bytes(), path.stat().st_mode)
    return found


def travel(folder: Path, state: Path) -> Counter[str]:
    """Take every listed memory of a folder through its journey.

    Every folder that holds files is a root of its own, hidden ones included, so that no file is left out.

    Returns:
        How many files were `listed`, `edited`, `described`, and shown without being editable (`read-only`).

    Raises:
        AssertionError: something is not as it was.
    """
    before = facts(folder)
    counted: Counter[str] = Counter()
    roots = sorted({str(Path(name).parent) for name in before})
    with Engine.open([_root(folder, name) for name in roots], state_dir=str(state)) as engine:
        listing = engine.rows.list()
        assert not listing.truncated
        for memory in listing.items:
            counted["listed"] += 1
            _one(engine, memory, counted)
        assert facts(folder) == before, f"{folder.name}: something was touched"
    assert facts(folder) == before, f"{folder.name}: something was touched at the end"
    assert counted["listed"] == len(before), f"{folder.name}: {counted['listed']} of {len(before)} files are listed"
    return counted


def _root(folder: Path, name: str) -> Root:
    files = [path.name for path in (folder / name).iterdir() if path.is_file()]
    root_id = "r" + "".join(c if c.isalnum() else f"_{ord(c):x}_" for c in name)
    return Root(root_id, str(folder / name), policy=Policy(include=tuple(files)))


def _one(engine: Engine, memory: Memory, counted: Counter[str]) -> None:
    address = memory.address
    path = Path(engine.roots.file_path(address))
    start = path.read_bytes()
    try:
        snapshot = engine.read(address)
    except MemtuiError:
        snapshot = None
    if snapshot is None:
        assert memory.problems, f"{address} is refused, and its row does not say why"
        counted["read-only"] += 1
        return
    assert snapshot.bytes == start
    assert memory.sha256 == snapshot.sha256
    if len(start) >= LIMIT:
        counted["read-only"] += 1
        return
    result = engine.save(address, _changed(start), expected_sha256=snapshot.sha256, actor=ME)
    assert isinstance(result, Saved), f"{address}: {result}"
    assert path.read_bytes() == _changed(start)
    _undo(engine, address, start)
    counted["edited"] += 1
    _describe(engine, address, start, counted)


def _describe(engine: Engine, address: Address, start: bytes, counted: Counter[str]) -> None:
    """Set the description where that is safe, and take it back."""
    sha = engine.read(address).sha256
    try:
        edit = FieldEdit(("description",), "set by a test: # yes")
        result = engine.memories.edit_fields(address, (edit,), expected_sha256=sha, actor=ME)
    except MemtuiError as error:
        if error.code not in NOT_DESCRIBED:
            raise
        return
    if isinstance(result, Unchanged):
        return
    assert isinstance(result, Saved), f"{address}: {result}"
    _undo(engine, address, start)
    counted["described"] += 1


def _undo(engine: Engine, address: Address, start: bytes) -> None:
    done = engine.undo.undo(actor=ME)
    assert [outcome.ok for outcome in done.outcomes] == [True], f"{address}: {done}"
    assert Path(engine.roots.file_path(address)).read_bytes() == start, f"{address} is not as it was after undo"


def _changed(data: bytes) -> bytes:
    """The same bytes with one of them another letter; one letter where there was none."""
    if not data:
        return b"x"
    middle = len(data) // 2
    return data[:middle] + (b"x" if data[middle : middle + 1] != b"x" else b"y") + data[middle + 1 :]
