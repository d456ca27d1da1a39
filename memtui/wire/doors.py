"""The doors agents come through: what one client may do, from its flag and the user's table, and a session within it.

A front that opened its own session would let a client in that the user has shut out; one that kept it would not notice
that the user shut the client out since.
"""

import os
import threading
from collections.abc import Callable

from memtui.agents.table import canonical
from memtui.config.settings import SCOPES, Settings, Value
from memtui.engine import Engine, now_ms
from memtui.engine.look.roots import LEVELS, Access
from memtui.errors import CODES, MemtuiError, RefusedError, UsageError
from memtui.wire.session import Options, Session, open_session

SETTINGS = "memtui's settings"
"""Never the file's path: an agent may read what is said here. `memtui config path` tells the user."""
OTHERS = "*"
"""The client, or the scope, that stands for all that are not named."""


def open_door(
    settings: Settings, options: Options, *, client: str = "", access: str | None = None, lock_wait: float
) -> Session:
    """Open a session for an agent; nothing on disk is touched yet.

    Args:
        settings: what `load_settings` gave.
        options: the global options; their actor is whom changes are recorded for.
        client: what the client calls itself; empty when it is not known.
        access: the door's own flag, one of `rw`, `plan`, `ro`, `off`; None: not given. It can only narrow.
        lock_wait: seconds to wait for another process before `E_LOCKED`.

    Raises:
        RefusedError: `E_DISABLED`, when agents, or this client, are switched off.
        UsageError: the flag is no level; and as `open_session`.
        NotFoundError: as `open_session`.
    """
    return open_session(settings, options, lock_wait=lock_wait, access=door_access(settings, client, access))


def door_access(settings: Settings, client: str = "", access: str | None = None, room: str = "") -> Access:
    """Work out what a client may do: in each scope the less of what its flag and the `[access]` table allow.

    `room` is the folder of the one chat whose memory it may see.

    Raises:
        RefusedError: `E_DISABLED`, when agents, or this client, are switched off.
        UsageError: the flag is no level.
    """
    if access is not None and access not in LEVELS:
        raise UsageError(f"The access takes {', '.join(LEVELS[:-1])} or {LEVELS[-1]}, not {access!r}.")
    if not settings.agents_enabled:
        raise RefusedError(
            "Agents' access to memories is switched off.",
            code="E_DISABLED",
            hint=f"Only the user can change that, in {SETTINGS}: agents.enabled.",
        )
    levels = {scope: least(access or "rw", ceiling(settings, client, scope)) for scope in SCOPES}
    rest = least(access or "rw", ceiling(settings, client, OTHERS))
    if set(levels.values()) == {"off"}:
        raise RefusedError(
            f"Access to memories is switched off for {client or 'this client'}.",
            code="E_DISABLED",
            hint=f"Only the user can change that, in {SETTINGS}: the table [access].",
        )
    return Access(rest, tuple((scope, level) for scope, level in levels.items() if level != rest), room)


def switched_off(key: str) -> RefusedError:
    """Make the refusal of what a setting switches off."""
    return RefusedError(
        f"{key} is switched off.", code="E_DISABLED", hint=f"Only the user can change that, in {SETTINGS}."
    )


def ceiling(settings: Settings, client: str, scope: str) -> str:
    """Look up the most the `[access]` table lets a client do in a scope; `rw` where it says nothing.

    Args:
        settings: hold the table.
        client: what the client calls itself.
        scope: a scope; `*` for one that has no entry of its own anywhere.
    """
    if not settings.access:
        return "rw"
    name = canonical(client)
    for who in (name, OTHERS) if name else (OTHERS,):
        for where in (scope, OTHERS):
            found = [rule.access for rule in settings.access if canonical(rule.client) == who and rule.scope == where]
            if found:
                return least(*found)
    return "rw"


def least(*levels: str) -> str:
    """Give the level among these that allows the least."""
    return max(levels, key=LEVELS.index)


class LiveSettings:
    """The settings as they are now, read again whenever their file changed. Safe to share between threads.

    A look at the file is one `stat` a call.
    """

    def __init__(self, load: Callable[[], Settings]) -> None:
        """Keep what reads them; nothing is read yet."""
        self._load = load
        self._guard = threading.Lock()
        self._read: Settings | None = None
        self._file = ""
        """The settings file; empty until it was looked for."""
        self._seen: object = None

    def now(self) -> Settings:
        """Give the settings: the same value as before, while the file is the same.

        Raises:
            UsageError: `E_CONFIG`, because settings that cannot be read allow nothing.
        """
        with self._guard:
            if self._read is None or self._seen is None or self._seen != _look(self._file):
                # Looked at before it is read: what is written meanwhile is read again at the next call.
                seen = _look(self._file) if self._file else None
                self._seen = None
                self._read = self._load()
                self._seen, self._file = seen, self._read.config_file
            return self._read


class LiveDoor:
    """The door of one client that stays: what it may do is settled anew whenever the settings changed.

    Safe to share between threads.
    """

    def __init__(
        self,
        load: Callable[[], Settings],
        open_engine: Callable[[Settings, Access], Engine],
        *,
        client: str,
        access: str | None = None,
        room: Callable[[Settings], str] = lambda _: "",
    ) -> None:
        """Keep what a door is opened with; nothing is read or opened yet.

        Args:
            load: reads the settings anew.
            open_engine: opens the engine for a client that may do this; may refuse.
            client: what the client calls itself; empty when it is not known.
            access: the door's own flag, which the settings can only narrow.
            room: gives the folder of the one chat whose memory it may see, or refuses.
        """
        self._settings = LiveSettings(load)
        self._open = open_engine
        self._client = client
        self._flag = access
        self._room = room
        self._guard = threading.Lock()
        self._settled: Settings | None = None
        """The settings it was opened by; None while it is shut."""
        self._engine: Engine | None = None
        self._left: list[Engine] = []
        self._access: Access | None = None
        self._notices: list[str] = []

    def engine(self) -> Engine:
        """Give the engine, as the settings are now; another one than before when the access is another one.

        Raises:
            MemtuiError: `E_DISABLED`; `E_CONFIG`; or why nothing could be opened.
        """
        with self._guard:
            try:
                settings = self._settings.now()
                if self._engine is None or settings is not self._settled:
                    access = door_access(settings, self._client, self._flag, self._room(settings))
                    if self._engine is None or self._access != access:
                        self._put_away()
                        self._engine, self._access = self._open(settings, access), access
                    self._settled = settings
            except MemtuiError:
                self._put_away()
                raise
            return self._engine

    def settings(self) -> Settings:
        """Give all settings as they are now; raises as `engine`."""
        return self._settings.now()

    def setting(self, key: str) -> Value:
        """Give a simple setting as it is now, by its key.

        Raises:
            MemtuiError: as `engine`.
        """
        return self._settings.now().value(key)

    def notices(self) -> tuple[str, ...]:
        """Everything the engines would have the user know."""
        with self._guard:
            found, self._notices = (
                [*self._notices, *(one for engine in self._all() for one in engine.events.notices())],
                [],
            )
            return tuple(dict.fromkeys(found))

    def close(self) -> None:
        """Close every engine that was opened; a later call opens one again."""
        with self._guard:
            for engine in self._all():
                engine.close()
                self._notices += engine.events.notices()
            self._left, self._engine = [], None

    def _all(self) -> list[Engine]:
        return [*self._left, *([] if self._engine is None else [self._engine])]

    def _put_away(self) -> None:
        """A call may still be at work with it, so it is closed at the end."""
        if self._engine is not None:
            self._left.append(self._engine)
            self._engine = None


_SETTLED_MS = 100
"""A file that is younger may be written again without a trace: clocks of file systems are coarse."""


def _look(config_file: str) -> object:
    """What differs when the settings file was written, made or removed; None when that cannot be told yet."""
    try:
        status = os.stat(config_file)
    except FileNotFoundError:
        return ()
    except OSError:
        return None
    if abs(now_ms() - status.st_ctime_ns // 1_000_000) < _SETTLED_MS:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def words(error: MemtuiError) -> str:
    """What a client is told of an error: the code, what happened, what to do next; no folder of this machine.

    Of settings and the ledger it is told only that something is wrong with them, because the rest is the user's.
    """
    if error.code in _FOR_THE_USER:
        happened, hint = error.message, f"Only the user can change that, in {SETTINGS}."
        if error.code not in ("E_DISABLED", "E_ACCESS"):
            happened, hint = f"{CODES[error.code]}.", "The user can find out why: memtui doctor."
    else:
        happened, hint = error.message, error.hint
    return " ".join(part for part in (f"{error.code}: {happened}", hint) if part)


_FOR_THE_USER = ("E_DISABLED", "E_ACCESS", "E_CONFIG", "E_STORE", "E_STORE_DAMAGED")
