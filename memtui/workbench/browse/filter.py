"""The filter of the tree, typed in the footer; escape returns to the previous place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtui.engine.model import ARCHIVE
from memtui.workbench.browse.side import Side
from memtui.workbench.main_screen import PREVIEW
from memtui.workbench.tree.cells import HARMLESS
from memtui.workbench.tree.nodes import INSTRUCTIONS, OLD, Key
from memtui.workbench.tree.tree import REBUILT, named

if TYPE_CHECKING:
    from memtui.engine.model import Address, Memory
    from memtui.workbench.main_screen import MainScreen


UNUSED_FOR = 30
"""Default number of days after which a memory counts as unused."""
MOST_DAYS = 3_650
DAY = 86_400_000
KEPT = "kept memories"
"""The name under which kept memories are stored: addresses, and until when each is not asked about again."""


class FilterLine:
    """The filter."""

    def __init__(self, screen: MainScreen) -> None:
        self._screen = screen
        self._place: tuple[Key, int] | None = None
        self._waiting: str | None = None
        """Typed text not yet applied, because more keys may be waiting."""
        self._days = UNUSED_FOR
        self._kept: dict[str, int] = {}
        """Memories the user decided to keep, and until when, in milliseconds since the epoch."""

    # The filter

    def remember(self) -> None:
        """Store the place before the first filter."""
        node = self._screen.memories.current
        if self._place is None and node is not None and not self._screen.forest.filter.active:
            self._place = (node.key, self._screen.memories.top)

    def come_back_to(self, key: Key) -> None:
        """Go to this row when the filter that hides it is cleared."""
        self._place = (key, self._screen.memories.top)

    def start(self) -> None:
        """Ask for filter words; with the text focused, for what to find in it."""
        from memtui.ui.widgets.prompts import Question

        screen, side = self._screen, self._screen.part(Side)
        if screen.focused is screen.page_view and side.memory is not None and side.mode == PREVIEW:
            side.finding.start()
            return

        self.remember()
        text = " ".join(self._screen.forest.filter.words)
        self._screen.prompt.ask(Question("/", text, self._keep, cancelled=self._cancel, changed=self._typed, over=True))

    def _typed(self, text: str) -> None:
        if self._waiting is None:
            self._screen.call_later(self.apply)
        self._waiting = text

    def apply(self) -> None:
        """Show what matches the words typed so far."""
        text, self._waiting = self._waiting, None
        if text is None:
            return
        screen = self._screen
        screen.forest.filter.set_words(text)
        screen.memories.apply(REBUILT, by_user=True)
        self._go_to_match()
        if self._screen.prompt.open:
            count = f"{screen.forest.matched:,} of {len(screen.forest.nodes):,}"
            self._screen.prompt.note = [(count, "strong" if screen.forest.matched else "warning")]
        screen.chrome.update("tree-title", "footer")

    def _keep(self, text: str) -> None:
        self._screen.prompt.close()
        if not text.strip():
            self.clear()
        else:
            self._go_to_match()

    def _go_to_match(self) -> None:
        """Move from a folder to the next matching memory."""
        node = self._screen.memories.current
        if node is None or node.memory is not None:
            return
        matches = [index for index, row in enumerate(self._screen.forest.rows()) if row.memory is not None]
        after = [index for index in matches if index >= self._screen.memories.cursor] or matches
        if after:
            self._screen.memories.go(after[0])

    def _cancel(self) -> None:
        self._screen.prompt.close()
        self.clear()

    def leave(self) -> None:
        """Clear the filter around the memory under the cursor; without one, at the previous place."""
        node = self._screen.memories.current
        if node is not None and node.memory is not None:
            self._place = None
        self.clear()

    def clear(self) -> None:
        screen = self._screen
        screen.forest.filter.clear()
        screen.memories.apply(REBUILT, by_user=True)
        if self._place is not None:
            key, top = self._place
            self._place = None
            screen.memories.go_to(key)
            screen.memories.scroll_to_row(top)
            screen.memories.keep_in_view()
        screen.chrome.update("tree-title", "footer")

    # What nobody uses

    def named(self, only: str) -> str:
        return f"unused for {self._days} days" if only == OLD else only

    def old(self) -> None:
        """Ask for a number of days and show memories unused for as long; if shown, show everything."""
        from memtui.ui.widgets.prompts import Question

        if OLD in self._screen.forest.filter.only:
            self._toggle_old()
            return

        def entered(text: str) -> None:
            typed = text.strip()
            if not (typed.isdecimal() and len(typed) <= len(str(MOST_DAYS)) and 0 < int(typed) <= MOST_DAYS):
                self._screen.prompt.refuse(f"Type a number of days from 1 to {MOST_DAYS:,}, such as 30.")
                return
            self._days = int(typed)
            self._screen.prompt.close()
            self._screen.bridge.run(lambda engine: engine.places.load(KEPT).value, found, what="read what is kept")

        def found(value: object) -> None:
            known = value if isinstance(value, dict) else {}
            self._kept = {str(name): until for name, until in known.items() if isinstance(until, int)}
            self._toggle_old()

        screen = self._screen
        words = "never used, not changed for days"
        screen.prompt.ask(Question(words, str(self._days), entered, screen.prompt.close, over=True))

    def _toggle_old(self) -> None:
        screen = self._screen
        screen.forest.filter.is_old = self._is_old
        self.remember()
        screen.forest.filter.toggle(OLD)
        screen.memories.apply(REBUILT, by_user=True)
        if OLD in screen.forest.filter.only:
            screen.memories.go(0)
            self._go_to_match()
        screen.chrome.update()

    def _is_old(self, memory: Memory) -> bool:
        """Whether it counts as unused; an index, instructions and generated files are useful without being read."""
        now, address, root = self._screen.now(), memory.address, self._screen.forest.root(memory.address.root)
        if root is None or root.kind == INSTRUCTIONS or root.policy.is_index(address.path):
            return False
        if memory.uses or memory.pinned or memory.missing or any(one.code in HARMLESS for one in memory.problems):
            return False
        archived = root.agent == "memtui" and address.path.startswith(ARCHIVE)
        return not archived and memory.modified_at < now - self._days * DAY and self._kept.get(str(address), 0) < now

    def keep(self, addresses: tuple[Address, ...]) -> None:
        """Do not ask about these memories for as long again."""
        screen, now = self._screen, self._screen.now()
        self._kept = {name: until for name, until in self._kept.items() if until > now}
        self._kept |= dict.fromkeys(map(str, addresses), now + self._days * DAY)
        kept = dict(self._kept)
        screen.bridge.run(lambda engine: engine.places.keep(KEPT, kept), what="note what is kept", lane="place")
        screen.memories.set_marks(set())
        screen.forest.filter.toggle(OLD, again=True)
        screen.memories.apply(REBUILT)
        name = named(addresses)
        screen.say(f"{name} kept: f o asks about it again in {self._days} days.")
