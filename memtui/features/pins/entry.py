"""Feature entry for pins."""

from memtui.features.feature import Feature
from memtui.wire.params import ADDRESSES
from memtui.wire.verb import Param, Verb

_VERBS = (
    Verb(
        "pin",
        "change",
        "Pin memories: always in the hot set",
        (ADDRESSES,),
        (("memtui pin memtui:global/preferences.md", "the mark lives in memtui's own state, never in the file"),),
        "",
        "one operation, as mv",
        does="memtui.features.pins.verbs:pin",
        rank=130,
    ),
    Verb(
        "unpin",
        "change",
        "Take the pin off memories",
        (ADDRESSES,),
        (("memtui unpin memtui:global/preferences.md", "an ordinary memory again"),),
        "",
        "one operation, as mv",
        does="memtui.features.pins.verbs:unpin",
        rank=140,
    ),
    Verb(
        "pins",
        "change",
        "Take over the pins and counts of uses an agent keeps",
        (
            Param("agent", "whose; Mux keeps them beside its memories", choices=("mux",), required=True),
            Param("--write", "take them over; without it they are only shown", "flag"),
        ),
        (
            ("memtui pins mux", "which memories would be pinned, and how often Mux used each"),
            ("memtui pins mux --write", "now they are; `memtui undo` takes all these pins off again"),
            ("memtui pins mux --write --all-projects", "those of every project"),
        ),
        "A pin or a count that is already here stays; of two counts the higher one is kept. The agent's own file is "
        "only read.",
        "a list of memories: address, state (pin, pinned, count or same), pinned, uses, kept (pinned, uses, "
        "last_used_at, last_written_at); and written, txn, counted, absent (in roots that are not open), gone",
        does="memtui.features.pins.verbs:pins",
        rank=150,
    ),
)

FEATURE = Feature(verbs=_VERBS)
