"""Layout of the conflict screen: its parts, how they share the rows, and what each shows.

It draws and decides nothing, so that no size or view can change a decision. Apart from `conflict_screen.py` because
both together are too long for one file.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.widgets import Input

from memtui.diff.merge import CONFLICT, Hunk
from memtui.safe_text import visible
from memtui.ui.action import Action, in_room, shown_key
from memtui.ui.draw.pages import fold
from memtui.ui.draw.spans import Line
from memtui.ui.widgets.lines import Lines
from memtui.ui.widgets.lines_view import LinesView
from memtui.workbench.edit.bars import EditorPrompt
from memtui.workbench.edit.memory_text import MemoryText
from memtui.workbench.edit.merge import conflict_lines, place_lines
from memtui.workbench.edit.merge.conflict_lines import Parties
from memtui.workbench.edit.merge.decisions import MergeSession
from memtui.workbench.edit.screens import OverlayScreen, keys_line, rule


class ResultEditor(MemoryText):
    """Editor for the result of one place."""

    BINDINGS: ClassVar[list[BindingType]] = [
        ("ctrl+s", "screen.take_edit", "take this text"),
        ("escape", "screen.drop_edit", "drop it"),
    ]


def shown_text(text: str) -> str:
    return text.replace("\r\n", "\n")


def typed_text(text: str, chunks: Sequence[Hunk], index: int) -> str:
    """Turn typed text into lines for a place: its line ends, and one at the end where text follows.

    A place without line ends takes those nearest to it.
    """
    if text and not text.endswith("\n") and index < len(chunks) - 1:
        text += "\n"
    for chunk in sorted(chunks, key=lambda one: abs(one.base_line - chunks[index].base_line)):
        ended = [line for line in (*chunk.yours, *chunk.theirs, *chunk.base) if line.endswith("\n")]
        if ended:
            return text.replace("\n", "\r\n") if any(line.endswith("\r\n") for line in ended) else text
    return text


def _result_rows(lines: int) -> int:
    return max(min(lines, MOST_RESULT_ROWS), 1)


NARROW_ROWS = 30
SHORT_ROWS = 18
LEAST = (30, 12)
"""Smallest screen on which a conflict can be decided."""
MOST_RESULT_ROWS, EDIT_ROWS = 4, 8

PLACE, FILE = "place", "file"
STACKED, BESIDE, RESULT = "stacked", "side by side", "result"


class ConflictLayout(OverlayScreen):
    CSS_PATH = "conflict_screen.tcss"
    ROOMS = ("conflict", "everywhere")
    AUTO_FOCUS = "#conflict-hunk"

    def __init__(self, parties: Parties, session: MergeSession, table: Iterable[Action]) -> None:
        super().__init__(table)
        self.parties = parties
        self.session = session
        self.index = self._first_place()
        self.pair = place_lines.EACH
        self.chosen_view = ""
        """The view chosen by `v`; empty: by width."""
        self.bare = False
        """Whether secrets are unmasked, until the cursor goes to another place."""
        self.zoomed = ""
        self.said, self.level = "", "conflict"
        self.small = ResultEditor(id="conflict-edit")
        """The small editor; held here because decisions are still written from it while the screen is taken apart."""
        self._file = conflict_lines.MergedFile()
        self._drawn: tuple[object, list[Line]] | None = None
        self._revealed = -1

    def compose(self) -> ComposeResult:
        yield Lines(id="conflict-header", ground="bar")
        yield Lines(id="conflict-title")
        yield LinesView(id="conflict-hunk")
        yield Lines(id="conflict-result-title")
        with Vertical(id="conflict-result-box"):
            yield LinesView(id="conflict-result")
            yield self.small
        yield Lines(id="conflict-file-title")
        yield LinesView(id="conflict-file")
        yield EditorPrompt(id="conflict-prompt")
        yield Lines(id="conflict-foot")

    @property
    def editing(self) -> bool:
        return self.has_class("-editing")

    @property
    def typing(self) -> bool:
        return self.editing or isinstance(self.focused, Input)

    @property
    def view(self) -> str:
        wide = self.size.width >= place_lines.SIDE_BY_SIDE
        if self.chosen_view == RESULT or (self.chosen_view == STACKED and wide):
            return self.chosen_view
        return BESIDE if wide else STACKED

    @property
    def _views(self) -> tuple[str, ...]:
        return (STACKED, BESIDE, RESULT) if self.size.width >= place_lines.SIDE_BY_SIDE else (STACKED, RESULT)

    def _first_place(self) -> int:
        return next(iter(self.session.open), next(iter(self.session.hunks), 0))

    def say(self, text: str, level: str = "conflict") -> None:
        self.said, self.level = text, level
        self.draw_foot()

    def draw(self, *, top: bool = False) -> None:
        """Show the decisions; `top` scrolls to the current place."""
        width = self.size.width
        if not width or not self.is_mounted:
            return
        self._say_size()
        session, index = self.session, self.index
        if self._tiny:
            return
        self.set_class(self._short, "-short")
        self.set_class(self.editing and self.size.height < NARROW_ROWS and not self.zoomed, "-nofile")
        self.set_class(self.zoomed == PLACE, "-place")
        self.set_class(self.zoomed == FILE, "-file")
        self.query_one("#conflict-header", Lines).set_lines(*conflict_lines.header(self.parties, session, width))
        inner = max(width - 1, 20)
        hunks = bool(session.hunks)
        title = conflict_lines.hunk_title(session, index) if hunks else "both sides say the same"
        loud = hunks and session.is_open(index) and session.chunks[index].kind == CONFLICT
        words = f"words: {place_lines.PAIRS[self.pair]}" if self.pair else ""
        self.query_one("#conflict-title", Lines).set_lines(rule(title, width, "conflict" if loud else "heading", words))
        if self._revealed != index:
            self.bare = False
        self._revealed = index
        result: list[Line] = conflict_lines.result_lines(session, index, inner, bare=self.bare) if hunks else []
        room = self._room(len(result))
        self._draw_place(self._place_lines(inner, room) if hunks else [], result, width, room, top=top)
        file, where = self._file.lines(session, index, inner, bare=self.bare)
        self.query_one("#conflict-file", LinesView).show(file, top=max(where - 2, 0) if top else None, bare=self.bare)
        self.draw_foot()

    def zoom(self, part: str) -> None:
        self.zoomed = FILE if part == PLACE and self.view == RESULT else part
        self.draw()
        self.call_after_refresh(self.draw)
        self.query_one("#conflict-file" if self.zoomed == FILE or self.view == RESULT else "#conflict-hunk").focus()

    def _place_lines(self, width: int, room: int) -> list[Line]:
        """Draw the place, from the cache unless something changed: a large one takes long."""
        beside = self.view == BESIDE
        here = self.session.chunks[self.index], self.session.choice(self.index)
        key = (here, width, beside, self.pair, room, self.bare)
        if self._drawn is None or self._drawn[0] != key:
            lines = place_lines.place_lines(
                self.session, self.index, width, beside=beside, pair=self.pair, rows=room, bare=self.bare
            )
            self._drawn = (key, lines)
        return self._drawn[1]

    def _draw_place(self, lines: list[Line], result: list[Line], width: int, room: int, *, top: bool) -> None:
        """Share the rows between the place, its result and the file."""
        place = self.query_one("#conflict-hunk", LinesView)
        place.display = self.view != RESULT and self.zoomed != FILE
        place.show(lines, top=0 if top else None, bare=self.bare)
        words = "edit: ctrl+s takes this text, esc drops it" if self.editing else "result of this place"
        keys = "" if self.editing else "[b] both  [o] original  [e] edit"
        self.query_one("#conflict-result-title", Lines).set_lines(rule(words, width, "heading", keys))
        shown = self.query_one("#conflict-result", LinesView)
        shown.show(result, top=0, bare=self.bare)
        shown.styles.height = _result_rows(len(result))
        if self.zoomed == PLACE and not self.editing:
            place.styles.height = "1fr"
        else:
            place.styles.height = min(len(lines), room)
        words = "file after the merge, read only"
        self.query_one("#conflict-file-title", Lines).set_lines(rule(words, width, "heading", "tab scrolls here"))

    @property
    def _tiny(self) -> bool:
        return self.size.width < LEAST[0] or self.size.height < LEAST[1]

    def _say_size(self) -> None:
        self.set_class(self._tiny, "-tiny")
        if self._tiny:
            self.query_one("#conflict-hunk").display = False
            words = (
                f"CONFLICT needs {LEAST[0]}x{LEAST[1]}, this is {self.size.width}x{self.size.height}. Nothing is lost."
            )
            lines = [[(f" {part}", "conflict")] for part in fold(words, max(self.size.width - 1, 8))]
            self.query_one("#conflict-header", Lines).set_lines(*lines)

    @property
    def _short(self) -> bool:
        return self.size.height < SHORT_ROWS

    def _room(self, result: int) -> int:
        """Rows for the place: what titles, foot, its result and a look at the file leave of the screen."""
        narrow = self.size.height < NARROW_ROWS
        edit = EDIT_ROWS // 2 if narrow else EDIT_ROWS
        fixed, file = (7, 1) if self._short else (8, 3 if narrow else 8)
        if self.has_class("-nofile"):
            fixed, file = fixed - 1, 0
        if self.zoomed == PLACE:
            fixed, file = fixed - 1, 0
        fixed += file + (edit if self.editing else _result_rows(result))
        return max(self.size.height - fixed, 3 if self._short else 4)

    def draw_foot(self) -> None:
        if not self.is_mounted:
            return
        words = self.said or conflict_lines.closing_words(self.session)
        kept = " Nothing is written until ctrl+s. All texts are kept (H history)."
        here = in_room("conflict", actions=self.table)
        shown = sorted((action for action in here if action.footer), key=lambda action: action.footer)
        shown[-1:-1] = [action for action in self.table if action.id == "help"]
        names = {action.id: (shown_key(action.keys[0]), action.label) for action in shown}
        # Help has them all; saving and the way out come first.
        for id_ in ("conflict_view", "word_pair", "reopen", "next_open", "undo_decision"):
            if sum(len(key) + len(does) + 3 for key, does in names.values()) > self.size.width:
                names.pop(id_, None)
        keys: Line = keys_line(list(names.values()), self.size.width)
        if self.editing:
            keys = keys_line([("ctrl+s", "take this text"), ("esc", "drop it")], self.size.width)
        style = self.level if self.said else "conflict" if self.session.open else "good"
        said: list[Line] = [[(f" {part}", style)] for part in fold(visible(words), max(self.size.width - 2, 8))]
        lines: list[Line] = [[(kept, "description")], *said, self.hint or keys]
        self.query_one("#conflict-foot", Lines).set_lines(*lines[-2 if self._short else -3 :])
