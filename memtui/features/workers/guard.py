"""What keeps workers from running away: whatever a worker starts does no work of ours, and there are few of them.

An agent that works for us runs the user's hooks, which may start us again; tools without such a mark started thousands
of sessions in a day (thedotmack/claude-mem, issue 2465).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from memtui.engine.disk.locks import RootLock
from memtui.errors import BusyError, RefusedError

if TYPE_CHECKING:
    from memtui.engine import Engine

MARK = "MEMTUI_WORKER"
"""Set for a worker, and so for all it starts; `Settings.worker` says whether it is."""
A_DAY = 24
"""Runs of a worker in a workspace."""
AT_ONCE = 4
"""Workers on the machine."""
_DAY_MS = 86_400_000


def refuse_more(engine: Engine, workspace: str, now: int) -> None:
    """Refuse to ask a worker where one was asked `A_DAY` times within a day.

    Raises:
        RefusedError: `E_WORKER`.
    """
    asked = [run for run in engine.tasks.runs(workspace, limit=1_000) if run.sent and run.at > now - _DAY_MS]
    if len(asked) >= A_DAY:
        raise RefusedError(
            f"A worker was asked {A_DAY} times here within a day.", code="E_WORKER", hint="Rules still do their part."
        )


@contextmanager
def one_of_few(state_dir: str, workspace: str) -> Iterator[None]:
    """Be the only one who asks a worker in a workspace, and one of `AT_ONCE` on the machine.

    Raises:
        BusyError: `E_LOCKED`, others are asked now.
    """
    folder = os.path.join(state_dir, "locks")
    names = [f"worker-{number}" for number in range(AT_ONCE)]
    with ExitStack() as held:
        _take(held, folder, f"worker-{workspace}")
        for name in names:
            try:
                _take(held, folder, name)
                break
            except BusyError:
                if name == names[-1]:
                    raise
        yield


def _take(held: ExitStack, folder: str, name: str) -> None:
    lock = RootLock(folder, name)
    held.callback(lock.close)
    held.enter_context(lock.held(wait=0, who="a worker"))
