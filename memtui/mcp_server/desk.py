"""Where one client is served: what it may do is settled when it says its name, and again whenever the settings change.

Nothing is opened before that, and a user who shuts agents out shuts out those that are connected already.
"""

import os
import threading
from collections.abc import Callable

from memtui.config.settings import Settings
from memtui.engine import Engine
from memtui.engine.access import Access
from memtui.engine.model import Actor
from memtui.errors import MemtuiError
from memtui.mcp_server.naming import actor_of, client_name
from memtui.memory_tool.scoped import ScopedTool
from memtui.values import NamedTuple
from memtui.wire.doors import door_access, open_door
from memtui.wire.session import Options

LOCK_WAIT = 20.0
"""Seconds to wait for another process: well below what clients wait for an answer."""


class Door(NamedTuple):
    """What an admitted client works with."""

    engine: Engine
    actor: Actor
    tool: ScopedTool
    access: Access


class Desk:
    """One client's door; safe to share between threads."""

    def __init__(self, load: Callable[[], Settings], options: Options, *, access: str | None) -> None:
        """Keep what a door is opened with.

        Args:
            load: reads the settings anew.
            options: the global options.
            access: the flag of the command line, which the settings can only narrow.
        """
        self._load = load
        self._options = options
        self._access = access
        self._guard = threading.Lock()
        self._name: str | None = None
        self._door: Door | None = None
        self._refusal: MemtuiError | None = None
        self._settings: Settings | None = None
        self._read: object = None
        self._left: list[Engine] = []
        self.on_open: Callable[[Engine], object] | None = None
        """Called with every engine before the client can use it."""

    def meet(self, given: str) -> None:
        """Learn the client's name; the first one counts, so that a client cannot become another one later."""
        with self._guard:
            if self._name is None:
                self._name = client_name(given)

    def door(self) -> Door:
        """Give the client's door, as the settings are now.

        Raises:
            MemtuiError: `E_DISABLED`, or why nothing could be opened.
        """
        with self._guard:
            if self._settings is None or self._read != _identity(self._settings.config_file):
                self._settle()
            if self._refusal is not None:
                raise self._refusal
            assert self._door is not None
            return self._door

    def close(self) -> None:
        """Close everything that was opened."""
        with self._guard:
            doors = [] if self._door is None else [self._door.engine]
            for engine in (*self._left, *doors):
                engine.close()
            self._left, self._door = [], None

    def _settle(self) -> None:
        """Read the settings and open, keep or shut the door."""
        name = self._name = self._name or client_name(None)
        try:
            # Looked at before it is read: what is written meanwhile is read again at the next call.
            self._read = None if self._settings is None else _identity(self._settings.config_file)
            settings = self._load()
            self._read = self._read if self._settings is not None else _identity(settings.config_file)
            self._settings = settings
            access = door_access(settings, name, self._access)
            if self._door is None or self._door.access != access:
                self._shut()
                self._door = self._open(settings, name, access)
            self._refusal = None
        except MemtuiError as error:
            self._refusal = error
            self._shut()

    def _open(self, settings: Settings, name: str, access: Access) -> Door:
        actor = actor_of(name)
        # An agent reaches `/memories/...` only, so nothing else on the machine is looked for.
        options = self._options._replace(actor=actor, only_roots=True, all_projects=False)
        session = open_door(settings, options, client=name, access=self._access, lock_wait=LOCK_WAIT)
        if self.on_open is not None:
            self.on_open(session.engine)
        return Door(session.engine, actor, ScopedTool(session.engine, actor), access)

    def _shut(self) -> None:
        """Put the door away; a call may still be at work behind it, so its engine is closed at the end."""
        if self._door is not None:
            self._left.append(self._door.engine)
            self._door = None


def _identity(config_file: str) -> object:
    """What differs when the settings file was written, made or removed."""
    try:
        status = os.stat(config_file)
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns
