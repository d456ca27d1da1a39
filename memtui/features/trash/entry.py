"""The entry in the table of features: what was deleted, and bringing it back."""

from memtui.features.feature import Feature
from memtui.ui.action import View
from memtui.wire.params import ADDRESS, ALONE
from memtui.wire.verb import Param, Verb

_VERBS = (
    Verb(
        "trash",
        "look",
        "List deleted memories that can be restored",
        (),
        (("memtui trash", "newest first"),),
        "",
        "a list of deleted memories: address, sha256, bytes, actor, at, txn",
        does="memtui.features.trash.verbs:trash",
        rank=70,
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
        "already or were part of a line that names other memories too.",
        "one object: result (saved or unchanged), address, sha256, before, txn",
        does="memtui.features.trash.verbs:restore",
        rank=100,
    ),
)

FEATURE = Feature(
    view=View(
        "trash",
        "6",
        "Trash",
        "Show what was deleted, and restore it.",
        "memtui.features.trash.view:TrashView",
        (
            *("restore", "read_text", "mark", "range", "range_down", "range_up", "mark_all", "filter", "versions"),
            *("copy_contents", "copy_sha"),
        ),
        ("restore", "read_text", "mark", "filter", "versions", "mark_all"),
    ),
    verbs=_VERBS,
)
