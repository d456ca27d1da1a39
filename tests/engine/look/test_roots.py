"""A root is the folder it was when it was opened: a replaced, missing or moved one is noticed, and nothing mixed up."""

import errno
import os
import threading
from pathlib import Path

import pytest

from memtui.engine import Engine
from memtui.engine.disk import fsio
from memtui.engine.model import Actor, Address, Conflict, Draft, Policy, Root
from memtui.errors import MemtuiError, NotFoundError, RefusedError, UsageError
from tests.faults.injector import hooked, meddling
from tests.faults.world import FIRST, ME, SECOND, World, at, handles, in_history, ledger_of, sha

A = at("a.md")
OLD, NEW = b"old\n", b"new\n"


def replace_root(world: World) -> None:
    world.folder().rename(world.base / "moved away")
    world.folder().mkdir()


def forget_ledger(world: World) -> None:
    """Somebody removes the ledger while it is open, and its backups too."""
    for path in (*world.state.glob("state.db*"), *world.state.glob("backups/*")):
        path.unlink()


def test_a_folder_replaced_in_the_middle_of_a_save_is_left_alone(world: World, engine: Engine) -> None:
    (world.folder() / "a.md").write_bytes(OLD)
    with hooked(meddling("create_file", lambda: replace_root(world))), pytest.raises(RefusedError) as caught:
        engine.save(A, NEW, expected_sha256=sha(OLD), actor=ME)
    assert caught.value.code == "E_ROOT_REPLACED"
    assert not list(world.folder().iterdir())
    assert [path.name for path in (world.base / "moved away").iterdir()] == ["a.md"]
    assert (world.base / "moved away/a.md").read_bytes() == OLD


def test_a_replaced_root_is_refused_until_it_was_read_again(world: World, engine: Engine) -> None:
    engine.memories.create(A, OLD, actor=ME)
    replace_root(world)
    (world.folder() / "a.md").write_bytes(OLD)
    with pytest.raises(RefusedError) as caught:
        engine.save(A, NEW, expected_sha256=sha(OLD), actor=ME)
    assert caught.value.code == "E_ROOT_REPLACED"
    assert engine.read(A).bytes == OLD
    engine.save(A, NEW, expected_sha256=sha(OLD), actor=ME)
    assert (world.base / "moved away/a.md").read_bytes() == OLD
    assert (world.folder() / "a.md").read_bytes() == NEW


@pytest.mark.parametrize("used", [False, True])
def test_creating_a_memory_makes_a_missing_root(world: World, engine: Engine, used: bool) -> None:
    if used:
        engine.memories.create(A, OLD, actor=ME)
        engine.memories.delete([A], actor=ME)
    world.folder().rmdir()
    engine.memories.create(A, NEW, actor=ME)
    assert (world.folder() / "a.md").read_bytes() == NEW
    assert world.folder().stat().st_mode & 0o777 == 0o700


def test_reading_never_makes_a_root(world: World, engine: Engine) -> None:
    world.folder().rmdir()
    with pytest.raises(NotFoundError) as caught:
        engine.read(A)
    assert caught.value.code == "E_ROOT_MISSING"
    assert not world.folder().exists()


def test_a_save_into_a_root_that_went_away_keeps_the_text(world: World, engine: Engine) -> None:
    engine.memories.create(A, OLD, actor=ME)
    world.folder().rename(world.base / "moved away")
    result = engine.save(A, NEW, expected_sha256=sha(OLD), actor=ME)
    assert isinstance(result, Conflict)
    assert engine.history.read(A, str(result.yours_sha256)) == NEW
    assert not world.folder().exists()


def test_history_and_pins_follow_a_moved_folder(world: World) -> None:
    with world.engine() as engine:
        engine.memories.create(A, OLD, actor=ME)
        engine.pins.set([A], pinned=True, actor=ME)
        engine.watch.reconcile()
    moved = world.folder().rename(world.base / "elsewhere")
    with Engine.open([Root(FIRST, str(moved))], state_dir=str(world.state)) as engine:
        assert sha(OLD) in in_history(engine, A)
        record = ledger_of(engine).memories.record(engine.roots.uid(engine.roots.find(FIRST)), "a.md")
        assert record is not None
        assert record.pinned


def test_a_folder_that_got_an_old_inode_inherits_nothing(world: World) -> None:
    with world.engine() as engine:
        engine.memories.create(A, OLD, actor=ME)
        engine.watch.reconcile()
    moved = world.folder().rename(world.base / "elsewhere")
    (moved / "a.md").unlink()  # the same folder to the system, and nothing in it that was in the root
    with Engine.open([Root(FIRST, str(moved))], state_dir=str(world.state)) as engine:
        assert not in_history(engine, A)


def test_two_names_for_one_folder_are_one_root(world: World, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(world.folder())
    roots = [Root("one", str(world.folder())), Root("two", str(tmp_path / "link"))]
    with Engine.open(roots, state_dir=str(world.state)) as engine:
        assert [root.id for root in engine.roots.all()] == ["one"]
        (status,) = engine.rows.status()
        assert [problem.code for problem in status.problems] == ["E_SAME_ROOT"]


def test_two_roots_may_share_a_folder_and_take_their_own_files(world: World) -> None:
    roots = [
        Root("one", str(world.folder()), policy=Policy(include=("CLAUDE.md",))),
        Root("two", str(world.folder()), policy=Policy(include=("QWEN.md",))),
    ]
    with Engine.open(roots, state_dir=str(world.state)) as engine:
        engine.memories.create(at("CLAUDE.md", "one"), OLD, actor=ME)
        engine.memories.create(at("QWEN.md", "two"), NEW, actor=ME)
        with pytest.raises(RefusedError):
            engine.memories.create(at("QWEN.md", "one"), NEW, actor=ME)


@pytest.mark.parametrize("part_first", [True, False])
def test_a_root_may_take_a_few_files_out_of_the_folder_of_another(world: World, *, part_first: bool) -> None:
    part = Root("part", str(world.folder()), policy=Policy(include=("rules.md", "more/")))
    rest = Root("rest", str(world.folder()), policy=Policy(elsewhere=("rules.md", "more/")))
    roots = [part, rest] if part_first else [rest, part]
    for _ in range(2):  # and after a restart
        with Engine.open(roots, state_dir=str(world.state)) as engine:
            assert {root.id for root in engine.roots.all()} == {"part", "rest"}
            for address in (at("rules.md", "part"), at("more/a.md", "part"), at("a.md", "rest")):
                if not world.folder().joinpath(address.path).exists():
                    engine.memories.create(address, OLD, actor=ME)
                assert engine.roots.resolve(engine.roots.file_path(address)) == address
            listed = sorted(str(memory.address) for memory in engine.rows.list().items)
            assert listed == ["part/more/a.md", "part/rules.md", "rest/a.md"]
    with Engine.open([part, rest._replace(policy=Policy(elsewhere=("more/",)))], state_dir=str(world.state)) as engine:
        assert [root.id for root in engine.roots.all()] == ["part"], "a file would belong to both"


def test_what_happened_in_a_shared_folder_is_told_of_the_root_whose_file_it_was(world: World) -> None:
    roots = [
        Root("one", str(world.folder()), policy=Policy(include=("CLAUDE.md", "rules/"))),
        Root("two", str(world.folder()), policy=Policy(include=("QWEN.md",))),
    ]
    mine, other, rule = at("CLAUDE.md", "one"), at("QWEN.md", "two"), at("rules/a.md", "one")
    with Engine.open(roots, state_dir=str(world.state)) as engine:
        for address in (mine, other, rule):
            engine.memories.create(address, OLD, actor=ME)
            engine.drafts.save(Draft(address, sha(OLD), "typed", (0, 0), 1))
        assert {draft.address for draft in engine.drafts.all()} == {mine, other, rule}
        moved = at("rules/b.md", "one")
        engine.memories.rename(rule, moved, actor=ME)
        assert [(record.address, record.new_address) for record in engine.history.audit()] == [
            (rule, moved),
            *((address, None) for address in (rule, other, mine)),
        ]
        engine.memories.delete([mine, other, moved], actor=ME)
        assert {entry.address for entry in engine.undo.trash.entries()} == {mine, other, moved}
        done = engine.undo.undo(actor=ME)
        assert {outcome.address for outcome in done.outcomes} == {mine, other, moved}
        assert [outcome.address for outcome in engine.undo.undo(actor=ME).outcomes] == [moved]


def test_what_others_did_in_a_shared_folder_is_told_once(world: World) -> None:
    roots = [
        Root("one", str(world.folder()), policy=Policy(include=("CLAUDE.md",))),
        Root("two", str(world.folder()), policy=Policy(include=("QWEN.md",))),
    ]
    mine, other = at("CLAUDE.md", "one"), at("QWEN.md", "two")
    with Engine.open(roots, state_dir=str(world.state)) as engine:
        for address in (mine, other):
            engine.memories.create(address, OLD, actor=ME)
        engine.watch.reconcile()
        for name in ("CLAUDE.md", "QWEN.md"):
            (world.folder() / name).write_bytes(NEW)
        engine.watch.reconcile()
        assert sorted(change.address for change in engine.changes.unseen()) == [mine, other]
        assert engine.changes.mark_seen(None) == 2
        assert engine.changes.unseen() == ()


def test_the_audit_tells_of_a_root_that_is_not_in_use_by_its_folder(world: World) -> None:
    with world.engine() as engine:
        engine.memories.create(A, OLD, actor=ME)
        engine.memories.rename(A, at("a.md", SECOND), actor=ME)
    with Engine.open([world.roots[1]], state_dir=str(world.state)) as engine:
        told = {str(record.address) for record in engine.history.audit()}
    assert told == {f"{world.folder()}/a.md", f"{SECOND}/a.md"}


def test_the_root_itself_may_be_reached_through_a_link(world: World, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(world.folder())
    with Engine.open([Root(FIRST, str(tmp_path / "link"))], state_dir=str(world.state)) as engine:
        engine.memories.create(A, OLD, actor=ME)
    assert (world.folder() / "a.md").read_bytes() == OLD


def test_a_new_ledger_gives_no_root_the_records_of_another(world: World) -> None:
    first, second = world.roots
    with Engine.open([second], state_dir=str(world.state)) as other:
        other.memories.create(at("a.md", SECOND), b"unrelated\n", actor=ME)
    with Engine.open([first], state_dir=str(world.state)) as engine:
        engine.memories.create(A, OLD, actor=ME)
        forget_ledger(world)
        with Engine.open([first], state_dir=str(world.state)) as later:
            later.save(A, NEW, expected_sha256=sha(OLD), actor=ME)  # the first root of the new ledger
        with Engine.open([second], state_dir=str(world.state)) as later:
            later.memories.create(at("b.md", SECOND), b"theirs\n", actor=ME)  # the second
        engine.save(A, b"newer\n", expected_sha256=sha(NEW), actor=ME)
        engine.memories.create(at("b.md"), b"mine\n", actor=ME)
    with world.engine() as engine:
        assert {sha(NEW), sha(b"newer\n")} <= in_history(engine, A).keys()
        assert in_history(engine, at("b.md")).keys() == {sha(b"mine\n")}
        assert in_history(engine, at("b.md", SECOND)).keys() == {sha(b"theirs\n")}


def test_processes_with_different_ledgers_still_wait_for_each_other(world: World) -> None:
    first, _ = world.roots
    with Engine.open([first], state_dir=str(world.state)) as engine:
        engine.memories.create(A, OLD, actor=ME)
        forget_ledger(world)
        with Engine.open(tuple(reversed(world.roots)), state_dir=str(world.state), lock_wait=0.05) as later:
            later.memories.create(at("x.md", SECOND), OLD, actor=ME)
            with engine.roots.site(first, ME), pytest.raises(MemtuiError) as caught:
                later.memories.create(at("b.md"), OLD, actor=ME)
        assert caught.value.code == "E_LOCKED"


def test_a_folder_that_is_replaced_again_and_again_leaves_no_handles(world: World, engine: Engine) -> None:
    engine.memories.create(A, OLD, actor=ME)
    engine.read(A)
    before = handles(world.base)
    for number in range(30):
        world.folder().rename(world.base / f"away {number}")
        world.folder().mkdir()
        (world.folder() / "a.md").write_bytes(OLD)
        engine.read(A)
    assert handles(world.base) <= before + 2


def test_threads_may_read_while_the_folder_is_replaced(world: World, engine: Engine) -> None:
    (world.folder() / "a.md").write_bytes(OLD)
    stop, wrong = threading.Event(), []

    def look() -> None:
        while not stop.is_set():
            try:
                if engine.read(A).bytes != OLD:
                    wrong.append("another text")
            except NotFoundError:
                continue  # between the old folder and the new one
            except MemtuiError as error:
                wrong.append(str(error))

    threads = [threading.Thread(target=look) for _ in range(2)]
    for thread in threads:
        thread.start()
    for number in range(200):
        other = world.base / f"new {number}"
        other.mkdir()
        (other / "a.md").write_bytes(OLD)
        world.folder().rename(world.base / f"away {number}")
        other.rename(world.folder())
    stop.set()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("notes/a.md", "notes/a.md"),
        ("alias/a.md", "notes/a.md"),
        ("{notes}/a.md", "notes/a.md"),
        ("{notes}/sub/../a.md", "notes/a.md"),
        ("{link}/a.md", "notes/a.md"),
    ],
)
def test_a_memory_is_named_by_address_alias_or_path(world: World, text: str, address: str) -> None:
    root = Root(FIRST, str(world.folder()), aliases=("alias",))
    (world.base / "link").symlink_to(world.folder())
    with Engine.open([root], state_dir=str(world.state)) as engine:
        assert str(engine.roots.resolve(text.format(notes=world.folder(), link=world.base / "link"))) == address


@pytest.mark.parametrize(
    ("text", "error", "code"),
    [
        ("notez/a.md", NotFoundError, "E_NO_ROOT"),
        ("a.md", UsageError, "E_USAGE"),
        ("notes/../a.md", RefusedError, "E_NAME"),
        ("notes/", UsageError, "E_USAGE"),
        ("/etc/passwd", NotFoundError, "E_NO_ROOT"),
        ("{notes}-evil/a.md", NotFoundError, "E_NO_ROOT"),
        ("notes/a\0.md", RefusedError, "E_NAME"),
        ("", UsageError, "E_USAGE"),
    ],
)
def test_what_names_no_memory_is_refused(
    world: World, engine: Engine, text: str, error: type[MemtuiError], code: str
) -> None:
    os.makedirs(f"{world.folder()}-evil")
    with pytest.raises(error) as caught:
        engine.roots.resolve(text.format(notes=world.folder()))
    assert caught.value.code == code


def in_checkout(world: World) -> Root:
    """A root that a repository could have brought, in a checkout."""
    project = world.base / "checkout"
    (project / ".git").mkdir(parents=True)
    return Root("memtui:project", str(project / ".memtui/memory"), in_checkout=True, project=str(project))


@pytest.mark.parametrize("link", [".memtui", ".memtui/memory"])
def test_a_link_that_a_repository_brought_is_no_root(world: World, link: str) -> None:
    root = in_checkout(world)
    secret = world.base / "home/.ssh"
    (secret / "memory").mkdir(parents=True)
    (secret / "id.md").write_bytes(b"secret\n")
    (secret / "memory/id.md").write_bytes(b"secret\n")
    place = world.base / "checkout" / link
    place.parent.mkdir(exist_ok=True)
    place.symlink_to(secret)
    before = sorted(secret.rglob("*"))
    with Engine.open([root], state_dir=str(world.state)) as engine:
        for act in (
            lambda: engine.read(at("id.md", root.id)),
            lambda: engine.memories.create(at("b.md", root.id), NEW, actor=ME),
            lambda: engine.save(at("id.md", root.id), NEW, expected_sha256=sha(b"secret\n"), actor=ME),
        ):
            with pytest.raises(MemtuiError) as caught:
                act()
            assert caught.value.code == "E_SYMLINK"
        assert not engine.rows.list().items
        engine.watch.reconcile()
    assert sorted(secret.rglob("*")) == before
    assert (secret / "id.md").read_bytes() == b"secret\n"


def test_a_link_that_a_repository_brought_makes_nothing_elsewhere(world: World) -> None:
    root = in_checkout(world)
    (world.base / "elsewhere").mkdir()
    (world.base / "checkout/.memtui").symlink_to(world.base / "elsewhere")
    with Engine.open([root], state_dir=str(world.state)) as engine, pytest.raises(MemtuiError):
        engine.memories.create(at("b.md", root.id), NEW, actor=ME)
    assert not list((world.base / "elsewhere").iterdir())


def test_a_root_in_a_checkout_is_made_when_it_is_first_used(world: World) -> None:
    root = in_checkout(world)
    with Engine.open([root], state_dir=str(world.state)) as engine:
        engine.memories.create(at("b.md", root.id), NEW, actor=ME)
        assert engine.read(at("b.md", root.id)).bytes == NEW


def test_a_ledger_that_was_not_there_when_it_was_asked_names_its_roots_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("one", "utf-8")
    make, failures = fsio.make_root, [OSError(errno.EFBIG, "once")]

    def fail_once(path: str) -> None:
        if failures:
            raise failures.pop()
        make(path)

    monkeypatch.setattr(fsio, "make_root", fail_once)
    root = Root("notes", str(tmp_path / "notes"))
    with Engine.open([root], state_dir=str(tmp_path / "state")) as engine:
        address = Address("notes", "a.md")
        assert engine.history.of(address) == ()
        engine.save(address, "two", expected_sha256=engine.read(address).sha256, actor=Actor("cli"))
        assert [record.address for record in engine.history.audit()] == [address]
        assert len(engine.history.of(address)) == 2
        engine.undo.undo(actor=Actor("cli"))
        assert engine.read(address).text == "one"
