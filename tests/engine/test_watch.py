"""The watch finds everything, soon when it hears of it and later when it does not, and says how it is doing."""

import errno
import os
import random
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from memtui.digest import sha256_hex
from memtui.engine import agenda, rootpass, watch
from memtui.engine.beliefs import Beliefs
from memtui.engine.hints import Batch, LibrarySource, NoSource, Opener, Place, open_source
from memtui.engine.model import Actor, Address, Change, Changes, Health, Root
from memtui.engine.watch import Watch
from tests.engine.reading_world import ReadingWorld, RealHands

LIMIT = 20.0
"""Seconds after which a test gives up waiting."""


class Listener:
    """Remembers what a watch says, and waits for what it should say."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.news = threading.Condition()
        self.all: list[Changes] = []
        self.health: list[Health] = []

    def on_changes(self, changes: Changes) -> None:
        """Remember changes."""
        with self.news:
            self.all.append(changes)
            self.news.notify_all()

    def on_health(self, health: Health) -> None:
        """Remember health."""
        with self.news:
            self.health.append(health)
            self.news.notify_all()

    @property
    def changes(self) -> list[Change]:
        """Every change, in order."""
        return [change for changes in self.all for change in changes.changes]

    def kinds(self, path: str) -> list[str]:
        """What happened to one memory."""
        return [change.kind for change in self.changes if change.address.path == path]

    def touched(self, path: str) -> bool:
        """Whether a row was to be drawn again, or changed."""
        return any(address.path == path for changes in self.all for address in changes.touched)

    def wait(self, condition: Callable[[], object], what: str = "") -> None:
        """Wait until something is so; what changes without being told is looked at several times a second."""
        end = time.monotonic() + LIMIT
        with self.news:
            while not condition():
                assert time.monotonic() < end, (what, self.health, self.all[-3:])
                self.news.wait(0.1)


class Watching:
    """A world, a watch on it, and what it said."""

    def __init__(self, world: ReadingWorld, source: Opener = open_source) -> None:
        """Start the watch and wait for its first scan."""
        self.world = world
        self.heard = Listener()
        self.watch = Watch(
            world.reconciler,
            str(world.state),
            self.heard.on_changes,
            self.heard.on_health,
            clock=world.hands.clock,
            ticks=world.hands.ticks,
            source=source,
        )

    def idle(self) -> None:
        """Wait until what is on disk now has been looked at: a file made now has been told."""
        name = f"idle-{time.monotonic_ns()}.md"
        self.world.write(name, name)
        self.heard.wait(lambda: self.heard.kinds(name), name)
        self.heard.all.clear()


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
    """A watch with the platform's source."""
    made = Watching(world)
    yield made
    made.watch.stop()


@pytest.fixture
def scans_only(world: ReadingWorld, monkeypatch: pytest.MonkeyPatch) -> Iterator[Watching]:
    """A watch that hears nothing and scans often."""
    monkeypatch.setattr(agenda, "FOCUSED_MS", 50)
    made = Watching(world, NoSource)
    yield made
    made.watch.stop()


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Believe deletions sooner; how long it really takes is tested with a clock that need not be waited for."""
    monkeypatch.setattr(rootpass, "DELETED_MS", 800)


# --- finding


def test_a_write_shows_at_once_and_is_told_when_it_settled(watching: Watching) -> None:
    watching.idle()
    start = time.monotonic()
    watching.world.write("a.md", "changed\n")
    watching.heard.wait(lambda: watching.heard.touched("a.md"), "shown")
    watching.heard.wait(lambda: watching.heard.kinds("a.md"), "told")
    assert time.monotonic() - start < LIMIT
    first = watching.heard.all[0]
    assert first.touched == {watching.world.at("a.md")}
    assert first.changes == ()
    (change,) = watching.heard.changes
    assert (change.kind, change.actor, change.after) == ("modified", "outside", sha256_hex(b"changed\n"))


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
    for number in range(1_000):
        (world.folder / f"m{number}.md").write_text(str(number))
    heard.wait(lambda: len(heard.changes) >= 1_000)
    assert {change.address.path for change in heard.changes} == {f"m{number}.md" for number in range(1_000)}
    assert len(heard.changes) == 1_000
    assert len([changes for changes in heard.all if changes.changes]) <= 20


def test_what_happened_while_the_thread_stood_still_is_found(world: ReadingWorld) -> None:
    """The watch hangs in its callback, as it would in a stopped process, while thousands of files are made."""
    go_on, stuck = threading.Event(), threading.Event()
    heard = Listener()

    def hang(changes: Changes) -> None:
        heard.on_changes(changes)
        if not go_on.is_set() and changes.changes:
            stuck.set()
            go_on.wait(LIMIT)

    running = Watch(
        world.reconciler, str(world.state), hang, heard.on_health, clock=world.hands.clock, ticks=world.hands.ticks
    )
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


class Unreliable:
    """The platform's source, in the hands of somebody who drops, repeats, mixes and delays what is heard."""

    def __init__(self, seed: int) -> None:
        """Open the true source."""
        self.true = open_source()
        self.random = random.Random(seed)
        self.late: list[tuple[Place, str]] = []

    def follow(self, folders: Mapping[Place, str]) -> set[Place]:
        """Follow some of the folders."""
        return self.true.follow({place: path for place, path in folders.items() if self.random.random() < 0.8})

    def wait(self, timeout: float | None) -> Batch:
        """Hear some of it, some of it late, some of it twice, in any order."""
        batch = self.true.wait(timeout)
        hints = list(batch.hints)
        kept = [hint for hint in hints if self.random.random() < 0.5]
        mixed = [*kept, *self.late[:3], *kept[:1]]
        self.late = self.late[3:] + [hint for hint in hints if self.random.random() < 0.3]
        self.random.shuffle(mixed)
        return Batch(mixed)

    def wake(self) -> None:
        """Let `wait` return."""
        self.true.wake()

    def close(self) -> None:
        """End it."""
        self.true.close()


@pytest.mark.parametrize("seed", range(3))
def test_the_disk_wins_whatever_is_heard(world: ReadingWorld, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    monkeypatch.setattr(agenda, "FOCUSED_MS", 200)
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
            str(file.relative_to(world.folder)): sha256_hex(file.read_bytes()) for file in world.folder.rglob("*.md")
        }

        def believed() -> dict[str, str]:
            beliefs = world.reconciler._states["t"].beliefs
            assert isinstance(beliefs, Beliefs)
            return {path: known.sha256 for path, known in beliefs.known.items()}

        watching.heard.wait(lambda: believed() == there, "to agree")
    finally:
        watching.watch.stop()
    assert {path: row.sha256 for path, row in world.rows().items()} == there


def test_a_name_that_is_no_text_ends_nothing(watching: Watching) -> None:
    watching.idle()
    os.close(os.open(os.fsencode(watching.world.folder) + b"/caf\xe9.md", os.O_CREAT))
    watching.heard.wait(lambda: watching.heard.kinds("caf\udce9.md"))
    watching.idle()
    assert watching.heard.health == [Health("watching")]


def test_links_out_of_the_root_are_not_followed(world: ReadingWorld, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    (outside / "deep").mkdir(parents=True)
    for name, target in (("out", outside), ("self", world.folder), ("all", Path("/"))):
        (world.folder / name).symlink_to(target)
    followed: list[Mapping[Place, str]] = []

    class Spy(NoSource):
        def follow(self, folders: Mapping[Place, str]) -> set[Place]:
            followed.append(folders)
            return set()

    watching = Watching(world, Spy)
    watching.heard.wait(lambda: followed)
    watching.watch.stop()
    assert {place for place in followed[-1] if place[0]} == {("t", ""), ("t", "sub")}


def git(folder: Path, *arguments: str) -> None:
    """Run git in a folder, with nobody's configuration."""
    options = ["-c", "user.name=n", "-c", "user.email=e@example.invalid", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", *options, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_a_checkout_to_and_fro_deletes_nothing(tmp_path: Path) -> None:
    world = ReadingWorld(tmp_path / "w", hands=RealHands())
    for number in range(200):
        world.write(f"d{number % 10}/m{number}.md", f"one {number}")
    git(world.folder, "init")
    git(world.folder, "add", ".")
    git(world.folder, "commit", "-m", "one")
    git(world.folder, "checkout", "-b", "two")
    for number in range(200):
        world.write(f"d{number % 10}/m{number}.md", f"two {number}")
    git(world.folder, "commit", "-a", "-m", "two")
    world.reconcile()
    watching = Watching(world)
    try:
        for branch in ("main", "two") * 3:
            git(world.folder, "checkout", branch)
        world.write("last.md", "last")
        watching.heard.wait(lambda: watching.heard.kinds("last.md"))
    finally:
        watching.watch.stop()
    assert {change.kind for change in watching.heard.changes} <= {"modified", "created"}
    assert not [path for path, row in world.rows().items() if row.missing]
    world.close()


def test_a_root_that_goes_and_comes_is_said_and_deletes_nothing(watching: Watching) -> None:
    world, heard = watching.world, watching.heard
    watching.idle()
    shutil.copytree(world.folder, world.base / "copy")
    shutil.rmtree(world.folder)
    heard.wait(lambda: any("t" in changes.roots for changes in heard.all), "gone")
    heard.all.clear()
    (world.base / "copy").rename(world.folder)
    heard.wait(lambda: any("t" in changes.roots for changes in heard.all), "back")
    world.write("b.md", "after it came back")
    heard.wait(lambda: heard.kinds("b.md"), "heard again")
    assert {change.kind for change in heard.changes} == {"modified"}


def test_what_memtui_writes_here_is_told_once(watching: Watching) -> None:
    world, heard = watching.world, watching.heard
    watching.idle()
    told: list[Change] = []
    with world.engine() as engine:
        engine.subscribe(world.reconciler.published)
        engine.subscribe(lambda changes: told.extend(changes.changes))
        for number in range(5):
            engine.create(world.at(f"n{number}.md"), f"text {number}", actor=Actor("tui"))
    watching.idle()
    assert len(told) == 5
    assert not [change for change in heard.changes if change.address.path.startswith("n")]


def test_what_memtui_writes_elsewhere_is_told_with_its_name(watching: Watching) -> None:
    watching.idle()
    with watching.world.engine() as engine:
        engine.create(watching.world.at("n.md"), "text", actor=Actor("mcp:x"))
    watching.heard.wait(lambda: watching.heard.kinds("n.md"))
    assert [change.actor for change in watching.heard.changes] == ["mcp:x"]


def test_a_root_added_later_is_watched_too(watching: Watching, tmp_path: Path) -> None:
    watching.idle()
    other = tmp_path / "other"
    other.mkdir()
    watching.world.roots.add([Root("o", str(other))])
    watching.watch.poke()
    watching.heard.wait(lambda: watching.world.reconciler.folders(Root("o", str(other))))
    (other / "x.md").write_text("x")
    watching.heard.wait(lambda: Address("o", "x.md") in {change.address for change in watching.heard.changes})


# --- when to look


@pytest.mark.parametrize("ask", ["poke", "focus"])
def test_somebody_who_asks_is_answered_at_once(world: ReadingWorld, ask: str) -> None:
    watching = Watching(world, NoSource)
    try:
        watching.heard.wait(lambda: watching.heard.health)
        watching.watch.focus(focused=False)
        world.write("a.md", "changed")
        if ask == "poke":
            watching.watch.poke()
        else:
            watching.watch.focus(focused=True)
        start = time.monotonic()
        watching.heard.wait(lambda: watching.heard.kinds("a.md"))
        assert time.monotonic() - start < agenda.FOCUSED_MS / 1000
    finally:
        watching.watch.stop()


def test_a_machine_that_slept_is_looked_at_anew(world: ReadingWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agenda, "FOCUSED_MS", 3_600_000)
    monkeypatch.setattr(watch, "COOKIE_MS", 100)
    shift = threading.Event()
    hands = world.hands

    def clock() -> int:
        return hands.clock() + (3_600_000 if shift.is_set() else 0)

    heard = Listener()
    running = Watch(world.reconciler, str(world.state), heard.on_changes, heard.on_health, clock=clock, source=NoSource)
    try:
        heard.wait(lambda: heard.health)
        world.write("a.md", "while it slept")
        shift.set()
        heard.wait(lambda: heard.kinds("a.md"))
    finally:
        running.stop()


# --- doubt


class Deaf(NoSource):
    """Follows everything and hears nothing."""


def test_a_source_that_hears_nothing_is_restarted_then_given_up(
    world: ReadingWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "COOKIE_MS", 30)
    monkeypatch.setattr(watch, "HEARD_MS", 20)
    opened = []

    def deaf() -> Deaf:
        opened.append(1)
        return Deaf()

    watching = Watching(world, deaf)
    try:
        watching.heard.wait(lambda: len(watching.heard.health) > 1)
        assert len(opened) == watch.FAILURES
        state, why = watching.heard.health[-1]
        assert state == "polling"
        assert "three times" in why
        world.write("a.md", "changed")
        watching.heard.wait(lambda: watching.heard.kinds("a.md"))
    finally:
        watching.watch.stop()


def test_a_source_that_hears_its_cookie_is_kept(world: ReadingWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "COOKIE_MS", 20)
    cookies: list[str] = []
    listener = Listener()
    heard_cookie = Watch._heard_cookie

    def counted(self: Watch, name: str) -> None:
        cookies.append(name)
        heard_cookie(self, name)
        with listener.news:
            listener.news.notify_all()

    monkeypatch.setattr(Watch, "_heard_cookie", counted)
    watching = Watching(world)
    try:
        listener.wait(lambda: len(cookies) > 10)
    finally:
        watching.watch.stop()
    assert watching.heard.health == [Health("watching"), Health("stopped")]
    assert not [*(world.state / "watch").iterdir()]


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENOSYS])
def test_no_source_at_all_is_said_and_scans_go_on(
    world: ReadingWorld, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    monkeypatch.setattr(agenda, "POLLING_MS", 50)

    def none() -> NoSource:
        raise OSError(number, os.strerror(number))

    watching = Watching(world, none)
    try:
        watching.idle()
        (health,) = watching.heard.health
        assert health.state == "polling"
        assert health.reason
    finally:
        watching.watch.stop()


class Full(NoSource):
    """A source at the system's limit of watched folders."""

    def follow(self, folders: Mapping[Place, str]) -> set[Place]:
        """Refuse."""
        raise OSError(errno.ENOSPC, "no space")


def test_a_limit_of_the_system_is_said_scans_go_on_and_events_are_tried_again(
    world: ReadingWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agenda, "POLLING_MS", 50)
    monkeypatch.setattr(watch, "RETRY_MS", 300)
    sources: list[Opener] = [Full]
    watching = Watching(world, lambda: sources.pop()() if sources else open_source())
    try:
        watching.heard.wait(lambda: watching.heard.health)
        assert watching.heard.health[0].state == "polling"
        assert "max_user_watches" in watching.heard.health[0].reason
        watching.idle()
        watching.heard.wait(lambda: watching.heard.health[-1] == Health("watching"))
        watching.idle()
    finally:
        watching.watch.stop()


def test_a_library_that_dies_of_a_name_is_replaced_by_scans(
    world: ReadingWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agenda, "FOCUSED_MS", 300)
    monkeypatch.setattr(agenda, "POLLING_MS", 100)
    watching = Watching(world, LibrarySource)
    try:
        watching.idle()
        for number in range(30):
            os.close(os.open(os.fsencode(world.folder) + b"/caf\xe9%d.md" % number, os.O_CREAT))
            watching.idle()
            if watching.heard.health[-1].state == "polling":
                break
        assert watching.heard.health[-1].state == "polling"
        watching.idle()
    finally:
        watching.watch.stop()


def test_a_state_folder_that_cannot_be_written_costs_only_the_cookie(
    world: ReadingWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "COOKIE_MS", 20)
    monkeypatch.setattr(watch, "HEARD_MS", 20)
    (world.state / "watch").write_text("in the way")
    watching = Watching(world)
    try:
        watching.idle()
        watching.idle()
        assert watching.heard.health == [Health("watching")]
    finally:
        watching.watch.stop()


# --- the end


def test_stopping_ends_the_thread_and_says_so(watching: Watching) -> None:
    watching.idle()
    watching.watch.stop()
    assert watching.heard.health == [Health("watching"), Health("stopped")]
    assert not [thread for thread in threading.enumerate() if thread.name == "memtui-watch"]
    watching.watch.stop()
    watching.watch.poke()
    watching.watch.focus(focused=True)


def test_a_callback_may_stop_the_watch(world: ReadingWorld) -> None:
    heard = Listener()
    ready = threading.Event()
    made: list[Watch] = []

    def end(changes: Changes) -> None:
        ready.wait(LIMIT)
        heard.on_changes(changes)
        made[0].stop()

    made.append(
        Watch(
            world.reconciler, str(world.state), end, heard.on_health, clock=world.hands.clock, ticks=world.hands.ticks
        )
    )
    ready.set()
    world.write("a.md", "changed")
    heard.wait(lambda: Health("stopped") in heard.health)
    assert heard.all


def test_a_watch_that_fails_does_not_go_silently(world: ReadingWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    caught: list[threading.ExceptHookArgs] = []
    monkeypatch.setattr(threading, "excepthook", caught.append)
    heard = Listener()

    def fail(_changes: Changes) -> None:
        raise ValueError("a fault in a callback")

    running = Watch(
        world.reconciler, str(world.state), fail, heard.on_health, clock=world.hands.clock, ticks=world.hands.ticks
    )
    world.write("a.md", "changed")
    heard.wait(lambda: heard.health and heard.health[-1].state == "stopped")
    assert heard.health[-1].reason
    running.stop()
    assert [item.exc_type for item in caught] == [ValueError]


def test_rows_are_written_down_for_the_next_start(world: ReadingWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "KEEP_MS", 10)
    watching = Watching(world)
    try:
        watching.idle()
        kept = threading.Event()
        keep = world.reconciler.keep

        def keep_and_say() -> None:
            keep()
            kept.set()

        monkeypatch.setattr(world.reconciler, "keep", keep_and_say)
        world.write("a.md", "changed")
        assert kept.wait(LIMIT)
    finally:
        watching.watch.stop()
    assert list((world.state / "rows").iterdir())
