"""Let a real engine settle what others did, without waiting in real time for what takes long."""

from __future__ import annotations

from memtui.engine import Engine
from memtui.engine.look.detect import DELETED_MS


def settle(engine: Engine, *, deleted: bool = False) -> None:
    """Reconcile until nothing is undecided; `deleted` also makes what is gone count as gone for good."""
    engine.watch.reconcile()
    reconciler = engine.watch._reconciler
    if deleted:
        for state in reconciler._states.values():
            if state.beliefs is not None:
                gone = state.beliefs.gone
                gone.update({path: since - 2 * DELETED_MS for path, since in gone.items()})
        engine.watch.reconcile()
