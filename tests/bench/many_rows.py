"""The main screen on rows that no disk holds: `python -m tests.bench.many_rows COUNT`.

A root takes 20,000 files, and writing 100,000 takes longer than all other figures together; what a key costs in a tree
of that size can be measured without them: the engine has one empty root, and what it lists and reads is made here.
"""

import gc
import hashlib
import sys
import tempfile
from pathlib import Path

from textual import constants

from memtui.engine import Engine
from memtui.engine.model import Address, Listing, Memory, Root, Snapshot
from memtui.workbench.app import MemtuiApp
from memtui.workbench.bridge import Bridge
from memtui.workbench.main_screen import StartFacts
from tests.workbench.memories import ME, START
from tests.workbench.shown import settings_in

TEXT = b"---\ndescription: In memory\n---\nSome words.\n"
SHA = hashlib.sha256(TEXT).hexdigest()


def listing(engine: Engine, count: int) -> Listing:
    """So many memories of one text in one folder."""
    (status,) = engine.rows.status()
    rows = (
        Memory(
            Address(status.root.id, f"memory-{number:06d}.md"),
            status.root.scope,
            status.root.agent,
            len(TEXT),
            START - number * 60_000,
            SHA,
            f"What number {number} is about, in one line",
        )
        for number in range(count)
    )
    return Listing(tuple(rows), truncated=False, roots=(status,))


def main() -> None:
    """Run it to its end."""
    constants.SMOOTH_SCROLL = False  # type: ignore[misc]
    gc.disable()
    with tempfile.TemporaryDirectory() as folder:
        root = Root("notes", str(Path(folder, "notes")), "files", "global", "files")
        Path(root.path).mkdir()
        with Engine.open([root], state_dir=str(Path(folder, "state")), clock=lambda: START) as engine:
            rows = listing(engine, int(sys.argv[1]))
            engine.rows.list = lambda root_ids=None: rows  # type: ignore[method-assign]
            engine.read = lambda address: Snapshot(address, TEXT, SHA, START)  # type: ignore[method-assign]
            bridge = Bridge(engine, actor=ME, clock=lambda: START)
            MemtuiApp(bridge, StartFacts(settings_in(folder), (root,), listing=rows)).run()
            bridge.close()


if __name__ == "__main__":
    main()
