"""Rules of outdated claims (family T), apart from their finder so that `memtui rules` loads no git reader."""

from memtui.features.hygiene.model import Rule

_PASSED = "what the checkout never had, what its default branch still has, lines that say so themselves, logs by date"
_QUOTED = "quotations, code, logs by date"

GONE, MOVED, SYMBOL, COMMAND, DEPENDENCY, RELATIVE, PAST, LINK, UNOPENED = (
    Rule("T01", "a path that a commit removed", "W", _PASSED, "open"),
    Rule("T02", "a path that a commit moved", "W", _PASSED, "set"),
    Rule("T03", "a name in backticks that commits took out of all source", "W", _PASSED, "open"),
    Rule("T04", "a command that a commit took out", "W", _PASSED, "open"),
    Rule("T05", "a dependency that went, or has another major version now", "W", _PASSED, "set"),
    Rule(
        "T06", "a day told from the day of writing, 14 days ago or more", "I", "quotations, code, logs by date", "set"
    ),
    Rule("T07", "until a day that is past", "I", f"a span with its beginning, {_QUOTED}", "cut"),
    Rule("T08", "a link to a memory that was deleted or renamed", "W", "names that never had a memory", "set"),
    Rule(
        *("T09", "a memory that each session is given at its start, and none opened or changed for 90 days", "I"),
        *("pinned ones, indexes, files of instructions, fewer than 10 sessions, what was used here", "open"),
    ),
)


def rules() -> tuple[Rule, ...]:
    """Return all of them."""
    return GONE, MOVED, SYMBOL, COMMAND, DEPENDENCY, RELATIVE, PAST, LINK, UNOPENED
