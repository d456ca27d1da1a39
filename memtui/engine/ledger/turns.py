"""Turns, who asked them in which chat, and the journal of who caused which change.

A gateway reports turns as they happen, or they are read from a session file. Who asked is a claim: it grants no right.
The journal begins with the first turn, vote or other entry that belongs in it. Each record has the hash of the one
before it; it has ids, digests and addresses, never a text. Whoever can write the file can forge all of it: only a head
that is kept elsewhere reveals that.
"""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b, sha256
from typing import Any, NamedTuple

import apsw

from memtui.engine.ledger.database import Database, LedgerTable, Row, checked, insert, new_id, sole
from memtui.engine.ledger.versions import GONE
from memtui.engine.model import APPROVALS, SETTING
from memtui.errors import BusyError, NotFoundError, StorageError, UsageError
from memtui.safe_text import visible

_FIRST = b"\0" * 32
_ACTS = "seq, txn, root, path, new_path, actor, operation, before, after, at, state, note, new_root"
_KEY = "SELECT key FROM fingerprint_key WHERE name = 'people'"


class JournalRecord(NamedTuple):
    """One record."""

    n: int
    at: int
    kind: str
    body: str
    """A JSON object, byte for byte as it was hashed."""
    prev: bytes
    hash: bytes

    def made(self) -> bytes:
        """Compute its hash."""
        return sha256(f"{self.n}\0{self.at}\0{self.kind}\0{self.body}\0".encode() + self.prev).digest()


class Verified(NamedTuple):
    """Result of a successful verification."""

    records: int
    head: str
    """Empty when there is no record."""


class JournalTable(LedgerTable):
    """The append-only journal."""

    def add(self, kind: str, body: Mapping[str, object]) -> int:
        """Append a record, beginning the journal if need be; return its number. Call inside its transaction."""
        with self._database.transaction(durable=False) as db:
            return _add(db, self.clock(), kind, body)

    def tell_done(self, db: apsw.Connection) -> None:
        """Append records of the audit records that this transaction finished. Call at its end."""
        (key,) = sole(db.execute(_KEY))
        for (seq,) in list(db.execute("SELECT seq FROM journal_due GROUP BY seq ORDER BY min(rowid)")):
            row = sole(db.execute(f"SELECT {_ACTS} FROM audit WHERE seq = ?", (seq,)))
            cause = db.execute(
                "SELECT t.id, t.person, c.channel, c.chat, c.thread FROM txns x JOIN turns t ON t.id = x.turn"
                " LEFT JOIN chats c ON c.id = t.chat WHERE x.id = ?",
                (row[1],),
            )
            turn, person, *chat = next(iter(cause), ("", "", None, None, None))
            named = {"turn": turn, "person": person, **self.chat(*chat)}
            (root,) = sole(db.execute("SELECT root_id FROM roots WHERE id = ?", (row[2],)))
            operation = row[6]
            kind = "setting" if operation == SETTING else "approval" if operation in APPROVALS else "change"
            said = {"said": row[11]} if kind == "setting" else {}
            _add(db, self.clock(), kind, {"root": root, **_told(row, key), **named, **said})
        db.execute("DELETE FROM journal_due")

    def records(
        self, after: int = 0, *, kind: str = "", but: str = "", limit: int = 200, **wanted: tuple[str, ...]
    ) -> list[JournalRecord]:
        """Return records after a number, oldest first; with 0 the newest ones.

        Args:
            but: leave out this operation.
            wanted: for fields of the body, the values they may have.
        """
        only = (("n > ?", after), ("kind = ?", kind), ("coalesce(body ->> 'operation', '') <> ?", but))
        where = [clause for clause, value in only if value != ""]
        values: list[str | int] = [value for _, value in only if value != ""]
        for name, some in wanted.items():
            where.append(f"body ->> '{name}' IN ({', '.join('?' * len(some))})")
            values += some
        order = "" if after else " DESC"
        found = self._read(f"{' AND '.join(where)} ORDER BY n{order} LIMIT ?", *values, limit)
        return found if after else found[::-1]

    def _read(self, where: str, *values: str | int) -> list[JournalRecord]:
        sql = f"SELECT n, at, kind, body, prev, hash FROM journal WHERE {where}"
        return [*self._all(JournalRecord, sql, *values, kinds="iittbb")]

    def hashed(self, *parts: str) -> str:
        """Return a keyed hash that names a person or a chat in records."""
        key = self._cell(_KEY, kinds="b")
        return blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), key=key, digest_size=12).hexdigest()

    def chat(self, channel: str | None, chat: str | None, thread: str | None) -> dict[str, str]:
        """Return the fields that name a chat in records; empty where there is no chat."""
        return {"channel": channel, "chat": self.hashed(channel, chat or "", thread or "")} if channel else {}

    def head(self) -> str:
        """Return the end of the chain as `LOG:N:HASH`; empty when there is no record."""
        ends = self._database.rows(
            "SELECT n, hash FROM journal WHERE n = 1 OR n = (SELECT max(n) FROM journal) ORDER BY n", kinds="ib"
        )
        return f"{ends[0][1].hex()[:8]}:{ends[-1][0]}:{ends[-1][1].hex()}" if ends else ""

    @checked
    def verify(self, head: str = "") -> Verified:
        """Check every record and the audit records they are about, against a `head` that was kept elsewhere.

        Raises `E_CHAIN`, which names the first changed record, or `UsageError` for a malformed head.
        """
        log, number, digest = _parts(head)
        n, first, prev = 0, b"", _FIRST
        audit, wrong = self._audit(), dict[int, int]()
        for n, found in enumerate(self._chain(), 1):
            first = first or found.hash
            if found.n != n:
                raise _broken(n, "is missing")
            if found.prev != prev or found.hash != found.made():
                raise _broken(n, "was changed, or the one before it")
            if log and first.hex()[:8] != log:
                raise _broken(1, f"belongs to another journal than {log}")
            if n == number and found.hash.hex() != digest:
                raise _broken(n, "is another one than the head that was kept")
            body = json.loads(found.body)
            if "seq" in body:  # the newest of several records counts: what was done may turn out to be a conflict
                wrong.pop(body["seq"], None)
                if not _fits(body, audit.get(body["seq"])):
                    wrong[body["seq"]] = n
            prev = found.hash
        if number > n:
            raise _broken(n + 1, f"is missing: there were {number}")
        for seq, told in wrong.items():
            raise _broken(told, f"tells otherwise than record {seq} of the audit")
        return Verified(n, self.head())

    def _chain(self) -> Iterator[JournalRecord]:
        after = 0
        while some := self._read("n > ? ORDER BY n LIMIT 2000", after):
            yield from some
            after = some[-1].n

    def _audit(self) -> dict[int, dict[str, object]]:
        rows = self._database.rows(
            f"SELECT {_ACTS}, (SELECT t.id FROM txns x JOIN turns t ON t.id = x.turn WHERE x.id = txn) FROM audit"
            " WHERE seq IN (SELECT body ->> 'seq' FROM journal WHERE json_valid(body))",
            kinds="iIibBttBBittIT",
        )
        ((key,),) = self._database.rows(_KEY, kinds="b")
        return {row[0]: {**_told(row[:13], key), "ended": row[10], "note": row[11], "turn": row[13]} for row in rows}


def _add(db: apsw.Connection, now: int, kind: str, body: Mapping[str, object]) -> int:
    last = next(iter(db.execute("SELECT n, hash FROM journal ORDER BY n DESC LIMIT 1")), None)
    if last is None:
        last = 1, _put(db, 1, now, "begin", {"log": os.urandom(8).hex()}, _FIRST)
    _put(db, last[0] + 1, now, kind, body, last[1])
    return int(last[0]) + 1


def _put(db: apsw.Connection, n: int, now: int, kind: str, body: Mapping[str, object], prev: bytes) -> bytes:
    kept = {name: value for name, value in body.items() if value not in (None, "")}
    made = JournalRecord(n, now, kind, json.dumps(kept, separators=(",", ":")), prev, b"")
    made = made._replace(hash=made.made())
    db.execute("INSERT INTO journal VALUES (?, ?, ?, ?, ?, ?)", tuple(made))
    return made.hash


def _told(row: Row, key: bytes) -> dict[str, object]:
    """Return what `log` shows of an audit record; of its note a keyed hash, because a note may quote a text."""
    seq, txn, root, path, new_path, actor, operation, before, after, at, state, note, new_root = row
    noted = blake2b(note.encode("utf-8", "surrogatepass"), key=key, digest_size=16).hexdigest()
    places = {"uid": root, "to_uid": new_root, "noted": noted, "state": "" if state == "done" else state}
    texts = {"before": before.hex() if before else None, "after": after.hex() if after else None}
    moved = {"to": os.fsdecode(new_path)} if new_path is not None else {}
    told = {"seq": seq, "txn": txn, "path": os.fsdecode(path), **moved, "actor": actor, "operation": operation}
    return {**told, **texts, **places, "at": at}


def _fits(body: dict[str, object], audit: dict[str, object] | None) -> bool:
    if audit is None:
        return False
    names = ["txn", "path", "to", "actor", "operation", "before", "at"]
    if "noted" in body:
        names += ["after", "uid", "to_uid", "state", "turn"]
        names += ["noted"] if audit["note"] != GONE else []  # a redaction takes notes away
    elif audit["ended"] == "done":  # written by an older memtui, which told of no other end
        names.append("after")
    elif audit["ended"] != "conflict":
        return False
    return all(body.get(name) == (audit.get(name) or None) for name in names)


def _parts(head: str) -> tuple[str, int, str]:
    log, _, rest = head.partition(":")
    number, _, digest = rest.partition(":")
    if not head:
        return "", 0, ""
    if len(log) != 8 or not number.isdecimal() or len(number) > 15 or len(digest) != 64:
        raise UsageError(f"{head[:100]!r} is no head.", hint="Write it as `memtui log --verify` gave it: LOG:N:HASH.")
    return log, int(number), digest


def _broken(n: int, what: str) -> StorageError:
    return StorageError(
        f"Record {n} of the journal {what}.",
        code="E_CHAIN",
        unharmed="All memories on disk are as they were.",
        hint="Compare it with a head that was kept elsewhere; a backup of the ledger may still have it.",
        details={"record": n},
    )


QUIET_MS = 30 * 60_000
"""A turn without activity for so long is lost."""
REQUESTED, EXECUTING, ENDED, LOST = "requested", "executing", "ended", "lost"
TOLD, READ = "told", "read"
ONCE = {REQUESTED: EXECUTING, EXECUTING: ENDED}
_TURN = (
    "SELECT t.id, t.session, t.via, t.source, t.state, t.person, ifnull(p.name, ''), ifnull(c.channel, ''),"
    " ifnull(c.chat, ''), ifnull(c.thread, ''), ifnull(c.several, 0), t.requested, t.begun, t.ended, t.sign,"
    " t.schedule, t.tokens_in, t.tokens_out, t.model"
    " FROM turns t LEFT JOIN people p ON p.id = t.person LEFT JOIN chats c ON c.id = t.chat"
)
_KINDS = "ttttttttttiiIIitIIt"


class Chat(NamedTuple):
    """One conversation in a channel of a gateway."""

    channel: str
    chat: str
    thread: str = ""
    several: bool = True
    """Whether more than one person can speak in it."""


class TurnRecord(NamedTuple):
    """One prompt of a session."""

    id: str
    session: str
    via: str
    """The gateway that reported it, or the agent whose session file has it."""
    source: str
    state: str
    person: str
    """Keyed hash of the person the gateway named; empty: unknown."""
    name: str
    """Empty when it is not known, or was deleted."""
    channel: str
    chat: str
    thread: str
    several: int
    requested: int
    """In milliseconds, as all times here."""
    begun: int | None
    ended: int | None
    sign: int
    schedule: str
    tokens_in: int | None
    tokens_out: int | None
    model: str

    @property
    def who(self) -> str:
        """Display name of the person."""
        return self.name or (f"person {self.person[:6]}" if self.person else "unknown")

    @property
    def words(self) -> str:
        """Who caused it: `ann · qwen · team-eng`."""
        return " · ".join(visible(part) for part in (self.who, self.via, self.channel) if part)


class ReadTurn(NamedTuple):
    """A prompt in an agent's session file."""

    session: str
    name: str
    """The speaker, by the head of the prompt; empty: nobody is named."""
    schedule: str
    at: int
    prompt: bytes


class TurnUse(NamedTuple):
    """What a turn used, as the model's reply reports."""

    tokens_in: int | None = None
    tokens_out: int | None = None
    model: str = ""


class TurnTable(LedgerTable):
    """Turns, chats and people."""

    def __init__(self, database: Database, journal: JournalTable) -> None:
        super().__init__(database)
        self._journal = journal

    def request(
        self,
        session: str,
        via: str,
        chat: Chat | None,
        *,
        person: str = "",
        name: str = "",
        prompt: bytes | None = None,
        schedule: str = "",
    ) -> TurnRecord:
        """Record a request, durably; its session executes it later.

        `person` and `name` are as the gateway (`via`) knows them; `prompt` is the SHA-256 of the request.
        """
        now = self.clock()
        with self._database.transaction() as db:
            who = self._person(db, via, chat, person, name, now)
            said = {"session": session, "via": via, "person": who, "prompt": prompt, "schedule": schedule}
            return self._add(db, chat, source=TOLD, state=REQUESTED, requested=now, sign=now, **said)

    def _add(self, db: apsw.Connection, chat: Chat | None, **cells: Any) -> TurnRecord:
        turn = new_id()
        insert(db, "turns", id=turn, chat=self._chat(db, chat, self.clock()), **cells)
        return self._told(turn, cells["prompt"])

    def begin(self, turn: str) -> TurnRecord:
        """Mark a turn as executing; raises `E_TURN` when the session executes another one, or this one began."""
        return self._step(turn, REQUESTED)

    def end(self, turn: str, usage: TurnUse = TurnUse()) -> TurnRecord:  # noqa: B008
        """End a turn, with what it used; raises `E_TURN` when it is not executing."""
        return self._step(turn, EXECUTING, usage)

    def _step(self, turn: str, state: str, usage: TurnUse = TurnUse()) -> TurnRecord:  # noqa: B008
        with self._database.transaction() as db:
            self._lose(db)
            found = self.get(turn)
            if found.state != state:
                raise _busy(f"The turn is {found.state}, not {state}.")
            if state == REQUESTED and self.executing(found.session, found.via) is not None:
                raise _busy("The session executes another turn.")
            times = "begun" if state == REQUESTED else "ended"
            db.execute(
                f"UPDATE turns SET state = ?1, {times} = ?2, sign = ?2, tokens_in = ?3, tokens_out = ?4, model = ?5"
                " WHERE id = ?6",
                (ONCE[state], self.clock(), *usage, turn),
            )
            return self._told(turn)

    def _lose(self, db: apsw.Connection) -> None:
        now = self.clock()
        lost = "UPDATE turns SET state = 'lost', ended = ? WHERE state = 'executing' AND sign <= ? RETURNING id"
        for (turn,) in list(db.execute(lost, (now, now - QUIET_MS))):
            self._told(turn)

    def _told(self, turn: str, prompt: bytes | None = None) -> TurnRecord:
        now = self.get(turn)
        body = {"turn": now.id, "state": now.state, "session": now.session, "via": now.via, "person": now.person}
        more = {"schedule": now.schedule, "prompt": prompt.hex() if prompt else ""}
        used = {"in": now.tokens_in, "out": now.tokens_out, "model": now.model}
        self._journal.add("turn", {**body, **self._journal.chat(now.channel, now.chat, now.thread), **more, **used})
        return now

    def chat(self, chat: Chat) -> int:
        """Store a chat; return its id."""
        with self._database.transaction() as db:
            return self._chat(db, chat, self.clock()) or 0

    def chats(self) -> tuple[Chat, ...]:
        """Return the known chats, the most recently used first."""
        sql = "SELECT channel, chat, thread, several FROM chats ORDER BY at DESC LIMIT 1000"
        return self._all(Chat, sql, kinds="tttf")

    def open_chat(self, session: str, via: str, chat: Chat) -> bool:
        """Record that a session was given its chat's memory; return whether it was the first time."""
        with self._database.transaction():
            self.keep_session(session, via, "", chat)
            opened = "UPDATE chat_sessions SET opened = ? WHERE session = ? AND via = ? AND opened IS NULL"
            return self._write(opened, self.clock(), session, via)

    def keep_asked(self, chat: Chat, *asked: str) -> None:
        """Store what somebody has to confirm in a chat (what, who, code), replacing an earlier question."""
        with self._database.transaction() as db:
            now = self.clock()
            text = json.dumps([*asked, now])
            db.execute("UPDATE chats SET asked = ? WHERE id = ?", (text, self._chat(db, chat, now)))

    def take_asked(self, chat: Chat, person: str) -> tuple[str, str, int] | None:
        """Take what this person has to confirm in a chat, once: what, the code, and when it was asked."""
        with self._database.transaction() as db:
            number = self._chat(db, chat, self.clock())
            ((text,),) = db.execute("SELECT asked FROM chats WHERE id = ?", (number,))
            what, who, code, at = json.loads(text or '["", "", "", 0]')
            if not what or who != person:
                return None
            db.execute("UPDATE chats SET asked = '' WHERE id = ?", (number,))
            return what, code, at

    def _chat(self, db: apsw.Connection, chat: Chat | None, now: int) -> int | None:
        if chat is None:
            return None
        ((number,),) = db.execute(
            "INSERT INTO chats (channel, chat, thread, several, at) VALUES (?1, ?2, ?3, ?4, ?5)"
            " ON CONFLICT (channel, chat, thread) DO UPDATE SET several = ?4, at = ?5 RETURNING id",
            (*chat[:3], int(chat.several), now),
        )
        return int(number)

    def _person(self, db: apsw.Connection, via: str, chat: Chat | None, person: str, name: str, now: int) -> str:
        if not person:
            return ""
        who = self._journal.hashed(chat.channel if chat else via, person)
        if name:
            db.execute("INSERT OR REPLACE INTO people VALUES (?, ?, ?)", (who, name, now))
        return who

    def forget(self, name: str) -> int:
        """Delete a name of people, also `person 1a2b3c`; return how many had it. Their turns stay."""
        with self._database.transaction() as db:
            part = name.removeprefix("person ")
            db.execute(
                "DELETE FROM people WHERE name = ?1 OR (length(?2) >= 6 AND substr(id, 1, length(?2)) = ?2)",
                (name, part),
            )
            return int(db.changes())

    def people(self, name: str) -> tuple[str, ...]:
        """Return the ids of people with a name."""
        sql = (
            "SELECT id FROM people WHERE name = ?1 UNION SELECT person FROM turns WHERE length(?2) >= 6"
            " AND substr(person, 1, length(?2)) = ?2"
        )
        return tuple(self._column(sql, name, name.removeprefix("person "), kinds="t"))

    def keep_session(self, session: str, via: str, sender: str, chat: Chat) -> None:
        """Record the chat of a session; a gateway's own report takes precedence."""
        with self._database.transaction():
            self._write(
                "INSERT INTO chat_sessions (session, chat, via, sender) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
                session,
                self.chat(chat),
                via,
                sender,
            )

    def read_session(self, session: str) -> tuple[str, str, Chat] | None:
        """Return agent, sender and chat of a session whose turns are read from its file, or None."""
        return self._first(
            lambda via, sender, *chat: (via, sender, Chat(*chat)),
            "SELECT s.via, s.sender, c.channel, c.chat, c.thread, c.several FROM chat_sessions s"
            " JOIN chats c ON c.id = s.chat WHERE s.session = ?1"
            " AND NOT EXISTS (SELECT 1 FROM turns WHERE session = ?1 AND source = 'told')"
            " ORDER BY s.sender = '' LIMIT 1",
            session,
            kinds="tttttf",
        )

    def keep_read(self, turns: Iterable[ReadTurn]) -> None:
        """Store prompts of sessions that `read_session` knows, each once."""
        with self._database.transaction() as db:
            for turn in turns:
                known = self.read_session(turn.session)
                if known is None or self.of_prompt(turn.session, turn.prompt) is not None:
                    continue
                via, sender, chat = known
                name = turn.name if chat.several else ""  # who is alone with the agent may type anything
                person = f"name:{name}" if name else "" if chat.several else sender
                who = self._person(db, via, chat, person, name, turn.at)
                said = {"session": turn.session, "via": via, "prompt": turn.prompt, "schedule": turn.schedule}
                times = dict.fromkeys(("requested", "begun", "ended", "sign"), turn.at)
                self._add(db, chat, source=READ, state=ENDED, person=who, **said, **times)

    @property
    def known(self) -> bool:
        """Whether there ever was a turn."""
        return self._has("SELECT 1 FROM turns LIMIT 1")

    def get(self, turn: str) -> TurnRecord:
        """Return a turn by id; raises `NotFoundError`."""
        found = self._turn("t.id = ?", turn)
        if found is None:
            raise NotFoundError("There is no turn with that id.", hint="`memtui turn request` gives it.")
        return found

    def executing(self, session: str, via: str) -> TurnRecord | None:
        """Return the turn that a session of a gateway executes."""
        quiet = self.clock() - QUIET_MS
        where = "t.session = ? AND t.via = ? AND t.state = 'executing' AND t.sign > ?"
        return self._turn(where, session, via, quiet)

    def all(self, *, since: int = 0, open_only: bool = False, limit: int = 200) -> tuple[TurnRecord, ...]:
        """Return turns since a time, newest first; or only open ones."""
        only = " AND (t.state = 'requested' OR (t.state = 'executing' AND t.sign > ?))" if open_only else ""
        quiet = (self.clock() - QUIET_MS,) if open_only else ()
        sql = f"{_TURN} WHERE t.requested >= ?{only} ORDER BY t.requested DESC, t.id LIMIT ?"
        return self._all(TurnRecord, sql, since, *quiet, limit, kinds=_KINDS)

    def makers(self, uid: int, path: str) -> dict[str, TurnRecord]:
        """Return the turn that made each version of a memory, by the door's session or the session file."""
        if not self.known:
            return {}
        rows = self._database.rows(
            "SELECT t.sha, n.id FROM touches t JOIN turns n ON n.session = t.session AND n.prompt = t.prompt"
            " WHERE t.root = ?1 AND t.path = ?2 AND t.sha NOT NULL AND NOT t.gone"
            " UNION ALL SELECT a.after, x.turn FROM audit a JOIN txns x ON x.id = a.txn"
            " WHERE ((a.root = ?1 AND a.path = ?2) OR (a.new_root = ?1 AND a.new_path = ?2)) AND x.turn NOT NULL"
            " AND a.after NOT NULL",
            (uid, os.fsencode(path)),
            kinds="ht",
        )
        return self._named(rows)

    def of_records(self, seqs: Iterable[int]) -> dict[int, TurnRecord]:
        """Return the turns behind audit records, by record number, where known."""
        if not self.known:
            return {}
        touch = (
            "SELECT n.id FROM touches t JOIN turns n ON n.session = t.session AND n.prompt = t.prompt WHERE NOT t.gone"
            " AND t.root = ifnull(a.new_root, a.root) AND t.path = ifnull(a.new_path, a.path) AND t.sha = a.after"
        )
        rows = self._database.rows(
            f"SELECT a.seq, iif(a.txn IS NULL, ({touch}), x.turn) AS turn FROM audit a LEFT JOIN txns x ON x.id = a.txn"
            " WHERE a.seq IN (SELECT value FROM json_each(?)) AND turn NOT NULL",
            (json.dumps([*seqs]),),
            kinds="it",
        )
        return self._named(rows)

    def _named(self, rows: list[Row]) -> dict[Any, TurnRecord]:
        known = {turn: self._turn("t.id = ?", turn) for turn in {turn for _, turn in rows}}
        return {key: record for key, turn in rows if (record := known[turn]) is not None}

    def of_prompt(self, session: str, prompt: bytes) -> TurnRecord | None:
        """Return the turn of a prompt in a session file, by the SHA-256 of its line."""
        return self._turn("t.session = ? AND t.prompt = ?", session, prompt)

    def _turn(self, where: str, *values: str | int | bytes) -> TurnRecord | None:
        return self._first(TurnRecord, f"{_TURN} WHERE {where}", *values, kinds=_KINDS)


def sign(db: apsw.Connection, session: str, now: int) -> str | None:
    """Return the turn that a session executes, and note its activity. Call inside a transaction.

    A door knows its session and not the gateway: where two gateways use the same session id, there is none.
    """
    found = db.execute(
        "UPDATE turns SET sign = max(sign, ?1) WHERE session = ?2 AND state = 'executing' AND sign > ?3 AND NOT EXISTS"
        " (SELECT 1 FROM turns o WHERE o.session = ?2 AND o.source = 'told' AND o.via != turns.via) RETURNING id",
        (now, session, now - QUIET_MS),
    )
    return next(iter(found), (None,))[0]


def usage(tokens_in: object, tokens_out: object, model: object) -> TurnUse:
    """Validate what a gateway says that a turn used."""
    for number in (tokens_in, tokens_out):
        if number is not None and (
            not isinstance(number, int) or isinstance(number, bool) or not 0 <= number <= 10**12
        ):
            raise UsageError("Tokens are a whole number from 0.")
    if not isinstance(model, str) or len(model) > 200 or not model.isprintable():
        raise UsageError("The model's name is at most 200 visible characters.")
    return TurnUse(tokens_in, tokens_out, model)  # type: ignore[arg-type]


def _busy(text: str) -> BusyError:
    return BusyError(text, code="E_TURN", hint="`memtui who` shows what is executed, and what waits.")
