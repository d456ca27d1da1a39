"""Taking back what others did, from the inbox: one hunk or whole changes, only of what was shown, one undo step each.

Where the memory changed again meanwhile, nothing is written: what was wanted becomes a draft, and the merge decides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from memtui.diff.hunks import take_back
from memtui.engine.model import Change, Conflict, Done, Saved, Unchanged
from memtui.ui.draw.words import count_words, partly_done
from memtui.workbench.bridge import WRITE
from memtui.workbench.views import inbox_jobs

if TYPE_CHECKING:
    from memtui.workbench.bridge import Engine
    from memtui.workbench.views.changes import ChangesScreen

MANY = 20
"""Of more memories than this it is said that they are being taken back."""


class Refused(NamedTuple):
    """Somebody wrote the memory again before it could be taken back."""

    change: Change
    drafted: bool
    """What was wanted is a draft now."""


class TakingBack:
    """Does it for the inbox."""

    def __init__(self, screen: ChangesScreen) -> None:
        self._screen = screen

    @property
    def no_hunk(self) -> str:
        """Why there is no hunk to take back; nothing when there is one."""
        shown = self._screen.shown
        if shown is None:
            return "There is no change here."
        return "" if shown.hunks else f"{shown.whole} d c takes it back."

    def hunk(self) -> None:
        """Take back the hunk that is shown."""
        screen, shown = self._screen, self._screen.shown
        if shown is None or shown.before is None or shown.after is None:
            return
        change, base = shown.change, shown.after
        wanted = take_back(shown.before, base, shown.hunks[screen.hunk])
        left = len(shown.hunks) - 1
        bridge, now = screen.jobs, screen.host.now()

        def job(engine: Engine) -> Saved | Unchanged | Refused:
            result = engine.save(
                change.address, wanted, expected_sha256=change.after, actor=bridge.actor, news_since=change.before
            )
            if isinstance(result, Conflict):
                drafted = inbox_jobs.draft_for_conflict(engine, change, wanted, base, now)
                return Refused(change, drafted)
            return result

        def done(result: Saved | Unchanged | Refused) -> None:
            if isinstance(result, Refused):
                self._refused(result)
                return
            screen.inbox.let_go([change.address])
            if left and result.sha256 != change.before:
                screen.inbox.keep(change._replace(after=result.sha256))
            more = f" {count_words(left, 'hunk')} left in it." if left else ""
            screen.say(f"Took back one hunk of {change.address}.{more} u brings it back.", "good")
            screen.load_and_read()

        bridge.run(job, done, what=f"take back a hunk of {change.address}", lane=WRITE)

    def changes(self, changes: tuple[Change, ...]) -> None:
        """Take back whole changes."""
        screen, bridge = self._screen, self._screen.jobs
        name = str(changes[0].address) if len(changes) == 1 else count_words(len(changes), "memory")
        now = screen.host.now()
        if len(changes) > MANY:
            screen.say(f"Taking back {name}, one after the other...")

        def job(engine: Engine) -> Done | Refused:
            done: Done = engine.undo.take_back(changes, actor=bridge.actor)
            if not inbox_jobs.changed_meanwhile(done):
                return done
            change = changes[0]
            before = inbox_jobs.version(engine, change, change.before)
            after = inbox_jobs.version(engine, change, change.after)
            drafted = before is not None and after is not None
            if before is not None and after is not None:
                drafted = inbox_jobs.draft_for_conflict(engine, change, before, after, now)
            return Refused(change, drafted)

        def done(result: Done | Refused) -> None:
            if isinstance(result, Refused):
                self._refused(result)
                return
            screen.inbox.let_go(one.address for one in result.outcomes if one.ok)
            screen.inbox.marks.clear()
            self._report(result, name)
            screen.load_and_read()

        bridge.run(job, done, what=f"take back what others did to {name}", lane=WRITE)

    def _report(self, done: Done, name: str) -> None:
        failed = [outcome for outcome in done.outcomes if not outcome.ok]
        if not failed:
            self._screen.say(f"Took back the change of {name}. u brings it back.", "good")
            return
        why = failed[0].error.message if failed[0].error is not None else "it changed again meanwhile"
        count = len(done.outcomes)
        words = partly_done("took back", count - len(failed), count, str(failed[0].address), why)
        self._screen.say(words, "warning")

    def _refused(self, refused: Refused) -> None:
        """Let the merge decide, or say what to do."""
        screen, address = self._screen, refused.change.address
        if not refused.drafted:
            screen.say(f"{address} changed again meanwhile; nothing was written. R shows what it is now.", "warning")
            screen.load()
            return
        bridge = screen.jobs
        bridge.refresh_drafts()
        screen.host.say(
            f"{address} changed again meanwhile: nothing was written, both texts are here to decide.", "warning"
        )
        screen.host.places.edit(address, then="compare")
