"""Engine values to JSON, with the field names that scripts rely on.

The names are a contract: add fields, never rename one. Writing them in one place keeps two verbs, or two fronts, from
describing the same memory differently.
"""

from collections.abc import Iterable

from memtui.engine.model import (
    APPROVALS,
    SETTING,
    Address,
    AuditRecord,
    Change,
    Changes,
    Conflict,
    Done,
    Finding,
    Health,
    Hit,
    Memory,
    Notice,
    Outcome,
    Problem,
    RootStatus,
    Saved,
    Snapshot,
    TrashEntry,
    Unchanged,
    Version,
)
from memtui.wire.outcomes import Json, error_fields
from memtui.wire.times import rfc3339


def listing(items: Iterable[Json], *, truncated: bool = False) -> Json:
    """Wrap rows as every list is wrapped."""
    return {"items": list(items), "truncated": truncated}


def text_of(lines: Iterable[str]) -> str:
    """Join the lines of a diff, each with its line feed."""
    return "".join(f"{line}\n" for line in lines)


def when(ms: int | None) -> str | None:
    """Turn a time in milliseconds since the epoch into JSON."""
    return None if ms is None else rfc3339(ms)


def _text(address: Address | None) -> str | None:
    return None if address is None else str(address)


def problem(value: Problem) -> Json:
    """Turn a problem into JSON."""
    return {"code": value.code, "text": value.text}


def memory(row: Memory) -> Json:
    """Turn a memory row into JSON."""
    return {
        "address": str(row.address),
        "scope": row.scope,
        "agent": row.agent,
        "root": row.address.root,
        "path": row.address.path,
        "bytes": row.bytes,
        "modified_at": rfc3339(row.modified_at),
        "sha256": row.sha256,
        "description": row.description,
        "pinned": row.pinned,
        "uses": row.uses,
        "heat": round(row.heat, 3),
        "last_used_at": when(row.last_used_at),
        "last_written_at": when(row.last_written_at),
        "unseen": row.unseen,
        "actor": row.actor,
        "version": row.version,
        "missing": row.missing,
        "trust": row.trust or None,
        "problems": [problem(each) for each in row.problems],
    }


def root(status: RootStatus) -> Json:
    """Turn a root as it was found into JSON."""
    value = status.root
    return {
        "id": value.id,
        "agent": value.agent,
        "scope": value.scope,
        "label": value.label,
        "path": value.path,
        "files": status.files,
        "bytes": status.bytes,
        "writable": status.writable,
        "exists": status.exists,
        "accepted": status.accepted,
        "in_checkout": value.in_checkout,
        "truncated": status.truncated,
        "aliases": list(value.aliases),
        "project": value.project,
        "kind": value.kind,
        "note": value.note,
        "switched_off": value.switched_off,
        "problems": [problem(each) for each in status.problems],
    }


def version(value: Version) -> Json:
    """Turn a version into JSON."""
    return {
        "sha256": value.sha256,
        "bytes": value.bytes,
        "actor": value.actor,
        "at": rfc3339(value.at),
        "operation": value.operation,
        "redacted": value.redacted,
        "note": value.note,
    }


def change(value: Change) -> Json:
    """Turn a change into JSON."""
    return {
        "address": str(value.address),
        "kind": value.kind,
        "actor": value.actor,
        "before": value.before,
        "after": value.after,
        "at": rfc3339(value.at),
        "old_address": _text(value.old_address),
    }


def notice(value: Notice) -> Json:
    """Turn a notice into JSON."""
    return {
        "kind": value.kind,
        "text": value.text,
        "address": _text(value.address),
        "base": value.base,
        "yours": value.yours,
        "theirs": value.theirs,
        "at": rfc3339(value.at),
    }


def health(value: Health | None) -> Json | None:
    """Turn the state of a watch into JSON."""
    return None if value is None else {"state": value.state, "reason": value.reason}


def changes(batch: Changes) -> Json:
    """Turn one batch of a watch into JSON."""
    return {
        "changes": [change(each) for each in batch.changes],
        "touched": sorted(str(address) for address in batch.touched),
        "roots": sorted(batch.roots),
        "notices": [notice(each) for each in batch.notices],
        "health": health(batch.health),
    }


def content(snapshot: Snapshot) -> Json:
    """Turn one read of a memory into JSON."""
    fields: Json = {
        "address": str(snapshot.address),
        "sha256": snapshot.sha256,
        "bytes": snapshot.size,
        "modified_at": rfc3339(snapshot.modified_at),
        "settled": snapshot.settled,
    }
    return fields | text_or_base64(snapshot.bytes)


def text_or_base64(data: bytes) -> Json:
    """Give content as `text` when it is UTF-8; else `text` is null and `base64` holds the bytes."""
    try:
        return {"text": data.decode()}
    except UnicodeDecodeError:
        from binascii import b2a_base64

        return {"text": None, "base64": b2a_base64(data, newline=False).decode("ascii")}


def result(value: Saved | Unchanged | Conflict) -> Json:
    """Turn the outcome of a guarded save into JSON."""
    if isinstance(value, Saved):
        return {
            "result": "saved",
            "address": str(value.address),
            "sha256": value.sha256,
            "before": value.before,
            "txn": value.txn,
        }
    if isinstance(value, Unchanged):
        return {"result": "unchanged", "address": str(value.address), "sha256": value.sha256}
    return {"result": "conflict", "address": str(value.address), **conflict_details(value)}


def conflict_details(value: Conflict) -> dict[str, str | int | float | bool | None]:
    """Give the versions a conflict is about, as an error's details."""
    return {
        "current_sha256": value.current_sha256,
        "expected_sha256": value.expected_sha256,
        "yours_sha256": value.yours_sha256,
        "txn": value.txn,
    }


def outcome(value: Outcome) -> Json:
    """Turn what an operation did to one memory into JSON."""
    fields: Json = {
        "address": str(value.address),
        "ok": value.ok,
        "new_address": _text(value.new_address),
        "result": None,
        "sha256": None,
        "error": None if value.error is None else error_fields(value.error),
    }
    if value.result is not None:
        fields.update(result(value.result))
        fields["address"] = str(value.address)
    return fields


def done(value: Done) -> Json:
    """Turn a finished operation into JSON."""
    return {
        "txn": value.txn,
        "operation": value.operation,
        "label": value.label,
        "left": value.left,
        "also": value.also,
        "items": [outcome(each) for each in value.outcomes],
        "truncated": False,
    }


def _kind(operation: str) -> str:
    if operation == SETTING:
        return SETTING
    return "approval" if operation in APPROVALS else "change"


def audit(record: AuditRecord) -> Json:
    """Turn an audit record into JSON."""
    return {
        "seq": record.seq,
        "txn": record.txn,
        "address": str(record.address),
        "new_address": _text(record.new_address),
        "actor": record.actor,
        "operation": record.operation,
        "kind": _kind(record.operation),
        "before": record.before,
        "after": record.after,
        "at": rfc3339(record.at),
        "state": record.state,
        "note": record.note,
        "who": record.who or None,
    }


def trash(entry: TrashEntry) -> Json:
    """Turn a deleted memory into JSON."""
    return {
        "address": str(entry.address),
        "sha256": entry.sha256,
        "bytes": entry.bytes,
        "actor": entry.actor,
        "at": rfc3339(entry.at),
        "txn": entry.txn,
    }


def hit(value: Hit) -> Json:
    """Turn a search result into JSON: the memory's row, and where it matched."""
    match = {
        "field": value.field,
        "line": value.line,
        "snippet": value.snippet,
        "column": value.column,
        "marks": [list(mark) for mark in value.marks],
        "places": value.places,
    }
    row = memory(value.memory) | {"match": match}
    return row if value.version is None else row | {"found_in": version(value.version)}


def finding(value: Finding) -> Json:
    """Turn one line of the doctor's report into JSON."""
    return {"level": value.level, "topic": value.topic, "text": value.text, "advice": value.advice}
