"""What the first frame loads: nothing that only a later key needs, whoever adds a view."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tests.terminal import Terminal

PROGRAM = """
import os, sys
from memtui.workbench.app import MemtuiApp

painted = MemtuiApp._painted

def told(self):
    with open(os.environ["LOADED"] + ".part", "w", encoding="utf-8") as file:
        file.write("\\n".join(sys.modules))
    os.rename(os.environ["LOADED"] + ".part", os.environ["LOADED"])
    painted(self)

MemtuiApp._painted = told
from memtui.__main__ import main
sys.exit(main())
"""

SHOWN = frozenset({"memtui.ui.widgets.lines"})
"""The line of tabs is on the first frame."""
LATER = (
    "memtui.agents.known.claude_code",
    "memtui.clients.",
    "memtui.features.hot_set.assemble",
    "memtui.features.hot_set.assemble",
    "memtui.features.hot_set.assemble",
    "memtui.diff",
    "memtui.engine.ledger",
    "memtui.engine.find.finder",
    "memtui.engine.watch.watch",
    "memtui.mcp_server",
    "memtui.memory_tool",
    "memtui.workbench.edit.editor",
    "memtui.workbench.edit.merge",
    "memtui.workbench.help",
    "memtui.web",
    "aiohttp",
    "anthropic",
    "apsw",
    "frontmatter",
    "sqlite3",
    "textual.widgets._markdown",
    "textual.widgets._text_area",
    "tree_sitter",
    "watchfiles",
    "yaml",
)
"""What only a later key, or the reading after the first frame, needs."""


def test_the_first_frame_loads_only_what_it_shows(tmp_path: Path) -> None:
    loaded = tmp_path / "loaded"
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "a.md").write_text("one\n")
    command = [sys.executable, "-c", PROGRAM, "--only-root", f"--root=notes={tmp_path / 'root'}"]
    with Terminal(command, columns=120, rows=40, env={**os.environ, "LOADED": str(loaded)}) as terminal:
        terminal.wait_for("a.md")
        terminal.wait_for(lambda _: loaded.exists())
    modules = loaded.read_text().split("\n")
    assert {*modules} >= SHOWN
    assert [name for name in modules if name.startswith(LATER)] == []
