"""Background work while the workbench is open: it watches the task lanes, and works off its own where nobody else does.

Watching has its own thread, so that a long task hides neither waiting tasks nor a dream running elsewhere. A task in
progress when memtui ends is started again by the next process.
"""

from __future__ import annotations

import threading
import time
from functools import partial
from typing import TYPE_CHECKING

from memtui.features.tasks.shown import LaneNews, glance
from memtui.features.tasks.work import workspace_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from memtui.errors import MemtuiError
    from memtui.wire.session import Session
    from memtui.workbench.bridge import Bridge, Engine

LOOK_S = 0.5
BEGIN_INTERVAL_S = 60.0
"""Seconds before the first look at scheduled tasks, and between looks."""
READ_FIRST_S, READ_S = 3.0, 60.0
"""Seconds before agents' sessions are first read, where the user allowed it, and between later reads."""
READ_OVER_MS = 600_000
"""Files written this long before the last read are read again: clocks and disks may differ."""
AGAIN_S = 30.0
"""Seconds before a lane is worked again after the ledger failed."""


class Background:
    """Watches the lanes and works off tasks."""

    def __init__(
        self,
        session: Session,
        bridge: Bridge,
        tell: Callable[[LaneNews], None],
        fail: Callable[[str, MemtuiError], None],
    ) -> None:
        """`tell` takes news, `fail` the failed action and its error."""
        self._session = session
        self._bridge = bridge
        self._tell = tell
        self._fail = fail
        self._lane = workspace_of(session.surroundings)
        self._pause = threading.Event()
        self._working = False
        self._not_before = 0.0
        self._begin_at = time.monotonic() + BEGIN_INTERVAL_S
        self._read_at = time.monotonic() + READ_FIRST_S
        self._read_upto = 0

    def start(self) -> None:
        self._bridge.stream(self._follow, self._take, what="look at the tasks", group="tasks-look")

    def _follow(self, engine: Engine, stop: Callable[[], bool], tell: Callable[[LaneNews], None]) -> LaneNews:
        from memtui.features.proposals import staged  # in this thread: no start waits for it
        from memtui.features.proposals.apply import to_decide

        seen = LaneNews(0)
        counter: tuple[object, ...] | None = None
        votes = 0
        while not stop():
            now = glance(engine.tasks, self._lane.id, None if counter is None else seen)
            known, counter = counter, (engine.proposals.counter(), staged.signs(engine))
            count, voted = (seen.proposed, votes) if known == counter else (to_decide(engine), engine.votes.count())
            now = now._replace(proposed=count, changed=now.changed or (count, voted) != (seen.proposed, votes))
            votes = voted
            if now.changed or now.due or now.dreaming is not seen.dreaming or self._is_time():
                tell(now)
            seen = now
            self._pause.wait(LOOK_S)
        return seen

    def _is_time(self) -> bool:
        return time.monotonic() >= min(self._begin_at, self._read_at)

    def _take(self, now: LaneNews) -> None:
        self._tell(now)
        if time.monotonic() >= self._read_at:
            self._read_at = time.monotonic() + READ_S
            if not self._bridge.read_only:
                what = "read what agents' sessions did"
                self._bridge.run(
                    self._read, self._was_read, what=what, otherwise=partial(self._fail, what), lane="sessions"
                )
        if time.monotonic() >= self._begin_at:
            self._begin_at = time.monotonic() + BEGIN_INTERVAL_S
            if not self._bridge.read_only:
                self._bridge.run(self._begin, what="begin what is due", otherwise=self._failed, lane="tasks")
        if now.due and not self._working and not self._bridge.read_only and time.monotonic() >= self._not_before:
            self._working = True
            self._bridge.run(
                self._work, self._worked, what="work in the background", otherwise=self._failed, lane="tasks"
            )

    def _work(self, engine: Engine) -> int:
        from memtui.features.tasks.lanes import work_off  # most sessions have nothing to work off

        del engine  # it is the session's
        return work_off(self._session, workspace=self._lane, stop=lambda: self._bridge.closed)

    def _read(self, engine: Engine) -> int:
        from memtui.config.read import reread
        from memtui.features.sessions.read_touches import read_touches

        begun, session = engine.touches.clock(), self._session
        place, settings = session.surroundings, reread(session.settings)
        came = read_touches(engine, settings, place, since=self._read_upto, stop=lambda: self._bridge.closed)
        return self._read_upto if came.stopped or came.denied else begun - READ_OVER_MS

    def _was_read(self, upto: int) -> None:
        self._read_upto = upto

    def _begin(self, engine: Engine) -> None:
        from memtui.features.tasks.lanes import begin_due

        del engine  # it is the session's
        begin_due(self._session)

    def _worked(self, count: int) -> None:
        del count
        self._working = False

    def _failed(self, error: MemtuiError) -> None:
        self._working, self._not_before = False, time.monotonic() + AGAIN_S
        self._fail("work in the background", error)
