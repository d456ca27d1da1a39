"""Installing in a client and taking it out again, and the survey of all clients."""

import json
import os
import shutil
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.agents.agent import LEVELS, PROJECT, USER, Client, ClientFile, Start
from memtui.agents.table import CLIENTS
from memtui.clients import disk, formats
from memtui.clients.entries import client_named, clients, wanted
from memtui.clients.install import (
    ABSENT,
    INSTALLED,
    OUTDATED,
    TAKEN,
    UNREADABLE,
    ClientState,
    FileChange,
    carry_out,
    look,
    look_at,
    plan_install,
    plan_uninstall,
    server_runs_here,
    survey,
)
from memtui.config.settings import Settings
from memtui.config.surroundings import Surroundings
from memtui.engine.disk import fsio
from memtui.errors import ConflictError, RefusedError, StorageError, UsageError
from tests.clients.files import json_texts, toml_texts
from tests.clients.leftovers import stray

OLD = Start("/old/memtui", ("mcp",), "/old/memtui context --format hook --client x")
NEW = Start(
    "/new/memtui",
    ("mcp", "--access", "plan"),
    "/new/memtui context --format hook --client x",
    (("XDG_DATA_HOME", "/d"),),
)
EACH = pytest.mark.parametrize("client", clients(), ids=lambda client: client.name)


@contextmanager
def world() -> Iterator[tuple[Surroundings, str]]:
    """A home and a project for one example of many, and memtui's state folder."""
    folder = tempfile.mkdtemp(dir=os.getcwd())
    try:
        project = os.path.join(folder, "app")
        os.mkdir(project)
        home = os.path.join(folder, "home")
        place = Surroundings(home, project, project, None, "w", os.path.join(folder, "data"))
        yield place, os.path.join(folder, "state")
    finally:
        shutil.rmtree(folder)


def install(target: ClientFile, state: str) -> FileChange:
    step = plan_install(target)
    carry_out(step, state, installing=True)
    return step


def uninstall(target: ClientFile, state: str) -> FileChange:
    step = plan_uninstall(target, state)
    carry_out(step, state, installing=False)
    return step


def lay_out(data: st.DataObject, targets: tuple[ClientFile, ...]) -> dict[str, bytes | None]:
    """Give some of the files a content; the others are missing."""
    before: dict[str, bytes | None] = {}
    for target in targets:
        before[target.path] = None
        if data.draw(st.booleans()):
            text = data.draw(json_texts() if target.format == "json" else toml_texts())
            os.makedirs(os.path.dirname(target.path), exist_ok=True)
            Path(target.path).write_bytes(text.encode())
            before[target.path] = text.encode()
    return before


def tree(place: Surroundings) -> list[str]:
    folders = [os.path.dirname(place.project)]
    return sorted(
        os.path.join(here, name)
        for folder in folders
        for here, inner, names in os.walk(folder)
        if "state" not in here.split(os.sep)
        for name in (*inner, *names)
        if name != "state"
    )


def content(path: str) -> bytes | None:
    return Path(path).read_bytes() if os.path.exists(path) else None


@EACH
@given(data=st.data(), level=st.sampled_from(LEVELS))
def test_what_was_there_comes_back_to_the_byte(client: Client, data: st.DataObject, level: str) -> None:
    with world() as (place, state):
        before = lay_out(data, client.files(place, level, OLD))
        names = tree(place)
        for target in client.files(place, level, OLD):
            try:
                install(target, state)
            except UsageError:
                assert content(target.path) == before[target.path]
                continue
            assert install(target, state).action == "none"
            assert {state for _, state in look(target).states} == {"current"}
        for target in client.files(place, level, NEW):
            if {state for _, state in look_or_nothing(target)} == {"other"}:
                install(target, state)
                assert {state for _, state in look(target).states} == {"current"}
        for target in reversed(client.files(place, level, NEW)):
            if look_or_nothing(target):
                uninstall(target, state)
            assert content(target.path) == before[target.path]
        assert tree(place) == names


def look_or_nothing(target: ClientFile) -> tuple[tuple[str, str], ...]:
    try:
        return look(target).states
    except UsageError:
        return ()


def meaning(target: ClientFile) -> dict[str, object]:
    text = (content(target.path) or b"").decode()
    value = formats.json_get(text, ()) if target.format == "json" else formats.toml_parse(text)
    assert isinstance(value, dict | None)
    return dict(value or {})


@EACH
@given(data=st.data(), level=st.sampled_from(LEVELS), forgotten=st.booleans())
def test_after_another_edit_only_ours_goes(client: Client, data: st.DataObject, level: str, forgotten: bool) -> None:
    with world() as (place, state):
        for target in client.files(place, level, OLD):
            lay_out(data, (target,))
            try:
                before = meaning(target)
                install(target, state)
            except UsageError:
                continue
            edited = Path(target.path)
            text = edited.read_bytes().decode()
            if target.format == "json":
                edited.write_bytes(formats.json_put(text, ("theirs",), ["later"]).encode())
            else:
                edited.write_bytes((text + "\n# later\n[theirs]\nx = 1\n").encode())
            if forgotten:
                shutil.rmtree(state)
            uninstall(target, state)
            after = meaning(target)
            assert after.pop("theirs")
            assert b"later" in edited.read_bytes()
            assert b"/old/memtui" not in edited.read_bytes()
            if not forgotten:
                assert after == before
            assert uninstall(target, state).action == "none"


@EACH
def test_a_new_installation_from_nothing(client: Client, place: Surroundings, tmp_path: Path) -> None:
    state = str(tmp_path / "state")
    targets = client.files(place, "user", NEW)
    for target in targets:
        step = plan_install(target)
        assert step.action == "create"
        assert not os.path.exists(target.path)
        carry_out(step, state, installing=True)
        if target.format == "json":
            json.loads(Path(target.path).read_text())
        else:
            tomllib.loads(Path(target.path).read_text())
        assert os.stat(target.path).st_mode & 0o777 == 0o600
    for target in reversed(targets):
        assert uninstall(target, state).action == "delete"
    assert not any(os.path.exists(target.path) for target in targets)
    assert all(name == "lock" or name.endswith(".backup") for name in os.listdir(os.path.join(state, "clients")))


def test_another_edit_before_a_second_installation(place: Surroundings, tmp_path: Path) -> None:
    state = str(tmp_path / "state")
    old, new = (clients()[2].files(place, "user", start)[0] for start in (OLD, NEW))
    install(old, state)
    edited = Path(old.path)
    edited.write_text(formats.json_put(edited.read_text(), ("theme",), "dark"))
    install(new, state)
    assert uninstall(new, state).action == "edit"
    assert json.loads(edited.read_text()) == {"theme": "dark"}


def test_the_backup_is_what_was_there(place: Surroundings, tmp_path: Path) -> None:
    state = str(tmp_path / "state")
    target = clients()[2].files(place, "user", NEW)[0]
    os.makedirs(os.path.dirname(target.path))
    Path(target.path).write_text('{"a": 1}')
    backup = carry_out(plan_install(target), state, installing=True)
    assert backup is not None
    assert Path(backup).read_text() == '{"a": 1}'
    assert backup.startswith(state)
    assert carry_out(plan_install(target), state, installing=True) is None


def test_a_file_that_changes_after_the_plan_is_left_alone(place: Surroundings, tmp_path: Path) -> None:
    target = clients()[1].files(place, "user", NEW)[0]
    os.makedirs(os.path.dirname(target.path))
    Path(target.path).write_text("a = 1\n")
    step = plan_install(target)
    Path(target.path).write_text("a = 2\n")
    with pytest.raises(ConflictError):
        carry_out(step, str(tmp_path / "state"), installing=True)
    assert Path(target.path).read_text() == "a = 2\n"
    install(target, str(tmp_path / "state"))
    uninstall(target, str(tmp_path / "state"))
    assert Path(target.path).read_text() == "a = 2\n"


def test_lines_the_user_wrote_below_our_table_stay_as_comments(place: Surroundings, tmp_path: Path) -> None:
    target = clients()[1].files(place, "user", NEW)[0]
    os.makedirs(os.path.dirname(target.path))
    path = Path(target.path)
    path.write_text('# mine\nmodel = "a"\n')
    install(target, str(tmp_path / "state"))
    with path.open("a") as file:
        file.write('sandbox_mode = "read-only"\nnotes = [\n  "x=y",\n]\n')
    uninstall(target, str(tmp_path / "state"))
    text = path.read_text()
    assert tomllib.loads(text) == {"model": "a"}
    assert '# [mcp_servers.memtui.env]\n# sandbox_mode = "read-only"\n# notes = [\n#   "x=y",\n# ]\n' in text
    assert "command" not in text


def test_a_link_to_a_file_of_the_user_is_written_through(place: Surroundings, tmp_path: Path) -> None:
    target = clients()[1].files(place, "user", NEW)[0]
    os.makedirs(os.path.dirname(target.path))
    real = tmp_path / "dotfiles.toml"
    real.write_text("a = 1\n")
    os.symlink(real, target.path)
    install(target, str(tmp_path / "state"))
    assert "mcp_servers.memtui" in real.read_text()
    uninstall(target, str(tmp_path / "state"))
    assert (real.read_text(), os.path.islink(target.path)) == ("a = 1\n", True)


def test_a_link_of_a_project_is_left_alone(place: Surroundings, tmp_path: Path) -> None:
    target = clients()[1].files(place, "project", NEW)[0]
    os.makedirs(os.path.dirname(target.path))
    (tmp_path / "dotfiles.toml").write_text("a = 1\n")
    os.symlink(tmp_path / "dotfiles.toml", target.path)
    with pytest.raises(RefusedError) as error:
        plan_install(target)
    assert error.value.code == "E_SYMLINK"
    assert str(tmp_path / "dotfiles.toml") in error.value.hint


@pytest.mark.parametrize("record", [b"", b"null", b"[]", b"{}", b'{"path": "/else"}', b"\xff", b'{"path": 1'])
def test_a_broken_record_is_no_record(place: Surroundings, tmp_path: Path, record: bytes) -> None:
    state = tmp_path / "state"
    target = clients()[2].files(place, "user", NEW)[0]
    os.makedirs(os.path.dirname(target.path))
    Path(target.path).write_text('{\n  "a": 1\n}\n')
    install(target, str(state))
    for path in (state / "clients").glob("*.json"):
        path.write_bytes(record)
    if record == b"\xff":
        with pytest.raises(RefusedError):
            plan_uninstall(target, str(state))
        return
    uninstall(target, str(state))
    assert json.loads(Path(target.path).read_text())["a"] == 1
    assert "memtui" not in Path(target.path).read_text()


def test_a_file_that_cannot_be_read_as_its_format_says(place: Surroundings) -> None:
    target = clients()[2].files(place, "user", NEW)[0]
    os.makedirs(os.path.dirname(target.path))
    Path(target.path).write_text('{\n  "a": oops\n}')
    for plan in (plan_install, look):
        with pytest.raises(UsageError) as error:
            plan(target)
        assert target.path in error.value.message
        assert "line 2" in error.value.message


def test_a_file_with_comments_is_left_alone_and_what_to_add_is_said(place: Surroundings, tmp_path: Path) -> None:
    target = clients()[2].files(place, "user", NEW)[0]
    os.makedirs(os.path.dirname(target.path))
    path = Path(target.path)
    path.write_text('{\n  "theme": "dark", // mine\n}\n')
    with pytest.raises(UsageError) as error:
        plan_install(target)
    assert error.value.code == "E_CONFIG"
    assert target.path in error.value.message
    assert path.read_text() == '{\n  "theme": "dark", // mine\n}\n'
    added = error.value.hint.partition("{")[2]
    path.write_text('{\n  "theme": "dark", // mine\n' + added)
    assert {state for _, state in look(target).states} == {"current"}
    assert plan_install(target).action == "none"
    with pytest.raises(UsageError, match="comments") as error:
        plan_uninstall(target, str(tmp_path / "state"))
    assert "mcpServers.memtui" in error.value.hint or "hooks.SessionStart.0" in error.value.hint


def test_an_interrupted_update_is_taken_back_to_the_byte(
    place: Surroundings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = str(tmp_path / "state")
    old, new = (clients()[2].files(place, "user", start)[0] for start in (OLD, NEW))
    before = '{ "mcpServers":{"memtui" :{"command":"memtui",  "args":["mcp"], "trust" : true} } }'
    os.makedirs(os.path.dirname(old.path))
    Path(old.path).write_text(before)
    install(old, state)

    def stopped(*args: object, **named: object) -> None:
        raise StorageError("stopped")

    with monkeypatch.context() as patch:
        patch.setattr(disk, "replace", stopped)
        with pytest.raises(StorageError, match="stopped"):
            install(new, state)
    assert uninstall(new, state).stays
    assert Path(old.path).read_text() == before


def test_a_change_is_made_by_one_process_at_a_time(
    place: Surroundings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = str(tmp_path / "state")
    target = clients()[2].files(place, "user", NEW)[0]
    free: list[bool] = []
    real = disk.replace

    def watched(*args: Any, **named: Any) -> None:
        other = fsio.open_lock(os.path.join(state, "clients", "lock"))
        free.append(fsio.lock_now(other))
        os.close(other)
        real(*args, **named)

    monkeypatch.setattr(disk, "replace", watched)
    install(target, state)
    uninstall(target, state)
    assert free == [False, False]
    handle = fsio.open_lock(os.path.join(state, "clients", "lock"))
    assert fsio.lock_now(handle)
    os.close(handle)


def install_in(
    name: str,
    level: str,
    place: Surroundings,
    settings: Settings,
    access: str | None,
    *,
    hook: bool = True,
    context: bool | None = None,
) -> None:
    for target in wanted(client_named(name), place, level, settings, access=access, context=context):
        kept = tuple(entry for entry in target.entries if hook or entry.what == "server")
        if kept:
            carry_out(plan_install(target._replace(entries=kept)), settings.state_dir, installing=True)


def user(name: str, place: Surroundings, settings: Settings) -> ClientState:
    return look_at(client_named(name), USER, place, settings)


def test_nobody_is_here(place: Surroundings, settings: Settings) -> None:
    found = survey(place, settings)
    assert [each.client.name for each in found] == list(CLIENTS)
    assert {(each.level, each.present, each.state, each.command) for each in found} == {(USER, False, ABSENT, None)}


@pytest.mark.parametrize("name", CLIENTS)
@pytest.mark.parametrize("access", [None, "plan", "ro"])
def test_what_was_installed_is_found(place: Surroundings, settings: Settings, name: str, access: str | None) -> None:
    install_in(name, USER, place, settings, access)
    found = user(name, place, settings)
    assert (found.state, found.access, found.command) == (INSTALLED, access, sys.executable)
    assert found.present
    assert found.hook
    assert found.runs


@pytest.mark.parametrize("name", CLIENTS)
def test_the_context_comes_from_one_side(place: Surroundings, settings: Settings, name: str) -> None:
    install_in(name, USER, place, settings, None)
    found = user(name, place, settings)
    assert (found.state, found.hook, found.context) == (INSTALLED, True, False)
    install_in(name, USER, place, settings, None, hook=False, context=True)
    found = user(name, place, settings)
    assert (found.state, found.hook, found.context) == (OUTDATED, True, True)


@pytest.mark.parametrize("context", [True, False])
@pytest.mark.parametrize("name", CLIENTS)
def test_without_a_hook_the_user_chooses(place: Surroundings, settings: Settings, name: str, *, context: bool) -> None:
    install_in(name, USER, place, settings, "ro", hook=False, context=context)
    found = user(name, place, settings)
    assert (found.state, found.hook, found.context, found.access) == (INSTALLED, False, context, "ro")


def test_a_project_is_told_only_where_something_is(place: Surroundings, settings: Settings) -> None:
    install_in("codex", PROJECT, place, settings, None)
    assert [(each.client.name, each.state) for each in survey(place, settings) if each.level == PROJECT] == [
        ("codex", INSTALLED)
    ]


@pytest.mark.parametrize(
    ("entry", "state", "command", "access", "runs"),
    [
        ({"command": "/gone/memtui", "args": ["mcp"]}, OUTDATED, "/gone/memtui", None, False),
        (
            {"command": sys.executable, "args": ["-m", "memtui", "mcp", "--access", "ro"]},
            OUTDATED,
            sys.executable,
            "ro",
            True,
        ),
        ({"command": "memtui", "args": ["mcp", "--access=ro"]}, TAKEN, None, None, False),
        ({"command": "sh", "args": "mcp"}, TAKEN, None, None, False),
        ({"url": "http://localhost"}, TAKEN, None, None, False),
        ("memtui", TAKEN, None, None, False),
        (None, ABSENT, None, None, False),
    ],
)
def test_entries_of_other_hands(
    place: Surroundings,
    settings: Settings,
    home: Path,
    entry: object,
    state: str,
    command: str | None,
    access: str | None,
    runs: bool,
) -> None:
    (home / ".qwen").mkdir()
    (home / ".qwen" / "settings.json").write_text(json.dumps({"mcpServers": {"memtui": entry}}))
    found = user("qwen", place, settings)
    assert (found.state, found.command, found.access, found.runs) == (state, command, access, runs)
    assert not found.hook
    assert (found.problem is not None) == (state == TAKEN)


def test_one_broken_file_hides_nobody(place: Surroundings, settings: Settings, home: Path) -> None:
    (home / ".gemini").mkdir()
    (home / ".gemini" / "settings.json").write_text("{oops")
    install_in("qwen", USER, place, settings, None)
    states = {found.client.name: found.state for found in survey(place, settings)}
    assert (states["gemini"], states["qwen"]) == (UNREADABLE, INSTALLED)
    problem = user("gemini", place, settings).problem
    assert problem is not None
    assert "line 1" in problem.message


@pytest.mark.parametrize(
    ("name", "folder"),
    [
        ("claude-code", ".claude"),
        ("codex", ".codex"),
        ("gemini", ".gemini"),
        ("qwen", ".qwen"),
        ("vscode", ".config/Code/User"),
    ],
)
def test_a_folder_that_is_a_link_to_itself_hides_nobody(
    place: Surroundings, settings: Settings, home: Path, name: str, folder: str
) -> None:
    other = "qwen" if name != "qwen" else "codex"
    install_in(other, USER, place, settings, None)
    (home / folder).parent.mkdir(parents=True, exist_ok=True)
    (home / folder).symlink_to((home / folder).name)
    states = {found.client.name: found.state for found in survey(place, settings)}
    assert (states[name], states[other]) == (UNREADABLE, INSTALLED)
    found = user(name, place, settings)
    assert found.present
    assert found.problem is not None
    assert (found.problem.code, found.problem.message) == (
        "E_SYMLINK",
        f"{home / folder} is a link that leads nowhere but to itself.",
    )
    assert found.problem.hint
    with pytest.raises(RefusedError):
        install_in(name, USER, place, settings, None)


def test_what_was_left_is_told_once(place: Surroundings, settings: Settings, home: Path) -> None:
    left = stray(home / ".qwen")
    at_home = place._replace(project=str(home))
    assert [found.strays for found in survey(at_home, settings) if found.strays] == [(str(left),)]
    inside = stray(Path(place.project) / ".qwen")
    told = [(found.level, found.strays) for found in survey(place, settings) if found.strays]
    assert told == [(USER, (str(left),)), (PROJECT, (str(inside),))]


def test_looking_writes_nothing(place: Surroundings, settings: Settings, tmp_path: Path) -> None:
    before = sorted(tmp_path.rglob("*"))
    survey(place, settings)
    assert sorted(tmp_path.rglob("*")) == before


def test_the_servers_package_is_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    assert server_runs_here()
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert not server_runs_here()
