"""p, g h and g l on an agent's own memory: what is said, asked and written, and what the agent's hook then gives."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from memtui.agents.discovery import discover
from memtui.agents.layout import slug
from memtui.config.read import load_settings
from memtui.features.hot_set.view import HotSetView
from memtui.workbench.app import MemtuiApp
from memtui.workbench.bridge import Bridge
from memtui.workbench.main_screen import StartFacts
from tests.agents import homes
from tests.agents.machine import Machine
from tests.workbench.memories import ME, Memories
from tests.workbench.shown import Shown

TOPIC, INDEX = "testing.md", "MEMORY.md"


class Claude:
    """A home with Claude Code's memories of a project: 213 of them, one named below the cut of the index."""

    def __init__(self, folder: Path, home: Path, *, shared: bool = False) -> None:
        self.machine, self.home = Machine(home, folder), home
        self.memory = home / ".claude" / "projects" / slug(str(self.machine.app)) / "memory"
        lines = [f"- [Note {number}](n{number}.md) — a note\n" for number in range(212)]
        files = {f"n{number}.md": "A note.\n" for number in range(212)}
        lines.append(f"- [Testing]({TOPIC}) — how we test\n")
        homes.lay(self.memory, files | {INDEX: "".join(lines), TOPIC: "Show the failing test first.\n"})
        homes.lay(home, {".claude/settings.json": "{}\n", ".claude.json": '{"numStartups": 3}\n'})
        for path in self.memory.iterdir():
            os.utime(path, (1_750_000_000, 1_750_000_000))
        self.around = self.machine.surroundings()
        self.roots = discover(self.around)

    def configuration(self) -> str:
        """What stands in Claude Code's settings and its state."""
        return (self.home / ".claude" / "settings.json").read_text() + (self.home / ".claude.json").read_text()

    def hook(self) -> str:
        """Run what stands in its settings, as it would at the start of a session."""
        (group,) = json.loads((self.home / ".claude" / "settings.json").read_text())["hooks"]["SessionStart"]
        words = shlex.split(group["hooks"][0]["command"])
        done = subprocess.run(words, capture_output=True, check=True, text=True, cwd=self.machine.app)
        return str(json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"])

    @asynccontextmanager
    async def shown(self, size: tuple[int, int] = (80, 24)) -> AsyncIterator[Shown]:
        """The workbench in the project, with the cursor on the memory."""
        settings = load_settings(dict(os.environ))
        memories = Memories({}, self.roots)
        memories.state = Path(settings.state_dir)
        bridge = Bridge(memories.engine, actor=ME, clock=memories.clock)
        facts = StartFacts(settings, self.roots, listing=memories.engine.rows.list(), surroundings=self.around)
        app = MemtuiApp(bridge, facts)
        async with app.run_test(size=size) as pilot:
            screen = Shown(app, pilot, memories)
            await screen.until(lambda: not app.browser.chrome.loading)
            root = next(root.id for root in self.roots if root.path == str(self.memory))
            await screen.go(f"{root}/{TOPIC}")
            yield screen
        app.bridge.close()
        memories.engine.close()


@pytest.fixture
def claude(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Claude:
    """The home of a user of Claude Code, who stands in the project."""
    made = Claude(tmp_path / "world", home)
    monkeypatch.chdir(made.machine.app)
    return made


async def test_p_says_at_once_that_no_hook_gives_it_and_one_key_asked_once_installs_it(claude: Claude) -> None:
    before = claude.configuration()
    async with claude.shown() as screen:
        await screen.press("p")
        await screen.until_text("Pinned, not given: no hook in Claude Code. g h installs it. g l lifts its line.")
        await screen.press("g", "h")
        await screen.until_text("! puts memtui into Claude Code: .claude.json, settings.json   esc cancels")
        await screen.press("j")
        await screen.until_text("Cancelled; nothing was changed.")
        assert claude.configuration() == before
        await screen.press("g", "h")
        await screen.until_text("! puts memtui into Claude Code")
        await screen.press("!")
        await screen.until_text("memtui is in Claude Code, from its next session on.")
        assert "Show the failing test first." in claude.hook()
        await screen.press("g", "h")
        await screen.until_text("memtui's hook is in Claude Code already.")
        await screen.press("p")
        await screen.until_text("unpinned.")
        assert "Show the failing test" not in claude.hook()
        await screen.press("p")
        await screen.until_text("Pinned: Claude Code is given it from its next session on. g l lifts its line.")
        assert "Show the failing test first." in claude.hook()


async def test_g_l_lifts_the_line_as_one_step_and_unpinning_leaves_it(claude: Claude) -> None:
    index = claude.memory / INDEX
    before = index.read_text()
    async with claude.shown() as screen:
        await screen.press("p")
        await screen.until_text("g l lifts its line.")
        assert index.read_text() == before
        await screen.press("g", "l")
        await screen.until_text("The line of testing.md is above the cut of MEMORY.md now. u takes it back.")
        lifted = index.read_text()
        assert lifted.startswith(f"- [Testing]({TOPIC})")
        assert sorted(lifted.splitlines()) == sorted(before.splitlines())
        await screen.press("p")
        await screen.until_text("unpinned.")
        assert index.read_text() == lifted
        await screen.press("g", "l")
        await screen.until_text("No line for testing.md lies below the cut of an index.")
        await screen.press("u")
        await screen.until_text("Undid: unpin")
        await screen.press("u")
        await screen.until_text("Undid: lift the line of")
        assert index.read_text() == before


async def test_a_line_that_is_no_entry_of_its_own_stays_and_says_why(claude: Claude) -> None:
    index = claude.memory / INDEX
    text = index.read_text().replace(f"- [Testing]({TOPIC})", f"- [Testing]({TOPIC}) and [Note 1](n1.md)")
    index.write_text(text)
    os.utime(index, (1_750_000_000, 1_750_000_000))
    async with claude.shown((120, 40)) as screen:
        await screen.press("p")
        await screen.until_text("Pinned, not given: no hook in Claude Code. g h installs it.")
        assert "g l lifts" not in screen.text
        await screen.press("g", "l")
        await screen.until_text("Its line in MEMORY.md stays where it is: The line names other memories too.")
        assert index.read_text() == text


async def test_many_pins_say_how_many_are_not_given(claude: Claude) -> None:
    async with claude.shown((120, 40)) as screen:
        await screen.press("space", "k", "k", "space", "p", "!")
        await screen.until_text("2 memories pinned; 2 not given: no hook in Claude Code; g h installs it.")


async def test_a_machine_with_213_memories_sees_what_its_agent_is_given(claude: Claude) -> None:
    async with claude.shown((120, 40)) as screen:
        await screen.press("p")
        await screen.until_text("Pinned, not given")
        await screen.press("4")
        await screen.until_text("loads 1 | memtui adds none | 1 left out")
        assert "0 given" not in screen.text
        assert "memtui is not installed in Claude Code. g h installs it." in screen.text
        view = screen.app.screen
        assert isinstance(view, HotSetView)
        assert view.item is not None
        assert view.item.left is not None
        assert view.item.left.reason == "no-hook"
        await screen.until_text("installed in the agent; g h installs it.")
        await screen.press("k", "k")
        await screen.until_text("It loads these by itself")
        assert f"~/.claude/projects/{claude.memory.parent.name[:20]}" in screen.text.replace("\n", "")
        await screen.press("g", "h")
        await screen.until_text("! puts memtui into Claude Code")
        await screen.press("!")
        await screen.until_text("loads 1 | memtui adds 1")
        assert "Given to Claude Code by memtui's hook" in screen.text
        assert "Show the failing test first." in claude.hook()
        await screen.press("b")
        await screen.until_text("Would be given to Claude Code by the MCP server")
        await screen.until_text("1 left out")
