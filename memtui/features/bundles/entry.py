"""The entry in the table of features: memories into one file, and out of it."""

from memtui.features.feature import Feature
from memtui.features.transfer.entry import AS_IS, DRY_RUN
from memtui.wire.verb import Param, Verb

_VERBS = (
    Verb(
        "export",
        "change",
        "Put memories into one file, for another machine or to keep",
        (
            Param("file", "the bundle to write; `-` is standard output", "file", "FILE", required=True),
            Param("places", "memories, folders or roots; default: every memory in reach", "place", "PLACE", many=True),
            Param("--history", "with every version that history keeps", "flag"),
            Param("--secrets", "what becomes of secrets in them", choices=("keep", "mask")),
            Param("--force", "write over a file that is there", "flag"),
        ),
        (
            ("memtui export memories.tar", "everything agents and you wrote, without instruction files"),
            (
                "memtui export project.tar claude-code:project memtui:project --history",
                "two roots, with their past",
            ),
            ("memtui export - memtui:global | ssh other memtui import -", "to another machine"),
        ),
        "The file is a tar file with a list of what is in it, and the same memories give the same bytes. It keeps "
        "bytes, pins and uses. With --history it also holds what memories once said; a version that was redacted is "
        "not in it. Where a text holds a secret nothing is written (E_SECRET) without --secrets; with mask, texts go "
        "along masked, and older versions with a secret stay out.",
        "one object: file, bytes, sha256, memories, versions, left (address, why)",
        does="memtui.features.bundles.verbs:export",
        rank=70,
    ),
    Verb(
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
            (
                "memtui import memories.tar --into claude-code:project:old=claude-code:project",
                "another project here",
            ),
            ("memtui import memories.tar --into serena:project --dry-run", "another agent, in its shape"),
        ),
        "A memory whose text is here stays; one that is not here is made; where both changed since the text they had "
        "in common, what merges is merged. That text is known when the bundle was made with --history. What does not "
        "merge stays as it is here, and the bundle's text waits as a draft: the workbench shows both sides. Pins and "
        "counts come along. What comes from another agent's root is brought into the shape of the agent here as with "
        "cp, and its texts are compared in that shape; history keeps the versions as they were. A bundle that is "
        "damaged, or that somebody tampered with, is refused whole (E_BUNDLE).",
        "one object: written, txn, pinned, conflicts, waiting (they have a draft of their own), also (what is done "
        "for another agent), items: path, from, address, what (new, newer, merges, conflict, unchanged, older or "
        "stays out), why, pins, changed, notes, diff (from the bundle's text to that in the other shape), and "
        "indexes (address, what, notes, diff)",
        does="memtui.features.bundles.verbs:import_",
        rank=80,
    ),
)

FEATURE = Feature(verbs=_VERBS)
