"""Differences of changes as drawn lines, and what the view asks of a real engine: texts, counts, a draft."""

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
from memtui.engine.model import Actor, Address, Change, Conflict, Root, Saved
from memtui.features.changes import view_rows, view_texts
from memtui.features.changes.bursts import bursts
from memtui.features.changes.view_decisions import changed_meanwhile
from memtui.features.changes.view_texts import ShownChange, draw
from memtui.safe_text import cell_width
from memtui.ui.draw.difference import DiffStyle, fold_runs
from tests.examples import examples

A = Address("r", "a.md")


def shown(before: bytes | None, after: bytes | None, *, width: int = 60, words: bool = False) -> ShownChange:
    old, new = "a" * 64 if before is not None else None, "b" * 64 if after is not None else None
    change = Change(A, "modified", "outside", old, new, 0)
    return draw(change, before, after, ["Changed by x."], DiffStyle(width, words))


def lines(found: ShownChange) -> list[str]:
    return ["".join(text for text, _ in line.runs).rstrip() for line in found.page]


def test_hunks_with_a_little_around_them_each_line_once() -> None:
    before = b"".join(b"line %d\n" % n for n in range(1, 31))
    after = before.replace(b"line 5\n", b"line five\n").replace(b"line 8\n", b"").replace(b"line 25\n", b"25\n25b\n")
    found = shown(before, after)
    text = lines(found)
    assert len(found.hunks) == len(found.starts) == 3
    assert [text[start] for start in found.starts] == [
        " @@ hunk 1 of 3, line 5",
        " @@ hunk 2 of 3, line 8",
        " @@ hunk 3 of 3, line 24",
    ]
    assert "   5 - line {5}" in text
    assert "   5 + line {five}" in text
    assert "   8 - line 8" in text
    assert "  25 - line 25" in text
    assert "  25 + 25b" in text
    around = [line for line in text if line[4:8] == "   l"]
    assert len(around) == len(set(around))
    assert "   6   line 6" in around
    assert "  15   line 16" not in around


def test_word_by_word() -> None:
    text = lines(shown(b"keep this word\n", b"keep that word\n", words=True))
    assert "   ~   keep [-this-]{+that+} word" in text


def test_what_is_new_deleted_or_only_renamed_has_no_hunks() -> None:
    new = shown(None, b"text\n")
    assert not new.hunks
    assert new.whole.startswith("It is new as a whole")
    assert any("text" in line for line in lines(new))
    gone = shown(b"text\n", None)
    assert "What it held:" in "\n".join(lines(gone))
    change = Change(A, "renamed", "outside", "a" * 64, "a" * 64, 0, Address("r", "b.md"))
    moved = draw(change, b"x", b"x", [], DiffStyle(60))
    assert moved.whole == "Only the name changed."


def test_binary_too_big_and_not_utf_8_are_said_plainly() -> None:
    text = "\n".join(lines(shown(b"a\0b", b"Zo\xeb\n")))
    assert "Before: binary, 3 bytes." in text
    assert "Now: not UTF-8 at byte 2, 4 bytes." in text
    big = "\n".join(lines(shown(b"x\n", b"y" * 1_048_577)))
    assert "Now: too large to show here, 1,048,577 bytes." in big


def test_a_text_that_is_not_kept_is_said() -> None:
    change = Change(A, "modified", "outside", "a" * 64, "b" * 64, 0)
    found = draw(change, None, b"now\n", [], DiffStyle(60))
    assert not found.hunks
    text = "\n".join(lines(found))
    assert "The text you last saw is not kept any more." in text
    assert "now" in text


def test_line_ends_and_a_missing_last_one_show() -> None:
    text = "\n".join(lines(shown(b"a\r\nb\n", b"a\nb")))
    assert "b  (no line end)" in text
    assert text.count(" + a") == 1


TEXTS = st.text(st.sampled_from("ab \n\t\r\x1b\u202eé日x[/]{}"), max_size=60).map(str.encode)


@given(TEXTS, TEXTS, st.integers(12, 50), st.booleans())
def test_lines_fit_and_are_harmless(before: bytes, after: bytes, width: int, words: bool) -> None:
    for line in shown(before, after, width=width, words=words).page:
        text = "".join(part for part, _ in line.runs)
        assert cell_width(text) <= max(width, 15)
        assert not {"\x1b", "\u202e", "\n", "\r"} & set(text)


@given(
    st.lists(st.tuples(st.text("ab é日", min_size=1, max_size=30), st.sampled_from("xy")), max_size=5),
    st.integers(2, 20),
)
def test_folded_runs_keep_every_character(pieces: list[tuple[str, str]], width: int) -> None:
    folded = fold_runs(pieces, width)
    before = "".join(text for text, _ in pieces)
    lines = ["".join(text for text, _ in line) for line in folded]
    assert "".join(lines).replace(" ", "") == before.replace(" ", "")
    assert len(before) - len("".join(lines)) <= len(lines) - 1, "a break takes the place of one blank at most"
    assert all(cell_width(line) <= width for line in lines)


@pytest.mark.parametrize("plain", [False, True])
def test_tag_characters_are_read_out_in_short_and_flags_stay(plain: bool) -> None:
    token = "ghp_" + "Ab3dE5" * 6
    hidden = "".join(chr(0xE0000 + ord(sign)) for sign in f" Obey {token} and " + "x" * 200)
    flag = "\U0001f3f4" + "".join(chr(0xE0000 + ord(sign)) for sign in "gbsct") + "\U000e007f"
    text = "".join(text for line in fold_runs([(f"a{hidden}b{flag}", "x")], 200, plain=plain) for text, _ in line)
    assert text.startswith(f"a{'<' if plain else '⟨'}{len(hidden)} tag characters: Obey [masked: GitHub token] and x")
    assert token not in text
    assert text.endswith(f"b{flag}")
    assert cell_width(text) < 120


@pytest.mark.parametrize("width", range(8, 60))
def test_no_word_is_cut_that_fits_into_a_line(width: int) -> None:
    text = [("full for (", "del"), ("{an hour}", "word"), (") while nobody paid", "del")]
    lines = ["".join(part for part, _ in line) for line in fold_runs(text, width)]
    assert " ".join(line.strip() for line in lines) == "full for ({an hour}) while nobody paid"
    assert not [line for line in lines if line.startswith(" ")]


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
