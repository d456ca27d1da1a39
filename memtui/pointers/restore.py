"""Restoring of memories from the trash together with their index entries, in one undo step.

The memory is restored even if its entry cannot be. An index that already names it, or is gone, is left as it is. The
index may have changed since: no line of it is removed, and an ambiguous entry is not put back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from memtui.engine.model import Actor, Address, Conflict, Done, Outcome, Restoring, Saved, Unchanged, Write
from memtui.errors import MemtuiError
from memtui.pointers.index import Pointer, parse
from memtui.pointers.lines import BOM, is_entry, place_of, spans, text_of
from memtui.pointers.references import NO_TEXT, TRIES, is_index, reason_of, untouchable
from memtui.pointers.rewrite import entry_span, rewrite

if TYPE_CHECKING:
    from memtui.engine import Engine


class RestoredIndex(NamedTuple):
    """An index with entries put back."""

    data: bytes
    named: int = 0
    """How many memories it names again."""
    left: tuple[str, ...] = ()
    """Old paths of memories whose entries could not be put back."""


class _IndexRestore:
    """One index that gets entries back, and where its old lines belong now."""

    def __init__(self, before: bytes, now: bytes, here: str, back: Mapping[str, str]) -> None:
        self.before, self.now, self.here, self.back = before, now, here, back
        self.known = {*back, *back.values()}
        self.named = {pointer.path for pointer in parse(now, here, self.known)}
        self.lines: dict[int, list[Pointer]] = {}
        for pointer in parse(before, here, self.known):
            self.lines.setdefault(pointer.line, []).append(pointer)
        pointers = [pointer for found in self.lines.values() for pointer in found]
        self.wanted = {pointer.path for pointer in pointers if pointer.path is not None and self._returns(pointer)}
        self.old, self.new = spans(before), spans(now)
        self.texts = [text_of(now, span) for span in self.new]
        self.end = b"\r\n" if b"\r\n" in (now or before) else b"\n"

    def _returns(self, pointer: Pointer) -> bool:
        new = self.back.get(pointer.path or "")
        return new is not None and new not in self.named

    def result(self) -> bytes:
        """Return the index with the entries that can be put back."""
        changed = {old: new for old, new in self.back.items() if old != new}
        places = self._places()
        found = bytearray()
        done = 0
        for number, at in sorted(places.items(), key=lambda one: (one[1], one[0])):
            span = self._entry(number)
            if span is None:
                continue
            found += self.now[done:at]
            done = at
            if found and found != BOM and not found.endswith(b"\n"):
                found += self.end
            entry = self.before[slice(*span)]
            found += rewrite(entry, self.here, changed).data if changed else entry
            if self.now[done:] and not found.endswith(b"\n"):
                found += self.end
        return bytes(found + self.now[done:])

    def _entry(self, number: int) -> tuple[int, int] | None:
        return entry_span(self.before, self.old, number, self.lines[number][0])

    def _places(self) -> dict[int, int]:
        """Return where old lines belong: after the nearest line above that is still there, else before one below.

        Lines that are still there, for example in a comment, have no place.
        """
        often = Counter(self.texts)
        where = {text: number for number, text in enumerate(self.texts) if text.strip() and often[text] == 1}
        first = len(BOM) if self.now.startswith(BOM) else 0
        found: dict[int, int] = {}
        waiting: list[int] = []
        after = -1  # the current line after which the next one belongs
        entry_end = 0
        for number, span in enumerate(self.old):
            if span.start < entry_end:
                continue
            text, entry_end = text_of(self.before, span), self._end_of_absent(number)
            if number in self.lines and all(map(self._returns, self.lines[number])) and text not in where:
                if after < 0:
                    waiting.append(number)
                else:
                    found[number] = self.new[after].end
                continue
            if entry_end:
                continue
            if self.texts[after + 1 : after + 2] == [text]:
                after += 1
            else:
                after = where.get(text, after)
            if waiting and after >= 0:
                found |= dict.fromkeys(waiting, max(self.new[after].start, first))
                waiting = []
        return found | dict.fromkeys(waiting, self._at_end())

    def _end_of_absent(self, number: int) -> int:
        """Return where an entry ends that the index no longer holds; 0 for any other line."""
        pointers = self.lines.get(number, [])
        absent = all(self._returns(one) or (one.path is not None and one.path not in self.named) for one in pointers)
        span = self._entry(number) if pointers and absent else None
        return span[1] if span is not None else 0

    def _at_end(self) -> int:
        """Return the place after the last entry, for an index that holds none of the old lines."""
        entries = [number for number, text in enumerate(self.texts) if is_entry(text)]
        return place_of(self.now, self.new, entries, self.end)[0]


_RECORDS = 1_000
"""Number of last records of a deletion to search; those of indexes follow those of memories."""


class Restored(NamedTuple):
    """A restored memory and the outcome for its index entries."""

    result: Saved | Unchanged | Conflict
    also: str = ""
    """What else was restored, see `Done.also`."""
    left: str = ""
    """What was not, in a sentence or two."""


class _Lost(NamedTuple):
    """A version of an index that still had the entries."""

    home: Address
    seq: int
    sha: str


def restore(engine: Engine, address: Address, *, version: str | None, actor: Actor) -> Restored:
    """Restore a deleted memory with its index entries, or write an old version under its name."""
    gone = next((entry for entry in engine.undo.trash.entries(taken=False) if entry.address == address), None)
    result = engine.memories.restore(address, version=version, actor=actor)
    if gone is None or not isinstance(result, Saved) or result.before is not None:
        return Restored(result)
    done = Done(result.txn, "restore", (Outcome(address, result),), f"restore {address}")
    done = _entries(engine, done, {address: gone.txn}, actor)
    return Restored(result, done.also, done.left)


def restore_all(engine: Engine, wanted: Iterable[Restoring], *, actor: Actor) -> Done:
    """Restore deleted memories with their index entries, as one undo step; see `Done.also` and `Done.left`."""
    chosen = tuple(wanted)
    deleted = {(entry.address, entry.sha256): entry.txn for entry in engine.undo.trash.entries(taken=True)}
    txns = {one.address: deleted.get((one.address, one.sha256), "") for one in chosen}
    return _entries(engine, engine.undo.trash.restore(chosen, actor=actor), txns, actor)


def _entries(engine: Engine, done: Done, txns: Mapping[Address, str], actor: Actor) -> Done:
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
    """Rewrite one index from its current text; return how many memories it names again, and why not the others."""
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
        rest = "it also named other memories, or stands in a comment now" if found.left else ""
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
    if len(back) == 1:
        return f"The line for {next(iter(back.values()))}"
    return f"{'Some of the' if count else 'The'} lines for {len(back)} memories"


def bring_back(before: bytes, now: bytes, here: str, back: Mapping[str, str]) -> RestoredIndex:
    """Put entries back into an index.

    Args:
        before: the index before the entries were removed.
        now: the index as it is.
        here: its path below the root.
        back: old paths of the restored memories to their current ones.
    """
    work = _IndexRestore(before, now, here, back)
    if not work.wanted:
        return RestoredIndex(now)
    data = work.result()
    named = {pointer.path for pointer in parse(data, here, work.known)}
    left = tuple(sorted(path for path in work.wanted if back[path] not in named))
    return RestoredIndex(data, len(work.wanted) - len(left), left)
