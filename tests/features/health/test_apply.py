"""Applying fixes: shown first, on exactly the version they were found in, one step of undo for all of them."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memtui.engine import Engine
from memtui.engine.model import Address, Done
from memtui.errors import ConflictError, MemtuiError
from memtui.features.health.apply import Chosen, apply, choose, prepare
from memtui.features.health.checks import FULL
from memtui.features.health.model import (
    BELOW,
    BULK,
    CUT,
    DANGLING,
    LONG,
    OUTSIDE,
    TOGETHER,
    UNNAMED,
    Edit,
    IndexReport,
    apply_edits,
    as_text,
)
from memtui.features.health.survey import IndexChecker
from memtui.pointers.links import parse_index
from tests.examples import examples
from tests.features.health.folders import LINKS, ME, Folders, at, entry, kinds, memory
from tests.features.health.test_checks import FILES


def test_what_is_replaced_removed_and_inserted() -> None:
    edits = [Edit(0, 1, b"A"), Edit(2, 4), Edit(5, 5, b"+")]
    assert apply_edits(b"abcdef", edits) == b"Abe+f"
    assert apply_edits(b"abcdef", reversed(edits)) == b"Abe+f"
    assert apply_edits(b"abc", []) == b"abc"


def test_insertions_at_one_place_keep_their_order() -> None:
    assert apply_edits(b"ab", [Edit(1, 1, b"1"), Edit(1, 1, b"2"), Edit(1, 2, b"B")]) == b"a12B"


def test_of_two_that_overlap_the_later_is_left_out() -> None:
    assert apply_edits(b"abcdef", [Edit(1, 4, b"X"), Edit(3, 5, b"Y")]) == b"aXef"


@given(st.binary(max_size=40), st.lists(st.tuples(st.integers(0, 40), st.integers(0, 5), st.binary(max_size=3))))
def test_bytes_outside_are_never_touched(data: bytes, wanted: list[tuple[int, int, bytes]]) -> None:
    edits = [Edit(min(at, len(data)), min(at + size, len(data)), new) for at, size, new in wanted]
    kept = list(data)
    for edit in edits:
        kept[edit.start : edit.end] = [-1] * (edit.end - edit.start)
    after = apply_edits(data, edits)
    rest = iter(after)
    assert all(byte in rest for byte in kept if byte >= 0)


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("- [Title](../out.md) — hook", "- Title `../out.md` — hook"),
        ("- [../out.md](../out.md)", "- `../out.md`"),
        ("- [a](</etc/x y.md>), [b](b.md)", "- a `/etc/x y.md`, [b](b.md)"),
        ("- [[../up]] it", "- `../up` it"),
        ("- [](../out.md)", "- `../out.md`"),
        ("See [x](/abs) there", "See x `/abs` there"),
    ],
)
def test_a_link_becomes_text_that_says_the_same(line: str, wanted: str) -> None:
    data = line.encode()
    first, *others = parse_index(data, "MEMORY.md")
    edit = as_text(data, first)
    assert edit is not None
    after = apply_edits(data, [edit])
    assert after.decode() == wanted
    assert [one.target for one in parse_index(after, "MEMORY.md")] == [one.target for one in others]


@pytest.mark.parametrize("line", ["- [a](../o`ut.md)", "- [`a`](../out.md)", "- [a](<../o`ut.md>)"])
def test_what_cannot_be_code_stays_a_link(line: str) -> None:
    assert [as_text(line.encode(), one) for one in parse_index(line.encode(), "MEMORY.md")] == [None]


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    return Folders(tmp_path, {"notes": LINKS, "other": LINKS})


def look(engine: Engine) -> tuple[IndexReport, ...]:
    return IndexChecker().look(engine, engine.roots.all())


def fix(engine: Engine, *wanted: str, root: str | None = None) -> Done:
    reports = [report for report in look(engine) if root in (None, report.address.root)]
    return apply(engine, prepare(engine, choose(reports, wanted)), actor=ME)


def written(done: Done) -> list[Address]:
    return [outcome.address for outcome in done.outcomes]


def test_one_kind_of_one_root(folders: Folders) -> None:
    for root in ("notes", "other"):
        folders.lay({"MEMORY.md": entry("gone.md") + entry("a.md"), "a.md": "a\n", "b.md": memory("See")}, root)
    with folders.engine() as engine:
        done = fix(engine, DANGLING, root="notes")
        assert (done.label, written(done)) == ("fix notes/MEMORY.md", [at("MEMORY.md")])
        assert folders.held() == entry("a.md").encode()
        assert kinds(look(engine)) == [(UNNAMED, None, "b.md"), (DANGLING, 1, "gone.md"), (UNNAMED, None, "b.md")]


def test_everything_in_several_indexes_is_one_step_of_undo(folders: Folders) -> None:
    for root in ("notes", "other"):
        folders.lay({"MEMORY.md": entry("gone.md") + entry("a.md"), "a.md": "a\n", "b.md": memory("See")}, root)
    before = folders.disk()
    with folders.engine() as engine:
        done = fix(engine, *TOGETHER)
        assert done.label == "fix 4 findings in 2 indexes"
        assert written(done) == [at("MEMORY.md"), at("MEMORY.md", "other")]
        assert not kinds(look(engine))
        assert folders.held() == (entry("a.md") + entry("b.md", "See")).encode()
        engine.undo.undo(actor=ME)
        assert folders.disk() == before


def test_an_index_that_is_missing_is_made_and_goes_again(folders: Folders) -> None:
    folders.lay({"a.md": memory("One")})
    before = folders.disk()
    with folders.engine() as engine:
        fix(engine, UNNAMED)
        assert folders.held() == "- [A](a.md) — One\n".encode()
        engine.undo.undo(actor=ME)
    assert folders.disk() == before


def test_what_changed_meanwhile_is_never_written_over(folders: Folders) -> None:
    folders.lay({"MEMORY.md": entry("gone.md")})
    with folders.engine() as engine:
        reports = look(engine)
        folders.lay({"MEMORY.md": entry("gone.md") + "new\n"})
        with pytest.raises(ConflictError):
            prepare(engine, choose(reports, BULK))
    assert folders.held() == (entry("gone.md") + "new\n").encode()


def test_what_changes_between_showing_and_writing_is_never_written_over(folders: Folders) -> None:
    folders.lay({"MEMORY.md": entry("gone.md")})
    folders.lay({"MEMORY.md": entry("gone.md")}, "other")
    with folders.engine() as engine:
        previews = prepare(engine, choose(look(engine), BULK))
        folders.lay({"MEMORY.md": "an agent's\n"}, "other")
        before = folders.disk()
        with pytest.raises(MemtuiError):
            apply(engine, previews, actor=ME)
    assert folders.disk() == before


def test_a_single_index_that_changed_meanwhile_is_not_said_to_be_mended(folders: Folders) -> None:
    folders.lay({"MEMORY.md": entry("gone.md")})
    with folders.engine() as engine:
        previews = prepare(engine, choose(look(engine), BULK))
        folders.lay({"MEMORY.md": "an agent's\n"})
        with pytest.raises(ConflictError, match=r"MEMORY\.md changed meanwhile"):
            apply(engine, previews, actor=ME)
    assert folders.held() == b"an agent's\n"


def test_an_index_that_went_meanwhile_is_not_made_anew(folders: Folders) -> None:
    folders.lay({"MEMORY.md": entry("gone.md"), "a.md": "a\n"})
    with folders.engine() as engine:
        reports = look(engine)
        (folders.base / "notes/MEMORY.md").unlink()
        with pytest.raises(ConflictError):
            prepare(engine, choose(reports, BULK))


def test_offers_are_never_done_with_others(folders: Folders) -> None:
    folders.policies["notes"] = LINKS._replace(index_lines=1)
    folders.lay({"MEMORY.md": entry("a.md") + entry("b.md"), "a.md": "", "b.md": ""})
    with folders.engine() as engine:
        reports = look(engine)
        assert BELOW in {one.kind for report in reports for one in report.findings}
        assert not choose(reports, (*BULK, BELOW))


@pytest.mark.parametrize("more", ["", entry("z.md")])
def test_a_split_that_was_killed_between_the_two_files_is_gone_on_with(tmp_path: Path, more: str) -> None:
    folders = Folders(tmp_path, {"notes": LINKS._replace(index_lines=4)})
    index = (entry("MEMORY-more.md") if more else "") + "".join(entry(f"{name}.md") for name in "abcdefg")
    folders.lay({"MEMORY.md": index} | {f"{name}.md": "x\n" for name in "abcdefgz"})
    if more:
        folders.lay({"MEMORY-more.md": more})
    with folders.engine() as engine:
        fix(engine, CUT)
        whole = folders.disk()
        engine.undo.undo(actor=ME)
        folders.lay({"MEMORY-more.md": whole["notes/MEMORY-more.md"]})
        assert folders.held() == index.encode()
        fix(engine, CUT)
        assert folders.disk() == whole


def test_what_moves_over_the_cut_is_said(folders: Folders) -> None:
    folders.policies["notes"] = LINKS._replace(index_lines=2)
    folders.lay({"MEMORY.md": entry("a.md") + entry("gone.md") + entry("b.md"), "a.md": "", "b.md": ""})
    with folders.engine() as engine:
        (shown,) = prepare(engine, choose(look(engine), (DANGLING,)))
        assert shown.notes == ("The agent then loads the whole index.",)
    folders.lay({"c.md": "", "MEMORY.md": entry("a.md") + entry("b.md")})
    with folders.engine() as engine:
        (shown,) = prepare(engine, choose(look(engine), (UNNAMED,)))
        assert shown.notes == ("Then not loaded: c.md.", "Not loaded: 0 lines now, 1 line then.")


def test_a_line_that_goes_is_not_said_to_be_loaded(folders: Folders) -> None:
    folders.policies["notes"] = LINKS._replace(index_lines=2)
    lines = [entry(name) for name in ("a.md", "b.md", "gone.md", "c.md", "d.md")]
    folders.lay({"MEMORY.md": "".join(lines), **{f"{name}.md": "" for name in "abcd"}})
    with folders.engine() as engine:
        (shown,) = prepare(engine, choose(look(engine), (DANGLING,)))
        assert shown.notes == ("Not loaded: 3 lines now, 2 lines then.",)


def fill(folders: Folders, count: int) -> bytes:
    """Lay an index of which only the first lines are loaded, and its memories."""
    text = "".join(entry(f"m{number}.md") for number in range(count))
    folders.lay({"MEMORY.md": text, **{f"m{number}.md": "x\n" for number in range(count)}})
    return text.encode()


def test_bringing_an_index_under_the_line_is_one_step_of_undo_and_done_once(folders: Folders) -> None:
    folders.policies["notes"] = LINKS._replace(index_lines=10)
    text = fill(folders, 25)
    before = folders.disk()
    with folders.engine() as engine:
        assert not choose(look(engine), TOGETHER)
        chosen = choose(look(engine), (CUT,))
        index, rest = prepare(engine, chosen)
        assert (index.before, index.fixes, rest.before, rest.fixes) == (text, 1, b"", 0)
        assert rest.expected_sha256 is None
        assert index.notes == (
            "16 lines move to MEMORY-more.md; the agent opens it when it needs more.",
            "1 of them was loaded until now.",
            "The agent then loads the whole index.",
        )
        done = apply(engine, (index, rest), actor=ME)
        assert written(done) == [at("MEMORY-more.md"), at("MEMORY.md")]
        assert folders.held() == index.after
        assert folders.held("MEMORY-more.md") == rest.after
        assert index.after.rpartition(b"- [MEMORY-more.md]")[0] + rest.after == text
        assert kinds(look(engine)) == []
        assert not written(fix(engine, CUT))
        (operation,) = engine.history.operations(done.txn, done.txn)
        assert operation.label == "fix notes/MEMORY.md"
        engine.undo.undo(actor=ME)
        assert folders.disk() == before
        engine.undo.redo(actor=ME)
        assert kinds(look(engine)) == []


def test_what_comes_next_goes_to_the_same_file(folders: Folders) -> None:
    folders.policies["notes"] = LINKS._replace(index_lines=10)
    fill(folders, 25)
    with folders.engine() as engine:
        fix(engine, CUT)
        folders.lay({"new.md": "x\n", "MEMORY.md": folders.held() + entry("new.md").encode()})
        before = folders.disk()
        fix(engine, CUT)
        assert folders.held("MEMORY-more.md").endswith((entry("m24.md") + entry("new.md")).encode())
        assert kinds(look(engine)) == []
        engine.undo.undo(actor=ME)
        assert folders.disk() == before


@pytest.mark.parametrize("name", ["MEMORY-more.md", "MEMORY.md"])
def test_a_file_that_came_or_changed_meanwhile_stops_all_of_it(folders: Folders, name: str) -> None:
    folders.policies["notes"] = LINKS._replace(index_lines=10)
    fill(folders, 25)
    with folders.engine() as engine:
        chosen = choose(look(engine), (CUT,))
        previews = prepare(engine, chosen)
        folders.lay({name: "an agent's\n"})
        before = folders.disk()
        with pytest.raises(ConflictError):
            prepare(engine, chosen)
        with pytest.raises(MemtuiError):
            apply(engine, previews, actor=ME)
    assert folders.disk() == before


def test_an_index_over_the_limit_of_writing_can_be_mended(folders: Folders) -> None:
    lines = [entry(f"m{number}.md", "word " * 60) for number in range(1_000)]
    text = (entry("gone.md") + "- [o](../o.md)\n" + "".join(lines)).encode()
    folders.lay({"MEMORY.md": text, "a.md": "", **{f"m{number}.md": "" for number in range(1_000)}})
    assert len(text) > LINKS.write_bytes
    before = folders.disk()
    with folders.engine() as engine:
        (unnamed,) = look(engine)[0].of(UNNAMED)
        assert (unnamed.fix, unnamed.why) == (None, FULL.format(LINKS.write_bytes))
        (outside,) = look(engine)[0].of(OUTSIDE)
        for way in ((DANGLING,), (LONG,), (CUT,)):
            assert written(fix(engine, *way))
            engine.undo.undo(actor=ME)
            assert folders.disk() == before
        apply(engine, prepare(engine, [Chosen(look(engine)[0], (outside,))]), actor=ME)
        assert folders.held() == text.replace(b"[o](../o.md)", b"o `../o.md`")
        fix(engine, CUT)
        assert not [one for report in look(engine) for one in report.of(CUT)]
        assert {"MEMORY-more.md", "MEMORY-more-2.md"} <= {path.rpartition("/")[2] for path in folders.disk()}


@settings(max_examples=examples(40), deadline=None)
@given(FILES, st.integers(2, 8))
def test_whatever_is_moved_comes_back_and_is_moved_once(text: str, limit: int) -> None:
    with TemporaryDirectory() as base:
        folders = Folders(Path(base), {"notes": LINKS._replace(index_lines=limit)})
        folders.lay({"MEMORY.md": text, "a.md": "", "b.md": ""})
        before = folders.disk()
        with folders.engine() as engine:
            if not written(fix(engine, CUT)):
                assert folders.disk() == before
                return
            after = folders.disk()
            assert not [one for report in look(engine) for one in report.of(CUT)]
            assert not written(fix(engine, CUT))
            assert folders.disk() == after
            moved = b"".join(data for path, data in sorted(after.items()) if "MEMORY-more" in path)
            if moved:
                assert text.encode().endswith(moved)
                assert after["notes/MEMORY.md"].startswith(text.encode().removesuffix(moved))
            else:
                assert after["notes/MEMORY.md"].split() == text.encode().split()
            unnamed = {one.path for report in look(engine) for one in report.of(UNNAMED)}
            engine.undo.undo(actor=ME)
            assert folders.disk() == before
            assert unnamed == {one.path for report in look(engine) for one in report.of(UNNAMED)}
