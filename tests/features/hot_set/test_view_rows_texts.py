"""What comes through a door is what `memtui context` prints for the same client, and each row has its very text."""

from __future__ import annotations

from pathlib import Path

import pytest

from memtui.config.settings import AccessRule, Settings
from memtui.engine.model import Actor
from memtui.features.hot_set import view_rows
from memtui.features.hot_set.assemble import build
from memtui.features.hot_set.shares import Door, doors, load
from memtui.features.hot_set.view_rows import HotSetLook, rows_of
from tests.conftest import Clock
from tests.given.world import World
from tests.workbench.shown import DIRECTORIES

LOOK = HotSetLook()


def settings(*rules: AccessRule, enabled: bool = True) -> Settings:
    return Settings(DIRECTORIES, "/home/ann", access=rules, agents_enabled=enabled)


@pytest.fixture
def world(tmp_path: Path, clock: Clock) -> World:
    """Two pinned memories in scopes of their own, and an unreviewed one."""
    (tmp_path / "world").mkdir()
    return World(tmp_path / "world", clock)


def test_the_clients_are_those_of_the_table_by_their_canonical_names() -> None:
    rules = [AccessRule(name, "*", "ro") for name in ("*", "Codex-MCP-client", "codex", "Visual Studio Code")]
    assert doors(settings(*rules), None, ()) == (Door(), Door("codex"), Door("vscode"))
    assert doors(settings(), None, ()) == (Door(),)


def test_every_row_has_the_text_that_is_given(world: World) -> None:
    first, second = (
        world.write("global", "a.md", "mine\nDB_PASSWORD=hunter2hunter2\n"),
        world.write("workspace", "b.md", "x"),
    )
    waiting = world.write("project", "c.md", "from the checkout\n")
    (world.checkout / ".git").mkdir(parents=True, exist_ok=True)
    with world.engine() as engine:
        engine.pins.set([first, second, waiting], pinned=True, actor=Actor("tui"))
        given = load(engine, settings(), Door())
        assert given.context == build(engine)
        rows = rows_of(given)
        pages = {row.kind: _text(view_rows.page(engine, given, row, 300, LOOK)) for row in rows}
        items = [row for row in rows if row.item is not None]
        assert "mine" in _text(view_rows.page(engine, given, items[0], 300, LOOK))
        assert "hunter2" not in _text(view_rows.page(engine, given, items[0], 300, LOOK))
        assert view_rows.copied(given, items[1]) == '<memory_file path="/memories/workspace/b.md">\nx\n</memory_file>\n'
        assert "</memory_index>" in pages["index"]
        assert "</hot_memories>" in pages["all"]
        assert view_rows.copied(given, rows[0]) == build(engine).text
        assert "an unreviewed change" in pages["left"]
        assert "g a reviews it" in pages["left"]
        assert "from the checkout" in pages["left"]
        assert view_rows.copied(given, next(row for row in rows if row.kind == "left")) == ""
        assert "c.md" in pages["root"]
        marked = [style for line in view_rows.page(engine, given, items[0], 300, LOOK) for _, style in line.runs]
        assert "match" in marked


def test_a_memory_that_went_meanwhile_says_so(world: World) -> None:
    first = world.write("project", "a.md", "x\n")
    (world.checkout / ".git").mkdir(parents=True, exist_ok=True)
    with world.engine() as engine:
        engine.pins.set([first], pinned=True, actor=Actor("tui"))
        given = load(engine, settings(), Door())
        assert given.context is not None
        world.path("project", "a.md").unlink()
        engine.watch.reconcile()
        row = next(row for row in rows_of(given) if row.left is not None)
        assert "Not given" in _text(view_rows.page(engine, given, row, 300, LOOK))


def test_a_door_that_is_shut_gives_nothing_and_says_why(world: World) -> None:
    with world.engine() as engine:
        shut = load(engine, settings(AccessRule("codex", "*", "off")), Door("codex"))
        assert shut.context is None
        assert "switched off for codex" in shut.off
        assert "agents.enabled" in load(engine, settings(enabled=False), Door()).off


def _text(page: object) -> str:
    return "\n".join("".join(text for text, _ in line.runs) for line in page)  # type: ignore[attr-defined]
