"""The inbox: what keys do with changes of others: see them, take them back, open them, mark and filter them.

What is shown is `inbox_screen.py`, taking back is `taking_back.py`. Nothing is marked as seen without a key here, and
every key that changes something is a step of undo.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from textual import on

from memtui.engine.model import Change
from memtui.ui.action import MOVES, Action
from memtui.ui.draw.spans import Line
from memtui.ui.draw.words import count_words
from memtui.ui.widgets.prompts import Prompt, Question
from memtui.ui.widgets.rowlist import RowList
from memtui.workbench.views.inbox import BURST, CHANGE
from memtui.workbench.views.inbox_screen import InboxScreen
from memtui.workbench.views.taking_back import TakingBack

if TYPE_CHECKING:
    from memtui.workbench.views.host import WorkbenchHost

NEEDS_CHANGE = frozenset(
    {"edit", "edit_outside", "versions", "show_in_tree", "take_back_hunk", "next_hunk", "previous_hunk"}
)
"""Actions that work on the change under the cursor only."""


class ChangesScreen(InboxScreen):
    """Changes since you looked."""

    HELP = """Everything others changed since you last looked, newest first, by who did it and when. A group opens and
closes with `enter`; a checkout, a rewrite of many memories or a renamed folder is one row that opens. The difference is
from the text you last saw. Nothing counts as seen before you press x here, and u takes that back. d h takes back one
hunk, d c the whole change: only if the memory still is as shown, and u brings it back."""

    def __init__(self, host: WorkbenchHost) -> None:
        super().__init__(host)
        self.taking = TakingBack(self)
        self._does: dict[str, Callable[[], object]] = {
            "seen": self._seen,
            "seen_all": lambda: self._see(self.inbox.all_changes),
            "take_back_hunk": self.taking.hunk,
            "take_back": lambda: self.taking.changes(self.targets),
            "open": self._open,
            "edit": self._edit,
            "edit_outside": lambda: self.host.places.edit(self.change.address, then="outside"),
            "versions": lambda: self.host.places.history(self.change.address),
            "next_hunk": lambda: self.go_to_hunk(self.hunk + 1),
            "previous_hunk": lambda: self.go_to_hunk(self.hunk - 1),
            "inline_words": self._toggle_words,
            "show_in_tree": self._show_in_tree,
            "mark": self._mark,
            "range": self._range,
            "range_down": lambda: self._extend(1),
            "range_up": lambda: self._extend(-1),
            "mark_all": lambda: self._marking(self.inbox.mark_all),
            "filter": self._filter,
            "left": lambda: self._fold(wide=False),
            "right": lambda: self._fold(wide=True),
            "expand_all": self._fold_all,
            "next_folder": lambda: self._jump(1),
            "previous_folder": lambda: self._jump(-1),
            "reload": self._reload,
            "next_pane": self._other_pane,
            "previous_pane": self._other_pane,
            "preview_down": lambda: self.page.scroll_rows(3),
            "preview_up": lambda: self.page.scroll_rows(-3),
        }

    def does(self) -> Mapping[str, Callable[[], object]]:
        """What keys do."""
        return self._does

    def asks_at_once(self, first: str) -> Line | None:
        """`d` says what it would take back before it does."""
        after = {action.id: key for key, action in self._sequences.choices(first)}
        if "take_back" not in after or self.jobs.read_only or not self.targets:
            return None
        line: Line = [(" takes back ", "strong")]
        shown = self.shown
        if "take_back_hunk" in after and shown is not None and shown.hunks:
            where = f"hunk {self.hunk + 1} of {len(shown.hunks)}" if len(shown.hunks) > 1 else "the only hunk"
            line += [(after["take_back_hunk"], "key"), (f" {where}, ", "name")]
        targets = self.targets
        what = str(targets[0].address) if len(targets) == 1 else count_words(len(targets), "memory")
        return [*line, (after["take_back"], "key"), (f" all of {what}", "name"), ("; any other key cancels", "dim")]

    # Keys

    def off(self, action: Action) -> str:
        """Why an action is off now."""
        item = self.item
        if action.id in NEEDS_CHANGE and (item is None or item.change is None):
            return f"{action.label}: put the cursor on a change first."
        if (action.id in ("seen", "take_back", "mark") and not self.targets) or (action.id == "open" and item is None):
            return "There is no change here."
        if action.id == "seen_all" and not self.inbox.all_changes:
            return "You have seen everything."
        if action.id in ("next_hunk", "previous_hunk") and (self.shown is None or len(self.shown.hunks) < 2):
            return "There is no other hunk."
        if action.id == "take_back_hunk":
            return self.taking.no_hunk
        if action.id in ("edit", "edit_outside", "show_in_tree") and item is not None and item.change is not None:
            return self._not_there(item.change)
        return ""

    def _not_there(self, change: Change) -> str:
        return f"{change.address} is deleted; d c restores it." if change.after is None else ""

    def perform(self, action: Action) -> None:
        """Do it."""
        if action.id in MOVES:
            self.show_hint(None)
            (self.page if self.in_page else self.list).advance(action.id)
        else:
            super().perform(action)

    def step_back(self) -> bool:
        """Back to the list, then without filter, then without marks, then to the tree."""
        if self.in_page:
            self._other_pane()
        elif self.inbox.words:
            self._set_filter("")
        elif self.inbox.marks or self.range_start is not None:
            self.range_start = None
            self._marking(self.inbox.marks.clear)
        else:
            return False
        return True

    def _other_pane(self) -> None:
        (self.list if self.in_page else self.page).focus()
        self.update("#changes-title", "#changes-page-title")

    @on(RowList.Opened)
    def _clicked_twice(self) -> None:
        self._open()

    def _toggle_words(self) -> None:
        self.words = not self.words
        self.say("Compared word by word: [-went-] {+came+}." if self.words else "Compared line by line.")
        self.read_again()

    # Folds

    def _fold(self, *, wide: bool) -> None:
        item = self.item
        if item is None or item.burst is None:
            return
        if item.kind == BURST and self.inbox.is_open(item.burst) != wide:
            burst = item.burst
            self.list.change_rows(lambda: self.inbox.set_open(burst, wide=wide))
            self.rows_changed()
        elif wide and item.kind == BURST:
            self.list.move(1)
        elif wide != self.in_page:
            self._other_pane()
        elif not wide and not item.alone:
            self._jump(-1)

    def _fold_all(self) -> None:
        found = [item.burst for item in self.inbox.items if item.kind == BURST and item.burst is not None]
        wide = not all(self.inbox.is_open(burst) for burst in found)

        def fold() -> None:
            for burst in found:
                self.inbox.set_open(burst, wide=wide)

        self.list.change_rows(fold)
        self.rows_changed()

    def _jump(self, step: int) -> None:
        items, index = self.inbox.items, self.list.cursor + step
        while 0 <= index < len(items):
            if items[index].kind != CHANGE or items[index].alone:
                self.list.go(index)
                return
            index += step

    # Marks

    def _marking(self, change: Callable[[], None]) -> None:
        change()
        self.list.repaint()
        self.update("#changes-title", "#view-footer")

    def _mark(self) -> None:
        self._marking(lambda: self.inbox.toggle_mark(self.list.cursor))
        self.list.move(1)

    def _range(self) -> None:
        if self.range_start is not None:
            self.range_start = None
            return
        self.range_start, self.range_base = self.list.cursor, frozenset(self.inbox.marks)
        self._marking(lambda: self.inbox.mark_range(self.list.cursor, self.list.cursor, self.range_base))

    def _extend(self, by: int) -> None:
        first = self.list.cursor
        self.list.move(by)
        self._marking(lambda: self.inbox.mark_range(first, self.list.cursor, frozenset(self.inbox.marks)))

    # Filter

    def _filter(self) -> None:
        def found(_: str) -> Line:
            shown = len(self.inbox.all_changes)
            return [(f"{shown:,} of {self.inbox.total:,}  enter keeps  esc clears ", "dim")]

        def kept(_: str) -> None:
            self.filtering = None
            self.rows_changed()

        def cancelled() -> None:
            self.filtering = None
            self._set_filter("")

        words = " ".join(self.inbox.words)
        self.filtering = Prompt(Question("/", words, kept, cancelled, self._set_filter, found, over=True))
        self.update("#view-footer")

    def _set_filter(self, text: str) -> None:
        def change() -> None:
            self.inbox.words = tuple(text.casefold().split())
            self.inbox.rebuild()

        self.list.change_rows(change)
        self.rows_changed()

    def take_text(self, key: str, character: str | None) -> bool:
        """Give a key to the filter."""
        if self.filtering is None or not self.filtering.feed(key, character):
            return False
        self.update("#view-footer")
        return True

    def take_paste(self, text: str) -> bool:
        """Give a paste to the filter."""
        if self.filtering is None:
            return False
        self.filtering.paste(text)
        self.update("#view-footer")
        return True

    @property
    def letters_are_text(self) -> bool:
        """Whether letters go into the filter."""
        return self.filtering is not None

    # Seen

    def _seen(self) -> None:
        self._see(self.targets)

    def _see(self, changes: tuple[Change, ...]) -> None:
        self.range_start = None
        self.inbox.let_go(change.address for change in changes)

        def seen() -> None:
            self.inbox.marks.clear()
            self.load()

        self.host.operations.see(changes, seen)

    # Elsewhere

    def _reload(self) -> None:
        self.say("Reading every folder again.")
        self.jobs.reload()
        self.read_again()

    def _open(self) -> None:
        item = self.item
        if item is not None and item.kind == BURST and item.burst is not None:
            self._fold(wide=not self.inbox.is_open(item.burst))
        elif item is not None and item.change is not None:
            reason = self._not_there(item.change)
            if reason:
                self.say(reason, "warning")
            else:
                self._edit()

    def _edit(self) -> None:
        """Open the memory at the place that is shown."""
        shown = self.shown
        line = shown.hunks[self.hunk].after[0] + 1 if shown is not None and shown.hunks else 0
        self.host.places.edit(self.change.address, then=f"line {line}" if line else "")

    def _show_in_tree(self) -> None:
        self.host.places.tree(self.change.address)
