"""Export of what is marked and import of a file, from the palette or by key, and the conflict that an import leaves."""

from pathlib import Path

from memtui.engine.model import Address
from memtui.features.bundles.bundle import Bundle, BundledMemory, Origin, read, write
from memtui.features.bundles.view import ImportScreen
from memtui.workbench.edit.merge.conflict_screen import ConflictScreen
from tests.features.transfer.agents import Agents
from tests.test_mask import GITHUB
from tests.workbench.browse.agents_shown import opened, put_cursor

HERE = Origin("memtui:project", "memtui", "project")


def world(tmp_path: Path) -> Agents:
    """One folder of memories."""
    agents = Agents(tmp_path, "memtui")
    agents.lay("memtui", {"a.md": "A\n", "b.md": "B\n"})
    return agents


async def test_what_is_marked_is_exported_to_the_file_that_is_typed(tmp_path: Path) -> None:
    agents = world(tmp_path)
    async with opened(agents) as screen:
        await put_cursor(screen, "memtui:project/b.md")
        await screen.press("space", ":")
        await screen.type("export marked")
        await screen.until_text("Export the marked memories into a file")
        await screen.press("enter")
        await screen.until_text("writes 1 memory into it")
        await screen.press("ctrl+u")
        await screen.type("~/mine.tar")
        await screen.press("enter")
        await screen.until_text("Exported 1 memory to ~/mine.tar.")
        (memory,) = read((tmp_path / "mine.tar").read_bytes()).memories
        assert (memory.path, memory.data, memory.history) == ("b.md", b"B\n", ())
        await screen.press("g", "X", "ctrl+u")
        await screen.type("~/mine.tar")
        await screen.press("enter")
        await screen.until_text("enter again writes over it")
        assert not read((tmp_path / "mine.tar").read_bytes()).memories[0].history
        await screen.press("enter")
        await screen.until_text("Exported 1 memory")
        assert read((tmp_path / "mine.tar").read_bytes()).memories[0].history


async def test_what_becomes_of_secrets_is_asked(tmp_path: Path) -> None:
    agents = Agents(tmp_path, "memtui", "codex")
    agents.lay("memtui", {"a.md": f"key {GITHUB} is\n", "b.md": "B\n"})
    async with opened(agents) as screen:
        for number, (answer, count, data) in enumerate(
            (("", "1", b"key [masked: GitHub token] is\n"), ("k", "1", f"key {GITHUB} is\n".encode()))
        ):
            await put_cursor(screen, "memtui:project/a.md")
            await screen.press("g", "x", "ctrl+u")
            await screen.type(f"~/{number}.tar")
            await screen.press("enter")
            await screen.until_text("a secret would go along")
            assert not (tmp_path / f"{number}.tar").exists()
            await screen.type(answer)
            await screen.press("enter")
            await screen.until_text(f"Exported {count} memory to ~/{number}.tar")
            assert read((tmp_path / f"{number}.tar").read_bytes()).memories[0].data == data


async def test_an_import_says_what_comes_of_it_and_one_undo_takes_it_back(tmp_path: Path) -> None:
    agents = world(tmp_path)
    before = agents.everything()
    bundle = Bundle((BundledMemory(HERE, "a.md", b"A\n"), BundledMemory(HERE, "new/c.md", b"C\n", pinned=True)))
    (tmp_path / "in.tar").write_bytes(write(bundle))
    async with opened(agents) as screen:
        await screen.press("g", "i")
        await screen.type("~/in.tar")
        await screen.press("enter")
        await screen.until_text(" 1 new, 1 unchanged, 1 to pin ─")
        await screen.until_text("enter again imports")
        assert agents.everything() == before
        await screen.press("enter")
        await screen.until_text("Imported: 1 new, 1 unchanged, 1 to pin. u takes back what was written.")
        assert agents.held("memtui")["new/c.md"] == b"C\n"
        await screen.until(lambda: Address("memtui:project", "new/c.md") in screen.browser.forest.nodes)
        await screen.press("u")
        await screen.until(lambda: agents.everything() == before)


async def test_what_cannot_be_merged_opens_both_sides(tmp_path: Path) -> None:
    agents = world(tmp_path)
    (tmp_path / "in.tar").write_bytes(write(Bundle((BundledMemory(HERE, "a.md", b"other\n"),))))
    async with opened(agents) as screen:
        await screen.press("g", "i")
        await screen.type("~/in.tar")
        await screen.press("enter")
        await screen.until_text(" 1 conflict ─")
        await screen.until_text("enter again imports")
        await screen.press("enter")
        await screen.until(lambda: isinstance(screen.app.screen, ConflictScreen))
        await screen.until_text("other")
        assert agents.held("memtui")["a.md"] == b"A\n"


async def test_what_is_no_bundle_leaves_the_line_open(tmp_path: Path) -> None:
    agents = world(tmp_path)
    (tmp_path / "in.tar").write_bytes(b"no bundle")
    async with opened(agents) as screen:
        await screen.press("g", "i", "enter")
        assert "Type the name of a file." in screen.footer
        await screen.type("~/in.tar")
        await screen.press("enter")
        await screen.until_text("The bundle is refused")
        await screen.press("ctrl+u")
        await screen.type("~/none.tar")
        await screen.press("enter")
        await screen.until_text("There is no file")
        assert isinstance(screen.app.screen, ImportScreen)


async def test_what_comes_from_another_agent_is_translated_unless_its_bytes_are_wanted(tmp_path: Path) -> None:
    agents = Agents(tmp_path, "serena")
    agents.lay("serena", {"z.md": "Z\n"})
    before = agents.held("serena")
    claude = Origin("claude-code:project", "claude-code", "project")
    text = b"---\nname: A\n---\nText.\n"
    (tmp_path / "in.tar").write_bytes(write(Bundle((BundledMemory(claude, "a.md", text),))))
    async with opened(agents) as screen:
        await screen.press("g", "i")
        await screen.type("~/in.tar --into serena:project")
        await screen.press("enter")
        await screen.until_text(" 1 new; front matter mapped ─")
        await screen.until_text("enter again imports")
        assert agents.held("serena") == before
        await screen.press("enter")
        await screen.until_text("Imported: 1 new; front matter mapped. u takes back what was written.")
        assert agents.held("serena") == before | {"a.md": b"Text.\n"}
        await screen.press("u")
        await screen.until(lambda: agents.held("serena") == before)
        await screen.press("g", "i")
        await screen.type("~/in.tar --into serena:project --as-is")
        await screen.press("enter")
        await screen.until_text(" 1 new ─")
        await screen.until_text("enter again imports")
        await screen.press("enter")
        await screen.until(lambda: agents.held("serena") == before | {"a.md": text})


async def test_a_root_that_is_not_here_is_named_behind_the_file(tmp_path: Path) -> None:
    agents = world(tmp_path)
    strange = Origin("serena:project", "serena", "project")
    (tmp_path / "in.tar").write_bytes(write(Bundle((BundledMemory(strange, "s.md", b"S\n"),))))
    async with opened(agents) as screen:
        await screen.press("g", "i")
        await screen.type("~/in.tar")
        await screen.press("enter")
        await screen.until_text("Nothing would be written: 1 stays out")
        await screen.type(" --into memtui:project")
        await screen.press("enter")
        await screen.until_text(" 1 new ─")
        await screen.until_text("enter again imports")
        await screen.press("enter")
        await screen.until(lambda: agents.held("memtui").get("s.md") == b"S\n")
