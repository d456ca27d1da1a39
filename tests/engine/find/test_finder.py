"""The search over everything: nothing is missed, whatever is kept; it tells early and stops when told."""

import os
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memtui.engine import Engine
from memtui.engine.model import Actor, Address, Found, Root, Wanted
from memtui.errors import UsageError
from memtui.matching import fold, typed
from tests.examples import examples

ME = Actor("cli")


class Place:
    """Two roots, and engines on them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.start = time.time()
        self.roots = (
            Root("notes", str(folder / "notes"), scope="global"),
            Root("mine", str(folder / "mine"), agent="memtui", scope="project"),
        )
        for root in self.roots:
            os.makedirs(root.path)

    def engine(self) -> Engine:
        return Engine.open(self.roots, state_dir=str(self.folder / "state"))

    def write(self, address: str, text: str | bytes, *, age: float = 3600.0) -> None:
        root, _, path = address.partition("/")
        full = self.folder / root / path
        full.parent.mkdir(parents=True, exist_ok=True)
        full.write_bytes(text if isinstance(text, bytes) else text.encode())
        then = self.start - age
        os.utime(full, (then, then))


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path / "place")


def names(found: Found) -> list[str]:
    return [str(hit.memory.address) for hit in found.hits]


def later() -> int:
    """A clock that runs a minute ahead, so that what was just written counts as settled."""
    return time.time_ns() // 1_000_000 + 60_000


def test_names_descriptions_and_bodies_of_every_root_are_found(place: Place) -> None:
    place.write("notes/tabs.md", "nothing")
    place.write("notes/about.md", "---\ndescription: all about Tabs\n---\nnothing")
    place.write("mine/deep/er/body.md", "one\ntwo\n  we use TABS here, tabs!\n")
    place.write("mine/other.md", "spaces")
    with place.engine() as engine:
        found = engine.find(Wanted("tabs"))
        assert names(found) == ["notes/tabs.md", "notes/about.md", "mine/deep/er/body.md"]
        assert (found.total, found.complete, dict(found.roots)) == (3, True, {"notes": 2, "mine": 1})
        last = found.hits[-1]
        assert (last.field, last.line, last.column, last.places) == ("body", 3, 10, 2)
        assert [last.snippet[a:b] for a, b in last.marks] == ["TABS", "tabs"]
        assert names(engine.find(Wanted("tabs", scope="project"))) == ["mine/deep/er/body.md"]
        assert names(engine.find(Wanted("tabs", agent="memtui"))) == ["mine/deep/er/body.md"]
        assert names(engine.find(Wanted("tabs", roots=frozenset({"notes"})))) == names(found)[:2]
        assert names(engine.find(Wanted("tabs", bodies=False))) == names(found)[:2]
        assert engine.find(Wanted("  ")).total == 0
        hits, more = engine.search("tabs", limit=2)
        assert (tuple(hits), more) == (found.hits[:2], True)
        with pytest.raises(UsageError):
            engine.search(" ")


def test_of_equal_hits_pinned_then_used_then_recent_ones_come_first(place: Place) -> None:
    for name, age in (("old", 9_000.0), ("new", 3_600.0), ("used", 9_500.0), ("pinned", 9_900.0)):
        place.write(f"notes/{name}.md", "the word", age=age)
    with place.engine() as engine:
        engine.reconcile()
        engine.record_use(Address("notes", "used.md"), actor=Actor("agent:x"))
        engine.set_pinned([Address("notes", "pinned.md")], True, actor=ME)  # noqa: FBT003
        assert names(engine.find(Wanted("word"))) == [f"notes/{n}.md" for n in ("pinned", "used", "new", "old")]


def test_what_is_kept_follows_the_disk(place: Place) -> None:
    place.write("notes/a.md", "first text")
    place.write("notes/b.md", "first text")
    with Engine.open(place.roots, state_dir=str(place.folder / "state"), clock=later) as engine:
        assert names(engine.find(Wanted("first"))) == ["notes/a.md", "notes/b.md"]
        place.write("notes/a.md", "second text", age=30)
        assert names(engine.find(Wanted("second"))) == ["notes/a.md"]
        assert names(engine.find(Wanted("first"))) == ["notes/b.md"]
        # Without listing anew, what is on disk still decides what is a hit.
        place.write("notes/b.md", "third text", age=20)
        assert names(engine.find(Wanted("first", fresh=False))) == []
        os.unlink(place.folder / "notes/a.md")
        assert names(engine.find(Wanted("second", fresh=False))) == []
        engine.forget_texts()
        assert names(engine.find(Wanted("third"))) == ["notes/b.md"]


def test_a_file_that_changed_a_moment_ago_is_read_again_each_time(place: Place) -> None:
    place.write("notes/a.md", "one two", age=0)
    with place.engine() as engine:
        assert names(engine.find(Wanted("two"))) == ["notes/a.md"]
        assert engine._rooms.books.finder.bytes == 0


def test_it_tells_early_and_stops_when_told(place: Place) -> None:
    for number in range(60):
        place.write(f"notes/{'tabs' if number == 7 else 'other'}-{number}.md", "we use tabs")
    with place.engine() as engine:
        told: list[Found] = []
        found = engine.find(Wanted("tabs"), tell=told.append)
        assert found.total == 60
        assert names(told[0]) == ["notes/tabs-7.md"]
        assert not told[0].complete
        asked = []

        def stop() -> bool:
            asked.append(1)
            return len(asked) > 10

        engine.forget_texts()
        stopped = engine.find(Wanted("tabs"), stop=stop)
        assert (stopped.hits, stopped.complete) == ((), False)
        assert len(asked) == 11


def test_only_so_many_hits_are_made_and_all_are_counted(place: Place) -> None:
    for number in range(30):
        place.write(f"notes/n{number:02}.md", "the same word")
    with place.engine() as engine:
        found = engine.find(Wanted("word", limit=7))
        assert (len(found.hits), found.total) == (7, 30)


def test_old_versions_and_deleted_memories_are_found_when_asked_for(place: Place) -> None:
    with place.engine() as engine:
        kept = engine.create(Address("notes", "a.md"), "the old needle\n", actor=ME)
        engine.save(Address("notes", "a.md"), "the new text\n", expected_sha256=kept.sha256, actor=ME)
        engine.create(Address("mine", "gone.md"), "---\ndescription: d\n---\na needle here\n", actor=ME)
        engine.delete([Address("mine", "gone.md")], actor=ME)
        assert engine.find(Wanted("needle")).total == 0
        found = engine.find(Wanted("needle", versions=True))
        assert sorted(names(found)) == ["mine/gone.md", "notes/a.md"]
        assert (found.total, dict(found.roots)) == (2, {"mine": 1, "notes": 1})
        by_name = {hit.memory.address.name: hit for hit in found.hits}
        old = by_name["a.md"]
        assert old.version is not None
        assert old.version.sha256 == kept.sha256
        assert (old.memory.sha256 != kept.sha256, old.memory.missing) == (True, False)
        assert (old.field, old.line, old.column, old.snippet) == ("body", 1, 9, "the old needle")
        gone = by_name["gone.md"]
        assert gone.memory.missing
        assert gone.memory.sha256 is None
        assert gone.line == 4
        assert engine.find(Wanted("needle gone", versions=True)).total == 1  # the name counts as well
        assert engine.find(Wanted("gone", versions=True)).total == 0  # but alone it says nothing of a text
        assert engine.find(Wanted("new", versions=True)).total == 1  # the current version is no old one
        assert engine.find(Wanted("needle -old", versions=True)).total == 1
        assert engine.find(Wanted("needle", versions=True, scope="global")).total == 1
        hits, _ = engine.search("needle", versions=True)
        assert len(hits) == 2


def test_a_redacted_version_is_not_found(place: Place) -> None:
    with place.engine() as engine:
        first = engine.create(Address("notes", "a.md"), "a secret\n", actor=ME)
        engine.save(Address("notes", "a.md"), "clean\n", expected_sha256=first.sha256, actor=ME)
        assert engine.find(Wanted("secret", versions=True)).total == 1
        engine.redact(Address("notes", "a.md"), first.sha256, reason="a key", actor=ME)
        assert engine.find(Wanted("secret", versions=True)).total == 0


TEXT = st.text('abßİé -"\n', max_size=24)


@settings(max_examples=examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(TEXT, min_size=1, max_size=6), TEXT, st.booleans())
def test_nothing_is_missed_whether_texts_are_kept_or_not(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], query: str, keep: bool
) -> None:
    place = Place(tmp_path_factory.mktemp("finding") / "place")
    for number, text in enumerate(texts):
        place.write(f"notes/{number}.md", text)
    asked = typed(query)
    expected = set()
    for number, text in enumerate(texts):
        held = [fold(f"{number}.md"), fold(text)]
        if asked and asked.allows(*held) and all(any(t.is_in(one) for one in held) for t in asked.terms):
            expected.add(f"notes/{number}.md")
    clock = later if keep else (lambda: time.time_ns() // 1_000_000)
    with Engine.open(place.roots, state_dir=str(place.folder / "state"), clock=clock) as engine:
        for _ in range(2):
            assert set(names(engine.find(Wanted(query)))) == expected
        if asked:
            assert {str(hit.memory.address) for hit in engine.search(query)[0]} == expected
            assert [h.memory.address for h in engine.search(query)[0]] == [
                h.memory.address for h in engine.find(Wanted(query)).hits
            ]
