"""Memory on disk: the only room that touches memory files, versions, locks and the watcher."""
