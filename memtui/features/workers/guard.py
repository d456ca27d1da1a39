"""What keeps workers from running away: whatever a worker starts does no work of ours, and there are few of them.

An agent that works for us runs the user's hooks, which may start us again; tools without such a mark started thousands
of sessions in a day (thedotmack/claude-mem, issue 2465).
"""

from collections.abc import Mapping

MARK = "MEMTUI_WORKER"
"""Set for a worker, and so for all it starts."""


def is_worker(environ: Mapping[str, str]) -> bool:
    """Whether this process was started by a worker; hooks, `extract` and `serve` then do nothing."""
    return bool(environ.get(MARK))
