"""Redaction down to the bytes: in the ledger, its log and its backups, with everything there that quotes the text.

Two steps, so that no kill and no other process leaves half of it: one transaction clears the text and records that its
bytes are to be overwritten; they are overwritten afterwards, at the latest when the ledger is next opened. A label, a
reason or a draft may quote a part of the text: its lines, and its words that are no plain words.
"""

import contextlib
import os
import re
import zlib
from collections.abc import Collection, Iterable, Mapping
from contextlib import closing
from hashlib import sha256
from typing import NamedTuple

import apsw

from memtui.engine.ledger import observations, proposals, tasks
from memtui.engine.ledger.creation import is_sound, migrate, remove
from memtui.engine.ledger.database import BUSY_MS, Database, LedgerTable
from memtui.engine.ledger.memories import MemoryTable
from memtui.engine.ledger.versions import GONE, unpack
from memtui.errors import MemtuiError, NotFoundError, StorageError

MIN_PIECE = 6
_CUT = 16
"""Letters of a line that are searched for: a label may hold no more of it."""
_MARKS = " \t\r#*->+|`\"'"


class Quotes:
    """Searches texts for pieces of a redacted one."""

    def __init__(self, pieces: Iterable[str] = ()) -> None:
        """Take pieces from `revealing_pieces`."""
        self._pieces: dict[str, list[str]] = {}
        for piece in pieces:
            self._pieces.setdefault(piece[:MIN_PIECE], []).append(piece)

    def within(self, text: str) -> bool:
        """Tell whether a text holds one of the pieces."""
        return bool(self._pieces) and any(
            text.startswith(piece, start)
            for start in range(len(text) - MIN_PIECE + 1)
            for piece in self._pieces.get(text[start : start + MIN_PIECE], ())
        )


def revealing_pieces(text: bytes, others: Iterable[bytes], names: str = "") -> set[str]:
    """Return the pieces that identify a text: none that remaining texts or memory names contain too."""
    known = "\n".join([names, *(other.decode("utf-8", "replace") for other in others)])
    read = text.decode("utf-8", "replace")
    found = set()
    for line in {line.strip(_MARKS) for line in read.splitlines()}:
        cut = line[:_CUT].rstrip()
        found.add(line if cut in known else cut)
    words = re.findall(rf"[\w\-./+@]{{{MIN_PIECE},}}", read)
    found.update(word for word in words if re.search(r"[\d_/+@]", word))
    return {piece for piece in found if len(piece) >= MIN_PIECE and piece not in known}


OPENING_MS = 250
"""How long opening the ledger waits for others to finish an earlier redaction."""
_LOGGED = (("txns", "id", "label"), ("audit", "seq", "note"), ("versions", "id", "note"))
_QUOTING = (
    *((*column, GONE) for column in (*_LOGGED, ("blobs", "id", "reason"), ("observation_log", "seq", "reason"))),
    ("observation_log", "seq", "was_patch", ""),
    ("observation_marks", "name", "patch", ""),
)
"""Tables with their keys and columns of words that may quote a text, and what is left there instead."""
_DAMAGED = "state.db.damaged-"


class Mark(NamedTuple):
    """One redaction."""

    reason: str
    at: int
    beside: tuple[bytes, ...]
    """Current texts of the memories that had the text; what they share with it stays."""


class TextHolder(NamedTuple):
    """Another place that holds a text to be redacted."""

    root: int
    path: str
    draft: bool = False
    """Whether it is the unsaved text there, not a version."""


class ErasureTable(LedgerTable):
    """Redacts texts."""

    def __init__(self, database: Database, memories: MemoryTable) -> None:
        super().__init__(database)
        self._memories = memories

    def keepers(self, sha: str, memories: Collection[tuple[int, str]]) -> list[TextHolder]:
        """Return what else holds a text: versions of memories but these (root, path), and drafts that quote it."""
        key = bytes.fromhex(sha)
        mine = {self._memories.memory_id(*memory) for memory in memories}
        found = [
            TextHolder(root, path)
            for number, root, path in self._database.rows(
                "SELECT m.id, m.root, m.path FROM memories m JOIN blobs b ON b.sha = ?1 AND b.data NOT NULL"
                " WHERE m.sha = ?1 OR EXISTS (SELECT 1 FROM versions v WHERE v.memory = m.id AND v.blob = b.id)"
                " ORDER BY m.root, m.path",
                (key,),
                kinds="iip",
            )
            if number not in mine
        ]
        quotes = self.quotes([sha])
        for number, root, path, packed, data in self._database.rows(
            "SELECT m.id, m.root, m.path, d.packed, d.data FROM drafts d JOIN memories m ON m.id = d.memory",
            kinds="iipib",
        ):
            text = _text(packed, data) or b""
            same, own = sha256(text).hexdigest() == sha, number in mine
            if same is not own and (same or _holds(quotes, text)):
                found.append(TextHolder(root, path, draft=True))
        return found

    def quotes(self, shas: Iterable[str]) -> Quotes:
        """Return a search for the pieces of these texts."""
        with self._database.transaction() as db:
            keys = {bytes.fromhex(sha): Mark("", 0, _beside(db, bytes.fromhex(sha))) for sha in shas}
            return Quotes(set().union(*(_pieces(db, key, mark, _names(db)) for key, mark in keys.items())))

    def redact(self, shas: Iterable[str], reason: str) -> None:
        """Clear stored texts and what quotes them, and keep their records; call `erase` afterwards."""
        now = self.clock()
        with self._database.transaction() as db:
            marks = {key: Mark(reason, now, _beside(db, key)) for key in map(bytes.fromhex, shas)}
            clear(db, marks)
            for key in marks:
                db.execute("INSERT OR IGNORE INTO erasing VALUES (?)", (key,))

    def erase(self) -> str:
        """Overwrite the bytes of redacted texts; return why it has to be finished later, or `""`."""
        with self._database.guard:
            return self._erase(self._database.connection(), BUSY_MS)

    def unerased(self) -> bool:
        """Tell whether bytes of redacted texts may still be there."""
        return self._database.row("SELECT 1 FROM erasing LIMIT 1") is not None

    def damaged(self) -> list[str]:
        """Return paths of ledgers that cannot be read whole and may hold redacted texts."""
        names = (
            name.removeprefix(_DAMAGED) for name in os.listdir(self._database.directory) if name.startswith(_DAMAGED)
        )
        found = {_DAMAGED + time for name in names if (time := name.partition("-")[0]).isdecimal()}
        aside = [os.path.join(self._database.directory, name) for name in sorted(found)]
        return [*aside, *(path for path in self._database.backups() if not is_sound(path, BUSY_MS))]

    def drop_damaged(self, path: str) -> None:
        """Delete one of `damaged`, with the files beside it."""
        if path not in self.damaged():
            raise NotFoundError(f"{path} is no damaged copy of the ledger.", hint="`memtui doctor` names them.")
        try:
            with self._database.repair_lock():
                remove(path)
        except OSError as error:
            raise StorageError(f"{path} cannot be deleted: {error.strerror}.", code="E_IO") from error

    def finish(self, database: apsw.Connection) -> None:
        """Overwrite what an earlier redaction could not, as the ledger is opened."""
        # Nobody asked for it now: what is in the way still is, and `memtui doctor` says so.
        with contextlib.suppress(MemtuiError, OSError, apsw.Error):
            self._erase(database, OPENING_MS)

    def _erase(self, database: apsw.Connection, wait: int) -> str:
        waiting = list(database.execute("SELECT sha FROM erasing"))
        # Every redaction there ever was, not only those that wait: a backup may have come back from somewhere.
        redacted = list(database.execute("SELECT sha, reason, redacted_at FROM blobs WHERE redacted_at NOT NULL"))
        marks = {key: Mark(reason, at, _beside(database, key)) for key, reason, at in redacted}
        quoting = {
            table: list(database.execute(f"SELECT {number}, at FROM {table} WHERE {column} = ?", (GONE,)))
            for table, number, column in (*_LOGGED, ("proposals", "id", "note"))
        }
        cards = [name for (name,) in database.execute("SELECT name FROM observation_marks WHERE state = 3")]
        database.set_busy_timeout(wait)
        try:
            with self._database.repair_lock():
                self._sweep()
                for path in self._database.backups():
                    if is_sound(path, wait):
                        self._rewrite(path, marks, quoting, cards)
            overwrite(database)
            if next(iter(database.execute("PRAGMA wal_checkpoint(TRUNCATE)")))[0]:
                return "another process is using the ledger"
            database.executemany("DELETE FROM erasing WHERE sha = ?", waiting)
        except apsw.BusyError:
            return "another process is using the ledger"
        except (apsw.FullError, apsw.IOError, OSError) as error:
            return str(error)
        finally:
            database.set_busy_timeout(BUSY_MS)
        return ""

    def _rewrite(
        self, path: str, marks: Mapping[bytes, Mark], quoting: Mapping[str, list[tuple[int, int]]], cards: list[bytes]
    ) -> None:
        """Clear texts and cards in a backup, which keeps its name and date.

        `quoting` has, by table, (number, time) of rows with redacted words: the backup may have these and not their
        text.
        """
        with closing(apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)) as database:
            migrate(database, self.clock)
            with database:
                observations.forget(database, cards)
                for name in cards:
                    proposals.forget_of(database, name, GONE)
                for key in quoting["proposals"]:
                    for _ in list(database.execute("SELECT 1 FROM proposals WHERE id = ? AND at = ?", key)):
                        proposals.forget(database, key[0], GONE)
                for table, number, column in _LOGGED:
                    change = f"UPDATE {table} SET {column} = '{GONE}' WHERE {number} = ? AND at = ?"
                    database.executemany(change, quoting[table])
                database.execute("UPDATE blobs SET reason = ? WHERE reason NOT NULL", (GONE,))
                clear(database, marks)
                # They may hold a text that no version in here has.
                database.execute("DELETE FROM tasks; DELETE FROM runs; DELETE FROM task_events")
            overwrite(database)

    def _sweep(self) -> None:
        """Remove unfinished ledgers and backups of stopped processes. Hold the repair lock."""
        for folder in (self._database.directory, os.path.join(self._database.directory, "backups")):
            with contextlib.suppress(FileNotFoundError):
                for name in os.listdir(folder):
                    if ".db.part" in name:
                        os.unlink(os.path.join(folder, name))


def overwrite(database: apsw.Connection) -> None:
    """Rewrite a database, so that no byte of removed rows is left."""
    database.execute("PRAGMA secure_delete=ON")
    database.execute("VACUUM")
    database.execute("PRAGMA secure_delete=OFF")


def clear(database: apsw.Connection, marks: Mapping[bytes, Mark]) -> None:
    """Clear texts by digest, with drafts, conflicts and words that hold them, in a migrated ledger.

    Call it inside a transaction.
    """
    names = _names(database)
    every: set[str] = set()
    for key, mark in marks.items():
        pieces = _pieces(database, key, mark, names)
        every |= pieces
        memories = {
            number
            for (number,) in database.execute(
                "SELECT v.memory FROM versions v JOIN blobs b ON b.id = v.blob WHERE b.sha = ?", (key,)
            )
        }
        database.execute(
            "UPDATE blobs SET data = NULL, packed = 0, redacted_at = ?, reason = ? WHERE sha = ?",
            (mark.at, mark.reason, key),
        )
        database.execute("UPDATE versions SET redacted = 1 WHERE blob IN (SELECT id FROM blobs WHERE sha = ?)", (key,))
        quotes = Quotes(pieces)
        for number, packed, data in list(database.execute("SELECT memory, packed, data FROM drafts")):
            text = _text(packed, data) or b""
            if sha256(text).digest() == key or (number in memories and _holds(quotes, text)):
                database.execute("DELETE FROM drafts WHERE memory = ?", (number,))
        database.execute("DELETE FROM conflicts WHERE ?1 IN (base, yours, theirs)", (key,))
        for number, decisions in list(database.execute("SELECT memory, decisions FROM conflicts")):
            if number in memories and quotes.within(decisions):
                database.execute("DELETE FROM conflicts WHERE memory = ?", (number,))
    quotes = Quotes(every)
    for table, number, column, left in _QUOTING:
        for key, words in list(database.execute(f"SELECT {number}, {column} FROM {table} WHERE {column} != ''")):
            if quotes.within(words):
                database.execute(f"UPDATE {table} SET {column} = ? WHERE {number} = ?", (left, key))
    for number, held in list(proposals.texts(database)):
        if any(sha256(text).digest() in marks or _holds(quotes, text) for text in held):
            proposals.forget(database, number, GONE)
    tasks.unquote(database, quotes.within)


def _pieces(database: apsw.Connection, key: bytes, mark: Mark, names: str) -> set[str]:
    for packed, data in database.execute("SELECT packed, data FROM blobs WHERE sha = ?", (key,)):
        text = _text(packed, data)
        if text is not None:
            return revealing_pieces(text, mark.beside, names)
    return set()


def _beside(database: apsw.Connection, key: bytes) -> tuple[bytes, ...]:
    """Return the current texts of the memories that had a text."""
    found = [
        _text(packed, data)
        for packed, data in database.execute(
            "SELECT c.packed, c.data FROM memories m JOIN blobs c ON c.sha = m.sha WHERE m.sha != ?1 AND m.id IN"
            " (SELECT v.memory FROM versions v JOIN blobs b ON b.id = v.blob WHERE b.sha = ?1)",
            (key,),
        )
    ]
    return tuple(text for text in found if text is not None)


def _names(database: apsw.Connection) -> str:
    return "\n".join(os.fsdecode(path) for (path,) in database.execute("SELECT path FROM memories"))


def _text(packed: int, data: bytes | None) -> bytes | None:
    try:
        return None if data is None else unpack(packed, data)
    except (zlib.error, TypeError):
        return None


def _holds(quotes: Quotes, text: bytes) -> bool:
    return quotes.within(text.decode("utf-8", "replace"))
