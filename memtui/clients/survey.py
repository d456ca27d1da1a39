"""Which agents are on this machine, whether memtui is in their configuration, and whether what stands there still runs.

Only looks. What cannot be read is told as it is, so that one broken file does not hide the other agents.
"""

import importlib.util
import os
import shutil
from typing import NamedTuple

from memtui.agents.agent import PROJECT, USER, Client, ClientFile
from memtui.clients import entries, strays
from memtui.clients.install import look
from memtui.clients.start import NO_CONTEXT, SHORT_CONTEXT, clients, wanted
from memtui.config.settings import Settings
from memtui.config.surroundings import Surroundings
from memtui.errors import MemtuiError

INSTALLED, OUTDATED, ABSENT, TAKEN, UNREADABLE = "installed", "outdated", "absent", "taken", "unreadable"


class ClientState(NamedTuple):
    """One client at one level."""

    client: Client
    level: str
    present: bool
    """Whether the agent is on this machine."""
    state: str
    """`installed`; `outdated`, when it is there otherwise than memtui would write it now; `absent`; `taken`, when
    the name is another server's; `unreadable`."""
    hook: bool
    """Whether a hook of ours is there."""
    paths: tuple[str, ...]
    """Its files."""
    context: bool = False
    """Whether its server gives the index and the hot set."""
    access: str | None = None
    """The flag of its door."""
    command: str | None = None
    """What its server is started with."""
    runs: bool = False
    """Whether that command is there."""
    problem: MemtuiError | None = None
    """Why it is unreadable, or who has the name."""
    strays: tuple[str, ...] = ()
    """What a killed memtui left in the folders of its files."""


def server_runs_here() -> bool:
    """Whether the package that `memtui mcp` needs is installed beside this memtui."""
    return importlib.util.find_spec("mcp") is not None


def survey(place: Surroundings, settings: Settings) -> tuple[ClientState, ...]:
    """Look at every client: the user's own configuration, and the project's where something of ours is in it."""
    everything = [look_at(client, level, place, settings) for client in clients() for level in (USER, PROJECT)]
    told = (INSTALLED, OUTDATED, TAKEN)
    named: set[str] = set()
    for at, found in enumerate(everything):  # the home folder can be the project too
        everything[at] = found._replace(strays=tuple(path for path in found.strays if path not in named))
        named.update(found.strays)
    return tuple(found for found in everything if found.level == USER or found.strays or found.state in told)


def look_at(client: Client, level: str, place: Surroundings, settings: Settings) -> ClientState:
    """Look at one client's configuration at one level."""
    plain = wanted(client, place, level, settings, access=None)
    paths = tuple(target.path for target in plain)
    folder = client.folder(place)
    found = ClientState(client, level, os.path.isdir(folder), ABSENT, hook=False, paths=paths)
    try:
        found = found._replace(strays=tuple(strays.found(map(os.path.dirname, paths))))
        words = _server(plain)
        access = _flag(words)
        hook = has_hook(plain)
        # Without a hook the server may give the context or leave it out, as the user chose; with one it is as usual.
        context = None if hook else NO_CONTEXT not in (words or ())
        steps = [look(target) for target in wanted(client, place, level, settings, access=access, context=context)]
        states = [state for step in steps for state in step.states]
        problem = next(filter(None, (step.taken for step in steps)), None)
    except MemtuiError as error:
        # A link to itself is no folder, and yet a trace of the agent: its finding must not be left out.
        present = found.present or os.path.lexists(folder)
        return found._replace(state=UNREADABLE, present=present, problem=error)
    if problem is not None:
        return found._replace(state=TAKEN, hook=hook, problem=problem)
    if words is None:
        return found._replace(hook=hook)
    outdated = any(state == entries.OTHER for _, state in states)
    return found._replace(
        state=OUTDATED if outdated else INSTALLED,
        hook=hook,
        context=not {NO_CONTEXT, SHORT_CONTEXT}.intersection(words),
        access=access,
        command=words[0],
        runs=shutil.which(words[0]) is not None,
    )


def has_hook(targets: tuple[ClientFile, ...]) -> bool:
    """Whether a hook of ours is in one of these files, as it should be now or otherwise.

    Raises:
        MemtuiError: a file cannot be read.
    """
    return any(what == "hook" and state != entries.ABSENT for target in targets for what, state in look(target).states)


def _server(targets: tuple[ClientFile, ...]) -> tuple[str, ...] | None:
    """Read how the server is started; None when there is none."""
    for target in targets:
        words = entries.server_words(target, look(target).before.text)
        if words:
            return words
    return None


def _flag(words: tuple[str, ...] | None) -> str | None:
    """Read the flag of the door from a server's command."""
    for at, word in enumerate(words or ()):
        if word == "--access" and words is not None:
            return words[at + 1]
    return None
