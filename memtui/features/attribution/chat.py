"""What gateways claim about chats, sessions and persons: validated, and never trusted as more than a claim.

Sessions of Qwen Code's channel host and their chats are read from its `sessions.json`. Source:
`@qwen-code/channel-base` 0.23.4, `SessionRouter`: routes with `sessionId` and `target` (`channelName`, `senderId`,
`chatId`, `threadId`, `isGroup`). A clean exit removes the file, so its content is kept here.
"""

from __future__ import annotations

import json
import os
import re
import unicodedata
from typing import TYPE_CHECKING, NamedTuple

from memtui.agents.known.qwen_code import OWN
from memtui.config.smallfile import read_small
from memtui.config.surroundings import Surroundings
from memtui.engine import Engine
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


class ChatCommand(NamedTuple):
    """A command typed in a chat, as the handlers in `Feature.chat` get it."""

    session: Session
    settings: Settings
    client: str
    """The gateway."""
    chat: Chat
    person: str
    """The gateway's id; empty where nobody is named."""
    name: str
    agent_session: str
    text: str
    """The rest of the line."""
    allowed: bool
    """Whether the settings allow this person what is not open to everybody there."""
    listed: bool
    """Whether the settings name this person."""


class ChatReply(NamedTuple):
    """The reply to post in the chat, and an action for the gateway."""

    reply: str
    action: str = ""


def checked_id(what: str, text: str, *, needed: bool = True) -> str:
    """Validate the id of a channel, chat, thread, session or person.

    Raises RefusedError: `E_NAME`: it is empty, a URL, too long, or has a control character.
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
    """Validate the names of a chat; raises as `checked_id`."""
    return Chat(
        checked_id("channel", channel), checked_id("chat", chat), checked_id("thread", thread, needed=False), several
    )


def plain_name(name: str, otherwise: str = "") -> str:
    """Make a name unambiguous: without brackets, control characters or overrides, else the alternative or `unknown`."""
    for text in (name, otherwise):
        signs = ("[", "]")
        kept = (
            " " if one in signs or unicodedata.category(one) in ("Cc", "Cf", "Cs", "Zl", "Zp") else one for one in text
        )
        if found := "".join(kept)[:NAME].strip():
            return found
    return UNKNOWN


def marker(chat: Chat | None, name: str) -> str:
    """Return the speaker marker before a prompt; empty where only one person can speak."""
    return f"[{name or UNKNOWN}] " if chat is None or chat.several else ""


def speaker(text: str) -> tuple[str, str]:
    """Return the speaker named at the head of a group's prompt, and the label of a loop; else empty."""
    if (loop := _LOOP.match(text)) is not None:
        return plain_name(loop[2]), loop[1]
    head = _HEAD.match(text)
    found = plain_name(head[1]) if head is not None else ""
    return ("" if found == UNKNOWN else found), ""


VIA = "qwen"
_MOST = 1_000


class QwenRoom(NamedTuple):
    """A session and the chat it belongs to."""

    session: str
    sender: str
    chat: Chat


def qwen_rooms(surroundings: Surroundings) -> tuple[QwenRoom, ...]:
    """Read the file; skip invalid routes, and return nothing for an invalid file."""
    home = OWN.folder(surroundings)
    if home is None:
        return ()
    try:
        found = json.loads(read_small(os.path.join(home, "channels", "sessions.json")) or b"{}")
    except (OSError, ValueError, RecursionError):
        return ()  # it is being written, or is no file of the host's
    entries = list(found.values()) if isinstance(found, dict) else []
    return tuple(room for one in entries[:_MOST] if (room := _room(one)) is not None)


def _room(entry: object) -> QwenRoom | None:
    fields = entry if isinstance(entry, dict) else {}
    target = fields.get("target") if isinstance(fields.get("target"), dict) else {}
    assert isinstance(target, dict)
    texts = [fields.get("sessionId"), *(target.get(name, "") for name in ("senderId", "channelName", "chatId"))]
    thread = target.get("threadId") or ""
    if not all(isinstance(one, str) for one in (*texts, thread)):
        return None
    session, sender, channel, chat = map(str, texts)
    try:
        several = target.get("isGroup") is True
        return QwenRoom(
            checked_id("session", session),
            checked_id("person", sender),
            chat_of(channel, chat, thread, several=several),
        )
    except RefusedError:
        return None


def keep_rooms(engine: Engine, surroundings: Surroundings) -> frozenset[str]:
    """Store the chat of each session; return the sessions that the file names now."""
    found = qwen_rooms(surroundings)
    for room in found:
        known = engine.turns.read_session(room.session)
        if known is None or known[0] != VIA:
            engine.turns.keep_session(room.session, VIA, room.sender, room.chat)
    return frozenset(room.session for room in found)
