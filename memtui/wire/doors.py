"""The doors agents come through: what one client may do, from its flag and the user's table, and a session within it.

A front that opened its own session would let a client in that the user has shut out.
"""

from memtui.clients.names import canonical
from memtui.config.by_hand import SCOPES
from memtui.config.settings import Settings
from memtui.engine.access import LEVELS, Access
from memtui.errors import RefusedError, UsageError
from memtui.wire.session import Options, Session, open_session

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


def door_access(settings: Settings, client: str = "", access: str | None = None) -> Access:
    """Work out what a client may do: in each scope the less of what its flag and the `[access]` table allow.

    Raises:
        RefusedError: `E_DISABLED`, when agents, or this client, are switched off.
        UsageError: the flag is no level.
    """
    if access is not None and access not in LEVELS:
        raise UsageError(f"{access!r} is not an access.", hint=f"Choose {', '.join(LEVELS)}.")
    if not settings.agents_enabled:
        raise RefusedError(
            "Agents' access to memories is switched off.",
            code="E_DISABLED",
            hint=f"The user can allow it: agents.enabled in {settings.config_file}.",
        )
    levels = {scope: least(access or "rw", ceiling(settings, client, scope)) for scope in SCOPES}
    rest = least(access or "rw", ceiling(settings, client, OTHERS))
    if set(levels.values()) == {"off"}:
        raise RefusedError(
            f"Access to memories is switched off for {client or 'this client'}.",
            code="E_DISABLED",
            hint=f"The user can allow it: the table [access] in {settings.config_file}, and --access of this door.",
        )
    return Access(rest, tuple((scope, level) for scope, level in levels.items() if level != rest))


def ceiling(settings: Settings, client: str, scope: str) -> str:
    """Look up the most the `[access]` table lets a client do in a scope; `rw` where it says nothing.

    Args:
        settings: hold the table.
        client: what the client calls itself.
        scope: a scope; `*` for one that has no entry of its own anywhere.
    """
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
