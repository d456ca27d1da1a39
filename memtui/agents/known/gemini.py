"""Gemini CLI: private memories of each project below its temporary folder, and GEMINI.md for everything and everyone.

A project's folder has a short name that only Gemini's own list, or a marker in the folder, leads back to the project. A
folder the user does not trust brings no instructions and no settings; `experimental.autoMemory` is about what it
writes. Its hooks are timed in milliseconds, and one matcher names one way a session begins. Sources of its settings:
the repository google-gemini/gemini-cli, docs/reference/configuration.md (`context.*`, `security.folderTrust`),
cli/auto-memory.md and `packages/core/src/utils/memoryDiscovery.ts`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from hashlib import sha256

from memtui.agents import agent, layout
from memtui.agents.layout import gone_note
from memtui.agents.reader import is_within
from memtui.agents.settings import (
    File,
    agent_names,
    agent_value,
    file_names,
    is_name,
    is_path,
    last,
    problems,
    read_json,
    texts,
)
from memtui.config.smallfile import read_small
from memtui.config.surroundings import Surroundings
from memtui.engine.model import Policy, Root

ID = "gemini"
OWN = agent.AgentHome(("GEMINI_CLI_HOME",), (".gemini",), inside=".gemini")
IGNORED = (*layout.BOOKKEEPING, "inbox", "skills")
"""The inbox and the drafts of skills are proposals, not memories."""

AUTO = Policy(
    index_file="MEMORY.md", index_format="links", index_imports=True, ignore=IGNORED, whole=("MEMORY.md", "GEMINI.md")
)
"""An index that also holds facts of its own, with files beside it; all of the index is loaded. GEMINI.md predates the
index, and is ignored once there is one."""
NAME = "GEMINI.md"

WRITES = "Gemini CLI edits these files when it learns something about the project."
PROPOSES = " Auto Memory is switched on in {where}: it puts proposals into an inbox there, for /memory inbox."
READS = "Gemini CLI reads these files and writes them when asked to."

_MARKER_LIMIT = 4_096
_TAKEN = ("instructions",)
"""Names of projects that would clash with another root of this agent."""

IMPORTS = agent.ImportRule(depth=5, markdown=False, approval=False, home=False, once=False)
"""Imports that lead out of the project are refused, not asked about."""
_FURTHER = "further folder"


def roots(surroundings: Surroundings, *, all_projects: bool) -> Iterator[Root]:
    """Yield Gemini CLI's roots: the user's instructions, the project's memories and instructions, then all others."""
    home = OWN.folder(surroundings)
    names = _names(home)
    if home is not None and layout.has_any(home, names):
        policy = Policy(include=names, ignore=IGNORED, whole=names)
        label = "Gemini CLI instructions"
        own = layout.new_root(f"{ID}:global:instructions", home, label, policy, note=READS, kind="instructions")
        yield from layout.linked(surroundings, own, names)
    if home is not None and os.path.isdir(os.path.join(home, "tmp")):
        yield from _memories(surroundings, home, all_projects=all_projects)
    top = surroundings.checkout or surroundings.project
    paths = layout.along(surroundings, top, names)
    policy = Policy(include=paths, ignore=IGNORED, whole=paths)
    yield from layout.project_instructions(surroundings, ID, "Gemini CLI instructions", top, policy, READS)


def _names(home: str | None) -> tuple[str, ...]:
    if home is None:
        return (NAME,)
    settings = os.path.join(home, "settings.json")
    return agent_names(settings, "context", "fileName") or agent_names(settings, "contextFileName") or (NAME,)


def _memories(surroundings: Surroundings, home: str, *, all_projects: bool) -> Iterator[Root]:
    folder = os.path.join(home, "tmp")
    listed = _listed(home)
    settings = os.path.join(home, "settings.json")
    proposes = agent_value(settings, "experimental", "autoMemory") is True
    note = WRITES + (PROPOSES.format(where=layout.short_path(settings, surroundings.home)) if proposes else "")
    alias: tuple[str, ...] = (f"{ID}:project",)
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
        for name in layout.names_in(folder):
            if name not in mine and os.path.isdir(os.path.join(folder, name, "memory")):
                owner = projects.get(name) or _owner(folder, name)
                yield _root(surroundings, folder, name, owner, note, here=False)


def _root(surroundings: Surroundings, folder: str, name: str, project: str | None, note: str, *, here: bool) -> Root:
    label, short = "Gemini CLI memory", f"{name[:12]}…" if len(name) == 64 else name
    gone = project is not None and not os.path.isdir(project)
    path = os.path.join(folder, name, "memory")
    return layout.new_root(
        f"{ID}:project:{layout.id_part(name)}" + ("_" if name in _TAKEN else ""),
        path,
        label if here else f"{label}, {layout.short_path(project or short, surroundings.home)}",
        AUTO,
        project=project,
        note=gone_note(path) if gone else note,
    )


def _listed(home: str) -> dict[str, str]:
    value = agent_value(os.path.join(home, "projects.json"), "projects")
    return {
        path: name
        for path, name in (value.items() if isinstance(value, dict) else ())
        if isinstance(name, str) and is_path(path) and os.path.isabs(path) and is_name(name) and "/" not in name
    }


def _is_owner(folder: str, name: str, project: str) -> bool:
    return os.path.isdir(os.path.join(folder, name, "memory")) and _owner(folder, name) in (None, project)


def _is_session_of(path: str, project: str) -> bool:
    """Whether a session file lies in the folder of a project: by its mark, or by the hash it is named by."""
    folder, _, name = path.rpartition("/chats/")[0].rpartition("/")
    by_hash = name == sha256(os.fsencode(project)).hexdigest()
    return _owner(folder, name) in (project, None if by_hash else project)


def _owner(folder: str, name: str) -> str | None:
    try:
        data = read_small(os.path.join(folder, name, ".project_root"), _MARKER_LIMIT)
    except OSError:
        return None
    path = os.fsdecode(data.strip()) if data else ""
    return os.path.normpath(path) if is_path(path) and os.path.isabs(path) else None


def _options(surroundings: Surroundings, homes: tuple[str, ...]) -> agent.LoadOptions:
    home = homes[0] if homes else ""
    system = [os.path.join(surroundings.system_dir, name) for name in ("gemini-cli", "GeminiCli")]
    own = tuple(
        read_json(path)
        for path in (
            *(os.path.join(folder, "system-defaults.json") for folder in system),
            *(os.path.join(folder, "settings.json") for folder in homes),
        )
    )
    managed = tuple(read_json(os.path.join(folder, "settings.json")) for folder in system)
    trusted = read_json(os.path.join(home, "trustedFolders.json")) if home else File("", {})
    untrusted = _distrusted(surroundings, trusted, (*own, *managed))
    brought = os.path.join(surroundings.project, ".gemini", "settings.json")
    project = () if untrusted else (read_json(brought, surroundings.checkout or surroundings.project),)
    files = (*own, *project, *managed)
    names = (
        file_names(last(files, "context", "fileName")[0]) or file_names(last(files, "contextFileName")[0]) or (NAME,)
    )
    off = [(label, untrusted) for label in ("instructions", _FURTHER, "folder instructions") if untrusted]
    switch = last(files, "context", "loadMemoryFromIncludeDirectories")
    folders, where = last((*own, *managed), "context", "includeDirectories")  # a repository adds no place
    if switch[0] is not True and not untrusted:
        key = "context.loadMemoryFromIncludeDirectories"
        off.append((_FURTHER, layout.not_loaded(surroundings, switch[1] or where, key, "not switched on in")))
    alone = last(files, "context", "memoryBoundaryMarkers")[0] == []
    return agent.LoadOptions(
        names=(
            *((label, names) for label in ("user instructions", "instructions", _FURTHER)),
            ("memory index", ("MEMORY.md", *names)),
        ),
        off=tuple(off),
        places=(("instructions", agent.FOLDER),) if alone else (),
        folders=tuple(surroundings.folder(text) for text in texts(folders) if text and "\0" not in text),
        problems=problems((*files, trusted)),
    )


def _distrusted(surroundings: Surroundings, trusted: File, files: tuple[File, ...]) -> str:
    """Say why instructions of the project are not loaded: the longest listed path that holds it decides."""
    if last(files, "security", "folderTrust", "enabled")[0] is False:
        return ""
    longest, decision = "", ""
    for path, level in trusted.values.items():
        meant = os.path.dirname(path) if level == "TRUST_PARENT" else path
        if isinstance(level, str) and len(path) > len(longest) and is_within(surroundings.project, (meant,)):
            longest, decision = path, level
    distrusts = decision == "DO_NOT_TRUST"
    return layout.not_loaded(surroundings, trusted.path, words="its folder is not trusted in") if distrusts else ""


def _client_files(place: Surroundings, level: str, start: agent.Start) -> tuple[agent.ClientFile, ...]:
    inside = place.project if level == agent.PROJECT else None
    folder = os.path.join(place.project, ".gemini") if inside else OWN.needed(place)
    hook: dict[str, object] = {"name": "memtui", "type": "command", "command": start.hook}
    hook["timeout"] = agent.SECONDS * 1000
    entries = (
        agent.ClientEntry("server", ("mcpServers", "memtui"), start.server),
        *agent.hook_entries(start, hook, matcher=None, prompt="BeforeAgent"),
    )
    return (agent.ClientFile(os.path.join(folder, "settings.json"), "json", entries, inside),)


LOADS = agent.Loads(
    (
        agent.LoadSource("user instructions", agent.HOME, (NAME,), imports=IMPORTS),
        agent.LoadSource("memory index", "gemini:project", ("MEMORY.md", NAME), first=True, imports=IMPORTS),
        agent.LoadSource("instructions", agent.CHAIN, (NAME,), imports=IMPORTS),
        agent.LoadSource(_FURTHER, agent.NAMED, (NAME,), imports=IMPORTS),
        agent.on_demand("memories", "gemini:project", "**/*.md", why=agent.BY_INDEX),
        agent.on_demand(
            "folder instructions",
            agent.PROJECT,
            "*/GEMINI.md",
            "*/*/GEMINI.md",
            why="It is loaded when the agent touches a file in its folder.",
        ),
    ),
    in_project=("GEMINI.md", ".gemini"),
    options=_options,
    note="Its own system prompt, extensions and MCP servers come on top.",
    checked="0.61.0, 23 November 2026",
)
CLIENT = agent.Client(
    "gemini",
    "Gemini CLI",
    OWN.needed,
    _client_files,
    notes=(agent.ClientNote("Gemini CLI warns about a project's hooks until you trust them.", agent.PROJECT),),
)
TRANSCRIPTS = agent.Transcripts(
    files=("tmp/*/chats/session-*.jsonl", "tmp/*/chats/session-*.json", "tmp/*/chats/*/*.jsonl"), is_of=_is_session_of
)
AGENT = agent.KnownAgent(
    ID,
    "Gemini CLI",
    roots,
    policy=AUTO,
    home=OWN,
    loads=LOADS,
    client=CLIENT,
    transcripts=TRANSCRIPTS,
    staged=((".inbox/private", ".patch"), (".inbox/global", ".patch")),
    also=("gemini-cli",),
)
