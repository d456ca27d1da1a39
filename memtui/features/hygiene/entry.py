"""The entry in the table of features: what in memories somebody should look at before an agent reads it."""

from memtui.features.feature import Feature
from memtui.wire.verb import Param, Verb

FEATURE = Feature(
    verbs=(
        Verb(
            "check",
            "look",
            "Find secrets, hidden text, orders, outdated claims",
            (
                Param("place", "only this root, folder or memory; `-` reads a text from standard input", "place"),
                Param("--severity", "the least to list; W if not given", choices=("E", "W", "I")),
            ),
            (
                ("memtui check", "every memory"),
                ("memtui check claude-code:project --severity I", "one root, with what is only counted else"),
                ("cat AGENTS.md | memtui check -", "a text that is no memory"),
            ),
            "E: somebody gets what they must not; W: look at it; I: as a rule harmless. Reads only; secrets are masked "
            "and what nobody sees is shown as signs or decoded. An order to "
            "agents that is quoted or refused is only I. Exit status 8 when an E or W is listed. A finding is "
            "a reason to look, no proof, and a memory without one is not called safe. `memtui rules` lists what is "
            "looked for.",
            "a list of findings: severity, rule, address, line, start, end (in bytes), what, text, fix; beside it "
            "unread (address, code, message): memories that were not looked at",
            does="memtui.features.hygiene.verbs:check",
            rank=82,
        ),
        Verb(
            "rules",
            "look",
            "List what `memtui check` looks for",
            (),
            (("memtui rules", "each rule, what it spares, and what would mend it"),),
            answer="a list of rules: id, severity, fix, what, spares",
            does="memtui.features.hygiene.verbs:rules",
            rank=84,
        ),
    ),
)
