"""Help comes from the table, lists the keys of the pane it was asked for in, and runs them there."""

from __future__ import annotations

import re
from collections.abc import Iterable

import pytest
from textual import events

from memtui.agents.agent import CUT_OFF
from memtui.agents.loaded_text import CUT, DROPPED, Gap
from memtui.agents.session_start import LoadedFile
from memtui.engine.model import Address, Memory, Problem, Root
from memtui.features.cost import view_rows as cost_rows
from memtui.features.cost.start_cost import CountedFile
from memtui.features.health import view_rows
from memtui.features.health import view_rows as health_rows
from memtui.features.health.model import DANGLING, Fix
from memtui.features.hot_set import view_rows as hot_rows
from memtui.ui.action import shown_keys
from memtui.ui.draw import bars
from memtui.ui.draw.pages import text_page
from memtui.ui.draw.text import RowStyle, Run
from memtui.workbench.actions import ACTIONS, ROOMS, SIGNS
from memtui.workbench.browse import health
from memtui.workbench.edit.merge.conflict_lines import SIGNS as CHANGES
from memtui.workbench.edit.merge.conflict_lines import MergedFile
from memtui.workbench.edit.merge.decisions import MergeSession
from memtui.workbench.edit.open_memory import FileState, title_note
from memtui.workbench.help import OWN, SIGNS_TITLE, HelpScreen, folded, help_rows, matching_rows
from memtui.workbench.keys import with_overrides
from memtui.workbench.tree import cells
from memtui.workbench.tree.cells import columns_for, row_runs
from memtui.workbench.tree.forest import Forest
from memtui.workbench.tree.nodes import Signs
from tests.features.cost.test_view_rows import AROUND, COST, drawn
from tests.features.health.test_view_rows import board, finding
from tests.features.hot_set.test_view_rows import context, item, left, share
from tests.workbench.shown import shown

TREE = ("memory", "view", "list", "everywhere")


@pytest.mark.parametrize("room", ROOMS)
def test_every_action_of_a_room_is_there_with_its_keys(room: str) -> None:
    rows = {row.action: row for row in help_rows(ACTIONS, "This is\nthe `pane`.", (room,))}
    for action in ACTIONS:
        assert (action in rows) == (action.room == room)
        if action.room == room:
            assert (rows[action].lead, rows[action].words) == (shown_keys(action), action.help)
    assert help_rows(ACTIONS, "This is\nthe `pane`.", (room,))[1].words == "This is the pane."


def test_changed_keys_are_shown_as_they_are_now_and_a_view_has_its_own_first() -> None:
    table, _ = with_overrides({"pin": "f6"})
    pin = next(action for action in table if action.id == "pin")
    rows = help_rows(table, "", ("list",), own=(pin,))
    at = next(index for index, row in enumerate(rows) if row.words == OWN)
    assert (rows[at + 1].action, rows[at + 1].lead) == (pin, "f6")


def test_the_filter_leaves_what_holds_every_word_under_its_heading() -> None:
    rows = help_rows(ACTIONS, "", TREE)
    found = matching_rows(rows, "TRASH move")
    assert all("trash" in row.words.casefold() for row in found if not row.heading)
    assert [row.heading for row in found][:2] == [True, False]
    assert not found[-1].heading
    assert matching_rows(rows, "no such words") == ()
    assert matching_rows(rows, "") == rows
    narrow = folded(found, 30)
    assert all(len(row.words) <= 30 for row in narrow)
    assert {row.action for row in narrow} == {row.action for row in found}


async def test_enter_runs_the_line_in_the_pane_it_came_from_and_uses_the_whole_screen() -> None:
    async with shown(size=(80, 24)) as screen:
        await screen.go("memtui:project/notes.md")
        await screen.press("question_mark")
        await screen.until_text("On a memory, or on all marked ones")
        assert len([line for line in screen.text.split("\n") if line]) > 18
        await screen.press("slash")
        await screen.type("pin or")
        await screen.press("enter")
        await screen.until_text("enter runs")
        assert "memtui:project/notes.md pinned" not in screen.text
        await screen.press("enter")
        await screen.until_text("memtui:project/notes.md pinned")
        assert screen.app.screen is screen.browser


async def test_a_paste_goes_into_the_filter() -> None:
    async with shown() as screen:
        await screen.press("question_mark", "slash")
        screen.app.post_message(events.Paste("move to the trash"))
        await screen.until_text("/move to the trash")
        await screen.until(lambda: "On a memory, or on all marked ones" in screen.text and "pin or" not in screen.text)


async def test_a_sequence_runs_too_and_escape_takes_the_filter_away_first() -> None:
    async with shown() as screen:
        await screen.go("memtui:project/notes.md")
        await screen.press("question_mark", "slash")
        await screen.type("to the trash")
        await screen.press("escape")
        assert isinstance(screen.app.screen, HelpScreen)
        await screen.until_text("enter runs")
        await screen.press("slash")
        await screen.type("move to the trash")
        await screen.press("enter", "enter")
        await screen.until_text("moved to the trash")


async def test_in_the_editor_a_key_that_is_no_letter_runs_and_a_line_that_explains_says_so() -> None:
    async with shown() as screen:
        await screen.go("memtui:project/notes.md")
        await screen.press("e")
        await screen.until_text("ctrl+s save")
        await screen.press("f1", "G", "enter")
        await screen.until_text("This line explains")
        await screen.press("slash")
        await screen.type("front matter as a form")
        await screen.press("enter", "enter")
        await screen.until_text("Front matter of")
        await screen.press("escape")
        await screen.until(lambda: screen.browser.editing)


async def test_enter_leaves_the_filter_on_the_line_under_the_cursor() -> None:
    async with shown() as screen:
        await screen.go("memtui:project/notes.md")
        await screen.press("question_mark", "slash")
        await screen.type("memories")
        await screen.press("down", "down")
        help_screen = screen.app.screen
        assert isinstance(help_screen, HelpScreen)
        chosen = help_screen._list.cursor
        await screen.press("enter")
        await screen.until_text("enter runs")
        assert help_screen._list.cursor == chosen


WORDS = frozenset({"title", "name", "dim", "description", "key", "rule", "folder", "scope", "strong", "missing"})
"""Styles of what is no sign."""
EVERY = Signs(*[1] * len(Signs._fields))
ADDRESS = Address("r", "a/notes.md")
MEMORY = Memory(ADDRESS, "global", "files", 5, 5, "x", uses=17, problems=(Problem("x", "A fault."),))
LOOK = RowStyle(10**9)


def signs(runs: Iterable[Run]) -> set[str]:
    """The signs in what is drawn: short, in a style of their own, and with no count behind them."""
    found = {re.sub(r"\d+.*", "", text).strip() for text, style in runs if style not in WORDS}
    return {one for one in found if 0 < len(one) <= 3}


def in_the_tree() -> set[str]:
    forest = Forest()
    forest.load([Root("r", "/r", label="Mine")], [MEMORY])
    forest.losses.set_deleted([ADDRESS._replace(path="a/gone.md")], forest.homes)
    found: set[str] = set()
    known = (health.AILING, health.UNLOADED, *view_rows.SIGNS.values())
    for sign, own in (("", EVERY), *((sign, Signs(1)) for sign in known)):
        forest.index_signs = {ADDRESS: sign}
        for node in forest.rows():
            node.signs = own
            runs = row_runs(node, forest, columns_for(100), LOOK, cursor=True, marked=True)
            found |= signs(runs)
            found |= {"x17"} & {word for text, _ in runs for word in text.split()}
    return found


def in_bars() -> set[str]:
    found = signs(cells.memory_notes(MEMORY, EVERY))
    found |= signs(cells.header(cells.State(totals=EVERY, unseen=2, marked=3), 200))
    for some in (EVERY, Signs(draft=1)):
        lines = [*cells.detail(MEMORY, some, LOOK, 80), *cells.group_detail(3, 9, some, (), 80, deleted=2)]
        found |= {sign for line in lines for sign in signs(line[:1])}
    focused = bars.title("Memories", (), 80, focused=True, plain=False)
    return found | {text[0] for text, style in focused if style == "title-focus"}


def in_texts() -> set[str]:
    found = {title_note(state).split()[0].strip(",") for state in FileState if title_note(state)}
    found |= signs(run for line in text_page(b"x\n", 60, changed={1}) for run in line.runs)
    found |= {sign.strip() for sign, _ in CHANGES.values()} - {""}
    session = MergeSession.of(b"a\n", b"b\n", b"c\n")
    lines, _ = MergedFile().lines(session, 0, 60)
    return found | {text.split()[1] for line in lines for text, style in line if style == "conflict"}


def in_views() -> set[str]:
    fixes = (None, Fix("move it", ()), Fix("move it", (), offered=True))
    made = board(*(finding(DANGLING, f"{at}.md")._replace(fix=fix) for at, fix in enumerate(fixes)))
    found = {health_rows.row_runs(row, made, 80, plain=False)[0][0].strip() for row in made.shown if row.finding}
    given = share(context(item(), left_out=(left("no-place"),), unreviewed=("memtui:project",)))
    for row in hot_rows.rows_of(given):
        if row.kind != hot_rows.CUT:
            found |= signs(
                run for run in hot_rows.row_runs(row, given, 90, hot_rows.HotSetLook())[:2] if run[1] != "number"
            )
            found |= {"--"} if row.left else set()
    loaded = LoadedFile("rule", "/a", CUT_OFF, raw=b"a\nb\nc\n", gaps=(Gap(0, 2, DROPPED), Gap(4, 6, CUT)))
    found |= {line.split()[0] for line in drawn(loaded)[0][-4:] if re.match(r"\S +\d", line)}
    whole = cost_rows.CostRow(
        cost_rows.ITEM, COST, CountedFile(LoadedFile("memory", "/p/a.md", why="Over.", size=9), 9, 1)
    )
    found |= signs(run for run in cost_rows.row_runs(whole, 9, 100, AROUND, plain=False) if run[1] == "warning")
    return found - {""}


def test_every_sign_that_is_shown_is_explained_and_no_other() -> None:
    shown = in_the_tree() | in_bars() | in_texts() | in_views()
    assert shown == {sign for sign, _ in SIGNS}


def test_help_ends_with_every_sign_and_its_meaning() -> None:
    rows = help_rows(ACTIONS, "", ())
    at = next(index for index, row in enumerate(rows) if row.words == SIGNS_TITLE)
    assert [(row.lead, row.words) for row in rows[at + 1 :]] == list(SIGNS)
