"""Codex: one folder of memories for everything, which it consolidates by itself, and AGENTS.md from the checkout down.

Of the memories some files are only what a consolidation works from, and are made anew by the next one. Sources: the
repository openai/codex (`features/src/lib.rs`, `legacy.rs`; `MemoriesConfig`, pull request 12997) and
developers.openai.com/codex, pages memories and config-reference. A repository's own settings count once the user's
trust the folder, and only where they switch memories off. Its settings also take hooks, but Codex warns at every start
when one folder has both them and `hooks.json`, and other programs use the file.
"""

import os
from collections.abc import Iterator

from memtui.agents import agent, layout
from memtui.agents.settings import File, below, file_names, is_name, last, problems, read_toml, toml_flags
from memtui.config.smallfile import read_small
from memtui.config.surroundings import Surroundings
from memtui.engine.model import Policy, Root

ID = "codex"
OWN = agent.AgentHome(("CODEX_HOME",), (".codex",))
SWITCHES = ("memories", "memory_tool")
"""The feature, now and as older releases called it; off by default."""

NOTES = "extensions/ad_hoc/notes/"
"""Where Codex writes what the user asks it to remember, one small `<timestamp>-<slug>.md` each; every consolidation
takes them up. Source: its prompt about memories, and `extensions/ad_hoc/instructions.md`."""
AUTO = Policy(
    index_file="memory_summary.md",
    front_matter="forbidden",
    entries=(("MEMORY.md", "codex"),),
    generated=("raw_memories.md", "rollout_summaries/", "phase2_workspace_diff.md", NOTES[:-6] + "instructions.md"),
    new_in=NOTES,
    ignore=layout.BOOKKEEPING,
    whole=("memory_summary.md", "MEMORY.md", "raw_memories.md", "rollout_summaries/", "phase2_workspace_diff.md"),
)
"""The summary is loaded at every start, and its first line is `v1`; `MEMORY.md` holds blocks and is searched."""
FOLDERS = ("memories", "memories_v2")
"""The summary of the first one that has one is loaded; newer releases consolidate in the second."""
NAMES = ("AGENTS.override.md", "AGENTS.md")
"""In each folder only the first one that exists is read."""

WRITES = (
    "Codex consolidates these files between sessions: it takes up what you change by hand, above all a note in"
    f" {NOTES[:-1]}, and makes the generated ones anew."
)
OFF = " Memories are switched off in {where}, so Codex neither loads nor writes them."
UNWRITTEN = " memories.generate_memories is switched off in {where}, so Codex adds nothing to them."
READS = "Codex reads one of these files in each folder, the first that is there, 32 KiB in all."

BUDGET = 32_768
"""Bytes for all instruction files of a project."""
SUMMARY = 10_000
"""Bytes: 2,500 tokens as Codex counts them, four bytes each; a longer summary loses its middle."""


def roots(surroundings: Surroundings, *, all_projects: bool) -> Iterator[Root]:
    """Yield Codex's roots: the memories, the user's instructions, and the project's; memories belong to no project."""
    home = OWN.folder(surroundings)
    settings = _settings(home)
    if home is not None:
        for name, folder in ((f"{ID}:global", FOLDERS[0]), (f"{ID}:global:v2", FOLDERS[1])):
            memories = os.path.join(home, folder)
            if os.path.isdir(memories):
                note, where = _note(surroundings, home, settings)
                yield layout.new_root(name, memories, "Codex memory", AUTO, note=note, switched_off=where)
        if layout.has_any(home, NAMES):
            policy, label = Policy(include=NAMES, ignore=layout.BOOKKEEPING, whole=NAMES), "Codex instructions"
            own = layout.new_root(f"{ID}:global:instructions", home, label, policy, note=READS, kind="instructions")
            yield from layout.linked(surroundings, own, NAMES)
    top = surroundings.checkout or surroundings.project
    names = layout.along(surroundings, top, (*NAMES, *_fallbacks(settings)))
    policy = Policy(include=names, ignore=layout.BOOKKEEPING, whole=names)
    yield from layout.project_instructions(surroundings, ID, "Codex instructions", top, policy, READS)


def _settings(home: str | None) -> bytes:
    if home is None:
        return b""
    try:
        return read_small(os.path.join(home, "config.toml")) or b""
    except OSError:
        return b""


def _note(surroundings: Surroundings, home: str, settings: bytes) -> tuple[str, str]:
    text, where = (
        settings.decode("utf-8", "replace"),
        layout.short_path(os.path.join(home, "config.toml"), surroundings.home),
    )
    if "[profiles." in text:  # which of them a session uses, it may be told when it starts
        return WRITES, ""
    features = [f"features.{name}" for name in SWITCHES]
    flags = toml_flags(text, *features, "memories.use_memories", "memories.generate_memories")
    if False in map(flags.get, features) or not any(name in text for name in SWITCHES):
        return WRITES + OFF.format(where=where), f"in {where}"
    if flags.get("memories.use_memories") is False:
        said = f"{WRITES} memories.use_memories is switched off in {where}, so Codex does not load them."
        return said, f"in {where}"
    unwritten = flags.get("memories.generate_memories") is False
    return WRITES + (UNWRITTEN.format(where=where) if unwritten else ""), ""


def _fallbacks(settings: bytes) -> tuple[str, ...]:
    """Read the further names from the user's own settings; paths that lead out of a folder are left out."""
    if b"project_doc_fallback_filenames" not in settings:  # parsing it costs more than most commands' work
        return ()
    from memtui.config import toml

    try:
        names: object = toml.loads(settings.decode()).get("project_doc_fallback_filenames")
    except ValueError:
        return ()
    return tuple(
        dict.fromkeys(
            name
            for name in (names if isinstance(names, list) else ())
            if isinstance(name, str) and is_name(name) and name not in NAMES
        )
    )


def _options(surroundings: Surroundings, homes: tuple[str, ...]) -> agent.LoadOptions:
    system = os.path.join(surroundings.system_dir, ID)
    files = tuple(read_toml(os.path.join(home, "config.toml")) for home in (system, *homes))
    more = file_names(last(files, "project_doc_fallback_filenames")[0])
    budget = last(files, "project_doc_max_bytes")[0]
    known = isinstance(budget, int) and not isinstance(budget, bool) and budget >= 0
    brought = _brought(surroundings, files)
    why = _why_off(surroundings, files, brought)
    alone = last(files, "project_root_markers")[0] == []
    return agent.LoadOptions(
        names=(("project instructions", (*NAMES, *more)),),
        off=(("memory summary", why), ("memories", why)) if why else (),
        places=(("project instructions", agent.FOLDER),) if alone else (),
        budgets=(("project", budget),) if known and isinstance(budget, int) else (),
        problems=problems((*files, *brought)),
    )


def _brought(surroundings: Surroundings, files: tuple[File, ...]) -> tuple[File, ...]:
    """Read the project's own settings, which count once the user trusts the folder."""
    bound = surroundings.checkout or surroundings.project
    for folder in dict.fromkeys((surroundings.project, bound)):
        if last(files, "projects", folder, "trust_level")[0] == "trusted":
            return (read_toml(os.path.join(surroundings.project, ".codex", "config.toml"), bound),)
    return ()


def _why_off(surroundings: Surroundings, files: tuple[File, ...], brought: tuple[File, ...]) -> str:
    profile = last(files, "profile")[0]
    tables = (("profiles", profile, "features"), ("features",)) if isinstance(profile, str) else (("features",),)
    found = [last(files, *table, name) for table in tables for name in SWITCHES]
    value, where = next((one for one in found if isinstance(one[0], bool)), (None, ""))
    if value is None:
        return layout.not_loaded(surroundings, files[-1].path, "features.memories", "not switched on in")
    switches = [(value, where, "features.memories")]
    switches += [(*last((*files, *brought), "memories", "use_memories"), "memories.use_memories")]
    switches += [
        (below(file.values, "features").get(name), file.path, f"features.{name}")
        for file in brought
        for name in SWITCHES
    ]
    for value, where, name in switches:
        if value is False:
            return layout.not_loaded(surroundings, where, name)
    return ""


def _client_files(place: Surroundings, level: str, start: agent.Start) -> tuple[agent.ClientFile, ...]:
    inside = place.project if level == agent.PROJECT else None
    folder = os.path.join(place.project, ".codex") if inside else OWN.needed(place)
    hook: dict[str, object] = {"type": "command", "command": start.hook, "timeout": agent.SECONDS}
    hook["statusMessage"] = "Reading memories"
    server = agent.ClientEntry("server", ("mcp_servers", "memtui"), start.server)
    return (
        agent.ClientFile(os.path.join(folder, "config.toml"), "toml", (server,), inside),
        agent.ClientFile(
            os.path.join(folder, "hooks.json"), "json", agent.hook_entries(start, hook, end="Stop"), inside
        ),
    )


LOADS = agent.Loads(
    (
        agent.LoadSource(
            "memory summary",
            agent.HOME,
            tuple(f"{folder}/memory_summary.md" for folder in FOLDERS),
            first=True,
            limits=agent.Limits(middle=SUMMARY),
            blank=False,
        ),
        agent.LoadSource("user instructions", agent.HOME, NAMES, first=True, blank=False),
        agent.LoadSource("project instructions", agent.CHAIN, NAMES, first=True, budget="project"),
        agent.on_demand(
            "memories",
            agent.HOME,
            *tuple(f"{folder}/{name}" for folder in FOLDERS for name in ("MEMORY.md", "**/*.md")),
            why="The agent searches it when the summary makes it look.",
        ),
    ),
    in_project=(".codex",),
    budgets=(("project", BUDGET),),
    options=_options,
    note="Its own system prompt, the instructions about memories, skills and MCP servers come on top.",
    checked="0.169.0, 23 November 2026",
)
CLIENT = agent.Client(
    "codex",
    "Codex",
    OWN.needed,
    _client_files,
    notes=(
        agent.ClientNote("Codex runs a new hook only after you have reviewed it: type /hooks in Codex."),
        agent.ClientNote("Codex reads a project's configuration only in a project you trust.", agent.PROJECT),
    ),
    hook_may_not_run=True,
)
TRANSCRIPTS = agent.Transcripts(files=("sessions/*/*/*/rollout-*.jsonl",))
AGENT = agent.KnownAgent(ID, "Codex", roots, policy=AUTO, home=OWN, loads=LOADS, client=CLIENT, transcripts=TRANSCRIPTS)
