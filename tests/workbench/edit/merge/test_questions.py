"""Conflicts that are questions: deleted, renamed, only line ends, not saved; no answer loses a text."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot

from memtui.engine.model import Address
from memtui.errors import MemtuiError, RefusedError, StorageError
from memtui.workbench.edit.merge.questions import QuestionScreen
from memtui.workbench.edit.open_memory import FileState
from memtui.workbench.help import HelpScreen
from tests.workbench.edit.merge.stage import BASE, YOURS, closed, disk, kept, make, question_shown, shown_text, text_of
from tests.workbench.shown import Shown, shown
from tests.workbench.workbench import AGENT, Bench, address, until


async def draft(bench: Bench, pilot: Pilot[None]) -> None:
    bench.flow.open(address())
    await until(pilot, lambda: bench.flow.address == address())
    bench.editor.replace_text(YOURS)


@asynccontextmanager
async def asked(
    tmp_path: Path, ask: Callable[[Bench, Pilot[None]], Awaitable[QuestionScreen]]
) -> AsyncIterator[tuple[Bench, Pilot[None], QuestionScreen]]:
    bench = make(tmp_path)
    async with bench.run_test() as pilot:
        yield bench, pilot, await ask(bench, pilot)


async def gone(bench: Bench, pilot: Pilot[None]) -> QuestionScreen:
    await draft(bench, pilot)
    bench.engine.memories.delete([address()], actor=AGENT)
    bench.flow.check_disk()
    await until(pilot, lambda: bench.editor.state is FileState.GONE)
    await pilot.press("ctrl+s")
    await until(pilot, lambda: isinstance(bench.screen, QuestionScreen))
    assert isinstance(bench.screen, QuestionScreen)
    assert not bench.path("a.md").exists()
    return bench.screen


async def test_a_deleted_memory_can_be_kept(tmp_path: Path) -> None:
    async with asked(tmp_path, gone) as (bench, pilot, screen):
        assert "DELETED notes/a.md" in text_of(screen, "#case-header")
        assert "- one by me" in text_of(screen, "#case-text")
        when = bench.flow.when(bench.engine.history.audit(limit=1)[0].at)
        assert f"claude deleted it ({when}) while you had unsaved text in it." in text_of(screen, "#case-words")
        await pilot.press("enter")
        assert not bench.path("a.md").exists()
        await pilot.press("k")
        await until(pilot, lambda: bench.path("a.md").exists())
        assert disk(bench) == YOURS
        await until(pilot, lambda: bench.editor.state is FileState.CLEAN)
        assert kept(bench) >= {BASE, YOURS}


async def test_a_deletion_can_be_accepted_and_the_draft_is_in_history(tmp_path: Path) -> None:
    async with asked(tmp_path, gone) as (bench, pilot, _):
        await pilot.press("d")
        await until(pilot, lambda: bench.left == 1)
        await until(pilot, lambda: bench.engine.drafts.all() == ())
        assert not bench.path("a.md").exists()
        assert kept(bench) >= {BASE, YOURS}


async def test_a_deleted_memory_can_be_kept_under_another_name(tmp_path: Path) -> None:
    async with asked(tmp_path, gone) as (bench, pilot, _):
        await pilot.press("s")
        await pilot.press("ctrl+u", *"notes/b.md", "enter")
        await until(pilot, lambda: bench.path("b.md").exists())
        assert bench.path("b.md").read_bytes() == YOURS
        await until(pilot, lambda: bench.flow.address == address("b.md"))
        assert not bench.path("a.md").exists()
        assert kept(bench) >= {BASE, YOURS}


CRLF = YOURS.replace(b"\n", b"\r\n")


async def only_line_ends(bench: Bench, pilot: Pilot[None]) -> QuestionScreen:
    await draft(bench, pilot)
    bench.path("a.md").write_bytes(CRLF)
    bench.flow.check_disk()
    await until(pilot, lambda: bench.editor.state is FileState.CONFLICT)
    await pilot.press("f8")
    return await question_shown(bench, pilot, "line_ends")


@pytest.mark.parametrize(("key", "left"), [("y", YOURS), ("a", CRLF), ("escape", CRLF)])
async def test_only_line_ends_differ_is_a_question(tmp_path: Path, key: str, left: bytes) -> None:
    async with asked(tmp_path, only_line_ends) as (bench, pilot, screen):
        assert "ONLY LINE ENDS DIFFER notes/a.md" in text_of(screen, "#case-header")
        assert "YOURS  6 LF" in text_of(screen, "#case-words")
        assert "6 CRLF" in text_of(screen, "#case-words")
        await pilot.press("enter", "space", key)
        await closed(bench, pilot)
        await until(pilot, lambda: disk(bench) == left)
        assert kept(bench) >= {BASE, YOURS, CRLF}
        if key == "escape":
            assert bench.editor.data == YOURS
        else:
            await until(pilot, lambda: bench.engine.drafts.all() == ())
            assert bench.editor.data == left


async def test_the_question_about_a_deleted_memory_has_help_too(tmp_path: Path) -> None:
    async with asked(tmp_path, gone) as (bench, pilot, _):
        await pilot.press("s", "f1")
        await until(pilot, lambda: isinstance(bench.screen, HelpScreen))
        await until(pilot, lambda: "Write your text again" in shown_text(bench))
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(bench.screen, QuestionScreen))


async def renamed(bench: Bench, pilot: Pilot[None]) -> QuestionScreen:
    await draft(bench, pilot)
    bench.engine.memories.rename(address(), address("b.md"), actor=AGENT)
    bench.flow.check_disk()
    await until(pilot, lambda: bench.editor.state is FileState.MOVED)
    await pilot.press("f8")
    return await question_shown(bench, pilot, "moved")


async def test_a_renamed_memory_can_be_followed_with_the_draft(tmp_path: Path) -> None:
    async with asked(tmp_path, renamed) as (bench, pilot, screen):
        words = text_of(screen, "#case-words")
        assert "claude " in words
        assert "old name  notes/a.md\n new name  notes/b.md" in words
        await pilot.press("enter", "f")
        await until(pilot, lambda: bench.flow.address == address("b.md"))
        assert bench.editor.data == YOURS
        await pilot.press("ctrl+s")
        await until(pilot, lambda: bench.path("b.md").read_bytes() == YOURS)
        assert not bench.path("a.md").exists()


async def test_the_old_name_of_a_renamed_memory_can_be_kept_too(tmp_path: Path) -> None:
    async with asked(tmp_path, renamed) as (bench, pilot, _):
        await pilot.press("s")
        await closed(bench, pilot)
        await until(pilot, lambda: bench.path("a.md").exists())
        assert disk(bench) == YOURS
        assert bench.path("b.md").read_bytes() == BASE
        await until(pilot, lambda: bench.engine.drafts.all() == ())
        assert bench.editor.state is FileState.CLEAN


async def test_a_rename_can_be_decided_later(tmp_path: Path) -> None:
    async with asked(tmp_path, renamed) as (bench, pilot, _):
        await pilot.press("escape")
        await closed(bench, pilot)
        assert bench.editor.data == YOURS
        assert bench.editor.state is FileState.MOVED
        await until(pilot, lambda: len(bench.engine.drafts.all()) == 1)


async def not_saved(bench: Bench, pilot: Pilot[None], error: MemtuiError | None = None) -> QuestionScreen:
    """Type and save, with a disk that says no."""
    await draft(bench, pilot)
    save, failing = bench.engine.save, [error or FULL]

    def refused(*args: object, **options: object) -> object:
        if failing:
            raise failing.pop()
        return save(*args, **options)  # type: ignore[arg-type]

    bench.engine.save = refused  # type: ignore[method-assign,assignment]
    await pilot.press("ctrl+s")
    return await question_shown(bench, pilot, "unsaved")


FULL = StorageError(
    "Saving notes/a.md failed: no space left on device (12 kB free).",
    code="E_DISK_FULL",
    unharmed="The memory is as it was.",
    hint="Free some space and try again.",
)


async def test_a_full_disk_is_told_with_the_place_of_the_draft(tmp_path: Path) -> None:
    async with asked(tmp_path, not_saved) as (bench, pilot, screen):
        words = " ".join(text_of(screen, "#case-words").split())
        assert "no space left on device (12 kB free)" in words
        assert "Free some space and try again." in words
        assert f"keptasadraftin{bench.flow.options.settings.state_dir}" in words.replace(" ", "")
        assert disk(bench) == BASE
        assert [draft.text for draft in bench.engine.drafts.all()] == [YOURS.decode()]
        await pilot.press("enter", "r")
        await until(pilot, lambda: disk(bench) == YOURS)
        await closed(bench, pilot)


async def test_what_was_not_saved_can_be_saved_elsewhere(tmp_path: Path) -> None:
    async with asked(tmp_path, not_saved) as (bench, pilot, _):
        await pilot.press("s", "ctrl+u", *"notes/b.md", "enter")
        await until(pilot, lambda: bench.path("b.md").exists())
        assert bench.path("b.md").read_bytes() == YOURS
        assert disk(bench) == BASE
        await until(pilot, lambda: bench.flow.address == address("b.md"))


async def test_what_was_not_saved_can_be_copied(tmp_path: Path) -> None:
    async with asked(tmp_path, not_saved) as (bench, pilot, screen):
        await pilot.press("c")
        await until(pilot, lambda: "Copied your text" in text_of(screen, "#case-foot"))
        assert bench.clipboard == YOURS.decode()
        await pilot.press("escape")
        await closed(bench, pilot)
        assert bench.editor.data == YOURS
        assert bench.editor.state is FileState.DRAFT


async def test_a_draft_that_could_not_be_kept_either_is_told(tmp_path: Path) -> None:
    bench = make(tmp_path)
    async with bench.run_test() as pilot:

        def full(*_: object) -> None:
            raise FULL

        bench.engine.drafts.save = full  # type: ignore[method-assign,assignment]
        screen = await not_saved(bench, pilot)
        words = " ".join(text_of(screen, "#case-words").split())
        assert "could not be kept as a draft either: copy it, or save it elsewhere" in words


async def test_a_root_that_may_not_be_written_is_told(tmp_path: Path) -> None:
    bench = make(tmp_path)
    async with bench.run_test() as pilot:
        error = RefusedError("The root notes is read-only.", code="E_READ_ONLY")
        screen = await not_saved(bench, pilot, error)
        assert "The root notes is read-only." in text_of(screen, "#case-words")
        assert [draft.text for draft in bench.engine.drafts.all()] == [YOURS.decode()]


@pytest.mark.parametrize("noticed", [False, True], ids=["at the save", "before"])
async def test_a_folder_that_is_gone_is_no_deletion_and_is_not_made_anew(tmp_path: Path, noticed: bool) -> None:
    bench = make(tmp_path)
    root, moved = tmp_path / "root", tmp_path / "moved"
    async with bench.run_test() as pilot:
        await draft(bench, pilot)
        root.rename(moved)
        if noticed:
            bench.flow.check_disk()
            await until(pilot, lambda: bench.editor.state is FileState.GONE)
        await pilot.press("ctrl+s")
        screen = await question_shown(bench, pilot, "unsaved")
        assert "The folder of notes is gone" in text_of(screen, "#case-words")
        assert [draft.text for draft in bench.engine.drafts.all()] == [YOURS.decode()]
        await pilot.press("s", "enter")
        await until(pilot, lambda: "Not written" in text_of(screen, "#case-foot"))
        assert not root.exists()
        moved.rename(root)
        await pilot.press("r")
        await until(pilot, lambda: disk(bench) == YOURS)
        await until(pilot, lambda: bench.editor.state is FileState.CLEAN)


RETRY = Address.parse("memtui:project/decisions/retry.md")
THEIRS = "# Retry\n\n- five times\n- with jitter\n"


async def deleted(screen: Shown) -> None:
    """Delete a memory that an agent changed since it was listed."""
    await screen.go(str(RETRY))
    screen.stop_watching()
    screen.engine.agent(str(RETRY), THEIRS)
    await screen.press("d", "t")
    await screen.until(lambda: isinstance(screen.app.screen, QuestionScreen))


async def test_their_change_is_shown_and_nothing_is_deleted() -> None:
    async with shown() as screen:
        await deleted(screen)
        await screen.until_text(f"NOT DELETED {RETRY}")
        await screen.until_text("claude changed it since it was listed")
        await screen.until_text("+    3  - five times")
        await screen.until_text("-    3  - three times")
        await screen.press("enter", "space", "t")
        assert RETRY in screen.engine.data


async def test_it_stays_as_they_wrote_it() -> None:
    for key in ("k", "escape"):
        async with shown() as screen:
            await deleted(screen)
            await screen.press(key)
            await screen.until_text("stays as it was written by claude")
            assert screen.engine.data[RETRY] == THEIRS.encode()


async def test_it_goes_to_the_trash_once_their_change_was_seen() -> None:
    async with shown() as screen:
        await deleted(screen)
        await screen.press("d")
        await screen.until(lambda: RETRY not in screen.engine.data)
        await screen.until_text(f"{RETRY} moved to the trash; u brings it back.")


async def test_a_third_change_is_asked_about_again() -> None:
    async with shown() as screen:
        await deleted(screen)
        screen.engine.agent(str(RETRY), "third\n")
        await screen.press("d")
        await screen.until_text("+    1  third")
        assert screen.engine.data[RETRY] == b"third\n"


async def test_of_many_the_others_are_deleted() -> None:
    async with shown() as screen:
        await screen.go("memtui:project/decisions/auth.md")
        await screen.press("space", "space")
        screen.stop_watching()
        screen.engine.agent(str(RETRY), THEIRS)
        await screen.press("d", "t")
        await screen.until(lambda: isinstance(screen.app.screen, QuestionScreen))
        assert Address.parse("memtui:project/decisions/auth.md") not in screen.engine.data
        assert RETRY in screen.engine.data
