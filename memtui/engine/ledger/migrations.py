"""The schema of the ledger as numbered steps.

A released step is never edited: existing ledgers have already run it. It is apart because it only grows, by one step
for each change, and nothing in it runs by itself (`creation.py`).
"""

MIGRATIONS: tuple[str, ...] = (
    # Paths are BLOBs, as a file name is bytes; `sha` holds 32-byte digests, `blob` row ids.
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
    # Conflicts that are being decided; one ends with its draft.
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
    # The last seen name of a memory that others have renamed since.
    "ALTER TABLE memories ADD COLUMN seen_path BLOB",
    # Which folder the user accepted: another one at the same path is not accepted.
    "ALTER TABLE roots ADD COLUMN accepted_as TEXT",
    # For undo: how many folders memtui made for a root, and the modes of emptied folders it removed.
    """
    ALTER TABLE roots ADD COLUMN made INTEGER NOT NULL DEFAULT 0;
    CREATE TABLE folders (
        root INTEGER NOT NULL,
        path BLOB NOT NULL,
        mode INTEGER NOT NULL,
        PRIMARY KEY (root, path)
    ) WITHOUT ROWID;
    """,
    # The repository of each root, and its place in the checkout.
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
    # Days with writes, and what was there before each: ages are counted in them, as a clock may be wrong.
    """
    CREATE TABLE days (
        id INTEGER PRIMARY KEY,
        day INTEGER NOT NULL UNIQUE,
        version INTEGER NOT NULL,
        audit INTEGER NOT NULL
    );
    """,
    # Pins and uses of a memory in all worktrees. The old columns stay, or an older memtui could not even list.
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
    # Texts of checkouts that agents may be given unasked; those of accepted folders count as reviewed.
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
    # Redacted texts whose bytes may still be in freed pages and backups.
    "CREATE TABLE erasing (sha BLOB PRIMARY KEY) WITHOUT ROWID",
    # Modification time of a deleted file, for its undo.
    "ALTER TABLE audit ADD COLUMN dated INTEGER",
    # A version stays redacted when its text is stored again.
    """
    ALTER TABLE versions ADD COLUMN redacted INTEGER NOT NULL DEFAULT 0;
    UPDATE versions SET redacted = 1 WHERE blob IN (SELECT id FROM blobs WHERE redacted_at NOT NULL);
    """,
    # Positions in agents' session files.
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
    # Proposals. Their steps hold texts as base64; empty: deleted.
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
    # Tasks, runs, events; memories given to sessions unasked; the cause of a transaction, and whether it was completed.
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
    # Decisions about versions made by others that are not carried out yet.
    """
    CREATE TABLE change_decisions (
        memory INTEGER PRIMARY KEY REFERENCES memories(id),
        sha BLOB,
        state TEXT NOT NULL
    );
    """,
    # Whether a rejection covers all proposals of this kind by the proposer about the same folders.
    "ALTER TABLE proposals ADD COLUMN standing INTEGER NOT NULL DEFAULT 0",
    # Decisions about observations, the key of their hashes, and the number of the file with derived cards.
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
    # What sessions did to memories, by their files. No content: only keyed 8-byte digests of lines (`added`), and
    # where the prompt stands. A touch that its file no longer has is `gone`, and is not counted again when it returns.
    """
    CREATE TABLE touches (
        id INTEGER PRIMARY KEY,
        agent TEXT NOT NULL,
        session TEXT NOT NULL,
        call TEXT NOT NULL,
        kind TEXT NOT NULL CHECK (kind IN ('opened', 'searched', 'loaded', 'wrote', 'created', 'deleted')),
        root INTEGER NOT NULL REFERENCES roots(id),
        path BLOB NOT NULL,
        at INTEGER NOT NULL,
        sha BLOB,
        added BLOB NOT NULL,
        taint TEXT NOT NULL,
        exact INTEGER NOT NULL,
        file BLOB NOT NULL,
        place INTEGER,
        length INTEGER,
        prompt BLOB,
        gone INTEGER NOT NULL DEFAULT 0,
        UNIQUE (agent, call, kind, root, path, file)
    );
    CREATE INDEX touches_memory ON touches (root, path);
    CREATE INDEX touches_session ON touches (agent, session);
    CREATE INDEX touches_file ON touches (file);
    CREATE TABLE session_files (
        file BLOB PRIMARY KEY,
        agent TEXT NOT NULL,
        session TEXT NOT NULL,
        cwd TEXT NOT NULL,
        began INTEGER NOT NULL,
        ended INTEGER NOT NULL,
        place INTEGER,
        length INTEGER,
        prompt BLOB,
        taint TEXT NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE forgotten_touches (upto INTEGER NOT NULL);
    INSERT INTO fingerprint_key VALUES ('touches', randomblob(32));
    """,
    # Origins of the lines of each version, as runs; the row without a sha says what they were computed from.
    """
    CREATE TABLE origins (
        memory INTEGER NOT NULL REFERENCES memories(id),
        sha BLOB NOT NULL,
        before BLOB NOT NULL,
        runs TEXT NOT NULL,
        PRIMARY KEY (memory, sha)
    ) WITHOUT ROWID;
    """,
    # Muted findings, by a keyed hash of root and rule, and of memory and lines unless it is for all of the root.
    """
    CREATE TABLE mutes (
        mark BLOB PRIMARY KEY,
        root INTEGER NOT NULL REFERENCES roots(id),
        path BLOB NOT NULL,
        rule TEXT NOT NULL,
        reason TEXT NOT NULL,
        at INTEGER NOT NULL
    ) WITHOUT ROWID;
    """,
    # For undo of a decision: its audit record, and the mark and patch before it.
    """
    ALTER TABLE observation_log ADD COLUMN step INTEGER;
    ALTER TABLE observation_log ADD COLUMN was TEXT NOT NULL DEFAULT '';
    ALTER TABLE observation_log ADD COLUMN was_patch TEXT NOT NULL DEFAULT '';
    CREATE INDEX observation_log_step ON observation_log (step) WHERE step NOT NULL;
    CREATE INDEX observation_log_name ON observation_log (name, seq);
    """,
    # Schedules, and one-time claims: due times and messages.
    """
    CREATE TABLE schedules (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        name TEXT NOT NULL UNIQUE,
        spec TEXT NOT NULL,
        zone TEXT NOT NULL,
        words TEXT NOT NULL,
        target TEXT NOT NULL,
        label TEXT NOT NULL,
        creator TEXT NOT NULL,
        workspace TEXT NOT NULL,
        made INTEGER NOT NULL,
        upto INTEGER NOT NULL,
        paused TEXT NOT NULL,
        failures INTEGER NOT NULL,
        waits INTEGER NOT NULL
    );
    CREATE TABLE claims (
        key TEXT PRIMARY KEY,
        at INTEGER NOT NULL,
        state TEXT NOT NULL DEFAULT '',
        tries INTEGER NOT NULL DEFAULT 0,
        note TEXT NOT NULL
    ) WITHOUT ROWID;
    """,
    # Chats, people and turns: one executing turn a session. The journal is a chain of hashes that only grows.
    """
    CREATE TABLE chats (
        id INTEGER PRIMARY KEY,
        channel TEXT NOT NULL,
        chat TEXT NOT NULL,
        thread TEXT NOT NULL,
        several INTEGER NOT NULL,
        at INTEGER NOT NULL,
        UNIQUE (channel, chat, thread)
    );
    CREATE TABLE people (
        id TEXT PRIMARY KEY,
        name TEXT NOT NULL,
        at INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE turns (
        id TEXT PRIMARY KEY,
        chat INTEGER,
        session TEXT NOT NULL,
        via TEXT NOT NULL,
        person TEXT NOT NULL,
        source TEXT NOT NULL CHECK (source IN ('told', 'read')),
        state TEXT NOT NULL CHECK (state IN ('requested', 'executing', 'ended', 'lost')),
        requested INTEGER NOT NULL,
        begun INTEGER,
        ended INTEGER,
        sign INTEGER NOT NULL,
        prompt BLOB,
        schedule TEXT NOT NULL DEFAULT '',
        tokens_in INTEGER,
        tokens_out INTEGER,
        model TEXT NOT NULL DEFAULT ''
    ) WITHOUT ROWID;
    CREATE UNIQUE INDEX turns_executing ON turns (session) WHERE state = 'executing';
    CREATE INDEX turns_session ON turns (session, prompt);
    CREATE TABLE chat_sessions (
        session TEXT PRIMARY KEY,
        chat INTEGER NOT NULL,
        via TEXT NOT NULL,
        sender TEXT NOT NULL,
        opened INTEGER
    ) WITHOUT ROWID;
    CREATE TABLE journal (
        n INTEGER PRIMARY KEY,
        at INTEGER NOT NULL,
        kind TEXT NOT NULL,
        body TEXT NOT NULL,
        prev BLOB NOT NULL,
        hash BLOB NOT NULL
    );
    CREATE TRIGGER journal_update BEFORE UPDATE ON journal BEGIN SELECT raise(ABORT, 'the journal only grows'); END;
    CREATE TRIGGER journal_delete BEFORE DELETE ON journal BEGIN SELECT raise(ABORT, 'the journal only grows'); END;
    CREATE TABLE journal_due (seq INTEGER NOT NULL);
    CREATE TRIGGER journal_insert AFTER INSERT ON audit WHEN new.state = 'done' AND EXISTS (SELECT 1 FROM journal)
        BEGIN INSERT INTO journal_due VALUES (new.seq); END;
    CREATE TRIGGER journal_end AFTER UPDATE OF state ON audit
        WHEN new.state = 'done' AND old.state != 'done' AND EXISTS (SELECT 1 FROM journal)
        BEGIN INSERT INTO journal_due VALUES (new.seq); END;
    ALTER TABLE txns ADD COLUMN turn TEXT;
    INSERT INTO fingerprint_key VALUES ('people', randomblob(32));
    """,
    # A pending confirmation in a chat: what, who, code, time.
    "ALTER TABLE chats ADD COLUMN asked TEXT NOT NULL DEFAULT ''",
    # Token spending of budgets. A reset is a negative row with its reason.
    """
    CREATE TABLE spend (
        key TEXT NOT NULL,
        ref TEXT NOT NULL,
        at INTEGER NOT NULL,
        amount INTEGER NOT NULL,
        real INTEGER NOT NULL,
        reason TEXT NOT NULL,
        PRIMARY KEY (key, ref)
    ) WITHOUT ROWID;
    CREATE INDEX spend_window ON spend (key, at);
    """,
    # Votes on the steps of proposals; they are only added.
    """
    CREATE TABLE votes (
        id INTEGER PRIMARY KEY,
        proposal INTEGER NOT NULL,
        steps BLOB NOT NULL,
        voter TEXT NOT NULL,
        name TEXT NOT NULL,
        yes INTEGER NOT NULL,
        at INTEGER NOT NULL
    );
    CREATE INDEX votes_proposal ON votes (proposal, steps);
    CREATE TRIGGER votes_update BEFORE UPDATE ON votes BEGIN SELECT raise(ABORT, 'votes are only added'); END;
    CREATE TRIGGER votes_delete BEFORE DELETE ON votes BEGIN SELECT raise(ABORT, 'votes are only added'); END;
    """,
    # The person of a vote and the turn of a proposal; sessions are unique by gateway.
    """
    ALTER TABLE votes ADD COLUMN person TEXT NOT NULL DEFAULT '';
    ALTER TABLE proposals ADD COLUMN turn TEXT NOT NULL DEFAULT '';
    DROP INDEX turns_executing;
    CREATE UNIQUE INDEX turns_executing ON turns (via, session) WHERE state = 'executing';
    ALTER TABLE chat_sessions RENAME TO chat_sessions_before;
    CREATE TABLE chat_sessions (
        session TEXT NOT NULL,
        chat INTEGER NOT NULL,
        via TEXT NOT NULL,
        sender TEXT NOT NULL,
        opened INTEGER,
        PRIMARY KEY (session, via)
    ) WITHOUT ROWID;
    INSERT INTO chat_sessions SELECT * FROM chat_sessions_before;
    DROP TABLE chat_sessions_before;
    """,
    # Whether the team's server was told of it.
    "ALTER TABLE spend ADD COLUMN sent INTEGER NOT NULL DEFAULT 0",
)
"""Step n (from 1) brings a ledger of version n - 1 to version n."""
