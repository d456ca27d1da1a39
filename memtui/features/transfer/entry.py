"""The entry in the table of features: memories to another folder, root or agent."""

from memtui.features.feature import Feature
from memtui.wire.params import ALONE
from memtui.wire.verb import Param, Verb

AS_IS = Param("--as-is", "keep every byte, also when the other agent's root wants another front matter", "flag")
DRY_RUN = Param("--dry-run", "show what would be written, and write nothing", "flag")
SECRETS = Param("--secrets", "what becomes of secrets in what goes to another root", choices=("keep", "mask"))
NEW = Param("new", "its new address; ending in `/`, or a root, keeps the name", "address", "NEW", required=True)
ONE_OPERATION = (
    "one operation: txn, operation, label, also (what followed), left (what did not), and items with address, ok, "
    "result, sha256, new_address, error; with --dry-run one object: written, also, left, items (address, new_address, "
    "ok, problem, changed, notes, diff), indexes (address, what, notes, diff)"
)
_VERBS = (
    Verb(
        "cp",
        "change",
        "Copy memories to another name, folder or root",
        (
            Param("old", "memories, folders or whole roots", "place", "OLD", many=True, required=True),
            NEW,
            AS_IS,
            ALONE,
            SECRETS,
            DRY_RUN,
        ),
        (
            ("memtui cp memtui:project/db.md memtui:global/", "to another scope"),
            ("memtui cp claude-code:project/style.md qwen-code:project/", "to another agent, in its shape"),
            ("memtui cp claude-code:project serena:project --dry-run", "what becomes of all of them"),
        ),
        "Between the roots of two agents the front matter is mapped to what the other one reads, names get its "
        "ending, and its index gets a line in its own style; the text below the front matter never changes. What the "
        "other agent does not read is kept and said, what it may not have is left out and said. A memory with a secret "
        "goes to another root only with --secrets (else E_SECRET). Pins, uses and history stay with the original. "
        "One `memtui undo` takes all of it back.",
        ONE_OPERATION,
        does="memtui.features.transfer.verbs:cp",
        rank=50,
    ),
    Verb(
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
        "memory follow, in the same step of undo. To another agent's root it goes as with cp: the front matter is "
        "mapped, and the index there gets a line. Pins and history go along.",
        ONE_OPERATION,
        does="memtui.features.transfer.verbs:mv",
        rank=60,
    ),
)

FEATURE = Feature(verbs=_VERBS)
