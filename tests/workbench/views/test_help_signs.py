"""The signs that rows, titles and texts show in every state are those that help explains, and no others."""

import re
from collections.abc import Iterable

from memtui.agents.agent import CUT_OFF
from memtui.agents.loaded_text import CUT, DROPPED, Gap
from memtui.agents.session_start import LoadedFile
from memtui.engine.model import Address, Memory, Problem, Root
from memtui.features.cost import view_rows as cost_rows
from memtui.features.cost.start_cost import CountedFile
from memtui.features.health import texts
from memtui.features.health import view_rows as health_rows
from memtui.features.health.model import DANGLING, Fix
from memtui.features.hot_set import view_rows as hot_rows
from memtui.ui.draw import bars
from memtui.ui.draw.pages import text_page
from memtui.ui.draw.text import RowStyle, Run
from memtui.workbench.actions import ACTIONS, SIGNS
from memtui.workbench.browse import health
from memtui.workbench.edit.merge.conflict_lines import SIGNS as CHANGES
from memtui.workbench.edit.merge.conflict_lines import MergedFile
from memtui.workbench.edit.merge.decisions import MergeSession
from memtui.workbench.edit.open_memory import FileState, title_note
from memtui.workbench.help import SIGNS_TITLE, help_rows
from memtui.workbench.tree import cells
from memtui.workbench.tree.cells import columns_for, row_runs
from memtui.workbench.tree.forest import Forest
from memtui.workbench.tree.nodes import Signs
from tests.features.cost.test_view_rows import AROUND, COST
from tests.features.cost.test_view_rows_texts import drawn
from tests.features.health.test_view_rows import board, finding
from tests.features.hot_set.test_view_rows import context, item, left, share

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
    known = (health.AILING, health.UNLOADED, *texts.SIGNS.values())
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
