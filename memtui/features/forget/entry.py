"""Entry in the table of features: forgetting."""

from memtui.features.feature import Feature
from memtui.wire.params import SCOPE
from memtui.wire.verb import Param, Verb

FEATURE = Feature(
    works={"forget": "memtui.features.forget.work:forget"},
    verbs=(
        Verb(
            "forget",
            "change",
            "Find what memories say, and forget what you choose of it",
            (
                Param("query", "words that it says, all of them; taken literally", "query", many=True),
                SCOPE,
                Param("--id", "forget this one: an ID as the list shows it; repeatable", "text", many=True),
                Param("--yes", "forget all that is found", "flag"),
                Param("--redact", "clear it for good, also from the history", "flag"),
                Param("--reason", "why it is cleared for good; kept in the record", "text", "TEXT"),
            ),
            (
                ("memtui forget dark mode", "what says both words; nothing is changed"),
                ("memtui forget --id 'memtui:global/likes.md#3@5f2c91ab'", "one entry; `memtui undo` takes it back"),
                ("memtui forget staging password --yes --redact --reason 'was pasted'", "asks for a typed yes"),
            ),
            "What is found is shown first, always; without --yes and --id nothing else happens. Of a memory that holds "
            "several entries, or is a list, exactly the chosen lines go; a file goes to the trash only when it is "
            "chosen whole or nothing is left of it, and lines of indexes that name it follow. Pinned and protected "
            "memories stay, and so do files of instructions, but for items of their lists. One `memtui undo` brings "
            "all of it back. What an agent chooses becomes a proposal that a person "
            "decides about. With --redact the stored versions that hold it are cleared, too, which cannot be undone; "
            "agents' own session files, git, bundles and copies elsewhere are out of reach.",
            "one object: items (id, address, entry, line, title, stays), written, txn, changes (address, removed, "
            "diff), also, left, redacted",
            does="memtui.features.forget.work:forget_entries",
            rank=95,
        ),
    ),
)
