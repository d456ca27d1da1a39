"""What another process records without touching a file shows as well: uses, pins, and who wrote what."""

import threading
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from memtui.engine.ledger.ledger import Ledger
from memtui.engine.look.root_pass import Glance
from memtui.engine.model import Actor, Changes
from memtui.engine.watch import hints, watch
from memtui.engine.watch.hints import Source
from memtui.errors import BusyError
from tests.engine.reading_world import ReadingWorld, RealHands
from tests.engine.watching import Watching

AGENT = Actor("mcp:codex")


@pytest.fixture
def watching(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Watching]:
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


def test_a_use_by_another_process_is_told_and_counted(watching: Watching) -> None:
    world, heard = watching.world, watching.heard
    with world.engine() as other:
        other.pins.record_use(world.at("a.md"), actor=AGENT)
    heard.wait(lambda: heard.touched("a.md"), "use")
    assert not heard.touched("b.md")
    assert not heard.changes
    assert world.catalog.cache(world.root).rows["a.md"].uses == 1


def test_a_pin_by_another_process_is_told(watching: Watching) -> None:
    world, heard = watching.world, watching.heard
    with world.engine() as other:
        other.pins.set([world.at("b.md")], pinned=True, actor=AGENT)
    heard.wait(lambda: heard.touched("b.md"), "pin")
    assert world.catalog.cache(world.root).rows["b.md"].pinned


def test_a_write_by_another_process_is_told_with_its_client_s_name(watching: Watching) -> None:
    world, heard = watching.world, watching.heard
    with world.engine() as other:
        start = other.read(world.at("a.md"))
        other.save(world.at("a.md"), "new\n", expected_sha256=start.sha256, actor=AGENT)
    watching.watch.focus(focused=True)
    heard.wait(lambda: heard.kinds("a.md"), "write")
    (change,) = heard.changes
    assert (change.kind, change.actor) == ("modified", "mcp:codex")


def test_nothing_is_looked_at_while_nobody_writes(watching: Watching, monkeypatch: pytest.MonkeyPatch) -> None:
    world = watching.world
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

    watching.heard.wait(lambda: world.reconciler.due() is None, "rest")
    monkeypatch.setattr(world.reconciler, "ledger_version", counted)
    assert enough.wait(100)
    enough.clear()
    asked[0] = 0
    monkeypatch.setattr(world.reconciler, "look", remembered)
    assert enough.wait(100)
    assert looks == []


def test_a_ledger_that_cannot_be_asked_ends_nothing(watching: Watching, monkeypatch: pytest.MonkeyPatch) -> None:
    world, heard = watching.world, watching.heard
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
