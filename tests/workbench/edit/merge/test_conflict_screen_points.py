"""Nothing in the conflict screen writes but ctrl+s, and that only when nothing is open."""

from pathlib import Path

from memtui.ui.action import in_room
from memtui.workbench.actions import ACTIONS
from tests.workbench.edit.merge.stage import AGENT_TEXT, closed, conflict, disk, text_of
from tests.workbench.workbench import until

LEAVE = {"later", "write_result", "save_as"}
"""Actions that leave the screen, or that say before what they write."""
NAMES = {"!": "exclamation_mark", "]": "right_square_bracket", "[": "left_square_bracket"}


def keys() -> list[str]:
    """Every key of the screen that decides, edits, moves or looks."""
    found = [key for action in in_room("conflict", actions=ACTIONS) if action.id not in LEAVE for key in action.keys]
    return [*found, "enter", "space", "tab", "d", "t", "p"]


async def test_point_06_no_key_but_ctrl_s_writes_and_that_one_only_at_nothing_open(tmp_path: Path) -> None:
    async with conflict(tmp_path, size=(120, 40)) as (bench, pilot, screen):
        before = bench.path("a.md").stat()
        for key in keys():
            await pilot.press(*(NAMES.get(part, part) for part in key.split(" ")))
            if screen.editing:
                await pilot.press("escape")
            await pilot.press("o", "x")
            await until(pilot, lambda: bool(screen.session.open))
            await pilot.press("ctrl+s")
            assert "ctrl+s is off: " in text_of(screen, "#conflict-foot"), key
            assert disk(bench) == AGENT_TEXT, key
        after = bench.path("a.md").stat()
        assert (after.st_mtime_ns, after.st_ino) == (before.st_mtime_ns, before.st_ino)
        await pilot.press("y")
        await until(pilot, lambda: not screen.session.open)
        await pilot.press("ctrl+s")
        await closed(bench, pilot)
        await until(pilot, lambda: disk(bench) != AGENT_TEXT)
