"""A ledger's file: its schema as numbered steps, whether it is sound, and how one comes under its name whole.

Nothing but a whole ledger is ever under that name: SQLite removes the log beside an empty file, also when another
process has put a ledger with that log in its place meanwhile, and what was in the log would be lost.

Each step of the schema runs in one transaction together with the record that it ran. A step that was released is never
edited: a ledger on somebody's disk has already run it.
"""

import contextlib
import os
import stat
from collections.abc import Callable, Iterable

import apsw

MIGRATIONS: tuple[str, ...] = (
    # Paths are BLOBs because a file name is bytes. `sha` and `blob` columns hold raw 32-byte digests and row ids.
    """
    CREATE TABLE migrations (version INTEGER PRIMARY KEY, at INTEGER NOT NULL);
    CREATE TABLE roots (
        id INTEGER PRIMARY KEY,
        key TEXT NOT NULL UNIQUE,
        root_id TEXT NOT NULL,
        path BLOB NOT NULL UNIQUE,
        device INTEGER,
        inode INTEGER,
        at INTEGER NOT NULL,
        baselined INTEGER NOT NULL DEFAULT 0,
        accepted INTEGER NOT NULL DEFAULT 0
    );
    CREATE TABLE memories (
        id INTEGER PRIMARY KEY,
        root INTEGER NOT NULL REFERENCES roots(id),
        path BLOB NOT NULL,
        sha BLOB,
        actor TEXT NOT NULL DEFAULT 'outside',
        at INTEGER NOT NULL DEFAULT 0,
        seen_sha BLOB,
        versions INTEGER NOT NULL DEFAULT 0,
        pinned INTEGER NOT NULL DEFAULT 0,
        uses INTEGER NOT NULL DEFAULT 0,
        heat REAL NOT NULL DEFAULT 0,
        heat_at INTEGER NOT NULL DEFAULT 0,
        last_used_at INTEGER,
        last_written_at INTEGER,
        UNIQUE (root, path)
    );
    CREATE TABLE blobs (
        id INTEGER PRIMARY KEY,
        sha BLOB NOT NULL UNIQUE,
        size INTEGER NOT NULL,
        packed INTEGER NOT NULL,
        data BLOB,
        redacted_at INTEGER,
        reason TEXT
    );
    CREATE TABLE versions (
        id INTEGER PRIMARY KEY,
        memory INTEGER NOT NULL REFERENCES memories(id),
        blob INTEGER NOT NULL REFERENCES blobs(id),
        actor TEXT NOT NULL,
        at INTEGER NOT NULL,
        operation TEXT NOT NULL,
        note TEXT NOT NULL DEFAULT ''
    );
    CREATE INDEX versions_memory ON versions (memory, id);
    CREATE TABLE txns (
        id INTEGER PRIMARY KEY,
        kind TEXT NOT NULL CHECK (kind IN ('do', 'undo', 'redo')),
        operation TEXT NOT NULL,
        actor TEXT NOT NULL,
        at INTEGER NOT NULL,
        label TEXT NOT NULL DEFAULT '',
        reverses INTEGER,
        effective INTEGER NOT NULL DEFAULT 0,
        undone INTEGER NOT NULL DEFAULT 0
    );
    CREATE INDEX txns_open ON txns (id) WHERE effective = 1 AND undone = 0;
    CREATE TABLE audit (
        seq INTEGER PRIMARY KEY,
        txn INTEGER,
        root INTEGER NOT NULL REFERENCES roots(id),
        path BLOB NOT NULL,
        new_root INTEGER,
        new_path BLOB,
        actor TEXT NOT NULL,
        operation TEXT NOT NULL,
        before BLOB,
        after BLOB,
        at INTEGER NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('intent', 'done', 'aborted', 'conflict')),
        temp TEXT,
        note TEXT NOT NULL DEFAULT ''
    );
    CREATE INDEX audit_memory ON audit (root, path, seq);
    CREATE INDEX audit_txn ON audit (txn);
    CREATE INDEX audit_open ON audit (root) WHERE state = 'intent';
    CREATE TABLE drafts (
        memory INTEGER PRIMARY KEY REFERENCES memories(id),
        base BLOB,
        packed INTEGER NOT NULL,
        data BLOB NOT NULL,
        line INTEGER NOT NULL,
        col INTEGER NOT NULL,
        at INTEGER NOT NULL
    );
    """,
    # A conflict that is being decided; it ends with the draft it is about.
    """
    CREATE TABLE conflicts (
        memory INTEGER PRIMARY KEY REFERENCES memories(id),
        base BLOB,
        yours BLOB NOT NULL,
        theirs BLOB NOT NULL,
        decisions TEXT NOT NULL,
        at INTEGER NOT NULL
    );
    """,
    # The name under which the user last saw a memory that others have renamed since.
    "ALTER TABLE memories ADD COLUMN seen_path BLOB",
    # Which folder it was that the user accepted: another one at the same path is not. What was accepted before this
    # was known is accepted anew.
    "ALTER TABLE roots ADD COLUMN accepted_as TEXT",
    # What taking a change back has to bring back besides files: how many folders memtui made for a root, and the modes
    # of folders it removed because nothing was left in them.
    """
    ALTER TABLE roots ADD COLUMN made INTEGER NOT NULL DEFAULT 0;
    CREATE TABLE folders (
        root INTEGER NOT NULL,
        path BLOB NOT NULL,
        mode INTEGER NOT NULL,
        PRIMARY KEY (root, path)
    ) WITHOUT ROWID;
    """,
    # The repository each root lies in, and where in its checkout.
    """
    CREATE TABLE repositories (
        id INTEGER PRIMARY KEY,
        common TEXT NOT NULL UNIQUE,
        path BLOB NOT NULL,
        lineage TEXT
    );
    ALTER TABLE roots ADD COLUMN repository INTEGER REFERENCES repositories(id);
    ALTER TABLE roots ADD COLUMN inside BLOB;
    """,
    # The days on which something was written, in the order in which they came, and what was there before each: ages are
    # counted in them, because a clock may be wrong.
    """
    CREATE TABLE days (
        id INTEGER PRIMARY KEY,
        day INTEGER NOT NULL UNIQUE,
        version INTEGER NOT NULL,
        audit INTEGER NOT NULL
    );
    """,
    # Pins and uses belong to a memory, which has a row in each worktree and versions under names that others take. The
    # columns of before stay as they are, or an older memtui could not even list.
    """
    CREATE TABLE usage (
        id INTEGER PRIMARY KEY,
        pinned INTEGER NOT NULL DEFAULT 0,
        uses INTEGER NOT NULL DEFAULT 0,
        heat REAL NOT NULL DEFAULT 0,
        heat_at INTEGER NOT NULL DEFAULT 0,
        last_used_at INTEGER,
        last_written_at INTEGER
    );
    INSERT INTO usage SELECT id, pinned, uses, heat, heat_at, last_used_at, last_written_at
        FROM memories WHERE pinned OR uses;
    ALTER TABLE memories ADD COLUMN usage INTEGER REFERENCES usage(id);
    ALTER TABLE versions ADD COLUMN usage INTEGER REFERENCES usage(id);
    UPDATE memories SET usage = id WHERE pinned OR uses;
    UPDATE versions SET usage = memory WHERE memory IN (SELECT id FROM usage);
    CREATE INDEX memories_usage ON memories (usage) WHERE usage NOT NULL;
    """,
    # Which texts agents may be given unasked in a root that lies in a checkout. What a folder was accepted for is the
    # texts that were recorded in it; what was written here is told by the audit. An older memtui finds none accepted.
    """
    CREATE TABLE trusted (
        id INTEGER PRIMARY KEY,
        root INTEGER NOT NULL REFERENCES roots(id),
        sha BLOB NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('local', 'reviewed')),
        UNIQUE (root, sha, state)
    );
    INSERT OR IGNORE INTO trusted (root, sha, state)
        SELECT root, after, 'local' FROM audit
        WHERE state = 'done' AND txn NOT NULL AND operation IN ('created', 'modified') AND after NOT NULL;
    INSERT OR IGNORE INTO trusted (root, sha, state)
        SELECT m.root, m.sha, 'reviewed' FROM memories m JOIN roots r ON r.id = m.root
        WHERE r.accepted AND r.accepted_as NOT NULL AND m.sha NOT NULL;
    UPDATE roots SET accepted = 0, accepted_as = NULL;
    """,
    # Redacted texts of which bytes may still be in freed pages and in backups.
    "CREATE TABLE erasing (sha BLOB PRIMARY KEY) WITHOUT ROWID",
    # When a file that was deleted had been changed last, for the undo of it.
    "ALTER TABLE audit ADD COLUMN dated INTEGER",
    # A version stays redacted when its text is stored again, because it is on disk somewhere.
    """
    ALTER TABLE versions ADD COLUMN redacted INTEGER NOT NULL DEFAULT 0;
    UPDATE versions SET redacted = 1 WHERE blob IN (SELECT id FROM blobs WHERE redacted_at NOT NULL);
    """,
    # Where readers of agents' session files stopped.
    """
    CREATE TABLE cursors (
        consumer TEXT NOT NULL,
        file BLOB NOT NULL,
        device INTEGER NOT NULL,
        inode INTEGER NOT NULL,
        place INTEGER NOT NULL,
        head BLOB NOT NULL,
        tail BLOB NOT NULL,
        version INTEGER NOT NULL,
        leaf TEXT NOT NULL,
        PRIMARY KEY (consumer, file)
    ) WITHOUT ROWID;
    """,
    # What is suggested and waits for a decision. The steps of a proposal hold texts, as base64; empty: forgotten.
    """
    CREATE TABLE proposals (
        id INTEGER PRIMARY KEY,
        run TEXT NOT NULL,
        proposer TEXT NOT NULL,
        kind TEXT NOT NULL,
        steps TEXT NOT NULL,
        marks TEXT NOT NULL,
        why TEXT NOT NULL,
        confidence REAL NOT NULL,
        fingerprint TEXT NOT NULL,
        basis TEXT NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('open', 'later', 'stale', 'blocked', 'accepted', 'applying', 'applied',
            'rejected', 'superseded')),
        at INTEGER NOT NULL,
        decided_by TEXT NOT NULL DEFAULT '',
        decided_at INTEGER,
        day INTEGER REFERENCES days(id),
        txn INTEGER REFERENCES txns(id),
        note TEXT NOT NULL,
        hunks TEXT NOT NULL DEFAULT '',
        cause TEXT NOT NULL DEFAULT '',
        folders TEXT NOT NULL
    );
    CREATE INDEX proposals_fingerprint ON proposals (fingerprint);
    CREATE INDEX proposals_state ON proposals (state);
    CREATE TABLE evidence (
        proposal INTEGER NOT NULL REFERENCES proposals(id),
        nth INTEGER NOT NULL,
        kind TEXT NOT NULL,
        name TEXT NOT NULL,
        sha TEXT NOT NULL,
        place TEXT NOT NULL,
        quote TEXT NOT NULL,
        PRIMARY KEY (proposal, nth)
    ) WITHOUT ROWID;
    CREATE TABLE proposal_bases (
        proposal INTEGER NOT NULL REFERENCES proposals(id),
        sha BLOB NOT NULL,
        PRIMARY KEY (proposal, sha)
    ) WITHOUT ROWID;
    CREATE TABLE fingerprint_key (name TEXT PRIMARY KEY, key BLOB NOT NULL) WITHOUT ROWID;
    INSERT INTO fingerprint_key VALUES ('proposals', randomblob(32));
    """,
    # Background work: requests in lanes, what was done for them, what followers are told; which memories a session of
    # an agent was given unasked; and for which task or run a transaction was made, and whether it got to its end.
    """
    CREATE TABLE tasks (
        seq INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        workspace TEXT NOT NULL,
        kind TEXT NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('queued', 'running', 'completed', 'failed', 'cancelled')),
        client TEXT NOT NULL,
        trigger TEXT NOT NULL,
        request TEXT,
        digest TEXT NOT NULL,
        key TEXT,
        created INTEGER NOT NULL,
        updated INTEGER NOT NULL,
        not_before INTEGER NOT NULL,
        attempt INTEGER NOT NULL DEFAULT 0,
        stopping INTEGER NOT NULL DEFAULT 0,
        plan TEXT,
        txn INTEGER REFERENCES txns(id),
        result TEXT,
        code TEXT,
        message TEXT,
        progress TEXT NOT NULL DEFAULT ''
    );
    CREATE INDEX tasks_lane ON tasks (workspace, state, seq);
    CREATE INDEX tasks_key ON tasks (key) WHERE key NOT NULL;
    CREATE TABLE runs (
        seq INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        task TEXT NOT NULL,
        kind TEXT NOT NULL,
        workspace TEXT NOT NULL,
        trigger TEXT NOT NULL,
        worker TEXT NOT NULL,
        sent TEXT NOT NULL,
        reply TEXT NOT NULL,
        outcome TEXT NOT NULL,
        counts TEXT NOT NULL,
        at INTEGER NOT NULL,
        ended INTEGER NOT NULL
    );
    CREATE INDEX runs_kind ON runs (workspace, kind, seq);
    CREATE TABLE task_events (
        seq INTEGER PRIMARY KEY,
        at INTEGER NOT NULL,
        kind TEXT NOT NULL,
        client TEXT NOT NULL,
        payload TEXT NOT NULL
    );
    CREATE TABLE surfaced (
        session TEXT NOT NULL,
        memory INTEGER NOT NULL REFERENCES memories(id),
        at INTEGER NOT NULL,
        PRIMARY KEY (session, memory)
    ) WITHOUT ROWID;
    ALTER TABLE txns ADD COLUMN cause TEXT;
    ALTER TABLE txns ADD COLUMN whole INTEGER NOT NULL DEFAULT 0;
    CREATE INDEX txns_cause ON txns (cause) WHERE cause NOT NULL;
    """,
    # What a person decided about changes of others, each of one version, and has not carried out yet.
    """
    CREATE TABLE change_decisions (
        memory INTEGER PRIMARY KEY REFERENCES memories(id),
        sha BLOB,
        state TEXT NOT NULL
    );
    """,
    # Whether with a rejected proposal its kind, by the same proposer and about the same folders, is refused for good.
    "ALTER TABLE proposals ADD COLUMN standing INTEGER NOT NULL DEFAULT 0",
    # What people decided about observations, by which each is found again, and who decided it; the key of the hashes,
    # and the number of the file that has the observations.
    """
    CREATE TABLE observing (
        id INTEGER PRIMARY KEY CHECK (id = 1),
        secret BLOB NOT NULL,
        generation INTEGER NOT NULL DEFAULT 0
    );
    INSERT INTO observing (id, secret) VALUES (1, randomblob(32));
    CREATE TABLE observation_marks (
        name BLOB PRIMARY KEY,
        seq INTEGER NOT NULL UNIQUE,
        root INTEGER NOT NULL REFERENCES roots(id),
        path BLOB NOT NULL,
        anchor BLOB NOT NULL,
        text_key BLOB NOT NULL,
        beside BLOB NOT NULL,
        state INTEGER NOT NULL CHECK (state BETWEEN 0 AND 3),
        deleted_at INTEGER,
        patch TEXT NOT NULL
    ) WITHOUT ROWID;
    CREATE INDEX observation_marks_place ON observation_marks (root, path);
    CREATE TABLE observation_log (
        seq INTEGER PRIMARY KEY,
        name BLOB NOT NULL,
        before TEXT NOT NULL,
        after TEXT NOT NULL,
        actor TEXT NOT NULL,
        at INTEGER NOT NULL,
        reason TEXT NOT NULL
    );
    """,
)
"""Step n (from 1) brings a ledger of version n - 1 to version n."""

LATEST = len(MIGRATIONS)


def size(path: str) -> int:
    """The size of a file; 0 when there is none."""
    try:
        return os.stat(path).st_size
    except FileNotFoundError:
        return 0


def may_be_one(path: str) -> bool:
    """Whether a regular file that may be written has the name, or nothing yet."""
    try:
        handle = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return True
    try:
        return stat.S_ISREG(os.fstat(handle).st_mode)
    finally:
        os.close(handle)


def is_regular(path: str) -> bool:
    """Whether a regular file has the name."""
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False


def glimpse(names: Iterable[str]) -> apsw.Connection | None:
    """The first of some files that is a ledger, to be read without the log beside it when none can be used."""
    for name in filter(is_regular, names):
        try:
            database = apsw.Connection(_unchanging(name), flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
        except apsw.Error:
            continue
        try:
            if version_of(database) == LATEST and has_tables(database):
                return database
        except (apsw.NotADBError, apsw.CorruptError):
            pass  # the next one
        database.close()
    return None


def _unchanging(path: str) -> str:
    """How a file is named to read it alone, without a log and without writing anything."""
    escaped = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    return f"file:{escaped}?immutable=1"


def is_sound(path: str, wait: int) -> bool:
    """Whether a whole ledger is under a name.

    Args:
        path: the name.
        wait: how long another process's transaction is waited for, in milliseconds.
    """
    if not size(path):
        return False
    try:
        database = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)
    except apsw.Error:
        return False
    try:
        database.set_busy_timeout(wait)
        if next(iter(database.execute("PRAGMA quick_check(1)")))[0] != "ok":
            return False
        return bool(version_of(database)) and has_tables(database)
    except apsw.Error:
        return False
    finally:
        database.close()


ASIDE = ".damaged-"
"""Between the name of a ledger that was moved aside and the time."""
MENDED = ".part-mended"
"""Behind the name of a ledger that is whole and waits for the place; what is left of it is swept up as a part."""
_OURS = {"roots", "memories", "blobs", "versions", "txns", "audit", "drafts"}


def has_tables(database: apsw.Connection) -> bool:
    """Whether a ledger is whole, and no file somebody put in its place."""
    return _tables(database) >= _OURS


def is_ledger(database: apsw.Connection) -> bool:
    """Whether this is a ledger, or what is left of one, and not another program's database."""
    return len(_tables(database) & _OURS) > 1


def _tables(database: apsw.Connection) -> set[str]:
    return {name for (name,) in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}


def version_of(database: apsw.Connection) -> int:
    """How many steps of `MIGRATIONS` a ledger has; 0 for none."""
    return int(next(iter(database.execute("PRAGMA user_version")))[0])


def begin(target: str, clock: Callable[[], int]) -> None:
    """Put an empty ledger under a name, whole: half of one would be taken for a damaged one."""
    for suffix in ("-wal", "-shm"):
        _remove(target + suffix)  # of a ledger that was removed: they would be taken for the new one's
    part = fresh(target)
    database = apsw.Connection(part, flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        # Nobody misses a half one, and the whole one is flushed before it gets its name.
        database.execute("PRAGMA journal_mode=MEMORY")
        database.execute("PRAGMA synchronous=OFF")
        migrate(database, clock)
    finally:
        database.close()
    finish(part, target)


def fresh(target: str) -> str:
    """Make an empty file beside a name, for what will have it; returns its name."""
    part = target + ".part"
    remove(part)  # of a process that was stopped at it
    os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    return part


def _remove(path: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)


def finish(part: str, target: str) -> None:
    """Give a ledger its name once it is on disk and has a write-ahead log: for that it must be alone."""
    database = apsw.Connection(part, flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        database.execute("PRAGMA synchronous=OFF")  # it is flushed below, as a whole
        database.execute("PRAGMA journal_mode=WAL")
    finally:
        database.close()
    handle = os.open(part, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
    os.replace(part, target)


def take_place(path: str, stamp: int) -> str:
    """Give a ledger that is whole and waits its name; returns that of the one that was there, nothing for none."""
    kept = ""
    # The ledger first: nobody opens it any more then, and its log can go after it.
    for suffix in ("", "-wal", "-shm"):
        if os.path.lexists(path + suffix):
            os.replace(path + suffix, f"{path}{ASIDE}{stamp}{suffix}")
            kept = f"{path}{ASIDE}{stamp}"
    os.replace(path + MENDED, path)
    return kept


def resume(path: str, stamp: int) -> None:
    """Bring to its end what a process was stopped at just before the new ledger got its name."""
    if os.path.lexists(path + MENDED) and not os.path.lexists(path):
        take_place(path, stamp)


def newest_aside(path: str) -> str | None:
    """The ledger that was moved aside last."""
    folder, name = os.path.split(path + ASIDE)
    stamps = [each.removeprefix(name) for each in os.listdir(folder) if each.startswith(name)]
    newest = max((int(stamp) for stamp in stamps if stamp.isdigit()), default=None)
    return None if newest is None else f"{path}{ASIDE}{newest}"


def remove(path: str) -> None:
    """Remove a ledger and what is beside it."""
    for suffix in ("", "-wal", "-shm"):
        _remove(path + suffix)


def backup_time(path: str) -> int:
    """When a backup was made, in milliseconds."""
    digits = os.path.basename(path)[len("state-") : -len(".db")]
    return int(digits) if digits.isdigit() else 0


def migrate(database: apsw.Connection, clock: Callable[[], int], *, upto: int = LATEST) -> None:
    """Bring the tables of a ledger up to date, or up to a version; those of an empty one are made."""
    for number, step in enumerate(MIGRATIONS[:upto], start=1):
        database.execute("BEGIN IMMEDIATE")
        try:
            if version_of(database) < number:
                database.execute(step)
                database.execute("INSERT INTO migrations VALUES (?, ?)", (number, clock()))
                database.execute(f"PRAGMA user_version={number}")
            database.execute("COMMIT")
        except BaseException:
            if database.in_transaction:
                database.execute("ROLLBACK")
            raise
