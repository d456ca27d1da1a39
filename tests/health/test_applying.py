"""Applying fixes: shown first, on exactly the version they were found in, one step of undo for all of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from memtui.engine import Engine
from memtui.errors import ConflictError, MemtuiError
from memtui.health.applying import Applied, apply, choose, prepare
from memtui.health.fixing import REBUILT
from memtui.health.looking import Looker
from memtui.health.model import BELOW, BULK, DANGLING, LONG, TOGETHER, UNNAMED, IndexReport
from tests.health.folders import LINKS, ME, Folders, at, entry, kinds, memory


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    return Folders(tmp_path, {"notes": LINKS, "other": LINKS})


def look(engine: Engine) -> tuple[IndexReport, ...]:
    return Looker().look(engine, engine.roots)


def fix(engine: Engine, *wanted: str, root: str | None = None) -> Applied:
    return apply(engine, prepare(engine, choose(look(engine), wanted, root=root)), actor=ME)


def test_one_kind_of_one_root(folders: Folders) -> None:
    for root in ("notes", "other"):
        folders.lay({"MEMORY.md": entry("gone.md") + entry("a.md"), "a.md": "a\n", "b.md": memory("See")}, root)
    with folders.engine() as engine:
        done = fix(engine, DANGLING, root="notes")
        assert (done.fixes, done.written) == (1, (at("MEMORY.md"),))
        assert folders.held() == entry("a.md").encode()
        assert kinds(look(engine)) == [(UNNAMED, None, "b.md"), (DANGLING, 1, "gone.md"), (UNNAMED, None, "b.md")]


def test_everything_in_several_indexes_is_one_step_of_undo(folders: Folders) -> None:
    for root in ("notes", "other"):
        folders.lay({"MEMORY.md": entry("gone.md") + entry("a.md"), "a.md": "a\n", "b.md": memory("See")}, root)
    before = folders.disk()
    with folders.engine() as engine:
        done = fix(engine, *TOGETHER)
        assert (done.fixes, done.written) == (4, (at("MEMORY.md"), at("MEMORY.md", "other")))
        assert not kinds(look(engine))
        assert folders.held() == (entry("a.md") + entry("b.md", "See")).encode()
        engine.undo(actor=ME)
        assert folders.disk() == before


def test_an_index_that_is_missing_is_made_and_goes_again(folders: Folders) -> None:
    folders.lay({"a.md": memory("One")})
    before = folders.disk()
    with folders.engine() as engine:
        fix(engine, UNNAMED)
        assert folders.held() == "- [A](a.md) — One\n".encode()
        engine.undo(actor=ME)
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


def test_an_index_that_came_meanwhile_is_never_written_over(folders: Folders) -> None:
    folders.lay({"a.md": "a\n"})
    with folders.engine() as engine:
        previews = prepare(engine, choose(look(engine), BULK))
        folders.lay({"MEMORY.md": "an agent's\n"})
        with pytest.raises(MemtuiError):
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


def test_shortening_has_to_be_asked_for_by_its_name(folders: Folders) -> None:
    folders.lay({"MEMORY.md": entry("a.md", "word " * 50), "a.md": ""})
    with folders.engine() as engine:
        assert not choose(look(engine), TOGETHER)
        assert choose(look(engine), (LONG,))


def test_a_rebuilt_index_can_be_left_out_and_its_preview_says_what_will_happen(folders: Folders) -> None:
    folders.policies["notes"] = LINKS._replace(generated=("MEMORY.md",))
    folders.lay({"MEMORY.md": entry("gone.md")})
    with folders.engine() as engine:
        reports = look(engine)
        assert not choose(reports, BULK, rebuilt=False)
        (shown,) = prepare(engine, choose(reports, BULK))
        assert shown.notes == (REBUILT,)


def test_what_moves_over_the_cut_is_said(folders: Folders) -> None:
    folders.policies["notes"] = LINKS._replace(index_lines=2)
    folders.lay({"MEMORY.md": entry("a.md") + entry("gone.md") + entry("b.md"), "a.md": "", "b.md": ""})
    with folders.engine() as engine:
        (shown,) = prepare(engine, choose(look(engine), (DANGLING,)))
        assert shown.notes == ("The agent then loads the whole index.",)
    folders.lay({"c.md": "", "MEMORY.md": entry("a.md") + entry("b.md")})
    with folders.engine() as engine:
        (shown,) = prepare(engine, choose(look(engine), (UNNAMED,)))
        assert shown.notes == ("Then not loaded: c.md.", "Below the cut: 0 lines now, 1 line then.")


def test_a_line_that_goes_is_not_said_to_be_loaded(folders: Folders) -> None:
    folders.policies["notes"] = LINKS._replace(index_lines=2)
    lines = [entry(name) for name in ("a.md", "b.md", "gone.md", "c.md", "d.md")]
    folders.lay({"MEMORY.md": "".join(lines), **{f"{name}.md": "" for name in "abcd"}})
    with folders.engine() as engine:
        (shown,) = prepare(engine, choose(look(engine), (DANGLING,)))
        assert shown.notes == ("Below the cut: 3 lines now, 2 lines then.",)
