"""A conflict seen from the main screen: announced without taking the focus, marked while open, resumed with c."""

import pytest

from memtui.engine.model import Address, Draft
from memtui.ui.keys import fence
from memtui.workbench.edit.merge.conflict_screen import ConflictScreen
from memtui.workbench.edit.merge.questions import QuestionScreen
from tests.workbench.shown import Shown, engine_with, shown

RETRY = Address.parse("memtui:project/decisions/retry.md")
TEXT = "# Retry\n\n- three times\n- with jitter\n"


async def overlapping(screen: Shown) -> None:
    """Type in a memory, and let an agent change the same line."""
    await screen.go(str(RETRY))
    await screen.press("enter")
    await screen.until_text("ctrl+s save")
    await screen.press("down", "down", "m", "y", "space")
    await screen.until_text("my - three times")
    screen.engine.outside(str(RETRY), TEXT.replace("three", "five"))


async def test_the_change_is_announced_while_typing_without_stealing_focus_or_cursor() -> None:
    async with shown() as screen:
        await overlapping(screen)
        await screen.until_text("saved outside memtui: 1 hunk, 1 overlap  f8")
        editor = screen.browser.host.editing
        assert editor is not None
        area = editor.editor.text_area
        assert screen.app.focused is area
        assert area.cursor_location == (2, 3)
        await screen.press("o", "w", "n", "space")
        await screen.until_text("my own - three times")
        assert not isinstance(screen.app.screen, ConflictScreen)


async def test_a_conflict_that_was_left_is_marked_in_tree_and_header_and_goes_on_where_it_was() -> None:
    async with shown() as screen:
        await overlapping(screen)
        await screen.until_text("1 overlap  f8")
        await screen.press("f8")
        await screen.until(lambda: isinstance(screen.app.screen, ConflictScreen))
        await screen.press("b", "w")
        await screen.until_text("ctrl+s writes 5 lines: 2 both")
        await screen.press("escape")
        await screen.until(lambda: not isinstance(screen.app.screen, ConflictScreen))
        await screen.press("escape")
        await screen.until_text("!1 conflict")
        await screen.until(lambda: screen.browser.forest.nodes[RETRY].signs.conflict == 1)
        for key in ("enter", "c"):
            await screen.press(key)
            await screen.until(lambda: isinstance(screen.app.screen, ConflictScreen))
            await screen.until_text("ctrl+s writes 5 lines: 2 both")
            await screen.until_text("words: YOURS with")
            await screen.press("escape")  # back where it was opened, which is the tree
            await screen.until(lambda: not screen.browser.editing)
            assert screen.app.focused is screen.browser.memories
        assert screen.engine.data[RETRY] == TEXT.replace("three", "five").encode()


@pytest.mark.parametrize("in_tree", [True, False])
async def test_a_conflict_that_is_answered_goes_back_to_where_it_was_opened(in_tree: bool) -> None:
    async with shown() as screen:
        await overlapping(screen)
        await screen.until_text("1 overlap  f8")
        if in_tree:
            await screen.press("escape")
            await screen.until(lambda: screen.browser.forest.nodes[RETRY].signs.conflict == 1)
        await screen.press("c" if in_tree else "f8")
        await screen.until(lambda: isinstance(screen.app.screen, ConflictScreen))
        await screen.press("b")
        await screen.until_text("ctrl+s writes 5 lines")
        await screen.press("ctrl+s")
        await screen.until_text("Saved, merged with what was saved")
        assert screen.browser.editing is not in_tree
        assert screen.text.count("u takes it back.") == in_tree
        await screen.until(lambda: not screen.browser.forest.top.signs.draft)
        if in_tree:
            assert screen.app.focused is screen.browser.memories
            await screen.press("u")
            await screen.until(lambda: screen.engine.data[RETRY] == TEXT.replace("three", "five").encode())


async def test_c_on_another_row_goes_to_the_next_conflict_and_opens_it() -> None:
    notes, prose = (Address.parse(name) for name in ("memtui:project/notes.md", "memtui:global/style/prose.md"))
    engine = engine_with()
    for address in (notes, prose):
        engine.engine.drafts.save(Draft(address, None, "mine\n", (0, 0), 1))
    async with shown(engine) as screen:
        await screen.until(lambda: screen.browser.forest.top.signs.conflict == 2)
        await screen.press("g", "g")
        for expected in (prose, notes, prose):
            await screen.press("c")
            await screen.until(lambda: screen.browser.host.address == expected)  # noqa: B023
            await screen.until(lambda: isinstance(screen.app.screen, ConflictScreen))
            await screen.until_text("1 conflict is still open")
            await screen.press("escape")
            await screen.until(lambda: not screen.browser.editing)
            assert screen.here == str(expected)
            await screen.press("j")
        await screen.press("slash")
        await screen.type("retry")
        await screen.press("enter", "c")
        await screen.until(lambda: isinstance(screen.app.screen, ConflictScreen))


@pytest.mark.parametrize(("text", "then"), [(TEXT, None), ("# Retry\n\n- never\n", ConflictScreen)])
async def test_the_answer_to_a_question_that_a_file_made_moot_by_coming_back_is_no_text(
    text: str, then: type | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with shown() as screen:
        await overlapping(screen)
        await screen.until_text("1 overlap  f8")
        screen.engine.delete(str(RETRY))
        await screen.until(lambda: "1 overlap  f8" not in screen.text)
        await screen.press("ctrl+s")
        await screen.until(lambda: isinstance(screen.app.screen, QuestionScreen))
        editing = screen.browser.host.editing
        assert editing is not None
        typed = editing.editor.data
        monkeypatch.setattr(fence, "AFTER_REFUSAL", 1_000.0)
        screen.engine.outside(str(RETRY), text)
        await screen.until(lambda: not isinstance(screen.app.screen, QuestionScreen))
        await screen.pilot.press("k")
        await screen.until_text("ignored")
        assert isinstance(screen.app.screen, then or type(screen.browser))
        assert editing.editor.data == typed
