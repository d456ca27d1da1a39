"""The clients memtui can be installed in, and how each starts memtui: the command of its server, the line of its hook.

The command found now is written down whole, because an agent's own PATH is not the one of the shell memtui is typed
into; only what a project shares with others has the bare name.
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
"""The flag of a server that leaves the index and the hot set to a hook."""
SHORT_CONTEXT = "--short-context"
"""The flag of a server whose agent does not run its hook in every session: it gives a short index all the same."""
_DEFAULTS = (("XDG_CONFIG_HOME", ".config"), ("XDG_STATE_HOME", ".local/state"), ("XDG_DATA_HOME", ".local/share"))


def clients() -> tuple[Client, ...]:
    """Give every client, in the order in which they are shown; the files of their agents are imported now."""
    known = (agent_of(one.id).client for one in KNOWN if one.client)
    return tuple(client for client in known if client is not None)


def client_named(name: str) -> Client:
    """Give a client by its name, which is one of `names.KNOWN`."""
    return next(client for client in clients() if client.name == name)


def found_command(argv0: str, executable: str) -> tuple[str, ...]:
    """Tell how to start this very memtui again, from any folder.

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
    more: Collection[str] = (),
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
        more: which of `MORE_HOOKS` there are to be.
        words: the command; None: the one of this process.
    """
    command = ("memtui",) if shared else (words or found_command(sys.argv[0], sys.executable))
    home = () if shared else _home(settings)
    less = (SHORT_CONTEXT,) if short else (NO_CONTEXT,)
    flags = (*(("--access", access) if access else ()), *(() if context else less))
    args = (*command[1:], "mcp", *flags, *home)
    hook = (*command, "context", "--format", "hook", "--client", client, *home)
    asked = (
        shlex.join((*command, verb, "--hook", "--client", client, *home)) if verb in more else "" for verb in MORE_HOOKS
    )
    return Start(command[0], args, shlex.join(hook), () if shared else _environment(settings), *asked)


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


def wanted(
    client: Client,
    place: Surroundings,
    level: str,
    settings: Settings,
    *,
    access: str | None,
    context: bool | None = None,
    more: Collection[str] = (),
    words: tuple[str, ...] | None = None,
    on: str = "",
) -> tuple[ClientFile, ...]:
    """Work out what belongs where for memtui to be in a client.

    Args:
        client: which.
        place: where the user stands.
        level: one of `LEVELS`.
        settings: where memtui's own files live now.
        access: the flag of its door; None: none.
        context: whether the server gives the index and the hot set; None: where no hook does, and a short index where
            the hook may not run.
        more: which of `MORE_HOOKS` are among it, where the agent has a hook that gives context.
        words: the command; None: the one of this process.
        on: the other machine whose memories the server gives, beside the one that gives those of this one.
    """

    short = context is None and client.hook_may_not_run

    def files(*, context: bool) -> tuple[ClientFile, ...]:
        shared = level == PROJECT
        start = how_to_start(
            settings,
            client.name,
            access=access,
            shared=shared,
            context=context,
            short=short,
            more=more,
            words=words,
        )
        return client.files(place, level, start)

    if on:
        return tuple(filter(lambda file: file.entries, (_elsewhere(file, on) for file in files(context=True))))
    found = files(context=bool(context))
    hooked = any(entry.what == "hook" for file in found for entry in file.entries)
    return found if context is not None or hooked else files(context=True)


def _elsewhere(file: ClientFile, on: str) -> ClientFile:
    """Keep the server of a file, under a name of its own, with memtui asking another machine; hooks are of this one."""
    name, entries = re.sub(r"[^A-Za-z0-9_-]", "_", on), []
    for entry in file.entries:
        if entry.what == "server" and isinstance(entry.value, dict):
            before, args = entry.value, entry.value["args"]
            place = args.index("mcp") + 1
            value = before | {"args": [*args[:place], f"--on={on}", *args[place:]]}
            entries.append(entry._replace(path=(*entry.path[:-1], f"{entry.path[-1]}-{name}"), value=value))
    return file._replace(entries=tuple(entries), beside=True)
