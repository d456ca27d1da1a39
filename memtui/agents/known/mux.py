"""Mux (Xum): global, project and workspace memories below one home, which an older version called `~/.mux`.

Mux names a project's folder by a hash of its path, so which project it is can only be known from Mux's own list. What
it knows of its memories beside the files, pins and counts of uses, is in one file; it is read as data: whatever in it
does not look as expected is left out, and it is never written.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import cache, partial
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from memtui.agents import agent, layout
from memtui.agents.layout import gone_note, main_checkout
from memtui.agents.settings import is_path, json_value
from memtui.config.smallfile import read_small
from memtui.config.surroundings import Surroundings
from memtui.engine.model import Policy, Root

if TYPE_CHECKING:
    from typing import TypeGuard

ID = "mux"
OWN = agent.AgentHome(("XUM_ROOT", "MUX_ROOT"), (".xum", ".mux"))
POLICY = Policy(
    shown_bytes=102_400,
    entries=(("*.md", "plain"),),
    fields=("description",),
    ignore=(*layout.BOOKKEEPING, "memory-meta.json"),
)
"""100 KiB for one file, and 1,000 files in a scope."""
NAMES = ("AGENTS.md", "AGENTS.local.md")
INSTRUCTIONS = Policy(include=NAMES, ignore=POLICY.ignore, whole=NAMES)
WRITES = "Mux writes these files while it works; it refuses more than 1,000 in one scope."
READS = "Mux reads these files and writes them when asked to."
ODD = "These files are not where Mux is known to keep memories, so they are shown as plain files."

_LIST_LIMIT = 8_388_608
"""Bytes of Mux's list of projects that are read."""


_META_LIMIT = 33_554_432
"""Bytes of its file of pins and uses that are read."""
_MOST = 1_000_000_000
_LATEST = 253_402_300_799_000
"""The end of the year 9999 in milliseconds: the latest time that is believed."""


class Home(NamedTuple):
    """One folder of Mux's own."""

    path: str
    prefix: str
    """Put before instances of an older home, so that ids stay unique."""
    also: str
    """Another name of the same folder, for the note."""


class _Workspace(NamedTuple):
    id: str
    project: str
    path: str


Listed = Callable[[], tuple[tuple[str, ...], tuple[_Workspace, ...]]]
"""Returns Mux's own list of projects and workspaces, read once and only when needed."""

_LOOKS = "The agent reads it when its line in the index makes it look."
ROOTS = ("mux:global", "mux:project", "mux:workspace")
"""Roots of the index and the hot set."""


def roots(surroundings: Surroundings, *, all_projects: bool) -> Iterator[Root]:
    """Yield Mux's roots: global, then the current project's and its workspaces', then, if asked, all others."""
    found = tuple(homes(surroundings))
    for home in found:
        yield from _in_home(surroundings, home, all_projects=all_projects)
    if found:
        yield from layout.project_instructions(
            surroundings, ID, "Mux instructions", surroundings.project, INSTRUCTIONS, READS
        )


def homes(surroundings: Surroundings) -> Iterator[Home]:
    """Yield Mux's own folders: the one in use, then, if it is another, the older one."""
    there = [path for path in OWN.folders(surroundings) if os.path.isdir(path)]
    is_one = len(there) > 1 and os.path.samefile(*there)
    if there:
        yield Home(there[0], "", "~/.mux" if is_one else "")
    if len(there) > 1 and not is_one:
        yield Home(there[1], "old-", "")


def _in_home(surroundings: Surroundings, home: Home, *, all_projects: bool) -> Iterator[Root]:
    older = " (~/.mux)" if home.prefix else ""
    note = WRITES + (f" {home.also} is the same folder." if home.also else "")
    memory = os.path.join(home.path, "memory")
    found = layout.names_in(memory)
    if "global" in found and os.path.isdir(os.path.join(memory, "global")):
        yield layout.new_root(
            root_id(home, "global"), os.path.join(memory, "global"), f"Mux memory{older}", POLICY, note=note
        )
    strange = tuple(name for name in found if name not in ("global", "project") and not name.startswith("."))
    if strange:
        include = tuple(name + "/" if os.path.isdir(os.path.join(memory, name)) else name for name in strange)
        other = layout.new_root(root_id(home, "global", "other"), memory, f"Mux, other files{older}", POLICY, note=ODD)
        yield layout.only(other, *include)
    if layout.has_any(home.path, NAMES):
        name, label = root_id(home, "global", "instructions"), f"Mux instructions{older}"
        yield layout.new_root(name, home.path, label, INSTRUCTIONS, note=READS, kind="instructions")
    listed, mine = cache(partial(_listed, home.path)), _current(surroundings)
    if "project" in found:
        yield from _projects(surroundings, home, listed, mine, note, all_projects=all_projects)
    yield from _workspaces(surroundings, home, listed, mine, note, all_projects=all_projects)


def root_id(home: Home, scope: str, name: str = "") -> str:
    """Return the id of a home's root: the only one of its scope, or that of a project's folder or a workspace."""
    instance = f"{home.prefix}{layout.id_part(name)}" if name else home.prefix.rstrip("-")
    return f"{ID}:{scope}:{instance}" if instance else f"{ID}:{scope}"


def project_folder(project: str) -> str:
    """Name a project's folder as Mux does: its last part, at most 40 characters, and 12 of its path's hash."""
    name = "".join(
        c if c.isascii() and (c.isalnum() or c in "._-") else "_" if ord(c) < 0x10000 else "__"
        for c in os.path.basename(project) or "unknown"
    )
    return f"{name[:40]}-{sha256(os.fsencode(project)).hexdigest()[:12]}"


def _current(surroundings: Surroundings) -> tuple[str, ...]:
    """Return the paths by which Mux may know the current project, because Mux works in worktrees of it."""
    if surroundings.checkout is None:
        return (surroundings.project,)
    return tuple(dict.fromkeys((surroundings.project, surroundings.checkout, main_checkout(surroundings.checkout))))


def _projects(
    surroundings: Surroundings, home: Home, listed: Listed, mine: tuple[str, ...], note: str, *, all_projects: bool
) -> Iterator[Root]:
    folder = os.path.join(home.path, "memory", "project")
    alias: tuple[str, ...] = (f"{ID}:project",) if not home.prefix else ()
    known = {project_folder(path): path for path in mine}
    ours = tuple(known)
    names: tuple[str, ...] = ours
    if all_projects:
        known.update((project_folder(one.project), one.project) for one in listed()[1])
        known.update((project_folder(path), path) for path in listed()[0])
        names = tuple(dict.fromkeys((*ours, *layout.names_in(folder))))
    for name in names:
        path = os.path.join(folder, name)
        if not os.path.isdir(path):
            continue
        project = known.get(name)
        gone = project is not None and not os.path.isdir(project)
        label = "Mux memory" if name in ours else f"Mux memory, {layout.short_path(project or name, surroundings.home)}"
        said = gone_note(path) if gone else note
        root = layout.new_root(root_id(home, "project", name), path, label, POLICY, project=project, note=said)
        if name in ours:
            root, alias = root._replace(aliases=alias), ()
        yield root


def _workspaces(
    surroundings: Surroundings, home: Home, listed: Listed, mine: tuple[str, ...], note: str, *, all_projects: bool
) -> Iterator[Root]:
    sessions = os.path.join(home.path, "sessions")
    names = [name for name in layout.names_in(sessions) if os.path.isdir(os.path.join(sessions, name, "memory"))]
    if not names:
        return
    known = {one.id: one for one in listed()[1]}
    for name in names:
        workspace = known.get(name)
        here = workspace is not None and (
            workspace.project in mine or (surroundings.cwd + "/").startswith(workspace.path.rstrip("/") + "/")
        )
        if not here and not all_projects:
            continue
        label = os.path.basename(workspace.path) or name if workspace else name
        path, said = os.path.join(sessions, name, "memory"), f"{note} They go away with the workspace."
        root = layout.new_root(root_id(home, "workspace", name), path, f"Mux workspace {label}", POLICY, note=said)
        yield root._replace(project=workspace.project if workspace else None)


def _listed(home: str) -> tuple[tuple[str, ...], tuple[_Workspace, ...]]:
    pairs = _table(os.path.join(home, "config.json"), "projects", _LIST_LIMIT)
    projects: list[str] = []
    workspaces: list[_Workspace] = []
    for pair in pairs if isinstance(pairs, list) else ():
        if not (isinstance(pair, list) and len(pair) == 2 and _is_absolute(pair[0])):
            continue
        projects.append(pair[0])
        entries: object = pair[1].get("workspaces") if isinstance(pair[1], dict) else None
        for entry in entries if isinstance(entries, list) else ():
            name, path = (entry.get(key) for key in ("id", "path")) if isinstance(entry, dict) else (None, None)
            if isinstance(name, str) and _is_absolute(path):
                workspaces.append(_Workspace(name, pair[0], path))
    return tuple(projects), tuple(workspaces)


def _table(path: str, key: str, limit: int) -> object:
    try:
        data = read_small(path, limit)
    except OSError:
        return None
    found = json_value(data) if data else None
    return found.get(key) if isinstance(found, dict) else None


def _is_absolute(value: object) -> TypeGuard[str]:
    return isinstance(value, str) and os.path.isabs(value) and is_path(value)


class Kept(NamedTuple):
    """What Mux keeps of one memory."""

    root: str
    """The id of the root, as this module names it."""
    path: str
    """Relative to the root; unchecked."""
    pinned: bool
    uses: int
    last_used_at: int | None
    last_written_at: int | None


def kept(surroundings: Surroundings) -> Iterator[Kept]:
    """Yield what Mux keeps of each memory, whether the memory still exists or not."""
    for home in homes(surroundings):
        entries = _table(os.path.join(home.path, "memory-meta.json"), "entries", _META_LIMIT)
        for key, entry in entries.items() if isinstance(entries, dict) else ():
            if not isinstance(entry, dict):
                continue
            scope, _, rest = key.partition(":")
            owner, colon, path = rest.rpartition(":")
            if not is_path(key) or not path or bool(colon) is not (scope != "global"):
                continue
            if scope == "global":
                root = root_id(home, scope)
            elif scope == "project":
                root = root_id(home, scope, project_folder(_plain(owner)))
            elif scope == "workspace":
                root = root_id(home, scope, _plain(owner))
            else:
                continue
            yield Kept(
                root,
                _plain(path),
                entry.get("pinned") is True,
                _number(entry.get("accessCount"), _MOST) or 0,
                _number(entry.get("lastAccessedAt"), _LATEST),
                _number(entry.get("lastWriteAt"), _LATEST),
            )


def _plain(text: str) -> str:
    """Undo how Mux escapes a colon, a slash and a percent sign in a part of a name."""
    for written, meant in (("%3A", ":"), ("%2F", "/"), ("%25", "%")):
        text = text.replace(written, meant)
    return text


def _number(value: object, most: int) -> int | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value <= most:
        return None
    return int(value)


LOADS = agent.Loads(
    (
        agent.LoadSource("user instructions", agent.HOME, ("AGENTS.md",)),
        agent.LoadSource("project instructions", agent.PROJECT, ("AGENTS.md",)),
        *(agent.on_demand("memories", root, "**/*", why=_LOOKS) for root in ROOTS),
    ),
    note="The index and the hot set are worked out by Mux's rules with the pins and uses that memtui knows.",
)
AGENT = agent.KnownAgent(ID, "Mux", roots, policy=POLICY, home=OWN, loads=LOADS)
