"""What another memtui wrote while a look was under way is never taken for somebody else's: the disk is asked again."""

from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from memtui.engine.look.catalog import Catalog, RootCache
from memtui.engine.model import Actor
from tests.engine.reading_world import ReadingWorld, joined

AGENT = Actor("mcp:codex")


@pytest.fixture
def world(tmp_path: Path) -> Iterator[ReadingWorld]:
    """A root with one memory that was seen before."""
    made = ReadingWorld(tmp_path / "w")
    made.write("a.md", "zero", old=True)
    made.reconcile()
    yield made
    made.close()


def save(world: ReadingWorld, text: str) -> None:
    """Save as another process of memtui does."""
    with world.engine() as engine:
        start = engine.read(world.at("a.md"))
        engine.save(world.at("a.md"), text, expected_sha256=start.sha256, actor=AGENT)


def once_between(monkeypatch: pytest.MonkeyPatch, work: Callable[[], None]) -> None:
    """Do something in the next look: behind its look at the disk, before it asks the ledger."""
    original = Catalog._changed_records
    left = [work]

    def first(catalog: Catalog, cache: RootCache, *, force: bool) -> set[str]:
        if left:
            left.pop()()
        return original(catalog, cache, force=force)

    monkeypatch.setattr(Catalog, "_changed_records", first)


@pytest.mark.parametrize("everything", [False, True])
def test_a_save_behind_the_look_at_the_disk_stays_its_client_s(
    world: ReadingWorld, monkeypatch: pytest.MonkeyPatch, *, everything: bool
) -> None:
    save(world, "one")
    found = [world.look("a.md", everything=everything)]
    world.hands.advance(150)
    once_between(monkeypatch, lambda: save(world, "two"))
    found.append(world.look("a.md", everything=everything))
    found.append(world.settle())
    told = [(change.actor, change.after) for change in joined(found).changes]
    assert {actor for actor, _ in told} == {"mcp:codex"}
    assert told[-1][1] == sha256(b"two").hexdigest()
    with world.engine() as engine:
        assert [version.actor for version in engine.history.of(world.at("a.md"))] == [
            "mcp:codex",
            "mcp:codex",
            "outside",
        ]
    assert world.rows()["a.md"].actor == "mcp:codex"


def test_a_save_before_the_version_is_recorded_stays_its_client_s(
    world: ReadingWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The look at the disk after the first one is late as well: what counts is what is there when it is recorded."""
    save(world, "one")
    found = [world.look("a.md")]
    world.hands.advance(150)
    monkeypatch.setattr("memtui.engine.look.root_pass.RootPass._look_again", lambda _pass: None)
    once_between(monkeypatch, lambda: save(world, "two"))
    found.append(world.look("a.md"))
    found.append(world.settle())
    assert {change.actor for change in joined(found).changes} == {"mcp:codex"}


def test_a_deletion_behind_the_look_at_the_disk_stays_its_client_s(
    world: ReadingWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    def delete() -> None:
        with world.engine() as engine:
            engine.memories.delete([world.at("a.md")], actor=AGENT)

    save(world, "one")
    found = [world.look("a.md")]
    world.hands.advance(150)
    once_between(monkeypatch, delete)
    found.append(world.look("a.md"))
    found.append(world.settle())
    assert {change.actor for change in joined(found).changes} == {"mcp:codex"}
    assert [change.kind for change in joined(found).changes][-1] == "deleted"


def test_what_somebody_else_put_back_is_still_theirs(world: ReadingWorld) -> None:
    save(world, "one")
    world.settle()
    save(world, "two")
    world.write("a.md", "one")
    assert [(change.actor, change.after) for change in world.settle().changes][-1] == (
        "outside",
        sha256(b"one").hexdigest(),
    )
