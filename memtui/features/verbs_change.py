"""The verbs that change a memory; part of the table in `verbs.py`."""

from memtui.features.transfer.verbs import CP, EXPORT, IMPORT, MV
from memtui.wire.params import ADDRESS, ADDRESSES, ALONE, DASH, FILE
from memtui.wire.verb import Param, Verb

CHANGE = (
    Verb(
        "create",
        "change",
        "Make a new memory; never overwrites one",
        (ADDRESS, DASH, FILE),
        (
            ("memtui create memtui:project/deploy.md --file notes.md", "from a file"),
            ("echo 'Use tabs.' | memtui create memtui:global/style.md -", "from standard input"),
        ),
        "",
        "one object: result (saved or unchanged), address, sha256, before, txn",
    ),
    Verb(
        "save",
        "change",
        "Save a memory, if it still is the version you started from",
        (
            ADDRESS,
            DASH,
            Param(
                "--expect", "sha-256 you started from, or `absent` for no file", "expect", "SHA|absent", required=True
            ),
            FILE,
        ),
        (
            ("memtui save memtui:global/style.md --expect $SHA --file style.md", "compare and set"),
            ("sed s/tabs/spaces/ style.md | memtui save memtui:global/style.md - --expect $SHA", "piped"),
        ),
        "Somebody else's version there is a conflict (exit 3): the file stays as they left it, and your text is kept "
        "in history under yours_sha256.",
        "one object: result (saved or unchanged), address, sha256, before, txn",
    ),
    Verb(
        "edit",
        "change",
        "Edit a memory in your editor; nobody's text is lost",
        (ADDRESS, Param("--new", "start a new memory when there is none", "flag")),
        (
            ("memtui edit memtui:global/preferences.md", "in $MEMTUI_EDITOR, $VISUAL or $EDITOR"),
            ("memtui edit --new memtui:project/deploy.md", "an empty page first"),
        ),
        "The editor gets a copy outside the root; the save is guarded. When somebody else wrote meanwhile, you choose: "
        "merge, open again, keep yours as a version, or stop. A draft that was never saved, of the workbench or of an "
        "edit that was killed, is offered first.",
        "one object: result (saved, unchanged or kept), address, sha256",
    ),
    Verb(
        "entries",
        "change",
        "List and change the entries of a memory that holds many, one at a time",
        (
            Param(
                "action", "what to do", metavar="ACTION", choices=("list", "show", "add", "edit", "rm"), required=True
            ),
            ADDRESS,
            Param("entry", "which one: N@CHECK as `list` shows it, or N@FIRST WORDS", metavar="N@CHECK"),
            DASH,
            FILE,
        ),
        (
            ("memtui entries list goose:global/development.txt", "each entry with its name, tags and first words"),
            ("memtui entries show hermes:global/MEMORY.md 3", "the third one"),
            ("memtui entries edit hermes:global/MEMORY.md 3@5f2c91ab", "in your editor; with `-`, from standard input"),
            ("echo 'Tests run with make.' | memtui entries add hermes:global/MEMORY.md -", "one more, behind the last"),
            ("memtui entries rm goose:global/development.txt '2@Use ruff'", "`memtui undo` takes it back"),
        ),
        "Goose, Hermes, Codex and Mux keep many entries in one file; the layout says which files and how they are "
        "divided. No byte of another entry changes. N is where the entry stood when you looked, and CHECK (the "
        "beginning of its hash) or its first words say which one is meant: an entry that has moved since is found, one "
        "that has changed is left alone (exit 3).",
        "list: entries with number, name, line, bytes, sha256, title, tags, and beside items format, characters, "
        "limit, notes; show: one entry with text (null and base64 when it is not UTF-8); add, edit, rm: one object: "
        "result (saved or unchanged), address, sha256, before, txn",
    ),
    CP,
    MV,
    EXPORT,
    IMPORT,
    Verb(
        "rm",
        "change",
        "Move memories, or folders of them, to the trash",
        (ADDRESSES, ALONE),
        (("memtui rm memtui:project/old.md memtui:project/older.md", "`memtui undo` takes it back"),),
        "Their entries in the indexes of the same root go too; links in the texts of others stay and are named.",
        "one operation, as mv",
    ),
    Verb(
        "restore",
        "change",
        "Bring back a deleted memory, or an old version of one",
        (ADDRESS, Param("--version", "the version to bring back; default: the deleted text", "sha", "SHA"), ALONE),
        (
            ("memtui restore memtui:project/old.md", "out of the trash"),
            ("memtui restore memtui:project/decisions.md --version 3fa94c", "an old version becomes the newest"),
        ),
        "The entries that indexes lost when the memory was deleted come back with it as they were, unless they name it "
        "already.",
        "one object: result (saved or unchanged), address, sha256, before, txn",
    ),
    Verb(
        "undo",
        "change",
        "Take back the last changes made through memtui",
        (Param("steps", "how many; default 1", "number", "N"),),
        (("memtui undo", "the last one, also after a restart"), ("memtui undo 3", "the last three")),
        "A memory that changed again since then is left alone, and the answer says so.",
        "a list of operations, as mv",
    ),
    Verb(
        "redo",
        "change",
        "Make an undone change again",
        (Param("steps", "how many; default 1", "number", "N"),),
        (("memtui redo", "the last undone one"),),
        "",
        "a list of operations, as mv",
    ),
    Verb(
        "pin",
        "change",
        "Pin memories: always in the hot set",
        (ADDRESSES,),
        (("memtui pin memtui:global/preferences.md", "the mark lives in memtui's own state, never in the file"),),
        "",
        "one operation, as mv",
    ),
    Verb(
        "unpin",
        "change",
        "Take the pin off memories",
        (ADDRESSES,),
        (("memtui unpin memtui:global/preferences.md", "an ordinary memory again"),),
        "",
        "one operation, as mv",
    ),
    Verb(
        "pins",
        "change",
        "Take over the pins and counts of uses an agent keeps",
        (
            Param("agent", "whose; Mux keeps them beside its memories", choices=("mux",), required=True),
            Param("--write", "take them over; without it they are only shown", "flag"),
        ),
        (
            ("memtui pins mux", "which memories would be pinned, and how often Mux used each"),
            ("memtui pins mux --write", "now they are; `memtui undo` takes all these pins off again"),
            ("memtui pins mux --write --all-projects", "those of every project"),
        ),
        "A pin or a count that is already here stays; of two counts the higher one is kept. The agent's own file is "
        "only read.",
        "a list of memories: address, state (pin, pinned, count or same), pinned, uses, kept (pinned, uses, "
        "last_used_at, last_written_at); and written, txn, counted, absent (in roots that are not open), gone",
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
    ),
    Verb(
        "workspace",
        "change",
        "Show or remove the memories of this checkout's workspace",
        (Param("action", "`rm` moves all of them to the trash", choices=("rm",)),),
        (
            ("memtui workspace", "what is there"),
            ("memtui workspace rm", "this checkout is done; `memtui undo` takes it back"),
        ),
        "",
        "without rm a list of memories, as ls; with rm one operation, as mv",
    ),
)
