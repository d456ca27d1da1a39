"""Access of agents: what a client may do by its flag and the `[access]` table, and sessions within that.

Long-lived clients re-check the settings at each call, so that a client that is shut out loses access at once.
"""

import os
import threading
from collections.abc import Callable

from memtui.agents.table import canonical
from memtui.config.settings import SCOPES, Settings
from memtui.engine import Engine, now_ms
from memtui.engine.look.roots import LEVELS, Access
from memtui.errors import CODES, MemtuiError, RefusedError, UsageError
from memtui.wire.session import Options, Session, open_session

SETTINGS = "memtui's settings"
"""Stands for the settings file, whose path agents are not told."""
OTHERS = "*"
"""Stands for all clients, or all scopes, that are not named."""


def open_agent_session(
    settings: Settings, options: Options, *, client: str = "", access: str | None = None, lock_wait: float
) -> Session:
    """Open a session within the access of an agent; raises as `client_access` and `open_session`."""
    return open_session(settings, options, lock_wait=lock_wait, access=client_access(settings, client, access))


def client_access(settings: Settings, client: str = "", access: str | None = None, room: str = "") -> Access:
    """Return the access of a client: in each scope the lesser of its flag and the `[access]` table.

    `room` is the folder of the one chat it may see. Raises RefusedError `E_DISABLED`, UsageError for an invalid flag.
    """
    if access is not None and access not in LEVELS:
        raise UsageError(f"The access takes {', '.join(LEVELS[:-1])} or {LEVELS[-1]}, not {access!r}.")
    if not settings.agents_enabled:
        raise RefusedError(
            "Agents' access to memories is switched off.",
            code="E_DISABLED",
            hint=f"Only the user can change that, in {SETTINGS}: agents.enabled.",
        )
    levels = {scope: lowest(access or "rw", allowed_level(settings, client, scope)) for scope in SCOPES}
    rest = lowest(access or "rw", allowed_level(settings, client, OTHERS))
    if set(levels.values()) == {"off"}:
        raise RefusedError(
            f"Access to memories is switched off for {client or 'this client'}.",
            code="E_DISABLED",
            hint=f"Only the user can change that, in {SETTINGS}: the table [access].",
        )
    return Access(rest, tuple((scope, level) for scope, level in levels.items() if level != rest), room)


def switched_off(key: str) -> RefusedError:
    """Make the refusal for a feature that a setting switches off."""
    return RefusedError(
        f"{key} is switched off.", code="E_DISABLED", hint=f"Only the user can change that, in {SETTINGS}."
    )


def allowed_level(settings: Settings, client: str, scope: str) -> str:
    """Return the highest level the `[access]` table allows a client in a scope; `*` for other scopes."""
    if not settings.access:
        return "rw"
    name = canonical(client)
    for who in (name, OTHERS) if name else (OTHERS,):
        for where in (scope, OTHERS):
            found = [rule.access for rule in settings.access if canonical(rule.client) == who and rule.scope == where]
            if found:
                return lowest(*found)
    return "rw"


def lowest(*levels: str) -> str:
    """Return the lowest of some levels."""
    return max(levels, key=LEVELS.index)


class LiveSettings:
    """The settings, read again whenever their file changed; thread-safe, one `stat` for each call."""

    def __init__(self, load: Callable[[], Settings]) -> None:
        self._load = load
        self._guard = threading.Lock()
        self._read: Settings | None = None
        self._file = ""
        """The settings file; empty until the first read."""
        self._stamp: object = None

    def current(self) -> Settings:
        """Return the current settings, the same object while the file is unchanged; raises `E_CONFIG`."""
        with self._guard:
            if self._read is None or self._stamp is None or self._stamp != _fingerprint(self._file):
                # Looked at before it is read: what is written meanwhile is read again at the next call.
                fingerprint = _fingerprint(self._file) if self._file else None
                self._stamp = None
                self._read = self._load()
                self._stamp, self._file = fingerprint, self._read.config_file
            return self._read


class LiveAccess:
    """The access of one long-lived client, settled again whenever the settings change; thread-safe."""

    def __init__(
        self,
        load: Callable[[], Settings],
        open_engine: Callable[[Settings, Access], Engine],
        *,
        client: str,
        access: str | None = None,
        room: Callable[[Settings], str] = lambda _: "",
    ) -> None:
        """Take the client's name for itself, its flag, and functions that read the settings and open an engine.

        `room` returns the folder of the one chat that the client may see, or refuses.
        """
        self._settings = LiveSettings(load)
        self._open = open_engine
        self._client = client
        self._flag = access
        self._room = room
        self._guard = threading.Lock()
        self._in_effect: Settings | None = None
        """The settings in effect; None while access is refused."""
        self._engine: Engine | None = None
        self._retired: list[Engine] = []
        self._access: Access | None = None
        self._notices: list[str] = []

    def engine(self) -> Engine:
        """Return the engine for the current settings; a new one when the access changed.

        Raises MemtuiError: `E_DISABLED`; `E_CONFIG`; or why nothing could be opened.
        """
        with self._guard:
            try:
                settings = self._settings.current()
                if self._engine is None or settings is not self._in_effect:
                    access = client_access(settings, self._client, self._flag, self._room(settings))
                    if self._engine is None or self._access != access:
                        self._retire_engine()
                        self._engine, self._access = self._open(settings, access), access
                    self._in_effect = settings
            except MemtuiError:
                self._retire_engine()
                raise
            return self._engine

    def settings(self) -> Settings:
        """Return the current settings; raises `E_CONFIG`."""
        return self._settings.current()

    def notices(self) -> tuple[str, ...]:
        """Return the engines' notices for the user."""
        with self._guard:
            found = [*self._notices, *(one for engine in self._all() for one in engine.events.notices())]
            self._notices = []
            return tuple(dict.fromkeys(found))

    def close(self) -> None:
        """Close every engine that was opened; a later call opens one again."""
        with self._guard:
            for engine in self._all():
                engine.close()
                self._notices += engine.events.notices()
            self._retired, self._engine = [], None

    def _all(self) -> list[Engine]:
        return [*self._retired, *([] if self._engine is None else [self._engine])]

    def _retire_engine(self) -> None:
        """Replace the engine, and close it only at the end, because a call may still use it."""
        if self._engine is not None:
            self._retired.append(self._engine)
            self._engine = None


_SETTLED_MS = 100
"""Age below which a file may change again without a visible trace, because clocks of file systems are coarse."""


def _fingerprint(config_file: str) -> object:
    """Return a fingerprint of the settings file; None where a change could not be told."""
    try:
        status = os.stat(config_file)
    except FileNotFoundError:
        return ()
    except OSError:
        return None
    if abs(now_ms() - status.st_ctime_ns // 1_000_000) < _SETTLED_MS:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def error_text(error: MemtuiError) -> str:
    """Write an error for a client: code, message and hint, without a folder of this machine.

    Errors of settings and ledger name the category only, because the rest is the user's.
    """
    if error.code in _FOR_THE_USER:
        happened, hint = error.message, f"Only the user can change that, in {SETTINGS}."
        if error.code not in ("E_DISABLED", "E_ACCESS"):
            happened, hint = f"{CODES[error.code]}.", "The user can find out why: memtui doctor."
    else:
        happened, hint = error.message, error.hint
    return " ".join(part for part in (f"{error.code}: {happened}", hint) if part)


_FOR_THE_USER = ("E_DISABLED", "E_ACCESS", "E_CONFIG", "E_STORE", "E_STORE_DAMAGED")
