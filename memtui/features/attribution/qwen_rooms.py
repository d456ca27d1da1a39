"""Sessions of Qwen Code's channel host and their chats, read from its `sessions.json`.

Source: `@qwen-code/channel-base` 0.23.4, `SessionRouter`: routes with `sessionId` and `target` (`channelName`,
`senderId`, `chatId`, `threadId`, `isGroup`). A clean exit removes the file, so its content is kept here.
"""

from __future__ import annotations

import json
import os
from typing import NamedTuple

from memtui.agents.known.qwen_code import OWN
from memtui.config.smallfile import read_small
from memtui.config.surroundings import Surroundings
from memtui.engine import Engine
from memtui.engine.ledger.turns import Chat
from memtui.errors import RefusedError
from memtui.features.attribution.chat import chat_of, checked_id

VIA = "qwen"
_MOST = 1_000


class QwenRoom(NamedTuple):
    """A session and the chat it belongs to."""

    session: str
    sender: str
    chat: Chat


def rooms(surroundings: Surroundings) -> tuple[QwenRoom, ...]:
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
    found = rooms(surroundings)
    for room in found:
        known = engine.turns.read_session(room.session)
        if known is None or known[0] != VIA:
            engine.turns.keep_session(room.session, VIA, room.sender, room.chat)
    return frozenset(room.session for room in found)
