"""The main screen on rows that no disk holds: `python -m tests.bench.many_rows COUNT`.

A root takes 20,000 files, and writing 100,000 takes longer than all other figures together; what a key costs in a tree
of that size can be measured without them.
"""

import gc
import sys

from textual import constants

from memtui.engine.model import Address, Memory, Root
from tests.workbench.fake_engine import NOW, FakeEngine, sha
from tests.workbench.fake_shown import make_app

ROOT = Root("notes", "/home/ann/notes", "files", "global", "files")
TEXT = b"---\ndescription: In memory\n---\nSome words.\n"


def engine_with(count: int) -> FakeEngine:
    """An engine with so many memories of one text in one folder."""
    engine = FakeEngine({}, roots=(ROOT,))
    for number in range(count):
        address = Address(ROOT.id, f"memory-{number:06d}.md")
        age = NOW - number * 60_000
        words = f"What number {number} is about, in one line"
        engine.rows[address] = Memory(address, ROOT.scope, ROOT.agent, len(TEXT), age, sha(TEXT), words)
        engine.data[address] = TEXT
    return engine


def main() -> None:
    """Run it to its end."""
    constants.SMOOTH_SCROLL = False  # type: ignore[misc]
    gc.disable()
    make_app(engine_with(int(sys.argv[1]))).run()


if __name__ == "__main__":
    main()
