"""Unsaved texts of two windows in one memory: neither is lost, and both windows are told."""

from memtui.engine.model import Changes, Draft, Notice, OpenConflict
from tests.faults.world import ME, World, at, sha

A = at("a.md")


def draft(text: str) -> Draft:
    return Draft(A, sha(b"one\n"), text, (0, 0), 0, b"one\n")


def test_a_draft_that_takes_the_place_of_another_windows_says_so_once_in_each(world: World) -> None:
    with world.engine() as first, world.engine() as second:
        first.memories.create(A, "one\n", actor=ME)
        told: dict[str, list[Notice]] = {"first": [], "second": []}

        def listen(name: str) -> None:
            def on_changes(changes: Changes) -> None:
                told[name] += changes.notices

            (first if name == "first" else second).events.subscribe(on_changes)

        listen("first")
        listen("second")
        first.drafts.save(draft("mine\n"))
        first.drafts.save(draft("mine and more\n"))
        assert told == {"first": [], "second": []}
        second.drafts.save(draft("theirs\n"))
        second.drafts.save(draft("theirs and more\n"))
        assert [notice.address for notice in told["second"]] == [A]
        assert "Another window of memtui has unsaved text in notes/a.md too." in told["second"][0].text
        first.drafts.save(draft("mine again\n"))
        second.drafts.save(draft("theirs again\n"))
        assert [len(found) for found in told.values()] == [1, 1]
        kept = {version.sha256 for version in first.history.of(A)}
        assert {sha(b"mine and more\n"), sha(b"theirs and more\n"), sha(b"mine again\n")} <= kept


def test_a_window_takes_away_only_its_own_draft(world: World) -> None:
    with world.engine() as first, world.engine() as second:
        first.memories.create(A, "one\n", actor=ME)
        first.drafts.save(draft("mine\n"))
        second.drafts.save(draft("theirs\n"))
        first.drafts.drop(A, own=("mine\n",), trace=False)
        first.drafts.drop(A, own=())
        assert [found.text for found in first.drafts.all()] == ["theirs\n"]
        second.drafts.drop(A, own=())
        assert second.drafts.all() == ()
        assert sha(b"theirs\n") in {version.sha256 for version in second.history.of(A)}


def test_a_window_leaves_the_decisions_of_another(world: World) -> None:
    with world.engine() as first, world.engine() as second:
        first.memories.create(A, "one\n", actor=ME)
        theirs = OpenConflict(A, sha(b"one\n"), b"theirs\n", b"disk\n", "{}", 1)
        second.drafts.save_conflict(theirs)
        first.drafts.save(draft("mine\n"))
        first.drafts.drop(A, own=())
        assert first.drafts.all() == ()
        assert first.drafts.conflict(A) == theirs
        mine = theirs._replace(yours=b"mine\n")
        first.drafts.save_conflict(mine)
        first.drafts.save(draft("mine and theirs\n"))
        first.drafts.drop(A, own=())
        assert first.drafts.conflict(A) is None


def test_a_draft_that_is_settled_leaves_no_trace(world: World) -> None:
    with world.engine() as engine:
        engine.memories.create(A, "one\n", actor=ME)
        engine.drafts.save(draft("half-ty\n"))
        engine.drafts.drop(A, own=(), trace=False)
        assert engine.drafts.all() == ()
        assert {version.sha256 for version in engine.history.of(A)} == {sha(b"one\n")}
