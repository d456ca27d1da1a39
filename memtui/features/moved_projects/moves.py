"""Memories of moved projects: which have no project, where it may be now, and moving them there in one undo step.

A slug does not say which of its dashes were slashes, so every answer has a certainty. Pins and history follow the
renames, and an existing index takes in the pointers. Memories whose name is taken stay.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import NamedTuple

from memtui.agents.known.mux import project_folder
from memtui.agents.layout import SLUG_LENGTH, SlugDecoder, fits, id_part, main_checkout, named_projects, slug, worktrees
from memtui.agents.table import agent_of
from memtui.config.surroundings import find_checkout
from memtui.engine import Engine
from memtui.engine.model import Actor, Address, Done, Memory, Remove, Rename, Root, Step, Write
from memtui.errors import MemtuiError, NotFoundError, RefusedError, UsageError
from memtui.pointers.lines import is_text
from memtui.pointers.links import parse_index

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
    decoder, places = SlugDecoder(), _Places(home)
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
    return Orphan(root, found, _moved(found, living, _Places(home)))


def leads_to(orphan: Orphan, project: str) -> bool:
    """Return whether the most likely place of a missing project is this folder."""
    return bool(orphan.moved) and os.path.realpath(orphan.moved[0].path) == os.path.realpath(project)


def _is_orphan(one: Decoded, decoder: SlugDecoder, root: Root) -> bool:
    if one.sure == EXACT:
        return not any(os.path.isdir(path) for path in one.projects)
    name = slug_of(root)
    return not one.there and name is not None and decoder.decode(name) == ()


def _moved(one: Decoded, living: tuple[str, ...], places: _Places) -> tuple[ProjectMove, ...]:
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
    return tuple(ProjectMove(path, why) for path, why in found.items())[: _Places.most_answers]


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


class _Places:
    """Folders below the home folder by name, found by a bounded search."""

    most_folders = 3_000
    most_answers = 8
    depth = 4

    def __init__(self, home: str | None) -> None:
        self._home = home

    def named(self, name: str, old: str) -> tuple[str, ...]:
        """Return folders of a name, nearest to the old one first."""
        found = [path for path in self._by_name.get(name, ()) if path != old]
        found.sort(key=lambda path: (-len(os.path.commonpath((path, old))), path))
        return tuple(found[: self.most_answers])

    @cached_property
    def _by_name(self) -> dict[str, list[str]]:
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


# --- moving

MOVED, SAME, MERGED, STAYS = "moves", "same text is there", "its pointers are added", "stays"


class RepointLine(NamedTuple):
    """The outcome for one memory."""

    address: Address
    new: Address | None
    """None when it stays."""
    what: str
    """`MOVED`, `SAME`, `MERGED` or `STAYS`."""
    why: str = ""
    """Why it stays; untrusted."""


class RepointPlan(NamedTuple):
    """A plan for moving memories."""

    pairs: tuple[tuple[Root, Root], ...]
    """Old and new roots."""
    project: str
    lines: tuple[RepointLine, ...]
    steps: tuple[Step, ...]

    @property
    def staying(self) -> tuple[RepointLine, ...]:
        """Memories that stay."""
        return tuple(line for line in self.lines if line.what == STAYS)

    @property
    def moving(self) -> int:
        """Number of memories that move."""
        return len(self.lines) - len(self.staying)

    @property
    def words(self) -> str:
        """Summary in one sentence."""
        count = self.moving
        said = f"{count:,} {'memory' if count == 1 else 'memories'} to {self.project}"
        left = len(self.staying)
        return f"{said}; {left:,} {'stays' if left == 1 else 'stay'}" if left else said


def meant(roots: Iterable[Root], old: str) -> tuple[Root, ...]:
    """Return the roots that match a root id, an old project path or a slug; raises NotFoundError without any."""
    movable = [root for root in roots if _place(root) is not None]
    path = os.path.normpath(old) if old.startswith("/") else None
    found = tuple(
        root
        for root in movable
        if old in (root.id, *root.aliases, slug_of(root)) or (path is not None and _is_of(root, path))
    )
    if not found:
        raise NotFoundError(
            f"No agent keeps memories of {old!r} in a folder of their own.",
            hint="`memtui orphans` lists memories whose project is gone.",
        )
    return found


def target(root: Root, project: str) -> Root:
    """Return the root an agent uses for a project.

    Args:
        project: absolute and canonical.

    Raises:
        UsageError: the agent's folder for such a path is unknown, or is the current one.
    """
    place = _place(root)
    if place is None:
        raise UsageError(f"{root.id} is not kept by project.", hint="Move single memories with memtui mv.")
    checkout = find_checkout(project)
    anchor = project if root.agent == "mux" else checkout or project
    if root.agent == "claude-code" and checkout is not None:
        anchor = main_checkout(checkout)
    name = project_folder(anchor) if root.agent == "mux" else slug(anchor)
    if root.agent != "mux" and len(name) > SLUG_LENGTH:
        raise UsageError(
            f"{root.agent} cuts the name of its folder for such a long path.",
            hint="Start the agent there once, then move the memories with memtui mv.",
        )
    found = _beside(root, place, name)._replace(project=anchor)
    if os.path.realpath(found.path) == os.path.realpath(root.path):
        raise UsageError(f"{root.id} is where {root.agent} looks for {anchor} already.", hint="Give another folder.")
    return found


def _beside(root: Root, place: str, name: str) -> Root:
    """Return a sibling among an agent's project folders, existing or not."""
    path = os.path.join(place, name) if root.agent == "mux" else os.path.join(place, name, "memory")
    prefix = root.id.rpartition(":")[0]
    return root._replace(id=f"{prefix}:{id_part(name)}", path=path, project=None, aliases=(), note="")


def open_next(engine: Engine, kind: str, roots: Callable[[], Iterable[Root]]) -> bool:
    """Open the folders of the next undo or redo step if it moved memories between projects; return whether it did.

    Args:
        kind: `undo` or `redo`.
        roots: finds the roots of all projects; called when needed.
    """
    known: tuple[Root, ...] | None = None
    for folders in engine.undo.beyond(kind):
        known = tuple(roots()) if known is None else known
        if opened := parted(known, folders):
            engine.roots.add(opened)
            return True
    return False


def parted(roots: Iterable[Root], folders: Iterable[str]) -> tuple[Root, ...]:
    """Return the roots of a step that moved memories from one project to another; none for any other step.

    Such a step can be undone from anywhere, one within a project only there.
    """
    known = {os.path.realpath(root.path): root for root in roots if _place(root) is not None}
    places = {_place(root): root for root in known.values()}
    found: list[Root] = []
    for folder in map(os.path.realpath, folders):
        root = known.get(folder) or _gone(places, folder)
        if root is None:
            return ()
        found.append(root)
    projects = {root.project or slug_of(root) or root.id for root in found}
    one = len(projects) < 2 or any(all(_is_of(root, project) for root in found) for project in projects)
    return () if one else tuple(found)


def _gone(places: Mapping[str | None, Root], folder: str) -> Root | None:
    """Return the root of a deleted folder, by its parent."""
    for place, root in places.items():
        name = os.path.basename(folder if root.agent == "mux" else os.path.dirname(folder))
        found = _beside(root, place or "", name)
        if os.path.realpath(found.path) == folder:
            return found
    return None


def plan(engine: Engine, old: Iterable[Root], project: str) -> RepointPlan:
    """Plan the move of memories to a project; writes nothing, but registers the roots."""
    real = os.path.realpath(project)
    if not os.path.isdir(real):
        raise NotFoundError(f"There is no folder {project!r}.", hint="Give the folder the project is in now.")
    pairs: list[tuple[Root, Root]] = []
    lines: list[RepointLine] = []
    steps: list[Step] = []
    for root in old:
        new = target(root, real)
        known = next((one for one in engine.roots.all() if one.id == new.id), None)
        engine.roots.add([root, *(() if known is not None else (new,))])
        pairs.append((root, known or new))
        _plan_root(engine, root, known or new, lines, steps)
    return RepointPlan(tuple(pairs), real, tuple(lines), tuple(steps))


def apply(engine: Engine, wanted: RepointPlan, *, actor: Actor) -> Done:
    """Carry out a plan as one undo step, or nothing of it when a memory changed meanwhile."""
    if not wanted.steps:
        raise UsageError("There is nothing to move.", hint="Every memory there has to stay; `memtui repoint` says why.")
    return engine.together.do(wanted.steps, actor=actor, label=f"re-point {wanted.words}")


def _plan_root(engine: Engine, root: Root, new: Root, lines: list[RepointLine], steps: list[Step]) -> None:
    listed = engine.rows.list([root.id, new.id]).items
    there = {memory.address.path: memory for memory in listed if memory.address.root == new.id}
    index: Memory | None = None
    for memory in listed:
        path = memory.address.path
        if memory.address.root != root.id or memory.missing:
            continue
        other = there.get(path)
        if memory.sha256 is None:
            why = memory.problems[0].text if memory.problems else "It cannot be read."
            lines.append(RepointLine(memory.address, None, STAYS, why))
        elif other is None:
            lines.append(RepointLine(memory.address, Address(new.id, path), MOVED))
            steps.append(Rename(memory.address, Address(new.id, path), memory.sha256))
        elif other.sha256 == memory.sha256:
            lines.append(RepointLine(memory.address, other.address, SAME))
            steps.append(Remove(memory.address, memory.sha256))
        elif path == root.policy.index_file and root.policy.index_format == "links":
            index = memory
        else:
            lines.append(RepointLine(memory.address, None, STAYS, "there is another one of this name."))
    if index is not None:
        _merge_index(engine, index, there[index.address.path], lines, steps)


def _merge_index(engine: Engine, old: Memory, new: Memory, lines: list[RepointLine], steps: list[Step]) -> None:
    """Add the pointers of the old index to memories that move to the existing index."""
    coming = {line.address.path for line in lines if line.address.root == old.address.root and line.new is not None}
    try:
        ours, theirs = engine.read(old.address), engine.read(new.address)
        if not (is_text(ours.bytes) and is_text(theirs.bytes)):
            raise RefusedError("One of the two indexes is not UTF-8 text.")
        if theirs.sha256 != new.sha256 or ours.sha256 != old.sha256:
            raise RefusedError("Somebody is writing it; try again.")
    except MemtuiError as error:
        lines.append(RepointLine(old.address, None, STAYS, error.message))
        return
    named = {pointer.path for pointer in parse_index(theirs.bytes, new.address.path, coming)}
    rows = ours.bytes.split(b"\n")
    wanted = [
        rows[pointer.line].rstrip(b"\r")
        for pointer in parse_index(ours.bytes, old.address.path, coming)
        if pointer.path in coming and pointer.path not in named
    ]
    lines.append(RepointLine(old.address, new.address, MERGED))
    if wanted:
        end = b"\r\n" if b"\r\n" in theirs.bytes else b"\n"
        lead = b"" if not theirs.bytes or theirs.bytes.endswith(b"\n") else end
        text = theirs.bytes + lead + b"".join(row + end for row in dict.fromkeys(wanted))
        steps.append(Write(new.address, text, theirs.sha256))
    steps.append(Remove(old.address, ours.sha256))


def _place(root: Root) -> str | None:
    """Return the folder of an agent's project folders; None for any other root."""
    if slug_of(root) is not None:
        return os.path.dirname(os.path.dirname(root.path))
    folder = os.path.dirname(root.path)
    if root.agent == "mux" and root.scope == "project" and os.path.basename(folder) == "project":
        return folder
    return None


def _is_of(root: Root, project: str) -> bool:
    """Return whether a root belongs to a project, by what is known of it or by its folder name."""
    is_mux = root.agent == "mux" and os.path.basename(root.path) == project_folder(project)
    return root.project == project or slug_of(root) == slug(project) or is_mux
