"""Files of agents' configurations on the disk: read and replaced whole, and leftovers of killed processes."""

import errno
import os
import random
import shutil
import signal
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memtui.agents.agent import ClientFile, Start
from memtui.clients import disk
from memtui.clients.disk import FileContent, own_folder, strays_in, sweep
from memtui.clients.entries import client_named
from memtui.clients.install import carry_out, plan_install, plan_uninstall
from memtui.config.surroundings import Surroundings
from memtui.engine.disk import fsio
from memtui.errors import ConflictError, MemtuiError, RefusedError, StorageError
from tests.clients.leftovers import dead, stray
from tests.examples import ALL
from tests.faults import children


def refusal(path: Path, inside: Path | None = None) -> str:
    with pytest.raises(RefusedError) as error:
        disk.read(str(path), None if inside is None else str(inside))
    assert error.value.hint
    return error.value.code


def test_reading(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    assert disk.read(str(file)).data is None
    assert disk.read(str(tmp_path / "no" / "a.json")).data is None
    file.write_bytes(b"\xef\xbb\xbf{}\r\n")
    file.chmod(0o640)
    found = disk.read(str(file))
    assert (found.data, found.mode, found.text) == (b"\xef\xbb\xbf{}\r\n", 0o640, "\ufeff{}\r\n")


def test_what_must_not_be_replaced_is_not_read(tmp_path: Path) -> None:
    real = tmp_path / "real"
    real.write_text("{}")
    (tmp_path / "link").symlink_to(real)
    (tmp_path / "dangling").symlink_to("nowhere")
    (tmp_path / "folder").mkdir()
    (tmp_path / "latin").write_bytes(b"caf\xe9")
    os.mkfifo(tmp_path / "pipe")
    assert refusal(tmp_path / "link") == "E_SYMLINK"
    assert refusal(tmp_path / "dangling") == "E_SYMLINK"
    assert refusal(tmp_path / "folder") == "E_NOT_REGULAR"
    assert refusal(tmp_path / "pipe") == "E_NOT_REGULAR"
    assert refusal(tmp_path / "latin") == "E_TEXT"
    os.link(real, tmp_path / "second")
    assert refusal(real) == "E_HARDLINK"
    with (tmp_path / "large").open("wb") as file:
        file.truncate(disk.LIMIT + 1)
    assert refusal(tmp_path / "large") == "E_TOO_BIG"


def test_a_project_cannot_lead_out_of_itself(tmp_path: Path) -> None:
    project, outside = tmp_path / "app", tmp_path / "outside"
    project.mkdir()
    outside.mkdir()
    (outside / "mcp.json").write_text("{}")
    (project / ".vscode").symlink_to(outside)
    assert refusal(project / ".vscode" / "mcp.json", project) == "E_SYMLINK"
    before = disk.read(str(project / ".mcp.json"), str(project))
    disk.replace(str(project / ".mcp.json"), before, b"{}", private=False, inside=str(project))
    (tmp_path / "way").symlink_to(project)
    assert disk.read(str(tmp_path / "way" / ".mcp.json"), str(tmp_path / "way")).data == b"{}"


def test_replacing_keeps_the_mode_and_leaves_nothing_beside(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_bytes(b"old")
    file.chmod(0o604)
    disk.replace(str(file), disk.read(str(file)), b"new", private=True)
    assert (file.read_bytes(), stat.S_IMODE(file.stat().st_mode)) == (b"new", 0o604)
    assert sorted(os.listdir(tmp_path)) == ["a", "home", "work"]


@pytest.mark.parametrize(("private", "mode"), [(True, 0o600), (False, 0o644)])
def test_a_new_file(tmp_path: Path, private: bool, mode: int) -> None:
    file = tmp_path / "deep" / "er" / "a"
    assert disk.missing_folders(str(file)) == [str(tmp_path / "deep" / "er"), str(tmp_path / "deep")]
    disk.replace(str(file), FileContent(None), b"new", private=private)
    assert (file.read_bytes(), stat.S_IMODE(file.stat().st_mode)) == (b"new", mode)
    disk.replace(str(file), disk.read(str(file)), None, private=private)
    assert not file.exists()
    disk.remove_empty([str(tmp_path / "deep" / "er"), str(tmp_path / "deep")])
    assert not (tmp_path / "deep").exists()


@pytest.mark.parametrize("new", [b"mine", None])
@pytest.mark.parametrize(("old", "theirs"), [(b"old", b"theirs"), (b"old", b"old"), (b"old", None), (None, b"theirs")])
def test_a_file_that_changed_meanwhile_is_left_alone(
    tmp_path: Path, new: bytes | None, old: bytes | None, theirs: bytes | None
) -> None:
    file = tmp_path / "a"
    if old is not None:
        file.write_bytes(old)
    before = disk.read(str(file))
    file.unlink(missing_ok=True)
    if theirs is not None:
        (tmp_path / "b").write_bytes(theirs)
        (tmp_path / "b").rename(file)
    with pytest.raises(ConflictError, match="changed meanwhile"):
        disk.replace(str(file), before, new, private=True)
    assert (file.read_bytes() if file.exists() else None) == theirs
    assert not list(tmp_path.glob(".memtui*"))


def test_a_failed_write_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a"
    file.write_bytes(b"old")
    before = disk.read(str(file))

    def full(handle: int, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        with pytest.raises(StorageError) as error:
            disk.replace(str(file), before, b"new", private=True)
    assert error.value.code == "E_DISK_FULL"
    assert file.read_bytes() == b"old"
    assert not list(tmp_path.glob(".memtui*"))


def test_what_memtui_keeps_is_private(tmp_path: Path) -> None:
    path = tmp_path / "state" / "clients" / "x.before"
    disk.keep(str(path), b"secret")
    disk.keep(str(path), b"secret 2")
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"secret 2", 0o600)
    assert os.listdir(path.parent) == ["x.before"]
    disk.forget(str(path))
    disk.forget(str(path))
    assert not path.exists()


def test_what_the_system_refuses_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(MemtuiError) as error:
        disk.replace(str(tmp_path / "file" / "a"), FileContent(None), b"x", private=True)
    assert error.value.code in ("E_IO", "E_CONFLICT")
    assert str(tmp_path / "file") in error.value.message


@pytest.mark.parametrize("theirs", ["replaced", "edited"])
@pytest.mark.parametrize(("new", "native"), [(b"mine", True), (None, True), (None, False)])
def test_a_text_that_comes_at_the_very_moment_is_not_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, new: bytes | None, theirs: str, native: bool
) -> None:
    file = tmp_path / "agent" / "a"
    file.parent.mkdir()
    file.write_bytes(b"old")
    before = disk.read(str(file))
    real = disk.check_unchanged

    def checked(path: str, content: FileContent, inside: str | None) -> None:
        real(path, content, inside)
        if os.listdir(file.parent) != ["a"] or new is None:
            monkeypatch.undo()
            if theirs == "edited":
                file.write_bytes(b"theirs")
            else:
                (file.parent / "new").write_bytes(b"theirs")
                (file.parent / "new").replace(file)

    monkeypatch.setattr(disk, "check_unchanged", checked)
    restore = None if native else fsio.without_native_calls()
    try:
        with pytest.raises(ConflictError, match="changed meanwhile"):
            disk.replace(str(file), before, new, private=True)
        assert (os.listdir(file.parent), file.read_bytes()) == (["a"], b"theirs")
    finally:
        if restore is not None:
            restore()


@pytest.mark.parametrize("new", [b"mine", None])
def test_somebody_who_has_the_file_open_to_write_is_waited_for(tmp_path: Path, new: bytes | None) -> None:
    file = tmp_path / "agent" / "a"
    file.parent.mkdir()
    file.write_bytes(b"old")
    before = disk.read(str(file))
    with file.open("r+b", buffering=0) as writer:
        handle = os.open(file, os.O_RDONLY)
        known = fsio.has_writer(handle)
        os.close(handle)
        if known is None:
            pytest.skip("this file system knows no leases")
        with pytest.raises(ConflictError):
            disk.replace(str(file), before, new, private=True)
        writer.write(b"new")
    assert (os.listdir(file.parent), file.read_bytes()) == (["a"], b"new")
    disk.replace(str(file), disk.read(str(file)), new, private=True)


def test_a_third_text_is_set_aside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "agent" / "a"
    file.parent.mkdir()
    file.write_bytes(b"old")
    before = disk.read(str(file))
    real, count = fsio.exchange, 0

    def exchanged(parent: int, name: str, other: str) -> None:
        nonlocal count
        count += 1
        (file.parent / "new").write_bytes(b"theirs %d" % count)
        (file.parent / "new").replace(file)
        real(parent, name, other)

    monkeypatch.setattr(fsio, "exchange", exchanged)
    with pytest.raises(ConflictError):
        disk.replace(str(file), before, b"mine", private=True)
    assert sorted(path.read_bytes() for path in file.parent.iterdir()) == [b"theirs 1", b"theirs 2"]
    assert sorted(path.name[:6] for path in file.parent.iterdir()) == ["a", "a.kept"]


def test_what_must_not_be_written_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a"
    file.write_bytes(b"old")
    disk.check_writable(str(file), disk.read(str(file)))
    file.chmod(0o440)
    with pytest.raises(RefusedError, match="is read-only"):
        disk.check_writable(str(file), disk.read(str(file)))
    disk.check_writable(str(tmp_path / "gone" / "a"), FileContent(None))
    monkeypatch.setattr(fsio, "may_write", lambda path: path != str(tmp_path))
    with pytest.raises(RefusedError, match="No file can be made"):
        disk.check_writable(str(tmp_path / "gone" / "a"), FileContent(None))


def test_the_owner_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a"
    file.write_bytes(b"old")
    before = disk.read(str(file))
    asked: list[tuple[int, int]] = []
    monkeypatch.setattr(os, "fchown", lambda handle, user, group: asked.append((user, group)))
    disk.replace(str(file), before._replace(owner=(1234, 5678)), b"new", private=True)
    assert asked == [(1234, 5678)]
    disk.replace(str(file), disk.read(str(file)), b"newer", private=True)
    assert asked == [(1234, 5678)]


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


def test_a_name_of_our_own(tmp_path: Path) -> None:
    paths = {disk.temporary_in(str(tmp_path)) for _ in range(50)}
    assert len(paths) == 50
    for path in paths:
        Path(path.replace(f"-{os.getpid()}-", f"-{dead()}-" if path == min(paths) else "-4194999-")).touch()
    assert len(disk.strays(str(tmp_path))) == 50


def test_only_files_of_our_own_pattern_are_strays(tmp_path: Path) -> None:
    folder = tmp_path / "agent"
    mine = stray(folder)
    pid = dead()
    for name in (
        ".memtui-1.tmp",
        f".memtui-{pid}-0123456789ab.tmp~",
        f".memtui-{pid}-0123456789AB.tmp",
        f".memtui-{pid}-0123456789a.tmp",
        f".memtui-{pid}-0123456789abc.tmp",
        f".memtui-0{pid}-0123456789ab.tmp",
        f".memtui--{pid}-0123456789ab.tmp",
        f".memtui-x{pid}-0123456789ab.tmp",
        ".memtui-٣-0123456789ab.tmp",
        f"memtui-{pid}-0123456789ab.tmp",
        f"notes.memtui-{pid}-0123456789ab.tmp",
        ".memtui",
    ):
        (folder / name).write_text("theirs")
    (folder / f".memtui-{pid}-00000000000a.tmp").mkdir()
    (folder / f".memtui-{pid}-00000000000b.tmp").symlink_to(mine)
    os.mkfifo(folder / f".memtui-{pid}-00000000000c.tmp")
    assert disk.strays(str(tmp_path / "gone")) == disk.strays(str(mine)) == []
    assert disk.strays(str(folder)) == [str(mine)]


def test_a_process_that_still_writes_is_left_alone(tmp_path: Path) -> None:
    writing = stray(tmp_path / "agent", pid=os.getpid())
    assert disk.strays(str(writing.parent)) == []
    other = stray(tmp_path / "agent", pid=1)
    assert disk.strays(str(writing.parent)) == []
    for path in (writing, other):
        os.utime(path, (1, 1))  # older than the process that has the number now
    if os.path.exists("/proc/self/stat"):
        assert sorted(disk.strays(str(writing.parent))) == sorted(map(str, (writing, other)))


def test_files_of_other_users_are_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = stray(tmp_path / "agent")
    monkeypatch.setattr(os, "geteuid", lambda: path.stat().st_uid + 1)
    assert disk.strays(str(path.parent)) == []


def test_a_folder_that_is_a_link_to_itself_holds_nothing(tmp_path: Path) -> None:
    (tmp_path / "agent").symlink_to("agent")
    assert disk.strays(str(tmp_path / "agent")) == []
    assert disk.strays(str(tmp_path / "agent" / "below")) == []


def test_a_disk_that_fails_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(folder: str) -> list[str]:
        raise OSError(errno.EIO, "broken", folder)

    monkeypatch.setattr(os, "listdir", fail)
    with pytest.raises(StorageError) as caught:
        disk.strays(str(tmp_path))
    assert str(tmp_path) in caught.value.message
