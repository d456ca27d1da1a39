"""Claude Code: auto memory for each project, CLAUDE.md and rules, and the memories of its subagents.

Only the user's and the administrators' settings move auto memory here; where a project's do, that is said. The patterns
of `claudeMdExcludes` add up over all files and leave out no managed file and no memory. A server in `settings.json` is
never read, `~/.claude/.mcp.json` is no place at all: both look right and do nothing. Sources: code.claude.com, pages
memory, settings, env-vars; of imports, `paths`, links and worktrees the program, run by `python -m tests.agents`.
"""

import os
from collections.abc import Iterator

from memtui.agents import agent, layout
from memtui.agents.layout import main_checkout, other_projects
from memtui.agents.reader import is_within
from memtui.agents.settings import TEXTS, File, agent_setting, agent_value, last, problems, read_json, texts
from memtui.config.surroundings import Surroundings
from memtui.engine.model import TYPES, Policy, Root

ID = "claude-code"
Settings = tuple[tuple[str, str | None], ...]
OWN = agent.AgentHome(("CLAUDE_CONFIG_DIR",), (".claude",))
TRANSCRIPTS = agent.Transcripts(files=("projects/*/*.jsonl", "projects/*/*/subagents/agent-*.jsonl"))

AUTO = Policy(
    index_file="MEMORY.md",
    index_format="links",
    index_lines=200,
    index_units=25_000,
    index_uncounted=("front-matter", "comments"),
    pointer_chars=150,
    ignore=(*layout.BOOKKEEPING, ".consolidate-lock", ".memory-sync"),
    types=TYPES,
    fields=("name", "description", "type"),
    nests_type=True,
    suffix=".md",
    whole=("MEMORY.md",),
)
"""One topic per file; 200 lines or 25,000 UTF-16 units of the index are loaded, and a line of it should stay short.
Version 2.1.330 writes the type below `metadata`, and reads it in either place."""
SUBAGENTS = AUTO._replace(index_file="*/MEMORY.md", whole=("*/MEMORY.md",))
"""A folder for each subagent with an index of its own; so has each store that a team shares."""
BY_HAND = AUTO._replace(index_lines=None, index_bytes=None, index_units=None, pointer_chars=None)
"""The same shape in a checkout, of which nothing is loaded unless instructions say so."""
PERSONAL = Policy(include=("CLAUDE.md", "rules/"), ignore=layout.BOOKKEEPING, whole=("CLAUDE.md",))
IN_PROJECT = ("CLAUDE.md", "CLAUDE.local.md", ".claude/CLAUDE.md", ".claude/rules/")
MANAGED = Policy(include=("CLAUDE.md", ".claude/rules/"), ignore=layout.BOOKKEEPING, whole=("CLAUDE.md",))

WRITES = "Claude Code writes and tidies these files while it works."
READS = "Claude Code reads these files and writes them when asked to."
SENT = "Claude Code reads and writes these files only where instructions of the checkout send it here."
TEAM = "Stores that a team shares; Claude Code keeps them in step with the others by itself."
BELOW = " It reads those in folders further down once it works there; they are not listed here."
OFF = " Auto memory is switched off {where}, so Claude Code neither loads nor writes them."
UNLOADED = " Everything is switched off {where}, so Claude Code loads none of them; it still writes them."
MOVED = (
    " {where} makes Claude Code keep them in {folder} once you trust this project. A repository may have written that,"
    " so memtui does not follow it: `--root NAME={folder},agent=claude-code`, or the same in [[roots]], adds it."
)
LABEL, LABEL_AUTO = "Claude Code instructions", "Claude Code memory"
_SYSTEM = ("claude-code", "ClaudeCode")
_YES, _NO = ("1", "true", "yes", "on"), ("0", "false", "no", "off")

LARGEST = 4_194_304
_ENDINGS = """
    .md .txt .text .json .yaml .yml .toml .xml .csv .html .htm .css .scss .sass .less .js .ts .tsx .jsx .mjs
    .cjs .mts .cts .py .pyi .pyw .rb .erb .rake .go .rs .java .kt .kts .scala .c .cpp .cc .cxx .h .hpp .hxx .cs
    .swift .sh .bash .zsh .fish .ps1 .bat .cmd .env .ini .cfg .conf .config .properties .sql .graphql .gql
    .proto .vue .svelte .astro .ejs .hbs .pug .jade .php .pl .pm .lua .r .dart .ex .exs .erl .hrl .clj .cljs
    .cljc .edn .hs .lhs .elm .ml .mli .f .f90 .f95 .for .cmake .make .makefile .gradle .sbt .rst .adoc .asciidoc
    .org .tex .latex .lock .log .diff .patch
"""
IMPORTS = agent.ImportRule(depth=4, markdown=True, approval=True, endings=frozenset(_ENDINGS.split()), behind=True)
INDEX = agent.Limits(lines=200, units=25_000)
"""Limits of the index; what is not counted is dropped."""
_AUTO = ("memory index", "memories")


def roots(surroundings: Surroundings, *, all_projects: bool) -> Iterator[Root]:
    """Yield Claude Code's roots: the global ones, then the current project's, then, if asked, all other projects'."""
    folder, main = OWN.folder(surroundings), _main(surroundings)
    if folder is not None and os.path.isdir(folder):
        own = layout.new_root(f"{ID}:global", folder, LABEL, PERSONAL, note=READS, kind="instructions")
        rules = os.path.join(folder, "rules")
        inside = () if os.path.islink(rules) else tuple(f"rules/{name}" for name in layout.names_in(rules))
        yield from layout.linked(surroundings, own, ("CLAUDE.md", "rules", *inside))
        subagents = os.path.join(folder, "agent-memory")
        if os.path.isdir(subagents):
            yield layout.new_root(
                f"{ID}:global:agent-memory", subagents, "Claude Code subagents", SUBAGENTS, note=WRITES
            )
    yield from _managed(surroundings)
    if folder is not None and os.path.isdir(folder):
        settings = settings_files(surroundings, folder)
        where = switched_off(surroundings, settings)
        for root in _auto_memory(surroundings, folder, main, settings, where, all_projects=all_projects):
            yield root._replace(switched_off=where)
            team = os.path.join(root.path, "team")
            if os.path.isdir(team):
                shared = root._replace(id=f"{root.id}:team", path=team, label=f"{root.label}, team", policy=SUBAGENTS)
                yield shared._replace(aliases=(), note=TEAM, switched_off=where)
        personal = os.path.join(folder, "memory", "personal")
        if os.path.isdir(personal):
            yield layout.new_root(f"{ID}:global:personal", personal, "Claude Code memory, personal", AUTO, note=WRITES)
    yield from _in_project(surroundings)
    policy = Policy(include=IN_PROJECT, ignore=layout.BOOKKEEPING, whole=IN_PROJECT[:3])
    around = _around_worktree(surroundings, main)
    outer = (folder for folder in layout.ancestors(surroundings.project) if folder not in around)
    yield from layout.above(surroundings, ID, LABEL, outer, policy, READS)
    policy = Policy(include=IN_PROJECT[1:2], ignore=layout.BOOKKEEPING, whole=IN_PROJECT[1:2])
    yield from layout.above(surroundings, ID, LABEL, iter(around), policy, READS)


def _managed(surroundings: Surroundings) -> Iterator[Root]:
    for name in _SYSTEM:
        folder = os.path.join(surroundings.system_dir, name)
        if layout.has_any(folder, ("CLAUDE.md", ".claude/rules")):
            note = "Set by this machine's administrators."
            root = layout.new_root(f"{ID}:global:managed", folder, "Claude Code, managed", MANAGED, note=note)
            yield root._replace(read_only=True, kind="instructions")
            return


def _main(surroundings: Surroundings) -> str:
    """Return the main checkout, which names its memories; the project where there is no checkout."""
    return main_checkout(surroundings.checkout) if surroundings.checkout else surroundings.project


def _auto_memory(
    surroundings: Surroundings, folder: str, main: str, settings: Settings, where: str, *, all_projects: bool
) -> Iterator[Root]:
    anchor = surroundings.checkout or surroundings.project
    projects = os.path.join(folder, "projects")
    alias: tuple[str, ...] = (f"{ID}:project",)
    off = UNLOADED if loads_nothing(surroundings) else OFF
    writes = WRITES + (off.format(where=where) if where else "")
    moved, brought, path = _moved_folder(surroundings, settings)
    if brought is not None:
        by, to = (layout.short_path(place, surroundings.home) for place in (path, brought))
        writes += MOVED.format(where=by, folder=to)
    if moved is not None and os.path.isdir(moved):
        note = writes + " Your settings (autoMemoryDirectory) make every project share them."
        yield layout.new_root(f"{ID}:project:shared", moved, LABEL_AUTO, AUTO, aliases=alias, note=note)
        alias = ()
    listed: set[str] = set()
    for made, note in ((layout.slug(main), ""), (layout.slug(anchor), " From before worktrees shared one folder.")):
        name = _folder_of(projects, made)
        if name is None or name in listed:
            continue
        listed.add(name)
        path = os.path.join(projects, name, "memory")
        root = layout.new_root(f"{ID}:project:{layout.id_part(name)}", path, LABEL_AUTO, AUTO, note=writes + note)
        yield root._replace(aliases=alias, project=main)
        alias = ()
    if all_projects:
        template = layout.new_root(f"{ID}:project", projects, LABEL_AUTO, AUTO, note=writes)
        yield from other_projects(surroundings, template, listed, TRANSCRIPTS)


def settings_files(surroundings: Surroundings, home: str | None) -> Settings:
    """Return its settings files, the weakest first, each with the folder no link may lead out of if it was brought."""
    own = os.path.join(surroundings.project, ".claude")
    bound = surroundings.checkout or surroundings.project
    managed = []
    for system in _SYSTEM:
        folder = os.path.join(surroundings.system_dir, system)
        more = os.path.join(folder, "managed-settings.d")
        names = (name for name in layout.names_in(more) if name.endswith(".json") and not name.startswith("."))
        managed += [os.path.join(folder, "managed-settings.json"), *(os.path.join(more, name) for name in names)]
    return (
        *(((os.path.join(home, "settings.json"), None),) if home is not None else ()),
        (os.path.join(own, "settings.json"), bound),
        (os.path.join(own, "settings.local.json"), bound),
        *((path, None) for path in managed),
    )


def loads_nothing(surroundings: Surroundings) -> str:
    """Say what switches off all instructions and memories; empty when nothing does."""
    named = surroundings.variable("CLAUDE_CODE_DISABLE_CLAUDE_MDS")
    return "by CLAUDE_CODE_DISABLE_CLAUDE_MDS" if named is not None and named.strip().lower() in _YES else ""


def switched_off(surroundings: Surroundings, settings: Settings) -> str:
    """Say where auto memory is switched off: `in ~/.claude/settings.json`; empty when it is on.

    The variable is stronger than every file; of the files the last one that says anything counts.
    """
    nothing = loads_nothing(surroundings)
    if nothing:
        return nothing
    named = (surroundings.variable("CLAUDE_CODE_DISABLE_AUTO_MEMORY") or "").strip().lower()
    if named in _YES:
        return "by CLAUDE_CODE_DISABLE_AUTO_MEMORY"
    for path, bound in reversed(settings if named not in _NO else ()):
        if bound is None or _is_in(path, bound):
            enabled = agent_value(path, "autoMemoryEnabled")
            if isinstance(enabled, bool):
                return "" if enabled else f"in {layout.short_path(path, surroundings.home)}"
    return ""


def _folder_of(projects: str, made: str) -> str | None:
    """Return the project folder for a slug that has memories; a slug too long for a name is found by its beginning."""
    if len(made) <= layout.SLUG_LENGTH:
        return made if os.path.isdir(os.path.join(projects, made, "memory")) else None
    begin = made[: layout.SLUG_LENGTH] + "-"
    for name in layout.names_in(projects):
        if name.startswith(begin) and os.path.isdir(os.path.join(projects, name, "memory")):
            return name
    return None


def _moved_folder(surroundings: Surroundings, settings: Settings) -> tuple[str | None, str | None, str]:
    """Read where settings put auto memory (`autoMemoryDirectory`); a folder as wide as the home folder is ignored.

    Returns the folder of the administrators' or the user's settings; unless the administrators name one, that of the
    project's, which Claude Code follows where the user trusts it; and the project's file that names it.
    """
    brought, named_in = None, ""
    for path, bound in reversed(settings):
        if bound is not None and not _is_in(path, bound):
            continue
        text = agent_setting(path, "autoMemoryDirectory")
        moved = surroundings.folder(text) if text is not None and text.startswith(("/", "~/")) else None
        if moved is None or layout.is_too_wide(surroundings, moved):
            continue
        if bound is None:
            return moved, brought, named_in
        if brought is None:
            brought, named_in = moved, path
    return None, brought, named_in


def _is_in(path: str, bound: str) -> bool:
    """Whether a file exists in the checkout; checked first, because resolving links costs more."""
    return os.path.lexists(path) and is_within(os.path.realpath(path), (os.path.realpath(bound),))


def _around_worktree(surroundings: Surroundings, main: str) -> tuple[str, ...]:
    """Return the folders of the main checkout around a worktree in it: only their CLAUDE.local.md is loaded."""
    checkout = surroundings.checkout
    if checkout is None or main == checkout or not is_within(checkout, (main,)):
        return ()
    return tuple(folder for folder in layout.ancestors(checkout, main))


def _in_project(surroundings: Surroundings) -> Iterator[Root]:
    project = surroundings.project
    paths = layout.along(surroundings, project, IN_PROJECT)
    whole = layout.along(surroundings, project, IN_PROJECT[:3])
    policy = Policy(include=paths, ignore=layout.BOOKKEEPING, whole=whole)
    yield from layout.project_instructions(surroundings, ID, LABEL, project, policy, READS + BELOW)
    for name, label, policy, note in (
        ("agent-memory", "Claude Code subagents", SUBAGENTS, WRITES),
        ("agent-memory-local", "Claude Code subagents, not shared", SUBAGENTS, WRITES),
        ("memory", "Claude Code memory, in the checkout", BY_HAND, SENT),
    ):
        folder = os.path.join(project, ".claude", name)
        root = layout.new_root(f"{ID}:project:{name}", folder, label, policy, note=note)
        yield from layout.in_project(surroundings, root)


def _rule(found: dict[str, str]) -> agent.RuleVerdict:
    """Judge a rule: without `paths`, or with none but `**`, it is loaded at the start; see `h8r` in the program."""
    paths = found.get("paths", "")
    is_any = all(one.strip().removesuffix("/**") in ("**", "") for one in paths.split(","))
    return agent.RuleVerdict() if is_any else agent.RuleVerdict(agent.MATCHING, f"paths: {paths}")


def _options(surroundings: Surroundings, homes: tuple[str, ...]) -> agent.LoadOptions:
    """Read what its settings leave out; those of the project count as well, because they only take away."""
    home = homes[0] if homes else None
    settings = settings_files(surroundings, home)
    files = tuple(read_json(path, bound) for path, bound in settings)
    excluded = []
    more = []
    for file in files:
        name = layout.short_path(file.path, surroundings.home)
        patterns = file.values.get("claudeMdExcludes")
        if isinstance(patterns, list) and len(patterns) > TEXTS:
            more.append((file.path, f"Only the first {TEXTS} patterns of claudeMdExcludes are followed."))
        for pattern in texts(patterns):
            why = f"Not loaded: claudeMdExcludes in {name} leaves it out: {pattern}"
            excluded += [
                agent.Excluded(one, why, file=file.path) for one in dict.fromkeys((pattern, _resolved(pattern)))
            ]
    for folder in _around_worktree(surroundings, _main(surroundings)):
        why = "Not loaded: it is the main checkout's, and this worktree lies in it."
        names = ("CLAUDE.md", ".claude/CLAUDE.md", ".claude/rules")
        excluded += [agent.Excluded(os.path.join(folder, name), why, agent.BY_FOLDER) for name in names]
    nothing, where = loads_nothing(surroundings), switched_off(surroundings, settings)
    labels = {source.label for source in LOADS.sources} - {"subagent index"} if nothing else _AUTO if where else ()
    off = tuple((label, f"Not loaded: switched off {where}.") for label in labels)
    found = agent.LoadOptions(off=off, excluded=tuple(excluded), problems=(*problems(files), *more))
    found = found._replace(approved=_is_approved(surroundings, home))
    if nothing:
        return found
    found = found._replace(besides=tuple(_managed_text(surroundings, files)))
    return found if where else _followed(surroundings, settings, found)


def _is_approved(surroundings: Surroundings, home: str | None) -> bool:
    place = surroundings.checkout or layout.start_folder(surroundings)
    state = _state_file(surroundings, home) if home is not None else ""
    return agent_value(state, "projects", place, "hasClaudeMdExternalIncludesApproved") is True


def _state_file(surroundings: Surroundings, home: str) -> str:
    return os.path.join(home if surroundings.variable("CLAUDE_CONFIG_DIR") else os.path.dirname(home), ".claude.json")


def _managed_text(surroundings: Surroundings, files: tuple[File, ...]) -> Iterator[agent.Besides]:
    managed = tuple(file for file in files if is_within(file.path, (surroundings.system_dir,)))
    text, path = last(managed, "claudeMd")
    if isinstance(text, str) and text:
        yield agent.Besides("managed instructions", "managed rule", path, "It stands there as claudeMd.", text)


def _followed(surroundings: Surroundings, settings: Settings, found: agent.LoadOptions) -> agent.LoadOptions:
    """Say which index is loaded where the project's settings move it; it is read if the user named the folder."""
    _, folder, path = _moved_folder(surroundings, settings)
    if folder is None:
        return found
    real = os.path.realpath(folder)
    named = next((one.name for one in surroundings.roots if os.path.realpath(one.dir) == real), None)
    if named is not None:
        return found._replace(places=tuple((label, named) for label in _AUTO))
    by = f"autoMemoryDirectory in {layout.short_path(path, surroundings.home)}"
    why = f"{by} puts it there. It is not read here, because a repository may have said so: see memtui roots."
    index = agent.Besides("memory index", "memory index", os.path.join(folder, "MEMORY.md"), why)
    off = (*found.off, *((label, f"Not loaded: {by} puts them elsewhere.") for label in _AUTO))
    return found._replace(off=off, besides=(*found.besides, index))


def _resolved(pattern: str) -> str:
    """Resolve links in the fixed beginning of an absolute pattern, as the paths are resolved."""
    fixed = pattern[: min((at for at in map(pattern.find, "*?[{") if at >= 0), default=len(pattern))]
    folder = os.path.dirname(fixed)
    is_path = folder.startswith("/") and "\0" not in folder
    return os.path.realpath(folder).rstrip("/") + pattern[len(folder.rstrip("/")) :] if is_path else pattern


def _written(label: str, place: str, *names: str) -> agent.LoadSource:
    return agent.LoadSource(label, place, names, largest=LARGEST, imports=IMPORTS, comments=True, front_matter=True)


def _rules(label: str, place: str, names: tuple[str, ...]) -> agent.LoadSource:
    return _written(label, place, *names)._replace(judge=_rule, links=agent.FOLLOWED)


def _subagents(place: str, *names: str) -> agent.LoadSource:
    why = "It is loaded when this subagent starts."
    return agent.on_demand("subagent index", place, *names, why=why)._replace(excludable=False)


def _client_files(place: Surroundings, level: str, start: agent.Start) -> tuple[agent.ClientFile, ...]:
    server = agent.ClientEntry("server", ("mcpServers", "memtui"), {"type": "stdio"} | start.server)
    hook: dict[str, object] = {"type": "command", "command": start.hook, "timeout": agent.SECONDS}
    hooks = agent.hook_entries(start, hook)
    if level == agent.PROJECT:
        settings = os.path.join(place.project, ".claude", "settings.json")
        return (
            agent.ClientFile(os.path.join(place.project, ".mcp.json"), "json", (server,), place.project),
            agent.ClientFile(settings, "json", hooks, place.project),
        )
    folder = OWN.needed(place)
    return agent.ClientFile(_state_file(place, folder), "json", (server,)), agent.ClientFile(
        os.path.join(folder, "settings.json"), "json", hooks
    )


LOADS = agent.Loads(
    (
        _written("managed instructions", agent.SYSTEM, "CLAUDE.md")._replace(system=_SYSTEM, excludable=False),
        _rules("managed rule", agent.SYSTEM, (".claude/rules/**/*.md",))._replace(system=_SYSTEM, excludable=False),
        _written("user instructions", agent.HOME, "CLAUDE.md"),
        _rules("user rule", agent.HOME, ("rules/**/*.md",)),
        _written(
            "instructions",
            agent.ANCESTORS,
            "CLAUDE.md",
            ".claude/CLAUDE.md",
            ".claude/rules/**/*.md",
            "CLAUDE.local.md",
        )._replace(judge=_rule, rules_in=f"{os.sep}rules{os.sep}", links=agent.FOLLOWED),
        agent.LoadSource(
            "memory index",
            "claude-code:project",
            ("MEMORY.md",),
            limits=INDEX,
            comments=True,
            front_matter=True,
            excludable=False,
        ),
        agent.on_demand("memories", "claude-code:project", "**/*.md", why=agent.BY_INDEX)._replace(excludable=False),
        _subagents(agent.HOME, "agent-memory/*/MEMORY.md"),
        _subagents(agent.PROJECT, ".claude/agent-memory/*/MEMORY.md", ".claude/agent-memory-local/*/MEMORY.md"),
        agent.on_demand(
            "folder instructions",
            agent.PROJECT,
            "*/CLAUDE.md",
            "*/*/CLAUDE.md",
            why="It is loaded when the agent reads a file in its folder.",
        ),
    ),
    in_project=("CLAUDE.md", "CLAUDE.local.md", ".claude"),
    options=_options,
    note="Its own system prompt, tools, skills, hooks and MCP servers come on top.",
    checked="2.1.330, 23 November 2026",
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
