"""One read with its sha-256, against the reference tool's view of the same file."""

import os
from collections.abc import Iterator

from memtui.engine.model import Address
from tests.bench import world
from tests.bench.case import Case, Figure, Plan, compare
from tests.bench.reference import Reference

SIZE = 4096


def cases(plan: Plan) -> Iterator[Case]:
    """A read against the reference tool's, and against the least a read can be."""
    rounds = plan.pick(40, 120)
    text = world.text(SIZE, 1)
    notes = world.make(plan.folder, "notes")
    with open(os.path.join(notes, "a.md"), "w", encoding="utf-8") as file:
        file.write(text)
    address = Address("notes", "a.md")
    with world.engine(notes, os.path.join(plan.folder, "state")) as engine:

        def read() -> None:
            assert len(engine.read(address).bytes) == SIZE

        def against_reference() -> Figure:
            tool = Reference(world.make_new(plan.folder))
            tool.create("a.md", text)
            return compare(read, lambda: tool.view("a.md"), rounds=rounds, batch=50, name="reference view")

        yield Case("read with sha", "4 KB", against_reference, 0.4)
