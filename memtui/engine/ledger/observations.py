"""Decisions about observations, which no rebuild of what is derived can undo; and which file has what is derived.

Nothing here has a text of a card but what a person wrote over it: places and texts are hashes with a key of this
ledger, because a bare hash of a short text that was redacted can be guessed.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable

import apsw

from memtui.engine.disk import fsio
from memtui.engine.ledger.database import Database, Row, checked
from memtui.engine.observation import REDACTED, STATES, MarkDecision, ObservationMark
from memtui.errors import ConflictError, RefusedError

FILES = "observed-"
"""What the names of the files with derived cards begin with, in the state folder."""
GONE = "[redacted]"
_COLUMNS = "name, seq, root, path, anchor, text_key, beside, state, deleted_at, patch"
_CELLS = "biibbbbiIt"


class ObservationTable:
    """Marks on cards, their log, and the number of the file in use."""

    def __init__(self, database: Database) -> None:
        """Take what it works with; nothing is read before it is asked for."""
        self._database = database

    @property
    def directory(self) -> str:
        """The state folder."""
        return self._database.directory

    def usable(self) -> bool:
        """Whether decisions can be read: what cannot be checked is not handed out."""
        self._database.rows("SELECT 1")
        return self._database.mode in ("normal", "newer")

    @checked
    def secret(self) -> bytes:
        """The key of all hashes."""
        found = self._database.row("SELECT secret FROM observing", kinds="b")
        return bytes(found[0]) if found else b""

    @checked
    def generation(self) -> int:
        """The number of the file in use; 0: there is none yet."""
        found = self._database.row("SELECT generation FROM observing", kinds="i")
        return int(found[0]) if found else 0

    def switch(self, before: int) -> int:
        """Put the next file in the place of one, unless another is there already; returns the number in use then."""
        with self._database.transaction() as db:
            db.execute("UPDATE observing SET generation = generation + 1 WHERE generation = ?", (before,))
            return self.generation()

    # --- marks

    @checked
    def marks(self) -> tuple[ObservationMark, ...]:
        """Every mark, by name."""
        rows = self._database.rows(f"SELECT {_COLUMNS} FROM observation_marks ORDER BY name", kinds=_CELLS)
        return tuple(map(_mark, rows))

    @checked
    def mark(self, name: bytes) -> ObservationMark | None:
        """The mark on a card; None for none."""
        sql = f"SELECT {_COLUMNS} FROM observation_marks WHERE name = ?"
        found = self._database.row(sql, (name,), kinds=_CELLS)
        return None if found is None else _mark(found)

    @checked
    def withheld(self) -> frozenset[tuple[int, str]]:
        """The memories of which a person withholds a card from agents, as root and path."""
        sql = "SELECT root, path FROM observation_marks WHERE state OR deleted_at NOT NULL"
        return frozenset((root, os.fsdecode(path)) for root, path in self._database.rows(sql, kinds="ib"))

    @checked
    def decided_after(self, seq: int) -> tuple[int, frozenset[bytes]]:
        """The number of the newest decision, and the cards decided about after another one."""
        rows = self._database.rows(
            "SELECT seq, name FROM observation_log WHERE seq > ? ORDER BY seq", (seq,), kinds="ib"
        )
        return (rows[-1][0] if rows else seq), frozenset(bytes(name) for _, name in rows)

    def put(self, mark: ObservationMark, *, actor: str, reason: str = "") -> ObservationMark:
        """Write down a decision.

        Args:
            mark: with the `seq` of the decision it starts from.
            actor: who decided.
            reason: why, in their words.

        Raises:
            ConflictError: somebody decided otherwise meanwhile.
            RefusedError: `E_REDACTED`, the card is redacted, which is for good.
        """
        with self._database.transaction() as db:
            known = self.mark(mark.name)
            if known is not None and known.state == REDACTED:
                raise RefusedError("This observation is redacted, and that is for good.", code="E_REDACTED")
            if (known.seq if known is not None else 0) != mark.seq:
                raise ConflictError(
                    "Somebody decided about this observation meanwhile.", hint="Look at it again, then decide."
                )
            if mark.state == REDACTED:
                mark = mark._replace(patch="", beside=b"")
                said = (GONE, mark.name)
                db.execute("UPDATE observation_log SET reason = ? WHERE name = ? AND reason != ''", said)
                db.execute("INSERT OR IGNORE INTO erasing VALUES (?)", (mark.name,))
            before, after = ("" if one is None else _words(one) for one in (known, mark))
            db.execute(
                "INSERT INTO observation_log (name, before, after, actor, at, reason) VALUES (?, ?, ?, ?, ?, ?)",
                (mark.name, before, after, actor, self._database.clock(), reason),
            )
            mark = mark._replace(seq=db.last_insert_rowid())
            values = (*mark[:3], os.fsencode(mark.path), *mark[4:])
            # Also one that says nothing special any more: whoever applies it has to know where its card was.
            db.execute(f"INSERT OR REPLACE INTO observation_marks ({_COLUMNS}) VALUES ({'?, ' * 9}?)", values)
            return mark

    @checked
    def log(self, name: bytes) -> tuple[MarkDecision, ...]:
        """What was decided about a card, the oldest first."""
        sql = "SELECT seq, before, after, actor, at, reason FROM observation_log WHERE name = ? ORDER BY seq"
        return tuple(MarkDecision(*row) for row in self._database.rows(sql, (name,), kinds="itttit"))

    # --- files

    def drop_files(self) -> None:
        """Have all cards derived anew: what was redacted elsewhere may be in any of their files."""
        generation = self.generation()
        if generation:
            self.switch(generation)
            remove_files(self.directory, lambda _: True)


def remove_files(directory: str, goes: Callable[[int], bool]) -> None:
    """Remove files with derived cards, by their number; each with what SQLite keeps beside it."""
    with contextlib.suppress(FileNotFoundError), fsio.closing(fsio.open_root(directory)) as folder:
        for entry in fsio.list_dir(folder):
            number, db, _ = entry.name.removeprefix(FILES).partition(".db")
            if entry.name.startswith(FILES) and db and number.isdecimal() and goes(int(number)):
                with contextlib.suppress(FileNotFoundError):
                    fsio.unlink(folder, entry.name)


def unquote(database: apsw.Connection, within: Callable[[str], bool]) -> None:
    """Take out what people wrote over cards, and why, where it holds a part of a text that is redacted."""
    for table, key, column, left in (
        ("observation_marks", "name", "patch", ""),
        ("observation_log", "seq", "reason", GONE),
    ):
        for number, words in list(database.execute(f"SELECT {key}, {column} FROM {table} WHERE {column} != ''")):
            if within(words):
                database.execute(f"UPDATE {table} SET {column} = ? WHERE {key} = ?", (left, number))


def forget(database: apsw.Connection, names: list[bytes]) -> None:
    """Take out of a backup what people wrote over cards that are redacted by now."""
    if any(database.execute("SELECT 1 FROM sqlite_schema WHERE name = 'observation_marks'")):
        values = [(name,) for name in names]
        database.executemany("UPDATE observation_marks SET patch = '', state = 3 WHERE name = ?", values)
        database.executemany("UPDATE observation_log SET reason = '' WHERE name = ?", values)


def _mark(row: Row) -> ObservationMark:
    name, seq, root, path, anchor, text_key, beside, state, deleted, patch = row
    return ObservationMark(name, seq, root, os.fsdecode(path), anchor, text_key, beside, state, deleted, patch)


def _words(mark: ObservationMark) -> str:
    more = [word for word, is_so in (("deleted", mark.deleted_at is not None), ("edited", mark.patch)) if is_so]
    return " ".join((STATES[mark.state], *more))
