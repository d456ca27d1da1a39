"""What Gemini CLI loads when a session starts: GEMINI.md of the user and down to the folder, and its private index."""

import os

from memtui.agents.loads.importing import Imports
from memtui.agents.loads.loading import CHAIN, HOME, ON_DEMAND, PROJECT, Options, Source, Table
from memtui.agents.loads.settings import below, file_names, read_json
from memtui.config.surroundings import Surroundings

IMPORTS = Imports(depth=5, markdown=False, approval=False, home=False)
"""Its own rule: what leads out of the project is refused, not asked about."""
NAMES: tuple[str, ...] = ("GEMINI.md",)


def _options(surroundings: Surroundings, homes: tuple[str, ...]) -> Options:
    """Read what instruction files are called."""
    names = NAMES
    found = [read_json(os.path.join(home, "settings.json")) for home in homes]
    brought = os.path.join(surroundings.project, ".gemini", "settings.json")
    found.append(read_json(brought, surroundings.checkout or surroundings.project))
    for settings in found:
        names = file_names(below(settings, "context").get("fileName")) or names
    return Options(names=(("user instructions", names), ("instructions", names)))


TABLE = Table(
    "gemini",
    "Gemini CLI",
    (
        Source("user instructions", HOME, NAMES, imports=IMPORTS),
        Source("instructions", CHAIN, NAMES, imports=IMPORTS),
        Source("memory index", "gemini:project", ("MEMORY.md",)),
        Source(
            "memories",
            "gemini:project",
            ("**/*.md",),
            mark=ON_DEMAND,
            why="The agent reads it when the index makes it look.",
        ),
        Source(
            "folder instructions",
            PROJECT,
            ("*/GEMINI.md", "*/*/GEMINI.md"),
            mark=ON_DEMAND,
            why="It is loaded when the agent touches a file in its folder.",
        ),
    ),
    variables=("GEMINI_CLI_HOME",),
    inside=".gemini",
    at_home=(".gemini",),
    in_project=("GEMINI.md", ".gemini"),
    options=_options,
    note="Its own system prompt, extensions and MCP servers come on top.",
    also=("gemini-cli",),
)
