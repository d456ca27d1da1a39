"""Decisions about observations, which survive every rebuild of the derived file, and the number of that file.

Except for text that a person wrote over a card, no card's text is stored: places and texts are keyed hashes, because a
bare hash of a short redacted text can be guessed.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Sequence

import apsw

from memtui.engine.disk import fsio
from memtui.engine.ledger.database import DAY_MS, LedgerTable, insert
from memtui.engine.ledger.versions import GONE
from memtui.engine.model import Retention
from memtui.engine.observation import REDACTED, STATES, MarkDecision, ObservationMark
from memtui.errors import ConflictError, RefusedError

FILES = "observed-"
"""Prefix of the files with derived cards, in the state folder."""
_ASIDE = ".aside"
"""Suffix of a folder that stood where a file was to be."""
_COLUMNS = "name, seq, root, path, anchor, text_key, beside, state, deleted_at, patch"
_CELLS = "biipbbbiIt"


class ObservationTable(LedgerTable):
    """Marks on cards, their log, and the number of the file in use."""

    @property
    def directory(self) -> str:
        """The state folder."""
        return self._database.directory

    def usable(self) -> bool:
        """Tell whether decisions can be read; without them nothing is handed out."""
        self._database.rows("SELECT 1")
        return self._database.mode in ("normal", "newer")

    def secret(self) -> bytes:
        """Return the key of all hashes."""
        return bytes(self._cell("SELECT secret FROM observing", kinds="b") or b"")

    def generation(self) -> int:
        """Return the number of the file in use; 0: there is none yet."""
        return int(self._cell("SELECT generation FROM observing", kinds="i") or 0)

    def switch(self, before: int) -> int:
        """Switch from one file to the next, unless another process did; return the number now in use."""
        with self._database.transaction() as db:
            db.execute("UPDATE observing SET generation = generation + 1 WHERE generation = ?", (before,))
            return self.generation()

    def marks(self) -> tuple[ObservationMark, ...]:
        """Return every mark, by name."""
        return self._all(ObservationMark, f"SELECT {_COLUMNS} FROM observation_marks ORDER BY name", kinds=_CELLS)

    def mark(self, name: bytes) -> ObservationMark | None:
        """Return the mark on a card, or None."""
        sql = f"SELECT {_COLUMNS} FROM observation_marks WHERE name = ?"
        return self._first(ObservationMark, sql, name, kinds=_CELLS)

    def withheld(self) -> frozenset[tuple[int, str]]:
        """Return (root, path) of the memories with a card that a person withholds from agents."""
        return self._memories("SELECT root, path FROM observation_marks WHERE state OR deleted_at NOT NULL")

    def _memories(self, sql: str, *values: int | bytes) -> frozenset[tuple[int, str]]:
        return frozenset(self._database.rows(sql, values, kinds="ip"))

    def withheld_texts(self) -> frozenset[str]:
        """Return the SHA-256 of every known version of those memories, so that copies are withheld too."""
        sql = (
            "SELECT DISTINCT b.sha FROM observation_marks o JOIN memories m ON m.root = o.root AND m.path = o.path "
            "JOIN versions v ON v.memory = m.id JOIN blobs b ON b.id = v.blob WHERE o.state OR o.deleted_at NOT NULL"
        )
        return frozenset(self._column(sql, kinds="h"))

    def known_before(self, at: int) -> frozenset[tuple[int, str]]:
        """Return (root, path) of the memories that have a version from before a time in milliseconds."""
        sql = "SELECT root, path FROM memories m WHERE EXISTS (SELECT 1 FROM versions WHERE memory = m.id AND at < ?)"
        return self._memories(sql, at)

    def holders(self, shas: Sequence[str]) -> frozenset[tuple[int, str]]:
        """Return (root, path) of the memories that have a version with one of these SHA-256."""
        sql = (
            "SELECT DISTINCT root, path FROM versions v JOIN memories m ON m.id = v.memory WHERE v.blob IN"
            f" (SELECT id FROM blobs WHERE sha IN ({', '.join('?' * len(shas))}))"
        )
        return self._memories(sql, *map(bytes.fromhex, shas))

    def newest(self) -> int:
        """Return the number of the newest decision; 0: there is none."""
        return int(self._cell("SELECT coalesce(max(seq), 0) FROM observation_log", kinds="i"))

    def decided_after(self, seq: int) -> tuple[int, frozenset[bytes]]:
        """Return the number of the newest decision, and the cards decided after decision `seq`."""
        sql = "SELECT seq, name FROM observation_log WHERE seq > ? ORDER BY seq"
        rows = self._database.rows(sql, (seq,), kinds="ib")
        return (rows[-1][0] if rows else seq), frozenset(name for _, name in rows)

    def put(self, mark: ObservationMark, *, actor: str, reason: str = "", step: int | None = None) -> ObservationMark:
        """Store a decision; the mark has the `seq` of the decision it is based on.

        `step` is the audit record that undoes it. Raises `ConflictError` after another decision, and `E_REDACTED`,
        which is final.
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
                db.execute(
                    "UPDATE observation_log SET reason = iif(reason = '', '', ?), was_patch = '' WHERE name = ?", said
                )
                db.execute("INSERT OR IGNORE INTO erasing VALUES (?)", (mark.name,))
            mark = mark._replace(seq=self._log(mark.name, known, mark, actor, reason, step))
            values = (*mark[:3], os.fsencode(mark.path), *mark[4:])
            # Also one that says nothing special any more: whoever applies it has to know where its card was.
            db.execute(f"INSERT OR REPLACE INTO observation_marks ({_COLUMNS}) VALUES ({'?, ' * 9}?)", values)
            if mark.withholds:
                from memtui.engine.ledger.proposals import forget_of

                forget_of(db, mark.name, GONE if mark.state == REDACTED else "")
            return mark

    def _log(
        self,
        name: bytes,
        known: ObservationMark | None,
        mark: ObservationMark | None,
        actor: str,
        reason: str,
        step: int | None,
    ) -> int:
        before, after = ("" if each is None else _words(each) for each in (known, mark))
        final = mark is not None and mark.state == REDACTED  # nobody takes it back
        was = "" if known is None or final else _packed(known)
        patch = "" if known is None or final else known.patch
        with self._database.transaction() as db:
            said = {"name": name, "before": before, "after": after, "actor": actor, "at": self.clock()}
            return insert(db, "observation_log", **said, reason=reason, step=step, was=was, was_patch=patch)

    def take_back(self, step: int, again: int, *, actor: str) -> None:
        """Restore a mark as it was before the decision of audit record `step`, recorded by `again`.

        Raises `ConflictError` if somebody decided about the card since, or it is redacted.
        """
        with self._database.transaction() as db:
            sql = "SELECT seq, name, was, was_patch FROM observation_log WHERE step = ?"
            found = self._database.row(sql, (step,), kinds="ibtt")
            if found is None:
                raise ConflictError("What was decided before is not known any more.")
            seq, name, was, patch = found
            sql = "SELECT was, was_patch FROM observation_log WHERE name = ? AND seq > ? ORDER BY seq LIMIT 1"
            then = self._database.row(sql, (name, seq), kinds="tt")  # what the decision left, if another came after it
            known = self.mark(name)
            if known is not None and known.state == REDACTED:
                raise ConflictError("The observation is redacted by now, and that is for good.")
            if then is not None and _said(known) != _said(_unpacked(name, *then) if then[0] else None):
                raise ConflictError("Somebody decided about the observation since.", hint="Decide again in view 9.")
            if was:
                before = _unpacked(name, was, patch)
                if known is not None:  # its memory may have been renamed since
                    before = known._replace(state=before.state, deleted_at=before.deleted_at, patch=patch)
                self.put(before._replace(seq=known.seq if known else 0), actor=actor, step=again)
            else:
                self._log(name, known, None, actor, "", again)
                db.execute("DELETE FROM observation_marks WHERE name = ?", (name,))

    def log(self, name: bytes) -> tuple[MarkDecision, ...]:
        """Return the decisions about a card, oldest first."""
        sql = "SELECT seq, before, after, actor, at, reason FROM observation_log WHERE name = ? ORDER BY seq"
        return self._all(MarkDecision, sql, name, kinds="itttit")

    def forget_sessions(self) -> None:
        """Delete decisions about cards of sessions; redacted ones stay."""
        gone = "FROM observation_marks WHERE root = 0 AND state != 3"
        with self._database.transaction() as db:
            # Their numbers stay taken: by them each file of cards knows which decisions it has.
            db.execute(
                f"UPDATE observation_log SET reason = '', was = '', was_patch = '' WHERE name IN (SELECT name {gone})"
            )
            db.execute(f"DELETE {gone}")

    def prune(self, retention: Retention) -> None:
        """Delete the text of cards that were deleted long ago, and what was written over them.

        Days are counted as for versions. The next derivation overwrites the text.
        """
        day = self._database.row("SELECT day FROM days ORDER BY id DESC LIMIT 1 OFFSET ?", (retention.days,))
        if day is None:
            return
        for mark in self.marks():
            if mark.state != REDACTED and mark.deleted_at and mark.deleted_at < int(day[0]) * DAY_MS:
                with self._database.transaction() as db:
                    self.put(mark._replace(deleted_at=0, patch=""), actor="memtui", reason="retention.days")
                    db.execute("UPDATE observation_log SET was_patch = '' WHERE name = ?", (mark.name,))

    def drop_files(self) -> None:
        """Have all cards derived anew: any of their files may hold what was redacted elsewhere."""
        generation = self.generation()
        if generation:
            self.switch(generation)
            remove_files(self.directory, lambda _: True)


def remove_files(directory: str, goes: Callable[[int], bool]) -> None:
    """Remove files of derived cards by number, with SQLite's files beside them."""
    with contextlib.suppress(FileNotFoundError), fsio.closing(fsio.open_root(directory)) as folder:
        for entry in fsio.list_dir(folder):
            number, db, more = entry.name.removeprefix(FILES).partition(".db")
            ours = entry.name.startswith(FILES) and db and number.isdecimal() and not more.endswith(_ASIDE)
            if ours and goes(int(number)):
                with contextlib.suppress(FileNotFoundError):
                    try:
                        fsio.unlink(folder, entry.name)
                    except (IsADirectoryError, PermissionError):  # a folder of somebody's, which only is in the way
                        fsio.rename(folder, entry.name, folder, f"{FILES}{number}.db{more}{_ASIDE}")


def forget(database: apsw.Connection, names: list[bytes]) -> None:
    """Clear in a backup what people wrote over cards that are redacted now."""
    values = [(name,) for name in names]
    database.executemany("UPDATE observation_marks SET patch = '', state = 3 WHERE name = ?", values)
    database.executemany("UPDATE observation_log SET reason = '', was_patch = '' WHERE name = ?", values)


def _packed(mark: ObservationMark) -> str:
    import json  # a command that only reads finds no mark

    keys = [key.hex() for key in (os.fsencode(mark.path), mark.anchor, mark.text_key, mark.beside)]
    return json.dumps([mark.root, *keys, mark.state, mark.deleted_at])


def _unpacked(name: bytes, packed: str, patch: str) -> ObservationMark:
    import json

    root, path, *keys, state, deleted = json.loads(packed)
    anchor, text_key, beside = map(bytes.fromhex, keys)
    place = os.fsdecode(bytes.fromhex(path))
    return ObservationMark(name, 0, root, place, anchor, text_key, beside, state, deleted, patch)


def _said(mark: ObservationMark | None) -> tuple[object, ...]:
    return () if mark is None else (mark.state, mark.deleted_at, mark.patch)


def _words(mark: ObservationMark) -> str:
    more = [word for word, is_so in (("deleted", mark.deleted_at is not None), ("edited", mark.patch)) if is_so]
    return " ".join((STATES[mark.state], *more))
