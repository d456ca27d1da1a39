"""The editor on real files: open, type, save, follow, merge, lose no text."""

from __future__ import annotations

import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual import events
from textual.pilot import Pilot

from memtui.engine.model import Address, Draft
from memtui.errors import StorageError
from memtui.ui.widgets.lines import Lines
from memtui.workbench.edit.editor import MemoryEditor
from memtui.workbench.edit.merge.conflict_screen import ConflictScreen
from memtui.workbench.edit.merge.questions import QuestionScreen
from memtui.workbench.edit.open_memory import WRITE_AFTER, FileState
from tests.terminal import Terminal
from tests.workbench.shown import resize, shown
from tests.workbench.workbench import AGENT, Bench, address, until


def make(tmp_path: Path, files: dict[str, bytes]) -> Bench:
    root = tmp_path / "root"
    root.mkdir()
    for name, data in files.items():
        (root / name).write_bytes(data)
    return Bench(tmp_path)


async def opened(bench: Bench, pilot: Pilot[None], name: str = "a.md") -> None:
    bench.flow.open(address(name))
    await until(pilot, lambda: bench.flow.address == address(name))


@asynccontextmanager
async def editing(
    tmp_path: Path, files: dict[str, bytes], name: str = "a.md", size: tuple[int, int] = (80, 24)
) -> AsyncIterator[tuple[Bench, Pilot[None]]]:
    """Open one of these files in the editor."""
    bench = make(tmp_path, files)
    async with bench.run_test(size=size) as pilot:
        await opened(bench, pilot, name)
        yield bench, pilot


async def both_save(bench: Bench, pilot: Pilot[None], data: bytes, state: FileState) -> None:
    """Type an x, and have another program write `data`."""
    await pilot.press("x")
    bench.path("a.md").write_bytes(data)
    bench.flow.check_disk()
    await until(pilot, lambda: bench.editor.state is state)


def said(bench: Bench) -> str:
    return bench.editor.query_one("#editor-said", Lines).text


def title(bench: Bench) -> str:
    return bench.editor.query_one("#editor-title", Lines).text


def texts(bench: Bench, where: Address) -> set[bytes]:
    """Every text history holds for a memory."""
    return {bench.engine.history.read(where, version.sha256) for version in bench.engine.history.of(where)}


@pytest.mark.parametrize("data", [b"one\ntwo\n", b"one\r\ntwo", b"\xef\xbb\xbfone\rtwo\r", b""])
async def test_opening_and_closing_changes_nothing(tmp_path: Path, data: bytes) -> None:
    bench = make(tmp_path, {"a.md": data})
    before = bench.path("a.md").stat()
    async with bench.run_test() as pilot:
        await opened(bench, pilot)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: said(bench) == " Nothing to save.")
        await pilot.press("escape")
        bench.flow.put_away()
        await pilot.pause()
    assert bench.path("a.md").read_bytes() == data
    assert bench.path("a.md").stat().st_mtime_ns == before.st_mtime_ns
    assert bench.engine.drafts.all() == ()


@pytest.mark.parametrize(
    ("data", "after"),
    [
        (b"one\ntwo\n", b"xone\ntwo\n"),
        (b"one\r\ntwo", b"xone\r\ntwo"),
        (b"\xef\xbb\xbfone\rtwo\r", b"\xef\xbb\xbfxone\rtwo\r"),
        (b"", b"x\n"),
    ],
)
async def test_a_save_keeps_line_ends_mark_and_final_newline(tmp_path: Path, data: bytes, after: bytes) -> None:
    async with editing(tmp_path, {"a.md": data}) as (bench, pilot):
        await pilot.press("x")
        await until(pilot, lambda: bench.editor.state is FileState.DRAFT)
        assert "~ draft, not saved" in title(bench)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: bench.path("a.md").read_bytes() == after)
        await until(pilot, lambda: bench.editor.state is FileState.CLEAN)
        assert said(bench).startswith(" Saved, ")
        await until(pilot, lambda: bench.engine.drafts.all() == ())
    assert texts(bench, address()) == {data, after}


async def test_a_draft_is_on_disk_within_a_second_and_goes_with_the_save(tmp_path: Path) -> None:
    async with editing(tmp_path, {"a.md": b"one\n"}) as (bench, pilot):
        await pilot.press("x", "y")
        assert WRITE_AFTER < 1
        await until(pilot, lambda: any(d.text == "xyone\n" for d in bench.engine.drafts.all()))
        await pilot.press("ctrl+s")
        await until(pilot, lambda: bench.engine.drafts.all() == ())
    assert texts(bench, address()) == {b"one\n", b"xyone\n"}


async def test_undoing_everything_takes_the_draft_away(tmp_path: Path) -> None:
    async with editing(tmp_path, {"a.md": b"one\n"}) as (bench, pilot):
        await pilot.press("x")
        await until(pilot, lambda: bool(bench.engine.drafts.all()))
        await pilot.press("ctrl+z")
        await until(pilot, lambda: bench.engine.drafts.all() == ())
        assert bench.editor.state is FileState.CLEAN


async def test_a_clean_text_follows_the_disk_and_keeps_the_cursor(tmp_path: Path) -> None:
    async with editing(tmp_path, {"a.md": b"".join(b"line %d\n" % n for n in range(60))}) as (bench, pilot):
        bench.editor.text_area.move_cursor((30, 3))
        await pilot.pause()
        row = bench.editor.text_area.cursor_screen_offset.y
        text = "new\nlines\n" + bench.path("a.md").read_text()
        bench.path("a.md").write_text(text)
        bench.flow.rows_changed([address()])
        await until(pilot, lambda: bench.editor.text_area.text == text)
        assert bench.editor.text_area.cursor_location == (32, 3)
        assert bench.editor.text_area.cursor_screen_offset.y == row
        assert bench.editor.text_area.marks == {0: "A", 1: "A"}
        assert bench.editor.state is FileState.FOLLOW
        assert "A saved outside memtui, shown here" in title(bench)
        await pilot.press("right")
        await until(pilot, lambda: bench.editor.state is FileState.CLEAN)
        assert bench.editor.text_area.marks == {}


async def test_edits_that_do_not_overlap_are_merged_shown_and_then_written(tmp_path: Path) -> None:
    async with editing(tmp_path, {"a.md": b"one\ntwo\nthree\n"}) as (bench, pilot):
        await both_save(bench, pilot, b"one\ntwo\nTHREE\n", FileState.MERGEABLE)
        assert "~A saved outside memtui: 1 hunk, no overlap  f8" in title(bench)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: said(bench).startswith(" Merged +1 -1 saved outside memtui; ctrl+s again writes it"))
        assert bench.editor.text_area.text == "xone\ntwo\nTHREE\n"
        assert bench.path("a.md").read_bytes() == b"one\ntwo\nTHREE\n"
        await pilot.press("ctrl+s")
        await until(pilot, lambda: bench.path("a.md").read_bytes() == b"xone\ntwo\nTHREE\n")
    assert texts(bench, address()) >= {b"one\ntwo\nthree\n", b"one\ntwo\nTHREE\n", b"xone\ntwo\nTHREE\n"}


async def test_undoing_a_merge_never_makes_theirs_look_like_the_base(tmp_path: Path) -> None:
    async with editing(tmp_path, {"a.md": b"one\ntwo\nthree\n"}) as (bench, pilot):
        await both_save(bench, pilot, b"one\ntwo\nTHREE\n", FileState.MERGEABLE)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: bench.editor.text_area.text == "xone\ntwo\nTHREE\n")
        await pilot.press("ctrl+z")
        await until(pilot, lambda: bench.editor.state is FileState.MERGEABLE)
        assert bench.editor.text_area.text == "xone\ntwo\nthree\n"


async def test_a_save_that_loses_a_race_nobody_saw_writes_nothing(tmp_path: Path) -> None:
    async with editing(tmp_path, {"a.md": b"one\ntwo\nthree\n"}) as (bench, pilot):
        await pilot.press("x")
        bench.path("a.md").write_bytes(b"ONE\ntwo\nthree\n")
        await pilot.press("ctrl+s")
        await until(pilot, lambda: isinstance(bench.screen, ConflictScreen))
        assert bench.path("a.md").read_bytes() == b"ONE\ntwo\nthree\n"
        assert texts(bench, address()) >= {b"xone\ntwo\nthree\n", b"ONE\ntwo\nthree\n"}


async def test_somebody_else_saving_the_same_text_ends_the_draft(tmp_path: Path) -> None:
    async with editing(tmp_path, {"a.md": b"one\n"}) as (bench, pilot):
        await both_save(bench, pilot, b"xone\n", FileState.CLEAN)
        assert not bench.editor.dirty


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"a\r\nb\n", "mixed line ends"),
        (b"a\x0cb\n", "a form feed in line 1"),
        (b"caf\xe9\n", "not UTF-8 at byte 3"),
        (b"\x1b]52;c;aGk=\x07 hi\n", "hidden or control characters in line 1"),
        (b"x" * 300_000, "over the 262,144 that can be edited here"),
    ],
)
async def test_what_cannot_be_edited_is_read_only_and_says_why(tmp_path: Path, data: bytes, reason: str) -> None:
    async with editing(tmp_path, {"a.md": data}, size=(160, 40)) as (bench, pilot):
        assert bench.editor.state is FileState.RAW
        assert reason in title(bench)
        await pilot.press("x", "ctrl+s")
        await until(pilot, lambda: "Read-only here" in said(bench))
    assert bench.path("a.md").read_bytes() == data


async def test_a_new_memory_is_written_by_its_first_save(tmp_path: Path) -> None:
    async with editing(tmp_path, {}, "new.md") as (bench, pilot):
        assert "new memory, nothing written yet" in title(bench)
        assert not bench.path("new.md").exists()
        await pilot.press("h", "i", "ctrl+s")
        await until(pilot, lambda: bench.path("new.md").exists())
        assert bench.path("new.md").read_bytes() == b"hi\n"
        await until(pilot, lambda: bench.editor.state is FileState.CLEAN)


async def test_read_only_says_so_and_writes_nothing(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "a.md").write_bytes(b"one\n")
    bench = Bench(tmp_path, read_only=True)
    async with bench.run_test() as pilot:
        await opened(bench, pilot)
        assert "memtui was started with --read-only" in title(bench)
        await pilot.press("x", "ctrl+s", "f4", "f9")
        await pilot.pause()
    assert bench.path("a.md").read_bytes() == b"one\n"


async def test_the_name_of_a_proven_writer_is_shown(tmp_path: Path) -> None:
    async with editing(tmp_path, {"a.md": b"one\n"}) as (bench, pilot):
        await pilot.press("x")
        sha = bench.engine.read(address()).sha256
        bench.engine.save(address(), b"two\n", expected_sha256=sha, actor=AGENT)
        bench.flow.check_disk()
        await until(pilot, lambda: "! claude saved: 1 hunk, 1 overlap" in title(bench))


async def test_a_look_that_another_look_overtakes_still_goes_on(tmp_path: Path) -> None:
    async with editing(tmp_path, {"a.md": b"one\n"}) as (bench, pilot):
        gone_on: list[str] = []
        bench.flow.check_disk(lambda: gone_on.append("first"))
        bench.flow.check_disk()
        bench.flow.check_disk(lambda: gone_on.append("third"))
        bench.flow.rows_changed(None)
        await until(pilot, lambda: gone_on == ["first", "third"])


async def test_a_moved_memory_is_followed(tmp_path: Path) -> None:
    async with editing(tmp_path, {"a.md": b"one\n"}) as (bench, pilot):
        await pilot.press("x")
        bench.engine.watch.reconcile()
        bench.path("a.md").rename(bench.path("b.md"))
        bench.engine.watch.reconcile()
        bench.flow.check_disk()
        await until(pilot, lambda: bench.editor.state is FileState.MOVED)
        await pilot.press("f8")
        await until(pilot, lambda: isinstance(bench.screen, QuestionScreen))
        await pilot.press("f")
        await until(pilot, lambda: bench.flow.address == address("b.md"))
        await pilot.press("ctrl+s")
        await until(pilot, lambda: bench.path("b.md").read_bytes() == b"xone\n")
    assert not bench.path("a.md").exists()


@pytest.mark.parametrize("by", ["another program", "another memtui"])
async def test_a_deleted_memory_was_not_moved_into_a_file_that_was_there_before(tmp_path: Path, by: str) -> None:
    bench = make(tmp_path, {"a.md": b"one\n", "c.md": b"one\n"})
    async with bench.run_test() as pilot:
        bench.engine.watch.reconcile()
        await opened(bench, pilot)
        await pilot.press("x")
        if by == "another program":
            bench.path("a.md").unlink()
        else:
            bench.engine.memories.delete([address()], actor=AGENT)
        bench.flow.check_disk()
        await until(pilot, lambda: bench.editor.state is FileState.GONE)
        assert bench.flow.address == address()
    assert bench.path("c.md").read_bytes() == b"one\n"


async def test_a_memory_that_was_moved_twice_is_followed_to_its_last_name(tmp_path: Path) -> None:
    async with editing(tmp_path, {"a.md": b"one\n"}) as (bench, pilot):
        bench.engine.memories.rename(address(), address("b.md"), actor=AGENT)
        bench.engine.memories.rename(address("b.md"), address("c.md"), actor=AGENT)
        bench.flow.check_disk()
        assert bench.editor.subject is not None
        await until(pilot, lambda: bench.editor.state is FileState.MOVED)
        assert bench.editor.subject.disk.moved_to == address("c.md")


async def test_leaving_keeps_the_draft_and_coming_back_restores_it(tmp_path: Path) -> None:
    async with editing(tmp_path, {"a.md": b"one\n", "b.md": b"two\n"}) as (bench, pilot):
        await pilot.press("x", "escape")
        await until(pilot, lambda: bench.left == 1)
        await opened(bench, pilot, "b.md")
        await until(pilot, lambda: len(bench.engine.drafts.all()) == 1)
        await opened(bench, pilot)
        await until(pilot, lambda: bench.editor.text_area.text == "xone\n")
        assert bench.editor.state is FileState.DRAFT


async def test_letters_never_overtake_a_key_that_moves(tmp_path: Path) -> None:
    async with editing(tmp_path, {"a.md": b"one\ntwo\n"}) as (bench, pilot):
        for key, character in (("down", None), ("end", None), ("x", "x"), ("home", None), ("y", "y")):
            bench.editor.text_area.post_message(events.Key(key, character))
        await until(pilot, lambda: bench.editor.text_area.text == "one\nytwox\n")


async def test_f2_renames_and_the_draft_goes_with_it(tmp_path: Path) -> None:
    async with editing(tmp_path, {"a.md": b"one\n"}) as (bench, pilot):
        await pilot.press("x", "f2")
        await until(pilot, lambda: bench.focused is not bench.editor.text_area and bench.focused is not None)
        await pilot.press("2", "enter")
        await until(pilot, lambda: bench.path("a2.md").exists())
        await until(pilot, lambda: bench.flow.address == address("a2.md"))
        assert not bench.path("a.md").exists()
        assert bench.path("a2.md").read_bytes() == b"one\n"
        assert bench.editor.text_area.text == "xone\n"
        await until(pilot, lambda: [d.address for d in bench.engine.drafts.all()] == [address("a2.md")])
        await pilot.press("ctrl+s")
        await until(pilot, lambda: bench.path("a2.md").read_bytes() == b"xone\n")


@pytest.mark.parametrize("size", [(1, 1), (3, 2), (20, 5), (200, 60)])
async def test_any_size_is_survived(tmp_path: Path, size: tuple[int, int]) -> None:
    async with editing(tmp_path, {"a.md": b"one two three four\n" * 50}, size=(80, 24)) as (bench, pilot):
        await resize(pilot, *size)
        await pilot.press("x", "ctrl+f", "o", "escape")
        bench.path("a.md").write_bytes(b"other\n")
        bench.flow.check_disk()
        await until(pilot, lambda: bench.editor.state is FileState.CONFLICT)
        await resize(pilot, 80, 24)
        await until(pilot, lambda: "! saved outside memtui" in title(bench))


async def test_a_draft_that_cannot_be_kept_keeps_the_text_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with editing(tmp_path, {"a.md": b"one\n", "b.md": b"two\n"}) as (bench, pilot):

        def refuse(_: Draft) -> None:
            raise StorageError("No space left.", code="E_DISK_FULL")

        monkeypatch.setattr(bench.engine.drafts, "save", refuse)
        await pilot.press("x", "escape")
        await until(pilot, lambda: "Your draft could not be kept" in said(bench))
        assert bench.left == 0
        bench.flow.open(address("b.md"))
        await until(pilot, lambda: "E_DISK_FULL" in said(bench))
        assert bench.editor.text_area.text == "xone\n"
        assert not bench.flow.put_away()
        monkeypatch.undo()
        await pilot.press("escape")
        await until(pilot, lambda: bench.left == 1)
        assert [draft.text for draft in bench.engine.drafts.all()] == ["xone\n"]


async def test_what_is_typed_while_a_save_runs_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with editing(tmp_path, {"a.md": b"one\n"}) as (bench, pilot):
        go_on = threading.Event()
        save = bench.engine.save

        def slow(*args: Any, **options: Any) -> object:
            assert go_on.wait(100)
            return save(*args, **options)

        monkeypatch.setattr(bench.engine, "save", slow)
        await pilot.press("x", "ctrl+s", "y")
        await until(pilot, lambda: any(draft.text == "xyone\n" for draft in bench.engine.drafts.all()))
        go_on.set()
        await until(pilot, lambda: bench.path("a.md").read_bytes() == b"xone\n")
        await until(pilot, lambda: bench.editor.state is FileState.DRAFT)
        await until(pilot, lambda: [draft.text for draft in bench.engine.drafts.all()] == ["xyone\n"])
        draft = bench.engine.drafts.all()[0]
        assert draft.base_sha256 == bench.engine.read(address()).sha256


async def test_redoing_a_saved_merge_is_clean_again(tmp_path: Path) -> None:
    async with editing(tmp_path, {"a.md": b"one\ntwo\nthree\n"}) as (bench, pilot):
        await both_save(bench, pilot, b"one\ntwo\nTHREE\n", FileState.MERGEABLE)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: said(bench).startswith(" Merged"))
        await pilot.press("ctrl+s")
        await until(pilot, lambda: bench.editor.state is FileState.CLEAN)
        await pilot.press("ctrl+z")
        await until(pilot, lambda: bench.editor.state is FileState.MERGEABLE)
        assert bench.editor.text_area.text == "xone\ntwo\nthree\n"
        await pilot.press("ctrl+y")
        await until(pilot, lambda: bench.editor.state is FileState.CLEAN)
        assert bench.path("a.md").read_bytes() == b"xone\ntwo\nTHREE\n"


async def test_what_cannot_be_read_says_why_in_its_place(tmp_path: Path) -> None:
    async with editing(tmp_path, {"a.md": b"x" * 1_048_577}, size=(160, 24)) as (bench, pilot):
        assert bench.editor.state is FileState.RAW
        assert "1,048,577 bytes" in title(bench)
        assert "E_TOO_BIG" in said(bench)
        await pilot.press("x", "ctrl+s", "f4", "f9", "escape")
        await until(pilot, lambda: bench.left == 1)


async def test_a_saved_text_that_is_too_large_here_is_read_only(tmp_path: Path) -> None:
    async with editing(tmp_path, {"a.md": b"one\n"}) as (bench, pilot):
        assert bench.editor.replace_text(b"one\n" + b"x" * 9_000 + b"\n")
        area = bench.editor.text_area
        area.insert("x" * 9_000, (1, 0))
        await pilot.press("ctrl+s")
        await until(pilot, lambda: len(bench.path("a.md").read_bytes()) > 18_000)
        await until(pilot, lambda: bench.editor.state is FileState.RAW)
        shown = area.text
        await pilot.press("ctrl+z")
        assert area.text == shown
        assert area.read_only


async def test_the_title_tells_of_another_save_without_moving_anything(tmp_path: Path) -> None:
    async with editing(tmp_path, {"a.md": b"one\ntwo\nthree\n"}) as (bench, pilot):
        await pilot.press("x")
        bench.path("a.md").write_bytes(b"ONE\ntwo\nTHREE\n")
        bench.flow.rows_changed(None)
        await until(pilot, lambda: "! saved outside memtui: 2 hunks, 1 overlap  f8" in title(bench))
        assert bench.editor.text_area.has_focus
        assert bench.editor.text_area.cursor_location == (0, 1)
        assert bench.editor.text_area.marks == {0: "!", 2: "A"}


async def test_hostile_text_is_drawn_as_tokens_and_markup_is_text(tmp_path: Path) -> None:
    data = b"\x1b]52;c;aGk=\x07 [red]x[/] [@click=app.quit]y\n"
    async with editing(tmp_path, {"a.md": data}, size=(160, 40)) as (bench, _pilot):
        strips = "".join(segment.text for y in range(3) for segment in bench.editor.text_area.render_line(y))
        assert "␛]52;c;aGk=␇ [red]x[/] [@click=app.quit]y" in strips
        assert "\x1b" not in strips


async def test_a_paste_is_cleaned_and_capped_and_that_is_said(tmp_path: Path) -> None:
    async with editing(tmp_path, {"a.md": b"one\n"}) as (bench, pilot):
        bench.editor.text_area.post_message(events.Paste("\x1b[31mred\r\n" + "y" * 1_000_000))
        await until(pilot, lambda: bench.editor.dirty)
        assert bench.editor.text_area.text.startswith("[31mred\ny")
        assert len(bench.editor.data) <= 262_144
        await until(pilot, lambda: "characters of the paste were left out" in said(bench))


TODO = "memtui:workspace/todo.md"


async def test_leaving_counts_as_having_looked() -> None:
    async with shown(size=(80, 24)) as screen:
        screen.engine.outside(TODO, "other words\n")
        await screen.until(lambda: bool(screen.engine.unseen))
        await screen.go(TODO)
        await screen.press("enter")
        await screen.until(lambda: screen.browser.editing)
        await screen.press("escape")
        await screen.until(lambda: not screen.browser.editing)
        await screen.until(lambda: not screen.engine.unseen)


async def test_a_text_that_asked_for_the_keyboard_before_it_was_left_does_not_get_it() -> None:
    async with shown(size=(120, 40)) as screen:
        await screen.go(TODO)
        await screen.press("enter")
        await screen.until(lambda: screen.browser.editing)
        screen.browser.query_one(MemoryEditor).text_area.focus()
        screen.browser.host.leave()
        await screen.press("j")
        assert screen.browser.focused is screen.browser.memories


HOSTILE = (
    b"\x1b]52;c;aGVsbG8=\x07 \x1b]0;evil title\x07 \x1b[2J\x1b[31mred \x1bPq#1\x1b\\ \x1b_Gf=100\x1b\\"
    b" \xc2\x9b31m \xc2\x9d0;x\xc2\x9c"
    b" \x1b]8;;http://evil.example\x07link\x1b]8;;\x07 [@click=app.quit]x[/] [/] [red \x1b[?1003h \x1bc \x08\x0b\x7f"
    b" \xe2\x80\xae rtl \xf3\xa0\x81\xa1 tag\n"
)
FORBIDDEN = (
    b"\x1b]52;", b"\x1b]0;evil", b"\x1bPq#1", b"\x1b_Gf", b"\xc2\x9b", b"\xc2\x9d", b"\x1b]8;", b"\x1bc", b"\x08",
    b"\x0b", b"\xe2\x80\xae", b"\xf3\xa0\x81\xa1",
)  # fmt: skip


def check(terminal: Terminal) -> None:
    for sequence in FORBIDDEN:
        assert sequence not in terminal.raw, sequence


def start(tmp_path: Path, text: bytes) -> Terminal:
    root = tmp_path / "root"
    root.mkdir()
    (root / "note.md").write_bytes(text)
    command = [sys.executable, "-m", "memtui", "--only-root", "--root", f"notes={root}"]
    return Terminal(command, columns=160, rows=40)


def enter_note(terminal: Terminal) -> None:
    """Go to the memory and press enter, each key after the one before was taken."""
    terminal.wait_for("note.md")
    terminal.press("/")
    terminal.wait_for(lambda t: t.text.rstrip().split("\n")[-1].strip().startswith("/"))
    terminal.type("note")
    terminal.wait_for("/ note")
    terminal.press("enter")
    terminal.wait_for("enter edit")
    terminal.press("enter")


def open_note(terminal: Terminal) -> None:
    enter_note(terminal)
    terminal.wait_for(lambda t: ">note.md" in t.text or ">notes/note.md" in t.text)
    terminal.wait_for("ctrl+s save")


def test_a_hostile_memory_is_shown_as_tokens(tmp_path: Path) -> None:
    with start(tmp_path, HOSTILE + b"plain\n") as terminal:
        open_note(terminal)
        terminal.wait_for("raw, read-only")
        terminal.wait_for("␛]52;c;aGVsbG8=␇")
        terminal.press("ctrl+f")
        terminal.type("evil")
        terminal.settle()
        check(terminal)


def test_a_hostile_writer_in_a_conflict_is_shown_as_tokens(tmp_path: Path) -> None:
    with start(tmp_path, b"one\ntwo\n") as terminal:
        open_note(terminal)
        terminal.wait_for("1  one")
        terminal.type("mine ")
        terminal.wait_for("mine one")
        (tmp_path / "root" / "note.md").write_bytes(HOSTILE + b"two\n")
        terminal.wait_for("! saved outside memtui")
        terminal.press("f8")
        terminal.wait_for("CONFLICT")
        terminal.wait_for("␛]52;c;aGVsbG8=␇")
        terminal.press("b")
        terminal.settle()
        terminal.press("e", "a", "ctrl+s")
        terminal.wait_for("CONFLICT")
        terminal.settle()
        check(terminal)
        assert (tmp_path / "root" / "note.md").read_bytes() == HOSTILE + b"two\n"


def test_a_hostile_paste_is_cleaned(tmp_path: Path) -> None:
    with start(tmp_path, b"one\n") as terminal:
        open_note(terminal)
        terminal.wait_for("1  one")
        terminal.type(b"\x1b[200~" + HOSTILE.replace(b"\x1b[201~", b"") + b"\x1b[201~")
        terminal.wait_for("characters of the paste were left out")
        terminal.settle()
        check(terminal)
