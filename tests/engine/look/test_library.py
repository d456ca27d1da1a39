"""Looking into a folder: every name once, in order, marked for what it is, and nothing followed out of the root."""

import os
from pathlib import Path

import pytest

from memtui.engine import Engine
from memtui.engine.changes import folders
from memtui.engine.model import Address, Policy, Root
from memtui.errors import MemtuiError, NotFoundError, RefusedError
from tests.faults.world import FIRST, World


def lines(engine: Engine, path: str = "", *, depth: int = 1) -> list[str]:
    """What a look finds, as text: kind, path, and what is odd about it."""
    found = engine.folders.items(FIRST, path, depth=depth).items
    return [f"{i.kind} {i.path}{'' if i.shown else ' hidden'}{'' if i.filled else ' bare'}" for i in found]


@pytest.fixture
def folder(world: World, tmp_path: Path) -> Path:
    root = world.folder()
    (root / "b" / "deep" / "er").mkdir(parents=True)
    (root / "b" / "deep" / "er" / "x.md").write_bytes(b"x")
    (root / "b" / "a.md").write_bytes(b"12345")
    (root / "bare" / "bare").mkdir(parents=True)
    (root / ".git").mkdir()
    (root / ".git" / "config").write_bytes(b"")
    (root / "b.md").write_bytes(b"")
    (root / ".hidden.md").write_bytes(b"")
    (root / ".memtui-0123456789abcdef").write_bytes(b"ours")
    (root / "away").symlink_to(tmp_path)
    (root / "link.md").symlink_to("b.md")
    os.mkfifo(root / "pipe")
    return root


def test_everything_is_listed_in_order_and_marked(folder: Path, engine: Engine) -> None:
    assert lines(engine) == [
        "folder .git hidden bare",
        "memory .hidden.md hidden",
        "link away",
        "memory b.md",
        "folder b",
        "folder bare bare",
        "link link.md",
        "other pipe",
    ]
    assert lines(engine, depth=2)[3:8] == [
        "memory b.md",
        "folder b",
        "memory b/a.md",
        "folder b/deep",
        "folder bare bare",
    ]


def test_a_folder_further_in_is_listed_on_its_own(folder: Path, engine: Engine) -> None:
    assert lines(engine, "b", depth=9) == ["memory a.md", "folder deep", "folder deep/er", "memory deep/er/x.md"]


def test_sizes_are_there_when_asked_for(folder: Path, engine: Engine) -> None:
    assert [item.bytes for item in engine.folders.items(FIRST, "b").items] == [0, 0]
    assert engine.folders.items(FIRST, "b", sizes=True).items[0].bytes == 5


def test_what_is_left_out_is_counted(folder: Path, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders, "MAX_FILES", 3)
    view = engine.folders.items(FIRST)
    assert (len(view.items), view.left_out) == (3, 5)


@pytest.mark.parametrize(
    ("path", "error", "code"),
    [
        ("none", NotFoundError, "E_NOT_FOUND"),
        ("b.md", NotFoundError, "E_NOT_FOUND"),
        ("away", RefusedError, "E_SYMLINK"),
        ("../x", RefusedError, "E_NAME"),
    ],
)
def test_what_is_no_folder_is_refused(
    path: str, error: type[MemtuiError], code: str, folder: Path, engine: Engine
) -> None:
    with pytest.raises(error) as caught:
        engine.folders.items(FIRST, path)
    assert caught.value.code == code


def test_looking_records_nothing(folder: Path, engine: Engine, world: World) -> None:
    engine.folders.items(FIRST, depth=3)
    assert not world.state.exists()


def test_a_virtual_path_is_what_resolve_takes(tmp_path: Path) -> None:
    names = {
        "memtui:global": "global",
        "memtui:project": "project",
        "memtui:project:host": "project",
        "notes": "global",
    }
    roots = [Root(name, str(tmp_path / name), "memtui", scope) for name, scope in names.items()]
    with Engine.open(roots, state_dir=str(tmp_path / "state")) as engine:
        found = [engine.roots.virtual_path(Address(name, "a/b.md")) for name in names]
        assert found == ["/memories/global/a/b.md", "/memories/project/a/b.md", None, None]
        assert [engine.roots.resolve(path) for path in found if path] == [
            Address("memtui:global", "a/b.md"),
            Address("memtui:project", "a/b.md"),
        ]


def test_a_layout_decides_what_is_shown(world: World) -> None:
    policy = Policy(include=("CLAUDE.md", "rules/"), ignore=("*.tmp",))
    for name in ("CLAUDE.md", "README.md", "rules/a.md", "rules/b.tmp", "src/x.py"):
        (world.folder() / name).parent.mkdir(exist_ok=True)
        (world.folder() / name).write_bytes(b"")
    root = Root(FIRST, str(world.folder()), policy=policy)
    with Engine.open([root], state_dir=str(world.state)) as engine:
        found = [item.path for item in engine.folders.items(FIRST, depth=3).items if item.shown]
        assert found == ["CLAUDE.md", "rules", "rules/a.md"]
