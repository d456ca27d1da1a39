"""Entry in the table of features: extracting memories from sessions."""

from memtui.features.feature import Feature
from memtui.wire.verb import Param, Verb

KIND = "extract"

FEATURE = Feature(
    works={KIND: "memtui.features.extract.work:extract"},
    begins="memtui.features.extract.work:begin",
    status="memtui.features.extract.verbs:status",
    schedulable=("extract",),
    verbs=(
        Verb(
            "extract",
            "follow",
            "Propose memories from what you told your agents in their sessions",
            (
                Param("--session", "only this session file", "file", "FILE"),
                Param("--since", "sessions written since: RFC 3339, a date, or an age such as 2h, 3d; a week", "time"),
                Param("--dry-run", "show what rules would propose, and keep nothing", "flag"),
                Param("--show-prompt", "show what a worker would be sent, and send nothing", "flag"),
                Param("--hook", "answer an agent's hook: only queue the work", "flag"),
                Param("--client", "the agent whose hook it is", "text"),
            ),
            (
                ("memtui extract", "what is new since the last time, in this project"),
                ("memtui extract --since 30d --dry-run", "what the sessions of a month would give"),
            ),
            "Sessions of Claude Code, Codex, Gemini CLI and Qwen Code are read, once you said that they may be "
            "(`memtui sessions`), and never written. Rules find what you asked to remember, corrections, preferences, "
            "places and dated events of the project; a worker (`lifecycle.worker`) may add to that. Nothing is written "
            "before you accept it: `memtui review`.",
            "a list of proposals as of `review`; beside it turns, proposed, skipped (a count for each reason), "
            "summary, undo, notes",
            does="memtui.features.extract.verbs:extract",
            rank=45,
        ),
    ),
)
