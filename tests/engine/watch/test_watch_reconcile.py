"""What others did is told once, after it settled, from the ledger's own record; what is there is never told deleted."""

import errno
import os
import threading
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memtui.engine import Engine
from memtui.engine.disk import fsio
from memtui.engine.ledger.versions import VersionTable
from memtui.engine.look.detect import AT_WORK_MS, DELETED_MS, EMPTIED_MS
from memtui.engine.look.root_pass import RETELL_MS
from memtui.engine.model import Actor, Address, Change, Changes, Policy, Root, Saved
from memtui.errors import MemtuiError, StorageError
from tests.engine.reading_world import ReadingWorld, joined, kinds, versions
from tests.examples import examples

CLI = Actor("cli")


# --- first sight, and the time memtui was closed


def test_what_others_changed_of_memtuis_before_the_first_look_is_news(tmp_path: Path) -> None:
    folder, a = tmp_path / "notes", Address("notes", "a.md")
    folder.mkdir()
    roots = [Root("notes", str(folder))]
    with Engine.open(roots, state_dir=str(tmp_path / "state")) as engine:
        engine.memories.create(a, "x\n", actor=Actor("mcp:bot"))
    (folder / "a.md").write_text("an agent wrote\n")
    (folder / "b.md").write_text("found\n")
    with Engine.open(roots, state_dir=str(tmp_path / "state")) as engine:
        engine.watch.reconcile()
        assert [(change.address, change.kind) for change in engine.changes.unseen()] == [(a, "created")]
        assert {row.address.path: row.unseen for row in engine.rows.list().items} == {"a.md": True, "b.md": False}


@pytest.mark.parametrize(("days", "expected"), [(-400, -400), (0, 0), (+400, 0)])
def test_what_was_there_before_memtui_is_as_old_as_its_file(world: ReadingWorld, days: int, expected: int) -> None:
    path = world.write("a.md", "text", old=True)
    now = world.hands.clock()
    day = 86_400_000
    os.utime(path, ns=((now + days * day) * 1_000_000,) * 2)
    world.reconcile()
    world.settle()
    (version,) = world.ledger.versions.history(world.roots.uid(world.root), "a.md")
    assert (version.at - now) // day == expected


def test_the_first_sight_of_a_root_is_no_news_and_is_kept(world: ReadingWorld) -> None:
    for number in range(5):
        world.write(f"{number}.md", f"text {number}", old=True)
    changes = world.reconcile()
    assert changes.changes == ()
    assert not any(row.unseen for row in world.rows().values())
    assert all(row.version == 1 for row in world.rows().values())
    assert world.ledger.versions.blob(sha256(b"text 3").hexdigest()) == b"text 3"
    assert world.ledger.activity.audit_records({}) == ()


def test_a_file_changed_a_moment_before_the_first_sight_is_no_news_either(world: ReadingWorld) -> None:
    world.write("a.md", "x")
    assert world.reconcile().changes == ()
    row = world.rows()["a.md"]
    assert (row.unseen, row.version) == (False, 1)


def test_a_change_while_the_first_sight_settles_is_news(world: ReadingWorld) -> None:
    world.write("a.md", "x")
    world.look(everything=True)
    world.write("a.md", "other")
    assert kinds(world.settle()) == {"a.md": "created"}
    assert world.rows()["a.md"].unseen


def test_what_happened_while_memtui_was_closed_is_told_at_once(known: ReadingWorld) -> None:
    known.close()
    known.write("a.md", "changed", old=True)
    known.write("new.md", "new", old=True)
    (known.folder / "b.md").rename(known.folder / "renamed.md")
    known.open()
    changes = known.reconcile()
    assert kinds(changes) == {"a.md": "modified", "new.md": "created", "renamed.md": "renamed"}
    assert {change.actor for change in changes.changes} == {"outside"}
    assert known.rows()["a.md"].unseen
    assert known.rows()["new.md"].unseen
    assert known.reconcile().changes == ()


def test_a_deletion_while_memtui_was_closed_is_told_when_the_folder_has_been_quiet(known: ReadingWorld) -> None:
    known.close()
    (known.folder / "a.md").unlink()
    known.open()
    assert known.reconcile().changes == ()
    known.close()
    known.hands.advance(DELETED_MS + 1_000)
    known.open()
    assert kinds(known.reconcile()) == {"a.md": "deleted"}
    assert versions(known, "a.md") == [("created", "outside")]


def test_the_next_process_knows_what_this_one_told(known: ReadingWorld) -> None:
    known.write("a.md", "changed")
    assert kinds(known.settle()) == {"a.md": "modified"}
    known.close()
    known.open()
    assert known.reconcile().changes == ()
    assert known.rows()["a.md"].unseen


def test_a_folder_that_appears_while_we_watch_is_news(tmp_path: Path) -> None:
    world = ReadingWorld(tmp_path / "w")
    world.folder.rmdir()
    assert world.look(everything=True) == Changes()
    world.folder.mkdir()
    world.write("a.md", "x")
    changes = world.settle()
    assert kinds(changes) == {"a.md": "created"}
    assert changes.roots == {"t"}
    assert world.rows()["a.md"].unseen


# --- settling


def test_a_change_shows_at_once_and_is_told_when_it_settled(known: ReadingWorld) -> None:
    known.write("a.md", "changed\n")
    first = known.look("a.md")
    assert first.touched == {known.at("a.md")}
    assert not first.changes
    row = first.rows[known.at("a.md")]
    assert row is not None
    assert [problem.code for problem in row.problems] == known.codes("a.md") == ["being-written"]
    known.hands.advance(100)
    second = known.look()
    assert second.order > first.order
    assert second.rows == {known.at("a.md"): known.rows()["a.md"]}
    (change,) = second.changes
    assert change == Change(
        known.at("a.md"),
        "modified",
        "outside",
        sha256(b"text of a.md\n").hexdigest(),
        sha256(b"changed\n").hexdigest(),
        known.hands.clock(),
    )
    assert known.codes("a.md") == []
    assert versions(known, "a.md") == [("created", "outside"), ("modified", "outside")]
    assert known.settle() == Changes()


def test_torn_writes_are_never_recorded(known: ReadingWorld) -> None:
    whole = "".join(f"line {number}\n" for number in range(20))
    found = []
    for length in range(0, len(whole), 7):
        known.write("a.md", whole[:length])
        found.append(known.look("a.md"))
        known.hands.advance(70)
    known.write("a.md", whole)
    assert joined(found).changes == ()
    assert kinds(known.settle()) == {"a.md": "modified"}
    uid = known.roots.uid(known.root)
    assert [version.sha256 for version in known.ledger.versions.history(uid, "a.md")] == [
        sha256(whole.encode()).hexdigest(),
        sha256(b"text of a.md\n").hexdigest(),
    ]


def test_a_file_that_changes_on_every_read_makes_no_storm(known: ReadingWorld) -> None:
    found = []
    for number in range(100):
        known.write("a.md", f"text {number}")
        found.append(known.look("a.md"))
        known.hands.advance(50)
    told = [changes for changes in found if changes != Changes()]
    assert len(told) <= 100 * 50 / RETELL_MS + 1
    assert joined(found).changes == ()
    assert known.codes("a.md") == ["being-written"]


def test_a_text_that_changes_while_it_is_recorded_is_put_off(
    known: ReadingWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    known.write("a.md", "one")
    known.look("a.md")
    known.hands.advance(100)
    read_all = fsio.read_all
    calls = []

    def changing(handle: int, size: int) -> bytes:
        data = read_all(handle, size)
        calls.append(data)
        return b"two" if len(calls) > 1 else data

    # The second read agrees; the bytes for the record do not fit in memory and are read once more.
    monkeypatch.setattr("memtui.engine.look.scan.Contents.add", lambda *_: None)
    monkeypatch.setattr(fsio, "read_all", changing)
    assert known.look().changes == ()
    monkeypatch.undo()
    known.write("a.md", "two")
    assert [change.after for change in known.settle().changes] == [sha256(b"two").hexdigest()]


@pytest.mark.parametrize("jump", [-3_600_000, 10 * 365 * 86_400_000])
def test_a_jump_of_the_clock_deletes_nothing(known: ReadingWorld, jump: int) -> None:
    (known.folder / "a.md").unlink()
    known.look("a.md")
    known.hands.wall += jump
    known.hands.advance(500)
    assert known.look().changes == ()
    known.write("a.md", "text of a.md\n")
    assert known.settle(DELETED_MS + 1_000).changes == ()


def test_content_that_cannot_be_read_any_more_is_no_change(known: ReadingWorld) -> None:
    (known.folder / "a.md").unlink()
    os.mkfifo(known.folder / "a.md")
    (known.folder / "b.md").write_bytes(b"x" * 2_000_000)
    assert known.settle(AT_WORK_MS + 1_000, 500).changes == ()
    assert known.codes("a.md") == ["E_NOT_REGULAR"]
    (known.folder / "a.md").unlink()
    known.write("a.md", "again")
    assert kinds(known.settle()) == {"a.md": "modified"}


def test_bytes_that_are_no_text_are_kept_like_any(known: ReadingWorld) -> None:
    known.write("a.md", b"\xff\0\xfe")
    assert kinds(known.settle()) == {"a.md": "modified"}
    assert known.ledger.versions.blob(sha256(b"\xff\0\xfe").hexdigest()) == b"\xff\0\xfe"


def test_a_name_that_is_no_text_is_told_like_any(known: ReadingWorld) -> None:
    os.close(os.open(os.fsencode(known.folder) + b"/caf\xe9.md", os.O_CREAT | os.O_WRONLY))
    assert kinds(known.settle()) == {"caf\udce9.md": "created"}


# --- our own writes


def test_what_this_process_wrote_and_told_is_not_told_again(known: ReadingWorld) -> None:
    with known.engine() as engine:
        engine.events.subscribe(known.events.publish)
        saved = engine.save(known.at("a.md"), "mine", expected_sha256=sha256(b"text of a.md\n").hexdigest(), actor=CLI)
        assert isinstance(saved, Saved)
        engine.memories.create(known.at("n.md"), "new", actor=CLI)
        engine.memories.delete([known.at("b.md")], actor=CLI)
        engine.memories.rename(known.at("sub/c.md"), known.at("sub/d.md"), actor=CLI)
        assert known.settle(DELETED_MS + 1_000).changes == ()
    assert {path: row.actor for path, row in known.rows().items()} == {"a.md": "cli", "n.md": "cli", "sub/d.md": "cli"}


def test_what_another_memtui_wrote_is_told_with_its_name(known: ReadingWorld) -> None:
    with known.engine() as engine:
        engine.save(known.at("a.md"), "mine", expected_sha256=sha256(b"text of a.md\n").hexdigest(), actor=CLI)
        engine.memories.create(known.at("n.md"), "new", actor=Actor("mcp:x"))
        engine.memories.delete([known.at("b.md")], actor=CLI)
        engine.memories.rename(known.at("sub/c.md"), known.at("sub/d.md"), actor=CLI)
    changes = known.settle(1_000)
    assert {(change.kind, change.address.path, change.actor) for change in changes.changes} == {
        ("modified", "a.md", "cli"),
        ("created", "n.md", "mcp:x"),
        ("deleted", "b.md", "cli"),
        ("renamed", "sub/d.md", "cli"),
    }
    assert len(versions(known, "a.md")) == 2
    assert known.settle(DELETED_MS + 1_000).changes == ()


def test_two_watchers_record_a_version_once(known: ReadingWorld, tmp_path: Path) -> None:
    other = ReadingWorld(tmp_path / "w")
    other.hands = known.hands
    other.open()
    other.reconcile()
    known.write("a.md", "theirs")
    assert kinds(known.settle()) == {"a.md": "modified"}
    assert kinds(other.settle()) == {"a.md": "modified"}
    assert versions(known, "a.md") == [("created", "outside"), ("modified", "outside")]


def test_our_edit_taken_back_is_said_once(known: ReadingWorld) -> None:
    before = "first\nsecond\nthird\n"
    known.write("a.md", before)
    known.settle()
    with known.engine() as engine:
        engine.save(
            known.at("a.md"), "first\nSECOND\nthird\n", expected_sha256=sha256(before.encode()).hexdigest(), actor=CLI
        )
    known.settle()
    known.write("a.md", before + "the agent's own\n")
    (notice,) = known.settle().notices
    assert (notice.kind, notice.address) == ("overwritten", known.at("a.md"))
    assert notice.base == sha256(before.encode()).hexdigest()
    assert notice.yours == sha256(b"first\nSECOND\nthird\n").hexdigest()
    assert notice.theirs == sha256((before + "the agent's own\n").encode()).hexdigest()
    known.write("a.md", before + "the agent's own\nand more\n")
    assert known.settle().notices == ()


def test_an_edit_that_still_stands_is_not_said_to_be_taken_back(known: ReadingWorld) -> None:
    with known.engine() as engine:
        engine.save(
            known.at("a.md"), "text of a.md\nmine\n", expected_sha256=sha256(b"text of a.md\n").hexdigest(), actor=CLI
        )
    known.settle()
    known.write("a.md", "top\ntext of a.md\nmine\n")
    changes = known.settle()
    assert kinds(changes) == {"a.md": "modified"}
    assert changes.notices == ()


# --- trouble


def test_a_ledger_that_cannot_take_a_version_is_told_and_tried_again(
    known: ReadingWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    known.write("a.md", "changed")
    with monkeypatch.context() as patch:

        def full(*_: object, **__: object) -> None:
            raise StorageError("no space", code="E_DISK_FULL")

        patch.setattr(VersionTable, "observe", full)
        changes = known.settle()
        assert changes.changes == ()
        assert {notice.kind for notice in changes.notices} == {"ledger"}
        with pytest.raises(MemtuiError):
            known.reconcile()
    assert kinds(known.settle()) == {"a.md": "modified"}


def test_a_ledger_that_is_only_read_does_not_silence_the_news(known: ReadingWorld) -> None:
    known.close()
    known.open()
    known.ledger.read_only = True
    known.reconcile()
    known.write("a.md", "changed")
    (known.folder / "b.md").rename(known.folder / "n.md")
    assert kinds(known.settle()) == {"a.md": "modified", "n.md": "renamed"}
    assert known.settle(DELETED_MS + 1_000).changes == ()
    known.write("a.md", "again")
    assert kinds(known.settle()) == {"a.md": "modified"}
    known.ledger.read_only = False
    assert versions(known, "a.md") == [("created", "outside")]


def test_one_root_in_trouble_harms_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = ReadingWorld(tmp_path / "w")
    other = tmp_path / "other"
    other.mkdir()
    (other / "o.md").write_text("x")
    world.roots.add([world.root._replace(id="o", path=str(other))])
    world.write("a.md", "x")
    world.reconcile()
    open_root = fsio.open_root

    def refuse(path: str) -> int:
        if path == world.root.path:
            raise OSError(errno.EACCES, "no")
        return open_root(path)

    monkeypatch.setattr(fsio, "open_root", refuse)
    world.folder.rename(world.base / "away")
    world.folder.mkdir()
    (other / "p.md").write_text("y")
    changes = world.reconcile()
    assert [(change.address.root, change.kind) for change in changes.changes] == [("o", "created")]
    assert changes.roots == {"t"}


def test_a_single_look_waits_only_for_what_was_just_changed(known: ReadingWorld) -> None:
    before = known.hands.ticks()
    assert known.reconcile() == Changes()
    assert known.hands.ticks() == before
    known.write("a.md", "changed")
    assert kinds(known.reconcile()) == {"a.md": "modified"}
    assert known.hands.ticks() - before <= 400


def test_lists_do_not_wait_while_versions_are_recorded(known: ReadingWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    observe = VersionTable.observe
    free = []

    def record(table: VersionTable, *arguments: Any, **options: Any) -> None:
        guard = known.catalog.cache(known.root).guard

        def try_it() -> None:
            free.append(guard.acquire(blocking=False))
            guard.release()

        other = threading.Thread(target=try_it)
        other.start()
        other.join()
        observe(table, *arguments, **options)

    monkeypatch.setattr(VersionTable, "observe", record)
    known.write("a.md", "changed")
    assert kinds(known.settle()) == {"a.md": "modified"}
    assert free == [True]


def test_roots_that_share_a_folder_tell_each_of_its_own(tmp_path: Path) -> None:
    world = ReadingWorld(tmp_path / "w", policy=Policy(include=("CLAUDE.md", "rules/")))
    other = world.root._replace(id="o", policy=Policy(include=("AGENTS.md",)))
    world.roots.add([other])
    for path in ("CLAUDE.md", "rules/a.md", "AGENTS.md", "README.md"):
        world.write(path, path, old=True)
    assert world.reconcile().changes == ()
    opened = world.roots.open(other)
    assert opened.handle is not None
    assert [row.unseen for row in world.catalog.rows(opened.handle, opened.uid).items] == [False]
    assert world.settle().changes == ()
    (world.folder / "rules" / "a.md").unlink()
    world.write("AGENTS.md", "changed")
    changes = joined([world.reconcile(), world.settle(), *[world.reconcile() for _ in range(3)]])
    world.hands.advance(DELETED_MS)
    changes = joined([changes, world.reconcile()])
    assert [(str(change.address), change.kind) for change in changes.changes] == [
        ("o/AGENTS.md", "modified"),
        ("t/rules/a.md", "deleted"),
    ]
    world.close()
    world.open()
    world.roots.add([other])
    assert world.reconcile().changes == ()
    assert world.settle().changes == ()


# --- anything


NAMES = st.sampled_from(["a.md", "b.md", "sub/c.md", "new.md", "sub/deep/n.md"])
ACTS = st.one_of(
    st.tuples(st.just("write"), NAMES, st.sampled_from(["1", "2", ""])),
    st.tuples(st.just("remove"), NAMES, st.none()),
    st.tuples(st.just("rename"), NAMES, NAMES),
    st.tuples(st.just("save"), NAMES, st.sampled_from(["3", "4"])),
    st.tuples(st.just("delete"), NAMES, st.none()),
    st.tuples(st.just("wait"), st.sampled_from([20, 120, 1_200, 6_000]), st.none()),
    st.tuples(st.just("restart"), st.none(), st.none()),
)


def recorded(world: ReadingWorld) -> dict[str, str]:
    """What the ledger takes for the current versions."""
    records = world.ledger.memories.records(world.roots.uid(world.root))
    return {path: record.sha256 for path, record in records.items() if record.sha256 is not None}


def retell(story: dict[str, str], changes: Changes) -> None:
    for change in changes.changes:
        if change.old_address is not None:
            story.pop(change.old_address.path, None)
        if change.after is None:
            story.pop(change.address.path, None)
        else:
            story[change.address.path] = change.after


@settings(max_examples=examples(40))
@given(acts=st.lists(ACTS, max_size=14))
def test_after_a_quiet_time_everything_told_adds_up_to_the_disk(
    tmp_path_factory: pytest.TempPathFactory, acts: list[tuple[str, object, object]]
) -> None:
    world = ReadingWorld(tmp_path_factory.mktemp("any") / "w")
    for name in ("a.md", "b.md", "sub/c.md"):
        world.write(name, name)
    world.reconcile()
    story = {name: sha256(name.encode()).hexdigest() for name in ("a.md", "b.md", "sub/c.md")}
    for act, one, two in acts:
        file = world.folder / str(one)
        if act == "write":
            world.write(str(one), str(two))
        elif act == "remove":
            file.unlink(missing_ok=True)
        elif act == "rename" and file.exists():
            (world.folder / str(two)).parent.mkdir(parents=True, exist_ok=True)
            file.rename(world.folder / str(two))
        elif act == "save":
            before = sha256(file.read_bytes()).hexdigest() if file.exists() else None
            with world.engine() as engine:
                engine.save(world.at(str(one)), str(two), expected_sha256=before, actor=CLI)
        elif act == "delete" and file.exists():
            with world.engine() as engine:
                engine.memories.delete([world.at(str(one))], actor=CLI)
        elif act == "wait":
            assert isinstance(one, int)
            retell(story, world.settle(one, min(one, 200)))
        elif act == "restart":
            world.close()
            world.open()
            # What was written through memtui meanwhile is no news to the next process: it begins with the ledger.
            story = recorded(world)
            retell(story, world.reconcile())
    retell(story, world.settle(EMPTIED_MS + 2_000, 1_000))
    there = {
        str(file.relative_to(world.folder)): sha256(file.read_bytes()).hexdigest()
        for file in world.folder.rglob("*")
        if file.is_file()
    }
    assert {path: row.sha256 for path, row in world.rows().items()} == there
    assert recorded(world) == there
    assert story == there
    world.close()
