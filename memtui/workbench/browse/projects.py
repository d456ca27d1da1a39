"""Other projects: found after the first frame, read on demand, and re-pointed when they moved.

Finding costs a look at each agent's folder; reading thousands of projects costs seconds, so only what is opened is
read, or all on request, with a count in the header. Moving the memories of a moved project is asked for in the footer,
shown first, done on a second enter, and undone in one step.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from memtui.agents.layout import short_path
from memtui.engine.model import Address, Done, Listing, Memory, Root, RootStatus
from memtui.features.moved_projects.moves import SURE, Orphan, RepointPlan, apply, plan, where
from memtui.ui import process
from memtui.ui.draw.text import Line, count_words
from memtui.workbench.bridge import WRITE
from memtui.workbench.browse.health import HealthChecks
from memtui.workbench.tree.forest import Effect
from memtui.workbench.tree.nodes import OTHERS, ROOT, Node

if TYPE_CHECKING:
    from memtui.workbench.bridge import Engine
    from memtui.workbench.main_screen import MainScreen


BATCH_SECONDS, CALM_BATCH_SECONDS = 0.25, 1.0
GROUP = "projects"


class ReadBatch(NamedTuple):
    """What was read since the previous part."""

    roots: tuple[str, ...]
    memories: tuple[Memory, ...]
    statuses: tuple[RootStatus, ...]
    left: int


class Projects:
    """Finds other projects, and reads those that are wanted."""

    def __init__(self, screen: MainScreen) -> None:
        self._screen = screen
        self._awaited: set[str] = set()
        self._say = False
        self._unfold = False

    # Finding

    def find(self, *, again: bool = False) -> None:
        """Look for other projects, after the first frame; `again`: also for new roots of the user's project."""
        screen = self._screen
        if screen.facts.demo:
            return
        facts, own = screen.facts, screen.facts.own_roots

        def look() -> tuple[tuple[Root, ...], tuple[Root, ...]]:
            more = facts.more_roots()
            return own() if again else (), (*more, *facts.unseen((*facts.roots, *more)))

        self.name_folders()
        self._tell("finding projects")
        screen.bridge.run(
            lambda _: look(), lambda found: self._learn(*found, first=not again), what="find other projects", lane=GROUP
        )

    def name_folders(self) -> None:
        """Find display names of folders whose own names say nothing."""
        screen, around = self._screen, self._screen.facts.surroundings
        if around is None or not any(root.scope == "channel" for root in screen.facts.roots):
            return

        def look(engine: Engine) -> dict[tuple[str, ...], str]:
            from memtui.features.channels.verbs import qwen_names

            return qwen_names(engine, around, engine.roots.all())

        def take(found: dict[tuple[str, ...], str]) -> None:
            screen.forest.names.folders = found
            screen.memories.repaint()
            screen.chrome.update("side-title")

        screen.bridge.run(look, take, what="name the folders of chats", lane=GROUP)

    def touched(self, addresses: Iterable[Address]) -> None:
        screen, changed = self._screen, frozenset(addresses)
        screen.bridge.refresh(changed)  # the engine tells nobody of a pin that is taken back
        known = {root.id for root in screen.facts.roots}
        if any(one.root not in known and one.root not in screen.forest.others for one in changed):
            self.find(again=True)

    def _grow(self, own: Iterable[Root]) -> None:
        """Add folders created for this project since the start."""
        screen = self._screen
        known = {root.id for root in screen.facts.roots}
        new = tuple(root for root in own if root.id not in known)
        if new:
            screen.facts = screen.facts._replace(roots=(*screen.facts.roots, *new))
            screen.bridge.run(
                lambda engine: engine.roots.add(new),
                lambda _: screen.bridge.refresh(everything=True),
                what="read what is new in this project",
            )

    def _learn(self, here: tuple[Root, ...], roots: tuple[Root, ...], *, first: bool) -> None:
        self._grow(here)
        screen = self._screen
        own = {root.id for root in screen.facts.roots}
        found = [root for root in roots if root.id not in own]
        screen.every_root = roots
        self._tell("")
        others = screen.forest.others
        if found or len(others):
            screen.forest.learn_others(found, screen.facts.settings.home)
            if self._unfold:
                self._fold(wide=True)
            screen.take(Effect(rebuilt=True, touched=frozenset()))
        screen.part(HealthChecks).look_for_stayed(tell=first)
        awaited, self._awaited = self._awaited, set()
        opened = {key[1] for key in screen.forest.folds.chosen[0] if key[0] == ROOT and key[1] in screen.forest.others}
        some = (awaited | opened) & {root.id for root in roots}
        self.want(screen.forest.others.roots if screen.all_projects else some)

    # Reading

    def want(self, root_ids: Iterable[str]) -> None:
        """Read the memories of these roots, unless they are here."""
        others = self._screen.forest.others
        wanted = set(root_ids)
        self._awaited |= wanted - others.roots.keys()  # they may be found the next time
        if self._screen.every_root is None:
            return
        wanted &= others.roots.keys()
        fresh = [root_id for root_id in others.roots if root_id in wanted - others.shown]
        others.shown |= wanted
        if not fresh:
            return
        waiting = [root_id for root_id in others.unread if root_id in others.shown]
        # What a root further in takes is said in the roots around it, also in those of this project.
        changed = [root for root in self._screen.every_root if root.id in others.shown or root.id not in others]
        every = CALM_BATCH_SECONDS if self._screen.facts.calm else BATCH_SECONDS
        again = [root_id for root_id in fresh if root_id in others.read]
        todo = [*again, *waiting]
        self._tell(_words(len(todo)))
        self._screen.bridge.stream(
            lambda engine, outdated, tell: _read(engine, changed, todo, every, outdated, tell),
            self._take,
            what="read other projects",
            group=GROUP,
        )

    def _take(self, part: ReadBatch) -> None:
        screen = self._screen
        others = screen.forest.others
        others.read.update(part.roots)
        screen.forest.statuses.update({status.root.id: status for status in part.statuses})
        rows = [memory for memory in part.memories if not others.hides(memory.address.root)]
        self._tell(_words(part.left) if part.left else "")
        screen.filling.told_of(memory.address for memory in rows)
        screen.take(screen.forest.update(rows))
        process.freeze()
        screen.part(HealthChecks).part_loaded(Listing(part.memories, truncated=False, roots=part.statuses))
        if not part.left and self._say:
            self._say = False
            screen.say(f"Read {count_words(len(others.read), 'folder')} of other projects.")

    # All of them

    def toggle(self) -> None:
        screen = self._screen
        others = screen.forest.others
        if screen.every_root is not None and not len(others):
            screen.say("There is no other project with memories here.")
            return
        screen.all_projects = not screen.all_projects
        self._unfold = screen.all_projects
        self._fold(wide=screen.all_projects)
        if screen.all_projects:
            self._say = True
            self.want(others.roots)
            screen.take(Effect(rebuilt=True, touched=frozenset()))
            return
        screen.bridge.drop(GROUP)
        self._tell("")
        others.shown.clear()
        process.unfreeze()
        screen.say("Showing this project only.")
        screen.bridge.refresh(everything=True)

    def _fold(self, *, wide: bool) -> None:
        forest = self._screen.forest
        for node in forest.top.children.values():
            if node.kind == OTHERS:
                forest.set_open(node, open=wide, lasting=True)

    def opened(self, node: Node, *, below: bool) -> None:
        """Read what an opened row stands for."""
        if node.kind == ROOT:
            self.want([node.root])
        elif below:
            roots = {child.root for child in node.children.values()} if node.kind == OTHERS else set()
            for group in node.children.values() if not node.key else ():
                roots |= {child.root for child in group.children.values()}
            self.want(roots)

    def _tell(self, words: str) -> None:
        chrome = self._screen.chrome
        if words != chrome.projects:
            chrome.projects = words
            chrome.update("header")


def _words(left: int) -> str:
    return f"reading {left:,} project{'s' if left > 1 else ''}"


def _read(
    engine: Engine,
    roots: Iterable[Root],
    root_ids: Iterable[str],
    every: float,
    outdated: Callable[[], bool],
    tell: Callable[[ReadBatch], None],
) -> ReadBatch:
    """Read roots one after the other, and pass on partial results."""
    engine.roots.add(roots)
    todo = list(root_ids)
    names: list[str] = []
    memories: list[Memory] = []
    statuses: list[RootStatus] = []
    last = time.monotonic()
    for number, root_id in enumerate(todo):
        if outdated():
            break
        found = engine.rows.list([root_id])
        names.append(root_id)
        memories += found.items
        statuses += found.roots
        now = time.monotonic()
        if now - last >= every and number + 1 < len(todo):
            tell(ReadBatch(tuple(names), tuple(memories), tuple(statuses), len(todo) - number - 1))
            names, memories, statuses, last = [], [], [], now
    return ReadBatch(tuple(names), tuple(memories), tuple(statuses), 0)


REPOINT = "repoint"


class ProjectMoves:
    """Asks where a project is now, and moves its memories there."""

    def __init__(self, screen: MainScreen) -> None:
        self._screen = screen
        self._plan: tuple[str, RepointPlan] | None = None

    def start(self, root_id: str = "") -> None:
        """Ask where a project is now, filled in as far as known; without `root_id`, for the row under the cursor."""
        screen, node = self._screen, self._screen.memories.current
        other = screen.forest.others.get(root_id or (node.root if node is not None else ""))
        if other is None:
            screen.say("re-point: put the cursor on another project's row first.", "warning")
            return
        root, roots, home = other.root, screen.every_root or (), screen.facts.settings.home
        screen.bridge.run(
            lambda _: where(root, roots, home),
            self._ask,
            what=f"find where {other.place} is now",
            latest=REPOINT,
            awaited=True,
        )

    def _ask(self, found: Orphan) -> None:
        from memtui.ui.widgets.prompts import Question

        self._plan = None
        home = self._screen.facts.settings.home
        value = short_path(found.moved[0].path, home) if found.moved else ""
        words = found.moved[0].why if found.moved else SURE[found.decoded.sure]
        if len(found.moved) > 1:
            words = f"{found.sure}; {words}"

        def hint(text: str) -> Line:
            shown = self._plan
            if shown is not None and shown[0] == text:
                moves: Line = [(f"enter moves {count_words(shown[1].moving, 'memory')}", "strong")]
                return [*moves, (f"; {_stays(shown[1])}", "warning")] if shown[1].staying else moves
            return [(words if text == value else "enter shows what would move", "dim")]

        screen = self._screen
        screen.prompt.ask(
            Question("now at", value, lambda text: self._entered(found.root, text), screen.prompt.close, hint=hint)
        )

    def _entered(self, root: Root, text: str) -> None:
        screen, home = self._screen, self._screen.facts.settings.home
        shown = self._plan
        if shown is not None and shown[0] == text:
            self._do(shown[1])
            return
        path = text.strip()
        if home and (path == "~" or path.startswith("~/")):
            path = home + path[1:]
        if not os.path.isabs(path):
            screen.prompt.refuse("Type the full path of the folder the project is in now.")
            return

        def made(wanted: RepointPlan) -> None:
            if not screen.prompt.open:
                return
            for line in wanted.staying:
                screen.chrome.remember(f"{line.address} would stay: {line.why}")
            if wanted.steps:
                self._plan = (text, wanted)
                screen.prompt.note = []
                screen.chrome.update("footer")
            else:
                screen.prompt.refuse(_stays(wanted) or "There is no memory.")

        screen.bridge.run(
            lambda engine: plan(engine, [root], path),
            made,
            what="plan it",
            otherwise=partial(self._screen.not_done, "move the memories"),
            latest=REPOINT,
        )

    def _do(self, wanted: RepointPlan) -> None:
        screen, actor = self._screen, self._screen.bridge.actor

        def moved(done: Done) -> None:
            screen.prompt.close()
            failed = [one for one in done.outcomes if not one.ok]
            if failed:
                screen.say(f"Nothing was moved: {failed[0].address} changed meanwhile.", "warning")
                return
            screen.say(f"Moved {wanted.words}. u takes it back.", "good")
            screen.part(Projects).find(again=True)
            screen.part(Projects).want([new.id for _, new in wanted.pairs])
            screen.bridge.refresh(everything=True)

        screen.bridge.run(
            lambda engine: apply(engine, wanted, actor=actor),
            moved,
            what="move the memories",
            otherwise=partial(self._screen.not_done, "move the memories"),
            lane=WRITE,
        )


def _stays(wanted: RepointPlan) -> str:
    """Say what would stay, with the reason of the first."""
    if not wanted.staying:
        return ""
    first, more = wanted.staying[0], len(wanted.staying) - 1
    rest = f"; {more:,} more stay (M)" if more else ""
    return f"{first.address.path} stays: {first.why}{rest}"
