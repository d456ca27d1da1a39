"""Roots named by hand: reading a `--root` option, and the rules for every name a user gives a root."""

import os

from memtui.config.directories import expand_user
from memtui.config.settings import RootEntry
from memtui.errors import UsageError

SCOPES = ("global", "project", "workspace", "channel")
"""The scopes a root can have; a test compares them with the engine's."""


def parse_root(text: str, *, cwd: str, home: str | None) -> RootEntry:
    """Read a `--root` option, `NAME=DIR[,agent=KIND][,scope=SCOPE]`; DIR may be relative to `cwd`.

    Raises:
        UsageError: a part is missing, empty or unknown.
    """
    name, equals, rest = text.partition("=")
    chosen: dict[str, str] = {}
    while True:  # from the right, because a folder's name may hold commas
        front, comma, part = rest.rpartition(",")
        key, sign, value = part.partition("=")
        if not comma or not sign or key not in ("agent", "scope") or key in chosen:
            break
        chosen[key], rest = value, front
    if not (equals and name and rest):
        raise UsageError(
            f"--root {text!r} does not name a folder.", hint="Write --root NAME=DIR[,agent=KIND][,scope=SCOPE]."
        )
    entry = RootEntry(
        name,
        os.path.normpath(os.path.join(cwd, expand_user(rest, home))),
        chosen.get("agent", "files"),
        chosen.get("scope", "global"),
        "--root",
    )
    problem = root_problem(entry)
    if problem:
        raise UsageError(f"--root {text!r}: {problem[0]}", hint=problem[1])
    return entry


def root_problem(entry: RootEntry) -> tuple[str, str] | None:
    """Check a root given by hand.

    Returns:
        None when it is sound; else what is wrong and what to do, one sentence each.
    """
    if not entry.name or "/" in entry.name or entry.name != entry.name.strip() or not entry.name.isprintable():
        return (
            f"{entry.name!r} cannot be a root's name.",
            "A name has no `/`, no control characters, and no space at either end.",
        )
    if entry.name.startswith(("-", "~", ".")):
        return f"the name {entry.name!r} is not free to use.", "Choose another name, such as notes."
    if entry.scope not in SCOPES:
        return f"there is no scope {entry.scope!r}.", f"The scopes are {', '.join(SCOPES)}."
    if "\0" in entry.dir:
        return "the folder's path holds a NUL character.", "Give the folder's path."
    return None
