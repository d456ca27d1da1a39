"""The entry in the table of features: whether agents' session files are read."""

from memtui.features.feature import Feature
from memtui.wire.verb import Param, Verb

FEATURE = Feature(
    verbs=(
        Verb(
            "sessions",
            "agents",
            "Show or change whether memtui reads agents' session files",
            (
                Param("read", "all of them, those of this project, or none", choices=("on", "project", "off")),
                Param("--keep", "what is kept of them: places, or also cards", choices=("places", "cards")),
            ),
            (
                ("memtui sessions", "what is allowed, since when, and how many files there are"),
                ("memtui sessions project", "read those of this project; a typed yes is asked for"),
                ("memtui sessions off", "read nothing from now on"),
            ),
            "Nothing is read before you said yes. Session files are never changed.",
            "one object: read, keep, since, by, agents (each: agent, files; none where nothing may be read)",
            does="memtui.features.sessions.verbs:sessions",
            rank=70,
        ),
    ),
    status="memtui.features.sessions.verbs:status",
)
