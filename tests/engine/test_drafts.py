"""Drafts and open conflicts: neither of two texts is lost, both windows are told, and retention keeps every side."""

from hashlib import sha256

from memtui.engine import Engine
from memtui.engine.model import Address, Changes, Draft, Notice, OpenConflict, Retention
from tests.conftest import Clock
from tests.faults.world import ME, World, at, sha

A, B = at("a.md"), at("b.md")


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


BASE, YOURS, AGENT = b"base\n", b"yours\n", b"\xff agent\n"


def conflict(address: Address = A, decisions: str = "{}") -> OpenConflict:
    return OpenConflict(address, sha256(BASE).hexdigest(), YOURS, AGENT, decisions, 7)


def test_it_comes_back_in_a_later_process(engine: Engine, world: World) -> None:
    engine.memories.create(A, BASE, actor=ME)
    assert engine.drafts.conflict(A) is None
    engine.drafts.save_conflict(conflict(decisions='{"at": 3}'))
    with world.engine() as later:
        assert later.drafts.conflict(A) == conflict(decisions='{"at": 3}')
        assert later.drafts.conflict(B) is None


def test_every_text_of_it_is_in_history(engine: Engine) -> None:
    engine.memories.create(A, BASE, actor=ME)
    for _ in range(2):
        engine.drafts.save_conflict(conflict())
    versions = engine.history.of(A)
    assert {engine.history.read(A, version.sha256) for version in versions} == {BASE, YOURS, AGENT}
    assert len(versions) == 3


def test_it_ends_with_the_draft(engine: Engine) -> None:
    engine.memories.create(A, BASE, actor=ME)
    engine.drafts.save(Draft(A, sha256(BASE).hexdigest(), YOURS.decode(), (0, 0), 1))
    engine.drafts.save_conflict(conflict())
    engine.drafts.drop(A)
    assert engine.drafts.conflict(A) is None


def test_it_follows_a_rename(engine: Engine) -> None:
    engine.memories.create(A, BASE, actor=ME)
    engine.drafts.save_conflict(conflict())
    engine.memories.rename(A, B, actor=ME)
    assert engine.drafts.conflict(A) is None
    assert engine.drafts.conflict(B) == conflict(B)


def test_retention_keeps_its_texts(world: World, clock: Clock) -> None:
    keep = Retention(versions=1, days=1)
    with Engine.open(world.roots, state_dir=str(world.state), clock=clock, retention=keep) as one:
        one.memories.create(A, BASE, actor=ME)
        one.drafts.save_conflict(conflict())
        for number in range(4):
            one.save(A, f"{number}\n", expected_sha256=one.read(A).sha256, actor=ME)
        for text in ("later\n", "last\n", "last\n\n"):
            clock.advance(days=1)
            one.save(A, text, expected_sha256=one.read(A).sha256, actor=ME)
    with Engine.open(world.roots, state_dir=str(world.state), clock=clock) as one:
        kept = {one.history.read(A, version.sha256) for version in one.history.of(A)}
        assert kept >= {BASE, YOURS, AGENT, b"last\n"}
        assert b"0\n" not in kept
        assert one.drafts.conflict(A) == conflict()


def test_two_windows_with_unsaved_text_lose_neither(world: World) -> None:
    (world.folder() / "b.md").write_text("one", "utf-8")
    with world.engine() as first, world.engine() as second:
        base = first.read(B)
        for engine, text in ((first, "AAA one"), (second, "BBB one"), (first, "AAAA one"), (first, "AAAAA one")):
            engine.drafts.save(Draft(B, base.sha256, text, (0, 0), 1, base.bytes))
        kept = {first.history.read(B, version.sha256) for version in first.history.of(B)}
        assert [draft.text for draft in first.drafts.all()] == ["AAAAA one"]
        assert kept == {b"one", b"AAA one", b"BBB one"}
