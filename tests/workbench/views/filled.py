"""A folder in which every view has rows, one of them with a hostile name; and a way into each view."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from memtui.engine import Engine
from memtui.engine.ledger.touches import SessionCursor, SessionFile, Touch
from memtui.engine.model import Address, Root
from memtui.features.observations.find import catch_up
from memtui.ui.list_view import ListView
from memtui.workbench.actions import VIEW
from tests.agents.machine import Machine
from tests.features.health.folders import LINKS, entry
from tests.workbench.views.real import CLAUDE, ME, Real, World, at, write

ODD = "odd [red]x[-]\x1b[31m.md"
VIEWS = tuple(id_ for id_, view in VIEW.items() if view.screen)
"""Every view, by its id."""


class Filled(World):
    """Memories of every kind, and what was done to them."""

    policy = LINKS._replace(entries=(("log.md", "hermes"),))

    def __init__(self, base: Path, home: Path) -> None:
        super().__init__(base)
        self.machine = Machine(home, base)
        self.machine.write("~/.claude/CLAUDE.md", "Short sentences.\n")
        self.machine.write("~/.codex/AGENTS.md", "Small commits.\n")
        self.machine.write("~/.gemini/GEMINI.md", "No adverbs.\n")
        self.own = base / "own"
        self.own.mkdir()
        for folder in (self.folder, self.own):
            (folder / ODD).write_text("a needle\n")
        with self.engine() as engine:
            engine.watch.reconcile()
            for number in range(8):
                for name in (f"n{number}.md", f"t{number}.md"):
                    engine.memories.create(at(name), "a needle\n" + "line\n" * 60, actor=ME)
                engine.memories.delete([at(f"t{number}.md")], actor=ME)
            engine.memories.create(at("MEMORY.md"), "".join(entry(f"g{n}.md") for n in range(8)), actor=ME)
            engine.memories.create(at("log.md"), "\n§\n".join(f"Entry {n}." for n in range(8)), actor=ME)
            for number, actor in enumerate((ME, CLAUDE) * 4):
                before = engine.read(at("who.md")).sha256 if number else None
                text = "".join(f"line {one}\n" for one in range(number + 1))
                engine.save(at("who.md"), text, expected_sha256=before, actor=actor)
                told = SessionFile(f"/s{number}", "codex", f"s{number} {ODD}", "/w", self.clock(), self.clock())
                place = SessionCursor(1, 1, 1, b"", b"", 1, "")
                touch = Touch(f"c{number}", "opened", engine.roots.uid(engine.roots.find("notes")), ODD, self.clock())
                engine.touches.keep(told, [touch], (), ("touches", place), whole=True)
            write(engine, [f"version {n}\n" for n in range(8)], at("h.md"))
            pinned = [Address("memtui:global", name) for name in (ODD, "a.md", "b.md")]
            for address in pinned[1:]:
                engine.memories.create(address, "text\n", actor=ME)
            engine.pins.set(pinned, pinned=True, actor=ME)
            for kind in ("dream", "extract", "remember"):
                task = engine.tasks.enqueue(kind, "lane", "http:page", {"content": ODD}, trigger="manual")
                engine.tasks.start(task.id)
                engine.tasks.finish(task.id, "failed", error=("E_TEXT", "The reply was no JSON."))
            for name in (ODD, "n4.md", "n5.md"):
                engine.save(at(name), "new\n", expected_sha256=engine.read(at(name)).sha256, actor=CLAUDE)
            catch_up(engine, seconds=None)

    def engine(self, *, read_only: bool = False) -> Engine:
        """An engine as a new process opens it."""
        roots = [Root("notes", str(self.folder), policy=self.policy), Root("memtui:global", str(self.own), "memtui")]
        return Engine.open(roots, state_dir=str(self.base / "state"), clock=self.clock, read_only=read_only)

    async def opened(self, screen: Real, id_: str) -> ListView[Any]:
        """Open a view, and wait for its rows and the text beside them."""
        if VIEW[id_].key:
            await screen.press(VIEW[id_].key)
        elif id_ == "sessions":
            await screen.press("5", "s")
        else:
            name, key = {"history": ("h.md", "H"), "blame": ("who.md", "B")}.get(id_, ("log.md", "E"))
            assert screen.browser.memories.reveal(at(name))
            await screen.press(key)
        await screen.until(lambda: screen.browser.views.current == id_)
        view = screen.app.screen
        assert isinstance(view, ListView)
        if id_ == "search":
            await screen.type("needle")
        await screen.until(lambda: view.list.count() > 2)
        if id_ == "search":
            await screen.press("tab")
        await screen.until(lambda: bool(view.page.page) and view.due is None)
        return view
