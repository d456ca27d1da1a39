"""Entries of a memory to JSON, with the field names that scripts rely on."""

from memtui.engine.model import Snapshot
from memtui.features.entries.fullness import Usage
from memtui.features.entries.model import Entry, EntryFile
from memtui.wire.outcomes import Json
from memtui.wire.values import listing, text_or_base64


def entry(value: Entry) -> Json:
    """Turn an entry into JSON, without its text."""
    return {
        "number": value.number,
        "name": value.name,
        "line": value.line,
        "bytes": value.size,
        "sha256": value.sha256,
        "title": value.title,
        "tags": list(value.tags),
    }


def entries(snapshot: Snapshot, file: EntryFile, used: Usage) -> Json:
    """Turn a file of entries into JSON."""
    return listing(map(entry, file.entries)) | {
        "address": str(snapshot.address),
        "sha256": snapshot.sha256,
        "format": file.format,
        "characters": used.characters,
        "limit": used.limit,
        "notes": list(file.notes),
    }


def whole(snapshot: Snapshot, value: Entry, text: bytes) -> Json:
    """Turn one entry with its text into JSON."""
    return {"address": str(snapshot.address)} | entry(value) | text_or_base64(text)
