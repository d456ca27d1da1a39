"""Lists on top of any screen: messages; and help, with the keys of the pane it was opened from.

Help is made from the action table. Enter presses the key under the cursor in the pane the help came from. It is no
view, because a question about a draft has help too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from textual.app import ComposeResult
from textual.geometry import Offset

from memtui.safe_text import visible
from memtui.ui.action import MOVES, Action, beside_text, in_room, shown_keys
from memtui.ui.draw import bars
from memtui.ui.draw.pages import fold
from memtui.ui.draw.text import Line, Run
from memtui.ui.keys.keyed import KeyedScreen, press
from memtui.ui.plan_screen import PlanList
from memtui.ui.widgets.lines import Lines
from memtui.ui.widgets.prompts import Prompt, Question
from memtui.workbench.actions import ROOMS, SIGNS

START, OWN, SIGNS_TITLE = "This pane", "Keys of this view", "Signs"
TEXTS = (
    "Every memory agents keep about you on this machine, in one tree. Plain files: edit them here or anywhere.",
    "Nothing is lost: every text a memory had is under H, deleted ones are in the trash (g t), and u undoes anything.",
    "A beside a name: somebody else changed it since you looked. It goes when you look: stay on it, open it, w or x.",
    "Copy and paste: y copies what the cursor is on; paste into text with your terminal's own key.",
)
KEYS, SIGN, AGO = 20, 6, 6
"""Widths of an action's keys, of a sign, and of a message's age."""


class HelpRow(NamedTuple):
    """A line of help."""

    lead: str
    """The keys or the sign; empty for plain words and continuation lines."""
    words: str
    action: Action | None = None
    room: int = 0
    heading: bool = False


def help_rows(
    table: Iterable[Action], pane: str, rooms: Iterable[str], own: Iterable[Action] = ()
) -> tuple[HelpRow, ...]:
    """List what the pane is, its own keys and those of these rooms, then what holds everywhere, and the signs."""
    table, own = tuple(table), tuple(own)
    rows = [HelpRow("", START, heading=True), HelpRow("", " ".join(pane.replace("`", "").split()))] if pane else []
    groups = [(OWN, own), *((ROOMS[room], in_room(room, actions=table)) for room in rooms)]
    for title, actions in groups:
        if actions:
            rows.append(HelpRow("", title, heading=True))
            rows += [HelpRow(shown_keys(action), action.help, action, KEYS) for action in actions]
    rows += [HelpRow("", "Everywhere", heading=True), *(HelpRow("", text) for text in TEXTS)]
    return (*rows, HelpRow("", SIGNS_TITLE, heading=True), *(HelpRow(sign, text, room=SIGN) for sign, text in SIGNS))


def matching_rows(rows: Sequence[HelpRow], typed: str) -> tuple[HelpRow, ...]:
    """Return the rows with every typed word, under their headings."""
    words = typed.casefold().split()
    found: list[HelpRow] = []
    for row in rows:
        label = row.action.label if row.action is not None else ""
        if row.heading or all(word in f"{row.lead} {row.words} {label}".casefold() for word in words):
            if row.heading and found and found[-1].heading:
                found.pop()
            found.append(row)
    return tuple(found[:-1] if found and found[-1].heading else found)


def folded(rows: Iterable[HelpRow], width: int) -> tuple[HelpRow, ...]:
    """Fold long sentences; continuation lines belong to the same action."""
    found: list[HelpRow] = []
    for row in rows:
        if row.heading and found:
            found.append(HelpRow("", ""))
        first, *more = fold(visible(row.words), max(width - row.room - 2, 12))
        found.append(row._replace(words=first))
        found += [row._replace(lead="", words=part) for part in more]
    return tuple(found)


class HelpScreen(KeyedScreen[None]):
    """A list on the whole screen: title, lines and keys."""

    ROOMS = ("picker", "everywhere", "views", "list", "view")
    DEFAULT_CSS = "HelpScreen { background: $background; }"

    def __init__(
        self,
        rows: tuple[HelpRow, ...],
        table: Iterable[Action],
        *,
        title: str = "Help",
        typing: bool = False,
        plain: bool = False,
        switch: Callable[[str], object] | None = None,
    ) -> None:
        """`typing`: letters are text in the pane it was opened from; `switch` opens a view by id."""
        super().__init__(table)
        self._words_of_title = title
        self._rows = rows
        self._typing, self._plain, self._switch = typing, plain, switch
        self._list: PlanList[HelpRow] = PlanList(self._draw_row)
        self.prompt = Prompt(None, self._draw_footer)
        self._words = ""
        self._said: Line = []

    def compose(self) -> ComposeResult:
        yield Lines(self._title, id="help-title")
        yield self._list
        yield Lines(self._footer, id="help-footer", ground="bar")

    def on_mount(self) -> None:
        """Focus the list, if the workbench was not left meanwhile."""
        for lines in self.query(PlanList):
            lines.focus()
            self.call_after_refresh(self.show_row)

    def on_resize(self) -> None:
        self.call_after_refresh(self.show_row)

    def show_row(self) -> None:
        """Draw the lines for the current width."""
        rows = folded(matching_rows(self._rows, self._words), max(self._list.room - 2, 20))
        self._list.show(rows)
        # The cursor is on the first line that can be run: one that begins with what is typed, if any.
        able = [(index, row) for index, row in enumerate(rows) if row.action is not None]
        typed = self._words.casefold()
        begin = (index for index, row in able if typed and row.words.casefold().startswith(typed))
        self._list.go(next(begin, able[0][0] if able else 0))
        for lines in self.query(Lines):
            lines.update()

    # Keys

    def _take_text(self, key: str, character: str | None) -> bool:
        """Give a key to the filter; up and down move through its matches."""
        if self.prompt.open and key in ("up", "down"):
            self._list.move(1 if key == "down" else -1)
            return True
        return self.prompt.open and self.prompt.feed(key, character)

    def _filter(self, words: str) -> None:
        self._words = words
        self.show_row()

    def _close_filter(self, *, clear: bool) -> None:
        self.prompt.close()
        self.app.cursor_position = Offset(0, 0)
        if clear:
            self._filter("")
        for lines in self.query(Lines):
            lines.update()

    def say(self, text: str, level: str = "name") -> None:
        self.show_hint([(" " + text, level)])

    def show_hint(self, line: Line | None) -> None:
        self._said = line or []
        self._draw_footer()

    def _draw_footer(self) -> None:
        for lines in self.query("#help-footer").results(Lines):
            lines.update()

    def perform(self, action: Action) -> None:
        self.show_hint(None)
        if action.id in MOVES:
            self._list.advance(action.id)
        elif action.id == "filter":
            self.prompt.ask(
                Question(
                    "/",
                    self._words,
                    lambda _: self._close_filter(clear=False),
                    lambda: self._close_filter(clear=True),
                    self._filter,
                )
            )
            self.show_row()
        elif action.id == "pick":
            self._run()
        elif action.id == "back" and self._words:
            self._close_filter(clear=True)
        elif action.id in ("back", "quit", "left"):
            self.dismiss()
        elif (action.room == "views" or action.id == "search_all") and self._switch is not None:
            self.dismiss()
            self.call_later(self._switch, action.id.removeprefix("view_").removesuffix("_all"))
        else:
            self.say(f"{action.label} does not work in this list; esc goes back.")

    def on_row_list_opened(self) -> None:
        self._run()

    def _run(self) -> None:
        """Press the key under the cursor where the help came from."""
        row = self._list.rows[self._list.cursor] if self._list.rows else HelpRow("", "")
        usable = None if row.action is None else beside_text(row.action) if self._typing else row.action
        if usable is None:
            self.say("This line explains; enter runs one with a key.", "warning")
        elif not usable.keys:
            self.say("Letters are text there: esc first, then this key.", "warning")
        else:
            self.dismiss()
            self.app.call_later(press, self.app, usable.keys[0].split(" "))

    # Words

    def _draw_row(self, row: HelpRow, room: int) -> Sequence[Run]:
        del room
        lead = f"{visible(row.lead):<{row.room - 1}} " if row.room else ""
        return [(lead, "key"), (row.words, "heading" if row.heading else "name")]

    def _title(self, width: int) -> list[Line]:
        found = "" if self._list.rows else ": no line has these words"
        notes: Line = [(f"/{self._words}{found} ", "warning")] if self._words else []
        return [bars.title(self._words_of_title, notes, width, focused=True, plain=self._plain)]

    def _footer(self, width: int) -> list[Line]:
        if self._said:
            return [self._said]
        if self.prompt.open:
            return self.prompt.foot(self, width, plain=self._plain)
        runs = (("enter", "runs"),) if any(row.action for row in self._rows) else ()
        keys = (*runs, ("/", "filter"), ("G", "signs" if runs else "oldest"), ("esc", "back"))
        return [[run for key, does in keys for run in ((f" {key}", "key"), (f" {does} ", "dim"))]]
