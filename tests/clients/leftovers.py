"""Files that a killed memtui left."""

import subprocess
import sys
from pathlib import Path


def dead() -> int:
    """The number of a process that is no more."""
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    return ended.pid


def stray(folder: Path, data: bytes = b"x", pid: int | None = None) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f".memtui-{dead() if pid is None else pid}-0123456789ab.tmp"
    path.write_bytes(data)
    return path
