"""What agents with memories of their own form load when a session starts."""

from memtui.agents.loads.loading import CHAIN, HOME, NAMES_ONLY, ON_DEMAND, PROJECT, Source, Table

ON_TOP = "Its own system prompt, tools and MCP servers come on top."
_LOOKS = "The agent reads it when it looks for it."

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
            Source(label, place, (name,), mark=NAMES_ONLY, why="The agent is given the name, and reads it on demand.")
            for label, place, name in (
                ("user memories", HOME, "memories/global/**/*.md"),
                ("project memories", "serena:project", "**/*.md"),
                ("project memories", CHAIN, ".serena/memories/**/*.md"),
            )
        ),
    ),
    variables=("SERENA_HOME",),
    at_home=(".serena",),
    in_project=(".serena",),
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
    note=ON_TOP,
)
OPENCLAW = Table(
    "openclaw",
    "OpenClaw",
    (
        Source(
            "workspace",
            HOME,
            tuple(f"workspace/{name}.md" for name in ("AGENTS", "SOUL", "TOOLS", "IDENTITY", "USER", "HEARTBEAT")),
        ),
        Source("memory", HOME, ("workspace/MEMORY.md",)),
        Source(
            "daily notes",
            HOME,
            ("workspace/memory/**/*.md",),
            mark=ON_DEMAND,
            why="AGENTS.md tells the agent which ones to read, usually those of today and yesterday.",
        ),
    ),
    at_home=(".openclaw",),
    note=ON_TOP,
)
