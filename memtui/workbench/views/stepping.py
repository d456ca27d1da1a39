"""Taking one step of the activity back and nothing else: whether that can be, what it would do, and what it did.

The engine decides for each memory whether it still is as the step left it; here is only what is said about it.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

from memtui.engine.model import APPROVALS, Done
from memtui.safe_text import visible
from memtui.ui.draw.spans import Line
from memtui.workbench.bridge import WRITE
from memtui.workbench.views import activity_jobs
from memtui.workbench.views.activity_rows import Item, closed_folders

if TYPE_CHECKING:
    from memtui.workbench.views.activity import ActivityScreen


def _is_between(item: Item) -> bool:
    """Whether the whole step went from one folder to another: the other one is opened for it."""
    ends = (one.root for record in item.step.records for one in (record.address, record.new_address) if one is not None)
    return bool(item.step.txn) and len(set(ends)) > 1


class Stepping:
    """Takes steps back."""

    def __init__(self, screen: ActivityScreen) -> None:
        self._screen = screen
        self._told: tuple[Hashable, Sequence[str]] | None = None

    def told(self, item: Item) -> Sequence[str]:
        """What is said beside a row that could not be taken back as a whole; nothing about any other row."""
        return self._told[1] if self._told is not None and self._told[0] == item.key else ()

    def forget(self) -> None:
        """Say it no longer."""
        self._told = None

    def why_not(self, item: Item) -> str:
        """Why a row cannot be taken back by itself; nothing when it can be tried."""
        if all(record.state != "done" for record in item.records):
            return "It did not happen, so there is nothing to take back."
        if item.records[0].operation == "redacted":
            return "A redaction cannot be taken back: the text is gone for good."
        if item.records[0].operation in APPROVALS:
            return "An approval is a mark, and no change of a memory: there is nothing to take back."
        return "" if _is_between(item) else self.away(item)

    def away(self, item: Item) -> str:
        """Why the texts of a row cannot be read here; nothing when they can be."""
        folders = closed_folders(item.records)
        if not folders:
            return ""
        if folders[0] in {root.path for root in self._screen.host.screen.projects.found}:
            return "It is of another project, which was not read: A in the memories (1) reads it."
        return f"It is of {visible(folders[0])}, which is not open here: --root NAME=DIR opens it."

    def how(self, item: Item) -> str:
        """How a row is taken back."""
        operation = self._screen.steps.operation(item.step)
        if self.why_not(item) or (operation is not None and operation.undone):
            return ""
        if self._screen.next_undo and self._screen.next_undo == item.step.txn:
            return "u takes it back: it is the newest."
        what = "the whole operation" if item.record is not None and operation is not None else "this step alone"
        return f"d s takes {what} back, where memories still are as it left them."

    def question(self, key: str) -> Line | None:
        """What `d` would take back with the next key; None when it would not."""
        screen, item = self._screen, self._screen.item
        if item is None or screen.jobs.read_only or self.why_not(item):
            return None
        name = visible(activity_jobs.step_name(item, screen.steps.operation(item.step)))
        return [(" ", "dim"), (key, "key"), (f" takes back: {name}", "strong"), ("; any other key cancels", "dim")]

    def undo(self) -> None:
        """Take the row under the cursor back."""
        screen, item = self._screen, self._screen.item
        if item is None:
            return
        chosen, bridge, roots = item, screen.jobs, screen.host.more_roots
        name = activity_jobs.step_name(chosen, screen.steps.operation(chosen.step))

        def done(result: Done) -> None:
            screen.host.operations.touched(result.addresses)
            failed = [outcome for outcome in result.outcomes if not outcome.ok]
            if failed:
                lines = activity_jobs.outcome_lines(result)
                self._told = (chosen.key, lines)
                good = len(result.outcomes) - len(failed)
                screen.host.say(f"done {good}, failed {len(failed)}: {lines[3].removeprefix('- ')}", "warning")
                screen.read_row()
            else:
                screen.host.say(f"Took back: {name}. {activity_jobs.brings_back(result)}.", "good")
            screen.load()

        bridge.run(
            lambda engine: activity_jobs.take_back(engine, chosen, bridge.actor, roots),
            done,
            what=f"take back {name}",
            lane=WRITE,
        )
