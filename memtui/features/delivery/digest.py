"""The digest: what changed, waits and failed, as names and counts; never the text of a memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memtui.diff.hunks import hunks
from memtui.engine import Engine
from memtui.engine.model import MARKS, Address, AuditRecord
from memtui.engine.task import FAILED
from memtui.errors import MemtuiError
from memtui.features.actors import who_words
from memtui.features.delivery.outbox import KIND
from memtui.features.feature import Feature, load
from memtui.ui.draw.words import count_words
from memtui.wire.session import Session

MAX_NAMED, MAX_RECORDS = 40, 2_000
"""Limits for memories that are named, and for audit records that are read."""


def digest(session: Session, since: int, *, notes: Sequence[str] = ()) -> str:
    """Write the digest since a time in milliseconds, as Markdown, below `notes`; empty when there is nothing to say.

    Names of memories are not escaped: the outbox defuses the text.
    """
    changed = _changed(session.engine, since)
    failed = [
        task
        for task in session.engine.tasks.all(None, (FAILED,))
        if task.updated >= since and task.kind in (KIND, "scheduled")
    ]
    if not changed and not failed and not notes:
        return ""
    lines = [*notes]
    if changed:
        lines += [f"**{count_words(len(changed), 'memory')} changed**"]
        for address, records in [*changed.items()][:MAX_NAMED]:
            who = ", ".join(dict.fromkeys(who_words(one.actor, one.address.root) for one in records))
            lines.append(f"- {address}  {who}  {_lines(session.engine, records)}")
        if len(changed) > MAX_NAMED:
            lines.append(f"- and {len(changed) - MAX_NAMED:,} more")
    if failed:
        lines += ["**Failed**", *(f"- {task.client}: {task.kind}, {(task.error or ('',))[0]}" for task in failed[:10])]
        lines += [f"- and {len(failed) - 10} more"] * (len(failed) > 10)
    entries: Mapping[str, Feature] = load("memtui.features.table:entries")()
    blocks = {name: load(each.status)(session) for name, each in entries.items() if each.status}
    waits = [f"- {part}: {words}" for part, block in blocks.items() if (words := _counts(block))]
    return "\n".join([*lines, *(["**How it is**", *waits] if waits else [])])


def _changed(engine: Engine, since: int) -> Mapping[Address, list[AuditRecord]]:
    found: dict[Address, list[AuditRecord]] = {}
    for record in engine.history.audit(since=since, limit=MAX_RECORDS):
        if record.state == "done" and record.operation not in MARKS and record.before != record.after:
            found.setdefault(record.new_address or record.address, []).append(record)
    return found


def _lines(engine: Engine, records: Sequence[AuditRecord]) -> str:
    """Count added and removed lines between the oldest and the newest text: `+3 -1`; empty where one is gone."""
    old, new = records[-1], records[0]
    try:
        before = b"" if old.before is None else engine.history.read_audited(old.seq, old.before)
        after = b"" if new.after is None else engine.history.read_audited(new.seq, new.after)
    except MemtuiError:
        return ""  # pruned or redacted
    places = hunks(before, after)
    went, came = (sum(end - begin for begin, end in side) for side in zip(*places, strict=True)) if places else (0, 0)
    return f"+{came} -{went}"


def _counts(block: Mapping[str, object]) -> str:
    """Summarize a status block by numbers alone, because its words could be anybody's text."""
    counts = {name: len(one) if isinstance(one, (list, tuple)) else one for name, one in block.items()}
    return ", ".join(f"{name} {one}" for name, one in counts.items() if type(one) is int and one)
