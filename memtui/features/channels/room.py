"""The memory of one chat: its place, its entries, and adding one.

Folder names follow Qwen Code's `channels/memory/<key>/CHANNEL.json`.
"""

from __future__ import annotations

import json
import re
import unicodedata
from hashlib import sha256
from typing import TYPE_CHECKING

from memtui.agents.known.memtui_native import room_root
from memtui.engine.model import Actor, Address, Conflict
from memtui.errors import ConflictError, MemtuiError, NotFoundError, RefusedError
from memtui.features.attribution import qwen_rooms
from memtui.features.entries import model
from memtui.features.entries.model import EntryFile, parse
from memtui.mask import KEY_HEAD

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memtui.config.settings import Settings
    from memtui.config.surroundings import Surroundings
    from memtui.engine import Engine
    from memtui.engine.ledger.turns import Chat
    from memtui.engine.model import Root
    from memtui.wire.session import Session

FILE, FORMAT = "CHANNEL.md", "remembered"
QWEN_FILE, QWEN = "channel/chat/CHANNEL.json", "qwen-room"
"""Qwen Code's chat file as layouts name it, and its format."""
MAX_CHARS, MAX_ENTRIES = 2_000, 500
"""Code points of an entry; entries of a chat."""
TRIES = 8
_SLUG = 20


def path_parts(chat: Chat) -> tuple[str, str, str]:
    """Return the parts of a chat's path: a readable slug, the channel's hash, the hash of chat and thread."""
    slug = re.sub(r"[^A-Za-z0-9_.-]", "_", chat.channel)[:_SLUG]
    slug = "_" * len(slug) if slug in (".", "..") else slug
    return slug, _sha(chat.channel)[:16], _sha(f"{chat.chat}\0{chat.thread}")[:32]


def _sha(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def qwen_names(engine: Engine, surroundings: Surroundings, roots: Iterable[Root]) -> dict[tuple[str, ...], str]:
    """Return display names for the hashed folders of Qwen Code's chats, by root and path."""
    rooms = [root.id for root in roots if root.policy.format_of(QWEN_FILE) == QWEN]
    chats = (*engine.turns.chats(), *(room.chat for room in qwen_rooms.rooms(surroundings))) if rooms else ()
    found: dict[tuple[str, ...], str] = {}
    for chat in chats:
        slug, channel, key = path_parts(chat)
        folder, words = f"{slug}-{channel}", f"{chat.chat} {chat.thread}".strip()
        for root_id in rooms:
            found[root_id, folder], found[root_id, f"{folder}/{key}"] = chat.channel, words
    return found


def room_path(settings: Settings, chat: Chat) -> str:
    """Return the folder of a chat for a client restricted to it.

    Raises RefusedError: `E_ACCESS`: no gateway of the user's speaks in that channel.
    """
    spoken = {name for one in settings.named if one.table == "gateways" for name in one.texts("channels")}
    if not spoken & {chat.channel, "*"}:
        raise RefusedError("No gateway may speak for that channel.", code="E_ACCESS")
    return _root(settings, chat).path


def _root(settings: Settings, chat: Chat) -> Root:
    return room_root(settings.data_dir, *path_parts(chat))


def room_of(session: Session, chat: Chat) -> Root:
    """Return the root of a chat and add it to the session's engine; its folder may be missing."""
    root = _root(session.settings, chat)
    known = next((one for one in session.engine.roots.all() if one.path == root.path), None)
    if known is None:
        session.engine.roots.add([root])
    return known or root


def entries_of(engine: Engine, root: Root) -> EntryFile | None:
    """Return the entries of a chat; None when nothing was remembered yet."""
    try:
        return parse(engine.read(Address(root.id, FILE)).bytes, FORMAT)
    except NotFoundError:
        return None


def append(engine: Engine, root: Root, chat: Chat, text: str, *, actor: Actor) -> bool:
    """Add a text to a chat's memory as one entry; return False when it is known, ignoring case and width.

    Raises:
        RefusedError: `E_TOO_BIG`, `E_TOO_MANY`, `E_SECRET`, and what a save refuses.
        ConflictError: other writers kept changing the file.
    """
    line = " ".join(text.split())
    if len(line) > MAX_CHARS:
        said = f"The entry has {len(line):,} characters, and may have {MAX_CHARS:,}."
        raise RefusedError(said, code="E_TOO_BIG", hint="Say it shorter.")
    if re.search(KEY_HEAD, line):
        raise RefusedError(
            "The entry begins a private key, which would hide all entries behind it.",
            code="E_SECRET",
            hint="Say where the secret is kept, not what it is.",
        )
    address, entry = Address(root.id, FILE), f"- {line}".encode()
    for _ in range(TRIES):
        try:
            if entries_of(engine, root) is None:
                engine.memories.create(address, _new_file(chat) + entry + b"\n", actor=actor)
                return True
            result = engine.memories.edit(address, lambda data: _with_entry(data, entry), actor=actor)
        except _KnownError:
            return False
        except MemtuiError as error:
            if error.code not in ("E_EXISTS", "E_NOT_FOUND"):
                raise
            continue  # somebody made it, or took it away, meanwhile
        if not isinstance(result, Conflict):
            return True
    raise ConflictError("Somebody else wrote the memory of this chat again and again.", hint="Try again.")


class _KnownError(Exception):
    """The entry exists already."""


def _with_entry(data: bytes, entry: bytes) -> bytes:
    file = parse(data, FORMAT)
    if _normalized(entry) in {_normalized(file.text(one)) for one in file.entries}:
        raise _KnownError
    if len(file.entries) >= MAX_ENTRIES:
        raise RefusedError(
            f"The chat has {MAX_ENTRIES} entries already.",
            code="E_TOO_MANY",
            hint="Take out what is no longer so: memtui entries, or /clear memory in the chat.",
        )
    return model.with_added(file, entry)


def _normalized(entry: bytes) -> str:
    text = unicodedata.normalize("NFKC", entry.decode("utf-8", "replace")).casefold()
    return " ".join(text.lstrip("-*+ ").split())


def _new_file(chat: Chat) -> bytes:
    thread = f"thread: {json.dumps(chat.thread)}\n" if chat.thread else ""
    fields = f"name: {json.dumps(chat.channel)}\nchannel: {json.dumps(chat.channel)}\nchat: {json.dumps(chat.chat)}\n"
    return f"---\n{fields}{thread}---\n\n## Remembered\n\n".encode()
