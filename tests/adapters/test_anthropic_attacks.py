"""The attacks of the SDK's own tests that reach into its classes by private names, made again from outside.

Theirs, in sync and async: `test_read_rejects_symlink_created_after_validation` and
`test_read_rejects_file_replaced_with_symlink_before_open` (each for view, str_replace and insert),
`test_view_rejects_directory_symlink_created_after_validation`; in async also
`test_validate_path_returns_resolved_path_not_symlink_target`, and `test_mkdir_parents_not_world_writable...`, which is
in `test_anthropic.py`.
"""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from anthropic.lib.tools import ToolError

from tests.adapters.conftest import Tool
from tests.faults.injector import hooked, meddling

READS: dict[str, dict[str, object]] = {
    "view": {},
    "str_replace": {"old_str": "outside", "new_str": "x"},
    "insert": {"insert_line": 0, "insert_text": "x"},
}
STEPS = ("open_file", "stat_path", "real_path", "hold_writers", "create_file", "exchange", "fsync_dir")
"""Where the attacker acts: just before the first such call of a command."""


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """What must neither be shown nor changed."""
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "notes.txt").write_text("outside")
    return folder


def attack(tool: Tool, step: str, act: Callable[[], object], command: str, path: str) -> str:
    """The answer to a command during which somebody acts once."""
    done = False

    def once() -> None:
        nonlocal done
        if not done:
            done = True
            act()

    with hooked(meddling(step, once)):
        try:
            return tool(command, path=path, **READS[command])
        except ToolError as error:
            return f"ToolError: {error}"


def unharmed(outside: Path) -> bool:
    """Whether everything outside is as it was."""
    return os.listdir(outside) == ["notes.txt"] and (outside / "notes.txt").read_text() == "outside"


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("command", READS)
def test_a_link_made_after_the_path_was_judged(tool: Tool, outside: Path, command: str, step: str) -> None:
    tool("view", path="/memories")
    link = tool.root / "notes.txt"
    answer = attack(tool, step, lambda: link.symlink_to(outside / "notes.txt"), command, "/memories/notes.txt")
    assert answer.startswith("ToolError: ")
    assert "outside" not in answer
    assert unharmed(outside)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("command", READS)
def test_a_file_exchanged_for_a_link_before_it_is_opened(tool: Tool, outside: Path, command: str, step: str) -> None:
    tool("create", path="/memories/notes.txt", file_text="inside outside\n")
    file = tool.root / "notes.txt"

    def swap() -> None:
        file.unlink()
        file.symlink_to(outside / "notes.txt")

    answer = attack(tool, step, swap, command, "/memories/notes.txt")
    assert "\toutside" not in answer
    assert unharmed(outside)
    if step == "open_file":
        assert answer == "ToolError: Path /memories/notes.txt would escape /memories directory"


@pytest.mark.parametrize("step", STEPS)
def test_a_link_to_a_folder_made_after_the_path_was_judged(tool: Tool, outside: Path, step: str) -> None:
    tool("view", path="/memories")
    answer = attack(tool, step, lambda: (tool.root / "dir").symlink_to(outside), "view", "/memories/dir")
    assert answer.startswith("ToolError: ")
    assert "notes.txt" not in answer


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("command", READS)
def test_a_link_that_is_turned_outwards_after_it_was_followed(
    tool: Tool, outside: Path, command: str, step: str
) -> None:
    tool("create", path="/memories/legit/notes.txt", file_text="inside\n")
    link = tool.root / "link"
    link.symlink_to("legit")

    def turn() -> None:
        link.unlink()
        link.symlink_to(outside)

    answer = attack(tool, step, turn, command, "/memories/link/notes.txt")
    assert "\toutside" not in answer
    assert unharmed(outside)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("command", READS)
def test_a_folder_exchanged_for_a_link_outwards(tool: Tool, outside: Path, command: str, step: str) -> None:
    tool("create", path="/memories/legit/notes.txt", file_text="inside\n")

    def swap() -> None:
        shutil.rmtree(tool.root / "legit")
        (tool.root / "legit").symlink_to(outside)

    answer = attack(tool, step, swap, command, "/memories/legit/notes.txt")
    assert "\toutside" not in answer
    assert unharmed(outside)
