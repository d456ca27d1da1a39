"""Feature entry: budgets."""

from memtui.features.feature import Feature
from memtui.wire.verb import Param, Verb

FEATURE = Feature(
    begins="memtui.features.budgets.verbs:begin",
    status="memtui.features.budgets.state:status",
    stands="memtui.features.budgets.limits:standing",
    short="memtui.features.budgets.state:short",
    chat={"budget": "memtui.features.budgets.verbs:answer"},
    gateways={"budgets/admit": "memtui.features.budgets.verbs:admit_prompt"},
    verbs=(
        Verb(
            "budget",
            "follow",
            "Show what agents used of their budgets, and ask whether they may go on",
            (
                Param(
                    "action",
                    "list them, ask whether a prompt may begin, count what was used, begin anew",
                    choices=("ls", "admit", "debit", "reset"),
                ),
                Param("name", "with reset: the budget"),
                Param("--channel", "of this channel", metavar="NAME"),
                Param("--job", "of a job that a schedule runs", "flag"),
                Param("--in", "tokens the model read", "count", "N"),
                Param("--out", "tokens it wrote", "count", "N"),
                Param("--ref", "what it is for: the same one counts once", metavar="ID"),
                Param("--estimate", "with debit: it is a guess, which warns and never declines", "flag"),
                Param("--reason", "with reset: why", metavar="TEXT"),
            ),
            (
                ("memtui budget", "what is spent and left"),
                ("memtui budget admit --channel team-eng", "5 when it is spent; asked before a prompt"),
                ("memtui budget debit --job --in 1200 --out 300 --ref run-7", "what a job of yours used"),
            ),
            "A budget is a table in your settings, such as `[budgets.org]`. What gateways tell of turns, and what "
            "agents' session files say where they may be read, counts as real; only real numbers decline. A due job is "
            "skipped when its budget is spent. Memories can be read and written whatever is spent.",
            "a list of budgets: budget, spent_real, spent_estimate, limit, unit, since, until; admit: one of them with "
            "allowed, advisory, warnings; debit: one object: counted, budgets; reset: one of them",
            does="memtui.features.budgets.verbs:budget",
            rank=66,
        ),
    ),
)
