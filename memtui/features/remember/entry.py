"""Entry in the table of features: remembering."""

from memtui.engine.model import TYPES
from memtui.features.attribution.entry import CHAT
from memtui.features.feature import Feature
from memtui.wire.verb import Param, Verb

FEATURE = Feature(
    asks={"remember": "memtui.features.remember.view:RememberForm"},
    works={"remember": "memtui.features.remember.work:remember"},
    verbs=(
        Verb(
            "remember",
            "change",
            "Remember something: memtui finds its name, type and place",
            (
                Param("text", "what to remember; `-`: read it from standard input", required=True, many=True),
                Param("--scope", "where it holds", choices=("project", "user", "global", "workspace")),
                Param("--to", "the root it goes to, in the shape of its agent", "root", "ROOT"),
                Param("--type", "what it is", choices=TYPES),
                Param("--clean", "make a new memory, also when one says it already", "flag"),
                *CHAT,
                Param("--alone", "nobody else speaks in that chat", "flag"),
                Param("--wait", "do it now, as at a terminal, and not when a memtui is open", "flag"),
            ),
            (
                (
                    "memtui remember 'Deploys go through staging first'",
                    "where it lands is shown, and `undo` takes it back",
                ),
                ("memtui remember --scope project 'Bugs are tracked in Linear'", "for this project only"),
                (
                    "git log -1 --format=%B | memtui remember --to claude-code:project --wait -",
                    "in Claude Code's folder",
                ),
            ),
            "Rules choose the type (reference, user, feedback, project: the first that fits), the scope (what is about "
            "you everywhere, the rest in this project) and the name; lines that begin with `Why:` and `How to apply:` "
            "are kept as such, and nothing is made up. When a memory says it already, that one is named and nothing is "
            "written. What looks like a secret is refused; what stands in `<private>...</private>` is left out. Run by "
            "an agent, it becomes a proposal that a person decides about. With --channel and --chat it is one more "
            "entry of the memory of that chat, at once.",
            "one object: taskId, status (queued, running, completed, failed), result (summary, outcome, "
            "addresses, filesTouched, touchedScopes, changes, notes, undo), error (code, message)",
            does="memtui.features.remember.work:remember_text",
            rank=15,
        ),
    ),
)
