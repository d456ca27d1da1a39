"""Take every file of an archive there and back and print the counts: `MEMTUI_CORPUS=FILE python -m tests.corpus`."""

import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.corpus import ARCHIVE
from tests.corpus.journey import travel, unpack


def main() -> int:
    """Print a line for the whole, and one for each folder with a file that is not as it was."""
    if ARCHIVE is None:
        print("MEMTUI_CORPUS names no archive: 1 skipped")
        return 0
    started = time.monotonic()
    counted: Counter[str] = Counter()
    broken = 0
    with tempfile.TemporaryDirectory(prefix="memtui-corpus-") as base:
        folders = unpack(Path(ARCHIVE), Path(base, "folders"))
        for number, folder in enumerate(folders):
            try:
                counted += travel(folder, Path(base, f"state-{number}"))
            except AssertionError as reason:
                broken += 1
                print(f"{folder.name}: {reason}", file=sys.stderr)
    counts = ", ".join(f"{count} {what}" for what, count in counted.items())
    print(f"{len(folders)} folders: {counts}, {broken} broken, in {time.monotonic() - started:.0f} s")
    return int(broken > 0)


if __name__ == "__main__":
    sys.exit(main())
