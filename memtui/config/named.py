"""Settings that are tables with names of the user's own: jobs, deliveries, budgets, channels.

This is what they may hold; `named_check.py` checks it, and is loaded only where there is such a table.
"""

from collections.abc import Mapping
from typing import NamedTuple

NamedValue = str | int | bool | tuple[str, ...]


class NamedKey(NamedTuple):
    """One key of a named table."""

    key: str
    text: str
    """One sentence."""
    kind: str = "text"
    """`text`, `texts`, `number`, `yes/no`, `secret` (where a secret is), `url`, `zone`, `host` or `hours`."""
    needed: bool = False
    choices: tuple[str, ...] = ()


_ZONE = "The time zone, such as `Europe/Berlin`; that of the machine otherwise."
NAMED: Mapping[str, tuple[str, tuple[NamedKey, ...]]] = {
    "jobs": (
        "A table for each job a schedule may run: a program of yours, never one that a chat or an agent names.",
        (
            NamedKey("argv", "The program and its arguments; no shell reads them.", "texts", needed=True),
            NamedKey("cwd", "The folder it runs in, an absolute path.", needed=True),
        ),
    ),
    "delivery": (
        "A table for each place that messages go to; only those that are named here can be sent to.",
        (
            NamedKey("kind", "Whose interface it is.", needed=True, choices=("dingtalk", "feishu", "webhook")),
            NamedKey("channel", "The channel it speaks into, a name below `[channels]`; needed but for `webhook`."),
            NamedKey("to", "The conversation: DingTalk's `openConversationId` or chat id, Feishu's `chat_id`."),
            NamedKey("app", "The app's id (DingTalk's client id); needed but for `webhook`."),
            NamedKey("secret", "Where the app's or the webhook's secret is: `env:NAME` or `file:PATH`.", "secret"),
            NamedKey(
                "url", "The webhook's address, or of an app the interface's; `env:NAME` for one with a token.", "url"
            ),
            NamedKey("cool_app", "DingTalk's `coolAppCode`, for an app that came into the group that way."),
        ),
    ),
    "channels": (
        "A table for each channel, by the name its gateway has for it.",
        (
            NamedKey("speak", "Whether memtui may send messages there of its own accord.", "yes/no"),
            NamedKey("quiet", "Hours in which nothing is sent there, such as `22:00-07:00`.", "hours"),
            NamedKey("zone", _ZONE, "zone"),
            NamedKey("allowed", "The people whose word counts there, by the ids of the gateway.", "texts"),
            NamedKey("job", "The job that gets the text of schedules made in the chat, a name below `[jobs]`."),
            NamedKey(
                "schedule",
                "Whether a schedule from the chat waits for you, or those of `allowed` make them at once.",
                choices=("review", "allowed"),
            ),
        ),
    ),
    "approvals": (
        "A table for each rule about who agrees to what is proposed, beside you; the first that fits counts.",
        (
            NamedKey(
                "of",
                "Who votes: `CHANNEL:ID` or `GATEWAY:ID` (no `:` in it) for a person, `chat:CHANNEL` for anyone, "
                "`team:LOGIN` for a member of `[team]`, `me` for you: `a` and `r` in Review are then one vote.",
                "texts",
                needed=True,
            ),
            NamedKey("need", "How many of them have to agree; one otherwise.", "number"),
            NamedKey("majority", "More than half of them have to agree.", "yes/no"),
            NamedKey("what", "What it is about: `proposal`, `delete`, `channel`, `instructions`; else all.", "texts"),
            NamedKey("roots", "Only proposals about these roots, with `*` for any letters.", "texts"),
            NamedKey("hours", "For how long they may vote; 24 otherwise.", "number"),
        ),
    ),
    "gateways": (
        "A table for each gateway, by the client id it has over HTTP: a program that hosts agents in chats.",
        (
            NamedKey(
                "channels",
                'The channels it may speak for: who asked there, and what they typed; `"*"`: all.',
                "texts",
                needed=True,
            ),
        ),
    ),
    "hosts": (
        "A table for each other machine, for the option `--on NAME`; without a key it is reached by `ssh NAME`.",
        (
            NamedKey("ssh", "What ssh calls it, such as `ann@build`; the table's name otherwise.", "host"),
            NamedKey("argv", "A program that runs there what is added to it, instead of ssh.", "texts"),
            NamedKey("command", 'How memtui is started there; `["memtui"]` otherwise.', "texts"),
            NamedKey("project", "The project there, an absolute path."),
        ),
    ),
    "budgets": (
        "A table for each limit: `channel:NAME` or `channel:*`, `jobs`, or `org` for all together.",
        (
            NamedKey("limit", "How much in a window.", "number", needed=True),
            NamedKey("unit", "What is counted.", needed=True, choices=("tokens",)),
            NamedKey("alert", "The delivery that is told when 75 and 95 per cent are spent."),
            NamedKey("window", "From midnight or from the first of the month.", needed=True, choices=("day", "month")),
            NamedKey("zone", _ZONE, "zone"),
            NamedKey("team", "Whether it is one for the team of `[team]`, as `org` is where there is one.", "yes/no"),
        ),
    ),
}
"""The tables: what each is, and the keys of its entries."""


class NamedEntry(NamedTuple):
    """One entry, such as `[jobs.standup]`."""

    table: str
    name: str
    values: tuple[tuple[str, NamedValue], ...] = ()

    def text(self, key: str, otherwise: str = "") -> str:
        """Return a text."""
        found = dict(self.values).get(key, otherwise)
        return found if isinstance(found, str) else otherwise

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list; empty when it is not set."""
        found = dict(self.values).get(key, ())
        return found if isinstance(found, tuple) else ()

    def number(self, key: str) -> int:
        """Return a number; 0 when it is not set."""
        found = dict(self.values).get(key, 0)
        return found if isinstance(found, int) else 0

    def flag(self, key: str) -> bool:
        """Return a yes/no value."""
        return dict(self.values).get(key) is True
