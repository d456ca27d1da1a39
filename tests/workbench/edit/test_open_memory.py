"""The title line of the editor fits its pane, and the key that helps is never what is cut."""

import pytest

from memtui.safe_text import cell_width
from memtui.workbench.edit.open_memory import FileState, title_note, title_runs


def drawn(width: int, who: str = "mcp:claude-code") -> str:
    note = title_note(FileState.GONE, who=who)
    runs = title_runs("memtui:project/deploy.md", note, FileState.GONE, width, focused=True)
    return "".join(text for text, _ in runs)


@pytest.mark.parametrize("width", range(40, 120))
def test_the_key_stays_at_every_width(width: int) -> None:
    line = drawn(width)
    assert "deploy" in line
    assert line.endswith("  f8")
    assert cell_width(line) <= width


def test_the_whole_is_said_where_there_is_room() -> None:
    assert drawn(100) == ">memtui:project/deploy.md  !d mcp:claude-code deleted, your text is kept  f8"


def test_a_long_writer_is_shortened() -> None:
    line = drawn(62, who="mcp:" + "x" * 80)
    assert line.endswith("…  f8")
    assert cell_width(line) <= 62
