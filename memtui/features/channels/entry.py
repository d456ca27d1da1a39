"""Feature entry: chats of gateways."""

from memtui.features.attribution.entry import CHAT
from memtui.features.feature import Feature
from memtui.wire.verb import Param, Verb

_DOES = "memtui.features.channels.verbs"

FEATURE = Feature(
    verbs=(
        Verb(
            "channel",
            "agents",
            "Give a session the memory of its chat, and answer words typed there",
            (
                Param("what", "the memory, once a session; a word", required=True, choices=("open", "say")),
                Param("text", "for say: what was typed, such as /who", many=True),
                *CHAT,
                Param("--session", "the agent's session", metavar="ID"),
                Param("--again", "give the memory although the session had it, as after a compaction", "flag"),
                Param("--alone", "nobody else speaks in that chat", "flag"),
                Param("--person", "who typed it, by the gateway's id", metavar="ID"),
                Param("--name", "what they are called", metavar="NAME"),
            ),
            (
                ("memtui channel open --channel team --chat c1 --session s1", "what is remembered of that chat"),
                ("memtui channel say /who --channel team --chat c1 --person u7", "who executes, what waits, who spoke"),
            ),
            "A chat has a memory of its own: CHANNEL.md, each bullet below `## Remembered` an entry; `memtui remember "
            "--channel` adds one. Words: /who, /status, /memory, /remember TEXT, /schedule, /budget, /audit, /approve "
            "ID, /deny ID, /clear (in a group with a code), /clear memory. A gateway does the same over HTTP (POST "
            "/channels/open, /channels/say, /channels/remember, /turns/request, /turns/begin, /turns/end), by its "
            "client id in [gateways] of config.toml. Agents see no chat's memory but through a door that was opened on "
            "it.",
            "open: one object: root, first, text, sha256, bytes, cut (left out); say: one object: reply, action",
            does=f"{_DOES}:channel",
            rank=85,
        ),
    ),
    gateways={
        "channels/open": f"{_DOES}:open_chat",
        "channels/say": f"{_DOES}:say_in_chat",
        "channels/remember": f"{_DOES}:remember_in_chat",
    },
    chat={
        "who": f"{_DOES}:who",
        "status": f"{_DOES}:who",
        "memory": f"{_DOES}:memory",
        "remember": f"{_DOES}:remember_word",
        "audit": f"{_DOES}:audit",
        "clear": f"{_DOES}:clear",
    },
)
