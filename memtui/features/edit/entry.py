"""The entry in the table of features: memories in an editor of the user's."""

from memtui.features.feature import Feature
from memtui.wire.params import ADDRESS
from memtui.wire.verb import Param, Verb

_VERBS = (
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
        does="memtui.features.edit.verbs:edit",
        rank=30,
    ),
)

FEATURE = Feature(verbs=_VERBS)
