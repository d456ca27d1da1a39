"""Detection of memories without a project, folders shared by projects, and worktrees that share or split memories.

A slug does not say which of its dashes were slashes, so every answer has a certainty. Nothing is written.
"""

import os
from collections.abc import Iterable
from typing import NamedTuple

from memtui.agents.projects import SlugDecoder, fits, main_checkout, named_projects, worktrees
from memtui.agents.table import agent_of
from memtui.config.surroundings import find_checkout
from memtui.engine.model import Root

EXACT, LIKELY, SEVERAL, UNKNOWN = "exact", "likely", "several", "unknown"
SURE = {
    EXACT: "the agent's own files name the project",
    LIKELY: "one folder on this machine fits the name, and the agent's own files name none",
    SEVERAL: "several folders on this machine fit the name",
    UNKNOWN: "no folder on this machine fits the name, and the agent's own files name none",
}
"""Certainty of the project of a folder of memories."""
SHARED, SPLIT = "shared", "split"


class Decoded(NamedTuple):
    """The project of a folder of memories."""

    sure: str
    """A key of `SURE`."""
    projects: tuple[str, ...]
    """Paths, existing or not; untrusted."""
    there: tuple[str, ...]
    """Existing folders that fit the name."""


class ProjectMove(NamedTuple):
    """A possible new place of a project."""

    path: str
    why: str


class Orphan(NamedTuple):
    """Memories whose project is gone."""

    root: Root
    decoded: Decoded
    moved: tuple[ProjectMove, ...]
    """Most likely first."""

    @property
    def sure(self) -> str:
        """Certainty of the new place, in words."""
        if not self.moved:
            return "unknown: nothing here has its name"
        return "one candidate" if len(self.moved) == 1 else f"{len(self.moved)} candidates"


class Collision(NamedTuple):
    """A folder of memories shared by several projects."""

    root: Root
    projects: tuple[str, ...]
    sure: str
    """`exact` when the agent's own files name all of them, else `several`."""


class Worktrees(NamedTuple):
    """Checkouts of one repository, and how an agent keeps their memories."""

    kind: str
    """`shared`: in one folder; `split`: in one each."""
    agent: str
    main: str
    roots: tuple[Root, ...]
    checkouts: tuple[str, ...]
    """Without the main one."""


class Survey(NamedTuple):
    """All findings."""

    orphans: tuple[Orphan, ...]
    collisions: tuple[Collision, ...]
    worktrees: tuple[Worktrees, ...]


def slug_of(root: Root) -> str | None:
    """Return the slug in a root's path; None for an agent without slugs."""
    if agent_of(root.agent).transcripts is None or root.scope != "project" or os.path.basename(root.path) != "memory":
        return None
    name = os.path.basename(os.path.dirname(root.path))
    return name if os.path.basename(os.path.dirname(os.path.dirname(root.path))) == "projects" else None


def decode(root: Root, decoder: SlugDecoder) -> Decoded | None:
    """Determine the project of a root; None for one that is not named by a project's path."""
    name, transcripts = slug_of(root), agent_of(root.agent).transcripts
    if name is None or transcripts is None:
        if root.agent == "mux" and root.project is not None:
            return Decoded(EXACT, (root.project,), (root.project,) if os.path.isdir(root.project) else ())
        return None
    named = named_projects(os.path.dirname(root.path), transcripts)
    found = decoder.decode(name)
    there = tuple(dict.fromkeys((*(path for path in named if os.path.isdir(path)), *(found or ()))))
    if named:
        return Decoded(EXACT, named, there)
    if root.project is not None and fits(root.project, name) and root.project not in there:
        there = (*there, root.project) if os.path.isdir(root.project) else there
    if len(there) == 1:
        return Decoded(LIKELY, there, there)
    return Decoded(SEVERAL if there else UNKNOWN, there, there)


def survey(roots: Iterable[Root], home: str | None) -> Survey:
    """Find misplaced memories among the roots of all projects; moved projects are searched below `home`."""
    decoder, places = SlugDecoder(), Places(home)
    known = {root.id: root for root in roots}
    decoded = {id_: one for id_, root in known.items() if (one := decode(root, decoder)) is not None}
    living = tuple(dict.fromkeys(path for one in decoded.values() for path in one.there))
    orphans = []
    collisions = []
    for id_, one in decoded.items():
        root = known[id_]
        if _is_orphan(one, decoder, root):
            orphans.append(Orphan(root, one, _moved(one, living, places)))
        sharing = one.projects if one.sure == EXACT else one.there
        if len(sharing) > 1:
            collisions.append(Collision(root, sharing, one.sure))
    return Survey(tuple(orphans), tuple(collisions), _worktrees(known, decoded))


def where(root: Root, roots: Iterable[Root], home: str | None) -> Orphan:
    """Return where the project of one root may be now, whether it is gone or not."""
    decoder = SlugDecoder()
    found = decode(root, decoder) or Decoded(UNKNOWN, (), ())
    living = tuple(dict.fromkeys(one.project for one in roots if one.project and os.path.isdir(one.project)))
    return Orphan(root, found, _moved(found, living, Places(home)))


def leads_to(orphan: Orphan, project: str) -> bool:
    """Return whether the most likely place of a missing project is this folder."""
    return bool(orphan.moved) and os.path.realpath(orphan.moved[0].path) == os.path.realpath(project)


def _is_orphan(one: Decoded, decoder: SlugDecoder, root: Root) -> bool:
    if one.sure == EXACT:
        return not any(os.path.isdir(path) for path in one.projects)
    name = slug_of(root)
    return not one.there and name is not None and decoder.decode(name) == ()


def _moved(one: Decoded, living: tuple[str, ...], places: "Places") -> tuple[ProjectMove, ...]:
    found: dict[str, str] = {}
    for old in one.projects:
        name = os.path.basename(old)
        for path in one.there:
            if path != old:
                found.setdefault(path, "its path makes the same slug")
        for path in living:
            if os.path.basename(path) == name and path != old:
                found.setdefault(path, "it has the same name, and an agent has memories of it")
        for path in places.named(name, old):
            found.setdefault(path, "it has the same name")
    return tuple(ProjectMove(path, why) for path, why in found.items())[: Places.most_answers]


def _worktrees(roots: dict[str, Root], decoded: dict[str, Decoded]) -> tuple[Worktrees, ...]:
    families: dict[tuple[str, str], list[tuple[Root, str]]] = {}
    for id_, one in decoded.items():
        here = one.there[0] if len(one.there) == 1 else None
        if here is None or find_checkout(here) != here:
            continue
        families.setdefault((roots[id_].agent, main_checkout(here)), []).append((roots[id_], here))
    found = []
    for (agent, main), members in families.items():
        apart = tuple(path for _, path in members if path != main)
        if apart:
            found.append(Worktrees(SPLIT, agent, main, tuple(root for root, _ in members), apart))
        elif agent == "claude-code" and (others := worktrees(main)):
            found.append(Worktrees(SHARED, agent, main, tuple(root for root, _ in members), others))
    return tuple(found)


class Places:
    """Folders below the home folder by name, found by a bounded search."""

    most_folders = 3_000
    most_answers = 8
    depth = 4

    def __init__(self, home: str | None) -> None:
        self._home = home
        self._by_name: dict[str, list[str]] | None = None

    def named(self, name: str, old: str) -> tuple[str, ...]:
        """Return folders of a name, nearest to the old one first."""
        if self._by_name is None:
            self._by_name = self._look()
        found = [path for path in self._by_name.get(name, ()) if path != old]
        found.sort(key=lambda path: (-len(os.path.commonpath((path, old))), path))
        return tuple(found[: self.most_answers])

    def _look(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        queue = [(self._home, 0)] if self._home else []
        for looked, (folder, depth) in enumerate(queue):
            if looked >= self.most_folders:
                break
            try:
                with os.scandir(folder) as entries:
                    below = sorted(one.name for one in entries if one.is_dir(follow_symlinks=False))
            except OSError:
                continue
            for name in below:
                if name.startswith(".") or name == "node_modules":
                    continue
                path = os.path.join(folder, name)
                found.setdefault(name, []).append(path)
                if depth + 1 < self.depth:
                    queue.append((path, depth + 1))
        return found
