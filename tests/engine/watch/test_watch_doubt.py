"""The watch doubts what it hears, says how it is doing, and never ends silently."""

import errno
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from memtui.engine.look import root_pass
from memtui.engine.model import Changes, Health
from memtui.engine.part import Pace
from memtui.engine.watch import hints, watch
from memtui.engine.watch.hints import Batch, Opener, Source, Watchfiles
from memtui.engine.watch.watch import Watch
from tests.engine.reading_world import ReadingWorld, RealHands
from tests.engine.watching import LIMIT, Listener, Watching


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


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Believe deletions sooner; how long it really takes is tested with a clock that need not be waited for."""
    monkeypatch.setattr(root_pass, "DELETED_MS", 800)


class Deaf(Source):
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


class Broken(Source):
    """A source that the system refuses."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number

    @property
    def hears(self) -> bool:
        return False

    def wait(self, timeout: float | None) -> Batch:
        return Batch(broken=OSError(self.number, os.strerror(self.number)))


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENOSYS])
def test_no_source_at_all_is_said_and_scans_go_on(
    world: ReadingWorld, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    monkeypatch.setattr(hints, "POLLING_MS", 50)
    watching = Watching(world, lambda: Broken(number))
    try:
        watching.idle()
        (health,) = watching.heard.health
        assert health.state == "polling"
        assert health.reason
    finally:
        watching.watch.stop()


def test_a_limit_of_the_system_is_said_scans_go_on_and_events_are_tried_again(
    world: ReadingWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hints, "POLLING_MS", 50)
    monkeypatch.setattr(watch, "RETRY_MS", 300)
    sources: list[Opener] = [lambda: Broken(errno.ENOSPC)]
    watching = Watching(world, lambda: sources.pop()() if sources else Watchfiles())
    try:
        watching.heard.wait(lambda: watching.heard.health)
        assert watching.heard.health[0].state == "polling"
        assert "max_user_watches" in watching.heard.health[0].reason
        watching.idle()
        watching.heard.wait(lambda: watching.heard.health[-1] == Health("watching"))
        watching.idle()
    finally:
        watching.watch.stop()


def test_names_that_are_no_text_cost_no_doubt(world: ReadingWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hints, "FOCUSED_MS", 3_600_000)
    watching = Watching(world)
    try:
        watching.idle()
        for number in range(watch.FAILURES + 2):
            name = f"caf\udce9{number}.md"
            (world.folder / name).write_text("x")
            watching.heard.wait(lambda name=name: watching.heard.kinds(name))  # type: ignore[misc]
            watching.idle()
        assert watching.heard.health == [Health("watching")]
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
    assert not watching.watch._thread.is_alive()
    watching.watch.stop()
    watching.watch.focus(focused=True)


def test_a_callback_may_stop_the_watch(world: ReadingWorld) -> None:
    heard = Listener()
    ready = threading.Event()
    made: list[Watch] = []

    def end(changes: Changes) -> None:
        ready.wait(LIMIT)
        heard.on_changes(changes)
        made[0].stop()

    made.append(Watch(world.reconciler, str(world.state), end, heard.on_health, pace=Pace()))
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

    running = Watch(world.reconciler, str(world.state), fail, heard.on_health, pace=Pace())
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
