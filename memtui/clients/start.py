"""The clients memtui can be installed in, and how each starts memtui: the command of its server, the line of its hook.

The command is written as an absolute path, because an agent's own PATH is not that of the user's shell; only what a
project shares with others has the bare name.
"""

import os
import re
import shlex
import sys
from collections.abc import Collection

from memtui.agents.agent import MORE_HOOKS, PROJECT, Client, ClientFile, Start
from memtui.agents.table import KNOWN, agent_of
from memtui.config.settings import Settings
from memtui.config.surroundings import Surroundings

NO_CONTEXT = "--no-context"
"""The server leaves the index and the hot set to a hook."""
SHORT_CONTEXT = "--short-context"
"""The server gives a short index, because its agent does not run its hook in every session."""
_FLAGS = {"full": (), "short": (SHORT_CONTEXT,), "none": (NO_CONTEXT,)}
_DEFAULTS = (("XDG_CONFIG_HOME", ".config"), ("XDG_STATE_HOME", ".local/state"), ("XDG_DATA_HOME", ".local/share"))


def clients() -> tuple[Client, ...]:
    """Return every client, in the order of the table; imports the files of their agents."""
    known = (agent_of(one.id).client for one in KNOWN if one.client)
    return tuple(client for client in known if client is not None)


def client_named(name: str) -> Client:
    """Return a client by its name, a key of `table.CLIENTS`."""
    return next(client for client in clients() if client.name == name)


def found_command(argv0: str, executable: str) -> tuple[str, ...]:
    """Return the command that starts this memtui from any folder.

    It is the installed script by its absolute path, links unresolved; else Python with the module's name, without the
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
    access: str | None = None,
    shared: bool = False,
    context: str = "full",
    more: Collection[str] = (),
) -> Start:
    """Work out how an agent starts memtui.

    Args:
        settings: where memtui's own files live now.
        client: the client's name.
        access: the flag of its door; None: none.
        shared: the entry is for others too, so it holds nothing of this machine.
        context: what the server gives of the index and the hot set: `full`, `short` or `none`.
        more: the wanted hooks of `MORE_HOOKS`.
    """
    command = ("memtui",) if shared else found_command(sys.argv[0], sys.executable)
    home = () if shared else _home(settings)
    args = (*command[1:], "mcp", *(("--access", access) if access else ()), *_FLAGS[context], *home)
    hook = (*command, "context", "--format", "hook", "--client", client, *home)
    asked = (
        shlex.join((*command, verb, "--hook", "--client", client, *home)) if verb in more else "" for verb in MORE_HOOKS
    )
    return Start(command[0], args, shlex.join(hook), () if shared else _environment(settings), *asked)


def _home(settings: Settings) -> tuple[str, ...]:
    """Return the option for a single folder of the user's choice, which the server must use as well."""
    return () if settings.directories.origin == "per user" else ("--home", settings.directories.config)


def _environment(settings: Settings) -> tuple[tuple[str, str], ...]:
    """Return the folders that the user's environment names, because agents start servers with little of it."""
    if settings.directories.origin != "per user" or settings.home is None or sys.platform == "darwin":
        return ()
    places = (settings.directories.config, settings.directories.state, settings.directories.data)
    return tuple(
        (variable, os.path.dirname(place))
        for (variable, default), place in zip(_DEFAULTS, places, strict=True)
        if os.path.dirname(place) != os.path.normpath(os.path.join(settings.home, default))
    )


def wanted(
    client: Client,
    place: Surroundings,
    level: str,
    settings: Settings,
    *,
    access: str | None = None,
    context: bool | None = None,
    more: Collection[str] = (),
    on: str = "",
) -> tuple[ClientFile, ...]:
    """Return the files of a client's configuration, with the entries that memtui needs there.

    Args:
        client: the client.
        place: where the user stands.
        level: one of `LEVELS`.
        settings: where memtui's own files live now.
        access: the flag of its door; None: none.
        context: whether the server gives the index and the hot set; None: where no hook does, and a short index where
            the hook may not run.
        more: the wanted hooks of `MORE_HOOKS`, where the agent has a hook that gives context.
        on: another machine whose memories the server gives, beside the server for this one.
    """

    def files(context: str) -> tuple[ClientFile, ...]:
        shared = level == PROJECT
        start = how_to_start(settings, client.name, access=access, shared=shared, context=context, more=more)
        return client.files(place, level, start)

    if on:
        return tuple(filter(lambda file: file.entries, (_elsewhere(file, on) for file in files("full"))))
    if context is not None:
        return files("full" if context else "none")
    found = files("short" if client.hook_may_not_run else "none")
    hooked = any(entry.what == "hook" for file in found for entry in file.entries)
    return found if hooked else files("full")


def _elsewhere(file: ClientFile, on: str) -> ClientFile:
    """Keep only the server of a file, under a name of its own, with memtui asking another machine."""
    name, entries = re.sub(r"[^A-Za-z0-9_-]", "_", on), []
    for entry in file.entries:
        if entry.what == "server" and isinstance(entry.value, dict):
            before, args = entry.value, entry.value["args"]
            place = args.index("mcp") + 1
            value = before | {"args": [*args[:place], f"--on={on}", *args[place:]]}
            entries.append(entry._replace(path=(*entry.path[:-1], f"{entry.path[-1]}-{name}"), value=value))
    return file._replace(entries=tuple(entries), beside=True)
