"""The entry in the table of features: everything that was done, by anybody, and taking it back."""

from memtui.features.feature import Feature
from memtui.ui.action import View, action
from memtui.wire.params import LIMIT
from memtui.wire.verb import Param, Verb

_VERBS = (
    Verb(
        "log",
        "follow",
        "List the audit: who did what, and how it ended",
        (
            Param("--actor", "only this actor", "text", "NAME"),
            Param("--since", "since this time: RFC 3339, a date, or an age such as 2h, 3d", "time", "TIME"),
            Param("--address", "only this memory", "address"),
            LIMIT,
            Param("--person", "of the journal, only what this person caused", metavar="NAME"),
            Param("--turn", "of the journal, only this turn", metavar="ID"),
            Param("--channel", "of the journal, only this channel", metavar="NAME"),
            Param("--kind", "of the journal, only this kind: change, turn, setting, ...", metavar="KIND"),
            Param("--after", "records of the journal behind this number", "count", "N"),
            Param("--follow", "go on with each record of the journal as it comes, a line of JSON each", "flag"),
            Param("--verify", "look whether every record of the journal is as it was written", "flag"),
            Param("--head", "with --verify, a head that was kept elsewhere", metavar="LOG:N:HASH"),
        ),
        (
            ("memtui log --since 2h", "the last two hours"),
            ("memtui log --actor cli --limit 5", "the command line's last five"),
            ("memtui log --channel team-eng", "what was caused in that channel"),
            ("memtui log --verify", "the first record that was changed, if there is one"),
        ),
        "The journal begins with the first turn that a gateway tells. Each of its records has the hash of the one "
        "before it, and none is taken out; who can write your files can still forge all of it, and only a head that "
        "was kept elsewhere shows that.",
        "a list of records: seq, txn, address, new_address, actor, operation, kind (change, approval or setting), "
        "before, after, at, state, note, who (asked for it, where a gateway said so), proposed (id, by, run and "
        "evidence of what was accepted); of the journal: n, at, kind, body, prev, hash; null for an "
        "agent: seq, txn, n, prev, hash; --verify: one object: records, "
        "head",
        does="memtui.features.activity.verbs:log",
        rank=30,
    ),
    Verb(
        "undo",
        "change",
        "Take back the last changes made through memtui",
        (Param("steps", "how many; default 1", "number", "N"),),
        (("memtui undo", "the last one, also after a restart"), ("memtui undo 3", "the last three")),
        "A memory that changed again since then is left alone, and the answer says so. An agent that runs this "
        "takes back only what agents did.",
        "a list of operations, as mv",
        does="memtui.features.activity.verbs:undo",
        rank=110,
    ),
    Verb(
        "redo",
        "change",
        "Make an undone change again",
        (Param("steps", "how many; default 1", "number", "N"),),
        (("memtui redo", "the last undone one"),),
        "",
        "a list of operations, as mv",
        does="memtui.features.activity.verbs:redo",
        rank=120,
    ),
)

FEATURE = Feature(
    title="Activity",
    view=View(
        "activity",
        "5",
        "Activity",
        "Show everything that was done, by anybody, and take one step back.",
        "memtui.features.activity.view:ActivityView",
        (
            *("step_open", "step_diff", "undo_step", "only_actor", "by_session", "filter", "versions", "blame"),
            *("show_in_tree", "left", "right", "next_hunk", "previous_hunk"),
        ),
        ("step_open", "step_diff", "undo_step", "only_actor", "by_session", "filter", "versions", "next_hunk"),
        short="Act",
    ),
    actions=(
        action(
            "step_open", "enter", "go", "Go to the memory (its history when it is gone), or open the row.", "activity"
        ),
        action(
            "step_diff", "w", "diff", "Give the difference of this step the whole screen, or take it back.", "activity"
        ),
        action(
            "undo_step",
            "d s",
            "undo step",
            "Take this step back and nothing else, where its memories still are as it left them; u brings it back.",
            "activity",
            writes=True,
        ),
        action(
            "by_session", "s", "sessions", "Show what each agent's session opened, was given and wrote.", "activity"
        ),
        action("only_actor", "a", "this writer", "Show only what this writer did; again shows everybody.", "activity"),
    ),
    verbs=_VERBS,
)
