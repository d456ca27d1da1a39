"""The log of memtui's own faults: time, place in the program and type of each.

Never the message or a value, which may hold a memory's text or a name: the file can be attached to a bug report.
"""

import os
import time
from collections.abc import Iterator

from memtui import __version__
from memtui.engine.disk import state_file

NAME = "faults.log"
MOST = 65_536
"""Bytes; the oldest lines go first."""
_FRAMES = 16
"""Innermost calls that are named."""
_HERE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def note(state_dir: str, error: BaseException, front: str) -> None:
    """Log a fault in `front` (`cli`, `workbench`, `mcp`); a log that cannot be written is ignored."""
    at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    line = f"{at} memtui {__version__} {front} {' from '.join(_told(error))}\n".encode()
    lines = (*read(state_dir), line[:MOST])
    while sum(map(len, lines)) > MOST:
        lines = lines[1:]
    try:
        state_file.write(state_dir, NAME, b"".join(lines))
    except OSError:
        return


def read(state_dir: str) -> tuple[bytes, ...]:
    """Return the lines, oldest first; none when the file cannot be read."""
    try:
        data = state_file.read(state_dir, NAME, most=2 * MOST)
    except (OSError, ValueError):
        return ()
    return tuple(data.splitlines(keepends=True))


def _told(error: BaseException) -> Iterator[str]:
    """Yield the type and call stack of an error and of each that led to it, innermost first."""
    import traceback  # takes longer than a short command

    seen: list[BaseException] = []
    found: BaseException | None = error
    while found is not None and found not in seen:
        seen.append(found)
        frames = reversed(traceback.extract_tb(found.__traceback__)[-_FRAMES:])
        yield " < ".join((type(found).__name__, *(f"{_short(one.filename)}:{one.lineno} {one.name}" for one in frames)))
        found = found.__cause__ or found.__context__


def _short(path: str) -> str:
    """Return a file of ours relative to the package, others by name: never a folder of this machine."""
    return os.path.relpath(path, _HERE) if path.startswith(_HERE + os.sep) else os.path.basename(path)
