"""The editor names who wrote what it opens, as every other screen does."""

from memtui.engine.model import Actor, Address
from tests.workbench.shown import shown

CODE = Address("memtui:global", "style/code.md")


async def test_a_memory_that_an_agent_saved_is_opened_with_its_name() -> None:
    async with shown() as screen:
        engine = screen.engine.engine
        sha256 = engine.read(CODE).sha256
        engine.save(CODE, b"An agent's code.\n", expected_sha256=sha256, actor=Actor("mcp:claude-code"))
        await screen.until_text("A1 agent")
        await screen.press("enter")
        await screen.until_text("shown here")
        assert "A Claude Code saved, shown here" in screen.text
