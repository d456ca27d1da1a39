"""The editor: one open memory, its draft on disk, its guarded save."""
