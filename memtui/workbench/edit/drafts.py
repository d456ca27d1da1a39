"""Drafts, and the screens over the editor: when unsaved text is stored, who stores it, and how it is left.

Typing is never more than a second ahead of the stored draft, and a dying process can store the last text without the
event loop. Keys of the room `everywhere` also reach a screen while text is typed in it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from textual.screen import Screen
from textual.timer import Timer

from memtui.engine.model import Address, Draft
from memtui.errors import MemtuiError
from memtui.ui.action import Action, in_room
from memtui.ui.draw import bars
from memtui.ui.draw.text import Line, Run
from memtui.ui.keys.fence import fence_of
from memtui.ui.keys.keyed import KeyedScreen
from memtui.ui.widgets.lines import Lines
from memtui.workbench.bridge import DRAFTS
from memtui.workbench.edit.open_memory import WRITE_AFTER
from memtui.workbench.help import HelpScreen, help_rows

if TYPE_CHECKING:
    from textual.app import App

    from memtui.workbench.bridge import Bridge, Engine
    from memtui.workbench.edit.editor import MemoryEditor

S = TypeVar("S", bound=KeyedScreen[None])
T = TypeVar("T")
Source = Callable[[], "Draft | None"]
"""Returns the unsaved text of one editor as a draft; None when nothing is unsaved."""


class DraftKeeper:
    """Registry of unsaved texts and of which are stored; thread-safe."""

    def __init__(self, save: Callable[[Draft], None]) -> None:
        """`save` stores a draft before it returns."""
        self._save = save
        self._sources: dict[object, Source] = {}
        self._stored: dict[object, Draft] = {}
        self._lock = threading.Lock()

    def open(self, owner: object, source: Source, *, stored: Draft | None = None) -> None:
        """Start to keep the text of `owner`; `stored` is its draft that is already on disk."""
        with self._lock:
            self._sources[owner] = source
            if stored is None:
                self._stored.pop(owner, None)
            else:
                self._stored[owner] = stored

    def close(self, owner: object) -> None:
        with self._lock:
            self._sources.pop(owner, None)
            self._stored.pop(owner, None)

    def invalidate(self, owner: object) -> None:
        """Treat the stored draft of `owner` as possibly lost, so that it is due again."""
        with self._lock:
            self._stored.pop(owner, None)

    def has_stored(self, owner: object) -> bool:
        with self._lock:
            return owner in self._stored

    def due(self) -> tuple[tuple[object, Draft], ...]:
        """Return the drafts that differ from what is stored, with their owners."""
        with self._lock:
            sources = list(self._sources.items())
            stored = dict(self._stored)
        drafts = [(owner, draft) for owner, source in sources if (draft := source()) is not None]
        return tuple((owner, draft) for owner, draft in drafts if not _same(stored.get(owner), draft))

    def write(self, *drafts: tuple[object, Draft]) -> None:
        """Store drafts and note that they are on disk; after an error the rest stays due."""
        for owner, draft in drafts:
            self._save(draft)
            with self._lock:
                if owner in self._sources:
                    self._stored[owner] = draft

    def flush(self) -> int:
        """Store everything that is due; return the number of drafts."""
        drafts = self.due()
        self.write(*drafts)
        return len(drafts)


def _same(stored: Draft | None, draft: Draft) -> bool:
    """Compare what a restart would restore: text and base, not time or cursor."""
    return stored is not None and (stored.address, stored.base_sha256, stored.text) == (
        draft.address,
        draft.base_sha256,
        draft.text,
    )


class EditorDrafts:
    """Draft of the editor's text: stored soon after typing, and dropped only into history."""

    def __init__(self, bridge: Bridge, editor: MemoryEditor, run: Callable[..., None]) -> None:
        """`run` runs a job as `EditFlow.run` does."""
        self._bridge, self._editor, self._run = bridge, editor, run
        self.keeper = DraftKeeper(bridge.store_draft)
        self.mine: set[Address] = set()
        self.found: dict[Address, tuple[str, ...]] = {}
        """Draft texts found on disk when a memory was opened, by memory: they count as the user's own."""

    def track(self, stored: Draft | None = None) -> None:
        """Keep what is typed from now on; `stored` is the draft that is already on disk."""
        self.keeper.open(self._editor, lambda: self._editor.draft(self._bridge.now()), stored=stored)

    def store_then(self, then: Callable[[], None], *, awaited: bool = False) -> None:
        """Store what is typed, then call `then`; on a failure say so and stay."""
        if not self._store(then, otherwise=self.not_kept, awaited=awaited):
            then()

    def write(self) -> None:
        """Store what is typed."""
        self._store()

    def _store(self, then: Callable[[], object] = tuple, **options: Any) -> bool:
        """Store what is due in a thread; return False, and do nothing, if nothing is."""
        drafts = self.keeper.due()
        self.mine.update(draft.address for _, draft in drafts)

        def stored(_: None) -> None:
            self._bridge.refresh_drafts()
            then()

        if drafts:
            self._run(lambda _: self.keeper.write(*drafts), stored, what="keep a draft", lane=DRAFTS, **options)
        return bool(drafts)

    def not_kept(self, error: MemtuiError) -> None:
        self._editor.say(f"Your draft could not be kept, so the text stays open. {error}")

    def flush(self) -> int:
        self.keeper.invalidate(self._editor)  # where it was put when it was typed may be damaged by now
        return self.keeper.flush()

    def drop(self, address: Address, *, saved: str | None = None) -> None:
        """Drop the stored draft but not another window's; its text goes to history unless it is stored elsewhere.

        `saved` is the text that was just saved: its half-typed states leave no trace.
        """
        self.mine.discard(address)
        own = self.found.get(address, ()) if saved is None else (saved, *self.found.get(address, ()))

        def forget(engine: Engine) -> None:
            engine.drafts.drop(address, own=own, trace=saved is None)

        self._run(forget, lambda _: self.after_drop(), what="drop a draft", lane=DRAFTS)

    def after_drop(self) -> None:
        """Refresh the tree's draft marks, and store what was typed meanwhile."""
        self._bridge.refresh_drafts()
        self.write()

    def settle(self) -> None:
        """Store what is typed; once nothing is unsaved, drop the stored draft."""
        editor = self._editor
        if editor.dirty:
            self.write()
        elif editor.subject is not None and self.keeper.has_stored(editor) and not editor.asking:
            self.track()
            self.drop(editor.subject.address)


def store(bridge: Bridge, draft: Draft, then: Callable[[], None], *, awaited: bool = False) -> None:
    """Store a draft, in a thread."""

    def stored(_: None) -> None:
        bridge.refresh_drafts()
        then()

    bridge.run(lambda engine: engine.drafts.save(draft), stored, what="keep a draft", lane=DRAFTS, awaited=awaited)


class OverlayScreen(KeyedScreen[None]):
    """Screen over the editor that waits for an answer."""

    hint: Line | None = None

    def on_mount(self) -> None:
        """Release the key fence, also when no key opened the screen: the next key answers it."""
        fence = fence_of(self.app)
        if fence is not None:
            self.app.call_later(fence.go_on)

    def asks_by_itself(self, after: str) -> bool:
        """It comes up after a save, while the user may still be typing."""
        return any(after in action.keys for action in self.table if action.id == "save")

    def come_back_later(self) -> None:
        """Return to the editor; texts and decisions are kept."""
        raise NotImplementedError

    def draw_foot(self) -> None:
        raise NotImplementedError

    def answer(self, action: Action) -> None:
        raise NotImplementedError

    def show_hint(self, line: Line | None) -> None:
        if line != self.hint:
            self.hint = line
            self.draw_foot()

    def perform(self, action: Action) -> None:
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
    """Draw keys with their labels; the last ones give way when there is no room, but never the way out."""
    *first, last = [(f" {key}", f" {does} ") for key, does in keys]
    room = width - len("".join(last))
    line: list[Run] = []
    for key, label in first:
        room -= len(key + label)
        if room < 0:
            break
        line += [(key, "key"), (label, "name")]
    return [*line, (last[0], "key"), (last[1], "name")]


def dismiss_unfilled(screen: KeyedScreen[None], why: str) -> None:
    """Dismiss a screen that cannot be filled, together with the keys typed for it."""
    fence = fence_of(screen.app)
    screen.dismiss(None)
    if fence is not None:
        fence.refuse(why)


def close_screen(screen: Screen[None] | None) -> None:
    if screen is not None and screen.is_current:
        screen.dismiss(None)


class DraftFlow(Generic[S]):
    """Base of a screen's flow with a draft of its own, which is stored while the user types."""

    def __init__(self, app: App[Any], bridge: Bridge, address: Address) -> None:
        self.app, self.bridge, self.address = app, bridge, address
        self.screen: S | None = None
        self._kept: Draft | None = None
        """Own draft that is stored, or about to be."""
        self._stored: Draft | None = None

    @property
    def is_open(self) -> bool:
        return self.screen is not None and self.screen.is_running

    @property
    def read_only(self) -> bool:
        return self.bridge.read_only

    def draft(self) -> Draft | None:
        """The unsaved text; None when nothing is typed."""
        raise NotImplementedError

    def save(self, screen: S) -> None:
        raise NotImplementedError

    def leave(self, screen: S) -> None:
        """Close; what was typed goes to history."""
        self.close(screen)
        self.drop_draft()

    def show(
        self, screen: S, read: Callable[[Engine], T], fill: Callable[[T], None], refused: Callable[[MemtuiError], None]
    ) -> None:
        """Push the screen, and fill it with what `read` returns unless it was left meanwhile."""
        self.screen = screen
        self.app.push_screen(screen)

        def follow(result: T) -> None:
            if self.screen is screen:
                fill(result)

        self.bridge.run(read, follow, what=screen.reading, otherwise=refused)

    def give_up(self, screen: S, why: str) -> None:
        """Dismiss a screen that cannot be filled."""
        if self.screen is screen:
            self.screen = None
            dismiss_unfilled(screen, why)

    def close(self, screen: S) -> None:
        self.screen = None
        screen.dismiss(None)

    def keep(self) -> None:
        """Store what is typed, in a thread."""
        draft = self.draft()

        def stored() -> None:
            self._stored = draft

        if draft is not None:
            self._kept = draft
            self._store(draft, stored)

    def _store(self, draft: Draft, then: Callable[[], None], *, awaited: bool = False) -> None:
        def stored(_: None) -> None:
            self.bridge.refresh_drafts()
            then()

        self.bridge.run(
            lambda engine: engine.drafts.save(draft), stored, what="keep a draft", lane=DRAFTS, awaited=awaited
        )

    def flush(self) -> int:
        """Store what is typed before this returns; return the number of drafts."""
        draft = self.draft()
        known = self._stored if self._stored is self._kept else None  # one on its way may not be there in time
        if draft is None or (known is not None and known.text == draft.text):
            return 0
        self.bridge.store_draft(draft)
        return 1

    def drop_draft(self, saved: str | None = None) -> None:
        """Drop the own draft; its text goes to history, without a trace if the memory still is the version `saved`."""
        kept, self._kept, address = self._kept, None, self.address
        if kept is None:
            return

        def forget(engine: Engine) -> None:
            if saved is None:
                engine.drafts.drop(address, own=())
            else:
                engine.drafts.drop(address, own=(kept.text,), trace=engine.read(address).sha256 != saved)

        self.bridge.run(forget, lambda _: self.bridge.refresh_drafts(), what="drop a draft", lane=DRAFTS)

    def hand_over(self, screen: S, go_on: Callable[[], None]) -> None:
        """Close the screen, store what is typed as a draft for the editor, then call `go_on`."""
        draft = self.draft()
        self.close(screen)
        self._kept = None
        if draft is None:
            self.bridge.refresh_drafts()
            go_on()
        else:
            self._store(draft, go_on, awaited=True)


class TextScreen(OverlayScreen):
    """Screen with text that is saved or left; the first of its `ROOMS` is its own."""

    UNSAVED: ClassVar[str]

    def __init__(self, flow: DraftFlow[Any], table: Iterable[Action]) -> None:
        super().__init__(table)
        self._flow = flow
        self.busy = False
        self._said: Line = []
        self._sure = False
        """Whether leaving was asked for once."""
        self._draft_due: Timer | None = None

    @property
    def changed(self) -> bool:
        raise NotImplementedError

    @property
    def _plain(self) -> bool:
        return bool(getattr(self.app, "plain", False))

    # Drafts and saves

    def _await_draft(self) -> None:
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
        self.busy = False
        self.say(words, "error")

    def come_back_later(self) -> None:
        """Leave; unsaved text needs a second escape."""
        if self.busy:
            return
        if self.changed and not self._sure:
            self._sure = True
            self.say(self.UNSAVED, "warning")
            return
        self._flow.leave(self)

    # Words

    def say(self, text: str, level: str = "name") -> None:
        self._said = [(" " + text, level)]
        self.draw_foot()

    def draw_foot(self) -> None:
        self._draw("#text-foot")

    def _draw(self, *names: str) -> None:
        for name in names:
            for lines in self.query(name).results(Lines):  # none before it is mounted, and while it is taken apart
                lines.update()

    def _foot(self, width: int) -> list[Line]:
        if self.hint or self._said:
            return [[*self.hint] if self.hint else bars.message(self._said, width, plain=self._plain)]
        own = [action for action in in_room(self.ROOMS[0], actions=self.table) if not self.unavailable(action)]
        end = [action._replace(keys=("f1",)) for action in self.table if action.id == "help"]
        return [bars.footer(own, width, end=end)]
