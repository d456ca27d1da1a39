"""What memtui knows about one agent's configuration, as values: which files, and what of ours stands in each.

One module per agent makes these; the code that changes files knows no agent's name.
"""

from collections.abc import Callable
from typing import NamedTuple

from memtui.clients.start import Start, how_to_start
from memtui.config.settings import Settings
from memtui.config.surroundings import Surroundings

USER, PROJECT = "user", "project"
LEVELS = (USER, PROJECT)
"""Where an entry can stand: in the user's own configuration, or in the project's, which is shared with others."""
SESSIONS = "startup|clear|compact"
"""When a session begins with an empty context; one that is resumed still has what it was given."""
SECONDS = 10
"""How long an agent waits for the context at the start of a session."""


class Entry(NamedTuple):
    """One thing of ours in a file."""

    what: str
    """`server`; `hook`; `value`, which the file needs beside them."""
    path: tuple[str, ...]
    """Where: the member itself, or for a hook the array that it is an item of."""
    value: object


class Target(NamedTuple):
    """One file, and what of ours stands in it."""

    path: str
    """Absolute."""
    format: str
    """`json` (comments are accepted) or `toml`."""
    entries: tuple[Entry, ...]
    inside: str | None = None
    """For a file of a project: the project's folder, which it must not lead out of."""


class Note(NamedTuple):
    """What the user should know or do about an installation: one sentence."""

    text: str
    level: str = ""
    """The level it is about; empty: both."""
    when: str = ""
    """`before`, only while nothing is written; `after`, only when it was; empty: always."""


class Client(NamedTuple):
    """One agent that speaks the Model Context Protocol."""

    name: str
    """What the user calls it; a key of `names.KNOWN`."""
    title: str
    """Its own name."""
    folder: Callable[[Surroundings], str]
    """Where it keeps its own files, absolute; when that is there, the agent is on this machine."""
    targets: Callable[[Surroundings, str, Start], tuple[Target, ...]]
    """The files of a level, and what to put into them to start memtui like this."""
    notes: tuple[Note, ...] = ()
    hook_may_not_run: bool = False
    """Whether there are sessions in which it does not run its hook, so that the server gives a short index."""


def wanted(
    client: Client,
    place: Surroundings,
    level: str,
    settings: Settings,
    *,
    access: str | None,
    context: bool | None = None,
    words: tuple[str, ...] | None = None,
) -> tuple[Target, ...]:
    """Work out what belongs where for memtui to be in a client.

    Args:
        client: which.
        place: where the user stands.
        level: one of `LEVELS`.
        settings: where memtui's own files live now.
        access: the flag of its door; None: none.
        context: whether the server gives the index and the hot set; None: where no hook does, and a short index where
            the hook may not run.
        words: the command; None: the one of this process.
    """

    short = context is None and client.hook_may_not_run

    def targets(*, context: bool) -> tuple[Target, ...]:
        shared = level == PROJECT
        start = how_to_start(
            settings, client.name, access=access, shared=shared, context=context, short=short, words=words
        )
        return client.targets(place, level, start)

    found = targets(context=bool(context))
    hooked = any(entry.what == "hook" for target in found for entry in target.entries)
    return found if context is not None or hooked else targets(context=True)


def home_of(place: Surroundings) -> str:
    """Return the user's home folder.

    Raises:
        UsageError: `E_CONFIG`, when none is known.
    """
    if place.home is None:
        from memtui.errors import UsageError

        raise UsageError(
            "There is no home folder, so no agent's configuration can be found.", code="E_CONFIG", hint="Set HOME."
        )
    return place.home


def hook_group(hook: "dict[str, object]", matcher: str | None = SESSIONS) -> "dict[str, object]":
    """Wrap a hook in a group, as Claude Code and those who follow it have them."""
    return ({"matcher": matcher} if matcher else {}) | {"hooks": [hook]}
