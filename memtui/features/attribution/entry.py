"""Feature entry: attribution."""

from memtui.features.feature import Feature
from memtui.wire.verb import Param, Verb

CHAT = (
    Param("--channel", "the channel, by the gateway's name for it", metavar="NAME"),
    Param("--chat", "the conversation in it, by the gateway's id", metavar="ID"),
    Param("--thread", "the thread in it", metavar="ID"),
)

FEATURE = Feature(
    verbs=(
        Verb(
            "turn",
            "agents",
            "Tell of a turn: one prompt that a session executes, and who asked",
            (
                Param(
                    "what",
                    "it was asked for; its session comes to it; it is over",
                    required=True,
                    choices=("request", "begin", "end"),
                ),
                Param("id", "the turn, for begin and end"),
                Param("--session", "the agent's session", metavar="ID"),
                *CHAT,
                Param("--alone", "nobody else speaks in that chat", "flag"),
                Param("--person", "who asked, by the gateway's id", metavar="ID"),
                Param("--name", "what they are called", metavar="NAME"),
                Param("--prompt", "SHA-256 of what was asked", metavar="SHA"),
                Param("--in", "tokens the model read", "count", "N"),
                Param("--out", "tokens it wrote", "count", "N"),
                Param("--model", "the model that used them", metavar="NAME"),
            ),
            (
                ("memtui turn request --session s1 --channel team --chat c1 --person u7 --name Ann", "Ann asked"),
                ("memtui turn begin ID", "her prompt is executed; answers the marker to put before it"),
                ("memtui turn end ID --in 1200 --out 300 --model qwen3", "it is over, and what it used"),
            ),
            "A session executes one turn at a time. What is changed meanwhile through the door of that session is of "
            "that turn. Who asked is what is said here, and is shown as that; it is never a right. Only a gateway of "
            "[gateways] may say it, over HTTP, or a person at a terminal.",
            "one object: turn, state, source, session, via, channel, name, person, schedule, requested, begun, ended; "
            "begin: and marker",
            does="memtui.features.attribution.verbs:turn",
            rank=80,
        ),
        Verb(
            "who",
            "look",
            "Say who asks for what now, or who had a memory written",
            (
                Param("address", "the memory", "address"),
                Param("--forget", "remove the name of a person; a typed yes is asked for", metavar="PERSON"),
            ),
            (
                ("memtui who", "turns that are executed and wait, and who spoke in 7 days"),
                ("memtui who memtui:global/preferences.md", "who had each version written"),
                ("memtui who --forget Ann", "records of what she did stay, and name nobody"),
            ),
            "",
            "one object: turns (as turn), spoke (name, via, channel, turns, last); with ADDRESS a list of versions: "
            "sha256, at, actor, turn; --forget: one object: forgotten",
            does="memtui.features.attribution.verbs:who",
            rank=125,
        ),
    ),
    gateways={f"turns/{act}": f"memtui.features.attribution.verbs:{act}_told" for act in ("request", "begin", "end")},
)
