"""Engine values as JSON, with field names that scripts rely on: fields may be added, never renamed."""

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


def plain_fields(value: object, names: str) -> Json:
    """Read named attributes as JSON: an address as text, `at` and `*_at` as RFC 3339."""
    return {name: _plain(name, getattr(value, name)) for name in names.split()}


def _plain(name: str, value: object) -> object:
    if isinstance(value, Address):
        return str(value)
    return rfc3339(value) if isinstance(value, int) and (name == "at" or name.endswith("_at")) else value


def problem(value: Problem) -> Json:
    """Turn a problem into JSON."""
    return plain_fields(value, "code text")


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
    return {
        **plain_fields(status.root, "id agent scope label path"),
        **plain_fields(status, "files bytes writable exists accepted"),
        "in_checkout": status.root.in_checkout,
        "truncated": status.truncated,
        "aliases": list(status.root.aliases),
        **plain_fields(status.root, "project kind note switched_off"),
        "problems": [problem(each) for each in status.problems],
    }


def version(value: Version) -> Json:
    """Turn a version into JSON."""
    return plain_fields(value, "sha256 bytes actor at operation redacted note")


def change(value: Change) -> Json:
    """Turn a change into JSON."""
    return plain_fields(value, "address kind actor before after at old_address")


def notice(value: Notice) -> Json:
    """Turn a notice into JSON."""
    return plain_fields(value, "kind text address base yours theirs at")


def health(value: Health | None) -> Json | None:
    """Turn the state of a watch into JSON."""
    return None if value is None else plain_fields(value, "state reason")


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
    sizes: Json = {"bytes": snapshot.size}
    fields = plain_fields(snapshot, "address sha256") | sizes | plain_fields(snapshot, "modified_at settled")
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
        return {"result": "saved", **plain_fields(value, "address sha256 before txn")}
    if isinstance(value, Unchanged):
        return {"result": "unchanged", **plain_fields(value, "address sha256")}
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
        **plain_fields(value, "address ok new_address"),
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
    items = [outcome(each) for each in value.outcomes]
    return {**plain_fields(value, "txn operation label left also"), "items": items, "truncated": False}


def audit(record: AuditRecord) -> Json:
    """Turn an audit record into JSON."""
    operation = record.operation
    return {
        **plain_fields(record, "seq txn address new_address actor operation"),
        "kind": SETTING if operation == SETTING else "approval" if operation in APPROVALS else "change",
        **plain_fields(record, "before after at state note"),
        "who": record.who or None,
    }


def trash(entry: TrashEntry) -> Json:
    """Turn a deleted memory into JSON."""
    return plain_fields(entry, "address sha256 bytes actor at txn")


def hit(value: Hit) -> Json:
    """Turn a search result into JSON: the memory's row, and where it matched."""
    marks = [list(mark) for mark in value.marks]
    match = plain_fields(value, "field line snippet column") | {"marks": marks, "places": value.places}
    row = memory(value.memory) | {"match": match}
    return row if value.version is None else row | {"found_in": version(value.version)}


def finding(value: Finding) -> Json:
    """Turn one line of the doctor's report into JSON."""
    return plain_fields(value, "level topic text advice")
