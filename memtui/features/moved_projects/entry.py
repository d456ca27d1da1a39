"""Feature entry for `memtui orphans` and `memtui repoint`."""

from memtui.features.feature import Feature
from memtui.wire.verb import Param, Verb

_VERBS = (
    Verb(
        "orphans",
        "look",
        "Find memories whose project is gone, and projects that share a folder of memories",
        (),
        (
            ("memtui orphans", "memories that stayed behind, and where their project may be now"),
            ("memtui orphans --json | jq -r '.items[].root'", "their roots, for a script"),
        ),
        "Claude Code and Qwen Code name a project's folder by its path with every sign made a dash, so a name may fit "
        "several paths. Each answer says how sure it is: exact (the agent's own session files name the project), "
        "likely (one folder here fits), several, or unknown. Nothing is changed.",
        "a list of orphans: root, agent, path, files, bytes, sure, reason, projects, moved (path, why); beside it "
        "collisions (root, projects, sure) and worktrees (kind, agent, main, roots, checkouts)",
        does="memtui.features.moved_projects.verbs:orphans",
        rank=90,
    ),
    Verb(
        "repoint",
        "change",
        "Move the memories of a project that moved to where it is now",
        (
            Param("old", "the project's old path, or the root its memories are in", "text", "OLD", required=True),
            Param("new", "the project's folder now", "dir", "NEW", required=True),
            Param("--write", "do it; without it only the plan is shown", "flag"),
        ),
        (
            ("memtui repoint ~/src/api ~/work/api", "what would move, from every agent"),
            ("memtui repoint ~/src/api ~/work/api --write", "and now it does; `memtui undo` takes all of it back"),
        ),
        "Memories are renamed into the folder the agent looks in for the new path; pins and history follow. An index "
        "that is there already gets the pointers of the old one. A memory whose name is taken by another text stays, "
        "and so do the agent's own session files.",
        "one object: written, txn, project, roots (from, to, path), lines (from, to, what, why)",
        does="memtui.features.moved_projects.verbs:repoint",
        rank=180,
    ),
)

FEATURE = Feature(verbs=_VERBS)
