"""What the flows of editing stand on: running jobs, showing screens, lending the terminal, and the user's wishes.

Apart from the flows, so that a conflict or an external editor needs no more of the workbench than what is named here.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from memtui.config.settings import Terminal
from memtui.engine.model import Actor, OpenConflict, Root
from memtui.errors import MemtuiError
from memtui.ui.action import Action
from memtui.workbench.actions import ACTIONS
from memtui.workbench.bridge import READ

if TYPE_CHECKING:
    from textual.app import App
    from textual.screen import Screen
    from textual.timer import Timer

    from memtui.workbench.bridge import Bridge, Engine

T = TypeVar("T")


def now_ms() -> int:
    """Milliseconds since the epoch."""
    return time.time_ns() // 1_000_000


class Wishes(NamedTuple):
    """What the user set, and what the screen around the editor does for it."""

    left: Callable[[], None]
    """The user wants to be back in the tree."""
    roots: Callable[[], Mapping[str, Root]]
    """The roots there are, by id: where a typed name can lead."""
    editor_command: str
    private_folder: str
    """Where copies for the external editor may be made; outside every root."""
    when_mergeable: str = "ask"
    """`ask`: show the merged text before it is written; `save`: write it."""
    table: Sequence[Action] = ACTIONS
    """The actions with the user's own keys."""
    lend: Callable[[str], None] = lambda _: None
    """Told who gets the terminal (a word), and when it comes back (nothing)."""
    advance: float | None = 0.4
    """Seconds from a decided conflict to the next one; None: never by itself."""
    terminal: Terminal = Terminal()
    """What is known of the terminal: how text is copied."""
    clock: Callable[[], int] = now_ms
    """Milliseconds since the epoch."""
    named: Callable[[str], str] = str
    """Names memories in a text for the eye."""


class EditingBase:
    """The workbench, as far as editing needs it."""

    def __init__(self, app: App[Any], bridge: Bridge, wishes: Wishes) -> None:
        """Join the parts.

        Args:
            app: shows screens and lends the terminal.
            bridge: does the work.
            wishes: settings, and what to call.
        """
        self._app = app
        self._bridge = bridge
        self.wishes = wishes
        self._shown: Screen[None] | None = None

    @property
    def app(self) -> App[Any]:
        """What shows screens."""
        return self._app

    @property
    def bridge(self) -> Bridge:
        """What works."""
        return self._bridge

    @property
    def actor(self) -> Actor:
        """Who saves here."""
        return self._bridge.actor

    @property
    def table(self) -> Sequence[Action]:
        """The actions with the user's own keys."""
        return self.wishes.table

    def run(
        self,
        job: Callable[[Engine], T],
        then: Callable[[T], None] | None = None,
        *,
        what: str,
        otherwise: Callable[[MemtuiError], None] | None = None,
        lane: str = READ,
        latest: str | None = None,
        awaited: bool = False,
    ) -> None:
        """Run a job with the engine in a thread; see `Bridge.run`."""
        self._bridge.run(job, then, what=what, otherwise=otherwise, lane=lane, latest=latest, awaited=awaited)

    def show_screen(self, screen: Screen[None]) -> None:
        """Put a screen on top, unless the one before it is still there: a key pressed twice asks once."""
        if self._shown is None or not self._shown.is_running:
            self._shown = screen
            self._app.push_screen(screen)

    def show_over(self, screen: Screen[None]) -> None:
        """Put a screen on top of whatever is there."""
        self._app.push_screen(screen)

    def close_screen(self, screen: Screen[None] | None) -> None:
        """Take a screen away, when it is on top."""
        if screen is not None and screen.is_current:
            screen.dismiss(None)

    def every(self, seconds: float, call: Callable[[], None]) -> Timer:
        """Call something again and again."""
        return self._app.set_interval(seconds, call)

    def after(self, seconds: float, call: Callable[[], None]) -> Timer:
        """Call something once, later."""
        return self._app.set_timer(seconds, call)

    def store_conflict(self, found: OpenConflict) -> None:
        """Keep decisions before this returns; from any thread, also when the event loop is gone."""
        self._bridge.store_conflict(found)

    def copy_text(self, text: str, say: Callable[[str], None]) -> None:
        """Copy a text, and say which way it went."""
        from memtui.ui.clipboard import copy

        terminal = self.wishes.terminal
        escaped: list[str] = []

        def copied(route: str) -> None:
            for through_terminal in escaped:
                self._app.copy_to_clipboard(through_terminal)
            say(f"Copied your text ({len(text):,} characters) by {route}.")

        self.run(
            lambda _: copy(text, terminal, escaped.append),
            copied,
            what="copy your text",
            otherwise=lambda error: say(str(error)),
        )

    @contextmanager
    def lent_terminal(self) -> Iterator[None]:
        """Give the terminal to another program for a while."""
        with self._app.suspend():
            self.wishes.lend("another program")
            try:
                yield
            finally:
                self.wishes.lend("")

    def tell(self, words: str) -> None:
        """Say something that outlives the editor."""
        self._app.notify(words, markup=False)

    def when(self, at: int) -> str:
        """Say a moment (milliseconds) in words: the time of day, with the date when it was another day."""
        then, today = time.localtime(at / 1000), time.localtime(self.wishes.clock() / 1000)
        return time.strftime("%H:%M" if then[:3] == today[:3] else "%Y-%m-%d %H:%M", then)
