"""Claude Code: auto memory for each project, CLAUDE.md and rules, and the memories of its subagents.

Worktrees of one repository share the auto memory of the main checkout. Only the user's and the administrators' settings
can move it; a repository's can switch it off. `claudeMdExcludes` adds up over all files and is matched as picomatch
does, with hidden names; it leaves out no managed file and no memory. A server in `settings.json` is never read, and
`~/.claude/.mcp.json` is no place at all: both look right and do nothing. Source of settings: code.claude.com, pages
memory, settings, env-vars.
"""

import os
from collections.abc import Iterator

from memtui.agents import agent
from memtui.agents.layout import (
    BOOKKEEPING,
    SLUG_LENGTH,
    above,
    along,
    ancestors,
    has_any,
    here,
    id_part,
    is_folder,
    is_too_wide,
    names_in,
    short_path,
    slug,
)
from memtui.agents.projects import main_checkout, other_projects
from memtui.agents.reader import is_within
from memtui.agents.settings import TEXTS, agent_setting, agent_value, problems, read_json, texts
from memtui.config.surroundings import Surroundings
from memtui.engine.model import TYPES, Policy, Root

ID = "claude-code"
OWN = agent.AgentHome(("CLAUDE_CONFIG_DIR",), (".claude",))
TRANSCRIPTS = agent.Transcripts(files=("projects/*/*.jsonl", "projects/*/*/subagents/agent-*.jsonl"))

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

LARGEST = 4_194_304
IMPORTS = agent.ImportRule(depth=4, markdown=True, approval=True)
INDEX = agent.Limits(lines=200, bytes=25_000)
"""Of the index; what is left out of the count is dropped."""
_AUTO = ("memory index", "memories")


def roots(surroundings: Surroundings, *, all_projects: bool) -> Iterator[Root]:
    """Find Claude Code's roots: the global ones, then the current project's, then, if asked, all other projects'."""
    folder = OWN.folder(surroundings)
    if folder is not None and is_folder(folder):
        yield Root(f"{ID}:global", folder, ID, "global", LABEL, PERSONAL, note=READS, kind="instructions")
        subagents = os.path.join(folder, "agent-memory")
        if is_folder(subagents):
            yield Root(
                f"{ID}:global:agent-memory", subagents, ID, "global", "Claude Code subagents", SUBAGENTS, note=WRITES
            )
    yield from _managed(surroundings)
    if folder is not None and is_folder(folder):
        where = switched_off(surroundings, folder)
        for root in _auto_memory(surroundings, folder, where, all_projects=all_projects):
            yield root._replace(switched_off=where)
    yield from _in_project(surroundings)
    policy = Policy(include=IN_PROJECT, ignore=BOOKKEEPING, whole=IN_PROJECT[:3])
    outer = ancestors(surroundings.project)
    yield from above(surroundings, ID, LABEL, outer, policy, READS)


def _managed(surroundings: Surroundings) -> Iterator[Root]:
    for name in _SYSTEM:
        folder = os.path.join(surroundings.system_dir, name)
        if has_any(folder, ("CLAUDE.md",)):
            yield Root(
                f"{ID}:global:managed",
                folder,
                ID,
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
    alias: tuple[str, ...] = (f"{ID}:project",)
    writes = WRITES + (OFF.format(where=where) if where else "")
    moved = _moved_folder(surroundings, folder)
    if moved is not None and is_folder(moved):
        note = writes + " Your settings (autoMemoryDirectory) make every project share them."
        yield Root(f"{ID}:project:shared", moved, ID, "project", "Claude Code memory", AUTO, aliases=alias, note=note)
        alias = ()
    listed: set[str] = set()
    for made, note in ((slug(main), ""), (slug(anchor), " From before worktrees shared one folder.")):
        name = _folder_of(projects, made)
        if name is None or name in listed:
            continue
        listed.add(name)
        yield Root(
            f"{ID}:project:{id_part(name)}",
            os.path.join(projects, name, "memory"),
            ID,
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
            surroundings,
            projects,
            listed,
            agent=ID,
            label="Claude Code memory",
            policy=AUTO,
            note=writes,
            transcripts=TRANSCRIPTS,
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
    paths = along(surroundings, project, IN_PROJECT)
    whole = along(surroundings, project, IN_PROJECT[:3])
    policy = Policy(include=paths, ignore=BOOKKEEPING, whole=whole)
    yield from here(surroundings, ID, LABEL, project, policy, READS + BELOW)
    for name, label in (
        ("agent-memory", "Claude Code subagents"),
        ("agent-memory-local", "Claude Code subagents, not shared"),
    ):
        folder = os.path.join(project, ".claude", name)
        if is_folder(folder):
            yield Root(
                f"{ID}:project:{name}",
                folder,
                ID,
                "project",
                label,
                SUBAGENTS,
                in_checkout=checked_out,
                project=project,
                note=WRITES,
            )


def _rule(found: dict[str, str]) -> agent.RuleVerdict:
    return agent.RuleVerdict(agent.MATCHING, f"paths: {found['paths']}") if found.get("paths") else agent.RuleVerdict()


def _options(surroundings: Surroundings, homes: tuple[str, ...]) -> agent.LoadOptions:
    """Read what its settings leave out; those of the project count as well, because they only take away."""
    home = homes[0] if homes else None
    files = tuple(read_json(path, bound) for path, bound in settings_files(surroundings, home))
    excluded = []
    more = []
    for file in files:
        name = short_path(file.path, surroundings.home)
        patterns = file.values.get("claudeMdExcludes")
        if isinstance(patterns, list) and len(patterns) > TEXTS:
            more.append((file.path, f"Only the first {TEXTS} patterns of claudeMdExcludes are followed."))
        for pattern in texts(patterns):
            why = f"Not loaded: claudeMdExcludes in {name} leaves it out: {pattern}"
            excluded += [
                agent.Excluded(one, why, file=file.path) for one in dict.fromkeys((pattern, _resolved(pattern)))
            ]
    nothing, where = loads_nothing(surroundings), switched_off(surroundings, home)
    labels = {source.label for source in LOADS.sources} - {"subagent index"} if nothing else _AUTO if where else ()
    off = tuple((label, f"Not loaded: switched off {where}.") for label in labels)
    return agent.LoadOptions(off=off, excluded=tuple(excluded), problems=(*problems(files), *more))


def _resolved(pattern: str) -> str:
    """Write the beginning of an absolute pattern, up to its first sign, without links, as the paths are."""
    fixed = pattern[: min((at for at in map(pattern.find, "*?[{") if at >= 0), default=len(pattern))]
    folder = os.path.dirname(fixed)
    is_path = folder.startswith("/") and "\0" not in folder
    return os.path.realpath(folder).rstrip("/") + pattern[len(folder.rstrip("/")) :] if is_path else pattern


def _written(label: str, place: str, *names: str) -> agent.LoadSource:
    """CLAUDE.md and its like: whole, without comments, with imports."""
    return agent.LoadSource(label, place, names, largest=LARGEST, imports=IMPORTS, comments=True)


def _rules(label: str, place: str, names: tuple[str, ...]) -> agent.LoadSource:
    return _written(label, place, *names)._replace(front_matter=True, judge=_rule)


def _client_files(place: Surroundings, level: str, start: agent.Start) -> tuple[agent.ClientFile, ...]:
    server = agent.ClientEntry("server", ("mcpServers", "memtui"), {"type": "stdio"} | start.server)
    hook: dict[str, object] = {"type": "command", "command": start.hook, "timeout": agent.SECONDS}
    hooks = (
        agent.ClientEntry("hook", ("hooks", "SessionStart"), agent.hook_group(hook)),
        *agent.more_hooks(start, hook),
    )
    if level == agent.PROJECT:
        settings = os.path.join(place.project, ".claude", "settings.json")
        return (
            agent.ClientFile(os.path.join(place.project, ".mcp.json"), "json", (server,), place.project),
            agent.ClientFile(settings, "json", hooks, place.project),
        )
    folder = OWN.needed(place)
    state = os.path.join(folder if place.variable("CLAUDE_CONFIG_DIR") else os.path.dirname(folder), ".claude.json")
    return agent.ClientFile(state, "json", (server,)), agent.ClientFile(
        os.path.join(folder, "settings.json"), "json", hooks
    )


LOADS = agent.Loads(
    (
        _written("managed instructions", agent.SYSTEM, "CLAUDE.md")._replace(
            system=("claude-code", "ClaudeCode"), excludable=False
        ),
        _written("user instructions", agent.HOME, "CLAUDE.md"),
        _rules("user rule", agent.HOME, ("rules/**/*.md",)),
        _written(
            "instructions",
            agent.ANCESTORS,
            "CLAUDE.md",
            ".claude/CLAUDE.md",
            ".claude/rules/**/*.md",
            "CLAUDE.local.md",
        )._replace(front_matter=True, judge=_rule, rules_in=f"{os.sep}rules{os.sep}"),
        agent.LoadSource(
            "memory index",
            "claude-code:project",
            ("MEMORY.md",),
            limits=INDEX,
            comments=True,
            front_matter=True,
            excludable=False,
        ),
        agent.LoadSource(
            "memories",
            "claude-code:project",
            ("**/*.md",),
            mark=agent.ON_DEMAND,
            excludable=False,
            why="The agent reads it when the index makes it look.",
        ),
        agent.LoadSource(
            "subagent index",
            agent.HOME,
            ("agent-memory/*/MEMORY.md",),
            mark=agent.ON_DEMAND,
            excludable=False,
            why="It is loaded when this subagent starts.",
        ),
        agent.LoadSource(
            "subagent index",
            agent.PROJECT,
            (".claude/agent-memory/*/MEMORY.md", ".claude/agent-memory-local/*/MEMORY.md"),
            mark=agent.ON_DEMAND,
            excludable=False,
            why="It is loaded when this subagent starts.",
        ),
        agent.LoadSource(
            "folder instructions",
            agent.PROJECT,
            ("*/CLAUDE.md", "*/*/CLAUDE.md"),
            mark=agent.ON_DEMAND,
            why="It is loaded when the agent reads a file in its folder.",
        ),
    ),
    in_project=("CLAUDE.md", "CLAUDE.local.md", ".claude"),
    options=_options,
    note="Its own system prompt, tools, skills, hooks and MCP servers come on top.",
)
CLIENT = agent.Client(
    "claude-code",
    "Claude Code",
    OWN.needed,
    _client_files,
    notes=(
        agent.ClientNote(
            "Close Claude Code first: while it runs it may put its own copy of .claude.json back.", agent.USER, "before"
        ),
        agent.ClientNote(
            "If Claude Code was running, look again: it may put its own copy of .claude.json back.", agent.USER, "after"
        ),
        agent.ClientNote(
            "Claude Code asks everybody who opens the project whether they trust its server and its hook.",
            agent.PROJECT,
        ),
    ),
)
AGENT = agent.KnownAgent(
    ID, "Claude Code", roots, policy=AUTO, home=OWN, loads=LOADS, client=CLIENT, transcripts=TRANSCRIPTS
)
