"""OpenCode: AGENTS.md, and no memories of its own; the user's file is a root of `agents_md`."""

from memtui.agents import agent

ID = "opencode"
OWN = agent.AgentHome(in_config=("opencode",))

LOADS = agent.Loads(
    (
        agent.LoadSource("user instructions", agent.HOME, ("AGENTS.md",)),
        agent.LoadSource("project instructions", agent.FOLDER, ("AGENTS.md", "CLAUDE.md"), first=True),
    ),
    in_project=(".opencode", "opencode.json"),
    note=agent.ON_TOP,
)
AGENT = agent.KnownAgent(ID, "OpenCode", home=OWN, loads=LOADS)
