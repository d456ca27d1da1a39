"""Memory on disk: the only room that touches memory files, versions, locks and the watcher."""

from memtui.engine.engine import Engine, now_ms

__all__ = ["Engine", "now_ms"]
