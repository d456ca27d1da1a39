"""C and r to another agent's root: what is mapped and what the indexes get is shown first, and one u takes it back."""

from pathlib import Path

import pytest

from memtui.engine import Engine
from memtui.features.transfer.view import CopyScreen
from tests.features.transfer.agents import Agents, root
from tests.test_mask import GITHUB
from tests.workbench.browse.agents_shown import opened, put_cursor, until_said
from tests.workbench.shown import Shown

TESTING = "---\nname: Testing\ndescription: How\nmetadata:\n  type: feedback\n---\n\nNo mocks.\n"
OLD = "claude-code:project/testing.md"


def world(tmp_path: Path) -> Agents:
    """Three agents, one of which has memories."""
    agents = Agents(tmp_path, "claude-code", "qwen-code", "serena")
    index = "- [Testing](testing.md) — no mocks\n"
    agents.lay("claude-code", {"MEMORY.md": index, "testing.md": TESTING, "deep/b.md": "B\n"})
    agents.lay("qwen-code", {"MEMORY.md": "", "taken.md": TESTING})
    agents.lay("serena", {"here.md": "Text.\n"})
    return agents


async def landing(screen: Shown, key: str, text: str) -> CopyScreen:
    """Open the screen on the memory, and type where to."""
    await put_cursor(screen, OLD)
    await screen.press(key)
    await screen.until(lambda: isinstance(screen.app.screen, CopyScreen))
    await screen.press("end", "ctrl+u")
    await screen.type(text)
    found = screen.app.screen
    assert isinstance(found, CopyScreen)
    return found


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
async def test_a_copy_shows_what_is_mapped_before_it_is_made(tmp_path: Path, size: tuple[int, int]) -> None:
    agents = world(tmp_path)
    before = agents.everything()
    async with opened(agents, size) as screen:
        found = await landing(screen, "C", "qwen-code:project/testing.md")
        await screen.until(lambda: found.plan is not None)
        assert "mapped: type: feedback (was metadata.type)" in found.details.text
        assert "qwen-code:project/MEMORY.md  1 line added" in found.details.text
        assert "in the shape of Qwen Code" in screen.footer
        assert agents.everything() == before
        await screen.press("enter")
        await until_said(screen, "front matter mapped")
        assert b"\ntype: feedback\n" in agents.held("qwen-code")["testing.md"]
        assert agents.held("qwen-code")["MEMORY.md"] == "- [Testing](testing.md) — no mocks\n".encode()
        await screen.press("u")
        await screen.until(lambda: agents.everything() == before)


async def test_80_columns_show_root_name_and_reader_of_a_long_address(tmp_path: Path) -> None:
    async with opened(world(tmp_path), (80, 24)) as screen:
        found = await landing(screen, "C", "qwen-code:project/a/folder/with_a_name/feedback_testing_of_release.md")
        await screen.until(lambda: found.plan is not None)
        (row,) = found.lands.rows
        shown = "".join(text for text, _ in found.list.runs(0, cursor=True))
        old, new = shown.split(" -> ")
        assert old.startswith("> claude-code")
        assert old.endswith("testing.md")
        assert new.startswith("qwen-code:p")
        assert new.endswith("/feedback_testing_of_release.md")
        assert str(row.new) not in shown
        assert "enter copies 1" in screen.footer
        assert "Qwen Code" in screen.footer


async def test_enter_before_it_is_worked_out_waits_for_what_it_does(tmp_path: Path) -> None:
    agents = world(tmp_path)
    async with opened(agents) as screen:
        await landing(screen, "C", "serena:project/t.md")
        await screen.press("enter")
        await screen.until(lambda: agents.held("serena").get("t.md") == b"# How\n\nNo mocks.\n")


async def test_renaming_to_another_agent_shows_it_first_too(tmp_path: Path) -> None:
    agents = world(tmp_path)
    before = agents.everything()
    async with opened(agents) as screen:
        await put_cursor(screen, OLD)
        await screen.press("r", "end", "ctrl+u")
        await screen.type("serena:project/testing.md")
        assert "enter shows what serena:project makes of it" in screen.footer
        await screen.press("enter")
        await screen.until(lambda: isinstance(screen.app.screen, CopyScreen))
        found = screen.app.screen
        assert isinstance(found, CopyScreen)
        await screen.until(lambda: found.plan is not None)
        assert "left behind: name: Testing (Serena takes front matter for text)" in found.details.text
        assert "claude-code:project/MEMORY.md" in found.details.text
        assert agents.everything() == before
        await screen.press("enter")
        await screen.until(lambda: "testing.md" in agents.held("serena"))
        await until_said(screen, "1 link updated")
        assert agents.held("claude-code")["MEMORY.md"] == b""
        await screen.press("u")
        await screen.until(lambda: agents.everything() == before)


async def test_what_cannot_go_is_shown_with_the_reason(tmp_path: Path) -> None:
    async with opened(world(tmp_path)) as screen:
        found = await landing(screen, "C", "qwen-code:project/taken.md")
        await screen.until(lambda: found.plan is not None)
        assert "! the name is taken" in screen.text
        await screen.press("enter")
        assert "every name is taken there" in screen.footer


async def test_several_go_together_and_the_index_stays(tmp_path: Path) -> None:
    agents = world(tmp_path)
    async with opened(agents) as screen:
        for path in ("MEMORY.md", "testing.md"):
            await put_cursor(screen, f"claude-code:project/{path}")
            await screen.press("space")
        await screen.press("C")
        await screen.until(lambda: isinstance(screen.app.screen, CopyScreen))
        await screen.press("ctrl+u")
        await screen.type("serena:project/")
        found = screen.app.screen
        assert isinstance(found, CopyScreen)
        await screen.until(lambda: found.plan is not None)
        assert "its lines go with the memories" in "".join(row.problem for row in found.lands.rows)
        await screen.press("enter", "enter")
        await screen.until(lambda: "testing.md" in agents.held("serena"))
        assert "MEMORY.md" not in agents.held("serena")


async def test_what_changed_meanwhile_stops_it(tmp_path: Path) -> None:
    agents = world(tmp_path)
    async with opened(agents) as screen:
        found = await landing(screen, "C", "qwen-code:project/testing.md")
        await screen.until(lambda: found.plan is not None)
        agents.lay("qwen-code", {"MEMORY.md": "- [Taken](taken.md)\n"})
        before = agents.everything()
        await screen.press("enter")
        await until_said(screen, "changed meanwhile")
        assert agents.everything() == before


async def test_a_root_that_its_agent_does_not_read_says_so_before_anything_goes_there(tmp_path: Path) -> None:
    class SwitchedOff(Agents):
        def engine(self, state: str = "state") -> Engine:
            """An engine on all of them, of which one is not read."""
            roots = [root(agent, str(self.base / agent)) for agent in self.agents]
            off = roots[1]._replace(switched_off="in ~/.qwen/settings.json", note="They are switched off in a file.")
            return Engine.open([roots[0], off, roots[2]], state_dir=str(self.base / state))

    agents = SwitchedOff(tmp_path, "claude-code", "qwen-code", "serena")
    agents.lay("claude-code", {"MEMORY.md": "- [Testing](testing.md)\n", "testing.md": TESTING})
    before = agents.everything()
    async with opened(agents) as screen:
        found = await landing(screen, "C", "")
        assert found._folders()[:3] == ("claude-code:project/", "serena:project/", "qwen-code:project/")
        await screen.type("qwen-code:project/")
        await screen.until(lambda: found.plan is not None)
        assert "They are switched off in a file." in found.details.text
        assert "switched off  enter copies 1" in screen.footer
        await screen.press("enter")
        assert "it is not read there: switched off in ~/.qwen/settings.json; enter again does it" in screen.footer
        assert agents.everything() == before
        await screen.press("enter")
        await screen.until(lambda: "testing.md" in agents.held("qwen-code"))
        await screen.until(lambda: screen.here == "qwen-code:project/testing.md")


@pytest.mark.parametrize(("answer", "there"), [("m", "[masked: GitHub token]"), ("k", GITHUB)])
async def test_a_copy_asks_what_becomes_of_secrets(tmp_path: Path, answer: str, there: str) -> None:
    agents = world(tmp_path)
    agents.lay("claude-code", {"MEMORY.md": "", "testing.md": f"{TESTING}The key {GITHUB} is ours.\n"})
    before = agents.everything()
    async with opened(agents) as screen:
        found = await landing(screen, "C", "qwen-code:project/testing.md")
        await screen.until(lambda: found.plan is not None)
        await screen.press("enter")
        await screen.until_text("a secret would go along")
        assert agents.everything() == before
        await screen.type(answer)
        await screen.press("enter")
        await screen.until_text("testing.md copied to qwen-")
    assert f"The key {there} is ours." in str(agents.everything()["qwen-code"])
