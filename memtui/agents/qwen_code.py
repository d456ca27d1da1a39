"""Qwen Code: user, project and team memories, and QWEN.md with its relatives.

Unlike Claude Code, each worktree has its own project memories. `pinned/` is the user's: automatic work leaves it alone.
"""

import os
from collections.abc import Iterator

from memtui.agents.layout import agent_setting, has_any, id_part, is_folder, short_path, slug
from memtui.agents.projects import other_projects
from memtui.config.surroundings import Surroundings
from memtui.engine.model import TYPES, Policy, Root

AGENT = "qwen-code"
IGNORED = (".DS_Store", ".git", "*.lock", "meta.json", "extract-cursor.json")

AUTO = Policy(
    index_file="MEMORY.md",
    index_format="links",
    index_lines=200,
    index_units=25_000,
    pointer_chars=150,
    front_matter="required",
    ignore=IGNORED,
    protected=("pinned/",),
    generated=("MEMORY.md",),
    types=TYPES,
    whole=("MEMORY.md",),
)
"""One memory per file; the index is rebuilt from them. Of the index, 200 lines or 25,000 characters are loaded."""
PERSONAL = Policy(include=("QWEN.md", "AGENTS.md"), ignore=IGNORED, whole=("QWEN.md", "AGENTS.md"))
IN_PROJECT = ("QWEN.md", ".qwen/QWEN.local.md")

WRITES = "Qwen Code writes, merges and removes these files while it works, except below pinned/."
READS = "Qwen Code reads these files and writes them when asked to."


def roots(surroundings: Surroundings, *, all_projects: bool) -> Iterator[Root]:
    """Find Qwen Code's roots: the global ones, then the current project's, then, if asked, all other projects'."""
    home = _home(surroundings)
    base = _base(surroundings, home)
    if base is not None and is_folder(os.path.join(base, "memories")):
        yield Root(
            f"{AGENT}:global", os.path.join(base, "memories"), AGENT, "global", "Qwen Code memory", AUTO, note=WRITES
        )
    if home is not None and is_folder(home):
        yield Root(
            f"{AGENT}:global:instructions",
            home,
            AGENT,
            "global",
            "Qwen Code instructions",
            PERSONAL,
            note=READS,
            kind="instructions",
        )
    yield from _project_memory(surroundings, base, all_projects=all_projects)
    yield from _in_project(surroundings, known=home is not None and is_folder(home))


def _home(surroundings: Surroundings) -> str | None:
    named = surroundings.variable("QWEN_HOME")
    if named:
        return surroundings.folder(named)
    return os.path.join(surroundings.home, ".qwen") if surroundings.home else None


def _base(surroundings: Surroundings, home: str | None) -> str | None:
    """Find where memories are kept, which a runtime folder of its own can move away from the settings."""
    for variable in ("QWEN_CODE_MEMORY_BASE_DIR", "QWEN_RUNTIME_DIR"):
        named = surroundings.variable(variable)
        if named:
            return surroundings.folder(named)
    if home is None:
        return None
    chosen = agent_setting(os.path.join(home, "settings.json"), "advanced", "runtimeOutputDir")
    if chosen is None:
        return home
    # Unlike in a variable, a relative path is taken from the project here.
    return surroundings._replace(cwd=surroundings.project).folder(chosen)


def _project_memory(surroundings: Surroundings, base: str | None, *, all_projects: bool) -> Iterator[Root]:
    alias: tuple[str, ...] = (f"{AGENT}:project",)
    local = os.path.join(surroundings.project, ".qwen", "memory")
    if surroundings.variable("QWEN_CODE_MEMORY_LOCAL") == "1" and is_folder(local):
        yield Root(
            f"{AGENT}:project:local",
            local,
            AGENT,
            "project",
            "Qwen Code memory",
            AUTO,
            in_checkout=surroundings.checkout is not None,
            aliases=alias,
            project=surroundings.project,
            note=WRITES,
        )
        alias = ()
    if base is None:
        return
    folder = os.path.join(base, "projects")
    anchor = surroundings.checkout or surroundings.project
    scope = (surroundings.variable("QWEN_CODE_MEMORY_PROJECT_SCOPE") or "").strip().lower()
    places = (surroundings.cwd, anchor) if scope == "workspace" else (anchor, surroundings.cwd)
    listed: set[str] = set()
    for place in places:  # the command line and the daemon may keep two folders for one project
        name = slug(place)
        path = os.path.join(folder, name, "memory")
        if name in listed or not is_folder(path):
            continue
        listed.add(name)
        yield Root(
            f"{AGENT}:project:{id_part(name)}",
            path,
            AGENT,
            "project",
            "Qwen Code memory" if place == anchor else f"Qwen Code memory, {short_path(place, surroundings.home)}",
            AUTO,
            aliases=alias,
            project=place,
            note=WRITES,
        )
        alias = ()
    if all_projects:
        yield from other_projects(
            surroundings, folder, listed, agent=AGENT, label="Qwen Code memory", policy=AUTO, note=WRITES
        )


def _in_project(surroundings: Surroundings, *, known: bool) -> Iterator[Root]:
    anchor = surroundings.checkout or surroundings.project
    checked_out = surroundings.checkout is not None
    team = os.path.join(anchor, ".qwen", "team-memory")
    if is_folder(team):
        yield Root(
            f"{AGENT}:project:team",
            team,
            AGENT,
            "project",
            "Qwen Code team memory",
            AUTO,
            in_checkout=checked_out,
            project=anchor,
            note="Shared through git; Qwen Code asks before it writes here.",
        )
    # AGENTS.md belongs to many agents: it is Qwen Code's only where Qwen Code is in use.
    wanted = (*IN_PROJECT, "AGENTS.md") if known else IN_PROJECT
    if has_any(surroundings.project, wanted):
        yield Root(
            f"{AGENT}:project:instructions",
            surroundings.project,
            AGENT,
            "project",
            "Qwen Code instructions",
            Policy(include=wanted, ignore=IGNORED, whole=wanted),
            in_checkout=checked_out,
            project=surroundings.project,
            note=READS,
            kind="instructions",
        )
