"""Moving of memories to the folder of their moved project: a plan first, then one undo step.

Pins and history follow the renames, and an existing index takes in the pointers. Memories whose name is taken stay.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from memtui.agents.known.mux import project_folder
from memtui.agents.layout import SLUG_LENGTH, id_part, slug
from memtui.agents.projects import main_checkout
from memtui.config.surroundings import find_checkout
from memtui.engine import Engine
from memtui.engine.model import Actor, Address, Done, Memory, Remove, Rename, Root, Step, Write
from memtui.errors import MemtuiError, NotFoundError, UsageError
from memtui.features.moved_projects.orphans import slug_of
from memtui.pointers.lines import is_text
from memtui.pointers.links import parse_index

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
    moving = [memory for memory in listed if memory.address.root == root.id and not memory.missing]
    index: Memory | None = None
    for memory in moving:
        path = memory.address.path
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
    except MemtuiError as error:
        lines.append(RepointLine(old.address, None, STAYS, error.message))
        return
    if not (is_text(ours.bytes) and is_text(theirs.bytes)):
        lines.append(RepointLine(old.address, None, STAYS, "One of the two indexes is not UTF-8 text."))
        return
    if theirs.sha256 != new.sha256 or ours.sha256 != old.sha256:
        lines.append(RepointLine(old.address, None, STAYS, "Somebody is writing it; try again."))
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
