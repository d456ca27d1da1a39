"""The verb about the indexes that agents load; part of the table in `verbs.py`."""

from memtui.health.model import BY_NAME
from memtui.wire.verb import Param, Verb

HEALTH = (
    Verb(
        "health",
        "look",
        "Find what is wrong with the indexes agents load, and fix it",
        (
            Param("root", "only this root", "root", "ROOT"),
            Param(
                "--fix",
                "show the fixes of one kind as a diff, and make them once you agree; all leaves long lines alone, "
                "because shortening loses words",
                choices=("all", *BY_NAME),
            ),
            Param("--yes", "make the fixes without asking", "flag"),
        ),
        (
            ("memtui health", "every finding"),
            ("memtui health claude-code:project", "those of one root"),
            (
                "memtui health --fix dangling",
                "what would be removed; on a terminal it asks, elsewhere nothing is written",
            ),
            ("memtui health --fix all --yes", "and now it is; `memtui undo` takes all of it back at once"),
        ),
        "Findings are dangling pointers, memories the index does not name, duplicate pointers, lines longer than the "
        "agent keeps them, pointers that lead out of the folder, and the cut line: what the agent does not load "
        "because the index is too long. An index that its agent makes anew from the memories is fixed only when its "
        "root is named, because such a fix does not stay.",
        "a list of findings: kind, index, line, path, memory, text, fix, offered, why; beside it indexes (address, "
        "lines, bytes, units, limits, cut, by, lost_lines, lost_bytes, below, rebuilt, problem). With --fix one "
        "object: written, fixes, txn, changes (each: index, fixes, diff, notes)",
    ),
)
