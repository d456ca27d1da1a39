"""The entries of one memory: read, edited, copied and removed one by one.

The view lies over the one that opened it. The list follows the file, and the cursor its entry.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from textual import on

from memtui.engine.model import Address, Conflict, Saved, Unchanged
from memtui.errors import MemtuiError
from memtui.features.entries import model
from memtui.features.entries.model import Entry, EntryFile, EntryGoneError, Fullness, exact, usage
from memtui.features.host import WRITE, Host
from memtui.safe_text import cell_width, one_line, visible
from memtui.ui.action import Action
from memtui.ui.draw.pages import Page, PageLine, text_page, words_page
from memtui.ui.draw.text import Line, Run, fit, size_words
from memtui.ui.list_view import ListRows, ListView
from memtui.ui.widgets.scroller import RowList

if TYPE_CHECKING:
    from memtui.engine import Engine

MIN_WIDTH_FOR_TAGS = 58
TAGS_WIDTH = 22

NEEDS = frozenset({"entry_edit", "entry_remove", "copy_contents", "copy_sha"})
"""Actions that need an entry under the cursor."""


class EntriesRead(NamedTuple):
    """A memory with its parsed entries."""

    file: EntryFile
    used: Fullness


class EntryRow(NamedTuple):
    """One entry."""

    entry: Entry
    nth: int
    """Number of earlier entries with the same bytes."""
    text: bytes


class EntriesView(ListView[EntryRow]):
    """The entries of a memory."""

    ID: ClassVar[str] = "entries"
    HELP = """The entries of a memory that holds many, in the order of the file: number, size, tags where the agent has
them, first words; the page shows the whole entry. enter edits one and n writes a new one after the last: a save changes
only the bytes of that entry, even when an agent wrote the file meanwhile. d t removes one; u brings it back. f4 and H
are about the whole file. The title shows how many there are and, where the agent has a limit, how much of it is
used."""
    NO_MATCH = "No entry matches"

    def __init__(self, host: Host) -> None:
        super().__init__(host.shell, ListRows(row_key, lambda row: row.text.decode(errors="replace")))
        self.host, self.jobs = host, host.jobs
        self.address = Address("", "")
        self.contents: EntriesRead | None = None
        self.problem = ""
        """Why there is nothing to show."""
        self._go_to: int | None = None
        """The entry the cursor goes to when the list is loaded."""
        self._asked: Hashable = None
        """The entry that `d` asked about; only that one is removed."""
        self._edit_action = next(action for action in self.own_actions if action.id == "entry_edit")
        self.does |= {
            "entry_edit": self._edit,
            "entry_new": lambda: host.places.edit_entry(self.address, None),
            "entry_remove": self._remove,
            "edit_outside": lambda: host.places.edit(self.address, then="outside"),
            "versions": lambda: host.places.history(self.address),
            "show_in_tree": lambda: host.places.tree(self.address),
            "copy_contents": self._copy_text,
            "copy_sha": lambda: host.copy(self._here.sha256, "the sha-256 of the entry"),
        }

    # What is known

    def about(self, address: Address) -> None:
        """Show another memory's entries."""
        self.prompt.close()
        if address != self.address:
            self.address, self.contents, self.problem = address, None, ""
            self.loaded, self._shown, self._go_to = False, None, 1
            self.rows.words = ()
            self.list.change_rows(lambda: self.rows.load(()))
            self.page.show(())
        self.load()

    def show_entry(self, number: int | None) -> None:
        """Reload the file, and go to the entry with this number."""
        self._go_to = number or self._go_to
        self.load()

    def _read_rows(self, *, awaited: bool) -> None:
        address = self.address
        self.jobs.run(
            lambda engine: read(engine, address),
            lambda found: self._loaded(address, found),
            what=f"read the entries of {address}",
            latest="entries",
            awaited=awaited,
        )

    def _loaded(self, address: Address, found: EntriesRead | str) -> None:
        if address != self.address:
            return
        self.contents, self.problem = (None, found) if isinstance(found, str) else (found, "")
        self.take(rows_of(self.contents.file) if self.contents is not None else ())
        if self._go_to is not None:
            self.list.go(place(self.rows.shown, self._go_to))
            self._go_to = None
            self._rows_changed()

    @property
    def _here(self) -> Entry:
        return self.rows.shown[self.list.cursor].entry

    # The list

    def _draw_row(self, item: EntryRow, width: int) -> Sequence[Run]:
        tagged = any(row.entry.tags for row in self.rows.all[:100])
        digits = max(len(str(len(self.rows.all))), 2)
        return entry_runs(item.entry, width, digits=digits, plain=self.ascii, tagged=tagged)

    def _empty_lines(self) -> Sequence[Sequence[Run]]:
        if self.loaded and self.problem:
            return [[("  " + self.problem, "problem")]]
        if self.loaded and not self.rows.words:
            return [[("  There are no entries; ", "name"), ("n", "key"), (" writes one", "name")]]
        return super()._empty_lines()

    def _list_words(self) -> tuple[str, Line]:
        notes: Line = []
        if self.contents is not None:
            if self.rows.words:
                notes.append((f"{len(self.rows.shown):,} of ", "title"))
            notes.append((self.contents.used.short, "warning" if self.contents.used.over else "title"))
        return f"Entries of {self.address}", notes

    # The text

    def _read_text(self, item: EntryRow) -> None:
        contents, width, plain = self.contents, self.page.text_width, self.ascii
        if contents is not None:
            self.jobs.run(
                lambda _: page(contents, item.entry, width, plain=plain),
                lambda drawn: self._show_text(item, drawn),
                what=f"draw an entry of {self.address}",
                latest="entries-page",
            )

    def _page_words(self) -> tuple[str, Line]:
        return (f"Entry {self.item.entry.number:,}" if self.item is not None else "Text"), []

    # Keys

    def _off(self, action: Action) -> str:
        if not self.loaded:
            return "The entries are still being read."
        if action.id in NEEDS and self.item is None:
            return self.problem or "There is no entry here."
        if action.id == "entry_new" and self.problem:
            return self.problem
        if action.id == "edit_outside" and self.host.settings.terminal.web:
            return "A browser cannot lend its screen to another program."
        return ""

    def _asks_at_once(self, first: str) -> Line | None:
        after = [key for key, action in self.sequences.choices(first) if action.id == "entry_remove"]
        if not after or self.item is None or self.jobs.read_only:
            return None
        self._asked = row_key(self.rows.shown[self.list.cursor])
        what = f" takes entry {self._here.number:,} out: "
        title = one_line(self._here.title, 30, ascii_tokens=self.ascii)
        return [(" ", "dim"), (after[0], "key"), (what, "strong"), (title, "name"), ("; any other key cancels", "dim")]

    def _row_moved(self) -> None:
        self._asked = None

    # Doing

    @on(RowList.Opened)
    def _opened(self) -> None:
        self.attempt(self._edit_action)

    def _edit(self) -> None:
        self.host.places.edit_entry(self.address, exact(self._here))

    def _remove(self) -> None:
        row, address, jobs = self.rows.shown[self.list.cursor], self.address, self.jobs
        entry = row.entry
        asked, self._asked = self._asked, None
        if asked is not None and asked != row_key(row):
            self.say("Not removed. The entry you asked about was changed since; look again.", "warning")
            return

        def removed(result: Saved | Unchanged | Conflict) -> None:
            if isinstance(result, Conflict):
                self.say(f"Not removed: {address} is being written again and again. d t tries again.", "warning")
            else:
                self.say(f"Removed entry {entry.number:,} of {address}. u brings it back.", "good")
            self.load()

        def refused(error: MemtuiError) -> None:
            gone = f"{error.meanwhile}; look at it again." if isinstance(error, EntryGoneError) else ""
            why = gone or error.message
            self.say(f"Not removed. {why}", "warning")
            self.load()

        jobs.run(
            lambda engine: model.remove(engine, address, exact(entry), actor=jobs.actor),
            removed,
            what=f"remove an entry of {address}",
            otherwise=refused,
            lane=WRITE,
        )

    def _copy_text(self) -> None:
        row = self.rows.shown[self.list.cursor]
        self.host.copy(row.text.decode("utf-8", "replace"), f"entry {row.entry.number:,}")


# What is shown


def read(engine: Engine, address: Address) -> EntriesRead | str:
    """Read and parse a memory, or return why that fails."""
    try:
        file, _ = model.read_file(engine, address)
        limit = engine.roots.find(address.root).policy.limit_of(address.path)
    except MemtuiError as error:
        return f"{error.message} {error.hint}".strip()
    return EntriesRead(file, usage(file, limit))


def rows_of(file: EntryFile) -> tuple[EntryRow, ...]:
    """Return a row for each entry."""
    seen: Counter[str] = Counter()
    found = []
    for entry in file.entries:
        found.append(EntryRow(entry, seen[entry.sha256], file.text(entry)))
        seen[entry.sha256] += 1
    return tuple(found)


def row_key(row: EntryRow) -> tuple[str, int]:
    """Return the identity of an entry across reloads."""
    return row.entry.sha256, row.nth


def place(rows: Sequence[EntryRow], number: int) -> int:
    """Return the row of an entry number, or the nearest."""
    below = sum(row.entry.number < number for row in rows)
    return max(min(below, len(rows) - 1), 0)


def page(contents: EntriesRead, entry: Entry, width: int, *, plain: bool) -> Page:
    """Draw an entry with line numbers of its own."""
    said = words_page(*heading(contents, entry), width=width)
    notes = words_page(*contents.file.notes, style="warning", width=width)
    text, shown = contents.file.text(entry), contents.file.shown(entry)
    return (*said, *notes, PageLine(()), *text_page(text, width, shown=shown, plain=plain))


def entry_runs(entry: Entry, width: int, *, digits: int, plain: bool, tagged: bool) -> list[Run]:
    """Draw a row; `digits` is the width of the largest number."""
    runs: list[Run] = [
        (f"{entry.number:>{digits}} ", "dim"),
        (f"{size_words(entry.size):>7}  ", "description"),
    ]
    if tagged and width >= MIN_WIDTH_FOR_TAGS:
        runs.append((fit(" ".join(entry.tags), TAGS_WIDTH, plain=plain) + "  ", "heading"))
    room = max(width - sum(cell_width(text) for text, _ in runs), 1)
    return [*runs, (one_line(entry.title or "(blank)", room, ascii_tokens=plain), "name")]


def heading(contents: EntriesRead, entry: Entry) -> list[str]:
    """Describe an entry above its text."""
    text = contents.file.text(entry)
    count = 1 + text.count(b"\n")
    lines = "a line" if count == 1 else f"{count:,} lines"
    facts = [f"Entry {entry.number:,} of {len(contents.file.entries):,}", f"{lines} from line {entry.line:,} on"]
    facts += [f"{len(text.decode(errors='replace')):,} characters", f"check {entry.sha256[:8]}"]
    said = [", ".join(facts) + "."]
    if contents.used.limit:
        over = f": {contents.used.over:,} over what the agent takes" if contents.used.over else ""
        said.insert(0, f"{contents.used.words}{over}.")
    if entry.tags:
        said.append("Tags: " + visible(", ".join(entry.tags)) + ".")
    return said
