"""Rows of the Hot set view at any width, and that each has the very text that `memtui context` prints."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.config.settings import AccessRule, Settings
from memtui.engine.model import Actor, Address, Memory
from memtui.features.hot_set import view_rows
from memtui.features.hot_set.assemble import build
from memtui.features.hot_set.model import NOTHING, Block, Budgets, Context, GivenMemory, LeftOut, Rendered, Unlisted
from memtui.features.hot_set.shares import Door, Given, doors, load
from memtui.features.hot_set.view_rows import (
    CUT,
    INDEX,
    ITSELF,
    ROOT,
    HotSetLook,
    HotSetRow,
    budget_lines,
    kib,
    row_runs,
    rows_of,
    short_reason,
)
from memtui.safe_text import cell_width
from memtui.ui.draw.text import Run
from tests.conftest import Clock
from tests.given.world import World
from tests.workbench.shown import DIRECTORIES

ADDRESS = Address("memtui:global", "a.md")


def item(path: str = "/memories/global/a.md", *, truncated: bool = False, masked: int = 0) -> GivenMemory:
    row = Memory(ADDRESS, "global", "memtui", 500, 0, "sha", pinned=True, uses=3, heat=2.5)
    return GivenMemory(row, path, 1, Rendered("text", 400, 120, truncated, masked))


def left(reason: str, needs: int = 0, room: int = 0, *, name: str = "b.md") -> LeftOut:
    row = Memory(Address("memtui:global", name), "global", "memtui", 9, 0, "sha", uses=1, heat=1.0)
    return LeftOut(row, f"/memories/global/{name}", reason, needs, room)


def context(*items: GivenMemory, left_out: tuple[LeftOut, ...] = (), **changes: object) -> Context:
    index = Block("i", 24_000, 2_000, 0)
    made = Context(index, 20, 20, (), NOTHING, items, left_out, (), Budgets())
    return made._replace(**changes)  # type: ignore[arg-type]


def share(found: Context) -> Given:
    return Given(Door(), found, left_out=found.left_out)


def words(runs: object) -> str:
    return "".join(text for text, _ in runs)  # type: ignore[attr-defined]


def test_what_is_given_stands_above_the_line_and_the_index_last() -> None:
    found = context(item(), left_out=(left("no-place"),), unreviewed=("memtui:project",))
    assert [row.kind for row in rows_of(share(found))] == ["all", "item", CUT, "left", ROOT, INDEX]
    assert [row.kind for row in rows_of(share(context()))] == ["all", INDEX]
    assert HotSetRow("item", item=item()).key == HotSetRow("left", left=left("no-place", name=ADDRESS.path)).key


def test_sizes_are_said_in_kib() -> None:
    assert (kib(49_152), kib(23_654), kib(0)) == ("48", "23.1", "0")


def test_budgets_are_said_in_words() -> None:
    found = context(item(), hot_block=Block("h", 900, 5_120, 0))
    first, second = map(words, budget_lines(found, 120))
    assert "0.4 of 48 KiB" in first
    assert "est. tokens [#########...........] 5,120 of 12,000" in first
    assert "memories [#.......] 1 of 8" in second
    assert "23.4 of 24 KiB" in second
    short = found._replace(listed=15, unlisted=(Unlisted("/memories/global", 5),))
    assert words(budget_lines(short, 120)[1]).endswith(", lists 15 of 20")
    assert words(budget_lines(short, 80)[1]).endswith(", lacks 5")
    by_tokens = short._replace(index_block=Block("i", 1_000, 7_900, 0))
    assert "7,900 of 8,000 est. tokens" in words(budget_lines(by_tokens, 120)[1])


def test_reasons_are_said_with_their_numbers() -> None:
    said = {one.reason: short_reason(one, "g a") for one in map(left, ("too-large", "over-tokens", "unreviewed"))}
    assert said == {"too-large": "no bytes left", "over-tokens": "no tokens left", "unreviewed": "unreviewed, g a"}
    assert short_reason(left("too-large", 20_100, 3_200), "g a") == "20 kB, 3.2 kB left"
    assert short_reason(left("too-large", 16_384, 16_021), "g a") == "16,384 B, 16,021 left"
    assert short_reason(left("over-tokens", 5_000, 900), "g a") == "5,000 tok, 900 left"


PATHS = st.text(st.characters(codec="utf-8"), max_size=60)


@given(PATHS, st.integers(24, 200), st.booleans())
def test_a_row_never_runs_over_whatever_its_path(path: str, width: int, plain: bool) -> None:
    look = HotSetLook(plain)
    found = context(item(f"/memories/{path}", truncated=True, masked=2), left_out=(left("no-place"),))
    shown = share(found)
    rows = (*rows_of(shown, [shown]), HotSetRow(ROOT, root=f"memtui:{path}"), HotSetRow(ITSELF))
    for row in rows:
        drawn: list[Run] = list(row_runs(row, shown, width, look))
        assert cell_width(words(drawn)) <= width
        assert not plain or words(drawn).isascii() or not path.isascii()
    assert "cut masked" in words(row_runs(rows[1], shown, max(width, 60), look))


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
