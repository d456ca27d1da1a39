"""Feature entry for `memtui check` and `memtui rules`."""

from memtui.features.feature import Feature
from memtui.wire.verb import Param, Verb

FEATURE = Feature(
    schedulable=("check",),
    verbs=(
        Verb(
            "check",
            "look",
            "Find secrets, hidden text, orders, outdated claims",
            (
                Param("place", "only this root, folder or memory; `-` reads a text from standard input", "place"),
                Param("--severity", "the least to list; W if not given", choices=("E", "W", "I")),
                Param("--fix", "show what would mend this finding, and write it once you agree", metavar="ID"),
                Param("--yes", "write it without asking", "flag"),
                Param(
                    "--mute",
                    "tell nobody of this finding any more, until its lines change; a rule: all it finds in these roots",
                    metavar="ID",
                ),
                Param("--reason", "why it is muted", metavar="TEXT"),
                Param("--muted", "list what is muted, and why", "flag"),
                Param("--unmute", "tell of it again", metavar="ID"),
            ),
            (
                ("memtui check", "every memory that is seen from this project; --all-projects: all"),
                ("memtui check claude-code:project --severity I", "one root, with what is only counted else"),
                ("memtui check --fix 3f2a90bd11c07e5d2a41", "what would mend it; `memtui undo` takes it back"),
                ("memtui check --mute 3f2a90bd11c07e5d2a41 --reason 'made up for a test'", "asks at your terminal"),
                ("cat AGENTS.md | memtui check -", "a text that is no memory"),
            ),
            "E: severe; W: worth a look; I: usually harmless. Without --fix and --mute it "
            "reads only; only a person mutes. Secrets are masked and what nobody sees is shown as signs or decoded. An "
            "order to agents that is quoted or refused is only I. Exit status 8 when an E or W is listed. A finding is "
            "a reason to look, no proof, and a memory without one is not called safe. `memtui rules` lists what is "
            "looked for.",
            "a list of findings: id, muted, severity, rule, address, line, start, end (in bytes), what, text, fix; "
            "beside it unread (address, code, message): memories that were not looked at. With --fix one object: "
            "written, address, diff, notes; with --mute: muted, reason",
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
