"""The one table of verbs.

A verb that is not here does not exist for any front; help, completion, the parser and `docs/commands.md` are all made
from it.
"""

from memtui.wire.verb import Param, Verb

GROUPS = {
    "look": "Look",
    "change": "Change",
    "follow": "Follow what others change",
    "setup": "Set up",
}
"""Groups of verbs, in the order in which help shows them, and their titles."""

_SCOPES = ("global", "project", "workspace", "channel")
_ADDRESS = Param("address", "the memory: ROOT/PATH, /memories/SCOPE/PATH or a file path", "address", required=True)
_ADDRESSES = _ADDRESS._replace(name="addresses", metavar="ADDRESS", many=True)
_FILE = Param("--file", "read the text from this file; `-` is standard input", "file")
_DASH = Param("source", "`-`: read the text from standard input", choices=("-",))
_SCOPE = Param("--scope", "only this scope", choices=_SCOPES)
_AGENT = Param("--agent", "only this agent's roots, such as claude-code")
_LIMIT = Param("--limit", "at most so many", "number", metavar="N")
_NAMES = Param("--names", "print addresses only, one a line", "flag")

GLOBALS = (
    Param("--home", "keep everything of memtui's below DIR (as MEMTUI_HOME does)", "dir", metavar="DIR"),
    Param("--project", "the project to look at; else the one around the working directory", "dir", metavar="DIR"),
    Param(
        "--root",
        "one more root: NAME=DIR[,agent=KIND][,scope=SCOPE]; repeatable",
        "text",
        metavar="NAME=DIR",
        many=True,
    ),
    Param("--only-root", "nothing but the --root ones and memtui's own", "flag"),
    Param("--all-projects", "every project an agent keeps memories for, not only this one", "flag"),
    Param("--json", "print one JSON document, also for errors", "flag"),
    Param("--read-only", "refuse every change", "flag"),
    Param("--actor", "who the changes are recorded for (default: cli)", metavar="NAME"),
    Param("--ascii", "draw with ASCII only", "flag"),
    Param("--calm", "no animation, few repaints (for slow links)", "flag"),
    Param("--version", "print the version", "flag"),
    Param("--help", "print this help", "flag"),
)
"""Options every verb takes, before or after its name."""

LOOK = (
    Verb(
        "roots",
        "look",
        "List the roots found on this machine",
        (
            Param("--accept", "accept a root found inside a checkout, once you have looked at it", "root", "ID"),
            Param("--names", "print root ids only, one a line", "flag"),
        ),
        (
            ("memtui roots", "every root with its agent, scope, files and problems"),
            ("memtui roots --all-projects", "also the roots of other projects"),
            ("memtui roots --accept claude-code:project:app", "trust what this checkout brought along"),
        ),
        "A root is one folder that holds memories of one scope for one agent.",
        "a list of roots: id, agent, scope, label, path, files, bytes, writable, exists, accepted, in_checkout, "
        "truncated, aliases, project, note, problems",
    ),
    Verb(
        "ls",
        "look",
        "List memories",
        (
            Param("place", "only below this root, folder or memory", "place", "ADDRESS|ROOT"),
            _SCOPE,
            _AGENT,
            Param("--unseen", "only those others changed since you looked", "flag"),
            Param("--pinned", "only pinned ones", "flag"),
            Param("--problems", "only those with a problem", "flag"),
            Param(
                "--sort", "the order; default: by root, then name", choices=("name", "uses", "age", "size", "changed")
            ),
            _NAMES,
        ),
        (
            ("memtui ls", "everything, root by root"),
            ("memtui ls memtui:project --sort age", "one root, newest first"),
            ("memtui ls --unseen --names", "what an agent changed, for another command"),
        ),
        "--sort age puts the newest file first, changed the latest recorded write, size the largest, uses the "
        "most used.",
        "a list of memories: address, scope, agent, root, path, bytes, modified_at, sha256, description, pinned, uses, "
        "heat, last_used_at, last_written_at, unseen, actor, version, missing, problems",
    ),
    Verb(
        "view",
        "look",
        "Print a memory",
        (_ADDRESS._replace(kind="version", metavar="ADDRESS[@SHA]"),),
        (
            ("memtui view memtui:global/preferences.md", "the text as it is on disk"),
            ("memtui view memtui:global/preferences.md@3fa94c", "a version that history keeps"),
            ("memtui view ./CLAUDE.md > copy.md", "piped: the raw bytes"),
        ),
        "To a terminal, control and hidden characters are shown as visible signs; piped, the bytes are exactly the "
        "file's.",
        "one object: address, sha256, bytes, modified_at, settled, text (null and base64 when it is not UTF-8)",
    ),
    Verb(
        "search",
        "look",
        "Find memories by name, description or text",
        (
            Param("query", "words that must all occur; case does not matter", "query", required=True, many=True),
            _SCOPE,
            _AGENT,
            _LIMIT,
        ),
        (
            ("memtui search postgres migration", "memories with both words"),
            ("memtui search --scope global --limit 5 tabs", "the best five of one scope"),
        ),
        "",
        "a list of memory rows, each with match: field (name, description or body), line, snippet",
    ),
    Verb(
        "history",
        "look",
        "List the versions of a memory, newest first",
        (_ADDRESS,),
        (("memtui history memtui:project/decisions.md", "who wrote which version, and when"),),
        "",
        "a list of versions: sha256, bytes, actor, at, operation, redacted, note",
    ),
    Verb(
        "diff",
        "look",
        "Show what changed between two versions",
        (
            _ADDRESS,
            Param("from", "the older version; default: the one you last saw, else the one before", "sha", "FROM"),
            Param("to", "the newer version; default: the file on disk", "sha", "TO"),
        ),
        (
            ("memtui diff memtui:project/decisions.md", "what is new since you looked"),
            ("memtui diff memtui:project/decisions.md 3fa94c 90bb12", "two versions of history"),
        ),
        "",
        "one object: address, from, to, same, diff (unified, as text)",
    ),
    Verb(
        "trash",
        "look",
        "List deleted memories that can be restored",
        (),
        (("memtui trash", "newest first"),),
        "",
        "a list of deleted memories: address, sha256, bytes, actor, at, txn",
    ),
)

CHANGE = (
    Verb(
        "create",
        "change",
        "Make a new memory; never overwrites one",
        (_ADDRESS, _DASH, _FILE),
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
            _ADDRESS,
            _DASH,
            Param(
                "--expect", "sha-256 you started from, or `absent` for no file", "expect", "SHA|absent", required=True
            ),
            _FILE,
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
        (_ADDRESS, Param("--new", "start a new memory when there is none", "flag")),
        (
            ("memtui edit memtui:global/preferences.md", "in $MEMTUI_EDITOR, $VISUAL or $EDITOR"),
            ("memtui edit --new memtui:project/deploy.md", "an empty page first"),
        ),
        "The editor gets a copy outside the root; the save is guarded. When somebody else wrote meanwhile, you choose: "
        "merge, open again, keep yours as a version, or stop.",
        "one object: result (saved, unchanged or kept), address, sha256",
    ),
    Verb(
        "mv",
        "change",
        "Rename a memory or a folder, or move it to another root",
        (
            Param("old", "the memory", "address", "OLD", required=True),
            Param("new", "its new address; ending in `/` keeps the name", "address", "NEW", required=True),
        ),
        (
            ("memtui mv memtui:project/db.md memtui:project/database.md", "rename"),
            ("memtui mv memtui:project/style.md memtui:global/", "to another scope"),
        ),
        "",
        "one operation: txn, operation, label, and items with address, ok, result, sha256, new_address, error",
    ),
    Verb(
        "rm",
        "change",
        "Move memories, or folders of them, to the trash",
        (_ADDRESSES,),
        (("memtui rm memtui:project/old.md memtui:project/older.md", "`memtui undo` takes it back"),),
        "",
        "one operation, as mv",
    ),
    Verb(
        "restore",
        "change",
        "Bring back a deleted memory, or an old version of one",
        (_ADDRESS, Param("--version", "the version to bring back; default: the deleted text", "sha", "SHA")),
        (
            ("memtui restore memtui:project/old.md", "out of the trash"),
            ("memtui restore memtui:project/decisions.md --version 3fa94c", "an old version becomes the newest"),
        ),
        "",
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
        (_ADDRESSES,),
        (("memtui pin memtui:global/preferences.md", "the mark lives in memtui's own state, never in the file"),),
        "",
        "one operation, as mv",
    ),
    Verb(
        "unpin",
        "change",
        "Take the pin off memories",
        (_ADDRESSES,),
        (("memtui unpin memtui:global/preferences.md", "an ordinary memory again"),),
        "",
        "one operation, as mv",
    ),
    Verb(
        "redact",
        "change",
        "Clear the text of one stored version, for good",
        (
            Param("address", "the memory and the version", "version", "ADDRESS@SHA", required=True),
            Param("--reason", "why; kept in the record", "text", "TEXT", required=True),
        ),
        (("memtui redact memtui:project/ci.md@3fa94c --reason 'held a token'", "the record of the version stays"),),
        "Cannot be undone. The version that is on disk now is refused: change the memory first.",
        "one version: sha256, bytes, actor, at, operation, redacted, note",
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

FOLLOW = (
    Verb(
        "changes",
        "follow",
        "List what others changed since you looked",
        (_SCOPE, _AGENT),
        (("memtui changes", "newest first, also what happened while memtui was closed"),),
        "",
        "a list of changes: address, kind (created, modified, deleted, renamed), actor, before, after, at, old_address",
    ),
    Verb(
        "seen",
        "follow",
        "Mark changed memories as seen",
        (_ADDRESSES._replace(required=False), Param("--all", "everything", "flag")),
        (("memtui seen memtui:project/decisions.md", "one"), ("memtui seen --all", "everything")),
        "",
        "one object: seen, the number of memories whose mark changed",
    ),
    Verb(
        "log",
        "follow",
        "List the audit: who did what, and how it ended",
        (
            Param("--actor", "only this actor", "text", "NAME"),
            Param("--since", "since this time: RFC 3339, a date, or an age such as 2h, 3d", "time", "TIME"),
            Param("--address", "only this memory", "address"),
            _LIMIT,
        ),
        (
            ("memtui log --since 2h", "the last two hours"),
            ("memtui log --actor cli --limit 5", "the command line's last five"),
        ),
        "",
        "a list of records: seq, txn, address, new_address, actor, operation, before, after, at, state, note",
    ),
    Verb(
        "watch",
        "follow",
        "Print each batch of changes as it happens, until interrupted",
        (Param("--count", "stop after so many batches with changes", "number", "N"),),
        (
            ("memtui watch", "readable lines in a terminal, JSON lines when piped"),
            ("memtui watch --json | jq -r '.changes[].address'", "one JSON object a line"),
        ),
        "The first line tells that the watch stands. Each line is written out at once.",
        "one object a line: changes, touched, roots, notices, health",
    ),
)

SETUP = (
    Verb(
        "doctor",
        "setup",
        "Find and explain what is wrong, and which guarantees hold here",
        (),
        (("memtui doctor", "roots, ledger, watcher limits, terminal, editor, clipboard"),),
        "Exit status 7 when a finding is an error, else 0.",
        "a list of findings: level (ok, note, warning, error), topic, text, advice",
    ),
    Verb(
        "config",
        "setup",
        "Show every setting, its value and where the value came from",
        (Param("action", "`check` validates the file, `path` prints where it is", choices=("check", "path")),),
        (("memtui config", "all settings"), ("memtui config check", "exit 2 when something in the file is wrong")),
        "",
        "a list of settings: name, value, source, default, help",
    ),
    Verb(
        "keys",
        "setup",
        "List the keys of the workbench",
        (),
        (("memtui keys", "by room"),),
        "",
        "a list of actions: id, keys, label, help, room",
    ),
    Verb(
        "completion",
        "setup",
        "Print a completion script for your shell",
        (Param("shell", "which shell", choices=("bash", "zsh", "fish"), required=True),),
        (
            ("memtui completion bash > ~/.local/share/bash-completion/completions/memtui", "bash"),
            ("memtui completion zsh > ~/.zfunc/_memtui", "zsh, with ~/.zfunc in fpath"),
            ("memtui completion fish > ~/.config/fish/completions/memtui.fish", "fish"),
        ),
        "",
        "one object: shell, script",
    ),
    Verb(
        "demo",
        "setup",
        "Open the workbench on sample memories, with an agent that keeps writing",
        (),
        (("memtui demo", "in a throw-away folder; nothing of yours is read or written"),),
        "",
        "nothing: it is a workbench",
    ),
    Verb(
        "help",
        "setup",
        "Explain memtui or one verb",
        (Param("verb", "the verb", metavar="VERB"),),
        (("memtui help diff", "as `memtui diff --help`"),),
    ),
)

VERBS = LOOK + CHANGE + FOLLOW + SETUP
"""Every verb, in the order in which help shows them."""


def find(name: str) -> Verb | None:
    """Return the verb of that name, if there is one."""
    for verb in VERBS:
        if verb.name == name:
            return verb
    return None
