"""The conflict screen: your text and somebody else's, both as what they did to BASE, decided place by place.

Nothing here writes: ctrl+s asks the host to, and only when nothing is open. enter is never a decision. Whatever is
pressed, the texts themselves are kept by others; this screen only knows which lines were chosen.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Protocol

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.widgets import Input, TextArea

from memtui.curation.merge import BASE, BOTH, BOTH_THEIRS_FIRST, CONFLICT, THEIRS, YOURS
from memtui.tui.actions import ACTIONS, Action, in_room, shown_key
from memtui.tui.browse.cells import Run
from memtui.tui.draw.lines import Line, Lines
from memtui.tui.draw.lines_view import LinesView
from memtui.tui.edit.bars import EditorPrompt
from memtui.tui.edit.memory_text import MemoryText
from memtui.tui.merge import view
from memtui.tui.merge.deciding import DecidingScreen
from memtui.tui.merge.session import MergeSession, bytes_of
from memtui.tui.merge.view import Parties

NARROW_ROWS = 30
"""Below this height the file after the merge gets only a few rows."""
MOST_RESULT_ROWS, EDIT_ROWS = 4, 8
"""Rows for the result of one place, shown and edited."""


class Host(Protocol):
    """What the screen asks for; it never does these things itself."""

    def write_result(self, data: bytes) -> None:
        """Save the merged text, guarded."""
        ...

    def edit_whole(self) -> None:
        """Open the whole result, open conflicts between markers, in the user's own editor."""
        ...

    def save_as(self, path: str) -> None:
        """Keep YOURS under another name."""
        ...

    def leave(self) -> None:
        """Come back later."""
        ...


class ResultEditor(MemoryText):
    """A small editor for the result of one place: ctrl+s takes it, esc drops it; the file is not touched."""

    BINDINGS: ClassVar[list[BindingType]] = [
        ("ctrl+s", "screen.take_edit", "take this text"),
        ("escape", "screen.drop_edit", "drop it"),
    ]


class ConflictScreen(DecidingScreen):
    """Decides a conflict."""

    CSS_PATH = "screen.tcss"
    ROOMS = ("conflict", "everywhere")
    AUTO_FOCUS = "#conflict-hunk"
    HELP = """Both texts, each shown as its change from BASE: the text you opened. Decide each conflict with one key.

Nothing is written before ctrl+s, and ctrl+s works only when no conflict is open. esc leaves and keeps everything: your
text, theirs, and what you decided. All texts are in the history of the memory (H)."""

    def __init__(
        self,
        parties: Parties,
        session: MergeSession,
        host: Host,
        *,
        editable: bool = True,
        table: Iterable[Action] = ACTIONS,
    ) -> None:
        """Take the texts and who wrote them.

        Args:
            parties: the sides in words.
            session: the merge, with the decisions made before.
            host: does what this screen cannot.
            editable: whether the result can be edited as text; False when a side is not plain text.
            table: the actions with the user's own keys.
        """
        super().__init__(table)
        self.parties = parties
        self.session = session
        self._host = host
        self._editable = editable
        self._stacked = False
        self._said, self._level = "", "conflict"
        self.index = self._first()

    def compose(self) -> ComposeResult:
        """Header, the place to decide, its result, the whole file, and what the keys do."""
        yield Lines(id="conflict-header", ground="bar")
        yield Lines(id="conflict-title")
        yield LinesView(id="conflict-hunk")
        yield Lines(id="conflict-result-title")
        with Vertical(id="conflict-result-box"):
            yield LinesView(id="conflict-result")
            yield ResultEditor(id="conflict-edit")
        yield Lines(id="conflict-file-title")
        yield LinesView(id="conflict-file")
        yield EditorPrompt(id="conflict-prompt")
        yield Lines(id="conflict-foot")

    def on_mount(self) -> None:
        """Draw everything once."""
        self.draw(top=True)

    def on_resize(self) -> None:
        """Fold lines at the new width; decisions and place stay."""
        self.draw()

    @property
    def typing(self) -> bool:
        """Whether letters are text now."""
        return self.editing or isinstance(self.focused, Input)

    def come_back_later(self) -> None:
        """Go back to the editor; texts and decisions are kept."""
        self.action_later()

    def say(self, text: str, level: str = "conflict") -> None:
        """Show one line until the next decision."""
        self._said, self._level = text, level
        self._draw_foot()

    def show_hint(self, line: Line | None) -> None:
        """Show which keys may follow; this room has no keys that wait for another."""
        del line

    def take_session(self, parties: Parties, session: MergeSession, words: str) -> None:
        """Go on with a third writer's text; what still fits stays decided."""
        self.parties, self.session, self._said = parties, session, words
        self.index = self._first()
        self.draw(top=True)

    # --- deciding

    def _first(self) -> int:
        return next(iter(self.session.open), next(iter(self.session.hunks), 0))

    def _decide(self, choice: str) -> None:
        if not self.session.hunks:
            return
        self._said = ""
        was_open = self.session.is_open(self.index)
        self.session.decide([self.index], choice)
        later = [index for index in self.session.open if index > self.index] or list(self.session.open)
        if was_open and later and choice:
            self.index = later[0]
        self.draw(top=True)

    def action_take_yours(self) -> None:
        """Take YOURS here."""
        self._decide(YOURS)

    def action_take_agent(self) -> None:
        """Take AGENT here."""
        self._decide(THEIRS)

    def action_take_both(self) -> None:
        """Take both, YOURS first."""
        self._decide(BOTH)

    def action_take_both_agent(self) -> None:
        """Take both, AGENT first."""
        self._decide(BOTH_THEIRS_FIRST)

    def action_take_base(self) -> None:
        """Take the original."""
        self._decide(BASE)

    def action_reopen(self) -> None:
        """Take the decision back."""
        self._decide("")

    def action_undo_decision(self) -> None:
        """Undo the last decision."""
        self._said = "" if self.session.undo() else "No decision to undo."
        self.draw()

    def action_redo_decision(self) -> None:
        """Redo it."""
        self._said = "" if self.session.redo() else "No decision to redo."
        self.draw()

    # --- moving

    def _go(self, places: tuple[int, ...], step: int) -> None:
        if not places:
            self.say("No conflict is open.")
            return
        ahead = [index for index in places if (index > self.index if step > 0 else index < self.index)]
        self.index = (ahead or list(places))[0 if step > 0 else -1]
        self._said = ""
        self.draw(top=True)

    def action_next_open(self) -> None:
        """Go to the next open conflict."""
        self._go(self.session.open, 1)

    def action_previous_open(self) -> None:
        """Go to the previous open conflict."""
        self._go(self.session.open, -1)

    def action_next_hunk(self) -> None:
        """Go to the next change."""
        self._go(self.session.hunks, 1)

    def action_previous_hunk(self) -> None:
        """Go to the previous change."""
        self._go(self.session.hunks, -1)

    def _scrolled(self) -> LinesView:
        focused = self.focused
        return focused if isinstance(focused, LinesView) else self.query_one("#conflict-hunk", LinesView)

    def action_conflict_down(self) -> None:
        """Scroll down."""
        self._scrolled().scroll_down(animate=False)

    def action_conflict_up(self) -> None:
        """Scroll up."""
        self._scrolled().scroll_up(animate=False)

    def action_conflict_view(self) -> None:
        """Show the sides next to each other, or one under the other."""
        if self.size.width < view.SIDE_BY_SIDE:
            self.say(f"Side by side needs {view.SIDE_BY_SIDE} columns; this terminal has {self.size.width}.")
            return
        self._stacked = not self._stacked
        self.draw(top=True)

    # --- editing the result

    @property
    def editing(self) -> bool:
        """Whether the result of one place is being edited."""
        return self.has_class("-editing")

    def action_edit_result(self) -> None:
        """Open the result of this place for editing."""
        if not self._editable:
            self.say("These bytes cannot be edited as text; take a side.")
            return
        if not self.session.hunks:
            return
        chunk = self.session.chunks[self.index]
        lines = self.session.lines(self.index) if not self.session.is_open(self.index) else chunk.yours or chunk.theirs
        area = self.query_one(ResultEditor)
        area.open_text("".join(lines).replace("\r\n", "\n"), read_only=False)
        self.add_class("-editing")
        area.focus()
        self.draw()

    def action_take_edit(self) -> None:
        """Take the edited text as the result of this place."""
        area = self.query_one(ResultEditor)
        chunk = self.session.chunks[self.index]
        text = area.text
        if any(line.endswith("\r\n") for line in (*chunk.yours, *chunk.theirs, *chunk.base)):
            text = text.replace("\n", "\r\n")
        self._close_edit()
        self.session.decide([self.index], "edited", text)
        self.draw()

    def action_drop_edit(self) -> None:
        """Leave the result of this place as it was."""
        self._close_edit()
        self.draw()

    def _close_edit(self) -> None:
        self.remove_class("-editing")
        self.query_one("#conflict-hunk").focus()

    @on(TextArea.Changed)
    def _edited(self, event: TextArea.Changed) -> None:
        event.stop()

    def action_edit_all(self) -> None:
        """Open the whole result in the user's own editor."""
        if self._editable:
            self._host.edit_whole()
        else:
            self.say("These bytes cannot be edited as text; take a side.")

    def take_whole(self, text: str) -> None:
        """Take a text of the whole file as the result: one decision, undone like any other."""
        self.session = self.session.replaced(text)
        self.index = self._first()
        self.draw(top=True)

    # --- leaving

    def action_write_result(self) -> None:
        """Write, when nothing is open."""
        if self.session.open:
            self.say(view.closing_words(self.session))
            return
        self._host.write_result(bytes_of(self.session.result))

    def action_later(self) -> None:
        """Come back later."""
        self._host.leave()

    def action_save_as(self) -> None:
        """Ask for another name for YOURS."""
        self.query_one(EditorPrompt).ask("keep YOURS as", self.parties.address)

    @on(EditorPrompt.Answered)
    def _named(self, event: EditorPrompt.Answered) -> None:
        event.stop()
        self.query_one("#conflict-hunk").focus()
        self._host.save_as(event.value)

    @on(EditorPrompt.Closed)
    def _not_named(self, event: EditorPrompt.Closed) -> None:
        event.stop()
        self.query_one("#conflict-hunk").focus()

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()

    # --- drawing

    def draw(self, *, top: bool = False) -> None:
        """Show the present decisions; `top` scrolls to the current place."""
        width = self.size.width
        if not width or not self.is_mounted:
            return
        session, index = self.session, self.index
        self.query_one("#conflict-header", Lines).set_lines(*view.header(self.parties, session, width))
        inner = max(width - 1, 20)
        beside = not self._stacked and width >= view.SIDE_BY_SIDE
        hunks = bool(session.hunks)
        title = view.hunk_title(session, index) if hunks else "both sides say the same"
        title = title.replace("AGENT", self.parties.agent_name)
        loud = hunks and session.is_open(index) and session.chunks[index].kind == CONFLICT
        self.query_one("#conflict-title", Lines).set_lines(_rule(title, width, "conflict" if loud else "heading"))
        lines: list[Line] = view.hunk_lines(session, index, self.parties, inner, beside=beside) if hunks else []
        self.query_one("#conflict-hunk", LinesView).show(lines, top=0 if top else None)
        words = "edit: ctrl+s takes this text, esc drops it" if self.editing else "result of this place"
        keys = "" if self.editing else "[b] both  [o] original  [e] edit"
        self.query_one("#conflict-result-title", Lines).set_lines(_rule(words, width, "heading", keys))
        result: list[Line] = view.result_lines(session, index, inner) if hunks else []
        shown = self.query_one("#conflict-result", LinesView)
        shown.show(result, top=0)
        shown.styles.height = result_rows = max(min(len(result), MOST_RESULT_ROWS), 1)
        space = self.size.height - self._fixed_rows(result_rows)
        self.query_one("#conflict-hunk").styles.height = max(min(len(lines), space), 4)
        self.query_one("#conflict-file-title", Lines).set_lines(
            _rule("file after the merge, read only", width, "heading", "tab scrolls here")
        )
        file, where = view.file_lines(session, index, inner)
        self.query_one("#conflict-file", LinesView).show(file, top=max(where - 2, 0) if top else None)
        self._draw_foot()

    def _fixed_rows(self, result: int) -> int:
        """Rows that the place to decide cannot have: titles, footer, its result, a look at the file."""
        return 8 + (EDIT_ROWS if self.editing else result) + (3 if self.size.height < NARROW_ROWS else 8)

    def _draw_foot(self) -> None:
        if not self.is_mounted:
            return
        words = self._said or view.closing_words(self.session)
        kept = " Nothing is written until ctrl+s. All texts are kept (H history)."
        if self.parties.same_text:
            kept = " Only line ends or the byte-order mark differ. Nothing is written until ctrl+s."
        here = in_room("conflict", actions=self.table)
        shown = sorted((action for action in here if action.footer), key=lambda action: action.footer)
        shown[-1:-1] = [action for action in self.table if action.id == "help"]
        names = {action.id: (shown_key(action.keys[0]), action.label) for action in shown}
        for id_ in ("next_open", "undo_decision"):  # help has them; saving and the way out come first
            if len(_words(list(names.values()))) > self.size.width:
                names.pop(id_, None)
        keys = _keys_line(list(names.values()), self.size.width)
        if self.editing:
            keys = _keys_line([("ctrl+s", "take this text"), ("esc", "drop it")], self.size.width)
        style = self._level if self._said else "conflict" if self.session.open else "good"
        self.query_one("#conflict-foot", Lines).set_lines([(kept, "description")], [(f" {words}", style)], keys)


def _words(keys: list[tuple[str, str]]) -> str:
    return "".join(f" {key} {does} " for key, does in keys)


def _keys_line(keys: list[tuple[str, str]], width: int) -> list[Run]:
    """Name the keys; the last ones give way when there is no room, but never the way out."""
    *first, last = [(f" {key}", f" {does} ") for key, does in keys]
    room = width - len("".join(last))
    line: list[Run] = []
    for key, label in first:
        room -= len(key + label)
        if room < 0:
            break
        line += [(key, "key"), (label, "name")]
    return [*line, (last[0], "key"), (last[1], "name")]


def _rule(words: str, width: int, style: str, keys: str = "") -> list[Run]:
    """A line that begins a part of the screen."""
    tail = f" {keys} -" if keys else ""
    rest = "-" * max(width - len(words) - 4 - len(tail), 1)
    return [("-- ", "rule"), (words, style), (f" {rest}", "rule"), (tail.removesuffix("-"), "key"), ("-", "rule")]
