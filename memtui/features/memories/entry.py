"""The entry in the table of features: memories on disk: listed, read, made, changed, moved to the trash."""

from memtui.features.feature import Feature
from memtui.ui.action import View
from memtui.wire.params import ADDRESS, ADDRESSES, AGENT, ALONE, DASH, FILE, NAMES, SCOPE
from memtui.wire.verb import Param, Verb

_VERBS = (
    Verb(
        "roots",
        "look",
        "List the roots found on this machine",
        (
            Param(
                "--accept",
                "review all versions that wait in a root, once you have looked at them; asks at the terminal",
                "root",
                "ID",
            ),
            Param("--names", "print root ids only, one a line", "flag"),
        ),
        (
            ("memtui roots", "every root with its agent, scope, files and problems"),
            ("memtui roots --all-projects", "also the roots of other projects"),
            ("memtui roots --accept claude-code:project:app", "trust what this checkout brought along so far"),
        ),
        "A root is one folder that holds memories of one scope for one agent.",
        "a list of roots: id, agent, scope, label, path, files, bytes, writable, exists, accepted, in_checkout, "
        "truncated, aliases, project, kind (memories, or instructions people write for the agent), note, "
        "switched_off (where its agent is told to load none of it), problems; and in_no_root: folders that look like "
        "memories and are no root (path, agent, option), with in_no_root_ended where the look ended before its end",
        does="memtui.features.memories.verbs:roots",
        rank=10,
    ),
    Verb(
        "ls",
        "look",
        "List memories",
        (
            Param("place", "only below this root, folder or memory", "place", "ADDRESS|ROOT"),
            SCOPE,
            AGENT,
            Param("--unseen", "only those others changed since you looked", "flag"),
            Param("--pinned", "only pinned ones", "flag"),
            Param("--problems", "only those with a problem", "flag"),
            Param(
                "--sort", "the order; default: by root, then name", choices=("name", "uses", "age", "size", "changed")
            ),
            NAMES,
        ),
        (
            ("memtui ls", "everything, root by root"),
            ("memtui ls memtui:project --sort age", "one root, newest first"),
            ("memtui ls --unseen --names", "what an agent changed, for another command"),
        ),
        "--sort age puts the newest file first, changed the latest recorded write, size the largest, uses the "
        "most used.",
        "a list of memories: address, scope, agent, root, path, bytes, modified_at, sha256, description, pinned, uses, "
        "heat, last_used_at, last_written_at, unseen, actor, version, missing, trust (local, reviewed or brought; null "
        "outside checkouts), problems (for a person with `withheld` where one of its observations is)",
        does="memtui.features.memories.verbs:ls",
        rank=20,
    ),
    Verb(
        "view",
        "look",
        "Print a memory",
        (ADDRESS._replace(kind="version", metavar="ADDRESS[@SHA]"),),
        (
            ("memtui view memtui:global/preferences.md", "the text as it is on disk"),
            ("memtui view memtui:global/preferences.md@3fa94c", "a version that history keeps"),
            ("memtui view ./CLAUDE.md > copy.md", "piped: the raw bytes"),
        ),
        "To a terminal, control and hidden characters are shown as visible signs; piped, the bytes are exactly the "
        "file's.",
        "one object: address, sha256, bytes, modified_at, settled, text (null and base64 when it is not UTF-8)",
        does="memtui.features.memories.verbs:view",
        rank=30,
    ),
    Verb(
        "create",
        "change",
        "Make a new memory; never overwrites one",
        (ADDRESS, DASH, FILE),
        (
            ("memtui create memtui:project/deploy.md --file notes.md", "from a file"),
            ("echo 'Use tabs.' | memtui create memtui:global/style.md -", "from standard input"),
        ),
        "Right in codex:global it becomes a note in the folder where Codex takes up what you add; the answer has "
        "its address.",
        "one object: result (saved or unchanged), address, sha256, before, txn",
        does="memtui.features.memories.verbs:create",
        rank=10,
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
        does="memtui.features.memories.verbs:save",
        rank=20,
    ),
    Verb(
        "rm",
        "change",
        "Move memories, or folders of them, to the trash",
        (ADDRESSES, ALONE),
        (("memtui rm memtui:project/old.md memtui:project/older.md", "`memtui undo` takes it back"),),
        "Their entries in the indexes of the same root go too; links in the texts of others stay and are named.",
        "one operation, as mv",
        does="memtui.features.memories.verbs:rm",
        rank=90,
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
        does="memtui.features.memories.verbs:workspace",
        rank=170,
    ),
)

FEATURE = Feature(view=View("memories", "1", "Memories", "Show the tree of all memories.", short="Mem"), verbs=_VERBS)
