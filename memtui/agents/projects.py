"""The folders agents keep for each project, named by a slug of its path: finding the project again.

Claude Code and Qwen Code name these folders alike, so what a slug hides (which dashes were slashes, whether the project
still exists, whether two projects share it) is worked out here once.
"""

import os
from collections.abc import Container, Iterator
from typing import NamedTuple

from memtui.agents.folders import SLUG_LENGTH, id_part, is_folder, names_in, short_path, slug
from memtui.agents.sessions import named_projects
from memtui.config.surroundings import Surroundings
from memtui.engine.model import Policy, Root

ORPHANED = "The project's folder is gone: it was moved, renamed or deleted, and these memories stayed behind."
EMPTIED = "The project's folder is gone, and no memory is left here."


def gone_note(folder: str) -> str:
    """Say of the memories of a project whose folder is gone whether there are any.

    Args:
        folder: where the agent keeps them.
    """
    return ORPHANED if names_in(folder) else EMPTIED


def other_projects(
    surroundings: Surroundings,
    folder: str,
    known: Container[str],
    *,
    agent: str,
    label: str,
    policy: Policy,
    note: str,
) -> Iterator[Root]:
    """Find every project's memories in an agent's folder of projects.

    Args:
        surroundings: where the user stands.
        folder: the agent's folder that holds one folder for each project, and `memory/` in that.
        known: names of project folders to leave out.
        agent: the agent's name.
        label: what to call such a root; the project's path is added.
        policy: the layout.
        note: what the agent does to these files.
    """
    decoder = SlugDecoder()
    for name in names_in(folder):
        path = os.path.join(folder, name, "memory")
        if name in known or not is_folder(path):
            continue
        found = decoder.decode(name)
        # What an agent's session files name is for people to read: the root belongs to no project because of it.
        named = () if found is not None and len(found) == 1 else named_projects(os.path.join(folder, name))
        shown = named or found or ()
        said = note
        if len(shown) > 1:
            said = f"{note} {len(shown)} folders share them: {', '.join(shown)}."
        gone = not any(map(os.path.isdir, named)) if named else found == ()
        yield Root(
            f"{agent}:project:{id_part(name)}",
            path,
            agent,
            "project",
            f"{label}, {short_path(shown[0], surroundings.home) if shown else name}",
            policy,
            project=found[0] if found and len(found) == 1 else None,
            note=gone_note(path) if gone else said,
        )


class _Names(NamedTuple):
    """The names in a folder."""

    by_slug: dict[str, list[str]]
    lengths: tuple[int, ...]
    """How long their slugs are, each length once."""


class SlugDecoder:
    """Turns slugs back into the folders they were made from, by walking the folders that exist.

    A slug does not say which dashes were slashes, so one slug may fit several folders, or none any more. Listings are
    remembered, so that hundreds of slugs below one home cost one look at each folder on the way.
    """

    most_folders = 2_000
    """Folders looked into in all; slugs that would need more are left undecoded."""
    most_for_one = 300
    """Steps spent on one slug: folders that are links to themselves have endless ways."""
    most_answers = 4

    def __init__(self) -> None:
        self._listed: dict[str, _Names] = {}
        self._folders: dict[str, bool] = {}
        self._steps = 0

    def decode(self, text: str) -> tuple[str, ...] | None:
        """Find the existing folders with this slug.

        Returns:
            At most four absolute paths, sorted; empty when no such folder exists; None when it cannot be told.
        """
        if not text.startswith("-") or len(text) > SLUG_LENGTH or os.sep != "/":
            return None
        self._steps = 0
        found, told = self._walk("/", text[1:])
        return tuple(sorted(found)) if told or found else None

    def _walk(self, folder: str, rest: str) -> tuple[list[str], bool]:
        """Find the folders below `folder` whose slug is `rest`; False with them when the search had to stop."""
        self._steps += 1
        listed = self._list(folder) if self._steps <= self.most_for_one else None
        if listed is None:
            return [], False
        found: list[str] = []
        told = True
        most = len(rest)
        lead = folder if folder == "/" else folder + "/"
        for end in listed.lengths:  # a name ends at a dash, any dash, or at the end
            if end > most or (end < most and rest[end] != "-"):
                continue
            for name in listed.by_slug.get(rest[:end], ()):
                path = lead + name
                if len(found) >= self.most_answers or not self._is_folder(path):
                    continue
                if end == most:
                    found.append(path)
                    continue
                below, all_of_them = self._walk(path, rest[end + 1 :])
                found += below[: self.most_answers - len(found)]
                told = told and all_of_them
        return found, told

    def _is_folder(self, path: str) -> bool:
        known = self._folders.get(path)
        if known is None:
            known = self._folders[path] = os.path.isdir(path)
        return known

    def _list(self, folder: str) -> "_Names | None":
        """Give the names in a folder; None when enough folders were looked into."""
        if folder not in self._listed:
            if len(self._listed) >= self.most_folders:
                return None
            made: dict[str, list[str]] = {}
            for name in names_in(folder):
                made.setdefault(slug(name), []).append(name)
            self._listed[folder] = _Names(made, tuple(sorted(set(map(len, made)))))
        return self._listed[folder]
