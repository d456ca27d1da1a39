"""The rules of every change, and what holds when a part of it fails: one undo step, and nothing half done."""

import errno
import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from memtui.engine import Engine
from memtui.engine.model import Actor, Address, Conflict, Draft, FieldEdit, Policy, Root, Saved, Unchanged
from memtui.errors import BusyError, ConflictError, MemtuiError, NotFoundError, RefusedError, StorageError
from tests.faults.injector import failing, hooked, meddling
from tests.faults.world import FIRST, ME, SECOND, World, at, in_history, ledger_of, open_intents, sha, stored

A, B = at("a.md"), at("b.md")
OLD, NEW = b"old\n", b"new\n"
AGENT = Actor("mcp:someone")


def with_policy(world: World, policy: Policy, *, read_only: bool = False) -> Engine:
    """Open an engine whose first root has its own policy."""
    return Engine.open(
        [Root(FIRST, str(world.folder()), policy=policy, read_only=read_only)], state_dir=str(world.state)
    )


def test_a_create_never_replaces(world: World, engine: Engine) -> None:
    engine.memories.create(A, OLD, actor=ME)
    assert isinstance(engine.memories.create(A, OLD, actor=ME), Unchanged)
    with pytest.raises(ConflictError) as caught:
        engine.memories.create(A, NEW, actor=ME)
    assert caught.value.code == "E_EXISTS"
    assert caught.value.details["current_sha256"] == sha(OLD)
    assert (world.folder() / "a.md").read_bytes() == OLD


def test_saving_where_no_file_is_expected(world: World, engine: Engine) -> None:
    result = engine.save(A, OLD, expected_sha256=None, actor=ME)
    assert isinstance(result, Saved)
    assert result.before is None
    assert isinstance(engine.save(A, OLD, expected_sha256=None, actor=ME), Unchanged)
    refused = engine.save(A, NEW, expected_sha256=None, actor=ME)
    assert isinstance(refused, Conflict)
    assert engine.history.read(A, str(refused.yours_sha256)) == NEW


def test_saving_a_memory_that_went_is_a_conflict_and_makes_nothing(world: World, engine: Engine) -> None:
    engine.memories.create(A, OLD, actor=ME)
    (world.folder() / "a.md").unlink()
    result = engine.save(A, NEW, expected_sha256=sha(OLD), actor=ME)
    assert isinstance(result, Conflict)
    assert result.current_sha256 is None
    assert engine.history.read(A, str(result.yours_sha256)) == NEW
    assert not world.disk()


@pytest.mark.parametrize("text", ["\ud800", b"\xff\xfe\x00"])
def test_text_is_utf_8_and_bytes_are_what_they_are(world: World, engine: Engine, text: str | bytes) -> None:
    if isinstance(text, bytes):
        engine.memories.create(A, text, actor=ME)
        assert (world.folder() / "a.md").read_bytes() == text
        return
    with pytest.raises(RefusedError) as caught:
        engine.memories.create(A, text, actor=ME)
    assert caught.value.code == "E_TEXT"


@pytest.mark.parametrize("change", ["pin", "delete", "move"])
def test_a_name_that_is_not_utf_8_is_refused_and_stops_nothing_else(world: World, engine: Engine, change: str) -> None:
    bad, many = at(os.fsdecode(b"caf\xe9.md")), [A, B]
    (world.folder() / bad.path).write_bytes(OLD)
    for address in many:
        engine.memories.create(address, OLD, actor=ME)
    for chosen in ([bad], [bad, *many]):
        if change == "pin":
            done = engine.pins.set(chosen, pinned=True, actor=ME)
        elif change == "delete":
            done = engine.memories.delete(chosen, actor=ME)
        else:
            done = engine.memories.move(
                [(address, at(f"new/{number}.md")) for number, address in enumerate(chosen)], actor=ME
            )
        codes = [outcome.error.code if outcome.error else "" for outcome in done.outcomes]
        assert codes == ["E_NAME", "", ""][: len(chosen)]
    assert (world.folder() / bad.path).read_bytes() == OLD


@pytest.mark.parametrize(("size", "code"), [(1_048_576, ""), (1_048_577, "E_TOO_BIG")])
def test_what_is_listed_as_readable_is_read(world: World, engine: Engine, size: int, code: str) -> None:
    (world.folder() / "a.md").write_bytes(b"x" * size)
    assert ("E_TOO_BIG" in [problem.code for problem in engine.rows.list().items[0].problems]) is bool(code)
    if not code:
        assert engine.read(A).size == size
        return
    with pytest.raises(RefusedError) as caught:
        engine.read(A)
    assert caught.value.code == code


def test_the_limit_of_a_root_is_met_to_the_byte(world: World) -> None:
    with with_policy(world, Policy(write_bytes=100)) as engine:
        engine.memories.create(A, b"x" * 100, actor=ME)
        with pytest.raises(RefusedError) as caught:
            engine.save(A, b"x" * 101, expected_sha256=sha(b"x" * 100), actor=ME)
        assert (caught.value.code, caught.value.details) == ("E_TOO_BIG", {"limit": 100, "bytes": 101})


def test_a_full_scope_takes_no_more(world: World) -> None:
    with with_policy(world, Policy(max_files=2)) as engine:
        engine.memories.create(at("x/a.md"), OLD, actor=ME)
        engine.memories.create(B, OLD, actor=ME)
        with pytest.raises(RefusedError) as caught:
            engine.memories.create(A, OLD, actor=ME)
        assert caught.value.code == "E_TOO_MANY"


def test_counting_goes_past_what_cannot_be_counted(world: World) -> None:
    with with_policy(world, Policy(max_files=5)) as engine:
        (world.folder() / "sub").mkdir()
        (world.folder() / "loop").symlink_to(world.folder())

        def swap() -> None:
            (world.folder() / "sub").rmdir()
            (world.folder() / "sub").symlink_to("/")

        with hooked(meddling("open_dir", swap)):
            engine.memories.create(A, OLD, actor=ME)
    assert "notes/a.md" in world.disk()


@pytest.mark.parametrize("act", ["save", "create", "delete", "rename", "restore"])
def test_a_read_only_root_takes_no_change(world: World, act: str) -> None:
    (world.folder() / "a.md").write_bytes(OLD)
    acts: dict[str, Callable[[Engine], object]] = {
        "save": lambda engine: engine.save(A, NEW, expected_sha256=sha(OLD), actor=ME),
        "create": lambda engine: engine.memories.create(B, NEW, actor=ME),
        "delete": lambda engine: raise_first(engine.memories.delete([A], actor=ME).outcomes),
        "rename": lambda engine: engine.memories.rename(A, B, actor=ME),
        "restore": lambda engine: engine.memories.restore(A, actor=ME),
    }
    with with_policy(world, Policy(), read_only=True) as engine, pytest.raises(MemtuiError) as caught:
        acts[act](engine)
    assert caught.value.code == "E_READ_ONLY"
    assert world.disk() == {"notes/a.md": OLD}


def raise_first(outcomes: tuple[object, ...]) -> None:
    """Raise the error of the first outcome."""
    error = getattr(outcomes[0], "error", None)
    if error is not None:
        raise error


def test_what_a_layout_protects_only_the_user_changes(world: World) -> None:
    (world.folder() / "pinned").mkdir()
    (world.folder() / "pinned/a.md").write_bytes(OLD)
    address = at("pinned/a.md")
    with with_policy(world, Policy(protected=("pinned/",))) as engine:
        with pytest.raises(RefusedError) as caught:
            engine.save(address, NEW, expected_sha256=sha(OLD), actor=AGENT)
        assert caught.value.code == "E_PROTECTED"
        engine.save(address, NEW, expected_sha256=sha(OLD), actor=ME)


def test_a_file_with_a_second_name_is_not_split(world: World, engine: Engine, tmp_path: Path) -> None:
    (world.folder() / "a.md").write_bytes(OLD)
    os.link(world.folder() / "a.md", tmp_path / "elsewhere")
    with pytest.raises(RefusedError) as caught:
        engine.save(A, NEW, expected_sha256=sha(OLD), actor=ME)
    assert caught.value.code == "E_HARDLINK"
    assert (tmp_path / "elsewhere").read_bytes() == OLD


def test_a_deletion_of_a_version_somebody_replaced_is_a_conflict(world: World, engine: Engine) -> None:
    engine.memories.create(A, OLD, actor=ME)
    engine.memories.create(B, OLD, actor=ME)
    (world.folder() / "a.md").write_bytes(NEW)
    done = engine.memories.delete([A, B], actor=ME, expected={A: sha(OLD), B: sha(OLD)})
    first, second = done.outcomes
    assert isinstance(first.result, Conflict)
    assert first.result.current_sha256 == sha(NEW)
    assert second.ok
    assert (world.folder() / "a.md").read_bytes() == NEW
    assert in_history(engine, A).keys() >= {sha(OLD), sha(NEW)}


def test_many_are_deleted_as_one_step_with_an_outcome_for_each(world: World, engine: Engine) -> None:
    for name in ("a.md", "b.md", "c.md"):
        engine.memories.create(at(name), name.encode(), actor=ME)
    os.unlink(world.folder() / "b.md")
    done = engine.memories.delete([at(name) for name in ("a.md", "b.md", "c.md", "a.md")], actor=ME)
    assert [outcome.ok for outcome in done.outcomes] == [True, False, True]
    assert {record.txn for record in engine.history.audit(limit=2)} == {done.txn}
    assert [entry.address.path for entry in engine.undo.trash.entries()] == ["c.md", "a.md"]
    assert all(outcome.ok for outcome in engine.undo.undo(actor=ME).outcomes)
    assert sorted(world.disk()) == ["notes/a.md", "notes/c.md"]


def test_a_transaction_that_could_not_be_begun_is_not_mixed_up_with_the_next(
    world: World, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.memories.create(A, OLD, actor=ME)
    engine.memories.create(B, OLD, actor=ME)
    engine.memories.delete([A, B], actor=ME)
    ledger = ledger_of(engine)
    intend = ledger.audit.intend
    failed: list[int] = []

    def full(*arguments: object, **options: object) -> int:
        if not failed:
            failed.append(1)
            raise StorageError("There is no space left.", code="E_DISK_FULL")
        return intend(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(ledger.audit, "intend", full)
    assert [outcome.ok for outcome in engine.undo.undo(actor=ME).outcomes] == [False, True]
    engine.memories.create(at("c.md"), NEW, actor=ME)
    assert [str(outcome.address) for outcome in engine.undo.undo(actor=ME).outcomes] == ["notes/c.md"]
    assert world.disk() == {"notes/a.md": OLD}


def test_renaming_onto_a_name_that_is_taken_harms_neither(world: World, engine: Engine) -> None:
    engine.memories.create(A, OLD, actor=ME)
    engine.memories.create(B, NEW, actor=ME)
    with pytest.raises(ConflictError) as caught:
        engine.memories.rename(A, B, actor=ME)
    assert caught.value.code == "E_EXISTS"
    assert world.disk() == {"notes/a.md": OLD, "notes/b.md": NEW}
    assert not open_intents(engine)


@pytest.mark.parametrize(
    ("first", "second"), [("Foo.md", "foo.md"), ("caf\u00e9.md", "cafe\u0301.md"), ("ﬁ.md", "fi.md")]
)
def test_names_that_some_system_confuses_are_refused(world: World, engine: Engine, first: str, second: str) -> None:
    engine.memories.create(at(first), OLD, actor=ME)
    with pytest.raises(ConflictError) as caught:
        engine.memories.create(at(second), NEW, actor=ME)
    assert caught.value.code == "E_CLASH"
    engine.memories.create(B, NEW, actor=ME)
    with pytest.raises(ConflictError):
        engine.memories.rename(B, at(second), actor=ME)
    engine.memories.rename(at(first), at(second), actor=ME)  # onto itself it is only another spelling
    assert sorted(world.disk()) == sorted(["notes/b.md", f"notes/{second}"])


def test_a_version_that_lands_while_renaming_is_what_the_new_name_has(world: World, engine: Engine) -> None:
    engine.memories.create(A, OLD, actor=ME)
    path = world.folder() / "a.md"
    with hooked(meddling("rename_noreplace", lambda: path.write_bytes(NEW))):
        done = engine.memories.rename(A, B, actor=ME)
    assert done.outcomes[0].ok
    assert world.disk() == {"notes/b.md": NEW}
    assert {sha(OLD), sha(NEW)} <= in_history(engine, B).keys()
    assert not open_intents(engine)


def test_a_version_that_lands_while_moving_between_roots_leaves_no_copy(world: World, engine: Engine) -> None:
    engine.memories.create(A, OLD, actor=ME)
    path = world.folder() / "a.md"
    with hooked(meddling("rename_noreplace", lambda: path.write_bytes(NEW), time=2)):
        (outcome,) = engine.memories.move([(A, at("a.md", SECOND))], actor=ME).outcomes
    assert isinstance(outcome.result, Conflict)
    assert world.disk() == {"notes/a.md": NEW}
    assert {sha(OLD), sha(NEW)} <= stored(engine).keys()


@pytest.mark.parametrize("new", [B, at("deep/b.md"), at("b.md", SECOND)], ids=str)
def test_a_draft_goes_where_its_memory_goes(engine: Engine, new: Address) -> None:
    engine.memories.create(A, OLD, actor=ME)
    engine.drafts.save(Draft(A, sha(OLD), "typed", (0, 2), 1))
    engine.memories.rename(A, new, actor=ME)
    assert engine.drafts.all() == (Draft(new, sha(OLD), "typed", (0, 2), 1),)
    engine.undo.undo(actor=ME)
    assert engine.drafts.all() == (Draft(A, sha(OLD), "typed", (0, 2), 1),)


def test_a_draft_that_waits_under_the_new_name_keeps_its_place(engine: Engine) -> None:
    engine.memories.create(A, OLD, actor=ME)
    theirs, mine = Draft(B, None, "not yet saved", (0, 0), 1), Draft(A, sha(OLD), "typed", (0, 2), 2)
    for draft in (theirs, mine):
        engine.drafts.save(draft)
    engine.memories.rename(A, B, actor=ME)
    assert engine.drafts.all() == (theirs, mine)


@pytest.mark.parametrize("number", range(1, 90))
def test_a_move_between_roots_that_fails_leaves_the_memory_somewhere(world: World, engine: Engine, number: int) -> None:
    engine.memories.create(A, OLD, actor=ME)
    engine.pins.set([A], pinned=True, actor=ME)
    there = at("a.md", SECOND)
    with hooked(failing(number, errno.EIO)):
        (outcome,) = engine.memories.move([(A, there)], actor=ME).outcomes
    assert outcome.ok or outcome.error is not None
    engine.roots.recover()
    assert set(world.disk().values()) == {OLD}
    if list(world.disk()) == ["other/a.md"]:
        assert engine.rows.get(there).pinned


def test_a_move_into_a_root_with_a_smaller_limit_is_refused_first(world: World) -> None:
    first, second = world.roots
    roots = [first, second._replace(policy=Policy(write_bytes=2))]
    with Engine.open(roots, state_dir=str(world.state)) as engine:
        engine.memories.create(A, OLD, actor=ME)
        (outcome,) = engine.memories.move([(A, at("a.md", SECOND))], actor=ME).outcomes
        assert outcome.error is not None
        assert outcome.error.code == "E_TOO_BIG"
    assert world.disk() == {"notes/a.md": OLD}


def test_moves_that_take_each_other_s_names_happen_in_their_order(world: World, engine: Engine) -> None:
    engine.memories.create(A, OLD, actor=ME)
    first, second = engine.memories.move([(B, A), (A, B)], actor=ME).outcomes
    assert isinstance(first.error, NotFoundError)
    assert second.ok
    assert world.disk() == {"notes/b.md": OLD}


def test_a_move_between_roots_keeps_the_permission_bits(world: World, engine: Engine) -> None:
    engine.memories.create(A, OLD, actor=ME)
    (world.folder() / "a.md").chmod(0o644)
    engine.memories.rename(A, at("x/b.md", SECOND), actor=ME)
    assert (world.folder(SECOND) / "x/b.md").stat().st_mode & 0o777 == 0o644


def test_of_several_renames_in_a_row_history_keeps_the_last(world: World, engine: Engine) -> None:
    engine.memories.create(A, OLD, actor=ME)
    for old, new in ((A, B), (B, A), (A, at("c.md"))):
        engine.memories.rename(old, new, actor=ME)
    found = [(version.operation, version.note) for version in engine.history.of(at("c.md"))]
    assert found == [("renamed", "a.md"), ("created", "")]
    assert engine.rows.get(at("c.md")).version == 2
    assert len(engine.history.audit()) == 4
    engine.save(at("c.md"), NEW, expected_sha256=sha(OLD), actor=ME)
    engine.memories.rename(at("c.md"), A, actor=ME)
    assert [version.operation for version in engine.history.of(A)] == ["renamed", "modified", "renamed", "created"]
    assert engine.rows.get(A).version == 4


def test_restoring_never_overwrites_what_came_since(world: World, engine: Engine) -> None:
    engine.memories.create(A, OLD, actor=ME)
    engine.memories.delete([A], actor=ME)
    (world.folder() / "a.md").write_bytes(NEW)
    with pytest.raises(ConflictError) as caught:
        engine.memories.restore(A, actor=ME)
    assert caught.value.code == "E_EXISTS"
    assert world.disk() == {"notes/a.md": NEW}
    engine.memories.restore(A, version=sha(OLD), actor=ME)
    assert world.disk() == {"notes/a.md": OLD}
    assert sha(NEW) in in_history(engine, A)


def test_a_locked_root_is_refused_with_the_name_of_who_holds_it(world: World, engine: Engine) -> None:
    first, _ = world.roots
    engine.memories.create(A, OLD, actor=ME)
    with (
        Engine.open(world.roots, state_dir=str(world.state), lock_wait=0.05) as other,
        engine.roots.site(first, Actor("mcp:slow")),
    ):
        with pytest.raises(BusyError) as caught:
            other.save(A, NEW, expected_sha256=sha(OLD), actor=ME)
        assert "mcp:slow" in caught.value.message
        assert other.read(A).bytes == OLD


def test_threads_that_share_an_engine_lose_no_edit(world: World, engine: Engine) -> None:
    engine.memories.create(A, b"", actor=ME)
    failures: list[BaseException] = []

    def edit(number: int) -> None:
        try:
            for count in range(25):
                while True:
                    snapshot = engine.read(A)
                    text = snapshot.bytes + f"{number} {count}\n".encode()
                    if isinstance(engine.save(A, text, expected_sha256=snapshot.sha256, actor=ME), Saved):
                        break
        except BaseException as error:  # noqa: BLE001
            failures.append(error)

    threads = [threading.Thread(target=edit, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    lines = (world.folder() / "a.md").read_text().splitlines()
    assert sorted(lines) == sorted(f"{number} {count}" for number in range(4) for count in range(25))
    assert not open_intents(engine)


A = at("a.md")
OLD = b"---\nname: a # kept\ntags: [x]\n---\nbody\n"
NEW = b"---\nname: a # kept\ntags: [x, y]\ndescription: d\n---\nbody\n"
EDITS = (FieldEdit(("tags",), ("x", "y")), FieldEdit(("description",), "d"))


def test_several_fields_are_one_save_and_one_undo_step(world: World, engine: Engine) -> None:
    engine.memories.create(A, OLD, actor=ME)
    result = engine.memories.edit_fields(A, EDITS, expected_sha256=sha(OLD), actor=ME)
    assert isinstance(result, Saved)
    assert engine.read_bytes(A) == NEW
    assert [version.sha256 for version in engine.history.of(A)] == [sha(NEW), sha(OLD)]
    engine.undo.undo(actor=ME)
    assert engine.read_bytes(A) == OLD
    assert isinstance(engine.memories.edit_fields(A, (), expected_sha256=sha(OLD), actor=ME), Unchanged)


def test_a_memory_that_is_another_one_by_now_is_a_conflict(world: World, engine: Engine) -> None:
    engine.memories.create(A, OLD, actor=ME)
    theirs = OLD.replace(b"body", b"theirs")
    (world.folder() / "a.md").write_bytes(theirs)
    result = engine.memories.edit_fields(A, EDITS, expected_sha256=sha(OLD), actor=ME)
    assert isinstance(result, Conflict)
    assert engine.read_bytes(A) == theirs
    assert engine.history.read(A, str(result.yours_sha256)) == NEW


def test_a_retry_finds_it_done(world: World, engine: Engine) -> None:
    engine.memories.create(A, OLD, actor=ME)
    assert isinstance(engine.memories.edit_fields(A, EDITS, expected_sha256=sha(OLD), actor=ME), Saved)
    assert isinstance(engine.memories.edit_fields(A, EDITS, expected_sha256=sha(OLD), actor=ME), Unchanged)
    assert engine.read_bytes(A) == NEW


def test_an_expectation_nobody_keeps_starts_from_what_is_there(world: World, engine: Engine) -> None:
    engine.memories.create(A, OLD, actor=ME)
    result = engine.memories.edit_fields(A, EDITS, expected_sha256="0" * 64, actor=ME)
    assert isinstance(result, Conflict)
    assert engine.read_bytes(A) == OLD
