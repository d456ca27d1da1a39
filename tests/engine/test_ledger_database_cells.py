"""A cell of another kind, as a damaged page may hold: every reader says so with a code, whatever cell it is."""

import os
import random
import re
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import apsw
import pytest

from memtui.engine import Engine
from memtui.engine.model import Actor, Draft, OpenConflict, SearchQuery
from memtui.errors import MemtuiError
from tests.examples import ALL
from tests.faults.world import ME, World, at, new_world, sha

ODD: tuple[str | bytes | int | float | None, ...] = ("odd", b"\xff\xfe", -7, 2.5, None)
TRIED = len(ODD) if ALL in os.environ else 1
"""So many of them in each column, or in each of a third of them, others in each run."""


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> World:
    """Return a world whose ledger has a row in every table."""
    world = new_world(tmp_path_factory.mktemp("odd") / "world")
    with world.engine() as engine:
        engine.memories.create(at("a.md"), "one", actor=ME)
        engine.save(at("a.md"), "two", expected_sha256=sha(b"one"), actor=ME)
        (world.folder() / "deep").mkdir(mode=0o750)
        for name in ("gone.md", "deep/old.md"):
            engine.memories.create(at(name), name, actor=ME)
            engine.memories.delete([at(name)], actor=ME)
        engine.memories.create(at("m.md"), "moved", actor=ME)
        engine.memories.rename(at("m.md"), at("n.md"), actor=ME)
        engine.pins.set([at("a.md")], pinned=True, actor=ME)
        engine.pins.record_use(at("a.md"), actor=Actor("agent:x"))
        engine.drafts.save(Draft(at("a.md"), sha(b"two"), "draft", (0, 0), 1))
        engine.drafts.save_conflict(OpenConflict(at("a.md"), sha(b"one"), b"yours", b"two", "[]", 1))
        engine.undo.undo(actor=ME)
    ledger = apsw.Connection(str(world.state / "state.db"))
    for (table,) in ledger.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
        ((schema,),) = ledger.execute("SELECT sql FROM sqlite_schema WHERE name = ?", (table,)).fetchall()
        loose = re.sub(r" NOT NULL| CHECK \(.*?\)\)", "", str(schema))
        ledger.execute("PRAGMA writable_schema=ON")
        ledger.execute("UPDATE sqlite_schema SET sql = ? WHERE name = ?", (loose, table))
    ledger.close()
    return world


def cells(world: World) -> Iterator[tuple[str, str]]:
    """Yield every table and column but integer keys."""
    ledger = apsw.Connection(str(world.state / "state.db"))
    for (table,) in ledger.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
        for _, name, *_, key in ledger.execute(f"PRAGMA table_info({table})").fetchall():
            if not key:
                yield str(table), str(name)
    ledger.close()


def looks(engine: Engine) -> Iterator[Callable[[], object]]:
    """Yield every call that reads the ledger."""
    for path in ("a.md", "n.md", "gone.md"):
        for about in (engine.history.of, engine.drafts.conflict, engine.changes.seen_version):
            yield partial(about, at(path))
    yield partial(engine.rows.get, at("a.md"))
    yield partial(engine.history.read, at("a.md"), sha(b"one"))
    yield from (
        engine.rows.list,
        engine.undo.trash.entries,
        engine.drafts.all,
        engine.history.actors,
        engine.changes.unseen,
        engine.undo.next,
    )
    yield from (
        engine.undo.passed_over,
        engine.rows.vanished,
        engine.rows.status,
        engine.watch.reconcile,
        engine.history.audit,
    )
    yield partial(engine.undo.trash.entries, taken=True)
    yield partial(engine.history.operations, "1", "99")
    yield partial(engine.search.find, SearchQuery("two", versions=True))
    yield partial(engine.save, at("a.md"), "three", expected_sha256=sha(b"two"), actor=ME)
    yield partial(engine.undo.undo, actor=ME)
    yield partial(engine.undo.redo, actor=ME)
    yield partial(engine.memories.restore, at("gone.md"), actor=ME)


def odd(world: World, table: str, column: str, value: str | bytes | float | None) -> bool:
    """Put a value into every row; return False when the column refuses it."""
    ledger = apsw.Connection(str(world.state / "state.db"))
    try:
        ledger.execute(f"UPDATE {table} SET {column} = ?", (value,))
    except apsw.ConstraintError:
        return False
    finally:
        ledger.close()
    return True


@pytest.mark.hypothesis  # tried whole with the properties
def test_an_odd_cell_is_never_more_than_an_error_with_a_code(template: World, tmp_path: Path) -> None:
    blamed, tried, each = [], 0, list(cells(template))
    for table, column in each if ALL in os.environ else random.sample(each, len(each) // 3):
        for value in random.sample(ODD, TRIED):
            world = World(Path(shutil.copytree(template.base, tmp_path / "world", symlinks=True)))
            tried += odd(world, table, column, value)
            with world.engine() as engine:
                for number, look in enumerate(looks(engine)):
                    try:
                        str(look())
                    except MemtuiError:
                        continue
                    except Exception as error:  # noqa: BLE001
                        blamed.append(f"{table}.{column} = {value!r}, look {number}: {error!r}")
            world.remove()
    assert not blamed, "\n".join(blamed)
    assert tried > len(each) // 6 * TRIED
