"""What the form of the front matter and an entry have in common as screens: letters are text, and text is not lost.

A save that is under way is waited for, leaving asks once, and a draft is due soon after the first key.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, Protocol, TypeVar

from textual.timer import Timer

from memtui.ui.action import Action, in_room
from memtui.ui.draw import bars
from memtui.ui.draw.spans import Line
from memtui.workbench.edit.drafts import WRITE_AFTER
from memtui.workbench.merge.deciding import DecidingScreen

S = TypeVar("S", contravariant=True)


class TypedFlow(Protocol[S]):
    """What such a screen asks of the flow it belongs to."""

    @property
    def read_only(self) -> bool:
        """Whether nothing can be written."""
        ...

    def save(self, screen: S) -> None:
        """Write what is typed."""
        ...

    def keep(self) -> None:
        """Bring what is typed to disk as a draft."""
        ...

    def leave(self, screen: S) -> None:
        """Go away without it."""
        ...


class TypedScreen(DecidingScreen):
    """A screen with text that is saved or left; the first of its `ROOMS` is its own."""

    UNSAVED: ClassVar[str]
    """What is said when leaving is asked for with text that is not saved."""

    def __init__(self, flow: TypedFlow[Any], table: Iterable[Action]) -> None:
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
