"""Feature entry: delivery."""

from memtui.features.feature import Feature
from memtui.wire.verb import Param, Verb

FEATURE = Feature(
    works={"deliver": "memtui.features.delivery.work:deliver"},
    status="memtui.features.delivery.verbs:status",
    stands="memtui.features.delivery.verbs:standing",
    findings_of="memtui.features.delivery.verbs:findings",
    schedulable=("digest",),
    verbs=(
        Verb(
            "digest",
            "follow",
            "Say what changed, what waits and what failed, as names and counts",
            (
                Param("--since", "from when on: RFC 3339, a date, or an age such as 2h, 3d; a day", "time", "TIME"),
                Param("--to", "send it there, a name below [delivery]", metavar="DELIVERY"),
            ),
            (
                ("memtui digest --since 7d", "the last week"),
                (
                    "memtui digest --to team",
                    "sent; `memtui schedule add NAME TIME digest --to team` sends it by itself",
                ),
            ),
            "It never holds what a memory says. When nothing changed and nothing failed, nothing is sent.",
            "one object: text; with --to a list of tasks",
            does="memtui.features.delivery.verbs:digest",
            rank=62,
        ),
        Verb(
            "delivery",
            "follow",
            "List where memtui sends messages, or send one to try it",
            (
                Param("action", "list them, or send one message", choices=("ls", "test")),
                Param("name", "a name below [delivery]"),
            ),
            (
                ("memtui delivery", "where messages can go, and why one cannot be used"),
                ("memtui delivery test team", "send one"),
            ),
            "DingTalk, Feishu (Lark) and standard webhooks, as `[delivery.NAME]` in the settings says. A part is "
            "repeated only when it surely did not come, or the receiver knows it again; else the task fails with "
            "delivery_unknown, and you decide.",
            "a list of deliveries: name, usable, why; test: a list of tasks",
            does="memtui.features.delivery.verbs:delivery",
            rank=64,
        ),
    ),
)
