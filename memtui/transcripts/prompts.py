"""Reading the prompt before a call again from its place, masked; nothing is stored.

It is apart because it reads one line for a person; the other modules read sessions for programs.
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


def digest(line: bytes, text: str) -> bytes:
    """Return a digest of a line and one of its prompts, because a line may hold a whole session."""
    return sha256(sha256(line).digest() + text.encode("utf-8", "replace")).digest()


def prompt_at(agent: str, place: PromptPlace | None) -> str:
    """Return a prompt again; empty when it is gone. `agent` is a key of `READERS`."""
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
