"""Let a real engine settle what others did, without waiting in real time for what takes long."""

from __future__ import annotations

from memtui.engine import Engine
from memtui.engine.look.detect import DELETED_MS


def settle(engine: Engine, *, deleted: bool = False) -> None:
    """Reconcile until nothing is undecided; `deleted` also makes what is gone count as gone for good."""
    engine.watch.reconcile()
    if deleted:
        for state in engine.watch._states.values():
            if state.detector is not None:
                gone = state.detector.gone
                gone.update({path: since - 2 * DELETED_MS for path, since in gone.items()})
        engine.watch.reconcile()
