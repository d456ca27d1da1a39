"""Keys typed ahead: for what opens and never for what lies below, in order, and never held for ever."""

from __future__ import annotations

import errno
import hashlib
import threading
from time import monotonic

import apsw
import pytest
from textual import events

from memtui.engine.model import Address, Draft
from memtui.errors import StorageError
from memtui.features.search.view import SearchView
from memtui.ui.keys import fence
from memtui.workbench import bridge
from memtui.workbench.browse import operations
from memtui.workbench.edit.form_screen import FormScreen
from memtui.workbench.edit.merge.questions import QuestionScreen, not_saved
from tests.workbench.memories import failing, stalled
from tests.workbench.shown import Shown, shown

NAME = "memtui:project/notes.md"


def deleted(screen: Shown) -> bool:
    return len(screen.engine.data) != 7


def click(screen: Shown) -> None:
    """Click on the third row of the tree, through the terminal."""
    x, y = (at + by for at, by in zip(screen.browser.memories.region.offset, (5, 3), strict=True))
    for kind in (events.MouseDown, events.MouseUp):
        pressed = kind(None, x, y, 0, 0, 1, shift=False, meta=False, ctrl=False, screen_x=x, screen_y=y)
        screen.app.post_message(pressed)


def top_form(screen: Shown) -> FormScreen | None:
    return screen.app.screen if isinstance(screen.app.screen, FormScreen) else None


def editor_text(screen: Shown) -> str:
    editing = screen.browser.host.editing
    return editing.editor.text_area.text if editing is not None else ""


async def test_letters_after_f9_go_into_the_form_although_it_is_slow_to_come() -> None:
    async with shown() as screen:
        await screen.go(NAME)
        with stalled("open_file"):
            screen.burst("f9", "d", "t")
            await screen.until(lambda: len(screen.app.fence.waiting) == 2)
            await screen.until_text("reading ...")
            assert top_form(screen) is not None
        await screen.until(lambda: screen.settled)
        form = top_form(screen)
        assert form is not None
        assert form.typed["description"] == "dt"
        assert not deleted(screen)


async def test_letters_after_enter_go_into_the_text_although_it_is_slow_to_come() -> None:
    for key in ("enter", "e"):
        async with shown() as screen:
            await screen.go(NAME)
            with stalled("open_file"):
                screen.burst(key, "d", " ", "t")
                await screen.until(lambda: len(screen.app.fence.waiting) == 3)
            await screen.until(lambda: editor_text(screen) == "d tNotes.\n")
            assert not deleted(screen)
            await screen.press("escape")


async def test_a_stalled_engine_holds_keys_until_escape_and_nothing_comes_up_later() -> None:
    async with shown() as screen:
        await screen.go(NAME)
        with stalled("open_file"):
            screen.burst("f9", "d", "t")
            await screen.until(lambda: len(screen.app.fence.waiting) == 2)
            screen.burst("escape")
            await screen.until_text(f"Stopped reading {NAME}; the 2 keys you typed were ignored.")
            assert not screen.app.fence.waiting
            await screen.press("j")
            assert screen.here != NAME
        await screen.pilot.pause()
        assert top_form(screen) is None
        assert not deleted(screen)


async def test_a_stalled_editor_is_left_with_escape_and_does_not_come_back() -> None:
    async with shown() as screen:
        await screen.go(NAME)
        with stalled("open_file"):
            screen.burst("e", "x")
            await screen.until(lambda: len(screen.app.fence.waiting) == 1)
            screen.burst("escape")
            await screen.until(lambda: not screen.browser.editing)
        await screen.pilot.pause()
        assert screen.browser.focused is screen.browser.memories
        await screen.press("j")
        assert screen.here != NAME


async def test_ctrl_q_ends_the_program_although_the_engine_is_stalled() -> None:
    async with shown() as screen:
        await screen.go(NAME)
        with stalled("open_file"):
            screen.burst("f9", "d", "t", "ctrl+q")
            await screen.until(lambda: screen.app._exit)
        assert not deleted(screen)


async def test_who_waits_is_told_for_what(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fence, "REMIND_AFTER", 0.02)
    async with shown() as screen:
        await screen.go(NAME)
        with stalled("open_file"):
            screen.burst("f9", "d")
            await screen.until_text("Your keys wait; esc drops them. memtui is reading memtui:project/notes.md.")


async def test_keys_that_waited_too_long_are_dropped_and_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fence, "REMIND_AFTER", 0.02)
    monkeypatch.setattr(fence, "HOLD_LIMIT", 1.0)
    async with shown() as screen:
        await screen.go(NAME)
        with stalled("open_file"):
            screen.burst("f9", "d", "t")
            await screen.until_text(f"Still reading {NAME}; the 2 keys you typed were ignored.")
        await screen.until(lambda: top_form(screen) is not None)
        form = top_form(screen)
        assert form is not None
        assert form.typed["description"] == ""


async def test_keys_that_wait_for_rows_wait_for_the_reading_that_replaces_theirs() -> None:
    async with shown() as screen:
        jobs, order = screen.app.bridge, list[str]()
        first, second = threading.Event(), threading.Event()
        await screen.go(NAME)
        jobs.run(lambda _: first.wait(60), what="read the rows", latest="rows", awaited=True)
        screen.burst("j")
        await screen.until(lambda: len(screen.app.fence.waiting) == 1)
        jobs.run(lambda _: second.wait(60), what="read the rows", latest="rows", lane="another")
        jobs.run(lambda _: None, lambda _: order.append("after the first"), what="look")
        first.set()
        await screen.until(lambda: bool(order))
        await screen.pilot.pause()
        assert screen.here == NAME
        second.set()
        await screen.until(lambda: screen.here != NAME)


@pytest.mark.parametrize("key", ["f9", "e", "H", "c", "f4"])
async def test_what_is_refused_takes_the_keys_typed_for_it(key: str) -> None:
    async with shown() as screen:
        screen.browser.memories.go(0)
        await screen.pilot.pause()
        node = screen.browser.memories.current
        assert node is not None
        assert node.memory is None
        screen.burst(key, "d", "t")
        await screen.until_text("The keys that were typed for it were ignored")
        await screen.until(lambda: screen.settled)
        assert not deleted(screen)
        assert not screen.browser.sequences.pending


async def test_a_question_about_a_draft_is_not_answered_by_keys_typed_before_it() -> None:
    async with shown() as screen:
        address = Address.parse(NAME)
        old = screen.app.bridge.started - 60_000
        data = screen.engine.data[address]
        mine = Draft(address, hashlib.sha256(data).hexdigest(), "typed in another life\n", (0, 0), old, data)
        screen.engine.engine.drafts.save(mine)
        await screen.go(NAME)
        screen.burst("e", "d", "t")
        await screen.until(lambda: screen.browser.host.asking)
        await screen.until_text("Keys typed before this question was there were ignored")
        await screen.until(lambda: screen.settled)
        assert address in screen.engine.drafts
        assert "save" not in screen.footer
        for key in ("j", "ctrl+s", "f8"):
            await screen.press(key)
            await screen.until_text("The draft waits for one of these keys; ? explains all")
            await screen.press("d", "escape")
            await screen.until(lambda: "The draft waits" not in screen.text)
        await screen.press("question_mark")
        await screen.until(lambda: screen.app.screen is not screen.browser)
        await screen.press("escape")
        await screen.until(lambda: screen.app.screen is screen.browser)
        await screen.press("r")
        await screen.until(lambda: editor_text(screen) == "typed in another life\n")


async def test_the_first_key_answers_a_question_that_no_key_brought_up() -> None:
    async with shown() as screen:
        answered: list[str] = []
        answers = {"try_again": lambda: answered.append("again")}
        question = not_saved(NAME, StorageError("It is full."), "", answers, lambda: None)
        asked, keys = QuestionScreen(question), screen.app.fence
        screen.app.push_screen(asked)
        await screen.until_text("NOT SAVED")
        await screen.until(lambda: keys._ready is asked and monotonic() > keys._quiet_until)
        await screen.press("r")
        await screen.until(lambda: answered == ["again"])


async def test_what_fails_takes_the_keys_typed_for_it() -> None:
    async with shown() as screen:
        await screen.go(NAME)
        with failing(errno.EIO, "open_file", of="notes.md"):
            screen.burst("f9", "d", "t")
            words = "The keys that were typed for it were ignored"
            await screen.until(lambda: any(words in text for _, text in screen.browser.chrome.said))
        assert "Could not" in screen.text
        assert not deleted(screen)


async def test_a_key_typed_just_after_a_refusal_is_ignored_and_a_later_one_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fence, "AFTER_REFUSAL", 100.0)  # until the next key is one that was typed later
    async with shown() as screen:
        screen.browser.memories.go(0)
        await screen.pilot.pause()
        screen.burst("f9")
        await screen.until_text("put the cursor on a memory first")
        await screen.until(lambda: screen.settled)
        screen.burst("p")
        await screen.until_text("The keys that were typed for it were ignored")
        assert not screen.engine.steps()
        await screen.go(NAME)
        await screen.press("p")
        await screen.until_text("pinned")


async def test_a_key_typed_after_a_refusal_was_read_is_given_although_rows_are_still_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fence, "AFTER_REFUSAL", 0.0)
    async with shown() as screen:
        await screen.press("j")
        here, hold = screen.here, screen.app.bridge.hold("read the rows")
        screen.browser.say("It was not restored.", "warning")
        screen.burst("j")
        await screen.until(lambda: len(screen.app.fence.waiting) == 1)
        hold.end()
        await screen.until(lambda: screen.here != here)
        assert "ignored" not in screen.text


async def test_a_slow_write_holds_moving_only_for_a_moment() -> None:
    async with shown() as screen:
        await screen.go(NAME)
        ledger = apsw.Connection(str(screen.engine.state / "state.db"))
        ledger.execute("BEGIN IMMEDIATE")
        screen.burst("p")
        await screen.pilot.pause()
        screen.burst("j")
        await screen.until(lambda: screen.here != NAME)
        assert "pinned." not in screen.text
        ledger.execute("ROLLBACK")
        await screen.until_text("pinned.")


async def test_two_quick_deletions_take_two_memories(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (fence, bridge, operations):
        monkeypatch.setattr(module, "BRIEF_HOLD", 9.0)  # however long this machine takes to delete the first
    async with shown() as screen:
        await screen.go("memtui:project/decisions/auth.md")
        screen.burst("d", "t")
        screen.burst("d", "t")
        gone = {"memtui:project/decisions/auth.md", "memtui:project/decisions/retry.md"}
        await screen.until(lambda: not gone & {str(address) for address in screen.engine.rows})


async def test_keys_that_come_with_a_paste_are_ignored() -> None:
    async with shown() as screen:
        await screen.go(NAME)
        screen.app.post_message(events.Paste("harmless"))
        screen.burst("d", "t", "ctrl+q")
        await screen.until_text("Keys that came with a paste were ignored")
        assert not deleted(screen)
        assert not screen.app._exit


async def test_a_click_that_comes_with_a_paste_is_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fence, "AFTER_PASTE", 60.0)
    async with shown() as screen:
        here = screen.here
        screen.app.post_message(events.Paste("harmless"))
        click(screen)
        await screen.pilot.pause()
        assert screen.here == here
        screen.forget_haste()
        click(screen)
        await screen.until(lambda: screen.here != here)


async def test_a_letter_and_a_paste_after_it_go_into_what_the_letter_opens() -> None:
    async with shown() as screen:
        await screen.go(NAME)
        screen.burst("e")
        screen.app.post_message(events.Paste("pasted "))
        await screen.until(lambda: editor_text(screen) == "pasted Notes.\n")


async def test_a_paste_after_an_opening_key_goes_into_what_opens() -> None:
    async with shown() as screen:
        screen.burst("ctrl+f")
        screen.app.post_message(events.Paste("with\njit\x1bter"))
        await screen.until(lambda: isinstance(screen.app.screen, SearchView) and screen.settled)
        here = screen.app.screen
        assert isinstance(here, SearchView)
        assert here.line.text == "with jitter"
        assert "ignored" not in screen.text
