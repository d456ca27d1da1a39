"""Feature entry for files with many entries: `memtui entries` and their view."""

from memtui.features.feature import Feature
from memtui.ui.action import View, action
from memtui.wire.params import ADDRESS, DASH, FILE
from memtui.wire.verb import Param, Verb

_VERBS = (
    Verb(
        "entries",
        "change",
        "List and change the entries of a memory that holds many, one at a time",
        (
            Param(
                "action",
                "what to do",
                metavar="ACTION",
                choices=("list", "show", "add", "edit", "rm"),
                required=True,
            ),
            ADDRESS,
            Param("entry", "which one: N@CHECK as `list` shows it, or N@FIRST WORDS", metavar="N@CHECK"),
            DASH,
            FILE,
        ),
        (
            ("memtui entries list goose:global/development.txt", "each entry with its name, tags and first words"),
            ("memtui entries show hermes:global/MEMORY.md 3", "the third one"),
            (
                "memtui entries edit hermes:global/MEMORY.md 3@5f2c91ab",
                "in your editor; with `-`, from standard input",
            ),
            (
                "echo 'Tests run with make.' | memtui entries add hermes:global/MEMORY.md -",
                "one more, behind the last",
            ),
            ("memtui entries rm goose:global/development.txt '2@Use ruff'", "`memtui undo` takes it back"),
        ),
        "Goose, Hermes, Codex and Mux keep many entries in one file; the layout says which files and how they are "
        "divided. No byte of another entry changes. N is where the entry stood when you looked, and CHECK (the "
        "beginning of its hash) or its first words say which one is meant: an entry that has moved since is found, one "
        "that has changed is left alone (exit 3).",
        "list: entries with number, name, line, bytes, sha256, title, tags, and beside items format, characters, "
        "limit, notes; show: one entry with text (null and base64 when it is not UTF-8); add, edit, rm: one object: "
        "result (saved or unchanged), address, sha256, before, txn",
        does="memtui.features.entries.verbs:entries",
        rank=40,
    ),
)

FEATURE = Feature(
    title="Entries of a memory that holds many",
    view=View(
        "entries",
        "",
        "Entries",
        "Show the entries of one memory that holds many.",
        "memtui.features.entries.view:EntriesView",
        (
            *("entry_edit", "entry_new", "entry_remove", "filter", "edit_outside", "versions", "show_in_tree"),
            *("copy_contents", "copy_sha"),
        ),
        ("entry_edit", "entry_new", "entry_remove", "filter", "edit_outside", "versions", "copy_contents"),
    ),
    actions=(
        action("entry_edit", "enter  e", "edit", "Edit this entry: only its bytes change.", "entries"),
        action("entry_new", "n", "new", "Write a new entry behind the last one.", "entries", writes=True),
        action(
            "entry_remove",
            "d t",
            "remove",
            "Take this entry out of the file; u brings it back.",
            "entries",
            writes=True,
        ),
    ),
    verbs=_VERBS,
)
