"""Taking back what others did: by hunk or whole, only of what was shown, each a step of undo.

It is apart from the view as `Decisions` is: it knows changes, and the view only where they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtui.diff.hunks import take_back
from memtui.engine.model import Change, Conflict, Done, Saved, Unchanged
from memtui.features.host import WRITE
from memtui.ui.draw.words import count_words, partly_done

if TYPE_CHECKING:
    from memtui.engine import Engine
    from memtui.features.changes.view_place import ReviewPane

MANY = 20
"""Of more memories than this it is said that they are being taken back."""


class Rollback:
    """Takes back what others did, only of what was shown, one undo step each.

    Where the memory changed again meanwhile, nothing is written, and the change is shown as it is by then.
    """

    def __init__(self, view: ReviewPane) -> None:
        self._view = view

    @property
    def no_hunk(self) -> str:
        """Why there is no hunk to take back; nothing when there is one."""
        shown = self._view.shown
        if shown is None:
            return "This change is still being read." if self._view.item is not None else "There is no change here."
        return "" if shown.hunks else f"{shown.whole} d c takes it back."

    def hunk(self) -> None:
        """Take back the hunk that is shown."""
        view, shown = self._view, self._view.shown
        if shown is None or shown.before is None or shown.after is None:
            return
        change, base = shown.change, shown.after
        wanted = take_back(shown.before, base, shown.hunks[view.hunk])
        left = len(shown.hunks) - 1
        jobs = view.jobs

        def job(engine: Engine) -> Saved | Unchanged | Conflict:
            return engine.save(
                change.address, wanted, expected_sha256=change.after, actor=jobs.actor, news_since=change.before
            )

        def done(result: Saved | Unchanged | Conflict) -> None:
            if isinstance(result, Conflict):
                self._refused(change)
                return
            view.rows.let_go([change.address])
            if left and result.sha256 != change.before:
                view.rows.keep(change._replace(after=result.sha256))
            more = f" {count_words(left, 'hunk')} left in it." if left else ""
            view.say(f"Took back one hunk of {change.address}.{more} u brings it back.", "good")
            view.load_and_read()

        jobs.run(job, done, what=f"take back a hunk of {change.address}", lane=WRITE)

    def changes(self, changes: tuple[Change, ...]) -> None:
        """Take back whole changes."""
        view, jobs = self._view, self._view.jobs
        name = str(changes[0].address) if len(changes) == 1 else count_words(len(changes), "memory")
        if len(changes) > MANY:
            view.say(f"Taking back {name}, one after the other...")

        def done(result: Done) -> None:
            if changed_meanwhile(result):
                self._refused(changes[0])
                return
            view.rows.let_go(one.address for one in result.outcomes if one.ok)
            view.rows.marks.clear()
            self._report(result, name)
            view.load_and_read()

        jobs.run(
            lambda engine: engine.undo.take_back(changes, actor=jobs.actor),
            done,
            what=f"take back what others did to {name}",
            lane=WRITE,
        )

    def _report(self, done: Done, name: str) -> None:
        failed = [outcome for outcome in done.outcomes if not outcome.ok]
        if not failed:
            self._view.say(f"Took back the change of {name}. u brings it back.", "good")
            return
        why = failed[0].error.message if failed[0].error is not None else "it changed again meanwhile"
        count = len(done.outcomes)
        words = partly_done("took back", count - len(failed), count, str(failed[0].address), why)
        self._view.say(words, "warning")

    def _refused(self, change: Change) -> None:
        self._view.say(f"{change.address} changed again: nothing was taken back. Now it is shown as it is.", "warning")
        self._view.load_and_read()


def changed_meanwhile(done: Done) -> bool:
    """Whether an operation on one memory was refused because somebody wrote it again."""
    return len(done.outcomes) == 1 and isinstance(done.outcomes[0].result, Conflict)
