"""Taking back what others did: by hunk or whole, only of what was shown, each a step of undo.

It is apart from the view as `Decisions` is: it knows changes, and the view only where they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from memtui.diff.hunks import take_back
from memtui.engine.model import Change, Conflict, Done, Saved, Unchanged
from memtui.features.changes import view_rows
from memtui.features.host import WRITE
from memtui.ui.draw.words import count_words, partly_done

if TYPE_CHECKING:
    from memtui.engine import Engine
    from memtui.features.changes.view_proposals import ReviewPlace

MANY = 20
"""Of more memories than this it is said that they are being taken back."""


class Refused(NamedTuple):
    """Somebody wrote the memory again before it could be taken back."""

    change: Change
    drafted: bool
    """What was wanted is a draft now."""


class Rollback:
    """Takes back what others did, only of what was shown, one undo step each.

    Where the memory changed again meanwhile, nothing is written: what was wanted becomes a draft, and the merge
    decides.
    """

    def __init__(self, view: ReviewPlace) -> None:
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
        jobs, now = view.jobs, view.host.now()

        def job(engine: Engine) -> Saved | Unchanged | Refused:
            result = engine.save(
                change.address, wanted, expected_sha256=change.after, actor=jobs.actor, news_since=change.before
            )
            if isinstance(result, Conflict):
                return Refused(change, view_rows.draft_for_conflict(engine, change, wanted, base, now))
            return result

        def done(result: Saved | Unchanged | Refused) -> None:
            if isinstance(result, Refused):
                self._refused(result)
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
        now = view.host.now()
        if len(changes) > MANY:
            view.say(f"Taking back {name}, one after the other...")

        def job(engine: Engine) -> Done | Refused:
            done = engine.undo.take_back(changes, actor=jobs.actor)
            if not view_rows.changed_meanwhile(done):
                return done
            change = changes[0]
            before = view_rows.version(engine, change, change.before)
            after = view_rows.version(engine, change, change.after)
            if before is None or after is None:
                return Refused(change, drafted=False)
            return Refused(change, view_rows.draft_for_conflict(engine, change, before, after, now))

        def done(result: Done | Refused) -> None:
            if isinstance(result, Refused):
                self._refused(result)
                return
            view.rows.let_go(one.address for one in result.outcomes if one.ok)
            view.rows.marks.clear()
            self._report(result, name)
            view.load_and_read()

        jobs.run(job, done, what=f"take back what others did to {name}", lane=WRITE)

    def _report(self, done: Done, name: str) -> None:
        failed = [outcome for outcome in done.outcomes if not outcome.ok]
        if not failed:
            self._view.say(f"Took back the change of {name}. u brings it back.", "good")
            return
        why = failed[0].error.message if failed[0].error is not None else "it changed again meanwhile"
        count = len(done.outcomes)
        words = partly_done("took back", count - len(failed), count, str(failed[0].address), why)
        self._view.say(words, "warning")

    def _refused(self, refused: Refused) -> None:
        """Let the merge decide, or say what to do."""
        view, address = self._view, refused.change.address
        if not refused.drafted:
            view.say(f"{address} changed again meanwhile; nothing was written. R shows what it is now.", "warning")
            view.load()
            return
        view.jobs.refresh_drafts()
        view.host.say(
            f"{address} changed again meanwhile: nothing was written, both texts are here to decide.", "warning"
        )
        view.host.places.edit(address, then="compare")
