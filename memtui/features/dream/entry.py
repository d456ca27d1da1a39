"""Entry in the table of features: tidying up memories."""

from memtui.features.feature import Feature
from memtui.wire.verb import Param, Verb

FEATURE = Feature(
    works={"dream": "memtui.features.dream.work:dream"},
    status="memtui.features.dream.gates:status",
    begins="memtui.features.dream.gates:begin",
    schedulable=("dream",),
    verbs=(
        Verb(
            "dream",
            "follow",
            "Propose how to tidy up: what is doubled, dangling, or dated by `yesterday`",
            (
                Param("--dry-run", "show what rules would propose, and keep nothing", "flag"),
                Param("--show-prompt", "show what a worker would be sent, and send nothing", "flag"),
            ),
            (
                ("memtui dream", "look through all memories of this project and your own"),
                ("memtui dream --dry-run", "what would be proposed"),
            ),
            "Rules find memories that say the same (word for word, or nearly), entries that stand twice, what is wrong "
            "with indexes, days such as `next Friday`, and missing descriptions; and what is worth a look: "
            "contradictions, days that are past, paths that are gone, and what observations say and no memory does. A "
            "worker (`lifecycle.worker`) may add to that. A run proposes at most 20 changes, and nothing is "
            "written before you accept it: `memtui review`. Rules that `lifecycle.apply` names are applied at once, "
            "unless they change many files.",
            "a list of proposals as of `review`; beside it found (a count for each rule), proposed, applied, left (for "
            "the next run), summary, undo, notes",
            does="memtui.features.dream.work:propose_cleanups",
            rank=42,
        ),
    ),
)
