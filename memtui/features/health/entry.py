"""Feature entry for index health: `memtui health` and view 7."""

from memtui.features.feature import Feature
from memtui.features.health.model import BY_NAME, ONE_BY_ONE
from memtui.ui.action import View, action
from memtui.wire.verb import Param, Verb

_VERBS = (
    Verb(
        "health",
        "look",
        "Find what is wrong with the indexes agents load, and fix it",
        (
            Param("root", "only this root", "root", "ROOT"),
            Param(
                "--fix",
                "show the fixes of one kind as a diff, and make them once you agree; all leaves long and cut alone: "
                "shortening loses words, and a second file is for you to want",
                choices=("all", *BY_NAME, *ONE_BY_ONE),
            ),
            Param("--line", "only what is wrong in this line; outside and below are fixed one by one", "number", "N"),
            Param("--yes", "make the fixes without asking", "flag"),
            Param("--rebuild", "propose the indexes of ROOT made anew from its memories, the newest first", "flag"),
        ),
        (
            ("memtui health", "every finding"),
            ("memtui health claude-code:project", "those of one root"),
            (
                "memtui health --fix dangling",
                "what would be removed; on a terminal it asks, elsewhere nothing is written",
            ),
            ("memtui health --fix all --yes", "and now it is; `memtui undo` takes all of it back at once"),
            (
                "memtui health claude-code:project --fix cut",
                "what is below the cut line goes to a second file, which the index then names",
            ),
            ("memtui health claude-code:project --fix below --line 214", "that line moves to the top"),
            ("memtui health qwen-code:project --rebuild", "a proposal, decided about in `memtui review`"),
        ),
        "Findings are dangling pointers, memories the index does not name, duplicate pointers, lines longer than the "
        "agent keeps them, links that lead out of the folder, and the cut line: what the agent does not load "
        "because the index is too long. --fix cut loses nothing: the lines that are not loaded go to MEMORY-more.md "
        "as they are, one line of the index names that file, and what is named there counts as named. An index that "
        "its agent makes anew from the memories is fixed only when its root is named, because such a fix does not "
        "stay. --rebuild makes a proposal and writes nothing: a line for each memory, within the agent's limits; what "
        "does not fit is named, and an index that holds anything else is left alone.",
        "a list of findings: kind, index, line, path, memory, text, fix, offered, why; beside it indexes (address, "
        "lines, bytes, units, limits, cut, by, lost_lines, lost_bytes, below, rebuilt, problem, off). With --fix one "
        "object: written, fixes, txn, changes (each: index, fixes, diff, notes). With --rebuild one "
        "object: proposal, state, note, left, changes (each: index, diff)",
        does="memtui.features.health.verbs:health",
        rank=80,
    ),
)

FEATURE = Feature(
    title="Health of indexes",
    view=View(
        "health",
        "7",
        "Health",
        "Show what is wrong with the indexes agents load, and fix it.",
        "memtui.features.health.view:HealthView",
        (
            *("health_open", "fix_finding", "fix_kind", "fix_root", "edit", "filter", "next_folder", "previous_folder"),
            *("mute_finding", "mute_memory", "mute_kind", "repoint", "reload"),
        ),
        ("fix_finding", "fix_root", "repoint", "health_open", "fix_kind", "edit", "filter"),
    ),
    actions=(
        action("health_open", "enter", "to memory", "Go to the memory in the tree, or to the index.", "health"),
        action(
            "fix_finding",
            "d f",
            "fix",
            "Fix this finding, if the index still is as shown; u takes it back.",
            "health",
            writes=True,
        ),
        action(
            "fix_kind",
            "D k",
            "fix kind",
            "Fix all of this kind in this root: `D` says what, `k` does it; u takes it back.",
            "health",
            writes=True,
        ),
        action(
            "fix_root",
            "D r",
            "fix all",
            "Fix all of this root that loses no words: `D` says what, `r` does it; u takes it back.",
            "health",
            writes=True,
        ),
        *(
            action(
                id_,
                keys,
                short,
                f"Tell of {what} no more, and why not; ends when its lines change.",
                "health",
                writes=True,
            )
            for id_, keys, short, what in (
                ("mute_finding", "x f", "mute", "this finding in a text"),
                ("mute_memory", "x m", "mute memory", "each finding that this text has now"),
            )
        ),
        action(
            "mute_kind",
            "x k",
            "mute kind",
            "Tell of nothing that this rule finds in the texts of this root, and why not.",
            "health",
            writes=True,
        ),
    ),
    verbs=_VERBS,
)
