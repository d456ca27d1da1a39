"""memtui's own records, and the only SQL: versions, audit, pins, uses, seen marks, drafts, root identities."""
