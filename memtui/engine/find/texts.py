"""Texts of memories, folded and indexed for searching: kept by content as long as there is room, read in bulk.

A text is kept under its sha-256, which the row of the memory gives; so what is kept is never older than the row, and
only the row has to be kept true.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from memtui.engine.disk import fsio, paths
from memtui.engine.disk.paths import RootHandle
from memtui.engine.find.words import Words
from memtui.engine.model import Memory
from memtui.errors import MemtuiError
from memtui.matching import Term, fold

ROOM = 30 * 1024 * 1024
"""Bytes of texts and index that are kept."""
RACY_MS = 2_000
"""A file that changed less than this ago may change again without its stat showing it."""
_FEW = 64
"""Texts in which a phrase is looked for at once, rather than asking which of them have its other words."""
_TIDY = 512
"""Texts nobody has any more that are not worth building the index anew."""


class Texts:
    """Folded texts by sha-256."""

    def __init__(self, room: int = ROOM) -> None:
        """Begin with none.

        Args:
            room: about so many bytes may be kept; 0: keep nothing.
        """
        self._room = room
        self._bytes = 0
        self._numbers: dict[str, int] = {}
        self._folded: list[str] = []
        self._words = Words()

    @property
    def bytes(self) -> int:
        """About how much memory is taken."""
        return self._bytes + self._words.bytes

    def __len__(self) -> int:
        """How many are kept."""
        return len(self._folded)

    def number(self, sha256: str | None) -> int | None:
        """The number under which a text is kept; None when it is not."""
        return None if sha256 is None else self._numbers.get(sha256)

    def add(self, sha256: str, folded: str) -> bool:
        """Keep a text from `fold`; False when there is no room."""
        if sha256 in self._numbers:
            return True
        size = len(folded) * (1 if folded.isascii() else 2) + 150
        if self.bytes + size > self._room:
            return False
        number = self._numbers[sha256] = len(self._folded)
        self._folded.append(folded)
        self._bytes += size
        self._words.add(number, folded)
        return True

    def grades(self, term: Term) -> dict[int, int]:
        """The kept texts that hold a term, by number, and how each does; see `Term.grade`."""
        found: dict[int, int] = {}
        for form in term.forms:
            for number, grade in self._holding(form).items():
                before = found.get(number)
                found[number] = grade if before is None or grade < before else before
        return found

    def _holding(self, form: str) -> dict[int, int]:
        first, *rest = sorted(form.split(" "), key=len, reverse=True)
        candidates = self._words.grades(first)
        if not rest:
            return candidates
        for word in rest:
            if len(candidates) <= _FEW:
                break
            candidates = dict.fromkeys(candidates.keys() & self._words.grades(word).keys(), 0)
        term, folded = Term((form,)), self._folded
        holding = [number for number in candidates if form in folded[number]]
        return {number: grade for number in holding if (grade := term.grade(folded[number])) is not None}

    def tidy(self, wanted: Iterable[str | None]) -> None:
        """Forget the texts that are not wanted any more, once they are worth it."""
        alive = set(wanted) & self._numbers.keys()
        if len(self._numbers) - len(alive) < max(_TIDY, len(alive) // 4):
            return
        kept = [(sha, self._folded[self._numbers[sha]]) for sha in alive if sha is not None]
        self.forget()
        for sha, folded in kept:
            self.add(sha, folded)

    def forget(self) -> None:
        """Keep nothing."""
        self._bytes = 0
        self._numbers.clear()
        self._folded.clear()
        self._words = Words()


def decode(data: bytes) -> str:
    """The text of a memory, also where it is not UTF-8; without a byte-order mark, as an editor shows it."""
    return data.decode("utf-8", "replace").removeprefix("\ufeff")


def read_folded(
    rows: Iterable[Memory], reading: Callable[[str], RootHandle], now: int
) -> Iterator[tuple[Memory, str, bool]]:
    """Read memories, one folder handle at a time.

    Args:
        rows: what to read, in the order of a list.
        reading: gives the open folder of a root by its id.
        now: milliseconds since the epoch.

    Yields:
        The row, its text as `fold` gives it, and whether that is the text of the row's sha-256. What went, or is no
        text that may be read, is left out.
    """
    for (root, folder), some in _by_folder(rows).items():
        try:
            handle = reading(root)
            with handle.folder(tuple(folder.split("/")) if folder else ()) as opened:
                for row in some:
                    found = _read(opened, handle, row, now)
                    if found is not None:
                        yield row, fold(decode(found[0])), found[1]
        except MemtuiError:
            continue  # the folder went, or cannot be entered: the next list says so, and there is no text to search


def _by_folder(rows: Iterable[Memory]) -> dict[tuple[str, str], list[Memory]]:
    found: dict[tuple[str, str], list[Memory]] = {}
    for row in rows:
        found.setdefault((row.address.root, row.address.path.rpartition("/")[0]), []).append(row)
    return found


def _read(folder: int, handle: RootHandle, row: Memory, now: int) -> tuple[bytes, bool] | None:
    """The bytes of one memory, and whether they are those of its row; None when they cannot be read."""
    try:
        limit = handle.root.policy.read_bytes
        opened, status = paths.open_regular(folder, row.address.name, row.address, handle.identity[0], limit)
    except MemtuiError:
        return None  # it went, or changed into something else, since it was listed
    try:
        data = fsio.read_all(opened, status.st_size)
    except OSError:
        return None  # a bad block or a dead network folder: the list shows it as a problem of this memory
    finally:
        fsio.close(opened)
    modified = status.st_mtime_ns // 1_000_000
    settled = now - modified > RACY_MS and now - status.st_ctime_ns // 1_000_000 > RACY_MS
    return data, settled and modified == row.modified_at and len(data) == status.st_size == row.bytes
