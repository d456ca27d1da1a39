"""What an import shows of a bundle before anything is written."""

from pathlib import Path

import pytest

from memtui.features.bundles.bundle import Bundle, BundledMemory, Origin, write
from memtui.features.bundles.view import ImportScreen, path_of
from tests.features.transfer.agents import Agents
from tests.workbench.browse.agents_shown import opened
from tests.workbench.shown import Shown

HERE = Origin("memtui:project", "memtui", "project")
CLAUDE = Origin("claude-code:project", "claude-code", "project")
TEXT = b"---\nname: Testing\ndescription: How\nmetadata:\n  type: feedback\n---\n\nNo mocks.\n"
SIZES = [(80, 24), (120, 40), (200, 60)]


def packed(tmp_path: Path, *memories: BundledMemory) -> None:
    """Write the bundle."""
    (tmp_path / "in.tar").write_bytes(write(Bundle(memories)))


async def shown(screen: Shown, text: str = "~/in.tar") -> ImportScreen:
    """Ask for the bundle, and wait for what it brings."""
    await screen.press("g", "i")
    await screen.until(lambda: isinstance(screen.app.screen, ImportScreen))
    found = screen.app.screen
    assert isinstance(found, ImportScreen)
    await screen.type(text)
    await screen.press("enter")
    await screen.until(lambda: found.plan is not None)
    return found


@pytest.mark.parametrize("size", SIZES)
async def test_each_memory_and_its_difference_are_seen_before_enter_writes(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    agents = Agents(tmp_path, "memtui")
    agents.lay("memtui", {"a.md": "one\ntwo\n", "b.md": "B\n"})
    before = agents.everything()
    packed(
        tmp_path,
        BundledMemory(HERE, "b.md", b"B\n"),
        BundledMemory(HERE, "a.md", b"one\nTWO\n"),
        BundledMemory(HERE, "c.md", b"C\n"),
    )
    async with opened(agents, size) as screen:
        found = await shown(screen)
        assert [row.what for row in found.arrivals.rows] == ["conflict", "new", "unchanged"]
        assert found.arrivals.size.height == 3
        assert "It waits for your decision; the text here stays until then." in found.details.text
        assert "two" in found.details.text
        assert "TWO" in found.details.text
        await screen.press("down")
        assert "C" in found.details.text
        assert "TWO" not in found.details.text
        assert " 1 new, 1 conflict, 1 unchanged ─" in screen.text
        await screen.press("escape")
        await screen.until(lambda: screen.app.screen is screen.browser)
        assert agents.everything() == before


async def test_what_is_mapped_for_another_agent_and_the_line_of_its_index_are_seen(tmp_path: Path) -> None:
    agents = Agents(tmp_path, "qwen-code")
    agents.lay("qwen-code", {"MEMORY.md": "- [Here](here.md)\n", "here.md": "Here.\n"})
    packed(tmp_path, BundledMemory(CLAUDE, "testing.md", TEXT))
    async with opened(agents) as screen:
        found = await shown(screen, "~/in.tar --into qwen-code:project")
        assert "mapped: type: feedback (was metadata.type)" in found.details.text
        assert "qwen-code:project/MEMORY.md  1 line added" in found.details.text
        await screen.type(" --as-is")
        assert found.plan is None
        assert not found.details.text


async def test_a_changed_line_is_worked_out_anew_and_never_done_as_shown_before(tmp_path: Path) -> None:
    agents = Agents(tmp_path, "memtui")
    agents.lay("memtui", {"a.md": "A\n"})
    packed(tmp_path, BundledMemory(HERE, "c.md", b"C\n"))
    async with opened(agents) as screen:
        found = await shown(screen)
        await screen.press("backspace", "enter")
        await screen.until_text("There is no file")
        assert found.plan is None
        assert "c.md" not in agents.held("memtui")


async def test_what_stays_out_says_why_and_nothing_is_done(tmp_path: Path) -> None:
    agents = Agents(tmp_path, "memtui")
    agents.lay("memtui", {"a.md": "A\n"})
    packed(tmp_path, BundledMemory(CLAUDE, "t.md", TEXT))
    async with opened(agents) as screen:
        found = await shown(screen)
        assert "no root here is claude-code:project" in found.details.text
        await screen.press("enter")
        await screen.until_text("Nothing would be written: 1 stays out.")
        assert screen.app.screen is found


async def test_a_text_that_cannot_be_shown_is_told_so(tmp_path: Path) -> None:
    agents = Agents(tmp_path, "memtui")
    agents.lay("memtui", {"a.md": b"he\0re\n"})
    packed(tmp_path, BundledMemory(HERE, "a.md", b"A\n"))
    async with opened(agents) as screen:
        found = await shown(screen)
        assert "Here: binary, 6 bytes" in found.details.text


@pytest.mark.parametrize(
    ("text", "path"),
    [("~/a.tar", "/home/me/a.tar"), (" /x/../a.tar ", "/a.tar"), ("", None), ("  ", None), ("/folder/", None)],
)
def test_a_file_is_what_its_name_means_in_a_shell(text: str, path: str | None) -> None:
    assert path_of(text, "/home/me") == path


def test_without_a_home_a_tilde_is_a_name() -> None:
    found = path_of("~/a.tar", None)
    assert found is not None
    assert found.endswith("/~/a.tar")
