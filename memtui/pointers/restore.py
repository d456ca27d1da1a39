"""Memories that come back from the trash, and with them the entries that indexes lost when they were deleted.

It is the way back of `carrying.trash`, in the same step of undo. The memory comes first and stands whatever becomes of
its entry; an index that names it already, or is not there any more, is left as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from memtui.engine.model import Actor, Address, Conflict, Done, Outcome, Restoring, Saved, Unchanged, Write
from memtui.errors import MemtuiError
from memtui.pointers.carry import NO_TEXT, TRIES, is_index, reason_of, untouchable
from memtui.pointers.carry_back import bring_back

if TYPE_CHECKING:
    from memtui.engine import Engine


_RECORDS = 1_000
"""So many of the last records of a deletion are looked through; those of indexes are behind those of memories."""


class Restored(NamedTuple):
    """A single memory that came back, and its entry."""

    result: Saved | Unchanged | Conflict
    also: str = ""
    """What came back besides, for people; see `Done.also`."""
    left: str = ""
    """What did not, in a sentence or two."""


class _Lost(NamedTuple):
    """A text of an index that named what was deleted."""

    home: Address
    seq: int
    sha: str


def restore(engine: Engine, address: Address, *, version: str | None, actor: Actor) -> Restored:
    """Bring a deleted memory back with its entries, or put an old version under its name; see `Engine.restore`."""
    gone = next((entry for entry in engine.trash.entries(taken=False) if entry.address == address), None)
    result = engine.memories.restore(address, version=version, actor=actor)
    if gone is None or not isinstance(result, Saved) or result.before is not None:
        return Restored(result)
    done = Done(result.txn, "restore", (Outcome(address, result),), f"restore {address}")
    done = _entries(engine, done, {address: gone.txn}, actor)
    return Restored(result, done.also, done.left)


def restore_all(engine: Engine, wanted: Iterable[Restoring], *, actor: Actor) -> Done:
    """Bring deleted memories back with their entries, as one undo step; see `Engine.restore_all`.

    Returns:
        The same, saying in `also` how many entries came back and in `left` which did not.
    """
    chosen = tuple(wanted)
    deleted = {(entry.address, entry.sha256): entry.txn for entry in engine.trash.entries(taken=True)}
    txns = {one.address: deleted.get((one.address, one.sha256), "") for one in chosen}
    return _entries(engine, engine.trash.restore(chosen, actor=actor), txns, actor)


def _entries(engine: Engine, done: Done, txns: Mapping[Address, str], actor: Actor) -> Done:
    """Put the entries of what came back into the indexes that lost them when it was deleted."""
    groups: dict[tuple[str, str], dict[str, str]] = {}
    for outcome in done.outcomes:
        new = outcome.new_address or outcome.address
        txn = txns[outcome.address]
        if isinstance(outcome.result, Saved) and txn and new.root == outcome.address.root:
            groups.setdefault((txn, new.root), {})[outcome.address.path] = new.path
    named = 0
    left: list[str] = []
    for (txn, root), back in groups.items():
        for lost in _lost(engine, txn, root):
            count, why = _put_back(engine, lost, back, done, actor)
            named += count
            if why:
                left.append(f"{_lines(back, count)} in {lost.home.path} did not come back: {why}.")
    also = f"{named} pointer{'s' * (named != 1)} brought back" if named else ""
    return done._replace(also=also, left=" ".join(part for part in (done.left, *left) if part))


def _lost(engine: Engine, txn: str, root_id: str) -> list[_Lost]:
    """The indexes of a root out of which a deletion took entries."""
    root = engine.roots.find(root_id)
    return [
        _Lost(record.address, record.seq, record.before)
        for record in engine.history.audit(txn=txn, limit=_RECORDS)
        if record.state == "done"
        and record.address.root == root.id
        and record.new_address is None
        and record.before is not None
        and record.after is not None
        and is_index(root, record.address.path)
    ]


def _put_back(engine: Engine, lost: _Lost, back: Mapping[str, str], done: Done, actor: Actor) -> tuple[int, str]:
    """Write one index, from what it is now; returns how many memories it names again, and why it does not others."""
    root = engine.roots.find(lost.home.root)
    try:
        before = engine.history.read_audited(lost.seq, lost.sha)
    except MemtuiError as error:
        return 0, reason_of(error)
    for _ in range(TRIES):
        try:
            now = engine.read(lost.home)
        except MemtuiError as error:
            return 0, "" if error.code in NO_TEXT else reason_of(error)
        found = bring_back(before, now.bytes, lost.home.path, back)
        rest = "what was beside it reads otherwise by now" if found.left else ""
        if not found.named:
            return 0, rest
        why = untouchable(root, lost.home.path)
        if why:
            return 0, why
        step = Write(lost.home, found.data, now.sha256)
        try:
            written = engine.together.do((step,), actor=actor, label=done.label, joins=done.txn)
        except MemtuiError as error:
            return 0, reason_of(error)
        if not isinstance(written.outcomes[0].result, Conflict):
            return found.named, rest
    return 0, "it was changed meanwhile"


def _lines(back: Mapping[str, str], count: int) -> str:
    """Say whose lines are meant: of these memories, when so many of them are named again."""
    if len(back) == 1:
        return f"The line for {next(iter(back.values()))}"
    return f"{'Some of the' if count else 'The'} lines for {len(back)} memories"
