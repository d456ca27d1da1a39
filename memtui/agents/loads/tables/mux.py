"""What Mux loads when a session starts: AGENTS.md; the index and the hot set of its memories it makes itself."""

from memtui.agents.loads.loading import HOME, ON_DEMAND, PROJECT, Source, Table

ROOTS = ("mux:global", "mux:project", "mux:workspace")
"""What the index and the hot set are made of."""
_WHY = "The agent reads it when its line in the index makes it look."

TABLE = Table(
    "mux",
    "Mux",
    (
        Source("user instructions", HOME, ("AGENTS.md",)),
        Source("project instructions", PROJECT, ("AGENTS.md",)),
        *(Source("memories", root, ("**/*",), mark=ON_DEMAND, why=_WHY) for root in ROOTS),
    ),
    variables=("XUM_ROOT", "MUX_ROOT"),
    at_home=(".xum", ".mux"),
    note="The index and the hot set are worked out by Mux's rules with the pins and uses that memtui knows.",
)
