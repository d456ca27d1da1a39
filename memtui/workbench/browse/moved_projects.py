"""Moving the memories of a project that moved to where it is now: asked in the footer, shown first, done on a second
enter, taken back with one undo.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from memtui.engine.model import Done
from memtui.errors import MemtuiError
from memtui.features.moved_projects.orphans import SURE, Orphan, where
from memtui.features.moved_projects.repoint import Plan, apply, plan
from memtui.ui.draw.spans import Line
from memtui.ui.draw.words import below_home, count_words
from memtui.workbench.bridge import WRITE

if TYPE_CHECKING:
    from memtui.engine.model import Root
    from memtui.workbench.browse.browser import BrowserScreen


GROUP = "repoint"


class Repointing:
    """Asks where a project is now, and moves its memories there."""

    def __init__(self, screen: BrowserScreen) -> None:
        self._screen = screen
        self._plan: tuple[str, Plan] | None = None
        """What was shown, for the text it was made from."""

    def start(self, root_id: str = "") -> None:
        """Ask where a project is now; what is known about that is said and filled in.

        Args:
            root_id: where its memories are; empty: that of the row under the cursor.
        """
        screen, node = self._screen, self._screen.memories.current
        other = screen.forest.others.get(root_id or (node.root if node is not None else ""))
        if other is None:
            screen.say("re-point: put the cursor on another project's row first.", "warning")
            return
        root, roots, home = other.root, screen.projects.found, screen.facts.settings.home
        screen.bridge.run(
            lambda _: where(root, roots, home),
            self._ask,
            what=f"find where {other.place} is now",
            latest=GROUP,
            awaited=True,
        )

    def _ask(self, found: Orphan) -> None:
        from memtui.ui.widgets.prompts import Question

        self._plan = None
        home = self._screen.facts.settings.home
        value = below_home(found.moved[0].path, home) if found.moved else ""
        words = found.moved[0].why if found.moved else SURE[found.decoded.sure]
        if len(found.moved) > 1:
            words = f"{found.sure}; {words}"

        def hint(text: str) -> Line:
            shown = self._plan
            if shown is not None and shown[0] == text:
                moves: Line = [(f"enter moves {count_words(shown[1].moving, 'memory')}", "strong")]
                return [*moves, (f"; {_stays(shown[1])}", "warning")] if shown[1].staying else moves
            return [(words if text == value else "enter shows what would move", "dim")]

        screen = self._screen
        screen.ask(
            Question("now at", value, lambda text: self._entered(found.root, text), screen.close_prompt, hint=hint)
        )

    def _entered(self, root: Root, text: str) -> None:
        screen, home = self._screen, self._screen.facts.settings.home
        shown = self._plan
        if shown is not None and shown[0] == text:
            self._do(shown[1])
            return
        path = text.strip()
        if home and (path == "~" or path.startswith("~/")):
            path = home + path[1:]
        if not os.path.isabs(path):
            screen.refuse_prompt("Type the whole path of the folder the project is in now.")
            return

        def made(wanted: Plan) -> None:
            if screen.prompt is None:
                return
            for line in wanted.staying:
                screen.chrome.remember(f"{line.address} would stay: {line.why}")
            if wanted.steps:
                self._plan = (text, wanted)
                screen.prompt.note = []
                screen.chrome.update("footer")
            else:
                screen.refuse_prompt(_stays(wanted) or "There is no memory.")

        screen.bridge.run(
            lambda engine: plan(engine, [root], path), made, what="plan it", otherwise=self._refused, latest=GROUP
        )

    def _do(self, wanted: Plan) -> None:
        screen, actor = self._screen, self._screen.bridge.actor

        def moved(done: Done) -> None:
            screen.close_prompt()
            failed = [one for one in done.outcomes if not one.ok]
            if failed:
                screen.say(f"Nothing was moved: {failed[0].address} changed meanwhile.", "warning")
                return
            screen.say(f"Moved {wanted.words}. u takes it back.", "good")
            screen.projects.find(again=True)
            screen.projects.want([new.id for _, new in wanted.pairs])
            screen.bridge.refresh(everything=True)

        screen.bridge.run(
            lambda engine: apply(engine, wanted, actor=actor),
            moved,
            what="move the memories",
            otherwise=self._refused,
            lane=WRITE,
        )

    def _refused(self, error: MemtuiError) -> None:
        """Leave the line open, so that the place can be made right."""
        if not self._screen.refuse_prompt(f"{error.message} {error.hint}".strip()):
            self._screen.show_error("move the memories", error)


def _stays(wanted: Plan) -> str:
    """Say what would stay and why, the reason of the first where there are several."""
    if not wanted.staying:
        return ""
    first, more = wanted.staying[0], len(wanted.staying) - 1
    rest = f"; {more:,} more stay (M)" if more else ""
    return f"{first.address.path} stays: {first.why}{rest}"
