"""Words that people type in a chat, and what is answered there; no model reads them.

The gateway posts the reply and obeys the action. A reply is inert: it mentions nobody, and draws nothing.
"""

from __future__ import annotations

import re
import secrets
from typing import TYPE_CHECKING

from memtui.engine.model import Actor, Address
from memtui.errors import MemtuiError
from memtui.features.attribution.said import ChatReply, Word
from memtui.features.channels.room import FILE, append, entries_of, room_of
from memtui.features.feature import load
from memtui.features.remember.classify import checked
from memtui.mask import shown
from memtui.safe_text import visible

if TYPE_CHECKING:
    from collections.abc import Mapping

CLEAR = "clear_session"
LONGEST = 3_500
"""Characters of a reply."""
WAITS_MS = 60_000
"""For how long a code confirms something."""
WEEK_MS = 7 * 86_400_000
_WORD = re.compile(r"/([a-z]+)(?:\s+|$)")
_TABLE = "memtui.features.table:entries"
"""The table stands above all features, so it is named here and not imported."""


def say(word: Word) -> ChatReply:
    """Answer what was typed."""
    known: Mapping[str, str] = {name: place for one in load(_TABLE)().values() for name, place in one.chat.items()}
    found = _WORD.match(word.text.strip())
    if found is None or found[1] not in known:
        return ChatReply("That is not a command. There are: " + " ".join(f"/{name}" for name in sorted(known)))
    try:
        answer: ChatReply = load(known[found[1]])(word._replace(text=word.text.strip()[found.end() :].strip()))
    except MemtuiError as error:
        answer = ChatReply(f"{error.message} {error.hint}".strip())
    return ChatReply(inert(answer.reply), answer.action)


def inert(text: str) -> str:
    """Make a reply that mentions nobody, hides nothing, holds no secret and is no longer than a message."""
    text = visible(text, keep_newlines=True).replace("@", "＠").replace("<at", "‹at")
    return text if len(text) <= LONGEST else text[: LONGEST - 2] + " …"


def who(word: Word) -> ChatReply:
    """Say who executes, what waits, who spoke and what changed last."""
    engine, chat = word.session.engine, word.chat
    mine = [one for one in engine.turns.all(since=engine.turns.clock() - WEEK_MS, limit=2_000) if _is_of(one, word)]
    running = engine.turns.executing(word.agent_session, word.client) if word.agent_session else None
    waiting = sum(one.state == "requested" for one in mine)
    spoke = ", ".join(dict.fromkeys(one.who for one in mine)) or "nobody"
    file = entries_of(engine, room_of(word.session, chat))
    last = next(iter(engine.history.audit(address=Address(room_of(word.session, chat).id, FILE), limit=1)), None)
    lines = [
        f"Session: {word.agent_session or 'not said'}",
        f"Executing: {running.who if running else 'nothing'}",
        f"Waiting: {waiting}",
        f"Spoke in 7 days: {spoke}",
        f"Remembered: {len(file.entries) if file else 0}",
        f"Last change: {(last.who or last.actor) if last else 'none'}",
    ]
    return ChatReply("\n".join(lines))


def _is_of(turn: object, word: Word) -> bool:
    return tuple(getattr(turn, name) for name in ("channel", "chat", "thread")) == tuple(word.chat[:3])


def memory(word: Word) -> ChatReply:
    """List what the chat remembers."""
    file = entries_of(word.session.engine, room_of(word.session, word.chat))
    lines = [shown(file.text(one).decode("utf-8", "replace")) for one in file.entries] if file else []
    return ChatReply("\n".join(lines) or "Nothing is remembered here.")


def remember(word: Word) -> ChatReply:
    """Remember a text in the chat."""
    text = checked(word.text).text
    new = append(
        word.session.engine, room_of(word.session, word.chat), word.chat, text, actor=Actor(f"http:{word.client}")
    )
    return ChatReply("Remembered." if new else "That is known already.")


def audit(word: Word) -> ChatReply:
    """Show the last records of this chat."""
    journal = word.session.engine.journal
    records = journal.records(chat=(journal.chat(*word.chat[:3])["chat"],), limit=10)
    return ChatReply("\n".join(f"{one.n} {one.kind} {one.body}" for one in records) or "Nothing is recorded here.")


def clear(word: Word) -> ChatReply:
    """End the session that all share, or take the memory away: in a group once more, with a code."""
    chat, turns = word.chat, word.session.engine.turns
    if not word.allowed:
        return ChatReply("Only those may do that whom the settings allow for this channel.")
    what, _, code = word.text.partition(" ")
    if what != "confirm":
        wanted = what if what == "memory" else "session"
        if not chat.several:
            return _cleared(word, wanted)
        code = f"{secrets.randbelow(10**6):06}"
        turns.keep_asked(chat, wanted, word.person, code)
        said = "the memory of this chat goes to the trash" if wanted == "memory" else "the session of all here ends"
        return ChatReply(f"If you write /clear confirm {code} within a minute, {said}.")
    asked = turns.take_asked(chat, word.person)
    if asked is None:
        return ChatReply("Nothing waits for a confirmation of yours.")
    wanted, known, at = asked
    if turns.clock() - at > WAITS_MS:
        return ChatReply("That was more than a minute ago. Ask again.")
    if not secrets.compare_digest(known.encode(), code.strip().encode()):
        return ChatReply("That is not the code. Ask again.")
    return _cleared(word, wanted)


def _cleared(word: Word, wanted: str) -> ChatReply:
    if wanted == "session":
        return ChatReply("The session ends; what is remembered stays.", CLEAR)
    engine, root = word.session.engine, room_of(word.session, word.chat)
    if entries_of(engine, root) is None:
        return ChatReply("Nothing is remembered here.")
    engine.memories.delete([Address(root.id, FILE)], actor=Actor(f"http:{word.client}"))
    return ChatReply("The memory of this chat is in the trash, from where a person can restore it.")
