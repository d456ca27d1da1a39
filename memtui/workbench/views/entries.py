"""The entries of one memory that holds many: each is read, edited, copied and removed alone; u takes a removal back.

It lies over whatever asked for it and goes back there. The list is what is on disk: an entry an agent adds appears, and
the cursor stays with its entry.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on

from memtui.engine.model import Address, Conflict, Saved, Unchanged
from memtui.errors import MemtuiError
from memtui.features.entries.entry_names import EntryGoneError, exact
from memtui.safe_text import one_line
from memtui.ui.action import Action
from memtui.ui.draw.pages import Page
from memtui.ui.draw.spans import Line, Run
from memtui.ui.list_view import ListView
from memtui.ui.widgets.prompts import Question
from memtui.ui.widgets.rowlist import RowList
from memtui.workbench.bridge import WRITE
from memtui.workbench.views import entries_jobs
from memtui.workbench.views.entries_rows import Held, Shelf, entry_runs

if TYPE_CHECKING:
    from memtui.features.entries.model import Entry
    from memtui.workbench.views.host import WorkbenchHost

NEEDS = frozenset({"entry_edit", "entry_remove", "copy_contents", "copy_sha"})
"""Actions that work on the entry under the cursor."""


class EntriesScreen(ListView[Any]):
    """What a memory holds."""

    ID: ClassVar[str] = "entries"
    HELP = """The entries of a memory that holds many, in the order of the file: number, size, tags where the agent has
them, first words; beside them the whole entry. enter edits one and n writes a new one behind the last: a save changes
the bytes of that entry and no others, also when an agent wrote the file meanwhile. d t takes one out; u brings it
back. f4 and H are about the whole file. Above the list stands how many there are and, where the agent has a limit, how
much of it is used."""

    def __init__(self, host: WorkbenchHost) -> None:
        super().__init__(host.shell)
        self.host, self.jobs = host, host.jobs
        self.shelf = Shelf(Address("", ""))
        self._go_to: int | None = None
        """The number of the entry the cursor goes to when the list comes."""
        self._asked: Hashable = None
        """The entry that `d` asked about: `t` takes out that one and no other."""
        self._edit_action = next(action for action in self.own_actions if action.id == "entry_edit")
        self._does |= {
            "entry_edit": self._edit,
            "entry_new": self._new,
            "entry_remove": self._remove,
            "edit_outside": self._edit_outside,
            "versions": lambda: self.host.places.history(self.shelf.address),
            "show_in_tree": self._show_in_tree,
            "copy_contents": self._copy_text,
            "copy_sha": lambda: self.host.copy(self._here.sha256, "the sha-256 of the entry"),
            "filter": self._filter,
        }

    # What is known

    def about(self, address: Address) -> None:
        """Show another memory's entries."""
        self.prompt = None
        if address != self.shelf.address:
            self.loaded, self._shown, self._go_to = False, None, 1
            self.list.change_rows(lambda: setattr(self, "shelf", Shelf(address)))
            self.give(())
        self.load()

    def show_entry(self, number: int | None) -> None:
        """Read the file again, and go to the entry with this number."""
        self._go_to = number or self._go_to
        self.load()

    def read_rows(self, *, awaited: bool) -> None:
        """Read the file."""
        address = self.shelf.address
        self.jobs.run(
            lambda engine: entries_jobs.load(engine, address),
            lambda found: self._loaded(address, found),
            what=f"read the entries of {address}",
            latest="entries",
            awaited=awaited,
        )

    def _loaded(self, address: Address, found: Held | str) -> None:
        if address != self.shelf.address:
            return
        self.loaded = True
        self.list.change_rows(lambda: self.shelf.load(found))
        if self._go_to is not None:
            self.list.go(self.shelf.place(self._go_to))
            self._go_to = None
        self.rows_changed()

    @property
    def entry(self) -> Entry | None:
        """The entry under the cursor."""
        shown = self.shelf.shown
        return shown[self.list.cursor] if self.list.cursor < len(shown) else None

    @property
    def _here(self) -> Entry:
        """The entry under the cursor; actions that need one are off without."""
        return self.shelf.shown[self.list.cursor]

    # The list

    def row_count(self) -> int:
        """How many rows there are."""
        return len(self.shelf.shown)

    def row_key(self, index: int) -> Hashable:
        """What a row is."""
        return self.shelf.key(self.shelf.shown[index])

    def draw_row(self, index: int, width: int) -> Sequence[Run]:
        """How a row looks."""
        tagged = any(entry.tags for entry in self.shelf.all[:100])
        digits = max(len(str(len(self.shelf.all))), 2)
        return entry_runs(self.shelf.shown[index], width, digits=digits, plain=self.ascii, tagged=tagged)

    def empty_lines(self) -> Sequence[Sequence[Run]]:
        """What is shown when there are no rows."""
        if not self.loaded:
            return [[("  reading...", "dim")]]
        if self.shelf.problem:
            return [[("  " + self.shelf.problem, "problem")]]
        if self.shelf.words:
            return [[("  No entry has these words; ", "name"), ("esc", "key"), (" shows all", "name")]]
        return [[("  There are no entries; ", "name"), ("n", "key"), (" writes one", "name")]]

    def list_words(self) -> tuple[str, Line]:
        """Which memory, how many entries, how full it is."""
        notes: Line = []
        held = self.shelf.held
        if held is not None:
            if self.shelf.words:
                notes.append((f"{len(self.shelf.shown):,} of ", "title"))
            notes.append((held.used.short, "warning" if held.used.over else "title"))
        return f"Entries of {self.shelf.address}", notes

    # The text

    def read_row(self) -> None:
        """Draw the entry under the cursor."""
        entry, held = self.entry, self.shelf.held
        if entry is None or held is None or not self.is_mounted:
            self.give(())
            return
        width, plain, key = self.page.text_width, self.ascii, self.shelf.key(entry)

        def drawn(page: Page) -> None:
            if self.entry is not None and self.shelf.key(self.entry) == key:
                self.give(page, keep_place=self._shown == key)
                self._shown = key

        self.jobs.run(
            lambda _: entries_jobs.page(held, entry, width, plain=plain),
            drawn,
            what=f"draw an entry of {self.shelf.address}",
            latest="entries-page",
        )

    def page_words(self) -> tuple[str, Line]:
        """Which entry."""
        entry = self.entry
        return (f"Entry {entry.number:,}" if entry is not None else "Text"), []

    # Keys

    def off(self, action: Action) -> str:
        """Why an action is off now."""
        if not self.loaded:
            return "The entries are still being read."
        if action.id in NEEDS and self.entry is None:
            return self.shelf.problem or "There is no entry here."
        if action.id == "entry_new" and self.shelf.problem:
            return self.shelf.problem
        if action.id == "edit_outside" and self.host.settings.terminal.web:
            return "A browser cannot lend its screen to another program."
        return ""

    def asks_at_once(self, first: str) -> Line | None:
        """`d` asks before anything happens."""
        after = [key for key, action in self._sequences.choices(first) if action.id == "entry_remove"]
        if not after or self.entry is None or self.jobs.read_only:
            return None
        self._asked = self.shelf.key(self._here)
        what = f" takes entry {self._here.number:,} out: "
        title = one_line(self._here.title, 30, ascii_tokens=self.ascii)
        return [(" ", "dim"), (after[0], "key"), (what, "strong"), (title, "name"), ("; any other key cancels", "dim")]

    def row_moved(self) -> None:
        """Whoever moves asks about nothing any more."""
        self._asked = None

    def step_back(self) -> bool:
        """From the text to the list, then without filter."""
        if super().step_back():
            return True
        if not self.shelf.words:
            return False
        self._change(())
        return True

    def _change(self, words: tuple[str, ...]) -> None:
        self.list.change_rows(lambda: self.shelf.filter(words))
        self.rows_changed()

    def _filter(self) -> None:
        def typed(text: str) -> None:
            self._change(tuple(text.casefold().split()))
            if self.prompt is not None:
                self.prompt.note = [(f"{len(self.shelf.shown):,} of {len(self.shelf.all):,}", "dim")]

        def cancelled() -> None:
            self.close_prompt()
            self._change(())

        start = " ".join(self.shelf.words)
        self.ask(Question("/", start, lambda _: self.close_prompt(), cancelled, changed=typed, over=True))

    # Doing

    @on(RowList.Opened)
    def _opened(self) -> None:
        self.attempt(self._edit_action)

    def _edit(self) -> None:
        self.host.screen.host.edit_entry(self.shelf.address, exact(self._here))

    def _new(self) -> None:
        self.host.screen.host.edit_entry(self.shelf.address, None)

    def _remove(self) -> None:
        entry, address, bridge = self._here, self.shelf.address, self.jobs
        asked, self._asked = self._asked, None
        if asked is not None and asked != self.shelf.key(entry):
            self.say("Not removed. Somebody else changed the entry you asked about; look again.", "warning")
            return

        def removed(result: Saved | Unchanged | Conflict) -> None:
            if isinstance(result, Conflict):
                self.say(f"Not removed: {address} is being written again and again. d t tries again.", "warning")
            else:
                self.say(f"Removed entry {entry.number:,} of {address}. u brings it back.", "good")
            self.load()

        def refused(error: MemtuiError) -> None:
            gone = isinstance(error, EntryGoneError)
            why = "Somebody else changed this entry in that moment; look at it again." if gone else error.message
            self.say(f"Not removed. {why}", "warning")
            self.load()

        bridge.run(
            lambda engine: entries_jobs.remove(engine, bridge, address, entry),
            removed,
            what=f"remove an entry of {address}",
            otherwise=refused,
            lane=WRITE,
        )

    def _copy_text(self) -> None:
        text = self.shelf.text(self._here).decode("utf-8", "replace")
        self.host.copy(text, f"entry {self._here.number:,}")

    # Elsewhere

    def _edit_outside(self) -> None:
        self.host.places.edit(self.shelf.address, then="outside")

    def _show_in_tree(self) -> None:
        self.host.places.tree(self.shelf.address)
