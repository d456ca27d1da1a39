"""What campaigns interrupt: every kind of change, each with the world it starts from."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from memtui.engine import Engine
from memtui.engine.model import Done, Remove, Rename, Step, Write
from memtui.pointers import references
from tests.faults.world import FIRST, ME, SECOND, World, at, new_world, sha

OLD, NEW, OLDER = b"# A memory\n\nold\n", b"# A memory\n\nold\nand new\n", b"older\n"
INDEX = b"- [A](a.md)\r\n- [B](c.md)"
MANY = tuple(f"many/{number}.md" for number in range(4))


class Deed(NamedTuple):
    """One change, and what there is before it."""

    name: str
    prepare: Callable[[World], None]
    act: Callable[[Engine], object]
    texts: frozenset[bytes] = frozenset()
    """What it writes that was not there before."""
    one_by_one: bool = False
    """Whether each memory goes by itself: where one fails, others are done, and what its error says is said of it."""

    def do(self, engine: Engine) -> None:
        """Do it, and require that it failed nowhere."""
        for outcome in self.done(engine).outcomes:
            if outcome.error is not None:
                raise outcome.error

    def done(self, engine: Engine) -> Done:
        """Do it; tells of each memory what became of it, and nothing of the one that raises its error."""
        result = self.act(engine)
        done = result if isinstance(result, Done) else Done("", self.name, ())
        assert all(outcome.ok or outcome.error is not None for outcome in done.outcomes), done
        return done


def _write(world: World, path: str, data: bytes, root: str = FIRST) -> None:
    target = world.folder(root) / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(data)


def _one(world: World) -> None:
    _write(world, "a.md", OLD)


def _empty(world: World) -> None:
    _write(world, "a.md", b"")


def _many(world: World) -> None:
    for path in MANY:
        _write(world, path, path.encode())


def _nothing(world: World) -> None:
    """An empty world."""


def _then(prepare: Callable[[World], None], *acts: Callable[[Engine], object]) -> Callable[[World], None]:
    def prepared(world: World) -> None:
        prepare(world)
        with world.engine() as engine:
            for act in acts:
                Deed("before", prepare, act).do(engine)

    return prepared


def save(engine: Engine) -> object:
    """Save over one memory."""
    return engine.save(at("a.md"), NEW, expected_sha256=engine.read(at("a.md")).sha256, actor=ME)


def delete(engine: Engine) -> object:
    """Delete one memory."""
    return engine.memories.delete([at("a.md")], actor=ME)


def pin(engine: Engine) -> object:
    """Pin what will be moved."""
    return engine.pins.set([at(MANY[0])], pinned=True, actor=ME)


def across(engine: Engine) -> object:
    """Move memories to the other root."""
    return engine.memories.move([(at(path), at(path, SECOND)) for path in MANY[:2]], actor=ME)


def together(engine: Engine) -> object:
    """Rename into a new folder, move to the other root, write an index over, make one and remove a memory, as one."""
    steps: tuple[Step, ...] = (
        Rename(at(MANY[0]), at("to/0.md"), sha(MANY[0].encode())),
        Write(at(MANY[1]), NEW, sha(MANY[1].encode())),
        Rename(at(MANY[2]), at("2.md", SECOND), sha(MANY[2].encode())),
        Write(at("index.md"), OLDER, None),
        Remove(at(MANY[3]), sha(MANY[3].encode())),
    )
    return engine.together.do(steps, actor=ME, label="tidy up")


def _named(world: World) -> None:
    _one(world)
    _write(world, "index.md", INDEX)
    _write(world, "other.md", b"See [[a]].\n")


def carry(engine: Engine) -> object:
    """Rename a memory, and let its index and a link follow."""
    return references.rename(engine, [(at("a.md"), at("b.md"))], actor=ME)


def undo(engine: Engine) -> object:
    """Take the last change back."""
    return engine.undo.undo(actor=ME)


def redo(engine: Engine) -> object:
    """Take the last undo back."""
    return engine.undo.redo(actor=ME)


NEW_TEXT = frozenset([NEW])
DEEDS = (
    Deed("save", _one, save, NEW_TEXT),
    Deed("save over an empty memory", _empty, save, NEW_TEXT),
    Deed("create", _nothing, lambda engine: engine.memories.create(at("b.md"), NEW, actor=ME), NEW_TEXT),
    Deed("create below", _one, lambda engine: engine.memories.create(at("x/y/b.md"), NEW, actor=ME), NEW_TEXT),
    Deed("rename", _one, lambda engine: engine.memories.rename(at("a.md"), at("b.md"), actor=ME)),
    Deed("rename below", _one, lambda engine: engine.memories.rename(at("a.md"), at("x/y.md"), actor=ME)),
    Deed("delete", _one, delete),
    Deed(
        "delete many",
        _many,
        lambda engine: engine.memories.delete([at(path) for path in MANY], actor=ME),
        one_by_one=True,
    ),
    Deed(
        "move many",
        _many,
        lambda engine: engine.memories.move([(at(path), at("to/" + path)) for path in MANY], actor=ME),
        one_by_one=True,
    ),
    Deed("move between roots", _then(_many, pin), across, one_by_one=True),
    Deed("restore", _then(_one, delete), lambda engine: engine.memories.restore(at("a.md"), actor=ME)),
    Deed(
        "restore a version",
        _then(_one, save),
        lambda engine: engine.memories.restore(at("a.md"), version=sha(OLD), actor=ME),
    ),
    Deed("undo a save", _then(_one, save), undo),
    Deed("undo a deletion", _then(_one, delete), undo),
    Deed("undo a move between roots", _then(_many, pin, across), undo, one_by_one=True),
    Deed("redo a save", _then(_one, save, undo), redo),
    Deed("change several together", _then(_many, pin), together, frozenset([NEW, OLDER])),
    Deed("rename and carry along", _named, carry, frozenset([INDEX.replace(b"a.md", b"b.md"), b"See [[b]].\n"])),
    Deed("undo a rename that carried", _then(_named, carry), undo, one_by_one=True),
    Deed("undo several together", _then(_many, pin, together), undo, one_by_one=True),
)


def stage(deed: Deed, base: Path) -> World:
    """Make the world a deed starts from, with its ledger."""
    world = new_world(base)
    deed.prepare(world)
    with world.engine() as engine:
        engine.history.audit()
    return world
