"""What Qwen Code loads when a session starts: QWEN.md and AGENTS.md, and the indexes of its memory tiers.

Source of its settings: the repository QwenLM/qwen-code, `packages/cli/src/config/config.ts`, issues 6936 and 6941.
"""

import os

from memtui.agents.folders import short_path
from memtui.agents.layouts.qwen_code import NAMES
from memtui.agents.loads.cutting import Limits
from memtui.agents.loads.importing import Imports
from memtui.agents.loads.loading import CHAIN, HOME, ON_DEMAND, PROJECT, Options, Source, Table
from memtui.agents.loads.settings import file_names, last, problems, read_json
from memtui.config.surroundings import Surroundings

IMPORTS = Imports(depth=5, markdown=False, approval=False, home=False)
INDEX = Limits(lines=200, units=25_000)
_TIERS = (("user", "qwen-code:global"), ("project", "qwen-code:project"), ("team", "qwen-code:project:team"))


def _options(surroundings: Surroundings, homes: tuple[str, ...]) -> Options:
    """Read what instruction files are called, and which memories are on: the team's only when switched on."""
    files = tuple(read_json(os.path.join(home, "settings.json")) for home in homes)
    brought = os.path.join(surroundings.project, ".qwen", "settings.json")
    project = read_json(brought, surroundings.checkout or surroundings.project)
    names = file_names(last(files, "context", "fileName")[0]) or NAMES
    off = []
    enabled, where = last((*files, project), "memory", "enableManagedAutoMemory")
    if enabled is False:
        why = f"Not loaded: switched off in {short_path(where, surroundings.home)} (memory.enableManagedAutoMemory)."
        off += [(f"{tier} {what}", why) for tier in ("user", "project") for what in ("memory index", "memories")]
    named = surroundings.variable("QWEN_CODE_MEMORY_TEAM")
    team, where = last(files, "memory", "enableTeamMemory")
    if named != "1" and (named == "0" or team is not True):
        by = "by QWEN_CODE_MEMORY_TEAM" if named == "0" else f"in {short_path(where, surroundings.home)}"
        words = f"switched off {by}" if where or named == "0" else "not switched on"
        off += [
            (f"team {what}", f"Not loaded: {words} (memory.enableTeamMemory).") for what in ("memory index", "memories")
        ]
    return Options(
        names=(("user instructions", names), ("instructions", names)),
        off=tuple(off),
        problems=problems((*files, project)),
    )


TABLE = Table(
    "qwen-code",
    "Qwen Code",
    (
        Source("user instructions", HOME, NAMES, imports=IMPORTS),
        Source("instructions", CHAIN, NAMES, imports=IMPORTS),
        Source("local instructions", PROJECT, (".qwen/QWEN.local.md",), imports=IMPORTS),
        *(Source(f"{tier} memory index", root, ("MEMORY.md",), limits=INDEX) for tier, root in _TIERS),
        *(
            Source(
                f"{tier} memories",
                root,
                ("**/*.md",),
                mark=ON_DEMAND,
                why="It is recalled when it fits what is asked.",
            )
            for tier, root in _TIERS
        ),
    ),
    variables=("QWEN_HOME",),
    at_home=(".qwen",),
    in_project=("QWEN.md", ".qwen"),
    options=_options,
    note="Its own system prompt, extensions and MCP servers come on top.",
)
