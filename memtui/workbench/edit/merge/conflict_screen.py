"""The conflict screen: YOURS and AGENT as what each did to BASE, decided place by place with one key each.

It writes nothing: ctrl+s asks the host to, only when nothing is open, and enter is never a decision. Apart from
`conflict_flow.py` so that every key has tests without an engine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

from textual import on
from textual.timer import Timer
from textual.widgets import Input, TextArea

from memtui.diff.merge import BASE, BOTH, BOTH_THEIRS_FIRST, THEIRS, YOURS, Merge
from memtui.ui.action import Action
from memtui.ui.draw.spans import Run
from memtui.ui.draw.words import count_words
from memtui.ui.widgets.lines_view import LinesView
from memtui.ui.widgets.page_view import turned
from memtui.workbench.actions import ACTIONS
from memtui.workbench.edit.bars import EditorPrompt
from memtui.workbench.edit.merge import conflict_lines, place_lines
from memtui.workbench.edit.merge.conflict_layout import FILE, PLACE, ConflictLayout, shown_text, typed_text
from memtui.workbench.edit.merge.conflict_lines import Parties
from memtui.workbench.edit.merge.decisions import EDITED, MergeSession, bytes_of
from memtui.workbench.edit.merge.stored_decisions import ScreenPosition

_CHOICES = {
    "take_yours": YOURS,
    "take_agent": THEIRS,
    "take_both": BOTH,
    "take_both_agent": BOTH_THEIRS_FIRST,
    "take_base": BASE,
}


class ConflictHost(Protocol):
    """What the screen asks for."""

    def write_result(self, data: bytes) -> None: ...

    def edit_whole(self) -> None: ...

    def save_as(self, path: str) -> None: ...

    def decided(self) -> None: ...

    def leave(self) -> None: ...


class ConflictScreen(ConflictLayout):
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
        super().__init__(parties, MergeSession(Merge(())), table)
        self._host = host
        self._advance = advance
        self._editable = editable
        self._pause: Timer | None = None
        self._begun: str | None = None
        self.said = self.reading = f"compare {parties.address}"

    def fill(self, session: MergeSession, spot: ScreenPosition) -> None:
        """Show the merge, from where the user was before."""
        self.session = session
        self.index = spot.place if spot.place in session.hunks else self._first_place()
        self.chosen_view, self.pair, self._begun = spot.view, spot.pair % len(place_lines.PAIRS), spot.editing
        self.said, self.reading = "", ""
        if self.is_mounted:
            self._begin()

    def on_mount(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self.draw(top=True)
        self.call_after_refresh(self.draw, top=True)  # the first layout decides how far the file can scroll
        if self._begun is not None and self._editable and self.session.hunks:
            self._open_edit(self._begun)

    def on_resize(self) -> None:
        self.draw()

    @property
    def position(self) -> ScreenPosition:
        text = self.small.text if self.editing else None
        return ScreenPosition(self.index, self.chosen_view, self.pair, editing=text)

    def come_back_later(self) -> None:
        self.action_later()

    def replace_session(self, parties: Parties, session: MergeSession, words: str) -> None:
        """Continue with a third writer's text; decisions that still fit and a text being typed stay."""
        self.parties, self.session, self.said, self.level = parties, session, words, "conflict"
        self.index = self._first_place()
        if self.editing and session.hunks:
            session.started.setdefault(self.index, self.small.text)
        elif self.editing:
            self._close_edit()
        self.draw(top=True)
        self._host.decided()

    # --- deciding

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
            self.draw(top=True)
            self._host.decided()

    def _stay(self) -> None:
        if self._pause is not None:
            self._pause.stop()
            self._pause = None

    def answer(self, action: Action) -> None:
        if action.id in _CHOICES:
            self._decide(_CHOICES[action.id])
        else:
            super().answer(action)

    def action_reopen(self) -> None:
        self._stay()
        self._decide("")

    def _asks_at_once(self, first: str) -> list[Run] | None:
        """Say what `!` would do after `Y` or `A`."""
        name = {"all_yours": "YOURS", "all_agent": "AGENT"}
        whose = next((name[one.id] for one in self.table if one.id in name and f"{first} !" in one.keys), "")
        if not whose:
            return None
        count = count_words(len(self.session.open), "open conflict")
        return [(" ! ", "key"), (f"takes {whose} for {count}; any other key cancels", "conflict")]

    def action_all_yours(self) -> None:
        self._decide_all(YOURS)

    def action_all_agent(self) -> None:
        self._decide_all(THEIRS)

    def _decide_all(self, choice: str) -> None:
        still = self.session.open
        self._stay()
        if not still:
            self.say("No conflict is open.")
            return
        self.session.decide(still, choice)
        whose = "YOURS" if choice == YOURS else "AGENT"
        self.said, self.level = f"{whose} taken for {count_words(len(still), 'conflict')}; u takes it back.", "good"
        self.draw(top=True)
        self._host.decided()

    def action_undo_decision(self) -> None:
        self._step_back(self.session.undo, "No decision to undo.")

    def action_redo_decision(self) -> None:
        self._step_back(self.session.redo, "No decision to redo.")

    def _step_back(self, step: Callable[[], bool], otherwise: str) -> None:
        """Undo or redo, and go to the place whose decision changed."""
        self._stay()
        before, places = self.session.places.copy(), self.session.places
        self.said, self.level = "" if step() else otherwise, "conflict"
        other = [index for index in self.session.hunks if before.get(index) != self.session.places.get(index)]
        if self.session.places is places and other and self.index not in other:
            self.index = other[0]
        if self.index not in self.session.hunks:  # the places are cut as they were before
            self.index = self._first_place()
        self.draw(top=bool(other))
        self._host.decided()

    # --- moving

    def _go(self, places: tuple[int, ...], step: int) -> None:
        self._stay()
        if not places:
            self.say("No conflict is open.")
            return
        ahead = [index for index in places if (index > self.index if step > 0 else index < self.index)]
        self.index = (ahead or list(places))[0 if step > 0 else -1]
        self.said = ""
        self.draw(top=True)
        self._host.decided()

    def action_next_open(self) -> None:
        self._go(self.session.open, 1)

    def action_previous_open(self) -> None:
        self._go(self.session.open, -1)

    def action_next_hunk(self) -> None:
        self._go(self.session.hunks, 1)

    def action_previous_hunk(self) -> None:
        self._go(self.session.hunks, -1)

    def _scrolled(self) -> LinesView:
        focused = self.focused
        if isinstance(focused, LinesView) and focused.display:
            return focused
        place = self.query_one("#conflict-hunk", LinesView)
        return place if place.display else self.query_one("#conflict-file", LinesView)

    def action_conflict_down(self) -> None:
        self._scrolled().scroll_down(animate=False)

    def action_conflict_up(self) -> None:
        self._scrolled().scroll_up(animate=False)

    def action_word_pair(self) -> None:
        self.pair = (self.pair + 1) % len(place_lines.PAIRS)
        self.draw()
        self._host.decided()

    def action_conflict_view(self) -> None:
        views = self._views
        self.chosen_view = views[(views.index(self.view) + 1) % len(views)]
        self.draw(top=True)
        self._host.decided()

    def action_conflict_reveal(self) -> None:
        said, self.bare = turned(
            any_masked=conflict_lines.has_secrets(self.session.chunks), bare=self.bare, in_browser=self.app.is_web
        )
        self.draw()
        self.say(said)

    def on_screen_suspend(self) -> None:
        self.bare = False

    def on_screen_resume(self) -> None:
        self.draw()

    def action_conflict_zoom(self) -> None:
        self.zoom("" if self.zoomed else FILE if self.focused is self.query_one("#conflict-file") else PLACE)

    # --- editing the result

    def action_edit_result(self) -> None:
        if self.zoomed == FILE:
            self.zoom("")
        if not self._editable:
            self.say("These bytes cannot be edited as text; take a side.")
        elif self.session.hunks:
            self._stay()
            self._open_edit(shown_text(self.session.start_text(self.index)))

    def _open_edit(self, text: str) -> None:
        area = self.small
        area.open_text(text, read_only=False)
        self.add_class("-editing")
        area.focus()
        self.draw()
        self._host.decided()

    def action_take_edit(self) -> None:
        text = typed_text(self.small.text, self.session.chunks, self.index)
        self._close_edit()
        self._decide(EDITED, text)

    def action_drop_edit(self) -> None:
        self._close_edit()
        self.draw()
        self._host.decided()

    def _close_edit(self) -> None:
        self.remove_class("-editing")
        self._focus_place()

    def _focus_place(self) -> None:
        place = self.query_one("#conflict-hunk")
        (place if place.display else self.query_one("#conflict-file")).focus()

    @on(TextArea.Changed)
    def _edited(self, event: TextArea.Changed) -> None:
        event.stop()
        if self.editing:
            self._host.decided()

    def action_edit_all(self) -> None:
        self._stay()
        if self._editable:
            self._host.edit_whole()
        else:
            self.say("These bytes cannot be edited as text; take a side.")

    def take_edited_text(self, text: str) -> None:
        """Take a text of the whole file: what was touched in it is decided, as one step of undo."""
        self.session.read_back(text)
        self.said, self.level = "The text of your editor is the result now.", "good"
        if self.session.open:
            left = conflict_lines.open_words(self.session)
            self.said, self.level = f"Taken from your editor; {left}.", "conflict"
        self.index = self._first_place()
        self.draw(top=True)
        self._host.decided()

    # --- leaving

    def action_write_result(self) -> None:
        self._stay()
        if self.session.open:
            self.say(conflict_lines.closing_words(self.session))
            return
        self._host.write_result(bytes_of(self.session.result))

    def action_later(self) -> None:
        self._stay()
        if self.zoomed:
            self.zoom("")
            return
        self._host.leave()

    def action_save_as(self) -> None:
        self.query_one(EditorPrompt).ask("keep YOURS as", self.parties.address)

    @on(EditorPrompt.Answered)
    def _named(self, event: EditorPrompt.Answered) -> None:
        event.stop()
        self._focus_place()
        self._host.save_as(event.value)

    @on(EditorPrompt.Closed)
    def _not_named(self, event: EditorPrompt.Closed) -> None:
        event.stop()
        self._focus_place()

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
