"""You deleted, an agent edited: the deletion waits until their change was seen."""

from memtui.engine.model import Address
from memtui.workbench.edit.merge.questions import QuestionScreen
from tests.workbench.shown import Shown, shown

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
