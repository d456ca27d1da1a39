"""Memories that come back from the trash, and with them the entries that indexes lost when they were deleted.

It is the way back of `carry.trash`, in the same step of undo. The memory comes first and stands whatever becomes of
its entry; an index that names it already, or is not there any more, is left as it is. The index may have changed since:
its lines say where an entry belongs, no line of it goes, and what cannot be told without guessing is not put back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from memtui.engine.model import Actor, Address, Conflict, Done, Outcome, Restoring, Saved, Unchanged, Write
from memtui.errors import MemtuiError
from memtui.pointers.carry import NO_TEXT, TRIES, is_index, reason_of, untouchable
from memtui.pointers.index import Pointer, parse
from memtui.pointers.lines import BOM, Span, is_entry, place_of, spans, text_of
from memtui.pointers.rewrite import entry_cuts, rewrite

if TYPE_CHECKING:
    from memtui.engine import Engine


class Returned(NamedTuple):
    """What became of an index."""

    data: bytes
    named: int = 0
    """How many memories it names again."""
    left: tuple[str, ...] = ()
    """The old paths of those it named, and does not name again."""


class _Piece(NamedTuple):
    line: int
    """Of the index as it was."""
    start: int
    end: int
    """In bytes of the index as it is now; the same as `start` for a whole entry."""
    data: bytes


class _Returning:
    """One index that gets entries back."""

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

    def _is_absent(self, pointer: Pointer) -> bool:
        """Whether the index does not hold a pointer any more."""
        return self._returns(pointer) or (pointer.path is not None and pointer.path not in self.named)

    def result(self) -> bytes:
        """Put the index together."""
        places = self._places([number for number in self.lines if self._is_touched(number)])
        pieces = [piece for number, at in places.items() if (piece := self._piece(number, at)) is not None]
        found = bytearray()
        done = 0
        for piece in sorted(pieces, key=lambda one: (one.start, one.line)):
            found += self.now[done : piece.start]
            done = piece.end
            whole = piece.start == piece.end
            if whole and found and found != BOM and not found.endswith(b"\n"):
                found += self.end
            found += piece.data
            if whole and self.now[done:] and not found.endswith(b"\n"):
                found += self.end
        return bytes(found + self.now[done:])

    def _is_touched(self, number: int) -> bool:
        return any(map(self._returns, self.lines[number]))

    def _piece(self, number: int, at: int) -> _Piece | None:
        """What comes back of a line: all of it, or its part of a line that is there; None when that cannot be told."""
        pointers = self.lines[number]
        absent = {pointer.start for pointer in pointers if self._is_absent(pointer)}
        still = {pointer.start for pointer in pointers if self._is_absent(pointer) and not self._returns(pointer)}
        gone = entry_cuts(self.before, self.old, number, pointers, absent)
        stays = entry_cuts(self.before, self.old, number, pointers, still) if still else []
        if not gone or (still and not stays):
            return None
        if len(absent) == len(pointers):
            (start, end), *_ = gone
            return _Piece(number, at, at, self._renamed(_without(self.before, Span(start, end), stays)))
        span = self.old[number]
        shown = _without(self.before, span, gone).rstrip(b"\r\n").removeprefix(BOM)
        if self.texts.count(shown) != 1:
            return None
        start = self.new[self.texts.index(shown)].start
        start += len(BOM) if start == 0 and self.now.startswith(BOM) else 0
        whole = _without(self.before, span, stays).rstrip(b"\r\n").removeprefix(BOM)
        return _Piece(number, start, start + len(shown), self._renamed(whole))

    def _renamed(self, data: bytes) -> bytes:
        """An entry that names memories as they are called now."""
        changed = {old: new for old, new in self.back.items() if old != new}
        return rewrite(data, self.here, changed).data if changed else data

    def _places(self, numbers: Sequence[int]) -> dict[int, int]:
        """Say where old lines belong now: behind the nearest line above that is still there, else before one below.

        Those that are there, as in a comment, have no place.
        """
        often = Counter(self.texts)
        where = {text: number for number, text in enumerate(self.texts) if text.strip() and often[text] == 1}
        wanted, first = frozenset(numbers), len(BOM) if self.now.startswith(BOM) else 0
        found: dict[int, int] = {}
        waiting: list[int] = []
        after = -1  # the line of now behind which the next one belongs
        over = 0  # where the text of an entry that went ends
        for number, span in enumerate(self.old):
            if span.start < over:
                continue
            text, over = text_of(self.before, span), self._end_of(number)
            if number in wanted and text not in where:
                if after < 0:
                    waiting.append(number)
                else:
                    found[number] = self.new[after].end
                continue
            if over:
                continue
            if self.texts[after + 1 : after + 2] == [text]:
                after += 1
            else:
                after = where.get(text, after)
            if waiting and after >= 0:
                found |= dict.fromkeys(waiting, max(self.new[after].start, first))
                waiting = []
        return found | dict.fromkeys(waiting, self._at_end())

    def _end_of(self, number: int) -> int:
        """Where the text of an entry that went as a whole ends, in bytes of the old index; 0 for any other line."""
        pointers = self.lines.get(number, [])
        if not pointers or not all(map(self._is_absent, pointers)):
            return 0
        cuts = entry_cuts(self.before, self.old, number, pointers, {pointer.start for pointer in pointers})
        return cuts[0][1] if cuts else 0

    def _at_end(self) -> int:
        """Behind the last entry, where none of the old lines is there any more."""
        entries = [number for number, text in enumerate(self.texts) if is_entry(text)]
        return place_of(self.now, self.new, entries, self.end)[0]


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
    gone = next((entry for entry in engine.undo.trash.entries(taken=False) if entry.address == address), None)
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
    deleted = {(entry.address, entry.sha256): entry.txn for entry in engine.undo.trash.entries(taken=True)}
    txns = {one.address: deleted.get((one.address, one.sha256), "") for one in chosen}
    return _entries(engine, engine.undo.trash.restore(chosen, actor=actor), txns, actor)


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


def bring_back(before: bytes, now: bytes, here: str, back: Mapping[str, str]) -> Returned:
    """Put entries back into an index.

    Args:
        before: the index as it was before they went.
        now: as it is.
        here: its path below the root.
        back: the memories that came back: their old paths, and those they have now.

    Returns:
        The new index; the same one when it names all of them, or named none of them before.
    """
    work = _Returning(before, now, here, back)
    if not work.wanted:
        return Returned(now)
    data = work.result()
    named = {pointer.path for pointer in parse(data, here, work.known)}
    left = tuple(sorted(path for path in work.wanted if back[path] not in named))
    return Returned(data, len(work.wanted) - len(left), left)


def _without(data: bytes, span: Span, cuts: Sequence[tuple[int, int]]) -> bytes:
    """A part of a text without what is cut out of it."""
    kept = []
    at = span.start
    for start, end in cuts:
        kept.append(data[at:start])
        at = end
    return b"".join((*kept, data[at : span.end]))
