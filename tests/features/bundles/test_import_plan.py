"""Imports: equal bytes in an empty root, nothing the second time, merges by the common past, conflicts as drafts."""

import json
import os
import tempfile
from collections import Counter
from contextlib import ExitStack, suppress
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memtui.engine import Engine
from memtui.engine.model import Root, UseCount
from memtui.errors import ConflictError, MemtuiError, NotFoundError, UsageError
from memtui.features.bundles.bundle import LIST, Bundle, BundledMemory, Origin, write
from memtui.features.bundles.import_plan import CONFLICT, DELETED, MERGED, NEW, NEWER, OLDER, SAME, STAYS
from memtui.features.bundles.tarball import pack
from tests.examples import examples
from tests.features.transfer.machines import ME, Machine, pair, results

BASE = b"one\ntwo\nthree\nfour\n"


def test_an_empty_root_gets_the_same_bytes_pins_uses_and_history(tmp_path: Path) -> None:
    here, there = pair(tmp_path)
    here.write("a.md", b"one\n")
    here.write("a.md", b"two\r\n")
    here.write("deep/b.md", b"\xff\x00")
    here.engine.pins.set([here.at("a.md")], pinned=True, actor=ME)
    here.engine.pins.take_uses([UseCount(here.at("a.md"), 4, 5, 6)])
    data = here.export(history=True)
    done = there.take(data)
    assert there.held() == here.held()
    assert (done.pinned, done.conflicts) == (1, ())
    row = there.engine.rows.get(there.at("a.md"))
    assert (row.pinned, row.uses, row.last_used_at) == (True, 4, 5)
    texts = [
        there.engine.history.read(there.at("a.md"), one.sha256) for one in there.engine.history.of(there.at("a.md"))
    ]
    assert texts == [b"two\r\n", b"two\r\n", b"one\n"]  # written here, written there, and before
    assert there.plan(data).idle
    there.engine.undo.undo(actor=ME)
    assert there.held() == {}


def test_a_newer_text_is_taken_and_an_older_one_is_not(tmp_path: Path) -> None:
    here, there = pair(tmp_path)
    here.write("a.md", b"one\n")
    old = here.export(history=True)
    there.take(old)
    here.write("a.md", b"two\n")
    new = here.export(history=True)
    assert results(there.plan(new)) == {"a.md": NEWER}
    there.take(new)
    assert there.held() == {"a.md": b"two\n"}
    assert results(there.plan(old)) == {"a.md": OLDER}
    there.take(old)
    assert there.held() == {"a.md": b"two\n"}


def diverged(tmp_path: Path, mine: bytes, theirs: bytes) -> tuple[Machine, bytes]:
    """Return a machine, and a bundle of another one; both changed one memory since they exchanged it."""
    here, there = pair(tmp_path)
    here.write("a.md", BASE)
    there.take(here.export(history=True))
    here.write("a.md", mine)
    there.write("a.md", theirs)
    return there, here.export(history=True)


def test_what_merges_cleanly_is_merged_and_one_undo_takes_it_back(tmp_path: Path) -> None:
    theirs = BASE.replace(b"four", b"FOUR")
    there, data = diverged(tmp_path, BASE.replace(b"one", b"ONE"), theirs)
    assert results(there.plan(data)) == {"a.md": MERGED}
    there.take(data)
    assert there.held() == {"a.md": b"ONE\ntwo\nthree\nFOUR\n"}
    assert there.plan(data).idle
    there.engine.undo.undo(actor=ME)
    assert there.held() == {"a.md": theirs}
    assert results(there.plan(data)) == {"a.md": OLDER}  # it was taken, and left again
    there.engine.undo.redo(actor=ME)
    assert there.held() == {"a.md": b"ONE\ntwo\nthree\nFOUR\n"}


def test_the_last_text_both_had_is_what_both_are_compared_with(tmp_path: Path) -> None:
    here, there = pair(tmp_path)
    here.write("a.md", BASE)
    there.take(here.export(history=True))
    here.write("a.md", BASE.replace(b"one", b"ONE"))
    there.take(here.export(history=True))
    there.write("a.md", BASE.replace(b"two", b"TWO"))  # and what was done to the first line is taken back
    here.write("a.md", BASE.replace(b"one", b"ONE").replace(b"four", b"FOUR"))
    data = here.export(history=True)
    assert results(there.plan(data)) == {"a.md": MERGED}
    there.take(data)
    assert there.held() == {"a.md": b"one\nTWO\nthree\nFOUR\n"}


def test_what_does_not_merge_is_a_draft_and_a_conflict_of_its_common_past(tmp_path: Path) -> None:
    mine, theirs = BASE.replace(b"one", b"ONE"), BASE.replace(b"one", b"eins")
    there, data = diverged(tmp_path, mine, theirs)
    done = there.take(data)
    assert (done.done, done.conflicts) == (None, (there.at("a.md"),))
    assert there.held() == {"a.md": theirs}
    (draft,) = there.engine.drafts.all()
    assert (draft.text.encode(), draft.base_sha256) == (mine, sha256(BASE).hexdigest())
    found = there.engine.drafts.conflict(there.at("a.md"))
    assert found is not None
    assert (found.base_sha256, found.yours, found.theirs) == (sha256(BASE).hexdigest(), mine, theirs)
    assert there.take(data).conflicts == (there.at("a.md"),)
    assert there.engine.drafts.all() == (draft,)


def test_without_a_common_past_a_person_decides(tmp_path: Path) -> None:
    here, there = pair(tmp_path)
    here.write("a.md", b"mine\n")
    there.write("a.md", b"theirs\n")
    data = here.export()
    assert results(there.plan(data)) == {"a.md": CONFLICT}
    there.take(data)
    (draft,) = there.engine.drafts.all()
    assert draft.base_sha256 is None
    assert there.held() == {"a.md": b"theirs\n"}


def test_a_draft_that_is_there_stays_and_is_said(tmp_path: Path) -> None:
    there, data = diverged(tmp_path, b"mine\n", b"theirs\n")
    there.take(data)
    here = Machine(tmp_path / "third")
    here.write("a.md", b"yet another\n")
    before = there.engine.drafts.all()
    assert there.take(here.export()).waiting == (there.at("a.md"),)
    assert there.engine.drafts.all() == before


def test_what_is_no_text_is_not_merged(tmp_path: Path) -> None:
    here, there = pair(tmp_path)
    here.write("a.md", b"\xff\n")
    there.write("a.md", b"theirs\n")
    assert results(there.plan(here.export())) == {"a.md": STAYS}


def test_a_root_that_is_read_only_keeps_what_it_has_and_that_is_said(tmp_path: Path) -> None:
    here, there = pair(tmp_path)
    for name in ("a.md", "b.md", "c.md"):
        here.write(name, b"one\n")
    there.write("a.md", b"one\n")
    there.write("b.md", b"other\n")
    with Engine.open(
        [Root("notes", str(there.folder), read_only=True)], state_dir=str(tmp_path / "third")
    ) as there.engine:
        found = there.plan(here.export())
        assert results(found) == {"a.md": SAME, "b.md": STAYS, "c.md": STAYS}
        assert {one.why for one in found.of(STAYS)} == {"notes is read-only"}
    assert there.held() == {"a.md": b"one\n", "b.md": b"other\n"}


def test_one_that_was_deleted_here_comes_back_and_is_said_where_no_history_tells(tmp_path: Path) -> None:
    here, there = pair(tmp_path)
    here.write("a.md", b"one\n")
    there.take(here.export())
    there.engine.memories.delete([there.at("a.md")], actor=ME)
    (one,) = there.plan(here.export()).arrivals
    assert (one.what, one.why) == (NEW, "it was here, and deleted")


def test_nothing_is_written_when_one_changed_since_the_plan(tmp_path: Path) -> None:
    from memtui.features.bundles import import_plan

    here, there = pair(tmp_path)
    here.write("a.md", b"one\n")
    here.write("b.md", b"b\n")
    there.take(here.export(history=True))
    here.write("a.md", b"two\n")
    here.write("c.md", b"c\n")
    wanted = there.plan(here.export(history=True))
    (there.folder / "a.md").write_bytes(b"meanwhile\n")
    before = there.held()
    with pytest.raises(ConflictError):
        import_plan.apply(there.engine, wanted, actor=ME, now=1)
    assert there.held() == before


def test_a_root_is_found_by_its_id_its_alias_its_agent_or_as_told(tmp_path: Path) -> None:
    there = Machine(tmp_path)

    def bundle(*origins: Origin) -> bytes:
        return write(Bundle(tuple(BundledMemory(one, f"{n}.md", b"x") for n, one in enumerate(origins))))

    def roots(data: bytes, into: dict[str, str] | None = None) -> list[str | None]:
        return [one.address.root if one.address else None for one in there.plan(data, into).arrivals]

    assert roots(bundle(Origin("notes", "other", "global"))) == ["notes"]
    assert roots(bundle(Origin("x", "other", "global", ("notes",)))) == ["notes"]
    assert roots(bundle(Origin("x", "files", "global"))) == ["notes"]
    strange = bundle(Origin("x", "other", "global"), Origin("y", "other", "project"))
    assert roots(strange) == [None, None]
    assert roots(strange, {"y": "notes"}) == [None, "notes"]
    assert roots(strange, {"": "notes"}) == ["notes", "notes"]
    with pytest.raises(UsageError):
        there.plan(strange, {"z": "notes"})
    with pytest.raises(NotFoundError):
        there.plan(strange, {"": "nowhere"})


@pytest.mark.parametrize(
    ("here", "arrives", "why"),
    [
        ("README.md", "Readme.md", "it differs from README.md there only by case or Unicode form"),
        ("d/caf\N{LATIN SMALL LETTER E WITH ACUTE}.md", "d/cafe\N{COMBINING ACUTE ACCENT}.md", "it differs from d/caf"),
        ("Docs/x.md", "docs/y/b.md", "it differs from Docs there only by case or Unicode form"),
    ],
)
def test_a_name_that_clashes_stays_out_and_the_rest_is_imported(
    tmp_path: Path, here: str, arrives: str, why: str
) -> None:
    there = Machine(tmp_path)
    there.write(here, b"here\n")
    origin = Origin("notes", "files", "global")
    data = write(Bundle(tuple(BundledMemory(origin, name, b"new\n") for name in ("a.md", arrives, "z.md"))))
    plan = there.plan(data)
    assert results(plan) == {"a.md": NEW, arrives: STAYS, "z.md": NEW}
    assert plan.of(STAYS)[0].why.startswith(why)
    there.take(data)
    assert there.held() == {"a.md": b"new\n", here: b"here\n", "z.md": b"new\n"}


def test_folders_of_a_bundle_that_clash_do_not_stop_it(tmp_path: Path) -> None:
    there = Machine(tmp_path)
    origin = Origin("notes", "files", "global")
    data = write(Bundle((BundledMemory(origin, "Docs/a.md", b"1"), BundledMemory(origin, "docs/b.md", b"2"))))
    assert results(there.plan(data)) == {"Docs/a.md": NEW, "docs/b.md": STAYS}
    there.take(data)
    assert there.held() == {"Docs/a.md": b"1"}


def test_what_is_here_already_is_no_clash(tmp_path: Path) -> None:
    there = Machine(tmp_path)
    for name in ("a.md", "A.md"):  # a file system that tells them apart may have got both from others
        (there.folder / name).write_bytes(b"1")
    there.engine.watch.reconcile()
    origin = Origin("notes", "files", "global")
    data = write(Bundle((BundledMemory(origin, "A.md", b"1"), BundledMemory(origin, "a.md", b"1"))))
    assert results(there.plan(data)) == {"A.md": SAME, "a.md": SAME}


NAME = st.text(st.sampled_from("ab.é"), min_size=1, max_size=4).filter(lambda name: name.strip(".") == name)
FILES = st.dictionaries(
    st.lists(NAME, min_size=1, max_size=2).map(lambda parts: "d/".join(parts) + ".md"),
    st.binary(max_size=60),
    min_size=1,
    max_size=5,
)


@settings(max_examples=examples(25))
@given(FILES, st.booleans())
def test_any_memories_arrive_as_they_were_and_once(files: dict[str, bytes], history: bool) -> None:
    with tempfile.TemporaryDirectory() as base:
        here, there = pair(Path(base))
        with here.engine, there.engine:
            for name, text in files.items():
                with suppress(MemtuiError):
                    here.engine.memories.create(here.at(name), text, actor=ME)
            data = here.export(history=history)
            there.take(data)
            assert there.held() == here.held()
            assert set(results(there.plan(data)).values()) == {SAME}
            assert there.take(data).done is None
            assert there.export() == here.export()


PARTS = st.sampled_from(
    ["..", ".", "", "a", "a.md", "~", "\\", "..\\x", "%2e%2e", "/", "etc", "\0", "C:", ".git", "x" * 300]
)
PATHS = st.lists(PARTS, min_size=1, max_size=4).map("/".join)


@settings(max_examples=examples(60))
@given(st.lists(st.tuples(PATHS, st.none() | PATHS, st.binary(max_size=8)), min_size=1, max_size=3))
def test_no_bundle_writes_out_of_its_root(drawn: list[tuple[str, str | None, bytes]]) -> None:
    rows = [(path, name or f"memories/1/{path}", data) for path, name, data in drawn]
    with tempfile.TemporaryDirectory() as base:
        there = Machine(Path(base) / "there")
        os.symlink(base, there.folder / "out")
        memories = [
            {
                "root": 0,
                "path": path,
                "file": name,
                "sha256": sha256(data).hexdigest(),
                "bytes": len(data),
                "pinned": False,
            }
            | {"uses": 0, "last_used_at": None, "last_written_at": None, "history": []}
            for path, name, data in rows
        ]
        roots = [{"id": "notes", "agent": "files", "scope": "global", "aliases": []}]
        document = {"format": "memtui-bundle", "version": 1, "roots": roots, "memories": memories}
        with there.engine, suppress(MemtuiError, ValueError):
            there.take(pack([(LIST, json.dumps(document).encode()), *((name, data) for _, name, data in rows)]))
            there.take(pack([(LIST, json.dumps(document).encode())]))
        written = {path.relative_to(base).parts[:2] for path in Path(base).rglob("*") if path.is_file()}
        assert {parts[1] for parts in written if parts[0] == "there"} <= {"notes", "state"}
        assert {parts[0] for parts in written} <= {"there"}


@pytest.mark.parametrize("path", ["out/a.md", "out/../a.md"])
def test_a_link_in_the_root_is_not_followed(tmp_path: Path, path: str) -> None:
    there = Machine(tmp_path / "there")
    (tmp_path / "else").mkdir()
    os.symlink(tmp_path / "else", there.folder / "out")
    data = write(Bundle((BundledMemory(Origin("notes", "files", "global"), path, b"x"),)))
    with pytest.raises(MemtuiError):
        there.take(data)
    assert list((tmp_path / "else").iterdir()) == []


X, Y, Z = b"one\ntwo\nthree\n", b"one\nTWO\nthree\n", b"one\n2\nthree\n"


def exchange(giver: Machine, taker: Machine) -> dict[str, str]:
    """Import a bundle; return what happened to each memory."""
    data = giver.export(history=True)
    plan = taker.plan(data)
    taker.take(data)
    return results(plan)


def test_a_text_that_was_left_again_does_not_swap(tmp_path: Path) -> None:
    a, b = pair(tmp_path)
    a.write("m.md", X)
    assert exchange(a, b) == {"m.md": NEW}
    a.write("m.md", Y)
    assert exchange(a, b) == {"m.md": NEWER}
    b.write("m.md", X)
    assert exchange(a, b) == {"m.md": OLDER}
    assert exchange(b, a) == {"m.md": NEWER}
    for _ in range(3):
        assert exchange(a, b) == {"m.md": SAME}
        assert exchange(b, a) == {"m.md": SAME}
    assert a.held() == b.held() == {"m.md": X}


def test_a_deletion_is_offered_and_what_was_deleted_does_not_come_back(tmp_path: Path) -> None:
    a, b = pair(tmp_path)
    a.write("m.md", X)
    a.write("n.md", X)
    exchange(a, b)
    b.engine.memories.delete([b.at("m.md")], actor=ME)
    assert exchange(a, b) == {"m.md": OLDER, "n.md": SAME}
    assert b.held() == {"n.md": X}
    assert exchange(b, a) == {"m.md": DELETED, "n.md": SAME}
    assert a.held() == {"n.md": X}
    a.engine.undo.undo(actor=ME)
    assert a.held() == {"m.md": X, "n.md": X}


def test_a_memory_changed_since_survives_a_deletion_elsewhere(tmp_path: Path) -> None:
    a, b = pair(tmp_path)
    a.write("m.md", X)
    exchange(a, b)
    b.engine.memories.delete([b.at("m.md")], actor=ME)
    a.write("m.md", Y)
    assert exchange(b, a) == {"m.md": OLDER}
    assert exchange(a, b) == {"m.md": NEW}
    assert a.held() == b.held() == {"m.md": Y}


def test_a_deletion_of_another_memory_of_the_name_is_not_believed(tmp_path: Path) -> None:
    a, b = pair(tmp_path)
    a.write("m.md", X)
    b.write("m.md", Z)
    b.engine.memories.delete([b.at("m.md")], actor=ME)
    assert exchange(b, a) == {"m.md": OLDER}
    assert a.held() == {"m.md": X}


def test_both_change_one_line_and_one_goes_back(tmp_path: Path) -> None:
    a, b = pair(tmp_path)
    a.write("m.md", X)
    exchange(a, b)
    a.write("m.md", Y)
    a.write("m.md", X)
    b.write("m.md", Z)
    assert exchange(b, a) == {"m.md": MERGED}
    assert a.held() == {"m.md": Z}


LINES = [b"one", b"two", b"three", b"four", b"five", b"six", b"seven"]
MOVES = st.one_of(
    st.tuples(st.just("edit"), st.integers(0, 2), st.integers(0, 6), st.sampled_from([b"A", b"B"])),
    st.tuples(st.just("back"), st.integers(0, 2), st.integers(0, 5), st.just(b"")),
    st.tuples(st.just("delete"), st.integers(0, 2), st.just(0), st.just(b"")),
    st.tuples(st.just("exchange"), st.integers(0, 2), st.integers(0, 2), st.just(b"")),
)


def do(homes: list[Machine], move: tuple[str, int, int, bytes]) -> None:
    kind, number, place, text = move
    home = homes[number % len(homes)]
    held = home.held().get("m.md")
    if kind == "edit":
        lines = held.split(b"\n") if held is not None else list(LINES)
        lines[place] = text
        home.write("m.md", b"\n".join(lines))
    elif kind == "back" and held is not None:
        past = home.engine.history.of(home.at("m.md"))
        home.write("m.md", home.engine.history.read(home.at("m.md"), past[place % len(past)].sha256))
    elif kind == "delete" and held is not None:
        home.engine.memories.delete([home.at("m.md")], actor=ME)
    elif kind == "exchange":
        other = homes[place % len(homes)]
        if other is not home and (other.held() or other.engine.undo.trash.entries()):
            decide(home, exchange(other, home))


def decide(home: Machine, found: dict[str, str]) -> None:
    """Answer a conflict as a person would who wants the lines of both: by a text of their own."""
    if found.get("m.md") == CONFLICT:
        for draft in home.engine.drafts.all():
            home.engine.drafts.drop(draft.address)
        home.write("m.md", home.held()["m.md"] + b"\ndecided")


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(MOVES, max_size=14), st.integers(2, 3))
def test_homes_that_stop_writing_agree_and_stay_so(moves: list[tuple[str, int, int, bytes]], count: int) -> None:
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        homes = [Machine(Path(folder) / str(number)) for number in range(count)]
        for home in homes:
            stack.callback(home.engine.close)
        homes[0].write("m.md", b"\n".join(LINES))
        for move in moves:
            do(homes, move)
        written = Counter(text for home in homes for text in home.held().values())
        for _ in range(2 * count):
            for taker in homes:
                for giver in homes:
                    if giver is not taker and (giver.held() or giver.engine.undo.trash.entries()):
                        decide(taker, exchange(giver, taker))
        held = [home.held() for home in homes]
        assert all(one == held[0] for one in held)
        for taker in homes:
            for giver in homes:
                if giver is not taker and (giver.held() or giver.engine.undo.trash.entries()):
                    assert set(exchange(giver, taker).values()) <= {SAME, OLDER}
        assert [home.held() for home in homes] == held
        for text in written:
            assert any(
                text == home.engine.history.read(home.at("m.md"), one.sha256)
                for home in homes
                for one in home.engine.history.of(home.at("m.md"))
            )
