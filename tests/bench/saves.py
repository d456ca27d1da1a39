"""One guarded save, with its version, intent, exchange and verification, against bare durable writes."""

import itertools
import os
from collections.abc import Callable, Iterator

from memtui.engine import Engine
from memtui.engine.model import Actor, Address, Saved
from tests.bench import world
from tests.bench.case import Case, Figure, Plan, compare
from tests.bench.reference import Reference

SIZE = 4096
ACTOR = Actor("agent:bench")
BESIDE = 20
"""Other memories in the folder."""


def cases(plan: Plan) -> Iterator[Case]:
    """A save against the least that is durable, the reference tool's edit, and itself where a journal is kept."""
    rounds = plan.pick(150, 600)
    notes = world.make(plan.folder, "notes")
    world.memories(notes, BESIDE, size=SIZE, folders=0)
    os.sync()
    with world.engine(notes, os.path.join(plan.folder, "state")) as engine:
        save = saver(engine, "memory-00003.md")

        def against_bare() -> Figure:
            return compare(save, bare(world.make_new(plan.folder)), rounds=rounds, name="bare durable write")

        def against_reference() -> Figure:
            return compare(save, edit(world.make_new(plan.folder)), rounds=rounds, name="reference str_replace")

        yield Case("guarded save", "4 KB", against_bare, 2.5)
        yield Case("guarded save", "4 KB", against_reference, 2.0)
        with world.engine(notes, os.path.join(plan.folder, "journal")) as other:
            other.journal.add("turn", {"turn": "t"})
            recorded = saver(other, "memory-00004.md")

            def against_none() -> Figure:
                return compare(recorded, save, rounds=rounds, name="the same without")

            yield Case("save with a journal", "4 KB", against_none, 1.1)


def saver(engine: Engine, name: str) -> Callable[[], None]:
    """A job that saves a new text each time."""
    address = Address("notes", name)
    known = engine.read(address).sha256
    texts = fresh_texts()

    def save() -> None:
        nonlocal known
        done = engine.save(address, next(texts), expected_sha256=known, actor=ACTOR)
        assert isinstance(done, Saved), done
        known = done.sha256

    return save


def fresh_texts() -> Iterator[str]:
    """Texts of one size that were never there before: one word of one base text differs."""
    base = world.text(SIZE - 10, 3)
    half = base.index("\n", len(base) // 2) + 1
    for number in itertools.count():
        yield f"{base[:half]}{number:09d}\n{base[half:]}"


def bare(folder: str) -> Callable[[], None]:
    """A job that replaces a file durably, and nothing else: temporary file, fsync, rename, fsync of the folder."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    texts = fresh_texts()

    def write() -> None:
        file = os.open("temp", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600, dir_fd=handle)
        os.write(file, next(texts).encode())
        os.fsync(file)
        os.close(file)
        os.rename("temp", "a.md", src_dir_fd=handle, dst_dir_fd=handle)
        os.fsync(handle)

    return write


def edit(folder: str) -> Callable[[], None]:
    """A job that changes a word with the reference tool."""
    tool = Reference(folder)
    tool.create("a.md", next(fresh_texts()))
    numbers = itertools.count()

    def replace() -> None:
        number = next(numbers)
        tool.str_replace("a.md", f"{number:09d}", f"{number + 1:09d}")

    return replace
