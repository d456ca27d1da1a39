"""The entry in the table of features: who wrote each line of a memory."""

from memtui.features.feature import Feature
from memtui.ui.action import View, action
from memtui.wire.params import ADDRESS
from memtui.wire.verb import Param, Verb

FEATURE = Feature(
    title="Who wrote each line",
    view=View(
        "blame",
        "",
        "Who wrote it",
        "Show who wrote each line of one memory.",
        "memtui.features.blame.view:BlameView",
        ("blame_open", "versions", "filter", "show_in_tree", "copy_line"),
        ("blame_open", "versions", "filter", "show_in_tree"),
    ),
    actions=(action("blame_open", "enter", "open", "Open the memory at this line.", "blame"),),
    verbs=(
        Verb(
            "blame",
            "look",
            "Show who wrote each line of a memory, in which session, and how that is known",
            (
                ADDRESS,
                Param("--line", "only this line, from 1", "number", "N"),
                Param("--prompts", "with --json: what was asked, read again from the session and masked", "flag"),
            ),
            (
                ("memtui blame claude-code:project/testing.md", "every line"),
                ("memtui blame claude-code:project/testing.md --line 12 --json", "one line, for a program"),
            ),
            "How it is known, best first: proven (memtui wrote it), matched (a session says it wrote this very text), "
            "lines (it says it wrote these lines), near (it wrote the file then, and nothing else is known), git (a "
            "commit names its author), outside, before (it was there before memtui looked). What a session's file or a "
            "commit says can be forged, so it is never proven. Sessions are read where you allowed it (`memtui "
            "sessions`). Who wrote a line is kept when old versions go, are redacted, and when the memory is renamed.",
            "one object: address, sha256, lines (each a run: first, last, actor, level, agent, session, who, at, "
            "commit, taint, candidates; with --prompts: prompt)",
            does="memtui.features.blame.lines:blame_verb",
            rank=55,
        ),
    ),
)
