"""Where memtui's own files live, for every home and environment a machine can have."""

import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from memtui.config.directories import expand_user, find_directories, user_home
from memtui.errors import MemtuiError, UsageError

linux = pytest.mark.skipif(sys.platform in ("darwin", "win32"), reason="XDG folders are Linux's")


def test_one_folder_holds_everything(tmp_path: Path) -> None:
    found = find_directories({"MEMTUI_HOME": str(tmp_path)}, None)
    assert set(found[:3]) == {str(tmp_path)}
    assert found.origin == "MEMTUI_HOME"
    assert found.config_file == str(tmp_path / "config.toml")


def test_the_option_beats_the_variable_and_may_be_relative(tmp_path: Path) -> None:
    found = find_directories({"MEMTUI_HOME": "/elsewhere"}, None, "own/./place")
    assert found.data == str(Path.cwd() / "own" / "place")
    assert found.origin == "--home"


def test_home_is_expanded_where_no_shell_did() -> None:
    assert find_directories({"MEMTUI_HOME": "~/m"}, "/home/ann").state == "/home/ann/m"
    assert find_directories({}, "/home/ann", "~").state == "/home/ann"
    assert expand_user("~other/x", "/home/ann") == "~other/x"


@pytest.mark.parametrize("value", ["relative", "./x", "~nobody/x"])
def test_a_relative_variable_is_refused(value: str) -> None:
    with pytest.raises(UsageError, match="MEMTUI_HOME") as error:
        find_directories({"MEMTUI_HOME": value}, "/home/ann")
    assert (error.value.code, bool(error.value.hint)) == ("E_CONFIG", True)


@pytest.mark.parametrize("where", ["--home", "MEMTUI_HOME", "XDG_STATE_HOME", "HOME"])
def test_a_folder_whose_name_is_not_utf_8_is_refused(where: str) -> None:
    bad = os.fsdecode(b"/tmp/caf\xe9")
    if where in ("XDG_STATE_HOME", "HOME") and sys.platform in ("darwin", "win32"):
        pytest.skip("XDG folders are Linux's")
    environ = {where: bad} if where.endswith("_HOME") else {}
    with pytest.raises(UsageError, match="is not UTF-8") as error:
        find_directories(environ, bad if where == "HOME" else "/home/ann", bad if where == "--home" else None)
    assert (error.value.code, bool(error.value.hint)) == ("E_CONFIG", True)


def test_an_empty_option_is_refused() -> None:
    with pytest.raises(UsageError):
        find_directories({}, "/home/ann", "")


def test_a_relative_option_without_a_working_directory_is_refused(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    os.chdir(gone)
    gone.rmdir()
    with pytest.raises(UsageError, match="working directory") as error:
        find_directories({}, None, "x")
    assert error.value.code == "E_CONFIG"


@linux
def test_each_kind_has_its_own_folder() -> None:
    found = find_directories({}, "/home/ann")
    assert found[:3] == ("/home/ann/.config/memtui", "/home/ann/.local/state/memtui", "/home/ann/.local/share/memtui")


@linux
def test_xdg_variables_are_followed_and_relative_ones_ignored() -> None:
    environ = {"XDG_CONFIG_HOME": "/c", "XDG_STATE_HOME": "state", "XDG_DATA_HOME": ""}
    assert find_directories(environ, "/home/ann")[:3] == (
        "/c/memtui",
        "/home/ann/.local/state/memtui",
        "/home/ann/.local/share/memtui",
    )


@linux
def test_without_any_home_the_error_says_what_to_set() -> None:
    with pytest.raises(MemtuiError, match="HOME") as error:
        find_directories({}, None)
    assert error.value.code == "E_CONFIG"
    assert "MEMTUI_HOME" in error.value.hint
    every = {"XDG_CONFIG_HOME": "/c", "XDG_STATE_HOME": "/s", "XDG_DATA_HOME": "/d"}
    assert find_directories(every, None).data == "/d/memtui"


@pytest.mark.skipif(sys.platform == "win32", reason="password databases are Unix's")
@pytest.mark.parametrize("environ", [{}, {"HOME": ""}])
def test_an_unset_home_is_looked_up(environ: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    import pwd

    monkeypatch.setattr(pwd, "getpwuid", lambda _: SimpleNamespace(pw_dir="/home/known"))
    assert user_home(environ) == "/home/known"


@pytest.mark.skipif(sys.platform == "win32", reason="password databases are Unix's")
def test_nobody_knows_the_home(monkeypatch: pytest.MonkeyPatch) -> None:
    import pwd

    def unknown(_: int) -> object:
        raise KeyError

    monkeypatch.setattr(pwd, "getpwuid", unknown)
    assert user_home({}) is None
    monkeypatch.setattr(pwd, "getpwuid", lambda _: SimpleNamespace(pw_dir=""))
    assert user_home({}) is None


@pytest.mark.skipif(sys.platform == "win32", reason="HOME is Unix's")
def test_a_relative_home_is_refused() -> None:
    with pytest.raises(UsageError, match="HOME is 'here'") as error:
        user_home({"HOME": "here"})
    assert error.value.code == "E_CONFIG"


def test_other_platforms_ask_platformdirs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    found = find_directories({}, "/Users/ann")
    assert all(path.endswith("memtui") and os.path.isabs(path) for path in found[:3])


def test_nothing_is_created(home: Path) -> None:
    find_directories({"HOME": str(home)}, str(home))
    find_directories({"MEMTUI_HOME": str(home / "m")}, str(home))
    assert not list(home.iterdir())
