"""The verbs by which memories go elsewhere: to another root, or into a file and out of it; part of `verbs.py`."""

from memtui.wire.params import ALONE
from memtui.wire.verb import Param, Verb

AS_IS = Param("--as-is", "keep every byte, also when the other agent's root wants another front matter", "flag")
DRY_RUN = Param("--dry-run", "show what would be written, and write nothing", "flag")
NEW = Param("new", "its new address; ending in `/`, or a root, keeps the name", "address", "NEW", required=True)
ONE_OPERATION = (
    "one operation: txn, operation, label, also (what followed), left (what did not), and items with address, ok, "
    "result, sha256, new_address, error; with --dry-run one object: written, also, left, items (address, new_address, "
    "ok, problem, changed, notes, diff), indexes (address, what, notes, diff)"
)

EXPORT = Verb(
    "export",
    "change",
    "Put memories into one file, for another machine or to keep",
    (
        Param("file", "the bundle to write; `-` is standard output", "file", "FILE", required=True),
        Param("places", "memories, folders or roots; default: every memory in reach", "place", "PLACE", many=True),
        Param("--history", "with every version that history keeps", "flag"),
        Param("--force", "write over a file that is there", "flag"),
    ),
    (
        ("memtui export memories.tar", "everything agents and you wrote, without instruction files"),
        ("memtui export project.tar claude-code:project memtui:project --history", "two roots, with their past"),
        ("memtui export - memtui:global | ssh other memtui import -", "to another machine"),
    ),
    "The file is a tar file with a list of what is in it, and the same memories give the same bytes. It keeps bytes, "
    "pins and uses. With --history it also holds what memories once said; a version that was redacted is not in it.",
    "one object: file, bytes, sha256, memories, versions, left (address, why)",
)

IMPORT = Verb(
    "import",
    "change",
    "Take memories out of a bundle, and merge them with what is here",
    (
        Param("file", "the bundle; `-` is standard input", "file", "FILE", required=True),
        Param(
            "--into",
            "the root they go to; ROOT=HERE for the memories of one of the bundle's roots; repeatable",
            "text",
            "ROOT",
            many=True,
        ),
        AS_IS,
        DRY_RUN,
    ),
    (
        ("memtui import memories.tar --dry-run", "what would come of each memory"),
        ("memtui import memories.tar", "and now it does; `memtui undo` takes back what was written"),
        ("memtui import memories.tar --into claude-code:project:old=claude-code:project", "another project here"),
        ("memtui import memories.tar --into serena:project --dry-run", "another agent, in its shape"),
    ),
    "A memory whose text is here stays; one that is not here is made; where both changed since the text they had in "
    "common, what merges is merged. That text is known when the bundle was made with --history. What does not merge "
    "stays as it is here, and the bundle's text waits as a draft: the workbench shows both sides. Pins and counts "
    "come along. What comes from another agent's root is brought into the shape of the agent here as with cp, and its "
    "texts are compared in that shape; history keeps the versions as they were. A bundle that is damaged, or that "
    "somebody tampered with, is refused whole (E_BUNDLE).",
    "one object: written, txn, pinned, conflicts, waiting (they have a draft of their own), also (what is done for "
    "another agent), items: path, from, address, what (new, newer, merges, conflict, unchanged, older or stays out), "
    "why, pins, changed, notes, diff (from the bundle's text to that in the other shape), and indexes (address, what, "
    "notes, diff)",
)

CP = Verb(
    "cp",
    "change",
    "Copy memories to another name, folder or root",
    (
        Param("old", "memories, folders or whole roots", "place", "OLD", many=True, required=True),
        NEW,
        AS_IS,
        ALONE,
        DRY_RUN,
    ),
    (
        ("memtui cp memtui:project/db.md memtui:global/", "to another scope"),
        ("memtui cp claude-code:project/style.md qwen-code:project/", "to another agent, in its shape"),
        ("memtui cp claude-code:project serena:project --dry-run", "what becomes of all of them"),
    ),
    "Between the roots of two agents the front matter is mapped to what the other one reads, names get its ending, and "
    "its index gets a line in its own style; the text below the front matter never changes. What the other agent does "
    "not read is kept and said, what it may not have is left out and said. Pins, uses and history stay with the "
    "original. One `memtui undo` takes all of it back.",
    ONE_OPERATION,
)

MV = Verb(
    "mv",
    "change",
    "Rename memories or folders, or move them to another root",
    (
        Param("old", "memories or folders", "place", "OLD", many=True, required=True),
        NEW,
        AS_IS,
        ALONE,
        DRY_RUN,
    ),
    (
        ("memtui mv memtui:project/db.md memtui:project/database.md", "rename"),
        ("memtui mv memtui:project/style.md memtui:global/", "to another scope"),
        ("memtui mv claude-code:project/style.md qwen-code:global/ --dry-run", "what another agent would get"),
    ),
    "Index entries, Markdown links, `[[names]]`, `mem:` references and `@imports` in the same root that name the "
    "memory follow, in the same step of undo. To another agent's root it goes as with cp: the front matter is mapped, "
    "and the index there gets a line. Pins and history go along.",
    ONE_OPERATION,
)
