"""One served workspace: its engine, the thread that works its lane, and its event feed."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping

from memtui.config.settings import Settings
from memtui.daemon.bodies import RequestError
from memtui.daemon.events import Feed
from memtui.engine.disk import state_file
from memtui.engine.look.roots import READ_WRITE, Access
from memtui.engine.policy import ROOM
from memtui.errors import MemtuiError, RefusedError
from memtui.features.tasks.lanes import BEGIN_INTERVAL_S, begin_due, refuse_off, work_off, works
from memtui.features.tasks.work import workspace_of
from memtui.wire.session import Session

PAUSE = 5.0
"""Seconds between looks into an idle lane."""


class ServedWorkspace:
    """A served workspace; created on the event loop."""

    def __init__(self, open_session: Callable[[Access], Session], narrate: Callable[[str], None]) -> None:
        """Take a function that opens a session for an access, and one that reports faults."""
        self.session = session = open_session(READ_WRITE)
        self.workspace = workspace_of(session.surroundings)
        self.feed = Feed(session, self.workspace, self.wake)
        self._open = open_session
        self._narrate = narrate
        self._guard = threading.Lock()
        self._others: dict[Access, Session] = {}
        self._queued = threading.Event()
        self._ending = False
        self._worker = threading.Thread(target=self._work, name=f"lane-{self.workspace.name}", daemon=True)

    def start(self) -> None:
        """Start working the lane."""
        self._worker.start()

    def wake(self) -> None:
        """Look into the lane now."""
        self._queued.set()

    def stop(self) -> None:
        """Start no other task, and end the running one."""
        self._ending = True
        self.wake()

    def join(self, seconds: float) -> bool:
        """Wait for the running task; return whether it ended in time."""
        self._worker.join(seconds)
        return not self._worker.is_alive()

    def close(self) -> None:
        """Close all sessions, after `join`."""
        for session in (self.session, *self._others.values()):
            session.engine.close()
            for notice in session.engine.events.notices():
                self._narrate(f"memtui: {notice}")

    def at(self, access: Access) -> Session:
        """Return a session with an access."""
        rooms = any(root.kind == ROOM for root in self.session.engine.roots.all())
        if access == READ_WRITE or (access == READ_WRITE._replace(room=access.room) and not rooms):
            return self.session
        with self._guard:
            if access not in self._others:
                self._others[access] = self._open(access)
            return self._others[access]

    def check(self, kind: str, fields: Mapping[str, object], settings: Settings, access: Access) -> None:
        """Refuse a request that could not be carried out, before it is queued; raises RefusedError or RequestError."""
        refuse_off(settings, kind)
        if kind not in works():
            raise RequestError(409, "managed_memory_unavailable", f"This version of memtui cannot do {kind}.")
        if kind == "forget" and not fields["apply"]:
            return
        scope = {"user": "global"}.get(str(fields.get("scope")), fields.get("scope"))
        roots = [root for root in self.session.roots if scope in (None, root.scope)]
        if self.session.options.read_only or not any(access.allows(root) and not root.read_only for root in roots):
            raise RefusedError("Nothing may be written there.", code="E_ACCESS")

    def _work(self) -> None:
        told, begin = "", 0.0
        while not self._ending:
            self._queued.clear()
            try:
                if time.monotonic() >= begin:
                    begin = time.monotonic() + BEGIN_INTERVAL_S
                    begin_due(self.session)
                ended, said = work_off(self.session, workspace=self.workspace, stop=lambda: self._ending), ""
            except MemtuiError as error:
                ended, said = 0, str(error)  # nothing is lost: it is tried again
            except Exception as error:  # noqa: BLE001 - a lane that ended would be noticed by nobody
                state_file.note_fault(self.session.settings.state_dir, error, "serve")
                ended, said = 0, f"a fault of memtui's own: {type(error).__name__}: {error}"
            if said and said != told:
                self._narrate(f"memtui: {self.workspace.name}: {said}")
            told = said
            if ended:
                self.feed.poke()
            self._queued.wait(PAUSE)
