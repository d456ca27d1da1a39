"""The card of a memory names who wrote what it holds."""

from memtui.engine.model import Address
from tests.workbench.shown import shown

CODE = Address("memtui:global", "style/code.md")


async def test_after_a_change_was_taken_back_the_card_names_who_took_it_back() -> None:
    async with shown() as screen:
        engine = screen.engine
        engine.outside(str(CODE), "an agent's code\n")
        await screen.until_text("outside memtui, just now")
        await screen.press("3")
        await screen.until_text("Changed outside memtui")
        await screen.press("r")
        await screen.until_text("To be taken back: 1 change.")
        await screen.press("ctrl+s", "enter")
        await screen.until_text("Carried out: 1 taken back.")
        await screen.press("1")
        await screen.until_text("| you, just now")
        await screen.press("u")
        await screen.until_text("outside memtui, just now")
