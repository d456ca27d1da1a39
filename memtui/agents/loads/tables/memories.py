"""What agents with memories of their own form load when a session starts.

Sources of their settings: oraios/serena, docs/02-usage/045_memories.md and `MemoriesManager`; letta-ai/letta-code,
`src/settings-manager.ts` (`agents`, `memfs`); NousResearch/hermes-agent, `memory` in config.yaml.
"""

import os

from memtui.agents.folders import short_path
from memtui.agents.layouts import openclaw, serena
from memtui.agents.loads.loading import (
    BY_FOLDER,
    BY_NAME,
    CHAIN,
    HOME,
    NAMES_ONLY,
    ON_DEMAND,
    PROJECT,
    Excluded,
    Options,
    Source,
    Table,
)
from memtui.agents.loads.settings import File, problems, read_json, read_json5, read_text
from memtui.agents.patterns import shell_patterns
from memtui.agents.places import yaml_list, yaml_setting
from memtui.config.surroundings import Surroundings

ON_TOP = "Its own system prompt, tools and MCP servers come on top."
_LOOKS = "The agent reads it when it looks for it."
_NAMES = ("user memories", "project memories")


def _serena(surroundings: Surroundings, homes: tuple[str, ...]) -> Options:
    """Read which names are ignored, in its own settings and the project's, and whether it has memory tools at all."""
    bound = surroundings.checkout or surroundings.project
    own = tuple(read_text(os.path.join(home, serena.CONFIG)) for home in homes)
    folder = os.path.join(surroundings.project, ".serena")
    files = (*own, *(read_text(os.path.join(folder, name), bound) for name in serena.LOCAL))
    excluded: list[Excluded] = []
    odd: list[tuple[str, str]] = []
    for file in files:
        where = short_path(file.path, surroundings.home)
        for regex in yaml_list(file.text, "ignored_memory_patterns"):
            patterns = shell_patterns(regex)
            if patterns is None:
                odd.append((file.path, f"Of ignored_memory_patterns memtui does not understand {regex}"))
            why = f"Not loaded: ignored_memory_patterns in {where} leaves it out: {regex}"
            excluded += [Excluded(pattern, why, BY_NAME, file.path) for pattern in patterns or ()]
    off = next((file for file in files if serena.switched_off(file.text)), None)
    why = f"Not loaded: switched off in {short_path(off.path, surroundings.home)}." if off is not None else ""
    return Options(
        off=tuple((label, why) for label in _NAMES if why),
        excluded=tuple(excluded),
        problems=(*problems(files), *odd),
    )


def _letta(surroundings: Surroundings, homes: tuple[str, ...]) -> Options:
    """Read for which of its agents the folder of memories is switched off."""
    files = tuple(read_json(os.path.join(home, "settings.json")) for home in homes)
    excluded = []
    for home, file in zip(homes, files, strict=True):
        local = surroundings.variable("LETTA_LOCAL_BACKEND_DIR")
        stores = (
            os.path.join(home, "agents"),
            os.path.join(surroundings.folder(local) if local else os.path.join(home, "lc-local-backend"), "memfs"),
        )
        why = f"Not loaded: switched off in {short_path(file.path, surroundings.home)} (memfs)."
        excluded += [
            Excluded(os.path.join(store, agent, "memory"), why, BY_FOLDER)
            for agent in _without_folder(file)
            for store in stores
        ]
    return Options(excluded=tuple(excluded), problems=problems(files))


def _without_folder(file: File) -> tuple[str, ...]:
    """Give the agents that have the switch off, and on with no other server."""
    found = file.values.get("agents")
    known: dict[str, object] = {}
    for one in found if isinstance(found, list) else ():
        agent = one.get("agentId") if isinstance(one, dict) else None
        if isinstance(agent, str) and known.get(agent) is not True:
            known[agent] = one.get("memfs")
    return tuple(agent for agent, enabled in known.items() if enabled is False)


def _hermes(surroundings: Surroundings, homes: tuple[str, ...]) -> Options:
    """Read which of the two memories are on."""
    files = tuple(read_text(os.path.join(home, "config.yaml")) for home in homes)
    off = []
    for label, key in (("memory", "memory_enabled"), ("memory about you", "user_profile_enabled")):
        for file in files:
            if (yaml_setting(file.text, key) or "").lower() == "false":
                where = short_path(file.path, surroundings.home)
                off.append((label, f"Not loaded: switched off in {where} ({key})."))
    return Options(off=tuple(off), problems=problems(files))


def _openclaw(surroundings: Surroundings, homes: tuple[str, ...]) -> Options:
    """See whether the settings that name its workspace can be read; its layout takes that name from them."""
    folder = openclaw.state_folder(surroundings)
    files = () if folder is None else (read_json5(os.path.join(folder, openclaw.SETTINGS)),)
    return Options(problems=problems(files))


GOOSE = Table(
    "goose",
    "Goose",
    (
        Source("user hints", HOME, (".goosehints", "AGENTS.md")),
        Source("project hints", CHAIN, (".goosehints", ".goosehints.local", "AGENTS.md")),
        Source("user memories", HOME, ("memory/*.txt",)),
        Source("project memories", CHAIN, (".goose/memory/*.txt",), mark=ON_DEMAND, why=_LOOKS),
    ),
    in_config=("goose",),
    in_project=(".goose", ".goosehints"),
    note=ON_TOP,
)
SERENA = Table(
    "serena",
    "Serena",
    (
        *(
            Source(
                label,
                place,
                (name,),
                mark=NAMES_ONLY,
                why="The agent is given the name, and reads it on demand.",
                named_below=below,
            )
            for label, place, name, below in (
                ("user memories", HOME, "memories/global/**/*.md", "memories/"),
                ("project memories", "serena:project", "**/*.md", ""),
                ("project memories", CHAIN, ".serena/memories/**/*.md", ".serena/memories/"),
            )
        ),
    ),
    variables=("SERENA_HOME",),
    at_home=(".serena",),
    in_project=(".serena",),
    options=_serena,
    note="Its tools come on top.",
)
LETTA = Table(
    "letta",
    "Letta Code",
    (
        Source("memory index", "letta:*", ("MEMORY.md",)),
        Source("system memories", "letta:*", ("*.md", "system/**/*.md")),
        Source("memories", "letta:*", ("**/*.md",), mark=ON_DEMAND, why=_LOOKS),
    ),
    at_home=(".letta",),
    in_project=(".letta",),
    options=_letta,
    note="A session is of one agent: with several of them, each loads only its own. Its system prompt comes on top.",
    also=("letta-code",),
)
DEEPAGENTS = Table(
    "deepagents",
    "Deep Agents",
    (
        Source("user memory", HOME, ("agent/AGENTS.md",), comments=True),
        Source("project memory", PROJECT, (".deepagents/AGENTS.md",), comments=True),
        Source("other agents", HOME, ("*/AGENTS.md",), mark=ON_DEMAND, why="Another agent of yours loads it."),
    ),
    at_home=(".deepagents",),
    in_project=(".deepagents",),
    note=ON_TOP,
)
HERMES = Table(
    "hermes",
    "Hermes",
    (
        Source("persona", HOME, ("SOUL.md",)),
        Source("project instructions", PROJECT, (".hermes.md", "HERMES.md", "AGENTS.md"), first=True),
        Source("memory", HOME, ("memories/MEMORY.md",), advised=2_200),
        Source("memory about you", HOME, ("memories/USER.md",), advised=1_375),
    ),
    variables=("HERMES_HOME",),
    at_home=(".hermes",),
    in_project=(".hermes.md", "HERMES.md"),
    options=_hermes,
    note=ON_TOP,
)
OPENCLAW = Table(
    "openclaw",
    "OpenClaw",
    (
        *(
            Source("workspace", "openclaw:global:instructions", tuple(f"{name}.md" for name in names), advised=most)
            for names, most in (
                (("AGENTS", "SOUL", "TOOLS", "IDENTITY"), 20_000),
                (("USER",), 4_000),
                (("HEARTBEAT",), 20_000),
            )
        ),
        Source("memory", "openclaw:global", ("MEMORY.md",), advised=20_000),
        Source(
            "daily notes",
            "openclaw:global",
            ("memory/**/*.md",),
            mark=ON_DEMAND,
            why="AGENTS.md tells the agent which ones to read, usually those of today and yesterday.",
        ),
    ),
    at_home=(".openclaw",),
    options=_openclaw,
    note=ON_TOP,
)
