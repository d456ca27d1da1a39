"""Memory on disk: the only package that touches memory files, versions, locks and the watcher."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memtui.engine.disk.fsio import now_ms as now_ms
    from memtui.engine.engine import Engine as Engine

__all__ = ["Engine", "now_ms"]


def __getattr__(name: str) -> object:
    """Load the engine on first use: importing its values must stay cheap."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name == "now_ms":
        from memtui.engine.disk.fsio import now_ms

        return now_ms
    from memtui.engine.engine import Engine

    return Engine
