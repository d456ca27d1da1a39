"""Entry in the table of features: recall."""

from memtui.features.feature import Feature, Tool
from memtui.wire.params import LIMIT
from memtui.wire.verb import Param, Verb

FEATURE = Feature(
    verbs=(
        Verb(
            "recall",
            "agents",
            "Recall the memories that help with a request",
            (
                Param("query", "a question, a task or some words, not all of which must occur", "query", many=True),
                LIMIT._replace(help="at most so many; 5 when it is not given"),
                Param("--prompt", "print the block that an agent is given instead of rows", "flag"),
                Param("--scorer", "how they are scored", choices=("bm25", "seed")),
                Param("--client", "as this agent is given them: memtui's own memories and those of the agent", "text"),
                Param("--hook", "answer a hook of an agent's prompts, which comes on standard input", "flag"),
            ),
            (
                ("memtui recall how do we deploy", "the five memories that fit best, and why"),
                ("memtui recall --prompt how do we deploy", "what an agent would be given"),
                ("memtui recall --limit 1 --json retry queue", "the best one, for a script"),
            ),
            "Rare words count more than common ones, and words of a path or a description more than those of a text. "
            "Only what was written here or reviewed is recalled, without indexes and instructions.",
            "a list of memory rows, each with recall: score, words (those of the request that it has); with --prompt "
            "the text of the block, with --hook an object for the agent",
            does="memtui.features.recall.verbs:recall",
            rank=25,
        ),
    ),
    answers={"recall": "memtui.features.recall.tool:answer"},
    tools=(
        Tool(
            "memory_recall",
            "Recall memories",
            "memtui.features.recall.tool:offer",
            "memtui.features.recall.tool:call",
            ("lifecycle.enabled", "lifecycle.recall"),
        ),
    ),
)
