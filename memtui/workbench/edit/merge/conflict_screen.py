"""The conflict screen: YOURS and AGENT as what each did to BASE, decided place by place with one key each.

It writes nothing: ctrl+s asks the host to, only when nothing is open, and enter is never a decision. Apart from
`conflict_flow.py` so that every key has tests without an engine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import ClassVar, Protocol

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.timer import Timer
from textual.widgets import Input, TextArea

from memtui.diff.merge import BASE, BOTH, BOTH_THEIRS_FIRST, CONFLICT, THEIRS, YOURS, Merge
from memtui.safe_text import visible
from memtui.ui.action import Action, in_room, shown_key
from memtui.ui.draw.pages import fold
from memtui.ui.draw.text import Line, Run, count_words
from memtui.ui.widgets.lines import Lines
from memtui.ui.widgets.scroller import LinesView, turned
from memtui.workbench.actions import ACTIONS
from memtui.workbench.edit.bars import EditorPrompt
from memtui.workbench.edit.drafts import OverlayScreen, keys_line
from memtui.workbench.edit.memory_text import MemoryText
from memtui.workbench.edit.merge import conflict_lines
from memtui.workbench.edit.merge.conflict_lines import Parties
from memtui.workbench.edit.merge.decisions import EDITED, MergeSession, ScreenPosition, bytes_of, shown_text, typed_text


class ResultEditor(MemoryText):
    """Editor for the result of one place."""

    BINDINGS: ClassVar[list[BindingType]] = [
        ("ctrl+s", "screen.take_edit", "take this text"),
        ("escape", "screen.drop_edit", "drop it"),
    ]


def _rule(words: str, width: int, style: str, keys: str = "") -> list[Run]:
    tail = f" {keys} -" if keys else ""
    rest = "-" * max(width - len(words) - 4 - len(tail), 1)
    return [("-- ", "rule"), (words, style), (f" {rest}", "rule"), (tail.removesuffix("-"), "key"), ("-", "rule")]


def _result_rows(lines: int) -> int:
    return max(min(lines, MOST_RESULT_ROWS), 1)


NARROW_ROWS = 30
SHORT_ROWS = 18
LEAST = (30, 12)
"""Smallest screen on which a conflict can be decided."""
MOST_RESULT_ROWS, EDIT_ROWS = 4, 8

PLACE, FILE = "place", "file"
STACKED, BESIDE, RESULT = "stacked", "side by side", "result"

_CHOICES = {
    "take_yours": YOURS,
    "take_agent": THEIRS,
    "take_both": BOTH,
    "take_both_agent": BOTH_THEIRS_FIRST,
    "take_base": BASE,
}
STOP_PAUSE = frozenset(
    {
        *("reopen", "all_yours", "all_agent", "undo_decision", "redo_decision"),
        *("next_open", "previous_open", "next_hunk", "previous_hunk", "edit_all", "write_result"),
    }
)
"""Actions that keep the next open place from being shown by itself."""
NOT_TEXT = "These bytes cannot be edited as text; take a side."


class ConflictHost(Protocol):
    """What the screen asks for."""

    def write_result(self, data: bytes) -> None: ...

    def edit_whole(self) -> None: ...

    def save_as(self, path: str) -> None: ...

    def decided(self) -> None: ...

    def leave(self) -> None: ...


class ConflictScreen(OverlayScreen):
    CSS_PATH = "conflict_screen.tcss"
    ROOMS = ("conflict", "everywhere")
    AUTO_FOCUS = "#conflict-hunk"
    HELP = """Both texts, each shown as its change from BASE: the text you opened. Decide each conflict with one key.

Nothing is written before ctrl+s, and ctrl+s works only when no conflict is open. esc leaves and keeps everything: your
text, theirs, and what you decided, also after a restart. All texts are in the history of the memory (H).

The other side is called AGENT, whoever wrote it; its name stands above, as far as it is known."""

    def __init__(
        self,
        parties: Parties,
        host: ConflictHost,
        *,
        advance: float | None,
        editable: bool = True,
        table: Iterable[Action] = ACTIONS,
    ) -> None:
        """`fill` brings the merge. `advance`: seconds until the next open conflict is shown; None: never."""
        super().__init__(table)
        self.parties = parties
        self._host, self._advance, self._editable = host, advance, editable
        self._pause: Timer | None = None
        self._begun: str | None = None
        self.session = MergeSession(Merge(()))
        self.index = 0
        self.pair = conflict_lines.EACH
        self.chosen_view = ""
        """The view chosen by `v`; empty: by width."""
        self.bare = False
        """Whether secrets are unmasked, until the cursor goes to another place."""
        self.zoomed = ""
        self.said, self.level = f"compare {parties.address}", "conflict"
        self.reading = self.said
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
        yield EditorPrompt(lambda: self._place_view().focus(), id="conflict-prompt")
        yield Lines(id="conflict-foot")

    @property
    def editing(self) -> bool:
        return self.has_class("-editing")

    @property
    def typing(self) -> bool:
        return self.editing or isinstance(self.focused, Input)

    @property
    def view(self) -> str:
        wide = self.size.width >= conflict_lines.SIDE_BY_SIDE
        if self.chosen_view == RESULT or (self.chosen_view == STACKED and wide):
            return self.chosen_view
        return BESIDE if wide else STACKED

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
        words = f"words: {conflict_lines.PAIRS[self.pair]}" if self.pair else ""
        style = "conflict" if loud else "heading"
        self.query_one("#conflict-title", Lines).set_lines(_rule(title, width, style, words))
        if self._revealed != index:
            self.bare = False
        self._revealed = index
        result: list[Line] = conflict_lines.result_lines(session, index, inner, bare=self.bare) if hunks else []
        room = self._room(len(result))
        self._draw_place(self._place_lines(inner, room) if hunks else [], result, width, room, top=top)
        file, where = self._file.lines(session, index, inner, bare=self.bare)
        self.query_one("#conflict-file", LinesView).show(file, top=max(where - 2, 0) if top else None, bare=self.bare)
        self.draw_foot()

    def _place_lines(self, width: int, room: int) -> list[Line]:
        """Draw the place, from the cache unless something changed: a large one takes long."""
        beside = self.view == BESIDE
        here = self.session.chunks[self.index], self.session.choice(self.index)
        key = (here, width, beside, self.pair, room, self.bare)
        if self._drawn is None or self._drawn[0] != key:
            lines = conflict_lines.place_lines(
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
        self.query_one("#conflict-result-title", Lines).set_lines(_rule(words, width, "heading", keys))
        shown = self.query_one("#conflict-result", LinesView)
        shown.show(result, top=0, bare=self.bare)
        shown.styles.height = _result_rows(len(result))
        if self.zoomed == PLACE and not self.editing:
            place.styles.height = "1fr"
        else:
            place.styles.height = min(len(lines), room)
        words = "file after the merge, read only"
        self.query_one("#conflict-file-title", Lines).set_lines(_rule(words, width, "heading", "tab scrolls here"))

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

    # --- filling

    def fill(self, session: MergeSession, spot: ScreenPosition) -> None:
        """Show the merge, from where the user was before."""
        self.session = session
        self.index = spot.place if spot.place in session.hunks else self._first_place()
        self.chosen_view, self.pair, self._begun = spot.view, spot.pair % len(conflict_lines.PAIRS), spot.editing
        self.said, self.reading = "", ""
        if self.is_mounted:
            self._begin()

    def _begin(self) -> None:
        self.draw(top=True)
        self.call_after_refresh(self.draw, top=True)  # the first layout decides how far the file can scroll
        if self._begun is not None and self._editable and self.session.hunks:
            self._open_edit(self._begun)

    on_mount = _begin

    def on_resize(self) -> None:
        self.draw()

    @property
    def position(self) -> ScreenPosition:
        text = self.small.text if self.editing else None
        return ScreenPosition(self.index, self.chosen_view, self.pair, editing=text)

    def replace_session(self, parties: Parties, session: MergeSession, words: str) -> None:
        """Continue with a third writer's text; decisions that still fit and a text being typed stay."""
        self.parties, self.session, self.said, self.level = parties, session, words, "conflict"
        self.index = self._first_place()
        if self.editing and session.hunks:
            session.started.setdefault(self.index, self.small.text)
        elif self.editing:
            self._close_edit()
        self._changed(top=True)

    def take_edited_text(self, text: str) -> None:
        """Take a text of the whole file: what was touched in it is decided, as one step of undo."""
        self.session.read_back(text)
        self.said, self.level = "The text of your editor is the result now.", "good"
        if self.session.open:
            left = conflict_lines.open_words(self.session)
            self.said, self.level = f"Taken from your editor; {left}.", "conflict"
        self.index = self._first_place()
        self._changed(top=True)

    # --- keys

    def answer(self, action: Action) -> None:
        if action.id in _CHOICES:
            self._decide(_CHOICES[action.id])
            return
        if action.id in STOP_PAUSE:
            self._stay()
        session = self.session
        does: dict[str, Callable[[], object]] = {
            "reopen": lambda: self._decide(""),
            "all_yours": lambda: self._decide_all(YOURS),
            "all_agent": lambda: self._decide_all(THEIRS),
            "undo_decision": lambda: self._step_back(session.undo, "No decision to undo."),
            "redo_decision": lambda: self._step_back(session.redo, "No decision to redo."),
            "next_open": lambda: self._go(session.open, 1),
            "previous_open": lambda: self._go(session.open, -1),
            "next_hunk": lambda: self._go(session.hunks, 1),
            "previous_hunk": lambda: self._go(session.hunks, -1),
            "conflict_down": lambda: self._scrolled().scroll_rows(1),
            "conflict_up": lambda: self._scrolled().scroll_rows(-1),
            "word_pair": self._next_pair,
            "conflict_view": self._next_view,
            "conflict_reveal": self._reveal,
            "conflict_zoom": self._toggle_zoom,
            "edit_result": self._edit_result,
            "edit_all": self._edit_all,
            "save_as": self._ask_name,
            "write_result": self._write_result,
            "later": self.come_back_later,
        }
        does[action.id]()

    def _changed(self, *, top: bool = False) -> None:
        """Draw, and have the decisions stored."""
        self.draw(top=top)
        self._host.decided()

    def _decide(self, choice: str, text: str = "") -> None:
        if not self.session.hunks:
            return
        self.said = ""
        was_open = self.session.is_open(self.index)
        self.session.decide([self.index], choice, text)
        self.draw(top=choice != EDITED)
        if choice and (was_open or self._pause is not None):
            self._go_on_later()
        self._host.decided()

    def _go_on_later(self) -> None:
        """Show the next open place after a pause, unless something else is done first."""
        self._stay()
        if self._advance is None or not self.session.open:
            return
        if self._advance:
            self._pause = self.set_timer(self._advance, self._go_on)
        else:
            self._go_on()

    def _go_on(self) -> None:
        self._pause = None
        later = [index for index in self.session.open if index > self.index] or list(self.session.open)
        if later:
            self.index = later[0]
            self._changed(top=True)

    def _stay(self) -> None:
        if self._pause is not None:
            self._pause.stop()
            self._pause = None

    def _asks_at_once(self, first: str) -> list[Run] | None:
        """Say what `!` would do after `Y` or `A`."""
        name = {"all_yours": "YOURS", "all_agent": "AGENT"}
        asks = next((action for action in self.table if action.id in name and f"{first} !" in action.keys), None)
        if asks is None:
            return None
        count = count_words(len(self.session.open), "open conflict")
        return [(" ! ", "key"), (f"takes {name[asks.id]} for {count}; any other key cancels", "conflict")]

    def _decide_all(self, choice: str) -> None:
        still = self.session.open
        if not still:
            self.say("No conflict is open.")
            return
        self.session.decide(still, choice)
        whose = "YOURS" if choice == YOURS else "AGENT"
        self.said, self.level = f"{whose} taken for {count_words(len(still), 'conflict')}; u takes it back.", "good"
        self._changed(top=True)

    def _step_back(self, step: Callable[[], bool], otherwise: str) -> None:
        """Undo or redo, and go to the place whose decision changed."""
        before, places = self.session.places.copy(), self.session.places
        self.said, self.level = "" if step() else otherwise, "conflict"
        other = [index for index in self.session.hunks if before.get(index) != self.session.places.get(index)]
        if self.session.places is places and other and self.index not in other:
            self.index = other[0]
        if self.index not in self.session.hunks:  # the places are cut as they were before
            self.index = self._first_place()
        self._changed(top=bool(other))

    def _go(self, places: tuple[int, ...], step: int) -> None:
        if not places:
            self.say("No conflict is open.")
            return
        ahead = [index for index in places if (index > self.index if step > 0 else index < self.index)]
        self.index = (ahead or list(places))[0 if step > 0 else -1]
        self.said = ""
        self._changed(top=True)

    def _scrolled(self) -> LinesView:
        focused = self.focused
        return focused if isinstance(focused, LinesView) and focused.display else self._place_view()

    def _place_view(self) -> LinesView:
        place = self.query_one("#conflict-hunk", LinesView)
        return place if place.display else self.query_one("#conflict-file", LinesView)

    def _next_pair(self) -> None:
        self.pair = (self.pair + 1) % len(conflict_lines.PAIRS)
        self._changed()

    def _next_view(self) -> None:
        wide = self.size.width >= conflict_lines.SIDE_BY_SIDE
        views = (STACKED, BESIDE, RESULT) if wide else (STACKED, RESULT)
        self.chosen_view = views[(views.index(self.view) + 1) % len(views)]
        self._changed(top=True)

    def _reveal(self) -> None:
        said, self.bare = turned(
            any_masked=conflict_lines.has_secrets(self.session.chunks), bare=self.bare, in_browser=self.app.is_web
        )
        self.draw()
        self.say(said)

    def on_screen_suspend(self) -> None:
        self.bare = False

    def on_screen_resume(self) -> None:
        self.draw()

    def _toggle_zoom(self) -> None:
        self._zoom("" if self.zoomed else FILE if self.focused is self.query_one("#conflict-file") else PLACE)

    def _zoom(self, part: str) -> None:
        self.zoomed = FILE if part == PLACE and self.view == RESULT else part
        self.draw()
        self.call_after_refresh(self.draw)
        self.query_one("#conflict-file" if self.zoomed == FILE or self.view == RESULT else "#conflict-hunk").focus()

    # --- editing the result

    def _edit_result(self) -> None:
        if self.zoomed == FILE:
            self._zoom("")
        if not self._editable:
            self.say(NOT_TEXT)
        elif self.session.hunks:
            self._stay()
            self._open_edit(shown_text(self.session.start_text(self.index)))

    def _open_edit(self, text: str) -> None:
        area = self.small
        area.open_text(text, read_only=False)
        self.add_class("-editing")
        area.focus()
        self._changed()

    def action_take_edit(self) -> None:
        text = typed_text(self.small.text, self.session.chunks, self.index)
        self._close_edit()
        self._decide(EDITED, text)

    def action_drop_edit(self) -> None:
        self._close_edit()
        self._changed()

    def _close_edit(self) -> None:
        self.remove_class("-editing")
        self._place_view().focus()

    @on(TextArea.Changed)
    def _edited(self, event: TextArea.Changed) -> None:
        event.stop()
        if self.editing:
            self._host.decided()

    def _edit_all(self) -> None:
        if self._editable:
            self._host.edit_whole()
        else:
            self.say(NOT_TEXT)

    # --- leaving

    def _write_result(self) -> None:
        if self.session.open:
            self.say(conflict_lines.closing_words(self.session))
        else:
            self._host.write_result(bytes_of(self.session.result))

    def come_back_later(self) -> None:
        self._stay()
        if self.zoomed:
            self._zoom("")
        else:
            self._host.leave()

    def _ask_name(self) -> None:
        self.query_one(EditorPrompt).ask("keep YOURS as", self.parties.address, self._host.save_as)
