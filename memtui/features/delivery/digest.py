"""The digest: what changed, what waits and what failed, as names and counts; never what a memory says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from memtui.diff.hunks import hunks
from memtui.engine.model import MARKS, AuditRecord
from memtui.engine.task import FAILED
from memtui.errors import MemtuiError
from memtui.features.actors import who_words
from memtui.features.delivery.outbox import KIND
from memtui.features.feature import Feature, load
from memtui.ui.draw.words import count_words

if TYPE_CHECKING:
    from memtui.engine import Engine
    from memtui.engine.model import Address
    from memtui.wire.session import Session

SHOWN, LOOKED_AT = 40, 2_000
"""Memories that are named; records of the audit that are looked at."""


def digest(session: Session, since: int, *, notes: Sequence[str] = ()) -> str:
    """Say what happened since a time, in milliseconds; empty when nothing changed and nothing failed.

    Args:
        session: where to look.
        since: from when on.
        notes: what else whoever sends it has to say.

    Returns:
        Markdown. Names of memories are as they are: whoever sends it makes them harmless.
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
        for address, records in [*changed.items()][:SHOWN]:
            who = ", ".join(dict.fromkeys(who_words(one.actor, one.address.root) for one in records))
            lines.append(f"- {address}  {who}  {_lines(session.engine, records)}")
        if len(changed) > SHOWN:
            lines.append(f"- and {len(changed) - SHOWN:,} more")
    if failed:
        lines += ["**Failed**", *(f"- {task.client}: {task.kind}, {(task.error or ('',))[0]}" for task in failed[:10])]
        lines += [f"- and {len(failed) - 10} more"] * (len(failed) > 10)
    waits = [f"- {part}: {words}" for part, block in _blocks(session).items() if (words := _counts(block))]
    return "\n".join([*lines, *(["**How it is**", *waits] if waits else [])])


def _changed(engine: Engine, since: int) -> Mapping[Address, list[AuditRecord]]:
    found: dict[Address, list[AuditRecord]] = {}
    for record in engine.history.audit(since=since, limit=LOOKED_AT):
        if record.state == "done" and record.operation not in MARKS and record.before != record.after:
            found.setdefault(record.new_address or record.address, []).append(record)
    return found


def _lines(engine: Engine, records: Sequence[AuditRecord]) -> str:
    """Count lines that came and went between the oldest and the newest text: `+3 -1`; empty where one is gone."""
    old, new = records[-1], records[0]
    try:
        before = b"" if old.before is None else engine.history.read_audited(old.seq, old.before)
        after = b"" if new.after is None else engine.history.read_audited(new.seq, new.after)
    except MemtuiError:
        return ""  # it was pruned or redacted: the memory is named, its lines are not counted
    places = hunks(before, after)
    went, came = (sum(end - begin for begin, end in side) for side in zip(*places, strict=True)) if places else (0, 0)
    return f"+{came} -{went}"


def _blocks(session: Session) -> Mapping[str, Mapping[str, object]]:
    entries: Mapping[str, Feature] = load("memtui.features.table:entries")()
    return {name: load(each.status)(session) for name, each in entries.items() if each.status}


def _counts(block: Mapping[str, object]) -> str:
    """Of a block only numbers, and how long its lists are: words could be anybody's text."""
    counts = {name: len(one) if isinstance(one, (list, tuple)) else one for name, one in block.items()}
    return ", ".join(f"{name} {one}" for name, one in counts.items() if type(one) is int and one)
