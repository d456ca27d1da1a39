"""The one table of verbs.

A verb that is not here does not exist for any front; help, completion, the parser and `docs/commands.md` are all made
from it.
"""

from memtui.features.health.verbs import HEALTH
from memtui.features.moved_projects.verbs import ORPHANS, REPOINT
from memtui.features.verbs_agents import AGENTS
from memtui.features.verbs_change import CHANGE
from memtui.features.verbs_install import INSTALL
from memtui.wire.params import ADDRESS, ADDRESSES, AGENT, GLOBALS, LIMIT, NAMES, SCOPE
from memtui.wire.verb import Param, Verb

__all__ = ["GLOBALS", "GROUPS", "VERBS", "find"]

GROUPS = {
    "look": "Look",
    "change": "Change",
    "follow": "Follow what others change",
    "agents": "Give agents their memory",
    "setup": "Set up",
}
"""Groups of verbs, in the order in which help shows them, and their titles."""

LOOK = (
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
        "switched_off (where its agent is told to load none of it), problems",
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
        "outside checkouts), problems",
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
    ),
    Verb(
        "search",
        "look",
        "Find memories by name, description or text",
        (
            Param("query", "words that must all occur; case does not matter", "query", required=True, many=True),
            SCOPE,
            AGENT,
            Param("--versions", "also in texts that memories had, and in those of deleted memories", "flag"),
            LIMIT,
        ),
        (
            ("memtui search postgres migration", "memories with both words"),
            ("memtui search '\"blue button\" -draft'", "those words together, and no `draft` anywhere"),
            ("memtui search --scope global --limit 5 tabs", "the best five of one scope"),
            ("memtui search --all-projects --versions retry", "in every project, and in what was there before"),
        ),
        "Names come before descriptions before texts, whole words before beginnings before parts; of equal hits "
        "pinned, used and recent ones come first.",
        "a list of memory rows, each with match: field (name, description or body), line, snippet, column, marks "
        "(pairs of characters of the snippet), places (how often the text has it); a hit in an old version has "
        "found_in: that version",
    ),
    Verb(
        "history",
        "look",
        "List the versions of a memory, newest first",
        (ADDRESS,),
        (("memtui history memtui:project/decisions.md", "who wrote which version, and when"),),
        "",
        "a list of versions: sha256, bytes, actor, at, operation, redacted, note",
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

FOLLOW = (
    Verb(
        "changes",
        "follow",
        "List what others changed since you looked",
        (SCOPE, AGENT),
        (("memtui changes", "newest first, also what happened while memtui was closed"),),
        "",
        "a list of changes: address, kind (created, modified, deleted, renamed), actor, before, after, at, "
        "old_address, writers (everybody who wrote since then, the first one first; actor is the last)",
    ),
    Verb(
        "seen",
        "follow",
        "Mark changed memories as seen",
        (ADDRESSES._replace(required=False), Param("--all", "everything", "flag")),
        (("memtui seen memtui:project/decisions.md", "one"), ("memtui seen --all", "everything")),
        "Only a person does this: it asks at the terminal for a typed yes.",
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
            LIMIT,
        ),
        (
            ("memtui log --since 2h", "the last two hours"),
            ("memtui log --actor cli --limit 5", "the command line's last five"),
        ),
        "",
        "a list of records: seq, txn, address, new_address, actor, operation, kind (change or approval), before, "
        "after, at, state, note",
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
        "First comes what changed while nobody watched, if anything, then a line with `health`: from there on nothing "
        "is missed. Each line is written out at once.",
        "one object a line: changes, touched, roots, notices, health",
    ),
)

SETUP = (
    Verb(
        "doctor",
        "setup",
        "Find and explain what is wrong, and which guarantees hold here",
        (
            Param("--salvage", "mend a damaged ledger now, or bring back what one that was moved aside has", "flag"),
            Param("file", "with --salvage: the ledger that was moved aside; default: the newest", "file", "FILE"),
        ),
        (
            ("memtui doctor", "roots, ledger, watcher limits, terminal, editor, clipboard"),
            ("memtui doctor --salvage", "first save what can be saved of a damaged ledger"),
        ),
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
        (Param("--test", "show what your terminal sends for each key you press; esc twice ends", "flag"),),
        (("memtui keys", "by room"), ("memtui keys --test", "why a key does nothing: press it and look")),
        "Keys that the settings change are shown as they are then; what cannot be used is told with its line.",
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
        "web",
        "setup",
        "Serve the workbench to a browser on this machine",
        (
            Param("--port", "where to listen on 127.0.0.1; default: any free port", "number", "N"),
            Param("--write", "allow changes; without it every visitor only reads", "flag"),
            Param("--open", "open the address in your browser", "flag"),
            Param("--demo", "the sample memories of `memtui demo`", "flag"),
        ),
        (
            ("memtui web", "prints an address with the token of this run"),
            ("memtui web --demo --write --open", "try it on samples"),
            ("memtui web --port 8017", "for a tunnel: ssh -L 8017:127.0.0.1:8017 host"),
        ),
        "Listens on the loopback address only, wants the token, and refuses other pages. Needs memtui[web].",
        "one object: address, write",
    ),
    Verb(
        "help",
        "setup",
        "Explain memtui or one verb",
        (Param("verb", "the verb", metavar="VERB"),),
        (("memtui help diff", "as `memtui diff --help`"),),
    ),
)

VERBS = LOOK + HEALTH + ORPHANS + CHANGE + REPOINT + FOLLOW + AGENTS + INSTALL + SETUP
"""Every verb, in the order in which help shows them."""


def find(name: str) -> Verb | None:
    """Return the verb of that name, if there is one."""
    for verb in VERBS:
        if verb.name == name:
            return verb
    return None
