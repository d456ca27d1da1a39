"""The entry in the table of features: every version of a memory."""

from memtui.features.feature import Feature
from memtui.ui.action import View, action
from memtui.wire.params import ADDRESS
from memtui.wire.verb import Param, Verb

_VERBS = (
    Verb(
        "history",
        "look",
        "List the versions of a memory, newest first",
        (ADDRESS,),
        (("memtui history memtui:project/decisions.md", "who wrote which version, and when"),),
        "",
        "a list of versions: sha256, bytes, actor, at, operation, redacted, note",
        does="memtui.features.history.verbs:history",
        rank=50,
    ),
    Verb(
        "diff",
        "look",
        "Show what changed between two versions",
        (
            ADDRESS,
            Param("from", "the older version; default: the one you last saw, else the one before", "sha", "FROM"),
            Param("to", "the newer version; default: the file on disk", "sha", "TO"),
        ),
        (
            ("memtui diff memtui:project/decisions.md", "what is new since you looked"),
            ("memtui diff memtui:project/decisions.md 3fa94c 90bb12", "two versions of history"),
        ),
        "",
        "one object: address, from, to, same, diff (unified, as text)",
        does="memtui.features.history.verbs:diff",
        rank=60,
    ),
    Verb(
        "redact",
        "change",
        "Clear the text of stored versions, for good",
        (
            Param("addresses", "the memory and the version", "version", "ADDRESS@SHA", many=True, required=True),
            Param("--reason", "why; kept in the record", "text", "TEXT", required=True),
            Param("--everywhere", "also where something else keeps the text", "flag"),
            Param("--damaged", "delete damaged copies of the ledger, which may hold it", "flag"),
        ),
        (("memtui redact memtui:project/ci.md@3fa94c --reason 'held a token'", "the record of the version stays"),),
        "Cannot be undone, so a person is asked at the terminal for a typed yes. The version that is on disk now is "
        "refused: change the memory first. The text leaves every file memtui keeps, backups included. Where other "
        "memories, drafts or copies an editor left keep it, you are asked whether it goes there, too. Out of reach are "
        "the agents' own files, git, other machines, exported bundles, snapshots of the file system and blocks the "
        "disk has freed.",
        "one version: sha256, bytes, actor, at, operation, redacted, note; of several a list of them",
        does="memtui.features.history.verbs:redact",
        rank=160,
    ),
)

FEATURE = Feature(
    title="History of a memory (restore, text: also trash)",
    view=View(
        "history",
        "",
        "History",
        "Show every version of one memory.",
        "memtui.features.history.view:HistoryView",
        (
            *("restore", "read_text", "compare_with", "mark", "whole_text", "inline_words", "next_hunk"),
            *("previous_hunk", "next_aside", "previous_aside", "redact", "copy_contents", "copy_sha", "edit"),
            *("blame", "show_in_tree"),
        ),
        ("restore", "compare_with", "mark", "whole_text", "next_aside", "next_hunk", "redact", "copy_contents"),
    ),
    actions=(
        action(
            "restore",
            "r",
            "restore",
            "Put this text back under its name, at once; u takes it back.",
            "history",
            writes=True,
        ),
        action("read_text", "enter", "text", "Go to the text beside the list; it never restores.", "history"),
        action(
            "compare_with", "c", "against", "Compare with the version before, or with the file as it is now.", "history"
        ),
        action("whole_text", "v", "whole", "Show the whole text, or what changed.", "history"),
        action(
            "next_aside", "n", "set aside", "Go to the next text that was kept aside: draft, refused, late.", "history"
        ),
        action("previous_aside", "N", "set aside before", "Go to the text before that was kept aside.", "history"),
        action(
            "redact",
            "d r",
            "redact",
            "Clear the text of an old version for good: asks for a typed word and a reason.",
            "history",
            writes=True,
        ),
    ),
    verbs=_VERBS,
)
