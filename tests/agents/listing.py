"""What a user sees of a machine: the files that the engine lists under each root that discovery gives."""

import os
from pathlib import Path

from memtui.agents.session_start import LoadedFile
from memtui.engine import Engine
from memtui.engine.model import Root
from tests.agents.machine import Machine

Tree = dict[str, tuple[int, int, int, bytes]]


def listed(roots: dict[str, Root], state: Path) -> dict[str, list[str]]:
    """Open agents' roots, list them and close them again; every file of theirs stays as it was, its times included.

    Args:
        roots: by id, as `Machine.roots` gives them.
        state: a folder for what the engine keeps.

    Returns:
        The paths listed under each root that is not memtui's own, in the order of the roots.
    """
    theirs = [root for root in roots.values() if root.agent != "memtui"]
    state.mkdir()
    before = {root.path: hashed(Path(root.path), state) for root in theirs}
    with Engine.open(theirs, state_dir=str(state)) as engine:
        assert [root.id for root in engine.roots.all()] == [root.id for root in theirs], "a root was dropped"
        found: dict[str, list[str]] = {root.id: [] for root in theirs}
        for memory in engine.rows.list().items:
            found[memory.address.root].append(memory.address.path)
            if memory.sha256 is not None:
                engine.read(memory.address)
    assert {root.path: hashed(Path(root.path), state) for root in theirs} == before, "something was touched"
    return found


def hashed(folder: Path, without: Path | None = None) -> Tree:
    """Everything below a folder, itself included: mode, size, time of change in nanoseconds, and content or target.

    Args:
        folder: may be missing.
        without: a folder that is left out.
    """
    found: Tree = {}
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if Path(place, name) != without]
        for path in (Path(place), *(Path(place, name) for name in names)):
            state = path.lstat()
            content = (
                os.fsencode(os.readlink(path)) if path.is_symlink() else b"" if path.is_dir() else path.read_bytes()
            )
            found[str(path)] = (state.st_mode, state.st_size, state.st_mtime_ns, content)
    return found


def marked(machine: Machine, found: list[LoadedFile]) -> list[str]:
    """Path from the machine's folder, and the mark."""
    return [os.path.relpath(one.path, machine.folder) + (f": {one.mark}" if one.mark else "") for one in found]
