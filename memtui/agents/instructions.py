"""Instruction files along a path: which folders between a project and the user an agent reads them in.

Every agent walks the same way (down to where the user stands, some also up to the root of the file system) and differs
only in names and limits. Files further down, and files these ones import, are not looked for: that would mean to read
them, or the whole project.
"""

import os
from collections.abc import Iterator

from memtui.agents.folders import has_any, short_path, slug
from memtui.agents.reading import is_within
from memtui.config.surroundings import Surroundings, find_checkout
from memtui.engine.model import Policy, Root

ABOVE = "These files lie above the project and hold for everything below them."


def start_folder(surroundings: Surroundings) -> str:
    """Where a session starts: the working directory when it lies in the project, else the project."""
    return surroundings.cwd if is_within(surroundings.cwd, (surroundings.project,)) else surroundings.project


def chain(surroundings: Surroundings, top: str) -> tuple[str, ...]:
    """Give the folders from a project down to the user, as paths relative to the project.

    Args:
        surroundings: where the user stands.
        top: the project or its checkout, absolute.

    Returns:
        The empty path, then each folder on the way with a final `/`; only as far down as the project that was asked
        for, when the user stands outside of it.
    """
    place = start_folder(surroundings)
    parts = os.path.relpath(place, top).split(os.sep) if is_within(place, (top,)) and place != top else []
    return ("", *("/".join(parts[: count + 1]) + "/" for count in range(len(parts))))


def along(surroundings: Surroundings, top: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """Give the paths of files with these names in every folder of the chain."""
    return tuple(folder + name for folder in chain(surroundings, top) for name in names)


def ancestors(folder: str, stop: str | None = None) -> Iterator[str]:
    """Give the folders above a folder, the outermost first, without the root of the file system.

    Args:
        folder: absolute; not given itself.
        stop: the outermost folder that counts; None: all.
    """
    found = []
    while (parent := os.path.dirname(folder)) != folder:
        folder = parent
        if os.path.dirname(folder) != folder:
            found.append(folder)
        if folder == stop:
            break
    yield from reversed(found)


def here(surroundings: Surroundings, agent: str, label: str, top: str, policy: Policy, note: str) -> Iterator[Root]:
    """Give the root of a project's instruction files, when there is any."""
    include = policy.include or ()
    if has_any(top, include):
        yield Root(
            f"{agent}:project:instructions",
            top,
            agent,
            "project",
            label,
            policy,
            in_checkout=surroundings.checkout is not None,
            project=surroundings.project,
            note=note,
            kind="instructions",
        )


def above(
    surroundings: Surroundings, agent: str, label: str, folders: Iterator[str], policy: Policy, note: str
) -> Iterator[Root]:
    """Give a root for each folder above the project that has instruction files."""
    for folder in folders:
        if has_any(folder, policy.include or ()):
            yield Root(
                f"{agent}:project:above{slug(folder)}",
                folder,
                agent,
                "project",
                f"{label}, {short_path(folder, surroundings.home)}",
                policy,
                in_checkout=find_checkout(folder) is not None,
                project=surroundings.project,
                note=f"{note} {ABOVE}",
                kind="instructions",
            )
