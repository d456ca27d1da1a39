"""Rows of the start cost and the page beside each: exact widths, shares in signs, cut lines, hostile texts."""

from typing import Any, cast

import pytest

from memtui.agents import loaded_text
from memtui.agents.agent import APPROVAL, CUT_OFF, MATCHING, ON_DEMAND, SKIPPED
from memtui.agents.loaded_text import DROPPED, Gap
from memtui.agents.session_start import LoadedFile
from memtui.config.surroundings import Surroundings
from memtui.engine.model import Address
from memtui.features.cost import view_rows
from memtui.features.cost.start_cost import Cost, CountedFile
from memtui.features.cost.view_rows import (
    AGENT,
    ALL,
    CUT,
    ITEM,
    CostRow,
    item_rows,
    percent,
    row_runs,
    summary_lines,
)
from memtui.safe_text import cell_width
from memtui.ui.draw.pages import Page
from tests.workbench.shown import engine_with

AROUND = Surroundings("/home/ann", "/p", "/p", "/p", "w", "/d")
ITEMS = (
    CountedFile(LoadedFile("instructions", "/p/" + "deep/" * 20 + "\x1b[2J[red]CLAUDE.md", size=9), 9, 3),
    CountedFile(LoadedFile("import", "/etc/x.md", APPROVAL, "Out.", depth=3), 0, 0),
    CountedFile(LoadedFile("rule", "/home/ann/r.md", MATCHING, "paths: x"), 0, 0),
    CountedFile(
        LoadedFile("index", "/p/MEMORY.md", CUT_OFF, "Limits.", 99, b"x" * 9, (Gap(9, 99, loaded_text.CUT),)), 9, 97
    ),
    CountedFile(LoadedFile("memory", "/p/over.md", why="Over.", size=9), 9, 0),
)
COST = Cost("x", "An agent\x1b", "/p", ITEMS, "estimate", "Estimated.")


def test_a_cut_file_has_a_line_below_it_and_loaded_ones_a_number() -> None:
    rows = item_rows(COST)
    assert [row.kind for row in rows] == [ALL, ITEM, ITEM, ITEM, ITEM, CUT, ITEM]
    assert [row.number for row in rows] == [0, 1, 0, 0, 2, 0, 3]
    assert len({row.key for row in rows}) == len(rows)


@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize("width", [10, 20, 40, 55, 80, 120])
def test_rows_fit_and_are_safe(width: int, *, plain: bool) -> None:
    for row in (CostRow(AGENT, COST), *item_rows(COST)):
        runs = row_runs(row, 100, width, AROUND, plain=plain)
        text = "".join(piece for piece, _ in runs)
        assert cell_width(text) <= width
        assert "\x1b" not in text
        assert not plain or text.isascii()
    for line in summary_lines((COST,), COST, width, "c", plain=plain):
        assert cell_width("".join(piece for piece, _ in line)) <= width


def test_marks_are_words() -> None:
    def shown(number: int, width: int) -> str:
        return "".join(piece for piece, _ in row_runs(item_rows(COST)[number], 100, width, AROUND, plain=False))

    assert "needs approval" in shown(2, 60)
    assert "only when matching files are touched" in shown(3, 100)
    assert "matching files" in shown(3, 60)
    assert "~/r.md" in shown(3, 100)
    assert "cut" in shown(4, 60)
    assert "90 B of it are not loaded" in shown(5, 60)
    assert "! " in shown(6, 60)


def test_shares() -> None:
    assert [percent(*pair) for pair in ((0, 9), (1, 1_000), (1, 2), (1, 0))] == ["", "<1 %", "50 %", ""]


def texts(page: Page) -> list[str]:
    return ["".join(text for text, _ in line.runs) for line in page]


def drawn(loaded: LoadedFile, width: int = 60, address: Address | None = None) -> tuple[list[str], tuple[int, ...]]:
    item = CountedFile(loaded, len(loaded.text), 1, address)
    row = CostRow(ITEM, COST, item)
    page, starts = view_rows.page(engine_with().engine, row, AROUND, width, plain=True)
    return texts(page), starts


def test_what_is_below_the_cut_is_marked() -> None:
    raw = b"one\ntwo\nthree\nfour\n"
    lines, starts = drawn(LoadedFile("index", "/a", CUT_OFF, "Limits.", 19, raw, (Gap(8, 19, loaded_text.CUT),)))
    at = starts[0]
    assert lines[at].startswith("-- cut here: 2 lines, 11 bytes are not loaded -")
    assert lines[at - 1].endswith("two")
    assert lines[at + 1].startswith("x  3  three")
    assert lines[at + 2].startswith("x  4  four")


def test_a_folded_line_keeps_its_place_below_the_cut() -> None:
    raw = b"one\n" + b"word " * 20 + b"\n"
    lines, starts = drawn(
        LoadedFile("index", "/a", CUT_OFF, raw=raw, gaps=(Gap(4, len(raw), loaded_text.CUT),)), width=40
    )
    assert lines[starts[0] + 1].startswith("x  2  word")
    assert lines[starts[0] + 2].startswith("x     word")


def test_what_the_agent_drops_is_marked_too() -> None:
    lines, starts = drawn(LoadedFile("rule", "/a", raw=b"---\na: b\n---\ntext\n", gaps=(Gap(0, 13, DROPPED),)))
    assert [line[0] for line in lines[-4:]] == ["-", "-", "-", " "]
    assert starts == ()


def test_a_cut_inside_a_line_comes_after_it_and_a_middle_goes_on() -> None:
    lines, starts = drawn(
        LoadedFile("x", "/a", CUT_OFF, raw=b"long line\nnext\nlast\n", gaps=(Gap(4, 15, loaded_text.CUT),))
    )
    assert lines[starts[0] - 1].endswith("long line")
    assert lines[starts[0] + 1].startswith("x  2  next")
    assert lines[starts[0] + 2].startswith("   3  last")


def test_a_cut_behind_what_was_read_is_shown_at_the_end() -> None:
    lines, starts = drawn(LoadedFile("x", "/a", CUT_OFF, size=50, raw=b"one\n", gaps=(Gap(4, 50, loaded_text.CUT),)))
    assert starts == (len(lines) - 1,)


def test_a_memory_that_is_not_loaded_shows_its_text_and_another_file_its_reason() -> None:
    address = Address.parse("memtui:project/notes.md")
    lines, _ = drawn(LoadedFile("memories", "/a", ON_DEMAND, "Later.", 7), address=address)
    assert " Later." in lines
    assert lines[-1].endswith("Notes.")
    lines, _ = drawn(LoadedFile("memories", "/a", ON_DEMAND, "Later.", 7), address=Address("memtui:project", "gone.md"))
    assert "gone.md" in lines[-1]
    lines, _ = drawn(LoadedFile("memories", "/a", ON_DEMAND, "Later.", 7))
    assert lines[-2:] == [" Later.", ""]


def test_hostile_texts_are_safe() -> None:
    lines, _ = drawn(LoadedFile("x", "/a", raw="a\x1b[2J[red]\u202e\n".encode()))
    assert not [line for line in lines if "\x1b" in line or "\u202e" in line]
    lines, _ = drawn(LoadedFile("x", "/a", raw=b"\xff\n"))
    assert "Not UTF-8" in lines[-2]


def test_the_sums_say_everything() -> None:
    page, _ = view_rows.page(cast("Any", None), item_rows(COST)[0], AROUND, 100, plain=True)
    words = "\n".join(texts(page))
    for said in (
        "100 tokens",
        "90 bytes are past",
        "1 file loaded only when matching",
        "What costs most:",
    ):
        assert said in words
    assert words.index("MEMORY.md") < words.index("CLAUDE.md")


def test_files_that_are_not_listed_are_counted() -> None:
    more = CountedFile(LoadedFile("memories", "and 8 more", ON_DEMAND, made=True, stands_for=8), 0, 0)
    listed = CountedFile(LoadedFile("memories", "/a", ON_DEMAND), 0, 0)
    cost = Cost("x", "X", "/p", (listed, more), "", "")
    page, _ = view_rows.page(cast("Any", None), item_rows(cost)[0], AROUND, 100, plain=True)
    assert "9 files to be read on demand, not at the start." in "\n".join(texts(page))


def test_a_reason_that_all_skipped_files_share_is_said_at_once() -> None:
    off = [CountedFile(LoadedFile("memories", f"/{name}", SKIPPED, "Switched off."), 0, 0) for name in "ab"]
    cost = Cost("x", "X", "/p", tuple(off), "", "")
    page, _ = view_rows.page(cast("Any", None), item_rows(cost)[0], AROUND, 100, plain=True)
    assert "2 files skipped. Switched off." in "\n".join(texts(page))


def test_of_several_reasons_those_of_most_files_are_said() -> None:
    def skipped(why: str, count: int) -> CountedFile:
        return CountedFile(LoadedFile("memories", why, SKIPPED, why, made=True, stands_for=count), 0, 0)

    some = (skipped("Too large.", 1), skipped("Off.", 240), skipped("Off.", 2))
    cost = Cost("x", "X", "/p", some, "", "")
    page, _ = view_rows.page(cast("Any", None), item_rows(cost)[0], AROUND, 100, plain=True)
    said = "\n".join(texts(page))
    assert said.index("242 files skipped. Off.") < said.index("1 file skipped. Too large.")


def test_a_long_path_keeps_its_end_and_takes_one_line() -> None:
    loaded = LoadedFile("index", "/p/" + "long/" * 20 + "MEMORY.md", raw=b"one")
    cost = Cost("x", "X", "/q", (CountedFile(loaded, 3, 1),), "", "")
    page, _ = view_rows.page(cast("Any", None), item_rows(cost)[0], AROUND, 60, plain=True)
    assert texts(page)[-1].endswith("/MEMORY.md")
    assert len(texts(page)[-1]) <= 60


def test_what_is_copied_is_what_is_loaded() -> None:
    cost = Cost(
        "x",
        "X",
        "/p",
        (CountedFile(LoadedFile("a", "/a", raw=b"one"), 3, 1), CountedFile(LoadedFile("b", "/b", raw=b"two"), 3, 1)),
        "",
        "",
    )
    rows = item_rows(cost)
    assert view_rows.copied(rows, rows[0]) == "one\ntwo"
    assert view_rows.copied(rows, rows[1]) == "one"
