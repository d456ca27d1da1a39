"""The front matter form from end to end: on a saved text, on a draft, from the tree, against somebody who saves too."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import cast

from textual.pilot import Pilot

from memtui.features.edit.form import form_of
from memtui.workbench.edit.form_screen import FormScreen, line_of, preview_of
from memtui.workbench.edit.merge.conflict_screen import ConflictScreen
from memtui.workbench.edit.open_memory import FileState
from tests.workbench.edit.test_editor import editing, said
from tests.workbench.shown import Shown
from tests.workbench.views.real import CLAUDE, Real, World, at, real
from tests.workbench.workbench import AGENT, Bench, address, until

OLD = b"---\ndescription: old # kept\nx: 1\n---\nbody\n"
NEW = OLD.replace(b"old", b"older")


def form(bench: Bench) -> FormScreen | None:
    return bench.screen if isinstance(bench.screen, FormScreen) else None


async def formed(bench: Bench, pilot: Pilot[None]) -> FormScreen:
    """Open the form on the open memory, and wait until it shows what would change."""
    await pilot.press("f9")
    await until(pilot, lambda: form(bench) is not None and bool(cast("FormScreen", form(bench)).preview.page))
    found = form(bench)
    assert found is not None
    return found


@asynccontextmanager
async def forming(tmp_path: Path, files: dict[str, bytes]) -> AsyncIterator[tuple[Bench, Pilot[None], FormScreen]]:
    async with editing(tmp_path, files) as (bench, pilot):
        yield bench, pilot, await formed(bench, pilot)


async def typed(pilot: Pilot[None], screen: FormScreen, *keys: str) -> None:
    await pilot.press(*keys)
    await until(pilot, lambda: not screen.changed or screen.preview.after not in (None, screen.form.data))


# --- in the editor


async def test_a_saved_memory_is_saved_again_with_the_field_and_nothing_else(tmp_path: Path) -> None:
    async with forming(tmp_path, {"a.md": OLD}) as (bench, pilot, screen):
        await typed(pilot, screen, "e", "r", "ctrl+s")
        await until(pilot, lambda: bench.path("a.md").read_bytes() == NEW)
        await until(pilot, lambda: bench.editor.state is FileState.CLEAN)
        assert "description: older" in bench.editor.text_area.text
        assert form(bench) is None
        assert len(bench.engine.history.of(address())) == 2
        await until(pilot, lambda: bench.engine.drafts.all() == ())
        bench.engine.undo.undo(actor=bench.bridge.actor)
        assert bench.path("a.md").read_bytes() == OLD


async def test_with_an_unsaved_draft_the_form_works_on_the_draft(tmp_path: Path) -> None:
    async with editing(tmp_path, {"a.md": OLD}) as (bench, pilot):
        bench.editor.text_area.move_cursor(bench.editor.text_area.document.end)
        await pilot.press("z")
        screen = await formed(bench, pilot)
        assert "goes into your unsaved draft" in screen.query_one("#form-head").text  # type: ignore[attr-defined]
        await typed(pilot, screen, "e", "r", "ctrl+s")
        await until(pilot, lambda: form(bench) is None)
        assert bench.path("a.md").read_bytes() == OLD
        assert bench.editor.data == NEW + b"z"
        assert "ctrl+s saves both" in said(bench)
        await pilot.press("ctrl+z")
        await until(pilot, lambda: bench.editor.data == OLD + b"z")
        await pilot.press("ctrl+y", "ctrl+s")
        await until(pilot, lambda: bench.path("a.md").read_bytes() == NEW + b"z")


async def test_a_memory_that_is_not_written_yet_gets_its_front_matter(tmp_path: Path) -> None:
    async with editing(tmp_path, {}, "new.md") as (bench, pilot):
        await pilot.press("h", "i")
        screen = await formed(bench, pilot)
        assert "There is no front matter yet" in screen.query_one("#form-notes").text  # type: ignore[attr-defined]
        await typed(pilot, screen, "d", "ctrl+s")
        await until(pilot, lambda: form(bench) is None)
        assert bench.editor.data == b"---\ndescription: d\n---\nhi"
        assert not bench.path("new.md").exists()


async def test_another_save_meanwhile_is_followed_and_what_is_typed_stays(tmp_path: Path) -> None:
    async with forming(tmp_path, {"a.md": OLD}) as (bench, pilot, screen):
        await typed(pilot, screen, "e", "r")
        theirs = OLD.replace(b"body", b"theirs")
        sha = bench.engine.read(address()).sha256
        bench.engine.save(address(), theirs, expected_sha256=sha, actor=AGENT)
        bench.flow.check_disk()
        await until(pilot, lambda: bench.editor.data == theirs)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: screen.form.data == theirs)
        assert screen.typed["description"] == "older"
        assert bench.path("a.md").read_bytes() == theirs
        await until(pilot, lambda: screen.preview.after == theirs.replace(b"old", b"older"))
        await pilot.press("ctrl+s")
        await until(pilot, lambda: bench.path("a.md").read_bytes() == theirs.replace(b"old", b"older"))


async def test_a_save_that_nobody_told_of_goes_through_the_guard(tmp_path: Path) -> None:
    async with forming(tmp_path, {"a.md": OLD}) as (bench, pilot, screen):
        await typed(pilot, screen, "e", "r")
        theirs = OLD.replace(b"old", b"agents")
        bench.path("a.md").write_bytes(theirs)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: isinstance(bench.screen, ConflictScreen))
        assert bench.path("a.md").read_bytes() == theirs
        assert bench.editor.data == NEW


async def test_escape_asks_once_and_then_leaves_everything_as_it_was(tmp_path: Path) -> None:
    async with editing(tmp_path, {"a.md": OLD}) as (bench, pilot):
        await formed(bench, pilot)
        await pilot.press("escape")
        await until(pilot, lambda: form(bench) is None)
        screen = await formed(bench, pilot)
        await typed(pilot, screen, "e", "escape")
        assert form(bench) is screen
        assert "esc again drops" in screen.query_one("#form-foot").text  # type: ignore[attr-defined]
        await pilot.press("escape")
        await until(pilot, lambda: form(bench) is None)
        assert bench.editor.data == OLD
        assert bench.editor.state is FileState.CLEAN
        await until(pilot, lambda: bench.engine.drafts.all() == ())


async def test_what_is_typed_survives_a_death(tmp_path: Path) -> None:
    async with forming(tmp_path, {"a.md": OLD}) as (bench, pilot, screen):
        await typed(pilot, screen, "e", "r")
        assert bench.flow.flush() <= 1  # on a slow machine it is kept by itself before
        assert [draft.text.encode() for draft in bench.engine.drafts.all()] == [NEW]
        await until(pilot, lambda: bench.flow.flush() == 0)
        await pilot.press("escape", "escape")
        await until(pilot, lambda: bench.engine.drafts.all() == ())


async def test_broken_front_matter_says_why_and_opens_as_text_at_its_line(tmp_path: Path) -> None:
    data = b"---\nname: n\ndescription: a: b\n---\nbody\n"
    async with forming(tmp_path, {"a.md": data}) as (bench, pilot, screen):
        assert "not valid YAML" in screen.page.text
        assert "(E_FRONTMATTER)" in screen.page.text
        await pilot.press("x", "ctrl+s")
        assert "Not saved" in screen.query_one("#form-foot").text  # type: ignore[attr-defined]
        await pilot.press("f9")
        await until(pilot, lambda: form(bench) is None)
        assert bench.editor.text_area.cursor_location == (2, 0)
        assert bench.editor.data == data


async def test_f9_goes_on_as_text_with_what_is_typed(tmp_path: Path) -> None:
    async with forming(tmp_path, {"a.md": OLD}) as (bench, pilot, screen):
        await typed(pilot, screen, "e", "r", "f9")
        await until(pilot, lambda: form(bench) is None)
        assert bench.editor.data == NEW
        assert bench.path("a.md").read_bytes() == OLD


def test_a_refusal_names_its_line() -> None:
    assert line_of(form_of(b"---\nname: n\ndescription: a: b\n---\n")) == 3
    assert line_of(form_of(b"---\na: b\n")) == 1


def test_a_preview_refuses_what_a_save_would_refuse() -> None:
    found = preview_of(form_of(b"---\nname: n # why\n---\n"), {"name": ""}, 80)
    assert found.after is None
    assert "comment" in found.refusal
    same = preview_of(form_of(OLD), {}, 80)
    assert same.after == OLD
    text = "\n".join("".join(text for text, _ in line.runs) for line in same.page)
    assert "Nothing yet." in text
    assert "Kept as they are" in text


# --- from the tree


@asynccontextmanager
async def in_tree(tmp_path: Path) -> AsyncIterator[tuple[World, Real]]:
    world = World(tmp_path)
    (world.folder / "a.md").write_bytes(OLD)
    async with real(world) as screen:
        await screen.until(lambda: "a.md" in screen.here)
        yield world, screen


async def tree_form(screen: Shown) -> FormScreen:
    await screen.press("f9")
    await screen.until(lambda: isinstance(screen.app.screen, FormScreen) and bool(screen.app.screen.preview.page))
    found = screen.app.screen
    assert isinstance(found, FormScreen)
    return found


def settled(found: FormScreen) -> Callable[[], bool]:
    """Whether it shows what would come of what is typed."""
    return lambda: found.preview.after not in (None, found.form.data)


async def test_from_the_tree_it_is_one_save_and_one_undo(tmp_path: Path) -> None:
    async with in_tree(tmp_path) as (world, screen):
        found = await tree_form(screen)
        await screen.type("er")
        await screen.press("tab", "tab")
        await screen.type("a, b")
        await screen.until(settled(found))
        assert "tags: [a, b]" in screen.text
        assert "Kept as they are" in screen.text
        await screen.press("ctrl+s")
        await screen.until(lambda: world.disk()["a.md"] == NEW.replace(b"x: 1\n", b"x: 1\ntags: [a, b]\n"))
        await screen.until_text("u takes it back")
        await screen.press("u")
        await screen.until(lambda: world.disk()["a.md"] == OLD)


async def test_from_the_tree_somebody_elses_save_is_taken_up_or_shown(tmp_path: Path) -> None:
    async with in_tree(tmp_path) as (world, screen):
        found = await tree_form(screen)
        await screen.type("er")
        await screen.until(settled(found))
        theirs = OLD.replace(b"body", b"theirs")
        (world.folder / "a.md").write_bytes(theirs)
        await screen.press("ctrl+s")
        await screen.until_text("What you typed fits on that text")
        assert world.disk()["a.md"] == theirs
        last = theirs.replace(b"description: old", b"description: agents")
        (world.folder / "a.md").write_bytes(last)
        await screen.press("ctrl+s")
        await screen.until(lambda: isinstance(screen.app.screen, ConflictScreen))
        assert world.disk()["a.md"] == last
        assert "older" in screen.text
        assert "agents" in screen.text


async def test_from_the_tree_a_memory_with_a_draft_opens_in_the_editor(tmp_path: Path) -> None:
    async with in_tree(tmp_path) as (_world, screen):
        await screen.press("e")
        await screen.until(lambda: screen.browser.editing and screen.browser.host.address == at("a.md"))
        await screen.press("Z", "escape")
        await screen.until(lambda: not screen.browser.editing)
        await screen.until_text("~")
        found = await tree_form(screen)
        assert found.form.data == b"Z" + OLD
        assert screen.browser.host.address == at("a.md")
        await screen.press("escape")
        await screen.until(lambda: not screen.browser.editing)
        assert screen.app.focused is screen.browser.memories
        assert screen.real.drafts.all()[0].text.startswith("Z")


async def test_a_memory_that_goes_meanwhile_is_asked_about(tmp_path: Path) -> None:
    async with in_tree(tmp_path) as (world, screen):
        found = await tree_form(screen)
        await screen.type("er")
        await screen.until(settled(found))
        with world.engine() as other:
            other.memories.delete([at("a.md")], actor=CLAUDE)
        await screen.press("ctrl+s")
        await screen.until(lambda: screen.browser.editing)
        await screen.until(lambda: not isinstance(screen.app.screen, FormScreen))
        await screen.until_text("keep mine")
        assert "a.md" not in world.disk()
