"""The ledger's schema, as numbered steps; each runs in one transaction together with the record that it ran.

A step that was released is never edited: a ledger on somebody's disk has already run it.
"""

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
)
"""Step n (from 1) brings a ledger of version n - 1 to version n."""

LATEST = len(MIGRATIONS)
