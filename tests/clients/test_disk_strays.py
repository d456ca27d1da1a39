"""Killed at any step: the file is whole, what is left beside it is removed, and taking memtui back still works."""

import os
import random
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memtui.agents.agent import ClientFile, Start
from memtui.clients import disk
from memtui.clients.disk import own_folder, strays_in, sweep
from memtui.clients.install import carry_out, plan_install, plan_uninstall
from memtui.clients.start import client_named
from memtui.config.surroundings import Surroundings
from memtui.engine.disk import fsio
from tests.clients.leftovers import stray
from tests.examples import ALL
from tests.faults import children

OLD = Start("/old/memtui", ("mcp",), "/old/memtui context --format hook --client x")
NEW = Start("/new/memtui", ("mcp", "--access", "plan"), "/new/memtui context --format hook --client x")
STEPS = ("open", "write", "fsync", "fchmod", "mkdir", "replace", "link", "rename", "unlink", "rmdir")
STRIDE = 1 if ALL in os.environ else 3
"""Each so manieth step, others in each run."""
TEXTS = {"json": '{\n  "theme": "dark"\n}\n', "toml": "# mine\ntheme = 'dark'\n"}


def targets(place: Surroundings, start: Start) -> tuple[ClientFile, ...]:
    return client_named("codex").files(place, "user", start)


def install(place: Surroundings, state: str, start: Start) -> None:
    for step in [plan_install(target) for target in targets(place, start)]:
        carry_out(step, state, installing=True)


def uninstall(place: Surroundings, state: str) -> None:
    for step in [plan_uninstall(target, state) for target in reversed(targets(place, NEW))]:
        carry_out(step, state, installing=False)


def killed_at(number: int, work: Callable[[], Any]) -> bool:
    """Do something in a child that dies at the n-th call that matters; whether it came so far."""

    def child() -> None:
        count = 0

        def counted(call: Callable[..., Any]) -> Callable[..., Any]:
            def made(*args: Any, **named: Any) -> Any:
                nonlocal count
                count += 1
                if count == number:
                    os.kill(os.getpid(), signal.SIGKILL)
                return call(*args, **named)

            return made

        for name in STEPS:
            setattr(os, name, counted(getattr(os, name)))
        fsio._rename_flags = counted(fsio._rename_flags)
        work()

    ended = children.run(child)
    assert ended.trace == ""
    return ended.killed


def held(place: Surroundings) -> dict[str, bytes | None]:
    paths = [target.path for target in targets(place, NEW)]
    return {path: Path(path).read_bytes() if os.path.exists(path) else None for path in paths}


def lay_out(
    place: Surroundings, state: Path, *, existed: bool, installed: bool
) -> tuple[dict[str, bytes | None], dict[str, bytes | None]]:
    """Begin anew: with files of the user's or none, and an older memtui in them or not; give both contents."""
    folder = Path(targets(place, NEW)[0].path).parent
    shutil.rmtree(state, ignore_errors=True)
    shutil.rmtree(folder, ignore_errors=True)
    if existed:
        folder.mkdir()
        for target in targets(place, NEW):
            Path(target.path).write_text(TEXTS[target.format])
    original = held(place)
    if installed:
        install(place, str(state), OLD)
    return original, held(place)


def left(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.name.startswith(".memtui-") or path.suffix == ".tmp"]


@pytest.mark.hypothesis  # at every step with the properties
@pytest.mark.parametrize(
    ("what", "existed", "native"),
    [
        ("install", True, True),
        ("install", False, False),
        ("update", True, True),
        ("uninstall", False, True),
    ],
)
def test_killed_at_any_step(place: Surroundings, tmp_path: Path, what: str, existed: bool, native: bool) -> None:
    state, kills, strewn = tmp_path / "state", 0, 0
    restore: Callable[[], None] = (lambda: None) if native else fsio.without_native_calls()
    works: dict[str, Callable[[], None]] = {
        "install": lambda: install(place, str(state), OLD),
        "update": lambda: install(place, str(state), NEW),
        "uninstall": lambda: uninstall(place, str(state)),
    }
    folder = Path(targets(place, NEW)[0].path).parent
    try:
        lay_out(place, state, existed=existed, installed=what != "install")
        works[what]()
        finished = held(place)
        for number in range(random.randint(1, STRIDE), 400, STRIDE):
            original, earlier = lay_out(place, state, existed=existed, installed=what != "install")
            if not killed_at(number, works[what]):
                break
            kills += 1
            now = held(place)
            assert all(data in (earlier[path], finished[path]) for path, data in now.items())
            strewn += len(left(tmp_path))
            folders = [str(folder), own_folder(str(state))]
            assert sorted(strays_in(folders)) == sorted(map(str, left(tmp_path)))
            sweep(folders, str(state))
            assert left(tmp_path) == []
            assert held(place) == now
            if kills % 2:
                works[what]()
            uninstall(place, str(state))
            assert held(place) == original
            assert folder.exists() == existed
    finally:
        restore()
    assert kills > 20 // STRIDE
    assert strewn > 3 // STRIDE
    print(f"{what}: {kills} kills, {strewn} strays, all removed")


def test_a_text_that_is_nowhere_else_is_kept(tmp_path: Path) -> None:
    state = str(tmp_path / "state")
    disk.keep(os.path.join(own_folder(state), "a.backup"), b"known")
    for data in (b"known", b"", b"only here"):
        path = stray(tmp_path / "agent", data)
        assert sweep([str(path.parent)], state) == [str(path)]
        assert not path.exists()
    kept = sorted(Path(own_folder(state)).iterdir())
    assert sorted(path.read_bytes() for path in kept) == [b"known", b"only here"]
    assert all(path.suffix == ".backup" and path.stat().st_mode & 0o777 == 0o600 for path in kept)


def test_a_second_name_that_a_kill_left_is_no_obstacle(tmp_path: Path) -> None:
    file = tmp_path / "agent" / "settings.json"
    os.link(stray(tmp_path / "agent", b"{}"), file)
    assert disk.read(str(file)).data == b"{}"
