"""Which names stand in the source of a checkout, and which commit took the last use of one out.

Apart from the checkout because it reads whole files, so nothing of it is done before a memory names a symbol.
"""

import re
from collections.abc import Callable, Iterable
from time import monotonic

from memtui.engine.disk.git_history import CommittedChange

_SOURCE = re.compile(
    r"\.(?:py|pyi|ts|tsx|js|jsx|mjs|cjs|go|rs|rb|java|kt|swift|c|h|cc|cpp|hpp|cs|php|exs?|scala|sql|sh|vue|svelte|proto)\Z"
)
_WORD = re.compile(rb"[A-Za-z_]\w{3,99}")
_FILES = 20_000
_BYTES = 64 * 1_048_576
_SECONDS = 2.0

Read = Callable[[bytes | None], bytes | None]
"""Takes the name of a blob, returns its bytes; None where it cannot be read, or there is none."""


def lost_symbols(read: Read, now: Iterable[bytes], changes: Iterable[CommittedChange]) -> dict[str, CommittedChange]:
    """Find the names that stood in source once, and stand in none now.

    Args:
        read: gives the bytes of blobs.
        now: the blobs of all source files that count, in any order.
        changes: of source files, the newest first.

    Returns:
        For each the newest change that took it out of a file. None of them where there is more source than is read.
    """
    shas = set(now)
    here: set[bytes] = set()
    end, left = monotonic() + _SECONDS, _BYTES
    if len(shas) > _FILES:
        return {}
    for sha in shas:
        data = read(sha)
        left -= len(data or b"")
        if data is None or left < 0 or monotonic() > end:
            return {}
        here.update(_WORD.findall(data))
    lost: dict[str, CommittedChange] = {}
    end, left = monotonic() + _SECONDS, _BYTES
    for change in changes:
        old, new = read(change.old) or b"", read(change.new) or b""
        left -= len(old) + len(new)
        if left < 0 or monotonic() > end:
            break
        for word in {*_WORD.findall(old)} - here - {*_WORD.findall(new)}:
            lost.setdefault(word.decode(), change)
    return lost


def is_source(path: str) -> bool:
    """Whether a file is one that programs are written in."""
    return _SOURCE.search(path) is not None
