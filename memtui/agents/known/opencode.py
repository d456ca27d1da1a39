"""OpenCode: AGENTS.md, and no memories of its own; the user's file is a root of `agents_md`."""

from memtui.agents.agent import (
    FOLDER,
    HOME,
    ON_TOP,
    AgentHome,
    KnownAgent,
    Loads,
    LoadSource,
)

ID = "opencode"
OWN = AgentHome(in_config=("opencode",))

LOADS = Loads(
    (
        LoadSource("user instructions", HOME, ("AGENTS.md",)),
        LoadSource("project instructions", FOLDER, ("AGENTS.md", "CLAUDE.md"), first=True),
    ),
    in_project=(".opencode", "opencode.json"),
    note=ON_TOP,
)
AGENT = KnownAgent(
    ID,
    "OpenCode",
    home=OWN,
    loads=LOADS,
)
