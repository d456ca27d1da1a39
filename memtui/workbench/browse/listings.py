"""Lists of memories on their way into the tree, a part at a time, between the keys: of this project, and of others.

What is told of a row meanwhile is newer than a full list, so the list never undoes it; a newer list takes the place of
one that is still on its way. Finding other projects costs a look at each agent's folder, and reading thousands of them
costs seconds: that happens after the first frame, for what is opened, or for all of them when asked.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from memtui.engine.model import Address, Listing, Memory, Root, RootStatus
from memtui.ui import heap
from memtui.ui.draw.words import count_words
from memtui.workbench.tree.nodes import OTHERS, ROOT, Node
from memtui.workbench.tree.roots import worth_showing
from memtui.workbench.tree.rows import Effect

if TYPE_CHECKING:
    from memtui.workbench.bridge import Engine
    from memtui.workbench.browse.browser import BrowserScreen
    from memtui.workbench.tree.nodes import Key


SLICE = 0.03
"""Seconds that rows go in without a pause."""
PAUSE = 0.005
"""Seconds of that pause: keys and news come first."""


class Filling:
    """Takes in full lists."""

    def __init__(self, screen: BrowserScreen) -> None:
        self._screen = screen
        self._work: Iterator[None] | None = None
        """What is left to do of the newest list."""
        self._resting = False
        """Whether it goes on after a pause."""
        self._newer: set[Address] = set()
        """Of which more was told since that list came."""
        self._rebuilt = False
        self._touched: set[Key] = set()

    @property
    def busy(self) -> bool:
        """Whether a list is on its way."""
        return self._work is not None

    def take(self, listing: Listing) -> None:
        """Take in a list: a short one before this returns, unless another is on its way."""
        self._newer = set()
        self._work = self._fill(listing)
        if not self._resting:
            self._go_on()

    def told_of(self, addresses: Iterable[Address]) -> None:
        """Leave these rows as they are: what is known of them is newer than the list."""
        if self.busy:
            self._newer.update(addresses)

    def _go_on(self) -> None:
        self._resting = False
        end = monotonic() + SLICE
        for _ in self._work or ():
            if monotonic() >= end:
                self._resting = True
                self._screen.app.set_timer(PAUSE, self._go_on)  # a covered screen would be drawn again
                return

    def _fill(self, listing: Listing) -> Iterator[None]:
        screen = self._screen
        forest = screen.forest
        screen.forest.statuses = {status.root.id: status for status in listing.roots}
        roots = worth_showing(screen.facts.roots, listing, forest.losses.vanished)
        for effect in forest.replace_all(roots, listing.items, self._newer):
            self._rebuilt = self._rebuilt or effect.rebuilt
            self._touched |= effect.touched
            yield
        effect = Effect(self._rebuilt, frozenset(self._touched))
        self._work, self._rebuilt, self._touched = None, False, set()
        self._show(listing, effect)

    def _show(self, listing: Listing, effect: Effect) -> None:
        """Show what became of the rows, and tell whoever follows them."""
        screen = self._screen
        screen.chrome.loading = False
        screen.take(effect)
        screen.checkup.rows_loaded(listing)
        if listing.truncated:
            screen.say("Some folders hold more memories than are shown; see g t, H and memtui doctor.", "warning")
        if screen.editing:
            screen.host.rows_changed(None)


EVERY, CALM_EVERY = 0.25, 1.0
"""Seconds between two parts on the screen."""
GROUP = "projects"


class Part(NamedTuple):
    """What was read since the part before."""

    roots: tuple[str, ...]
    memories: tuple[Memory, ...]
    statuses: tuple[RootStatus, ...]
    left: int
    """Roots that are still to be read."""


class Projects:
    """Finds other projects, and reads those that are wanted."""

    def __init__(self, screen: BrowserScreen) -> None:
        self._screen = screen
        self.all = False
        """Whether the memories of every project are wanted."""
        self.progress = ""
        """What is being done, for the header."""
        self._found: dict[str, Root] | None = None
        self._awaited: set[str] = set()
        """Roots somebody wanted before they were found."""
        self._say = False
        """Whether the end of reading is to be told."""
        self._unfold = False
        """Whether the rows of other projects are to be opened when they come."""

    # Finding

    def find(self, *, again: bool = False) -> None:
        """Look for other projects, once the first frame is there.

        Args:
            again: look also for what has come to the project the user stands in.
        """
        screen = self._screen
        if screen.facts.demo:
            return
        own, more = screen.facts.own_roots, screen.facts.more_roots
        self._tell("finding projects")
        screen.bridge.run(
            lambda _: (own() if again else (), more()),
            lambda found: self._learn(*found, first=not again),
            what="find other projects",
            lane=GROUP,
        )

    def touched(self, addresses: Iterable[Address]) -> None:
        """Read what undo or redo changed again, also in a folder that had no memory and so no row."""
        screen, changed = self._screen, frozenset(addresses)
        screen.bridge.refresh(changed)  # the engine tells nobody of a pin that is taken back
        known = {root.id for root in screen.facts.roots}
        if any(one.root not in known and one.root not in screen.forest.others for one in changed):
            self.find(again=True)

    def _grow(self, own: Iterable[Root]) -> None:
        """Take in folders that an agent, or re-pointing, made for this project since the start."""
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
        self._found = {root.id: root for root in roots}
        self._tell("")
        others = screen.forest.others
        if found or len(others):
            screen.forest.learn_others(found, screen.facts.settings.home)
            if self._unfold:
                self._fold(wide=True)
            screen.take(Effect(rebuilt=True, touched=frozenset()))
        screen.checkup.look_for_stayed(tell=first)
        awaited, self._awaited = self._awaited, set()
        opened = {key[1] for key in screen.forest.folds.chosen[0] if key[0] == ROOT and key[1] in screen.forest.others}
        self.want((awaited | opened) & self._found.keys() if not self.all else screen.forest.others.roots)

    @property
    def found(self) -> tuple[Root, ...]:
        """Every root of every project, as far as they were found."""
        return tuple((self._found or {}).values())

    @property
    def ready(self) -> bool:
        """Whether it is known which projects there are."""
        return self._found is not None

    # Reading

    def want(self, root_ids: Iterable[str]) -> None:
        """Read the memories of these roots, unless they are here."""
        others = self._screen.forest.others
        wanted = set(root_ids)
        self._awaited |= wanted - others.roots.keys()  # they may be found the next time
        if self._found is None:
            return
        wanted &= others.roots.keys()
        fresh = [root_id for root_id in others.roots if root_id in wanted - others.shown]
        others.shown |= wanted
        if not fresh:
            return
        waiting = [root_id for root_id in others.unread if root_id in others.shown]
        # What a root further in takes is said in the roots around it, also in those of this project.
        changed = [root for root in self._found.values() if root.id in others.shown or root.id not in others]
        every = CALM_EVERY if self._screen.facts.calm else EVERY
        again = [root_id for root_id in fresh if root_id in others.read]
        todo = [*again, *waiting]
        self._tell(_words(len(todo)))
        self._screen.bridge.stream(
            lambda engine, outdated, tell: _read(engine, changed, todo, every, outdated, tell),
            self._take,
            what="read other projects",
            group=GROUP,
        )

    def _take(self, part: Part) -> None:
        screen = self._screen
        others = screen.forest.others
        others.read.update(part.roots)
        screen.forest.statuses.update({status.root.id: status for status in part.statuses})
        rows = [memory for memory in part.memories if not others.hides(memory.address.root)]
        self._tell(_words(part.left) if part.left else "")
        screen.filling.told_of(memory.address for memory in rows)
        screen.take(screen.forest.update(rows))
        heap.keep()
        screen.checkup.part_loaded(Listing(part.memories, truncated=False, roots=part.statuses))
        if not part.left and self._say:
            self._say = False
            screen.say(f"Read {count_words(len(others.read), 'folder')} of other projects.")

    # All of them

    def toggle(self) -> None:
        """Show the memories of every project, or of none but this one."""
        screen = self._screen
        others = screen.forest.others
        if self.ready and not len(others):
            screen.say("There is no other project with memories here.")
            return
        self.all = not self.all
        self._unfold = self.all
        self._fold(wide=self.all)
        if self.all:
            self._say = True
            self.want(others.roots)
            screen.take(Effect(rebuilt=True, touched=frozenset()))
            return
        screen.bridge.drop(GROUP)
        self._tell("")
        others.shown.clear()
        heap.let_go()
        screen.say("Showing this project only.")
        screen.bridge.refresh(everything=True)

    def _fold(self, *, wide: bool) -> None:
        forest = self._screen.forest
        for node in forest.top.children.values():
            if node.kind == OTHERS:
                forest.set_open(node, open=wide)

    def opened(self, node: Node, *, below: bool) -> None:
        """Read what a row that was opened stands for."""
        if node.kind == ROOT:
            self.want([node.root])
        elif below:
            roots = {child.root for child in node.children.values()} if node.kind == OTHERS else set()
            for group in node.children.values() if not node.key else ():
                roots |= {child.root for child in group.children.values()}
            self.want(roots)

    def _tell(self, words: str) -> None:
        if words != self.progress:
            self.progress = words
            self._screen.chrome.update("header")


def _words(left: int) -> str:
    return f"reading {left:,} project{'s' if left > 1 else ''}"


def _read(
    engine: Engine,
    roots: Iterable[Root],
    root_ids: Iterable[str],
    every: float,
    outdated: Callable[[], bool],
    tell: Callable[[Part], None],
) -> Part:
    """Read roots one after the other, and hand over what there is every now and then."""
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
            tell(Part(tuple(names), tuple(memories), tuple(statuses), len(todo) - number - 1))
            names, memories, statuses, last = [], [], [], now
    return Part(tuple(names), tuple(memories), tuple(statuses), 0)
