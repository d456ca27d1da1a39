"""Jobs go in, messages come out: results, errors of every kind, the newest of a group, and rows that changed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from textual.message import Message

from memtui.engine.disk import state_file
from memtui.engine.model import Address, Changes, Draft
from memtui.errors import NotFoundError, StorageError
from memtui.workbench.bridge import (
    MESSAGE_ROWS,
    ONE_BY_ONE,
    ROWS,
    WRITE,
    ActivityChanged,
    Bridge,
    DraftsChanged,
    Failed,
    Finished,
    HealthChanged,
    NoticesArrived,
    RowsChanged,
    RowsLoaded,
)
from tests.workbench.memories import ME, START, Memories, told_at_once


class Box:
    """Takes messages from any thread."""

    def __init__(self) -> None:
        self.all: list[Message] = []
        self._news = threading.Condition()

    def post_message(self, message: Message) -> bool:
        with self._news:
            self.all.append(message)
            self._news.notify_all()
        return True

    def wait(self, kind: type[Message], *, count: int = 1) -> list[Any]:
        """Wait for so many messages of a kind."""
        with self._news:
            assert self._news.wait_for(lambda: len(self.of(kind)) >= count, 20), self.all
        return self.of(kind)

    def until(self, condition: Callable[[], bool]) -> None:
        """Wait until what came makes something true."""
        with self._news:
            assert self._news.wait_for(condition, 20), self.all

    def of(self, kind: type[Message]) -> list[Any]:
        return [message for message in self.all if isinstance(message, kind)]


@pytest.fixture
def engine() -> Memories:
    return Memories({"memtui:global/a.md": "a", "memtui:global/b.md": "b"})


@pytest.fixture
def bridge(engine: Memories) -> Iterator[Bridge]:
    with told_at_once():
        bridge = Bridge(engine.engine, actor=ME, clock=engine.clock)
        yield bridge
        bridge.close()


@pytest.fixture
def box(bridge: Bridge) -> Box:
    found = Box()
    bridge.attach(found, found)
    return found


A = Address("memtui:global", "a.md")


def test_a_result_comes_back_with_what_to_do_next(bridge: Bridge, box: Box) -> None:
    told: list[bytes] = []
    bridge.run(lambda engine: engine.read(A).bytes, told.append, what="read a")
    (message,) = box.wait(Finished)
    assert told == []
    message.then(message.result)
    assert told == [b"a"]


def test_a_fault_of_ours_is_an_error_too(bridge: Bridge, box: Box) -> None:
    bridge.run(lambda _: 1 / 0, what="divide")
    (message,) = box.wait(Failed)
    assert message.error.code == "E_INTERNAL"
    assert "ZeroDivisionError" in message.error.message
    (noted,) = state_file.faults(bridge._engine.state_dir)
    assert b" workbench ZeroDivisionError < " in noted


def test_only_the_newest_of_a_group_arrives(bridge: Bridge, box: Box) -> None:
    gate = threading.Event()
    ran: list[int] = []

    def job(number: int) -> Callable[[object], int]:
        def work(_: object) -> int:
            gate.wait(5)
            ran.append(number)
            return number

        return work

    for number in range(5):
        bridge.run(job(number), what="read", latest="side")
    gate.set()
    bridge.run(lambda _: "end", what="end")
    box.wait(Finished, count=2)
    assert [message.result for message in box.of(Finished)] == [4, "end"]
    assert ran in ([0, 4], [4])


def test_a_stream_tells_what_there_is_so_far_until_it_is_outdated(bridge: Bridge, box: Box) -> None:
    told: list[str] = []
    gate, seen = threading.Event(), threading.Event()

    def first(_: object, stop: Callable[[], bool], tell: Callable[[str], None]) -> str:
        tell("part")
        seen.set()
        gate.wait(5)
        assert stop()
        tell("too late")
        return "outdated"

    def second(_: object, stop: Callable[[], bool], tell: Callable[[str], None]) -> str:
        assert not stop()
        return "all"

    bridge.stream(first, told.append, what="search", group="search")
    assert seen.wait(100)
    (part,) = box.wait(Finished)
    part.then(part.result)
    bridge.stream(second, told.append, what="search", group="search")
    gate.set()
    for message in box.wait(Finished, count=2):
        message.then(message.result)
    assert told == ["part", "all"]


def test_what_was_told_is_taken_only_while_it_is_the_newest(bridge: Bridge, box: Box) -> None:
    told: list[object] = []
    bridge.run(lambda _: "first", told.append, what="read", latest="side")
    box.wait(Finished)
    bridge.run(lambda _: 1 / 0, what="read", otherwise=told.append, latest="side")
    box.wait(Failed)
    bridge.stream(lambda *_: "third", told.append, what="read", group="side")
    box.wait(Finished, count=2)
    bridge.drop("side")
    for message in box.of(Finished):
        message.then(message.result)
    box.of(Failed)[0].otherwise(box.of(Failed)[0].error)
    assert told == []


def test_start_reads_follows_and_tells(bridge: Bridge, box: Box) -> None:
    bridge.start()
    box.wait(RowsLoaded, count=2)
    assert [str(row.address) for row in box.of(RowsLoaded)[0].listing.items] == [
        "memtui:global/a.md",
        "memtui:global/b.md",
    ]
    box.wait(DraftsChanged)
    box.wait(ActivityChanged)


def test_what_happens_outside_becomes_rows(bridge: Bridge, box: Box, engine: Memories) -> None:
    bridge.start()
    box.wait(RowsLoaded, count=2)
    engine.outside("memtui:global/a.md", "other")
    box.until(
        lambda: (
            ("memtui:global/a.md", True)
            in [(str(row.address), row.unseen) for told in box.of(RowsChanged) for row in told.rows]
        )
    )
    gone = engine.delete("memtui:global/b.md")
    box.until(lambda: any(gone in told.gone for told in box.of(RowsChanged)))
    box.until(lambda: gone in box.of(ActivityChanged)[-1].deleted)


class News:
    """What the bridge hears of: the test tells it, and the engine and its watch do not any more."""

    def __init__(self, bridge: Bridge, box: Box) -> None:
        self.tell = bridge._on_changes
        bridge.start()
        box.wait(RowsLoaded, count=2)
        assert box.wait(HealthChanged)[0].health.state == "watching"
        watch = bridge._watch
        assert watch is not None
        watch.stop()


@pytest.fixture
def news(bridge: Bridge, box: Box) -> News:
    """A bridge that has started, and that only the test tells of changes."""
    return News(bridge, box)


def test_a_storm_of_changes_is_one_list(news: News, box: Box, engine: Memories) -> None:
    many = [engine.put(f"memtui:global/{number}.md", "x") for number in range(ONE_BY_ONE + 1)]
    news.tell(Changes(touched=frozenset(many)))
    (*_, last) = box.wait(RowsLoaded, count=3)
    assert {*many, A} <= {row.address for row in last.listing.items}
    assert not box.of(RowsChanged)


def test_rows_that_come_with_a_change_are_not_asked_for(
    news: News, box: Box, engine: Memories, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = [engine.put(f"memtui:global/{number}.md", "x") for number in range(MESSAGE_ROWS + 1)]
    rows = {**engine.engine.rows.some(many), A: None}

    def fail(_: object) -> None:
        raise StorageError("nobody asks", code="E_IO")

    monkeypatch.setattr(engine.engine.rows, "some", fail)
    news.tell(Changes(touched=frozenset(rows), rows=rows, order=1_000_000))
    first, second = box.wait(RowsChanged, count=2)
    assert {row.address for row in (*first.rows, *second.rows)} == set(many)
    assert (*first.gone, *second.gone) == (A,)
    assert not box.of(Failed)


def test_an_older_row_that_comes_late_is_dropped(bridge: Bridge, news: News, box: Box, engine: Memories) -> None:
    row = engine.engine.rows.get(A)
    for order, size in ((3, 30), (2, 20), (4, 40)):
        news.tell(Changes(touched=frozenset([A]), rows={A: row._replace(bytes=size)}, order=1_000_000 + order))
    bridge.run(lambda _: None, what="wait", lane=ROWS)
    box.wait(Finished)
    told = [row.bytes for message in box.of(RowsChanged) for row in message.rows]
    assert told in ([30, 40], [40])


def test_what_happened_to_the_ledger_is_told_once(
    bridge: Bridge, box: Box, engine: Memories, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = ["The ledger was damaged; a backup took its place."]
    monkeypatch.setattr(engine.engine.events, "notices", lambda: tuple(told.pop() for _ in tuple(told)))
    bridge.run(lambda engine: engine.read(A).bytes, what="read a")
    (message,) = box.wait(NoticesArrived)
    assert [(notice.kind, notice.text) for notice in message.notices] == [
        ("ledger", "The ledger was damaged; a backup took its place.")
    ]
    bridge.run(lambda engine: engine.read(A).bytes, what="read a")
    box.wait(Finished, count=2)
    assert len(box.of(NoticesArrived)) == 1


def test_a_failing_list_is_an_error_and_the_rest_goes_on(bridge: Bridge, box: Box, engine: Memories) -> None:
    def fail() -> None:
        raise StorageError("The ledger cannot be read.", code="E_STORE")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine.engine.rows, "list", fail)
        bridge.start()
        assert box.wait(Failed)[0].error.code == "E_STORE"
    bridge.refresh([A])
    box.wait(RowsChanged)


def test_a_damaged_memory_of_the_last_run_is_an_error_not_a_crash(
    bridge: Bridge, box: Box, engine: Memories, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> None:
        raise NotFoundError("gone")

    monkeypatch.setattr(engine.engine, "cached", broken)
    assert bridge.remembered() is None
    assert box.wait(Failed)


def test_a_draft_is_stored_before_the_call_returns(bridge: Bridge, engine: Memories) -> None:
    draft = Draft(A, None, "mine", (0, 0), START)
    bridge.store_draft(draft)
    assert engine.drafts[A] == draft


def test_closing_does_not_wait_for_a_look_and_tells_it(bridge: Bridge) -> None:
    started, told = threading.Event(), threading.Event()

    def look(_: object) -> None:
        started.set()
        while not bridge.closed:
            told.wait(0.01)
        told.set()

    bridge.run(look, what="look at the indexes", lane="health")
    assert started.wait(100)
    bridge.close()
    assert told.wait(100)


def test_closing_stops_the_watch_and_lets_writes_end(bridge: Bridge, box: Box, engine: Memories) -> None:
    bridge.start()
    box.wait(RowsLoaded, count=2)
    ran: list[str] = []
    bridge.run(lambda _: ran.append("saved"), what="save", lane=WRITE)
    bridge.close()
    assert ran == ["saved"]
    assert box.wait(HealthChanged)[-1].health.state in ("watching", "stopped")
    bridge.focus(focused=True)
