"""Claude Code: auto memory for each project, CLAUDE.md and rules, and the memories of its subagents.

Worktrees of one repository share the auto memory of the main checkout. Only the user's and the administrators' settings
can move it; a repository's can switch it off. Source of settings: code.claude.com, pages memory, settings, env-vars.
"""

import os
from collections.abc import Iterator

from memtui.agents import instructions
from memtui.agents.checkout import main_checkout
from memtui.agents.folders import (
    SLUG_LENGTH,
    agent_setting,
    agent_value,
    has_any,
    id_part,
    is_folder,
    names_in,
    short_path,
    slug,
)
from memtui.agents.places import BOOKKEEPING, home_of, is_too_wide
from memtui.agents.projects import other_projects
from memtui.agents.reading import is_within
from memtui.config.surroundings import Surroundings
from memtui.engine.model import TYPES, Policy, Root

AGENT = "claude-code"

AUTO = Policy(
    index_file="MEMORY.md",
    index_format="links",
    index_lines=200,
    index_bytes=25_000,
    index_uncounted=("front-matter", "comments"),
    pointer_chars=150,
    ignore=BOOKKEEPING,
    types=TYPES,
    fields=("name", "description", "type"),
    suffix=".md",
    whole=("MEMORY.md",),
)
"""One topic per file; of the index, the first 200 lines or 25 KB are loaded, and a line of it should stay short."""
SUBAGENTS = AUTO._replace(index_file="*/MEMORY.md", whole=("*/MEMORY.md",))
"""A folder for each subagent, each with an index of its own."""
PERSONAL = Policy(include=("CLAUDE.md", "rules/"), ignore=BOOKKEEPING, whole=("CLAUDE.md",))
IN_PROJECT = ("CLAUDE.md", "CLAUDE.local.md", ".claude/CLAUDE.md", ".claude/rules/")
MANAGED = Policy(include=("CLAUDE.md",), ignore=BOOKKEEPING, whole=("CLAUDE.md",))

WRITES = "Claude Code writes and tidies these files while it works."
READS = "Claude Code reads these files and writes them when asked to."
BELOW = " It reads those in folders further down once it works there; they are not listed here."
OFF = " Auto memory is switched off {where}, so Claude Code neither loads nor writes them."
LABEL = "Claude Code instructions"
_SYSTEM = ("claude-code", "ClaudeCode")
_YES, _NO = ("1", "true", "yes", "on"), ("0", "false", "no", "off")
"""What its variables mean, in any case."""


def roots(surroundings: Surroundings, *, all_projects: bool) -> Iterator[Root]:
    """Find Claude Code's roots: the global ones, then the current project's, then, if asked, all other projects'."""
    folder = home_of(surroundings, "CLAUDE_CONFIG_DIR", ".claude")
    if folder is not None and is_folder(folder):
        yield Root(
            f"{AGENT}:global",
            folder,
            AGENT,
            "global",
            LABEL,
            PERSONAL,
            note=READS,
            kind="instructions",
        )
        subagents = os.path.join(folder, "agent-memory")
        if is_folder(subagents):
            yield Root(
                f"{AGENT}:global:agent-memory",
                subagents,
                AGENT,
                "global",
                "Claude Code subagents",
                SUBAGENTS,
                note=WRITES,
            )
    yield from _managed(surroundings)
    if folder is not None and is_folder(folder):
        where = switched_off(surroundings, folder)
        for root in _auto_memory(surroundings, folder, where, all_projects=all_projects):
            yield root._replace(switched_off=where)
    yield from _in_project(surroundings)
    policy = Policy(include=IN_PROJECT, ignore=BOOKKEEPING, whole=IN_PROJECT[:3])
    outer = instructions.ancestors(surroundings.project)
    yield from instructions.above(surroundings, AGENT, LABEL, outer, policy, READS)


def _managed(surroundings: Surroundings) -> Iterator[Root]:
    for name in _SYSTEM:
        folder = os.path.join(surroundings.system_dir, name)
        if has_any(folder, ("CLAUDE.md",)):
            yield Root(
                f"{AGENT}:global:managed",
                folder,
                AGENT,
                "global",
                "Claude Code, managed",
                MANAGED,
                read_only=True,
                note="Set by this machine's administrators.",
                kind="instructions",
            )
            return


def _auto_memory(surroundings: Surroundings, folder: str, where: str, *, all_projects: bool) -> Iterator[Root]:
    """Find its own memories; `where` they are switched off is part of what is said of them."""
    anchor = surroundings.checkout or surroundings.project
    main = main_checkout(anchor) if surroundings.checkout else anchor
    projects = os.path.join(folder, "projects")
    alias: tuple[str, ...] = (f"{AGENT}:project",)
    writes = WRITES + (OFF.format(where=where) if where else "")
    moved = _moved_folder(surroundings, folder)
    if moved is not None and is_folder(moved):
        note = writes + " Your settings (autoMemoryDirectory) make every project share them."
        yield Root(
            f"{AGENT}:project:shared", moved, AGENT, "project", "Claude Code memory", AUTO, aliases=alias, note=note
        )
        alias = ()
    listed: set[str] = set()
    for made, note in ((slug(main), ""), (slug(anchor), " From before worktrees shared one folder.")):
        name = _folder_of(projects, made)
        if name is None or name in listed:
            continue
        listed.add(name)
        yield Root(
            f"{AGENT}:project:{id_part(name)}",
            os.path.join(projects, name, "memory"),
            AGENT,
            "project",
            "Claude Code memory",
            AUTO,
            aliases=alias,
            project=main,
            note=writes + note,
        )
        alias = ()
    if all_projects:
        yield from other_projects(
            surroundings, projects, listed, agent=AGENT, label="Claude Code memory", policy=AUTO, note=writes
        )


def settings_files(surroundings: Surroundings, home: str | None) -> tuple[tuple[str, str | None], ...]:
    """Give its files of settings, the weakest first.

    Returns:
        For each its path, and the folder no link may lead out of where a repository may have brought it.
    """
    own = os.path.join(surroundings.project, ".claude")
    bound = surroundings.checkout or surroundings.project
    managed = (os.path.join(surroundings.system_dir, name, "managed-settings.json") for name in _SYSTEM)
    return (
        *(((os.path.join(home, "settings.json"), None),) if home is not None else ()),
        (os.path.join(own, "settings.json"), bound),
        (os.path.join(own, "settings.local.json"), bound),
        *((path, None) for path in managed),
    )


def loads_nothing(surroundings: Surroundings) -> str:
    """Say by what all files of instructions and memories are switched off; empty when they are not."""
    named = surroundings.variable("CLAUDE_CODE_DISABLE_CLAUDE_MDS")
    return "by CLAUDE_CODE_DISABLE_CLAUDE_MDS" if named is not None and named.strip().lower() in _YES else ""


def switched_off(surroundings: Surroundings, home: str | None) -> str:
    """Say where auto memory is switched off: `in ~/.claude/settings.json`; empty when it is on.

    The variable is stronger than every file, and of the files the last one that says anything counts.
    """
    nothing = loads_nothing(surroundings)
    if nothing:
        return nothing
    named = (surroundings.variable("CLAUDE_CODE_DISABLE_AUTO_MEMORY") or "").strip().lower()
    if named in _YES:
        return "by CLAUDE_CODE_DISABLE_AUTO_MEMORY"
    for path, bound in reversed(settings_files(surroundings, home) if named not in _NO else ()):
        # A checkout's files are rare, and to resolve links costs more than to look whether one is there.
        if bound is None or (os.path.lexists(path) and is_within(os.path.realpath(path), (os.path.realpath(bound),))):
            enabled = agent_value(path, "autoMemoryEnabled")
            if isinstance(enabled, bool):
                return "" if enabled else f"in {short_path(path, surroundings.home)}"
    return ""


def _folder_of(projects: str, made: str) -> str | None:
    """Find the project folder for a slug that has memories; a slug too long for a name is found by its beginning."""
    if len(made) <= SLUG_LENGTH:
        return made if is_folder(os.path.join(projects, made, "memory")) else None
    begin = made[:SLUG_LENGTH] + "-"
    for name in names_in(projects):
        if name.startswith(begin) and is_folder(os.path.join(projects, name, "memory")):
            return name
    return None


def _moved_folder(surroundings: Surroundings, folder: str) -> str | None:
    """Read where the administrators' or the user's settings put auto memory; nothing as wide as the home folder."""
    files = (path for path, bound in reversed(settings_files(surroundings, folder)) if bound is None)
    text = next(filter(None, (agent_setting(path, "autoMemoryDirectory") for path in files)), None)
    if text is None or not text.startswith(("/", "~/")):
        return None
    moved = surroundings.folder(text)
    return None if is_too_wide(surroundings, moved) else moved


def _in_project(surroundings: Surroundings) -> Iterator[Root]:
    project = surroundings.project
    checked_out = surroundings.checkout is not None
    paths = instructions.along(surroundings, project, IN_PROJECT)
    whole = instructions.along(surroundings, project, IN_PROJECT[:3])
    policy = Policy(include=paths, ignore=BOOKKEEPING, whole=whole)
    yield from instructions.here(surroundings, AGENT, LABEL, project, policy, READS + BELOW)
    for name, label in (
        ("agent-memory", "Claude Code subagents"),
        ("agent-memory-local", "Claude Code subagents, not shared"),
    ):
        folder = os.path.join(project, ".claude", name)
        if is_folder(folder):
            yield Root(
                f"{AGENT}:project:{name}",
                folder,
                AGENT,
                "project",
                label,
                SUBAGENTS,
                in_checkout=checked_out,
                project=project,
                note=WRITES,
            )
