"""What was asked before a call: read again from its place, masked; nothing of it is kept anywhere.

It is apart because it reads one line of a session for a person, and the rest here reads sessions for programs.
"""

from __future__ import annotations

import json
from hashlib import sha256

from memtui import markers
from memtui.engine.ledger.touches import PromptPlace
from memtui.mask import mask
from memtui.transcripts.event import USER, Log
from memtui.transcripts.follow import line_at
from memtui.transcripts.sessions import READERS

SHOWN = 200
"""Characters that are given at most."""


def digest(line: bytes, text: str) -> bytes:
    """Say which prompt of a line it is, and that the line is the same: a file may be one line with all of a session."""
    return sha256(sha256(line).digest() + text.encode("utf-8", "replace")).digest()


def prompt_at(agent: str, place: PromptPlace | None) -> str:
    """Read a prompt again; empty where it is gone, or another line stands there.

    Args:
        agent: a key of `READERS`.
        place: where it stood.
    """
    if place is None or agent not in READERS:
        return ""
    line = line_at(place.file, place.offset, place.length)
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return ""
    log = Log(place.file, whole=True)
    READERS[agent].read(log, record)
    prompts = (event.text for event in log.events() if event.role == USER and not event.meta)
    said = next((text for text in prompts if digest(line, text) == place.sha), "")
    return " ".join(mask(markers.cut(said).text).text.split())[:SHOWN]
