"""Texts nobody saved, in files: offered whatever becomes of the ledger, one a memory, gone when they must be gone."""

from pathlib import Path

import pytest

from memtui.engine import Engine
from memtui.engine.disk import unsaved
from memtui.engine.model import Address, Draft
from memtui.errors import RefusedError, StorageError
from tests.faults.world import ME, World, at, sha

A = at("a.md")


def draft(text: str, *, when: int = 0, name: str = "a.md", base: bytes | None = b"one\n") -> Draft:
    return Draft(at(name), None if base is None else sha(base), text, (1, 2), when, base)


def texts(engine: Engine) -> list[str]:
    return [found.text for found in engine.drafts.all()]


def files(world: World) -> list[Path]:
    return sorted((world.state / "drafts").glob("*"))


def in_the_way(world: World) -> None:
    """Make the ledger unusable, and nothing else."""
    (world.state / "state.db").mkdir(parents=True)


def test_what_the_ledger_cannot_take_is_a_draft_like_any_other_at_the_next_start(world: World) -> None:
    in_the_way(world)
    with world.engine() as engine:
        engine.drafts.save(draft("first\n"))
        engine.drafts.save(draft("second\ud800\n", when=5, base=b"\xff not text"))
        engine.drafts.save(draft("other\n", when=7, name="sub/b.md", base=None))
    assert [file.stat().st_mode & 0o777 for file in files(world)] == [0o600, 0o600]
    assert files(world)[0].parent.stat().st_mode & 0o777 == 0o700
    with world.engine() as engine:
        assert engine.drafts.all() == (
            draft("second\ud800\n", when=5, base=b"\xff not text"),
            draft("other\n", when=7, name="sub/b.md", base=None),
        )


def test_a_draft_in_a_file_gives_way_to_a_newer_one_without_a_loss(world: World) -> None:
    in_the_way(world)
    with world.engine() as engine:
        engine.drafts.save(draft("kept apart\n"))
    (world.state / "state.db").rmdir()
    with world.engine() as engine:
        engine.memories.create(A, "one\n", actor=ME)
        engine.drafts.save(draft("typed on\n", when=5))
        assert texts(engine) == ["typed on\n"]
        assert sha(b"kept apart\n") in {version.sha256 for version in engine.history.of(A)}
    assert files(world) == []


def test_a_dropped_draft_leaves_no_file_and_its_text_on_history(world: World) -> None:
    with world.engine() as engine:
        engine.memories.create(A, "one\n", actor=ME)
        engine.drafts.save(draft("mine\n"))
        assert engine.drafts.keep_apart()
        assert len(files(world)) == 1
        engine.drafts.drop(A, own=())
        assert texts(engine) == []
        assert files(world) == []
        assert sha(b"mine\n") in {version.sha256 for version in engine.history.of(A)}


def test_the_file_of_a_memory_that_was_renamed_is_no_second_draft(world: World) -> None:
    with world.engine() as engine:
        engine.memories.create(A, "one\n", actor=ME)
        engine.drafts.save(draft("mine\n"))
        engine.drafts.keep_apart()
        engine.memories.rename(A, at("b.md"), actor=ME)
    with world.engine() as engine:
        assert [found.address for found in engine.drafts.all()] == [at("b.md")]
        engine.drafts.drop(at("b.md"), own=("mine\n",))
        assert engine.drafts.all() == ()


def test_two_windows_that_cannot_trust_the_ledger_keep_both_texts(world: World) -> None:
    in_the_way(world)
    with world.engine() as first, world.engine() as second:
        first.drafts.save(draft("mine\n", when=1))
        second.drafts.save(draft("theirs\n", when=2))
        assert texts(first) == ["theirs\n"]
        assert {one.text for one in unsaved.everything(str(world.state))} == {"mine\n", "theirs\n"}


def test_what_no_file_can_take_either_is_refused(world: World) -> None:
    in_the_way(world)
    (world.state / "drafts").write_bytes(b"in the way")
    with world.engine() as engine, pytest.raises(StorageError):
        engine.drafts.save(draft("mine\n"))


def test_a_window_that_only_looks_writes_no_file(world: World) -> None:
    with (
        Engine.open(world.roots, state_dir=str(world.state), read_only=True) as engine,
        pytest.raises(StorageError),
    ):
        engine.drafts.save(draft("mine\n"))
    assert not (world.state / "drafts").exists()


def test_a_damaged_file_is_found_and_hides_no_other(world: World) -> None:
    in_the_way(world)
    with world.engine() as engine:
        engine.drafts.save(draft("mine\n"))
        (world.state / "drafts/x.json").write_bytes(b'{"text": "half')
        assert texts(engine) == ["mine\n"]
    assert [one.of is None for one in unsaved.everything(str(world.state))].count(True) == 1


def test_what_a_process_left_that_died_while_it_wrote_a_draft_goes_with_it(world: World) -> None:
    in_the_way(world)
    with world.engine() as engine:
        engine.drafts.save(draft("mine\n"))
        half = Path(f"{files(world)[0]}.1.new")
        half.write_bytes(b"half\n")
        unsaved.remove(unsaved.everything(str(world.state))[0])
        assert files(world) == []


def of(world: World, base: bytes) -> unsaved.TextOrigin:
    return unsaved.TextOrigin(str(world.folder()), "a.md", sha(base), base)


def test_a_copy_is_offered_when_nobody_has_it_open_any_more(world: World) -> None:
    with world.engine() as engine:
        engine.memories.create(A, "one\n", actor=ME)
        copy = unsaved.begin_copy(str(world.state), "a.md", b"one\n", of(world, b"one\n"))
        Path(copy.path).write_bytes(b"one\ntwo\n")
        assert texts(engine) == []
        unsaved.release(copy)
        found = engine.drafts.all()
        assert [(one.address, one.text, one.base) for one in found] == [(A, "one\ntwo\n", b"one\n")]
        engine.drafts.drop(A)
        assert engine.drafts.all() == ()
        assert not Path(copy.folder).exists()
        assert sha(b"one\ntwo\n") in {version.sha256 for version in engine.history.of(A)}


def test_only_what_an_editor_saved_after_it_was_taken_over_is_offered(world: World) -> None:
    copy = unsaved.begin_copy(str(world.state), "a.md", b"one\n", of(world, b"one\n"))
    Path(copy.path).write_bytes(b"two\n")
    unsaved.taken(copy, b"two\n")
    unsaved.release(copy)
    assert unsaved.everything(str(world.state)) == ()
    Path(copy.path).write_bytes(b"three\n")
    assert [one.data for one in unsaved.everything(str(world.state))] == [b"three\n"]


def test_a_copy_nobody_changed_is_tidied_up(world: World) -> None:
    unchanged = unsaved.begin_copy(str(world.state), "a.md", b"one\n", of(world, b"one\n"))
    still = unsaved.begin_copy(str(world.state), "a.md", b"one\n", of(world, b"one\n"))
    unsaved.release(unchanged)
    assert unsaved.everything(str(world.state)) == ()
    unsaved.tidy(str(world.state))
    assert not Path(unchanged.folder).exists()
    assert Path(still.folder).exists()
    unsaved.release(still)


def test_a_redacted_text_is_gone_as_draft_and_as_what_drafts_and_copies_started_from(world: World) -> None:
    secret = "schön\nthe token is sk-0123456789abcdef\n".encode()
    in_the_way(world)
    with world.engine() as engine:
        engine.drafts.save(draft(secret.decode()))
        engine.drafts.save(draft("mine\n", name="b.md", base=secret))
    (world.state / "state.db").rmdir()
    Path(f"{files(world)[0]}.1.new").write_bytes(secret)
    copy = unsaved.begin_copy(str(world.state), "c.md", secret, of(world, secret))
    Path(copy.path).write_bytes(b"typed\n")
    with world.engine() as engine:
        engine.memories.create(at("c.md"), secret, actor=ME)
        engine.save(at("c.md"), b"clean\n", expected_sha256=sha(secret), actor=ME)
        with pytest.raises(RefusedError) as caught:
            engine.redaction.redact(at("c.md"), sha(secret), reason="a key", actor=ME)
        assert caught.value.code == "E_SHARED"
        assert len(texts(engine)) == 2
        engine.redaction.redact_all([(at("c.md"), sha(secret))], reason="a key", actor=ME, everywhere=True)
        assert texts(engine) == ["mine\n"]
        assert unsaved.everything(str(world.state))[0].of == unsaved.TextOrigin(
            str(world.folder().resolve()), "b.md", sha(secret), None
        )
    held = [path.name for path in world.state.rglob("*") if path.is_file() and b"0123456789abcdef" in path.read_bytes()]
    assert held == []
    unsaved.release(copy)
    assert [one.data for one in unsaved.everything(str(world.state))] == [b"mine\n", b"typed\n"]


def test_a_copy_of_an_earlier_memtui_is_found_without_its_memory(world: World) -> None:
    for folder in ("edits/edit-1", "edit-2"):
        place = world.state / folder
        place.mkdir(parents=True)
        (place / "note.md").write_bytes(b"left\n")
    assert [(one.of, one.data) for one in unsaved.everything(str(world.state))] == [(None, b"left\n")] * 2
    assert {Path(one.place).name for one in unsaved.everything(str(world.state))} == {"note.md"}


def test_addresses_are_those_of_the_folder_whatever_it_is_called_at_the_next_start(world: World) -> None:
    in_the_way(world)
    with world.engine() as engine:
        engine.drafts.save(draft("mine\n"))
    renamed = world.roots[0]._replace(id="other")
    with Engine.open([renamed], state_dir=str(world.state)) as engine:
        assert [found.address for found in engine.drafts.all()] == [Address("other", "a.md")]
    with Engine.open([], state_dir=str(world.state)) as engine:
        assert engine.drafts.all() == ()
