"""What Qwen Code loads when a session starts: QWEN.md and AGENTS.md, and the indexes of its memory tiers."""

import os

from memtui.agents.loads.cutting import Limits
from memtui.agents.loads.importing import Imports
from memtui.agents.loads.loading import CHAIN, HOME, ON_DEMAND, PROJECT, Options, Source, Table
from memtui.agents.loads.settings import below, file_names, read_json
from memtui.config.surroundings import Surroundings

IMPORTS = Imports(depth=5, markdown=False, approval=False, home=False)
INDEX = Limits(lines=200, units=25_000)
NAMES: tuple[str, ...] = ("QWEN.md", "AGENTS.md")
_TIERS = (("user", "qwen-code:global"), ("project", "qwen-code:project"), ("team", "qwen-code:project:team"))


def _options(surroundings: Surroundings, homes: tuple[str, ...]) -> Options:
    """Read what instruction files are called, and whether the team's memories are on."""
    names = NAMES
    team = surroundings.variable("QWEN_CODE_MEMORY_TEAM") == "1"
    for home in homes:
        settings = read_json(os.path.join(home, "settings.json"))
        names = file_names(below(settings, "context").get("fileName")) or names
        team = team or below(settings, "memory").get("enableTeamMemory") is True
    why = "Team memories are switched off: memory.enableTeamMemory."
    return Options(
        names=(("user instructions", names), ("instructions", names)),
        off=() if team else (("team memory index", why), ("team memories", why)),
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
