"""Gemini CLI: private memories of each project below its temporary folder, and GEMINI.md for everything and everyone.

A project's folder has a short name that only Gemini's own list, or a marker in the folder, leads back to the project.
Source of its settings: the repository google-gemini/gemini-cli, docs/reference/configuration.md and cli/auto-memory.md.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from hashlib import sha256

from memtui.agents import instructions
from memtui.agents.folders import (
    agent_names,
    agent_value,
    has_any,
    id_part,
    is_folder,
    is_name,
    is_path,
    names_in,
    short_path,
)
from memtui.agents.places import BOOKKEEPING
from memtui.agents.projects import gone_note
from memtui.config.smallfile import read_small
from memtui.config.surroundings import Surroundings
from memtui.engine.model import Policy, Root

AGENT = "gemini"
IGNORED = (*BOOKKEEPING, "inbox", "skills")
"""The inbox and the drafts of skills are proposals that Gemini asks about, not memories."""

AUTO = Policy(index_file="MEMORY.md", index_format="links", ignore=IGNORED, whole=("MEMORY.md", "GEMINI.md"))
"""An index that also holds facts of its own, and files beside it; all of the index is loaded."""
NAME = "GEMINI.md"

WRITES = "Gemini CLI edits these files when it learns something about the project."
PROPOSES = " Auto Memory is switched on in {where}: it puts proposals into an inbox there, for /memory inbox."
READS = "Gemini CLI reads these files and writes them when asked to."

_MARKER_LIMIT = 4_096
_TAKEN = ("instructions",)
"""Names of projects that would clash with another root of this module."""


def roots(surroundings: Surroundings, *, all_projects: bool) -> Iterator[Root]:
    """Find Gemini CLI's roots: the user's instructions, the project's memories and instructions, then all others."""
    home = _home(surroundings)
    names = _names(home)
    if home is not None and has_any(home, names):
        yield Root(
            f"{AGENT}:global:instructions",
            home,
            AGENT,
            "global",
            "Gemini CLI instructions",
            Policy(include=names, ignore=IGNORED, whole=names),
            note=READS,
            kind="instructions",
        )
    if home is not None and is_folder(os.path.join(home, "tmp")):
        yield from _memories(surroundings, home, all_projects=all_projects)
    top = surroundings.checkout or surroundings.project
    paths = instructions.along(surroundings, top, names)
    policy = Policy(include=paths, ignore=IGNORED, whole=paths)
    yield from instructions.here(surroundings, AGENT, "Gemini CLI instructions", top, policy, READS)


def _home(surroundings: Surroundings) -> str | None:
    named = surroundings.variable("GEMINI_CLI_HOME")
    home = surroundings.folder(named) if named else surroundings.home
    return os.path.join(home, ".gemini") if home else None


def _names(home: str | None) -> tuple[str, ...]:
    """Give the names of instruction files, which the user's own settings can change."""
    if home is None:
        return (NAME,)
    settings = os.path.join(home, "settings.json")
    return agent_names(settings, "context", "fileName") or agent_names(settings, "contextFileName") or (NAME,)


def _memories(surroundings: Surroundings, home: str, *, all_projects: bool) -> Iterator[Root]:
    folder = os.path.join(home, "tmp")
    listed = _listed(home)
    settings = os.path.join(home, "settings.json")
    proposes = agent_value(settings, "experimental", "autoMemory") is True
    note = WRITES + (PROPOSES.format(where=short_path(settings, surroundings.home)) if proposes else "")
    alias: tuple[str, ...] = (f"{AGENT}:project",)
    mine: set[str] = set()
    for place in dict.fromkeys((surroundings.cwd, surroundings.project, surroundings.checkout or surroundings.project)):
        for name in (
            listed.get(place),
            sha256(os.fsencode(place)).hexdigest(),
        ):  # named by a hash before there was a list
            if name is None or name in mine or not _is_owner(folder, name, place):
                continue
            mine.add(name)
            yield _root(surroundings, folder, name, place, note, here=True)._replace(aliases=alias)
            alias = ()
    if all_projects:
        projects = {name: path for path, name in listed.items()}
        for name in names_in(folder):
            if name not in mine and is_folder(os.path.join(folder, name, "memory")):
                owner = projects.get(name) or _owner(folder, name)
                yield _root(surroundings, folder, name, owner, note, here=False)


def _root(surroundings: Surroundings, folder: str, name: str, project: str | None, note: str, *, here: bool) -> Root:
    label = "Gemini CLI memory"
    gone = project is not None and not is_folder(project)
    path = os.path.join(folder, name, "memory")
    return Root(
        f"{AGENT}:project:{id_part(name)}" + ("_" if name in _TAKEN else ""),
        path,
        AGENT,
        "project",
        label if here else f"{label}, {short_path(project or _short(name), surroundings.home)}",
        AUTO,
        project=project,
        note=gone_note(path) if gone else note,
    )


def _short(name: str) -> str:
    """Shorten the name of a folder that is a hash, for a label."""
    return f"{name[:12]}…" if len(name) == 64 else name


def _listed(home: str) -> dict[str, str]:
    """Read Gemini's list of projects: paths, and the names of their folders."""
    value = agent_value(os.path.join(home, "projects.json"), "projects")
    return {
        path: name
        for path, name in (value.items() if isinstance(value, dict) else ())
        if isinstance(name, str) and is_path(path) and os.path.isabs(path) and is_name(name) and "/" not in name
    }


def _is_owner(folder: str, name: str, project: str) -> bool:
    """Whether a folder has memories and is not marked as another project's."""
    return is_folder(os.path.join(folder, name, "memory")) and _owner(folder, name) in (None, project)


def _owner(folder: str, name: str) -> str | None:
    """Read the mark of a project's folder: the path of the project."""
    try:
        data = read_small(os.path.join(folder, name, ".project_root"), _MARKER_LIMIT)
    except OSError:
        return None
    path = os.fsdecode(data.strip()) if data else ""
    return os.path.normpath(path) if is_path(path) and os.path.isabs(path) else None
