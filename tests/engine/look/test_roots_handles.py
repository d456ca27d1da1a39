"""Open folders stay few, however many roots there are, and none is closed under a reader."""

import os
import resource
from pathlib import Path

import pytest

from memtui.engine import Engine
from memtui.engine.disk.handles import RootHandle
from memtui.engine.look.roots import MOST, Handles
from memtui.engine.model import Root


@pytest.fixture
def folders(tmp_path: Path) -> list[Root]:
    made = []
    for number in range(MOST + 40):
        folder = tmp_path / f"root-{number}"
        folder.mkdir()
        (folder / "a.md").write_text(f"number {number}\n")
        made.append(Root(f"r{number}", str(folder)))
    return made


def test_the_one_used_longest_ago_gives_way(folders: list[Root]) -> None:
    handles = Handles(2)
    first, second = (handles.put(root.id, RootHandle(root)) for root in folders[:2])
    assert handles.get("r0") is first
    handles.put("r2", RootHandle(folders[2]))
    assert handles.get("r1") is None, "r0 was used after it"
    assert handles.get("r0") is first
    os.fstat(second.fd)  # still open, because this test reads through it
    number = second.fd
    del second
    with pytest.raises(OSError):
        os.fstat(number)
    handles.close()
    with pytest.raises(OSError):
        os.fstat(first.fd)


def test_more_roots_than_open_files_are_listed_and_followed(folders: list[Root], tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    here = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 60
    with Engine.open(folders, state_dir=str(tmp_path / "state")) as engine:
        resource.setrlimit(resource.RLIMIT_NOFILE, (here + MOST + 25, hard))
        try:
            for _ in range(2):
                listing = engine.rows.list()
                assert len(listing.items) == len(folders)
                assert not any(status.problems for status in listing.roots)
                engine.watch.reconcile()
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert len(engine.roots.all()) == len(folders)
