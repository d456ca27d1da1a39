"""How an agent starts memtui: the command for its server, and the line for its hook.

The command found now is written down whole, because an agent's own PATH is not the one of the shell memtui is typed
into; only what a project shares with others has the bare name.
"""

import os
import shlex
import sys
from typing import NamedTuple

from memtui.config.settings import Settings

NO_CONTEXT = "--no-context"
"""The flag of a server that leaves the index and the hot set to a hook."""
SHORT_CONTEXT = "--short-context"
"""The flag of a server whose agent does not run its hook in every session: it gives a short index all the same."""
_DEFAULTS = (("XDG_CONFIG_HOME", ".config"), ("XDG_STATE_HOME", ".local/state"), ("XDG_DATA_HOME", ".local/share"))


class Start(NamedTuple):
    """How an agent starts memtui."""

    command: str
    args: tuple[str, ...]
    """For the server."""
    hook: str
    """For a shell: prints the context at the start of a session."""
    env: tuple[tuple[str, str], ...] = ()
    """What the server needs in its environment to find what memtui finds now."""

    @property
    def server(self) -> "dict[str, object]":
        """The server as most agents write it."""
        server: dict[str, object] = {"command": self.command, "args": list(self.args)}
        if self.env:
            server["env"] = dict(self.env)
        return server


def found_command(argv0: str, executable: str) -> tuple[str, ...]:
    """Tell how to start this very memtui again, from any folder.

    Args:
        argv0: how this process was started.
        executable: the running Python.

    Returns:
        The installed script by its absolute path, links unresolved; else Python with the module's name, without the
        working directory on its path.
    """
    script = os.path.abspath(argv0) if argv0 else ""
    if os.path.basename(script) == "memtui" and os.access(script, os.X_OK) and os.path.isfile(script):
        return (script,)
    return (executable, "-P", "-m", "memtui")


def how_to_start(
    settings: Settings,
    client: str,
    *,
    access: str | None,
    shared: bool,
    context: bool = True,
    short: bool = False,
    words: tuple[str, ...] | None = None,
) -> Start:
    """Work out how an agent starts memtui.

    Args:
        settings: where memtui's own files live now.
        client: the client's name.
        access: the flag of its door; None: none.
        shared: the entry is for others too, so it holds nothing of this machine.
        context: whether the server gives the index and the hot set; not when a hook does.
        short: where it does not, whether it gives a short index.
        words: the command; None: the one of this process.
    """
    command = ("memtui",) if shared else (words or found_command(sys.argv[0], sys.executable))
    home = () if shared else _home(settings)
    less = (SHORT_CONTEXT,) if short else (NO_CONTEXT,)
    flags = (*(("--access", access) if access else ()), *(() if context else less))
    args = (*command[1:], "mcp", *flags, *home)
    hook = (*command, "context", "--format", "hook", "--client", client, *home)
    return Start(command[0], args, shlex.join(hook), () if shared else _environment(settings))


def _home(settings: Settings) -> tuple[str, ...]:
    """Everything in one folder of the user's choice: the server must use it too, whatever its environment says."""
    return () if settings.directories.origin == "per user" else ("--home", settings.directories.config)


def _environment(settings: Settings) -> tuple[tuple[str, str], ...]:
    """The folders that the user's environment names: agents start servers with little of it."""
    if settings.directories.origin != "per user" or settings.home is None or sys.platform == "darwin":
        return ()
    places = (settings.directories.config, settings.directories.state, settings.directories.data)
    return tuple(
        (variable, os.path.dirname(place))
        for (variable, default), place in zip(_DEFAULTS, places, strict=True)
        if os.path.dirname(place) != os.path.normpath(os.path.join(settings.home, default))
    )
