"""A ledger that is cut, flipped, replaced, locked or gone: never a crash, every memory readable, at most one notice."""

import os
import random
import shutil
import stat
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import apsw

from memtui.engine import Engine
from memtui.engine.ledger import database
from memtui.engine.ledger.creation import LATEST
from memtui.engine.model import Draft, Saved
from memtui.errors import MemtuiError
from tests.faults import children
from tests.faults.report import Result, Tally
from tests.faults.world import ME, World, at, handles, ledger_of, new_world, sha

TEXTS = tuple(f"version {number}\n{'line of text ' * 40}\n".encode() for number in range(12))
A = at("a.md")
PAGE = 4_096


class Damage(NamedTuple):
    """One way to spoil a ledger."""

    name: str
    act: Callable[[World], object]


def furnish(base: Path) -> World:
    """A world with a ledger that has something of everything in it, a backup, and changes since."""
    world = new_world(base)
    with world.engine() as engine:
        _live(engine)
    with world.engine() as engine:
        engine.memories.create(at("since.md"), b"since the backup\n", actor=ME)
    return world


def _live(engine: Engine) -> None:
    engine.memories.create(A, TEXTS[0], actor=ME)
    for before, after in pairwise(TEXTS):
        engine.save(A, after, expected_sha256=sha(before), actor=ME)
    engine.save(A, b"refused\n", expected_sha256=sha(TEXTS[0]), actor=ME)
    for number in range(20):
        engine.memories.create(at(f"many/{number}.md"), f"{number}\n".encode() * 200, actor=ME)
    engine.memories.delete([at("many/0.md"), at("many/1.md")], actor=ME)
    engine.pins.set([A], pinned=True, actor=ME)
    engine.drafts.save(Draft(A, sha(TEXTS[-1]), "unsaved", (0, 0), 1))
    engine.watch.reconcile()


def use(world: World, tally: Tally, where: str) -> tuple[str, ...]:
    """Use everything once, as a new process would; returns the notices."""
    memories = {name: data for name, data in world.disk().items() if name.startswith("notes/")}
    notices: tuple[str, ...] = ()
    kept: set[bytes] = set()
    open_before = handles(world.base)
    try:
        with world.engine(lock_wait=5.0) as engine:
            for name, data in memories.items():
                if engine.read(at(name.partition("/")[2])).bytes != data:
                    tally.blame("unreadable", f"{where}: {name}")
            for verb in _verbs(engine):
                try:
                    verb()
                except MemtuiError as error:
                    tally.add(f"refused {error.code}")
            notices = engine.events.notices()
            kept = {data for data in memories.values() if _holds(engine, data)}
            if ledger_of(engine).mode == "normal":
                tally.add("usable again")
    except MemtuiError as error:
        tally.blame("unreadable", f"{where}: {error}")
    except Exception as error:  # noqa: BLE001
        tally.blame("crashes", f"{where}: {error!r} at {_place(error)}")
    if handles(world.base) != open_before:
        tally.blame("leaked", f"{where}: {handles(world.base) - open_before} open files")
    # A flipped bit in an index may lead undo to an older change: then the text is in the trash.
    there = set(world.disk().values()) | kept
    lost = [name for name, data in memories.items() if data not in there]
    if lost:
        tally.blame("lost", f"{where}: {lost}")
    if len(notices) > 1:
        tally.blame("notices", f"{where}: {notices}")
    return notices


def _verbs(engine: Engine) -> Iterator[Callable[[], object]]:
    yield lambda: engine.history.of(A)
    yield lambda: [engine.history.read(A, version.sha256) for version in engine.history.of(A)]
    yield engine.undo.trash.entries
    yield lambda: engine.history.audit(limit=1_000)
    yield engine.drafts.all
    yield engine.changes.unseen
    yield engine.rows.list
    yield engine.watch.reconcile
    yield lambda: engine.changes.mark_seen(None)
    yield engine.doctor.findings
    yield lambda: _save_and_undo(engine)


def _holds(engine: Engine, data: bytes) -> bool:
    """Whether the ledger can give a text back."""
    try:
        return ledger_of(engine).versions.blob(sha(data)) == data
    except MemtuiError:
        return False


def _save_and_undo(engine: Engine) -> None:
    snapshot = engine.read(A)
    engine.save(A, os.urandom(8), expected_sha256=snapshot.sha256, actor=ME)
    assert engine.history.read(A, snapshot.sha256) == snapshot.bytes
    engine.undo.undo(actor=ME)


def _place(error: BaseException) -> str:
    trace, place = error.__traceback__, ""
    while trace is not None:
        if "/memtui/" in trace.tb_frame.f_code.co_filename:
            place = f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}"
        trace = trace.tb_next
    return place


def _write(data: bytes) -> Callable[[World], object]:
    return lambda world: _ledger(world).write_bytes(data)


def _ledger(world: World) -> Path:
    return world.state / "state.db"


def _other_database(version: int) -> Callable[[World], object]:
    def act(world: World) -> None:
        _ledger(world).unlink()
        connection = apsw.Connection(str(_ledger(world)))
        connection.execute("CREATE TABLE something (else_ TEXT)")
        connection.execute(f"PRAGMA user_version={version}")
        connection.close()

    return act


def _newer(world: World) -> None:
    connection = apsw.Connection(str(_ledger(world)))
    connection.execute(f"PRAGMA user_version={LATEST + 5}")
    connection.close()


def _in_its_place(make: Callable[[Path], object]) -> Callable[[World], object]:
    def act(world: World) -> None:
        _ledger(world).unlink()
        make(_ledger(world))

    return act


def _backups_too(world: World) -> None:
    for path in (world.state / "backups").iterdir():
        path.write_bytes(b"no database")
    _ledger(world).write_bytes(b"no database either")


def _state_is_a_file(world: World) -> None:
    shutil.rmtree(world.state)
    world.state.write_bytes(b"")


def _locks_are_a_file(world: World) -> None:
    shutil.rmtree(world.state / "locks")
    (world.state / "locks").write_bytes(b"")


WHOLE = (
    Damage("0 bytes", _write(b"")),
    Damage("spaces", _write(b" \n" * 50)),
    Damage("JSON", _write(b"null")),
    Damage("text", _write(b"I am a text file.\n" * 1_000)),
    Damage("noise", _write(random.Random(1).randbytes(50_000))),
    Damage("another program's database", _other_database(0)),
    Damage("a database of our version and not our tables", _other_database(LATEST)),
    Damage("a newer memtui's", _newer),
    Damage("gone", lambda world: _ledger(world).unlink()),
    Damage("a folder", _in_its_place(Path.mkdir)),
    Damage("a FIFO", _in_its_place(os.mkfifo)),
    Damage("a dangling link", _in_its_place(lambda path: path.symlink_to("/nowhere/at/all"))),
    Damage("a link to another file", _in_its_place(lambda path: path.symlink_to("/etc/hostname"))),
    Damage("all backups bad as well", _backups_too),
    Damage("the log is a folder", lambda world: (world.state / "state.db-wal").mkdir()),
    Damage("the log is noise", lambda world: (world.state / "state.db-wal").write_bytes(os.urandom(9_000))),
    Damage("the state folder is a file", _state_is_a_file),
    Damage("the folder of locks is a file", _locks_are_a_file),
    Damage("backups is a file", lambda world: _backups_is_a_file(world)),
)
"""Damage to the whole of it."""


def _backups_is_a_file(world: World) -> None:
    shutil.rmtree(world.state / "backups")
    (world.state / "backups").write_bytes(b"")
    _ledger(world).write_bytes(b"no database")


def cut(offset: int) -> Damage:
    """The file ends early."""
    return Damage(f"cut at {offset}", lambda world: os.truncate(_ledger(world), offset))


def flipped(offset: int, bit: int, name: str = "state.db") -> Damage:
    """One bit is another."""

    def act(world: World) -> None:
        path = world.state / name
        data = bytearray(path.read_bytes())
        data[offset % len(data)] ^= 1 << bit
        path.write_bytes(data)

    return Damage(f"bit {bit} of byte {offset} of {name} flipped", act)


def page_zeroed(page: int) -> Damage:
    """A page was never written."""

    def act(world: World) -> None:
        with _ledger(world).open("r+b") as file:
            file.seek(page * PAGE)
            file.write(bytes(PAGE))

    return Damage(f"page {page} zeroed", act)


def killed_with_a_log(base: Path) -> World:
    """A world whose last process died, so that the newest changes are only in the log beside the ledger."""
    world = furnish(base)

    def work() -> None:
        engine = world.engine()
        for number in range(5):
            engine.memories.create(at(f"late/{number}.md"), f"late {number}\n".encode() * 300, actor=ME)
        os.kill(os.getpid(), 9)

    assert children.run(work).killed
    assert (world.state / "state.db-wal").stat().st_size
    return world


def suffer(tally: Tally, template: World, base: Path, damage: Damage) -> None:
    """Spoil a copy and use it twice: the second process must find it in order, or find the same."""
    world = template.copy(base / "world")
    damage.act(world)
    use(world, tally, damage.name)
    use(world, tally, f"{damage.name}, once more")
    tally.add("damaged ledgers")
    if stat.S_ISDIR(os.lstat(world.state).st_mode) and list(world.state.glob("state.db.damaged-*")):
        tally.add("kept aside")
    world.remove()


def while_open(tally: Tally, template: World, base: Path) -> None:
    """Somebody removes, empties or spoils the ledger while it is open."""
    for name, act in (
        ("removed while open", lambda world: _ledger(world).unlink()),
        ("emptied while open", lambda world: os.truncate(_ledger(world), 0)),
        ("overwritten while open", _write(b"no database" * 1_000)),
        ("replaced while open", lambda world: os.replace(_fresh(world), _ledger(world))),
    ):
        world = template.copy(base / "world")
        try:
            with world.engine() as engine:
                text = engine.read(A).bytes
                engine.history.of(A)
                act(world)
                for number in range(4):
                    new = f"after {number}\n".encode()
                    try:
                        if isinstance(engine.save(A, new, expected_sha256=sha(text), actor=ME), Saved):
                            text = new
                        engine.history.of(A)
                    except MemtuiError as error:
                        tally.add(f"refused {error.code}")
                if engine.read(A).bytes != text:
                    tally.blame("lost", name)
        except Exception as error:  # noqa: BLE001
            tally.blame("crashes", f"{name}: {error!r} at {_place(error)}")
        use(world, tally, f"{name}, the next process")
        tally.add("damaged ledgers")
        world.remove()


def _fresh(world: World) -> str:
    path = str(world.state / "fresh")
    connection = apsw.Connection(path)
    connection.execute("CREATE TABLE t (x)")
    connection.close()
    return path


def locked(tally: Tally, template: World, base: Path) -> None:
    """Another process keeps the ledger: reading memories goes on, changing says E_LOCKED in time, and then works."""
    world = template.copy(base / "world")
    before, database.BUSY_MS = database.BUSY_MS, 300
    try:
        holder = apsw.Connection(str(_ledger(world)))
        holder.execute("BEGIN IMMEDIATE")
        with world.engine() as engine:
            started = time.monotonic()
            text = engine.read(A).bytes
            engine.history.of(A)
            if time.monotonic() - started > 0.2:
                tally.blame("stalled", "reading waits for a locked ledger")
            try:
                engine.save(A, b"x\n", expected_sha256=sha(text), actor=ME)
                tally.blame("crashes", "saved without the ledger")
            except MemtuiError as error:
                if error.code != "E_LOCKED":
                    tally.blame("unclear", str(error))
            holder.execute("ROLLBACK")
            holder.close()
            if not isinstance(engine.save(A, b"x\n", expected_sha256=sha(text), actor=ME), Saved):
                tally.blame("stalled", "not usable after the lock went")
    except Exception as error:  # noqa: BLE001
        tally.blame("crashes", f"locked: {error!r} at {_place(error)}")
    finally:
        database.BUSY_MS = before
    tally.add("locked ledgers")
    world.remove()


def repaired_by_many(tally: Tally, template: World, base: Path) -> None:
    """Several processes meet the damage at once: one repairs, all go on, nobody's record is lost."""
    world = template.copy(base / "world")
    _ledger(world).write_bytes(b"no database" * 1_000)

    def work(number: int) -> Callable[[], None]:
        def run() -> None:
            with world.engine() as engine:
                for tries in range(5):
                    try:
                        engine.memories.create(at(f"after/{number}.md"), f"{number}\n".encode(), actor=ME)
                    except MemtuiError as error:
                        # Another one was mending it: a person does what the hint says.
                        if tries == 4 or not error.hint.startswith("Try again"):
                            raise
                    else:
                        break

        return run

    started = [children.start(work(number)) for number in range(6)]
    for pid, pipe in started:
        ended = children.finish(pid, pipe)
        if ended.trace:
            tally.blame("crashes", f"repaired by many: {ended.trace}")
    with world.engine() as engine:
        for number in range(6):
            if not engine.history.of(at(f"after/{number}.md")):
                tally.blame("lost", f"the record of after/{number}.md")
    kept = [path for path in world.state.glob("state.db.damaged-*") if not path.name.endswith(("-wal", "-shm"))]
    if len(kept) != 1:
        tally.blame("notices", f"{len(kept)} damaged ledgers kept by one repair")
    tally.add("damaged ledgers")
    world.remove()


def run(base: Path, short: bool, seed: int) -> Result:
    """The campaign."""
    tally = Tally("ledger", "damaged ledgers", "crashes", "unreadable", "lost", "leaked", "notices", seed=seed)
    rng = random.Random(seed)
    template = World(furnish(base / "world").base.rename(base / "template"))
    size = _ledger(template).stat().st_size
    for damage in WHOLE:
        suffer(tally, template, base, damage)
    for _ in range(4 if short else 200):
        suffer(tally, template, base, cut(rng.randrange(size)))
    for _ in range(8 if short else 1_500):
        # Most of what a reader looks at first is at the start of a page.
        offset = rng.randrange(size) if rng.random() < 0.5 else rng.randrange(size // PAGE) * PAGE + rng.randrange(120)
        suffer(tally, template, base, flipped(offset, rng.randrange(8)))
    for page in rng.sample(range(size // PAGE), 3 if short else min(100, size // PAGE)):
        suffer(tally, template, base, page_zeroed(page))
    while_open(tally, template, base)
    locked(tally, template, base)
    for _ in range(2 if short else 100):
        repaired_by_many(tally, template, base)
    template.remove()
    logged = World(killed_with_a_log(base / "world").base.rename(base / "logged"))
    log = (logged.state / "state.db-wal").stat().st_size
    for _ in range(4 if short else 200):
        suffer(tally, logged, base, flipped(rng.randrange(log), rng.randrange(8), "state.db-wal"))
    for _ in range(2 if short else 50):
        offset = rng.randrange(log)
        suffer(tally, logged, base, Damage(f"the log cut at {offset}", partial(_cut_log, offset)))
    logged.remove()
    return tally.result()


def _cut_log(offset: int, world: World) -> None:
    os.truncate(world.state / "state.db-wal", offset)
