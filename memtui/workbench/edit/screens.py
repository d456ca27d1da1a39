"""What the screens that lie over the main one have in common: keys that work everywhere, text that is not lost.

A key of `everywhere` also reaches a screen while text is typed in it; one that a screen did not know would be a fault.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from textual.screen import Screen
from textual.timer import Timer

from memtui.engine.model import Address, Draft
from memtui.ui.action import Action, in_room
from memtui.ui.draw import bars
from memtui.ui.draw.spans import Line, Run
from memtui.ui.keys.fence import fence_of
from memtui.ui.keys.keyed import KeyedScreen
from memtui.workbench.bridge import DRAFTS
from memtui.workbench.edit.open_memory import WRITE_AFTER
from memtui.workbench.views.help import HelpScreen, help_rows

if TYPE_CHECKING:
    from memtui.workbench.bridge import Bridge

S = TypeVar("S", bound=Screen[Any])


class DecidingScreen(KeyedScreen[None]):
    """A screen on top of the editor that waits for an answer."""

    hint: Line | None = None
    """Which keys may follow, while a first key waits for its second."""

    def on_mount(self) -> None:
        """Have keys know that the question is there, also when no key brought it up: the next one answers it."""
        fence = fence_of(self.app)
        if fence is not None:
            self.app.call_later(fence.go_on)

    def asks_by_itself(self, after: str) -> bool:
        """After a save it comes up while the user may still be typing."""
        return any(after in action.keys for action in self.table if action.id == "save")

    def come_back_later(self) -> None:
        """Go back to the editor; texts and decisions are kept."""
        raise NotImplementedError

    def draw_foot(self) -> None:
        """Show the last lines again."""
        raise NotImplementedError

    def answer(self, action: Action) -> None:
        """Do what a key of the screen's own room stands for."""
        getattr(self, f"action_{action.id}")()

    def show_hint(self, line: Line | None) -> None:
        """Show which keys may follow, or the usual last line again."""
        if line != self.hint:
            self.hint = line
            self.draw_foot()

    def perform(self, action: Action) -> None:
        """Do what a key stands for."""
        if action.room != "everywhere":
            self.call_later(self.answer, action)
        elif action.id == "help":
            rows, plain = help_rows(self.table, self.HELP or "", self.ROOMS), getattr(self.app, "plain", False)
            self.app.push_screen(HelpScreen(rows, self.table, typing=self.letters_are_text, plain=plain))
        elif action.id == "quit_now":
            self.call_later(self.app.action_quit)
        elif action.id in ("quit", "back"):
            self.call_later(self.come_back_later)
        elif action.id == "next_pane":
            self.focus_next()
        elif action.id == "previous_pane":
            self.focus_previous()
        else:
            self.say(f"{action.label} does not work here; esc comes back later.", "warning")


def keys_line(keys: list[tuple[str, str]], width: int) -> list[Run]:
    """Name keys and what they do; the last ones give way when there is no room, but never the way out."""
    *first, last = [(f" {key}", f" {does} ") for key, does in keys]
    room = width - len("".join(last))
    line: list[Run] = []
    for key, label in first:
        room -= len(key + label)
        if room < 0:
            break
        line += [(key, "key"), (label, "name")]
    return [*line, (last[0], "key"), (last[1], "name")]


def rule(words: str, width: int, style: str, keys: str = "") -> list[Run]:
    """A line that begins a part of the screen."""
    tail = f" {keys} -" if keys else ""
    rest = "-" * max(width - len(words) - 4 - len(tail), 1)
    return [("-- ", "rule"), (words, style), (f" {rest}", "rule"), (tail.removesuffix("-"), "key"), ("-", "rule")]


def cannot_fill(screen: KeyedScreen[None], why: str) -> None:
    """Take a screen away that cannot be filled, with the keys that were typed for it."""
    fence = fence_of(screen.app)
    screen.dismiss(None)
    if fence is not None:
        fence.refuse(why)


def close_screen(screen: Screen[None] | None) -> None:
    """Take a screen away, when it is on top."""
    if screen is not None and screen.is_current:
        screen.dismiss(None)


class OwnDraft(Generic[S]):
    """The flow of a screen of its own that is typed in: its draft is stored while that is done.

    It is taken away when what was typed is dropped, and handed to the editor as it stands.
    """

    def __init__(self, bridge: Bridge, address: Address) -> None:
        """Nothing is typed yet."""
        self.bridge = bridge
        self.address = address
        self.screen: S | None = None
        self._kept: Draft | None = None
        """The draft that is stored, or about to be; None: there is none of this flow's own."""
        self._stored: Draft | None = None
        """The one of these that is on disk by now."""

    @property
    def is_open(self) -> bool:
        """Whether it is on the screen."""
        return self.screen is not None and self.screen.is_running

    @property
    def read_only(self) -> bool:
        """Whether nothing can be written."""
        return self.bridge.read_only

    def draft(self) -> Draft | None:
        """What must not be lost; None when nothing is typed."""
        raise NotImplementedError

    def save(self, screen: S) -> None:
        """Write what is typed."""
        raise NotImplementedError

    def leave(self, screen: S) -> None:
        """Go away without it."""
        raise NotImplementedError

    def keep(self) -> None:
        """Bring what is typed to disk, in a thread."""
        draft = self.draft()

        def stored(_: None) -> None:
            self._stored = draft
            self.bridge.refresh_drafts()

        if draft is not None:
            self._kept = draft
            self.bridge.run(lambda engine: engine.drafts.save(draft), stored, what="keep a draft", lane=DRAFTS)

    def flush(self) -> int:
        """Bring what is typed to disk before this returns; returns how many drafts that were."""
        draft = self.draft()
        known = self._stored if self._stored is self._kept else None  # one on its way may not be there in time
        if draft is None or (known is not None and known.text == draft.text):
            return 0
        self.bridge.store_draft(draft)
        return 1

    def drop_draft(self) -> None:
        """Take its own draft away again; its text goes to history."""
        if self._kept is not None:
            self._kept = None
            address = self.address
            self.bridge.run(
                lambda engine: engine.drafts.drop(address, own=()),
                lambda _: self.bridge.refresh_drafts(),
                what="drop a draft",
                lane=DRAFTS,
            )

    def hand_over(self, draft: Draft | None, go_on: Callable[[], None]) -> None:
        """Leave a draft to the editor, and go on there once it is stored."""
        self._kept = None

        def stored(_: None = None) -> None:
            self.bridge.refresh_drafts()
            go_on()

        if draft is None:
            stored()
            return
        self.bridge.run(
            lambda engine: engine.drafts.save(draft),
            stored,
            what="keep a draft",
            lane=DRAFTS,
            awaited=True,
        )


class TypedScreen(DecidingScreen):
    """A screen with text that is saved or left; the first of its `ROOMS` is its own."""

    UNSAVED: ClassVar[str]
    """What is said when leaving is asked for with text that is not saved."""

    def __init__(self, flow: OwnDraft[Any], table: Iterable[Action]) -> None:
        """Take what writes, and the actions with the user's own keys."""
        super().__init__(table)
        self._flow = flow
        self.busy = False
        """A save is under way."""
        self._said: Line = []
        self._sure = False
        """Whether leaving was asked for once."""
        self._draft_due: Timer | None = None

    @property
    def changed(self) -> bool:
        """Whether what is typed would change anything."""
        raise NotImplementedError

    @property
    def _plain(self) -> bool:
        return bool(getattr(self.app, "plain", False))

    # Drafts and saves

    def _await_draft(self) -> None:
        """Have what is typed kept soon."""
        if self._draft_due is None:
            self._draft_due = self.set_timer(WRITE_AFTER, self._keep)

    def _keep(self) -> None:
        self._draft_due = None
        self._flow.keep()

    def _refusal(self) -> str:
        """Why what is typed cannot be saved."""
        return ""

    def _save(self) -> None:
        if self.busy:
            return
        if refusal := self._refusal():
            self.say(f"Not saved: {refusal}", "error")
        elif not self.changed:
            self.say("Nothing to save.")
        else:
            self.busy = True
            self._flow.save(self)

    def refused(self, words: str) -> None:
        """A save did not happen."""
        self.busy = False
        self.say(words, "error")

    def come_back_later(self) -> None:
        """Leave; what was typed needs a second escape to be dropped."""
        if self.busy:
            return
        if self.changed and not self._sure:
            self._sure = True
            self.say(self.UNSAVED, "warning")
            return
        self._flow.leave(self)

    # Words

    def say(self, text: str, level: str = "name") -> None:
        """Show one line until the next key."""
        self._said = [(" " + text, level)]
        self.draw_foot()

    def _foot(self, width: int) -> list[Line]:
        if self.hint or self._said:
            return [[*self.hint] if self.hint else bars.message(self._said, width, plain=self._plain)]
        own = [action for action in in_room(self.ROOMS[0], actions=self.table) if not self.unavailable(action)]
        end = [action._replace(keys=("f1",)) for action in self.table if action.id == "help"]
        return [bars.footer(own, width, end=end)]
