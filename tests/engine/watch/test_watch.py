"""The watch finds everything, soon when it hears of it and later when it does not, and says how it is doing."""

import os
import random
import threading
import time
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path

import pytest

from memtui.engine.ledger.ledger import Ledger
from memtui.engine.look import root_pass
from memtui.engine.look.detect import ChangeDetector
from memtui.engine.look.root_pass import Glance
from memtui.engine.model import Actor, Address, Change, Changes, Root
from memtui.engine.part import LARGE_CHANGE, Pace
from memtui.engine.watch import hints, watch
from memtui.engine.watch.hints import Batch, Place, Source, Watchfiles
from memtui.engine.watch.watch import Watch
from memtui.errors import BusyError
from tests.engine.reading_world import ReadingWorld, RealHands
from tests.engine.watching import LIMIT, Listener, Watching

LATER_MS = 100_000


@pytest.fixture
def world(tmp_path: Path) -> Iterator[ReadingWorld]:
    """A root with three memories that were seen before, on the system's clock."""
    made = ReadingWorld(tmp_path / "w", hands=RealHands())
    for name in ("a.md", "b.md", "sub/c.md"):
        made.write(name, f"text of {name}\n", old=True)
    made.reconcile()
    yield made
    made.close()


@pytest.fixture
def watching(world: ReadingWorld) -> Iterator[Watching]:
    made = Watching(world)
    yield made
    made.watch.stop()


@pytest.fixture
def scans_only(world: ReadingWorld, monkeypatch: pytest.MonkeyPatch) -> Iterator[Watching]:
    """A watch that hears nothing and scans often."""
    monkeypatch.setattr(hints, "FOCUSED_MS", 50)
    made = Watching(world, Source)
    yield made
    made.watch.stop()


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Believe deletions sooner; how long it really takes is tested with a clock that need not be waited for."""
    monkeypatch.setattr(root_pass, "DELETED_MS", 800)


# --- finding


@pytest.mark.parametrize("how", ["watching", "scans_only"])
def test_everything_that_can_happen_is_told(how: str, request: pytest.FixtureRequest) -> None:
    watching: Watching = request.getfixturevalue(how)
    world, heard = watching.world, watching.heard
    watching.idle()
    world.write("new.md", "new")
    world.write("b.md", "changed")
    (world.folder / "a.md").rename(world.folder / "sub" / "moved.md")
    heard.wait(lambda: heard.kinds("new.md") and heard.kinds("b.md") and heard.kinds("sub/moved.md"))
    assert [*heard.kinds("new.md"), *heard.kinds("b.md"), *heard.kinds("sub/moved.md")] == [
        "created",
        "modified",
        "renamed",
    ]
    (world.folder / "new.md").unlink()
    heard.wait(lambda: heard.kinds("new.md") == ["created", "deleted"])


def test_folders_made_with_their_files_in_the_same_instant_lose_none(watching: Watching) -> None:
    world, heard = watching.world, watching.heard
    watching.idle()
    wanted = set()
    for number in range(200):
        path = f"d{number}/deep/er/m.md"
        (world.folder / path).parent.mkdir(parents=True)
        (world.folder / path).write_text(str(number))
        wanted.add(path)
    heard.wait(lambda: {change.address.path for change in heard.changes} >= wanted)
    assert sorted(change.address.path for change in heard.changes) == sorted(wanted)


def test_a_burst_is_told_whole_and_in_few_batches(watching: Watching) -> None:
    world, heard = watching.world, watching.heard
    watching.idle()
    start = time.monotonic()
    for number in range(1_000):
        (world.folder / f"m{number}.md").write_text(str(number))
    heard.wait(lambda: len(heard.changes) >= 1_000)
    assert {change.address.path for change in heard.changes} == {f"m{number}.md" for number in range(1_000)}
    assert len(heard.changes) == 1_000
    quiet = (time.monotonic() - start) * 1000 / hints.QUIET_MS  # a busy machine may pause as often between two files
    assert len([changes for changes in heard.all if changes.changes]) <= 20 + quiet


def test_what_happened_while_the_thread_stood_still_is_found(world: ReadingWorld) -> None:
    """The watch hangs in its callback, as it would in a stopped process, while thousands of files are made."""
    go_on, stuck = threading.Event(), threading.Event()
    heard = Listener()

    def hang(changes: Changes) -> None:
        heard.on_changes(changes)
        if not go_on.is_set() and changes.changes:
            stuck.set()
            go_on.wait(LIMIT)

    running = Watch(world.reconciler, str(world.state), hang, heard.on_health, pace=Pace())
    try:
        world.write("a.md", "hang now")
        assert stuck.wait(LIMIT)
        count = 3_000
        for number in range(count):
            folder = world.folder / f"f{number % 40}"
            folder.mkdir(exist_ok=True)
            os.close(os.open(folder / f"{number}.md", os.O_CREAT | os.O_WRONLY))
        go_on.set()
        heard.wait(lambda: len(heard.changes) > count)
        paths = [change.address.path for change in heard.changes]
        assert len(paths) == len(set(paths)) == count + 1
    finally:
        go_on.set()
        running.stop()


class Unreliable(Source):
    """The platform's source, in the hands of somebody who drops, repeats, mixes and delays what is heard."""

    def __init__(self, seed: int) -> None:
        self.true = Watchfiles()
        self.random = random.Random(seed)
        self.late: list[tuple[Place, str]] = []

    @property
    def hears(self) -> bool:
        return self.true.hears

    def follow(self, folders: Mapping[Place, str]) -> None:
        self.true.follow({place: path for place, path in folders.items() if self.random.random() < 0.8})

    def wait(self, timeout: float | None) -> Batch:
        """Hear some of it, some of it late, some of it twice, in any order."""
        batch = self.true.wait(timeout)
        hints = list(batch.hints)
        kept = [hint for hint in hints if self.random.random() < 0.5]
        mixed = [*kept, *self.late[:3], *kept[:1]]
        self.late = self.late[3:] + [hint for hint in hints if self.random.random() < 0.3]
        self.random.shuffle(mixed)
        return batch._replace(hints=mixed)

    def wake(self) -> None:
        self.true.wake()

    def close(self) -> None:
        self.true.close()


@pytest.mark.parametrize("seed", range(3))
def test_the_disk_wins_whatever_is_heard(world: ReadingWorld, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    monkeypatch.setattr(hints, "FOCUSED_MS", 200)
    watching = Watching(world, lambda: Unreliable(seed))
    chance = random.Random(seed)
    try:
        for number in range(150):
            path = chance.choice(["a.md", "b.md", "sub/c.md", "sub/d.md", f"n{number % 7}/e.md"])
            if chance.random() < 0.25:
                (world.folder / path).unlink(missing_ok=True)
            else:
                world.write(path, f"{seed} {number}")
        world.write("last.md", "last")
        there = {
            str(file.relative_to(world.folder)): sha256(file.read_bytes()).hexdigest()
            for file in world.folder.rglob("*.md")
        }

        def believed() -> dict[str, str]:
            detector = world.reconciler._states["t"].detector
            assert isinstance(detector, ChangeDetector)
            return {path: known.sha256 for path, known in detector.known.items()}

        watching.heard.wait(lambda: believed() == there, "to agree")
    finally:
        watching.watch.stop()
    assert {path: row.sha256 for path, row in world.rows().items()} == there


def test_what_memtui_writes_here_is_told_once(watching: Watching) -> None:
    world, heard = watching.world, watching.heard
    watching.idle()
    told: list[Change] = []
    with world.engine() as engine:
        engine.events.subscribe(world.events.publish)
        engine.events.subscribe(lambda changes: told.extend(changes.changes))
        for number in range(5):
            engine.memories.create(world.at(f"n{number}.md"), f"text {number}", actor=Actor("tui"))
    watching.idle()
    assert len(told) == 5
    assert not [change for change in heard.changes if change.address.path.startswith("n")]


def test_a_root_added_later_is_watched_too(watching: Watching, tmp_path: Path) -> None:
    watching.idle()
    other = tmp_path / "other"
    other.mkdir()
    watching.world.roots.add([Root("o", str(other))])
    watching.watch.focus(focused=True)
    watching.heard.wait(lambda: watching.world.reconciler.folders(Root("o", str(other))))
    (other / "x.md").write_text("x")
    watching.heard.wait(lambda: Address("o", "x.md") in {change.address for change in watching.heard.changes})


# --- when to look


def test_somebody_who_looks_is_answered_at_once(world: ReadingWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    for rest in ("FOCUSED_MS", "AWAY_MS", "POLLING_MS"):
        monkeypatch.setattr(hints, rest, LATER_MS)
    watching = Watching(world, Source)
    try:
        watching.heard.wait(lambda: watching.heard.health)
        watching.watch.focus(focused=False)
        world.write("a.md", "changed")
        watching.watch.focus(focused=True)
        start = time.monotonic()
        watching.heard.wait(lambda: watching.heard.kinds("a.md"))
        assert time.monotonic() - start < LATER_MS / 2000
    finally:
        watching.watch.stop()


def test_a_machine_that_slept_is_looked_at_anew(world: ReadingWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hints, "FOCUSED_MS", 3_600_000)
    monkeypatch.setattr(watch, "COOKIE_MS", 100)
    shift = threading.Event()
    hands = world.hands

    def clock() -> int:
        return hands.clock() + (3_600_000 if shift.is_set() else 0)

    heard = Listener()
    world.reconciler.clock = clock
    running = Watch(world.reconciler, str(world.state), heard.on_changes, heard.on_health, pace=Pace(), source=Source)
    try:
        heard.wait(lambda: heard.health)
        world.write("a.md", "while it slept")
        shift.set()
        heard.wait(lambda: heard.kinds("a.md"))
    finally:
        running.stop()


class Counting(threading.Event):
    """Counts how often something makes way."""

    ways = 0

    def wait(self, timeout: float | None = None) -> bool:
        self.ways += 1
        return super().wait(timeout)


def test_a_large_change_of_our_own_is_made_way_for_and_others_are_still_found(
    world: ReadingWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "BUSY_STEP", 0.1)
    monkeypatch.setattr(watch, "BUSY", 0.4)
    pace, free = Pace(), Counting()
    pace.free = free
    free.set()
    watching = Watching(world, pace=pace)
    watching.idle()
    with pace.track(LARGE_CHANGE):
        free.ways = 0
        watching.world.write("a.md", "changed\n")
        watching.heard.wait(lambda: watching.heard.touched("a.md"), "shown")
        assert free.ways >= 3
        watching.watch.stop()


AGENT = Actor("mcp:codex")


@pytest.fixture
def followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Watching]:
    """A watch that hears nothing and does not scan again, so that only the ledger can tell it anything."""
    monkeypatch.setattr(hints, "FOCUSED_MS", 600_000)
    monkeypatch.setattr(watch, "HEARD_MS", 600_000)
    monkeypatch.setattr(watch, "LEDGER_MS", 20)
    world = ReadingWorld(tmp_path / "w", hands=RealHands())
    world.write("a.md", "text\n", old=True)
    world.write("b.md", "text\n", old=True)
    world.reconcile()
    made = Watching(world, Source)
    made.heard.wait(lambda: made.heard.health, "first look")
    yield made
    made.watch.stop()
    world.close()


def test_a_use_by_another_process_is_told_and_counted(followed: Watching) -> None:
    world, heard = followed.world, followed.heard
    with world.engine() as other:
        other.pins.record_use(world.at("a.md"), actor=AGENT)
    heard.wait(lambda: heard.touched("a.md"), "use")
    assert not heard.touched("b.md")
    assert not heard.changes
    assert world.catalog.cache(world.root).rows["a.md"].uses == 1


def test_a_pin_by_another_process_is_told(followed: Watching) -> None:
    world, heard = followed.world, followed.heard
    with world.engine() as other:
        other.pins.set([world.at("b.md")], pinned=True, actor=AGENT)
    heard.wait(lambda: heard.touched("b.md"), "pin")
    assert world.catalog.cache(world.root).rows["b.md"].pinned


def test_a_write_by_another_process_is_told_with_its_client_s_name(followed: Watching) -> None:
    world, heard = followed.world, followed.heard
    with world.engine() as other:
        start = other.read(world.at("a.md"))
        other.save(world.at("a.md"), "new\n", expected_sha256=start.sha256, actor=AGENT)
    followed.watch.focus(focused=True)
    heard.wait(lambda: heard.kinds("a.md"), "write")
    (change,) = heard.changes
    assert (change.kind, change.actor) == ("modified", "mcp:codex")


def test_nothing_is_looked_at_while_nobody_writes(followed: Watching, monkeypatch: pytest.MonkeyPatch) -> None:
    world = followed.world
    asked, enough = [0], threading.Event()
    looks: list[Mapping[str, Glance]] = []
    ask, look = world.reconciler.ledger_version, world.reconciler.look

    def counted() -> int | None:
        asked[0] += 1
        if asked[0] > 5:
            enough.set()
        return ask()

    def remembered(glances: Mapping[str, Glance]) -> Changes:
        looks.append(glances)
        return look(glances)

    followed.heard.wait(lambda: world.reconciler.due() is None, "rest")
    monkeypatch.setattr(world.reconciler, "ledger_version", counted)
    assert enough.wait(100)
    enough.clear()
    asked[0] = 0
    monkeypatch.setattr(world.reconciler, "look", remembered)
    assert enough.wait(100)
    assert looks == []


def test_a_ledger_that_cannot_be_asked_ends_nothing(followed: Watching, monkeypatch: pytest.MonkeyPatch) -> None:
    world, heard = followed.world, followed.heard
    refused = threading.Event()

    def busy(_ledger: Ledger) -> tuple[int, int]:
        refused.set()
        raise BusyError("Another process keeps the ledger.")

    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "change_counter", busy)
        assert refused.wait(100)
        assert world.reconciler.ledger_version() is None
    with world.engine() as other:
        other.pins.record_use(world.at("a.md"), actor=AGENT)
    heard.wait(lambda: heard.touched("a.md"), "use")
