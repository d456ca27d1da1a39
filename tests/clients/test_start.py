"""How an agent starts memtui: the command found now, and everything it needs to find the same memories."""

import sys
from pathlib import Path

import pytest

from memtui.agents.agent import Start
from memtui.clients.start import found_command, how_to_start
from memtui.config.directories import Directories
from memtui.config.read import load_settings
from memtui.config.settings import Settings


def test_the_script_by_its_absolute_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "bin" / "memtui"
    script.parent.mkdir()
    script.write_text("#!/bin/sh\n")
    assert found_command(str(script), "/py") == ("/py", "-P", "-m", "memtui")  # it cannot be run
    script.chmod(0o755)
    assert found_command(str(script), "/py") == (str(script),)
    monkeypatch.chdir(script.parent)
    assert found_command("memtui", "/py") == (str(script),)
    (tmp_path / "memtui").symlink_to(script)
    assert found_command(str(tmp_path / "memtui"), "/py") == (str(tmp_path / "memtui"),)


@pytest.mark.parametrize("argv0", ["", "/x/memtui/__main__.py", "/usr/bin/pytest", "/gone/memtui"])
def test_else_the_module(argv0: str) -> None:
    assert found_command(argv0, "/py") == ("/py", "-P", "-m", "memtui")


def test_the_context_can_be_left_to_a_hook() -> None:
    settings = Settings(Directories("/c", "/s", "/d", "per user"), None)
    for context in ("none", "short"):
        start = how_to_start(settings, "codex", access="ro", shared=True, context=context)
        assert start.args == ("mcp", "--access", "ro", f"--{context.replace('none', 'no')}-context")
        assert start.hook == "memtui context --format hook --client codex"


def test_one_folder_for_everything_is_carried_along(tmp_path: Path) -> None:
    home = str(tmp_path / "my memtui")
    settings = load_settings({"HOME": str(tmp_path)}, home=home)
    start = how_to_start(settings, "codex", access="plan")
    assert start.command == sys.executable
    assert start.args == ("-P", "-m", "memtui", "mcp", "--access", "plan", "--home", home)
    assert start.hook == f"{sys.executable} -P -m memtui context --format hook --client codex --home '{home}'"
    assert start.env == ()


@pytest.mark.skipif(sys.platform == "darwin", reason="memtui follows no XDG variables there")
def test_folders_that_the_environment_names_are_carried_along(tmp_path: Path) -> None:
    plain = load_settings({"HOME": str(tmp_path)})
    assert how_to_start(plain, "codex").env == ()
    settings = load_settings({"HOME": str(tmp_path), "XDG_DATA_HOME": "/data/ann"})
    start = how_to_start(settings, "codex")
    assert start.env == (("XDG_DATA_HOME", "/data/ann"),)
    assert start.server["env"] == {"XDG_DATA_HOME": "/data/ann"}


def test_what_is_shared_is_plain() -> None:
    settings = Settings(Directories("/c", "/s", "/d", "--home"), None)
    start = how_to_start(settings, "qwen", shared=True)
    assert start == Start("memtui", ("mcp",), "memtui context --format hook --client qwen", ())
    start = how_to_start(settings, "qwen", shared=True, more=("recall",))
    assert start.recall == "memtui recall --hook --client qwen"
