"""What agents' session files say that sessions did to memories, and how far each file was read.

A touch belongs to one call. The same call in copies of a session, as a fork makes them, has a row for each file and
counts once. No content is kept: of the prompt only its position, of written text only keyed digests.
"""

import os
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from typing import Any, NamedTuple

import apsw

from memtui.engine.ledger.database import Database, LedgerTable
from memtui.engine.ledger.usage import Use, write
from memtui.engine.model import Address

LAST = 30
"""Sessions over which opens of a memory are counted."""
SAME_USE_MS = 2_000
"""A use through memtui's own door this near to a call is the same use."""
DIGEST = 8
_LINES = 4_000
_LIVE = "NOT gone"


class SessionCursor(NamedTuple):
    """How far a session file was read, and how to tell that it is still the same file."""

    device: int
    inode: int
    offset: int
    """In bytes; after a line feed."""
    head: bytes
    """SHA-256 of the first 1,024 bytes, or of those before the offset."""
    tail: bytes
    """SHA-256 of the 256 bytes before the offset."""
    version: int
    leaf: str
    """Id of the last record, where the agent keeps a tree."""


class CursorTable(LedgerTable):
    """Positions in session files."""

    def get(self, consumer: str, file: str) -> SessionCursor | None:
        """Return a consumer's position in a file; None when it has not read it."""
        sql = "SELECT device, inode, place, head, tail, version, leaf FROM cursors WHERE consumer = ? AND file = ?"
        return self._first(SessionCursor, sql, consumer, os.fsencode(file), kinds="iiibbit")

    def move(self, consumer: str, file: str, cursor: SessionCursor) -> None:
        """Store a consumer's position. Call inside the transaction that stores what was read."""
        self._write(
            "INSERT OR REPLACE INTO cursors VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", consumer, os.fsencode(file), *cursor
        )


class PromptPlace(NamedTuple):
    """Position of the prompt that a call answered."""

    file: str
    offset: int
    length: int
    sha: bytes
    """Digest of the line and of which prompt of it; another digest is another prompt."""


class Touch(NamedTuple):
    """One thing that a call did to a memory."""

    call: str
    """Its id; of a write followed by `#` and what tells it from another one with that id."""
    kind: str
    """`opened`, `searched`, `loaded`, `wrote`, `created` or `deleted`."""
    uid: int
    path: str
    at: int
    sha: str | None = None
    """Of the text afterwards, where the call has all of it."""
    added: bytes = b""
    """Digests of the lines it wrote (`TouchTable.digests`)."""
    taint: str = ""
    """What the session had read from outside since the prompt."""
    exact: bool = True
    """Whether it wrote what was asked: no person changed it on the way."""
    prompt: PromptPlace | None = None
    agent: str = ""
    session: str = ""
    number: int = 0


class SessionFile(NamedTuple):
    """A session file that was read."""

    file: str
    agent: str
    session: str
    cwd: str
    began: int
    ended: int
    prompt: PromptPlace | None = None
    taint: str = ""


class SessionUse(NamedTuple):
    """What one session did to one memory."""

    address: Address
    kind: str
    calls: int
    taint: str


class SessionTouches(NamedTuple):
    """One session of an agent."""

    agent: str
    session: str
    cwd: str
    began: int
    ended: int
    uses: tuple[SessionUse, ...]


class UseCounts(NamedTuple):
    """How many of the last sessions in its folder loaded a memory, and how many opened it."""

    loaded: int
    opened: int
    sessions: int


class TouchTable(LedgerTable):
    """Touches by session and by memory."""

    def __init__(self, database: Database, cursors: CursorTable) -> None:
        super().__init__(database)
        self.cursors = cursors

    def key(self) -> bytes:
        """Return the key of line digests."""
        return bytes(self._cell("SELECT key FROM fingerprint_key WHERE name = 'touches'", kinds="b"))

    def digests(self, lines: Iterable[str]) -> bytes:
        """Return keyed digests of lines; blank ones and those after the first `_LINES` are skipped."""
        key = self.key()
        found = {line_digest(key, line): None for line in lines if line.strip()}
        return b"".join([*found][:_LINES])

    def file(self, file: str) -> SessionFile | None:
        """Return what is known of a session file; None when it was never read."""
        return self._first(
            lambda taint, *row: SessionFile(*(file, *row[3:], _place(file, *row[:3]), taint)),
            "SELECT taint, place, length, prompt, agent, session, cwd, began, ended FROM session_files WHERE file = ?",
            os.fsencode(file),
            kinds="tIIBtttii",
        )

    def keep(
        self,
        file: SessionFile,
        touches: Iterable[Touch],
        failed: Iterable[str],
        cursor: tuple[str, SessionCursor],
        *,
        whole: bool,
    ) -> tuple[tuple[int, str], ...]:
        """Store what was read of a session file, and its position, in one transaction.

        Args:
            failed: ids of calls that failed after an earlier pass counted them as done.
            cursor: the consumer and its position.
            whole: the file was read from its start, which replaces what earlier passes found.

        Returns roots and paths of memories that have more uses now.
        """
        name = os.fsencode(file.file)
        with self._database.transaction() as db:
            if whole:
                db.execute("UPDATE touches SET gone = 1 WHERE file = ?", (name,))
            for call in failed:
                # another file may hold the same id for a call that did not fail
                key = name, file.agent, call, f"{call}#"
                same = "(call = ?3 OR substr(call, 1, length(?4)) = ?4)"
                db.execute(f"UPDATE touches SET gone = 1 WHERE file = ?1 AND agent = ?2 AND {same}", key)
            upto = next(iter(db.execute("SELECT max(upto) FROM forgotten_touches")))[0] or 0
            uses = [one for one in touches if one.at > upto and self._put(db, file, one) and one.kind == "opened"]
            counted = [Use(one.uid, one.path, one.at, wrote=False) for one in uses if not self._is_counted(one)]
            write(db, sorted(counted, key=lambda use: use.at))
            last = file.prompt[1:] if file.prompt is not None else (None, None, None)
            db.execute(
                "INSERT OR REPLACE INTO session_files VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (name, file.agent, file.session, file.cwd, file.began, file.ended, *last, file.taint),
            )
            self.cursors.move(cursor[0], file.file, cursor[1])
        return tuple(dict.fromkeys((use.uid, use.path) for use in counted))

    def _put(self, db: apsw.Connection, file: SessionFile, one: Touch) -> bool:
        key = (file.agent, one.call, one.kind, one.uid, os.fsencode(one.path))
        where = "agent = ? AND call = ? AND kind = ? AND root = ? AND path = ?"
        known = any(db.execute(f"SELECT 1 FROM touches WHERE {where} LIMIT 1", key))
        prompt = one.prompt[1:] if one.prompt is not None else (None, None, None)
        sha = bytes.fromhex(one.sha) if one.sha else None
        db.execute(
            "INSERT INTO touches (agent, session, call, kind, root, path, at, sha, added, taint, exact, file,"
            " place, length, prompt) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)"
            " ON CONFLICT (agent, call, kind, root, path, file) DO UPDATE SET gone = 0, session = ?2, at = ?7,"
            " sha = ifnull(?8, sha), added = ?9, taint = ?10, exact = ?11, place = ?13, length = ?14, prompt = ?15",
            (
                *(key[0], file.session, *key[1:], one.at, sha, one.added, one.taint, int(one.exact)),
                *(os.fsencode(file.file), *prompt),
            ),
        )
        return not known

    def _is_counted(self, one: Touch) -> bool:
        """Tell whether memtui's own door counted this use: the last one was then, and of no other call."""
        sql = (
            "SELECT 1 FROM memories m JOIN usage u ON u.id = m.usage"
            " WHERE m.root = ?1 AND m.path = ?2 AND abs(u.last_used_at - ?3) <= ?4 AND NOT EXISTS (SELECT 1 FROM"
            " touches t WHERE t.root = ?1 AND t.path = ?2 AND t.kind = 'opened' AND t.at = u.last_used_at"
            " AND t.call != ?5)"
        )
        return self._has(sql, one.uid, os.fsencode(one.path), one.at, SAME_USE_MS, one.call)

    def forget(self) -> int:
        """Delete all touches and never store earlier ones again; return how many there were."""
        with self._database.transaction() as db:
            ((count,),) = db.execute(f"SELECT count(*) FROM (SELECT 1 FROM touches WHERE {_LIVE} GROUP BY agent, call)")
            db.execute("DELETE FROM touches")
            db.execute("DELETE FROM session_files")
            db.execute("DELETE FROM forgotten_touches")
            db.execute("INSERT INTO forgotten_touches VALUES (?)", (self.clock(),))
        return int(count)

    def sessions(
        self,
        names: Mapping[int, str],
        *,
        agent: str = "",
        since: int = 0,
        memory: tuple[int, str] | None = None,
        limit: int = 200,
    ) -> tuple[SessionTouches, ...]:
        """Return the sessions that touched a memory of these roots, newest first.

        Optionally only one agent's, those after a time in milliseconds, or those that touched one memory (root, path).
        """
        where = [_LIVE, f"root IN ({', '.join(map(str, names)) or 'NULL'})", "at > ?"]
        values: list[str | int | bytes] = [since]
        if agent:
            where.append("agent = ?")
            values.append(agent)
        if memory is not None:
            where.append("root = ? AND path = ?")
            values += [memory[0], os.fsencode(memory[1])]
        found = self._database.rows(
            f"SELECT agent, session, min(at), max(at) FROM touches WHERE {' AND '.join(where)}"
            " GROUP BY agent, session ORDER BY max(at) DESC, agent, session LIMIT ?",
            (*values, limit),
            kinds="ttii",
        )
        return tuple(self._session(names, *row) for row in found)

    def _session(self, names: Mapping[int, str], agent: str, session: str, began: int, ended: int) -> SessionTouches:
        file = self._database.row(
            "SELECT cwd, min(began), max(ended) FROM session_files WHERE agent = ? AND session = ?",
            (agent, session),
            kinds="TII",
        )
        cwd, first, last = file or (None, None, None)
        rows = self._database.rows(
            f"SELECT root, path, kind, count(DISTINCT call), max(taint) FROM touches WHERE {_LIVE} AND agent = ?"
            " AND session = ? GROUP BY root, path, kind ORDER BY max(at), path",
            (agent, session),
            kinds="iptit",
        )
        uses = tuple(
            SessionUse(Address(names[root], path), kind, calls, taint)
            for root, path, kind, calls, taint in rows
            if root in names
        )
        return SessionTouches(agent, session, cwd or "", min(began, first or began), max(ended, last or ended), uses)

    def counts(self, uid: int, path: str) -> UseCounts:
        """Return how many of the last sessions in its folder loaded a memory, and how many opened it."""
        rows = self._database.rows(
            f"WITH last AS (SELECT agent, session FROM touches WHERE root = ?1 AND {_LIVE} GROUP BY agent, session"
            " ORDER BY max(at) DESC LIMIT ?3)"
            " SELECT (SELECT count(*) FROM last), kind, count(*) FROM (SELECT DISTINCT t.agent, t.session, t.kind"
            " FROM touches t JOIN last USING (agent, session)"
            f" WHERE t.root = ?1 AND t.path = ?2 AND {_LIVE}) GROUP BY kind",
            (uid, os.fsencode(path), LAST),
            kinds="iti",
        )
        many = {kind: count for _, kind, count in rows}
        return UseCounts(many.get("loaded", 0), many.get("opened", 0), rows[0][0] if rows else 0)

    def never_opened(self, uid: int, since: int, least: int) -> frozenset[str]:
        """Return paths that every session since a time was given and none opened or changed.

        Empty unless at least `least` sessions were given them, and sessions from before that time are known.
        """
        given = f"SELECT path, agent, session FROM touches WHERE root = ?1 AND {_LIVE} AND at > ?2 AND kind = 'loaded'"
        found = self._column(
            f"WITH given AS ({given} GROUP BY 1, 2, 3), starts AS (SELECT DISTINCT agent, session FROM given)"
            " SELECT path FROM given GROUP BY path HAVING count(*) >= ?3 AND count(*) = (SELECT count(*) FROM starts)"
            f" AND path NOT IN (SELECT path FROM touches WHERE root = ?1 AND {_LIVE} AND at > ?2 AND kind != 'loaded')"
            f" AND EXISTS (SELECT 1 FROM touches WHERE root = ?1 AND {_LIVE} AND at <= ?2)",
            uid,
            since,
            least,
            kinds="p",
        )
        return frozenset(found)

    def of(self, uid: int, path: str) -> tuple[Touch, ...]:
        """Return what calls did to a memory, each once, oldest first."""
        return self._touches("root = ? AND path = ?", uid, os.fsencode(path))

    def taints(self) -> dict[tuple[int, str, str], str]:
        """Return what sessions had read from outside before they wrote a text: by root, path and SHA-256, or `""`."""
        rows = self._database.rows(
            f"SELECT root, path, coalesce(sha, x''), taint FROM touches WHERE {_LIVE} AND taint != '' ORDER BY at",
            kinds="ipht",
        )
        return {(root, path, sha): taint for root, path, sha, taint in rows}

    def maker(self, uid: int, path: str, sha: str) -> Touch | None:
        """Return the last call that says it wrote exactly this text."""
        found = self._touches("root = ? AND path = ? AND sha = ?", uid, os.fsencode(path), bytes.fromhex(sha))
        return found[-1] if found else None

    def numbered(self, numbers: Iterable[int]) -> dict[int, Touch]:
        """Return touches by row id, those that are still known."""
        wanted = sorted(set(numbers))
        found = self._touches(f"id IN ({', '.join('?' * len(wanted))})", *wanted)
        return {one.number: one for one in found}

    def _touches(self, where: str, *values: int | bytes) -> tuple[Touch, ...]:
        return self._all(
            _touch,
            "SELECT call, kind, root, path, at, sha, added, taint, exact, file, place, length, prompt, agent, session,"
            f" min(id) FROM touches WHERE {where} AND {_LIVE} GROUP BY agent, call, kind, root, path ORDER BY at",
            *values,
            kinds="ttipiHbtfpIIBtti",
        )


def line_digest(key: bytes, line: str) -> bytes:
    """Return the keyed digest of a line, without its line ending."""
    return blake2b(line.rstrip().encode("utf-8", "surrogateescape"), key=key, digest_size=DIGEST).digest()


def _place(file: str, offset: int | None, length: int | None, sha: bytes | None) -> PromptPlace | None:
    return None if offset is None or length is None or sha is None else PromptPlace(file, offset, length, sha)


def _touch(*row: Any) -> Touch:
    return Touch(*(*row[:9], _place(*row[9:13]), *row[13:]))
