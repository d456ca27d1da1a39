"""Memory on disk: the only room that touches memory files, versions, locks and the watcher."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memtui.engine.engine import Engine as Engine
    from memtui.engine.engine import now_ms as now_ms

__all__ = ["Engine", "now_ms"]


def __getattr__(name: str) -> object:
    """Load the engine when it is first asked for: its values alone must not cost what it does."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from memtui.engine import engine

    return getattr(engine, name)
