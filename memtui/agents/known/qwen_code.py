"""Qwen Code: user, project, team and channel memories, and QWEN.md with its relatives.

Unlike Claude Code, each worktree has its own project memories. `pinned/` is the user's: automatic work leaves it alone.
It began as Gemini CLI and took Claude Code's hooks: matchers are patterns, times are milliseconds. Source of its
settings: the repository QwenLM/qwen-code, `packages/cli/src/config/config.ts`, issues 6936 and 6941; of what it loads
the program, run by `python -m tests.agents`.
"""

import os
from collections.abc import Iterator

from memtui.agents import agent, layout
from memtui.agents.layout import other_projects
from memtui.agents.settings import agent_names, agent_setting, agent_value, file_names, last, problems, read_json
from memtui.config.surroundings import Surroundings
from memtui.engine.model import TYPES, Policy, Root

ID = "qwen-code"
OWN = agent.AgentHome(("QWEN_HOME",), (".qwen",))
IGNORED = (*layout.BOOKKEEPING, "meta.json", "extract-cursor.json")

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
    fields=("name", "description", "type"),
    suffix=".md",
    whole=("MEMORY.md",),
)
"""One memory per file; the index is rebuilt from them, and 200 lines or 25,000 characters of it are loaded."""
CHANNELS = Policy(
    ignore=IGNORED, whole=("*/CHANNEL.md",), shown_bytes=1_048_576, entries=(("*/CHANNEL.json", "qwen-room"),)
)
"""A folder for each channel, one in it for each conversation, with a file of entries, or an older one of lines."""
NAMES = ("QWEN.md", "AGENTS.md")
IN_PROJECT = (".qwen/QWEN.local.md", ".qwen/rules/")
LABEL = "Qwen Code instructions"

WRITES = "Qwen Code writes, merges and removes these files while it works, except below pinned/."
OFF = " They are switched off {where}, so it neither loads nor writes them."
CHANNEL_WRITES = "Qwen Code adds a line whenever a conversation in a channel asks it to remember something."
SHARED = "Shared through git; Qwen Code asks before it writes here."
TEAM_SYNC = " At its start it pulls, commits and pushes them by itself."
TEAM_OFF = " It is switched off, so Qwen Code does not load them."
READS = "Qwen Code reads these files and writes them when asked to."

IMPORTS = agent.ImportRule(depth=5, markdown=False, approval=False, home=False, once=False)
INDEX = agent.Limits(lines=200, units=25_000)
_TIERS = (("user", "qwen-code:global"), ("project", "qwen-code:project"), ("team", "qwen-code:project:team"))


def roots(surroundings: Surroundings, *, all_projects: bool) -> Iterator[Root]:
    """Yield Qwen Code's roots: the global ones, then the current project's, then, if asked, all other projects'."""
    home = OWN.folder(surroundings)
    named = surroundings.variable("QWEN_CODE_MEMORY_BASE_DIR")
    base = surroundings.folder(named) if named else _runtime(surroundings, home)
    names = _names(home)
    where = _switched_off(surroundings, home)
    note = WRITES + (OFF.format(where=where) if where else "")
    if base is not None and os.path.isdir(os.path.join(base, "memories")):
        path = os.path.join(base, "memories")
        yield layout.new_root(f"{ID}:global", path, "Qwen Code memory", AUTO, note=note, switched_off=where)
    if home is not None and os.path.isdir(home):
        policy = Policy(include=(*names, "rules/"), ignore=IGNORED, whole=names)
        own = layout.new_root(f"{ID}:global:instructions", home, LABEL, policy, note=READS, kind="instructions")
        yield from layout.linked(surroundings, own, (*names, "rules"))
    for root in _project_memory(surroundings, base, note, all_projects=all_projects):
        yield root._replace(switched_off=where)
    yield from _team(surroundings, home)
    if home is not None and os.path.isdir(os.path.join(home, "channels", "memory")):
        path = os.path.join(home, "channels", "memory")
        yield layout.new_root(f"{ID}:channel", path, "Qwen Code channel memory", CHANNELS, note=CHANNEL_WRITES)
    # AGENTS.md belongs to many agents: it is Qwen Code's only where Qwen Code is in use.
    known = home is not None and os.path.isdir(home)
    yield from _instructions(surroundings, tuple(name for name in names if known or name != "AGENTS.md"))


def _runtime(surroundings: Surroundings, home: str | None) -> str | None:
    named = surroundings.variable("QWEN_RUNTIME_DIR")
    if named:
        return surroundings.folder(named)
    if home is None:
        return None
    chosen = agent_setting(os.path.join(home, "settings.json"), "advanced", "runtimeOutputDir")
    if chosen is None:
        return home
    # Unlike in a variable, a relative path is taken from the project here.
    return surroundings._replace(cwd=surroundings.project).folder(chosen)


def _switched_off(surroundings: Surroundings, home: str | None) -> str:
    settings = os.path.join(home, "settings.json") if home is not None else ""
    off = bool(settings) and agent_value(settings, "memory", "enableManagedAutoMemory") is False
    return f"in {layout.short_path(settings, surroundings.home)} (memory.enableManagedAutoMemory)" if off else ""


def _project_memory(surroundings: Surroundings, base: str | None, note: str, *, all_projects: bool) -> Iterator[Root]:
    alias: tuple[str, ...] = (f"{ID}:project",)
    local = os.path.join(surroundings.project, ".qwen", "memory")
    if surroundings.variable("QWEN_CODE_MEMORY_LOCAL") == "1" and os.path.isdir(local):
        mine = layout.new_root(f"{ID}:project:local", local, "Qwen Code memory", AUTO, aliases=alias, note=note)
        yield from layout.in_project(surroundings, mine)
        alias = ()
    if base is None:
        return
    folder = os.path.join(base, "projects")
    anchor = surroundings.checkout or surroundings.project
    scope = (surroundings.variable("QWEN_CODE_MEMORY_PROJECT_SCOPE") or "").strip().lower()
    places = (surroundings.cwd, anchor) if scope == "workspace" else (anchor, surroundings.cwd)
    listed: set[str] = set()
    for place in places:  # the command line and the daemon may keep two folders for one project
        name = layout.slug(place)
        path = os.path.join(folder, name, "memory")
        if name in listed or not os.path.isdir(path):
            continue
        listed.add(name)
        label = "" if place == anchor else f", {layout.short_path(place, surroundings.home)}"
        root = layout.new_root(f"{ID}:project:{layout.id_part(name)}", path, f"Qwen Code memory{label}", AUTO)
        yield root._replace(aliases=alias, project=place, note=note)
        alias = ()
    if all_projects:
        template = layout.new_root(f"{ID}:project", folder, "Qwen Code memory", AUTO, note=note)
        yield from other_projects(surroundings, template, listed, TRANSCRIPTS)


def _team(surroundings: Surroundings, home: str | None) -> Iterator[Root]:
    anchor = surroundings.checkout or surroundings.project
    team = os.path.join(anchor, ".qwen", "team-memory")
    if not os.path.isdir(team):
        return
    said = SHARED
    if not _is_on(surroundings, home, "QWEN_CODE_MEMORY_TEAM", "enableTeamMemory"):
        said += TEAM_OFF
    elif _is_on(surroundings, home, "QWEN_CODE_MEMORY_TEAM_SYNC", "enableTeamMemorySync"):
        said += TEAM_SYNC
    root = layout.new_root(f"{ID}:project:team", team, "Qwen Code team memory", AUTO, note=said, project=anchor)
    yield root._replace(in_checkout=surroundings.checkout is not None)


def _is_on(surroundings: Surroundings, home: str | None, variable: str, setting: str) -> bool:
    """Whether the user has switched on a part of the memory; the variable is stronger than the setting."""
    named = surroundings.variable(variable)
    if named in ("0", "1"):
        return named == "1"
    return home is not None and agent_value(os.path.join(home, "settings.json"), "memory", setting) is True


def _names(home: str | None) -> tuple[str, ...]:
    settings = os.path.join(home, "settings.json") if home is not None else None
    return (agent_names(settings, "context", "fileName") if settings is not None else ()) or NAMES


def _instructions(surroundings: Surroundings, names: tuple[str, ...]) -> Iterator[Root]:
    top = surroundings.checkout or surroundings.project
    whole = (*layout.along(surroundings, top, names), IN_PROJECT[0])
    policy = Policy(include=(*whole, *IN_PROJECT[1:]), ignore=IGNORED, whole=whole)
    yield from layout.project_instructions(surroundings, ID, LABEL, top, policy, READS)
    # It looks one folder further up than the checkout; without a checkout, as far as the folder of home folders.
    outermost = top if surroundings.checkout else surroundings.home
    if outermost is not None and (top + os.sep).startswith(outermost.rstrip(os.sep) + os.sep):
        folders = layout.ancestors(top, os.path.dirname(outermost))
        policy = Policy(include=names, ignore=IGNORED, whole=names)
        yield from layout.above(surroundings, ID, LABEL, folders, policy, READS)


def _options(surroundings: Surroundings, homes: tuple[str, ...]) -> agent.LoadOptions:
    files = tuple(read_json(os.path.join(home, "settings.json")) for home in homes)
    brought = os.path.join(surroundings.project, ".qwen", "settings.json")
    project = read_json(brought, surroundings.checkout or surroundings.project)
    names = file_names(last(files, "context", "fileName")[0]) or NAMES
    off = []
    enabled, where = last((*files, project), "memory", "enableManagedAutoMemory")
    if enabled is False:
        why = layout.not_loaded(surroundings, where, "memory.enableManagedAutoMemory")
        off += [(f"{tier} {what}", why) for tier in ("user", "project") for what in ("memory index", "memories")]
    named = surroundings.variable("QWEN_CODE_MEMORY_TEAM")
    team, where = last(files, "memory", "enableTeamMemory")
    if named != "1" and (named == "0" or team is not True):
        by = "by QWEN_CODE_MEMORY_TEAM" if named == "0" else f"in {layout.short_path(where, surroundings.home)}"
        words = f"switched off {by}" if where or named == "0" else "not switched on"
        off += [
            (f"team {what}", f"Not loaded: {words} (memory.enableTeamMemory).") for what in ("memory index", "memories")
        ]
    return agent.LoadOptions(sources=_sources(names), off=tuple(off), problems=problems((*files, project)))


def _client_files(place: Surroundings, level: str, start: agent.Start) -> tuple[agent.ClientFile, ...]:
    inside = place.project if level == agent.PROJECT else None
    folder = os.path.join(place.project, ".qwen") if inside else OWN.needed(place)
    hook: dict[str, object] = {"type": "command", "command": start.hook, "name": "memtui"}
    hook["timeout"] = agent.SECONDS * 1000
    entries = (
        agent.ClientEntry("server", ("mcpServers", "memtui"), start.server),
        *agent.hook_entries(start, hook),
    )
    return (agent.ClientFile(os.path.join(folder, "settings.json"), "json", entries, inside),)


def _session_folders(surroundings: Surroundings) -> tuple[str, ...]:
    folder = _runtime(surroundings, OWN.folder(surroundings))
    return (folder,) if folder else ()


def _rules(label: str, place: str, names: str) -> agent.LoadSource:
    found = agent.LoadSource(label, place, (names,), front_matter=True, comments=True)
    return found._replace(judge=agent.matching("paths"), links=agent.PASSED_OVER)


def _sources(names: tuple[str, ...]) -> tuple[agent.LoadSource, ...]:
    """Return its sources: instructions name by name, each from the user's own down to the folder at hand."""
    return (
        *(
            agent.LoadSource(label, place, (name,), imports=IMPORTS)
            for name in names
            for label, place in (("user instructions", agent.HOME), ("instructions", agent.ABOVE))
        ),
        agent.LoadSource("output language", agent.HOME, ("output-language.md",)),
        agent.LoadSource("local instructions", agent.PROJECT, (".qwen/QWEN.local.md",), imports=IMPORTS),
        _rules("user rule", agent.HOME, "rules/**/*.md"),
        _rules("rule", agent.PROJECT, ".qwen/rules/**/*.md"),
        *(agent.LoadSource(f"{tier} memory index", root, ("MEMORY.md",), limits=INDEX) for tier, root in _TIERS),
        *(
            agent.on_demand(f"{tier} memories", root, "**/*.md", why="It is recalled when it fits what is asked.")
            for tier, root in _TIERS
        ),
    )


TRANSCRIPTS = agent.Transcripts("chats", ("projects/*/chats/*.jsonl",), _session_folders)
LOADS = agent.Loads(
    _sources(NAMES),
    in_project=("QWEN.md", ".qwen"),
    options=_options,
    note="Its own system prompt, extensions and MCP servers come on top.",
    checked="0.24.4, 23 November 2026",
)
CLIENT = agent.Client("qwen", "Qwen Code", OWN.needed, _client_files, hook_may_not_run=True)
"""It runs no hook at the start of a session without a terminal."""
AGENT = agent.KnownAgent(
    ID, "Qwen Code", roots, policy=AUTO, home=OWN, loads=LOADS, client=CLIENT, transcripts=TRANSCRIPTS
)
