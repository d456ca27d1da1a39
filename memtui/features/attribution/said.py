"""What a gateway says of a chat, a session and a person: checked, and never believed to be more than a claim.

It is apart because every door that takes such words takes them by these rules.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, NamedTuple

from memtui.engine.ledger.turns import Chat
from memtui.errors import RefusedError

if TYPE_CHECKING:
    from memtui.config.settings import Settings
    from memtui.wire.session import Session

UNKNOWN = "unknown"
NAME = 64
"""Code points of a name in a marker, as Qwen Code's channel host cuts it (`channel-base`, `sanitizeSenderName`)."""
_LONGEST = {"channel": 1_000, "chat": 1_000, "thread": 1_000, "session": 256, "person": 256}
_HEAD = re.compile(r"\[([^\[\]\n]{1,64})\] ")
_LOOP = re.compile(r'\[Loop "([^"\n]{0,200})" created by ([^\[\]\n]{1,64})\] ')


class Word(NamedTuple):
    """What somebody typed in a chat, for what answers it (`Feature.chat`)."""

    session: Session
    settings: Settings
    client: str
    """The gateway."""
    chat: Chat
    person: str
    """The gateway's id of them; empty: nobody is named."""
    name: str
    agent_session: str
    text: str
    """Behind the word."""
    allowed: bool
    """Whether the settings let this person do what is not for everybody there."""
    listed: bool
    """Whether the settings name this person."""


class ChatReply(NamedTuple):
    """What is posted in the chat, and what the gateway does."""

    reply: str
    action: str = ""


def named(what: str, text: str, *, needed: bool = True) -> str:
    """Check a channel, chat, thread, session or person.

    Raises:
        RefusedError: `E_NAME`: it is empty, a URL, too long, or has a control character.
    """
    wrong = ""
    if not text and needed:
        wrong = "is empty"
    elif len(text.encode("utf-8", "surrogatepass")) > _LONGEST[what]:
        wrong = f"has more than {_LONGEST[what]:,} bytes"
    elif any(unicodedata.category(letter) in ("Cc", "Cs", "Zl", "Zp") for letter in text):
        wrong = "has a control character"
    elif "://" in text:
        wrong = "is a URL"
    if wrong:
        raise RefusedError(
            f"The {what} {wrong}.",
            code="E_NAME",
            unharmed="Nothing was made.",
            hint="Give the id that the gateway has.",
        )
    return text


def chat_of(channel: str, chat: str, thread: str = "", *, several: bool = True) -> Chat:
    """Check the names of a chat; raises as `named`."""
    return Chat(named("channel", channel), named("chat", chat), named("thread", thread, needed=False), several)


def plain_name(name: str, otherwise: str = "") -> str:
    """Make a name that cannot be taken for more than one, nor for none: without brackets, controls or overrides."""
    for text in (name, otherwise):
        signs = ("[", "]")
        kept = (
            " " if one in signs or unicodedata.category(one) in ("Cc", "Cf", "Cs", "Zl", "Zp") else one for one in text
        )
        if found := "".join(kept)[:NAME].strip():
            return found
    return UNKNOWN


def marker(chat: Chat | None, name: str) -> str:
    """What stands before a prompt, so that the agent knows who speaks; nothing where only one can."""
    return f"[{name or UNKNOWN}] " if chat is None or chat.several else ""


def speaker(text: str) -> tuple[str, str]:
    """Who speaks in a prompt of a group, by its head, and the loop that speaks for them; empty where it names none."""
    if (loop := _LOOP.match(text)) is not None:
        return plain_name(loop[2]), loop[1]
    head = _HEAD.match(text)
    found = plain_name(head[1]) if head is not None else ""
    return ("" if found == UNKNOWN else found), ""
