"""Places worth coming back to: the list behind `[` and `]`, and bookmarks by letter that follow their memory.

The list and the letters are values; what goes there is `Jumping`. A place that is gone is passed over or said, never a
dead key.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Protocol

from memtui.engine.model import Address, AuditRecord, Memory
from memtui.errors import NotFoundError
from memtui.safe_text import one_line
from memtui.tui.browse.bars import end_of_line
from memtui.tui.browse.nodes import MEMORY, Key
from memtui.tui.draw.spans import Line
from memtui.values import NamedTuple

if TYPE_CHECKING:
    from memtui.tui.browse.browser import BrowserScreen
    from memtui.tui.keys.palette import Command

KEPT = 100
"""Places that are remembered."""
STEPS = 50
"""Renames of one memory that are followed."""
SLACK = 1_000
"""Milliseconds before a bookmark was set of which a rename may still be told later."""
MAIN = "memories"
FORGET = "-"
"""After `'`: the bookmark of the next letter goes."""
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
"""What a bookmark can be called."""


class Spot(NamedTuple):
    """Somewhere the user was."""

    view: str
    key: Key
    """The row of the tree."""


class JumpList:
    """Where the user jumped from, oldest first, and how far they went back."""

    def __init__(self) -> None:
        self._spots: list[Spot] = []
        self._at = 0

    def note(self, spot: Spot) -> None:
        """The user jumps from here."""
        del self._spots[self._at :]
        if not self._spots or self._spots[-1] != spot:
            self._spots.append(spot)
            del self._spots[:-KEPT]
        self._at = len(self._spots)

    def back(self, here: Spot) -> Spot | None:
        """Go back; `here` can be come forward to again."""
        if self._at == len(self._spots) and self._spots:
            if self._spots[-1] == here:
                self._at -= 1
            else:
                self._spots.append(here)
        if not self._at:
            return None
        self._at -= 1
        return self._spots[self._at]

    def forward(self) -> Spot | None:
        """Go forward."""
        if self._at + 1 >= len(self._spots):
            return None
        self._at += 1
        return self._spots[self._at]


class Bookmark(NamedTuple):
    """A row that a letter stands for."""

    key: Key
    at: int
    """When it was set or last followed, in milliseconds."""

    @property
    def name(self) -> str:
        """What it is called."""
        return f"{self.key[1]}/{self.key[2]}" if len(self.key) == 3 else self.key[-1]

    @property
    def address(self) -> Address | None:
        """The memory, if it is one."""
        return Address(self.key[1], self.key[2]) if self.key[0] == MEMORY and len(self.key) == 3 else None


class Past(Protocol):
    """What following a memory needs of the engine."""

    def audit(self, *, address: Address | None = None, limit: int = 200) -> tuple[AuditRecord, ...]:
        """List the audit."""
        ...

    def memory(self, address: Address) -> Memory:
        """Give a row."""
        ...


def whereabouts(engine: Past, address: Address, at: int) -> tuple[Address, bool]:
    """Find where a memory is that had this address then, through every rename since; and whether it is there."""
    seq = -1
    for _ in range(STEPS):
        moves = [
            record
            for record in engine.audit(address=address, limit=STEPS)
            if record.new_address is not None
            and record.address == address
            and record.state == "done"
            and record.at >= at - SLACK
            and record.seq > seq
        ]
        if not moves or moves[-1].new_address is None:
            break
        address, seq = moves[-1].new_address, moves[-1].seq
    try:
        engine.memory(address)
    except NotFoundError:
        return address, False
    return address, True


class Jumping:
    """Goes there."""

    def __init__(self, screen: BrowserScreen) -> None:
        self._screen = screen
        self.list = JumpList()
        self.bookmarks: dict[str, Bookmark] = {}
        self.own: set[str] = set()
        """Letters that were set, followed or forgotten in this run."""
        self._going = False
        """Whether a place of the list is being shown."""

    # Back and forward

    @property
    def here(self) -> Spot:
        """Where the user is."""
        node = self._screen.memories.current
        view = self._screen.views.current if "views" in self._screen.__dict__ else MAIN
        return Spot(view, node.key if node is not None else ())

    def note(self) -> None:
        """The user jumps from here, unless they are going through the list."""
        if not self._going:
            self.list.note(self.here)

    def back(self) -> None:
        """Go back to where the last jump began."""
        spot = self.list.back(self.here)
        while spot is not None and not self._go(spot):
            spot = self.list.back(spot)
        if spot is None:
            self._screen.say("There is no place to go back to.")

    def forward(self) -> None:
        """Go forward again."""
        spot = self.list.forward()
        while spot is not None and not self._go(spot):
            spot = self.list.forward()
        if spot is None:
            self._screen.say("There is no place to go forward to.")

    def _go(self, spot: Spot) -> bool:
        """Show a place; False when it is gone."""
        self._going = True
        try:
            return self._show(spot)
        finally:
            self._going = False

    def _show(self, spot: Spot) -> bool:
        if spot.view != MAIN:
            if spot.view != self.here.view:
                self._screen.views.show(spot.view)
            return True
        if not self.show_row(spot.key):
            return False
        if "views" in self._screen.__dict__:
            self._screen.views.back()
        return True

    def show_row(self, key: Key) -> bool:
        """Put the tree's cursor on a row, whatever hides it; False when it is not there."""
        tree, forest = self._screen.memories, self._screen.forest
        if len(key) == 3 and key[0] == MEMORY:
            address = Address(key[1], key[2])
            if address not in forest.nodes:
                return False
            if not tree.reveal(address):
                self._screen.filtering.clear()
                tree.reveal(address)
            return True
        return tree.go_to(key)

    # Bookmarks

    def ask_for_letter(self) -> None:
        """Set a bookmark at the row under the cursor."""
        node = self._screen.memories.current
        if node is None:
            self._screen.say("There is no row to keep.")
            return
        mark = Bookmark(node.key, self._screen.now())
        line: Line = [(" b ", "strong"), (" a letter keeps ", "dim"), (end_of_line(mark.name, 40), "name")]
        if self.bookmarks:
            line.append((f"   taken: {' '.join(sorted(self.bookmarks))}", "dim"))

        def done(key: str) -> None:
            if len(key) != 1 or key not in LETTERS:
                self._screen.say("No bookmark was set: it is called by a letter or a digit.")
                return
            self.bookmarks[key] = mark
            self.own.add(key)
            read_only = self._screen.bridge.read_only
            kept = " It is forgotten at the end: --read-only keeps nothing." if read_only else ""
            self._screen.say(f"Bookmark {key}: {mark.name}. ' {key} goes there.{kept}", "good")

        self._screen.letters.ask([*line, ("   ", "dim")], done)

    def ask_where(self) -> None:
        """Go to the bookmark of the next letter."""
        top = self._screen.top_screen
        if not self.bookmarks:  # the letter is asked for all the same: it must not be taken for a command
            none: Line = [(" ' ", "strong"), (" there is no bookmark yet: b and a letter sets one   ", "name")]
            top.letters.ask(none, self.go)
            return
        line: Line = [(" ' ", "strong"), (" ", "dim")]
        for letter, mark in sorted(self.bookmarks.items()):
            line += [(letter, "key"), (f" {one_line(mark.key[-1].rpartition('/')[2] or mark.name, 24)}   ", "dim")]
        line += [(FORGET, "key"), (" and a letter forgets one   ", "dim")]
        top.letters.ask(line, lambda key: self._ask_which() if key == FORGET else self.go(key))

    def _ask_which(self) -> None:
        """Forget the bookmark of the next letter."""
        line: Line = [(f" ' {FORGET} ", "strong"), (" forgets   ", "dim")]
        for letter, mark in sorted(self.bookmarks.items()):
            line += [(letter, "key"), (f" {one_line(mark.key[-1].rpartition('/')[2] or mark.name, 24)}   ", "dim")]
        self._screen.top_screen.letters.ask(line, self.forget)

    def forget(self, letter: str) -> None:
        """Take a bookmark away; its memory stays."""
        mark = self.bookmarks.pop(letter, None)
        if mark is None:
            self._screen.say(f"No bookmark is called {letter}." if letter else "Cancelled.")
            return
        self.own.add(letter)
        self._screen.returning.changed()
        self._screen.say(f"Bookmark {letter} is forgotten; {mark.name} stays as it is.", "good")

    def go(self, letter: str) -> None:
        """Go to a bookmark, wherever its memory is by now."""
        mark = self.bookmarks.get(letter)
        if mark is None:
            self._screen.say(f"No bookmark is called {letter}." if letter else "Cancelled.")
            return
        address = mark.address
        if address is None:
            self._arrive(letter, mark)
            return
        self._screen.bridge.run(
            lambda engine: whereabouts(engine, address, mark.at),
            lambda found: self._found(letter, mark, *found),
            what=f"find bookmark {letter}",
            otherwise=lambda error: self._screen.show_error(f"go to bookmark {letter}", error),
        )

    def _found(self, letter: str, mark: Bookmark, address: Address, there: bool) -> None:
        if not there:
            self._screen.say(f"Bookmark {letter}: {address} was deleted; the trash (6) may hold it.", "warning")
            return
        if address != mark.address:
            mark = self.bookmarks[letter] = Bookmark((MEMORY, *address), self._screen.now())
            self.own.add(letter)
        self._arrive(letter, mark)

    def _arrive(self, letter: str, mark: Bookmark) -> None:
        self.note()
        address = mark.address
        if address is not None and address not in self._screen.forest.nodes:
            self._screen.views.back()
            self._screen.projects.want([address.root])
            self._screen.go_when_there(address)
        elif self._go(Spot(MAIN, mark.key)):
            self._screen.say(f"Bookmark {letter}: {mark.name}.")
        else:
            self._screen.say(f"Bookmark {letter}: {mark.name} is not there any more.", "warning")

    def commands(self) -> list[Command]:
        """Every bookmark as a line of the palette."""
        from memtui.tui.keys.palette import Command

        marks = sorted(self.bookmarks.items())
        go = [
            Command(f"Go to bookmark {letter}: {mark.name}", f"' {letter}", partial(self.go, letter))
            for letter, mark in marks
        ]
        forget = [
            Command(f"Forget bookmark {letter}: {mark.name}", f"' {FORGET} {letter}", partial(self.forget, letter))
            for letter, mark in marks
        ]
        return [*go, *forget]


def read_bookmarks(value: object) -> dict[str, Bookmark]:
    """Take bookmarks from what was kept, whatever it holds; what cannot be one is left out."""
    found: dict[str, Bookmark] = {}
    for letter, one in value.items() if isinstance(value, Mapping) else ():
        if not (isinstance(letter, str) and len(letter) == 1 and letter in LETTERS and isinstance(one, list)):
            continue
        *key, at = one or [None]
        if isinstance(at, int) and 2 <= len(key) <= 3 and all(isinstance(part, str) and part for part in key):
            found[letter] = Bookmark(tuple(key), at)
    return found
