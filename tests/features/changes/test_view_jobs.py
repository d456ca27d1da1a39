"""What the inbox asks, on a real engine: changes of a night, their texts, counts, and a draft for the merge."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memtui.diff.differences import take_back
from memtui.engine import Engine
from memtui.engine.model import Actor, Address, Conflict, Root, Saved
from memtui.features.changes import view_rows, view_texts
from memtui.features.changes.bursts import bursts
from memtui.features.changes.view_decisions import changed_meanwhile
from memtui.ui.draw.difference import DiffStyle
from tests.examples import examples

ME = Actor("tui")
OLD = b"# Retry\r\n\r\n- three\r\n\r\n- jitter"
NEW = b"# Retry\r\n\r\n- four\r\n\r\n- jitter\r\n- budget\r\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = tmp_path / "root"
    found.mkdir()
    (found / "a.md").write_bytes(OLD)
    return found


@pytest.fixture
def engine(folder: Path, tmp_path: Path) -> Iterator[Engine]:
    """An engine that has seen the folder, then closed, then opened again after somebody wrote."""
    roots = [Root("r", str(folder), "codex")]
    with Engine.open(roots, state_dir=str(tmp_path / "state")) as first:
        first.watch.reconcile()
        first.changes.mark_seen(None)
    (folder / "a.md").write_bytes(NEW)
    with Engine.open(roots, state_dir=str(tmp_path / "state")) as second:
        second.watch.reconcile()
        yield second


A = Address("r", "a.md")


def test_what_happened_while_memtui_was_closed_is_listed_and_shown(engine: Engine) -> None:
    loaded = view_rows.load(engine)
    (change,) = loaded.changes
    assert (change.address, change.kind) == (A, "modified")
    assert loaded.written[A] <= change.at
    (burst,) = bursts(loaded.changes, written=loaded.written)
    assert burst.end == loaded.written[A]
    shown = view_texts.show(engine, change, change.at, change.at, DiffStyle(60))
    assert (shown.before, shown.after) == (OLD, NEW)
    assert len(shown.hunks) == 2
    assert view_texts.count(engine, [change]) == {change: (3, 2)}


def test_lines_that_the_user_added_among_it_are_named_theirs(engine: Engine) -> None:
    (change,) = view_rows.load(engine).changes
    engine.save(A, b"mine\r\n" + NEW, expected_sha256=change.after, actor=ME, news_since=change.before)
    (change,) = view_rows.load(engine).changes
    shown = view_texts.show(engine, change, 0, 0, DiffStyle(60))
    heads = ["".join(words for words, _ in shown.page[at].runs) for at in shown.starts]
    assert [head.endswith(" yours") for head in heads] == [True, False, False]


def test_hunks_are_taken_back_one_by_one_to_the_old_bytes(engine: Engine, folder: Path) -> None:
    (change,) = view_rows.load(engine).changes
    for left in (1, 0):
        shown = view_texts.show(engine, change, 0, 0, DiffStyle(60))
        assert shown.before is not None
        assert shown.after is not None
        wanted = take_back(shown.before, shown.after, shown.hunks[-1])
        result = engine.save(A, wanted, expected_sha256=change.after, actor=ME)
        assert isinstance(result, Saved)
        change = change._replace(after=view_rows.load(engine, [A]).kept[A])
        assert (change.after == change.before) == (not left)
    assert (folder / "a.md").read_bytes() == OLD
    engine.undo.undo(actor=ME)
    engine.undo.undo(actor=ME)
    assert (folder / "a.md").read_bytes() == NEW


THREE = b"# Retry\r\n\r\n- four\r\n\r\n- jitters\r\n\r\n- budget\r\n"
THREE_OLD = b"# Retry\r\n\r\n- three\r\n\r\n- jitter\r\n\r\n- limit\r\n"


def unseen_hunks(engine: Engine) -> int:
    """How many hunks the inbox lists of the memory; 0 when it is seen."""
    changes = view_rows.load(engine).changes
    assert bool(changes) == engine.rows.get(A).unseen
    return sum(len(view_texts.show(engine, one, 0, 0, DiffStyle(60)).hunks) for one in changes)


def take_one(engine: Engine, which: int) -> None:
    """Take a hunk back as the inbox does."""
    (change,) = view_rows.load(engine).changes
    shown = view_texts.show(engine, change, 0, 0, DiffStyle(60))
    assert shown.before is not None
    assert shown.after is not None
    wanted = take_back(shown.before, shown.after, shown.hunks[which])
    result = engine.save(A, wanted, expected_sha256=change.after, actor=ME, news_since=change.before)
    assert isinstance(result, Saved)


def three_hunks(folder: Path, tmp_path: Path) -> list[Root]:
    """Roots with one memory that has three unseen hunks."""
    roots = [Root("r", str(folder), "codex")]
    for data in (THREE_OLD, THREE):
        (folder / "a.md").write_bytes(data)
        with Engine.open(roots, state_dir=str(tmp_path / "state")) as engine:
            engine.watch.reconcile()
            if data == THREE_OLD:
                engine.changes.mark_seen(None)
    return roots


@given(order=st.lists(st.integers(0, 2), min_size=1, max_size=3), undone=st.integers(0, 3))
@settings(max_examples=examples(12), deadline=None)
def test_what_was_not_taken_back_stays_unseen_over_a_restart(order: list[int], undone: int) -> None:
    with tempfile.TemporaryDirectory() as base:
        tmp_path, folder = Path(base), Path(base) / "root"
        folder.mkdir()
        roots = three_hunks(folder, tmp_path)
        left = 3
        for which in order:
            with Engine.open(roots, state_dir=str(tmp_path / "state")) as engine:
                engine.watch.reconcile()
                assert unseen_hunks(engine) == left
                (before,) = engine.changes.unseen()
                take_one(engine, which % left)
                left -= 1
                assert unseen_hunks(engine) == left
                assert all(one.actor == before.actor for one in engine.changes.unseen())
        back = min(undone, len(order))
        with Engine.open(roots, state_dir=str(tmp_path / "state")) as engine:
            for number in range(back):
                engine.undo.undo(actor=ME)
                assert unseen_hunks(engine) == left + number + 1
            for number in range(back):
                engine.undo.redo(actor=ME)
                assert unseen_hunks(engine) == left + back - number - 1
            engine.changes.mark_shown(engine.changes.unseen())
            assert unseen_hunks(engine) == 0


def test_a_hunk_taken_back_by_a_process_that_died_leaves_the_rest_unseen(folder: Path, tmp_path: Path) -> None:
    roots = three_hunks(folder, tmp_path)
    with Engine.open(roots, state_dir=str(tmp_path / "state")) as engine:
        (change,) = engine.changes.unseen()
        assert change.after is not None
        take_one(engine, 0)
        ledger = engine._ledger
        with ledger.transaction() as db:  # as it is left when it dies between the commit and its record
            db.execute("UPDATE audit SET state = 'intent' WHERE seq = (SELECT max(seq) FROM audit)")
            db.execute("UPDATE memories SET sha = ?", (bytes.fromhex(change.after),))
    with Engine.open(roots, state_dir=str(tmp_path / "state")) as engine:
        assert engine.roots.recover() == 1
        assert unseen_hunks(engine) == 2


def test_what_the_user_had_seen_is_no_news_after_a_late_hunk(engine: Engine) -> None:
    (change,) = view_rows.load(engine).changes
    engine.changes.mark_seen(None)
    wanted = NEW.replace(b"four", b"three")
    engine.save(A, wanted, expected_sha256=change.after, actor=ME, news_since=change.before)
    assert unseen_hunks(engine) == 0


def test_a_memory_written_again_is_not_touched_and_what_was_wanted_is_a_draft(engine: Engine, folder: Path) -> None:
    (change,) = view_rows.load(engine).changes
    (folder / "a.md").write_bytes(b"newest\n")
    assert isinstance(engine.save(A, OLD, expected_sha256=change.after, actor=ME), Conflict)
    assert view_texts.draft_for_conflict(engine, change, OLD, NEW, 1)
    (draft,) = engine.drafts.all()
    assert (draft.address, draft.base_sha256, draft.text) == (A, change.after, OLD.decode())
    assert (folder / "a.md").read_bytes() == b"newest\n"
    assert not view_texts.draft_for_conflict(engine, change, b"other", NEW, 2)
    assert engine.drafts.all() == (draft,)


def test_what_is_no_text_makes_no_draft(engine: Engine) -> None:
    (change,) = view_rows.load(engine).changes
    assert not view_texts.draft_for_conflict(engine, change, b"\xff", NEW, 1)
    assert engine.drafts.all() == ()


def test_a_whole_change_refused_is_told_from_one_of_many(engine: Engine, folder: Path) -> None:
    changes = view_rows.load(engine).changes
    (folder / "a.md").write_bytes(b"newest\n")
    assert changed_meanwhile(engine.undo.take_back(changes, actor=ME))


def test_a_copy_that_kept_its_old_date_is_listed_when_it_came(engine: Engine, folder: Path) -> None:
    file = folder / "b.md"
    file.write_bytes(b"restored from a backup\n")
    os.utime(file, (1_000_000, 1_000_000))
    engine.watch.reconcile()
    loaded = view_rows.load(engine)
    assert loaded.written[Address("r", "b.md")] > 1_700_000_000_000


def test_a_renamed_memory_is_read_under_its_new_name(engine: Engine) -> None:
    engine.changes.mark_seen(None)
    engine.memories.rename(A, Address("r", "z.md"), actor=Actor("mcp:x"))
    (change,) = engine.changes.unseen()
    shown = view_texts.show(engine, change, 0, 0, DiffStyle(60))
    assert (shown.before, shown.after, shown.whole) == (NEW, NEW, "Only the name changed.")
    assert "You last saw it as a.md." in "".join(text for line in shown.page for text, _ in line.runs)
