"""The conflict screen: one key decides, the counter is right, and only ctrl+s writes, at nothing open."""

from __future__ import annotations

import random
import re
from functools import partial
from pathlib import Path

import pytest

from memtui.ui.action import in_room
from memtui.ui.widgets.scroller import LinesView
from memtui.workbench.actions import ACTIONS
from memtui.workbench.edit.merge.conflict_screen import ConflictScreen
from memtui.workbench.edit.open_memory import FileState
from memtui.workbench.help import HelpScreen
from tests.workbench.edit.merge.stage import (
    AGENT_TEXT,
    BASE,
    THREE_AGENT,
    THREE_BASE,
    YOURS,
    closed,
    conflict,
    disk,
    kept,
    shown_text,
    text_of,
    three,
)
from tests.workbench.shown import resize
from tests.workbench.workbench import until


def says(screen: ConflictScreen, part: str, words: str) -> bool:
    return words in text_of(screen, part)


@pytest.mark.parametrize("key", ["ctrl+s", "f8"])
async def test_both_sides_are_shown_as_changes_from_base_with_the_writer(tmp_path: Path, key: str) -> None:
    async with conflict(tmp_path, key=key) as (bench, _pilot, screen):
        header = text_of(screen, "#conflict-header")
        assert "CONFLICT notes/a.md" in header
        assert "1 open, 1 merged" in header
        assert "BASE as you opened it" in header
        assert "YOURS your unsaved draft" in header
        assert "AGENT claude" in header
        hunk = text_of(screen, "#conflict-hunk")
        assert "+    3  - one{ by me}" in hunk
        assert "+    3  - one{ by agent}" in hunk
        assert "ours" not in header.lower().replace("yours", "")
        assert "ctrl+s is off: 1 conflict is still open" in text_of(screen, "#conflict-foot")
        assert "<open conflict>" in text_of(screen, "#conflict-file")
        assert disk(bench) == AGENT_TEXT


@pytest.mark.parametrize(
    ("key", "line"),
    [
        *[(key, "- one by me") for key in "y1"], *[(key, "- one by agent") for key in "a2"],
        *[(key, "- one") for key in "o0"], *[(key, "- one by me\n- one by agent") for key in "b3"],
        *[(key, "- one by agent\n- one by me") for key in "B4"],
    ],
)  # fmt: skip
async def test_one_key_decides_and_ctrl_s_writes(tmp_path: Path, key: str, line: str) -> None:
    result = f"# Retry\n\n{line}\n- two\n- three\n- four by agent\n".encode()
    async with conflict(tmp_path) as (bench, pilot, screen):
        await pilot.press("ctrl+s", "enter", "space")
        assert disk(bench) == AGENT_TEXT
        await pilot.press(key)
        await until(pilot, lambda: "ctrl+s writes" in text_of(screen, "#conflict-foot"))
        assert disk(bench) == AGENT_TEXT
        await pilot.press("ctrl+s")
        await until(pilot, lambda: disk(bench) == result)
        await until(pilot, lambda: not isinstance(bench.screen, ConflictScreen))
        assert bench.editor.text_area.text == result.decode()
        assert bench.editor.state is FileState.CLEAN
        await until(pilot, lambda: bench.engine.drafts.all() == ())
        assert kept(bench) >= {BASE, YOURS, AGENT_TEXT, result}


async def test_undo_and_redo_of_decisions(tmp_path: Path) -> None:
    async with conflict(tmp_path) as (_bench, pilot, screen):
        await pilot.press("y", "u")
        await until(pilot, lambda: "still open" in text_of(screen, "#conflict-foot"))
        await pilot.press("U")
        await until(pilot, lambda: "ctrl+s writes" in text_of(screen, "#conflict-foot"))
        await pilot.press("x")
        await until(pilot, lambda: "still open" in text_of(screen, "#conflict-foot"))


async def test_the_result_of_one_place_can_be_edited(tmp_path: Path) -> None:
    async with conflict(tmp_path) as (bench, pilot, screen):
        await pilot.press("e")
        await until(pilot, lambda: screen.editing)
        await pilot.press("ctrl+end", "y", "a")
        await pilot.press("ctrl+s")
        await until(pilot, lambda: not screen.editing)
        assert disk(bench) == AGENT_TEXT
        assert screen.session.open == ()
        await pilot.press("ctrl+s")
        await until(pilot, lambda: b"ya" in disk(bench))
        assert kept(bench) >= {BASE, YOURS, AGENT_TEXT}


async def test_any_size_is_survived_and_decisions_stay(tmp_path: Path) -> None:
    async with conflict(tmp_path, size=(100, 30)) as (_bench, pilot, screen):
        await pilot.press("b")
        for size in ((1, 1), (10, 4), (40, 10), (80, 24), (120, 40), (200, 60)):
            await resize(pilot, *size)
            await pilot.pause()
            await pilot.press("e")
            await until(pilot, lambda: screen.editing)
            await pilot.press("escape", "v", "]", "[")
            await resize(pilot, 100, 30)
            await until(pilot, lambda: "both, YOURS first" in text_of(screen, "#conflict-title"))
            assert screen.session.open == ()


@pytest.mark.parametrize("inside", [False, True], ids=["deciding", "editing the result"])
async def test_keys_that_work_everywhere_are_no_fault_here(tmp_path: Path, inside: bool) -> None:
    async with conflict(tmp_path, size=(100, 40)) as (bench, pilot, screen):
        if inside:
            await pilot.press("e")
            await until(pilot, lambda: screen.editing)
        for key in ("f1", "ctrl+p", "question_mark", "M", "q"):
            await pilot.press(key)
            if key == "f1" or (key == "question_mark" and not inside):
                await until(pilot, lambda: bench.screen is not screen)
                assert isinstance(bench.screen, HelpScreen)
                await until(pilot, lambda: "Take YOURS" in shown_text(bench))
                await pilot.press("escape")
            elif key == "q" and not inside:
                await until(pilot, lambda: bench.screen is not screen)
                assert bench.editor.state is FileState.CONFLICT
                break
            elif key in ("ctrl+p", "M") and not (key == "M" and inside):
                await until(pilot, lambda: "does not work here" in text_of(screen, "#conflict-foot"))
            await until(pilot, lambda: bench.screen is screen)
            assert screen.editing is inside
        assert disk(bench) == AGENT_TEXT


@pytest.mark.parametrize(("columns", "all_keys"), [(80, False), (120, True)])
async def test_counts_and_the_keys_that_save_and_leave_are_seen_at_every_width(
    tmp_path: Path, columns: int, all_keys: bool
) -> None:
    async with conflict(tmp_path, size=(columns, 40)) as (_bench, pilot, screen):
        screen.parties = screen.parties._replace(shown=f"notes/{'a-long-folder/' * 9}a.md")
        screen.draw()
        await pilot.press("a")
        await until(pilot, lambda: "-> AGENT" in text_of(screen, "#conflict-title"))
        header, foot = text_of(screen, "#conflict-header"), text_of(screen, "#conflict-foot")
        assert "a-long-folder/a.md " in header
        assert "0 open, 1 merged" in header
        assert all(words in foot for words in ("ctrl+s write", "? help", "esc later"))
        assert re.search(r"ctrl\+s writes \d+ lines: .*\d agent", foot)
        assert ("n next" in foot) is all_keys


async def test_the_counter_is_always_right(tmp_path: Path) -> None:
    chance = random.Random(7)
    async with three(tmp_path) as (bench, pilot, screen):
        for key in chance.choices([*"yabBoxnNuU[]wv", "enter", "tab"], k=40):
            await pilot.press(key)
            still = len([n for n in screen.session.hunks if screen.session.is_open(n)])
            merged = len(
                [n for n in screen.session.hunks if screen.session.choice(n) and n not in screen.session.places]
            )
            words = f"{still} open, {merged} merged"
            await until(pilot, partial(says, screen, "#conflict-header", words))
        assert disk(bench) == THREE_AGENT


async def test_undo_and_redo_go_to_the_place_that_they_decide(tmp_path: Path) -> None:
    async with three(tmp_path) as (_bench, pilot, screen):
        first, second, *_ = screen.session.open
        await pilot.press("y")
        await until(pilot, lambda: screen.index == second)
        await pilot.press("u")
        await until(pilot, lambda: screen.index == first)
        await pilot.press("n", "U")
        await until(pilot, lambda: screen.index == first)
        assert not screen.session.is_open(first)


@pytest.mark.parametrize(("first", "side", "name"), [("Y", "1", "YOURS"), ("A", "2", "AGENT")])
async def test_taking_one_side_for_all_asks_and_another_key_confirms(
    tmp_path: Path, first: str, side: str, name: str
) -> None:
    async with three(tmp_path) as (bench, pilot, screen):
        await pilot.press("o")
        await pilot.press(first)
        await until(pilot, lambda: f"takes {name} for 2 open conflicts" in text_of(screen, "#conflict-foot"))
        await pilot.press(first)
        await until(pilot, lambda: "Cancelled" in text_of(screen, "#conflict-foot"))
        assert len(screen.session.open) == 2
        await pilot.press(first, "!")
        await until(pilot, lambda: screen.session.open == ())
        result = f"a\n=\nb {side}\n=\nc {side}\n=\nd 2\n"
        assert screen.session.result == result
        await pilot.press("u")
        await until(pilot, lambda: len(screen.session.open) == 2)
        await pilot.press("U", "ctrl+s")
        await until(pilot, lambda: disk(bench) == result.encode())


async def test_an_automatically_merged_place_can_be_reopened(tmp_path: Path) -> None:
    async with conflict(tmp_path) as (bench, pilot, screen):
        await pilot.press("y", "]", "x")
        await until(pilot, lambda: "1 open, 0 merged" in text_of(screen, "#conflict-header"))
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "still open" in text_of(screen, "#conflict-foot"))
        await pilot.press("o", "ctrl+s")
        await until(pilot, lambda: disk(bench) == YOURS)
        assert kept(bench) >= {BASE, YOURS, AGENT_TEXT}


async def test_a_decision_is_seen_before_the_next_place_is_shown(tmp_path: Path) -> None:
    async with three(tmp_path, advance=0.3) as (_bench, pilot, screen):
        first, second, third = screen.session.open
        await pilot.press("y")
        await until(pilot, lambda: "-> YOURS" in text_of(screen, "#conflict-title"))
        assert screen.index == first
        await pilot.press("a")  # still this one: what is seen is what is decided
        assert screen.session.choice(first) == "theirs"
        await until(pilot, lambda: screen.index == second)
        await pilot.press("y", "n")
        assert screen.index == third
        assert screen.session.choice(second) == "yours"
        await pilot.press("b")
        await until(pilot, lambda: screen.session.open == ())
        assert screen.index == third


async def test_the_next_place_can_be_shown_only_on_request(tmp_path: Path) -> None:
    async with three(tmp_path, advance=None) as (_bench, pilot, screen):
        first, second, _ = screen.session.open
        await pilot.press("y", "j", "k")
        await pilot.pause(0.5)
        assert screen.index == first
        await pilot.press("n")
        assert screen.index == second


@pytest.mark.parametrize("views", [0, 1, 2])
@pytest.mark.parametrize("size", [(80, 24), (200, 60)])
async def test_every_key_means_the_same_in_every_view(tmp_path: Path, size: tuple[int, int], views: int) -> None:
    async with three(tmp_path, size=size) as (bench, pilot, screen):
        await pilot.press(*"v" * views)
        await pilot.press("y", "B", "w", "]", "[", "tab", "j", "k", "N", "o", "u", "U", "enter", "x", "a")
        # None is open after `o` already: only what comes of all keys is waited for.
        await until(pilot, lambda: screen.session.result == "a 1\n=\nb 2\nb 1\n=\nc 2\n=\nd 2\n")
        assert screen.session.open == ()
        assert screen.pair == 1
        assert disk(bench) == THREE_AGENT


@pytest.mark.parametrize(("columns", "views"), [(80, 2), (120, 3)])
async def test_v_goes_through_the_views_there_is_room_for(tmp_path: Path, columns: int, views: int) -> None:
    async with conflict(tmp_path, size=(columns, 40)) as (bench, pilot, screen):
        seen = [screen.view]
        for _ in range(views):
            await pilot.press("v")
            seen.append(screen.view)
        assert seen[0] == seen[-1]
        assert len(set(seen)) == views
        assert "result" in seen
        await pilot.press(*"v" * seen.index("result"))
        await until(pilot, lambda: not screen.query_one("#conflict-hunk").display)
        assert "<open conflict>" in shown_text(bench)
        assert "[y] or 1" not in shown_text(bench)


async def test_w_says_which_words_are_compared(tmp_path: Path) -> None:
    async with conflict(tmp_path) as (_bench, pilot, screen):
        assert "{ by me}" in text_of(screen, "#conflict-hunk")
        for words in ("YOURS with AGENT", "BASE with YOURS", "BASE with AGENT"):
            await pilot.press("w")
            await until(pilot, partial(says, screen, "#conflict-title", f"words: {words}"))
        assert "{ by me}" not in text_of(screen, "#conflict-hunk")
        await pilot.press("w")
        await until(pilot, lambda: "words:" not in text_of(screen, "#conflict-title"))


async def test_an_edit_that_was_dropped_leaves_the_place_as_it_was(tmp_path: Path) -> None:
    async with conflict(tmp_path) as (_bench, pilot, screen):
        await pilot.press("b", "e")
        await until(pilot, lambda: screen.editing)
        assert screen.small.text == "- one by me\n- one by agent\n"
        await pilot.press("z", "escape")
        await until(pilot, lambda: not screen.editing)
        assert screen.session.choice(screen.index) == "both"


@pytest.mark.parametrize("keys", ["", "z", "e", "ze"])
async def test_the_footer_stands_at_the_bottom_and_an_edit_has_the_rows_that_are_left(
    tmp_path: Path, keys: str
) -> None:
    async with conflict(tmp_path, size=(60, 15)) as (_bench, pilot, screen):
        await pilot.press(*keys)
        await until(pilot, lambda: screen.editing is ("e" in keys))
        for columns, rows in ((60, 15), (80, 24), (120, 29), (120, 40)):
            await resize(pilot, columns, rows)
            await until(pilot, lambda: screen.query_one("#conflict-foot").region.bottom == rows)  # noqa: B023
            assert screen.max_scroll_y == 0
            if rows == 24 and keys == "e":
                assert screen.small.size.height > 6


@pytest.mark.parametrize("editing", [False, True])
async def test_nothing_is_cut_off_at_the_smallest_and_the_largest_size(tmp_path: Path, editing: bool) -> None:
    async with conflict(tmp_path, size=(60, 15)) as (bench, pilot, screen):
        if editing:
            await pilot.press("e")
            await until(pilot, lambda: screen.editing)
        for size in ((60, 15), (80, 24), (200, 60)):
            await resize(pilot, *size)
            await until(pilot, lambda: bench.screen.size == size and "CONFLICT notes/a.md" in shown_text(bench))  # noqa: B023
            assert ("esc drop it" if editing else "ctrl+s is off: 1 conflict is still open") in shown_text(bench)
            assert screen.max_scroll_y == 0


async def test_z_gives_the_place_or_the_file_the_whole_screen_and_esc_takes_it_back(tmp_path: Path) -> None:
    async with conflict(tmp_path, size=(100, 30)) as (bench, pilot, screen):
        place, file = screen.query_one("#conflict-hunk"), screen.query_one("#conflict-file")
        before = place.size.height, file.size.height
        await pilot.press("z")
        await until(pilot, lambda: not file.display or file.size.height == 0)
        assert screen.zoomed == "place"
        await pilot.press("z")
        await until(pilot, lambda: (place.size.height, file.size.height) == before)
        file.focus()
        await pilot.pause()
        await pilot.press("z")
        await until(pilot, lambda: not place.display and file.size.height > before[1])
        await pilot.press("escape")
        await until(pilot, lambda: (place.size.height, file.size.height) == before)
        assert bench.screen is screen
        await pilot.press("y")
        await until(pilot, lambda: says(screen, "#conflict-header", "0 open"))


async def test_a_screen_that_is_too_small_says_which_size_it_needs(tmp_path: Path) -> None:
    async with conflict(tmp_path) as (bench, pilot, screen):
        for columns, rows in ((20, 5), (80, 11), (29, 24)):
            await resize(pilot, columns, rows)
            await until(pilot, lambda: f"needs 30x12, this is {columns}x{rows}." in shown_text(bench))  # noqa: B023
            await resize(pilot, 80, 24)
            await until(pilot, lambda: "<open conflict>" in shown_text(bench))
            assert says(screen, "#conflict-header", "CONFLICT notes/a.md")


async def test_the_other_side_stays_in_sight_while_the_result_is_edited(tmp_path: Path) -> None:
    async with conflict(tmp_path) as (bench, pilot, _):
        await pilot.press("e")
        await until(pilot, lambda: "ctrl+s takes this text" in shown_text(bench))
        for words in ("one{ by me}", "one{ by agent}"):
            assert words in shown_text(bench)


async def test_the_file_begins_at_the_open_conflict_when_it_is_opened_again(tmp_path: Path) -> None:
    head = "".join(f"line {number}\n" for number in range(200)).encode()
    async with conflict(tmp_path, base=head + BASE, yours=head + YOURS, agent=head + AGENT_TEXT) as (
        bench,
        pilot,
        screen,
    ):
        await until(pilot, lambda: "<open conflict>" in shown_text(bench))
        assert screen.query_one("#conflict-file", LinesView).top > 150


async def test_what_is_masked_is_revealed_until_another_place_is_gone_to(tmp_path: Path) -> None:
    token = "gh" + "p_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    yours = THREE_AGENT.replace(b"a 2", f"a {token}".encode()).replace(b"b 2", b"b 1")
    async with conflict(tmp_path, base=THREE_BASE, yours=yours, agent=THREE_AGENT, size=(120, 40)) as (
        bench,
        pilot,
        screen,
    ):
        await until(pilot, lambda: "[masked: GitHub token]" in shown_text(bench))
        assert token[:12] not in shown_text(bench)
        await pilot.press("V")
        await until(pilot, lambda: token in shown_text(bench) and says(screen, "#conflict-foot", "V masks it"))
        await pilot.press("n")
        await until(pilot, lambda: screen.index != 0 and token[:12] not in shown_text(bench))
        await pilot.press("N", "V")
        await until(pilot, lambda: token in shown_text(bench))
        await pilot.press("V")
        await until(pilot, lambda: says(screen, "#conflict-foot", "Masked again") and token not in shown_text(bench))


async def test_base_has_a_column_of_its_own_from_160_columns_on(tmp_path: Path) -> None:
    async with conflict(tmp_path, size=(200, 60)) as (_bench, pilot, screen):
        first = text_of(screen, "#conflict-hunk").split("\n")[0]
        assert first.index("YOURS") < first.index("BASE") < first.index("AGENT")
        await resize(pilot, 120, 40)
        await until(pilot, lambda: text_of(screen, "#conflict-hunk").lstrip().startswith("BASE"))


async def test_tab_moves_between_the_place_and_the_file(tmp_path: Path) -> None:
    async with conflict(tmp_path) as (_bench, pilot, screen):
        seen = set()
        for _ in range(3):
            seen.add(screen.focused.id if screen.focused else "")
            await pilot.press("tab")
        assert {"conflict-hunk", "conflict-file"} <= seen


async def test_what_is_said_is_folded_and_never_cut(tmp_path: Path) -> None:
    async with conflict(tmp_path) as (bench, pilot, screen):
        screen.say("A long sentence about what happened to the memory. " * 2 + "Its end.")
        await until(pilot, lambda: "Its end." in shown_text(bench))


LEAVE = {"later", "write_result", "save_as"}
"""Actions that leave the screen, or that say before what they write."""
NAMES = {"!": "exclamation_mark", "]": "right_square_bracket", "[": "left_square_bracket"}


def keys() -> list[str]:
    """Every key of the screen that decides, edits, moves or looks."""
    found = [key for action in in_room("conflict", actions=ACTIONS) if action.id not in LEAVE for key in action.keys]
    return [*found, "enter", "space", "tab", "d", "t", "p"]


async def test_point_06_no_key_but_ctrl_s_writes_and_that_one_only_at_nothing_open(tmp_path: Path) -> None:
    async with conflict(tmp_path, size=(120, 40)) as (bench, pilot, screen):
        before = bench.path("a.md").stat()
        for key in keys():
            await pilot.press(*(NAMES.get(part, part) for part in key.split(" ")))
            if screen.editing:
                await pilot.press("escape")
            await pilot.press("o", "x")
            await until(pilot, lambda: bool(screen.session.open))
            await pilot.press("ctrl+s")
            assert "ctrl+s is off: " in text_of(screen, "#conflict-foot"), key
            assert disk(bench) == AGENT_TEXT, key
        after = bench.path("a.md").stat()
        assert (after.st_mtime_ns, after.st_ino) == (before.st_mtime_ns, before.st_ino)
        await pilot.press("y")
        await until(pilot, lambda: not screen.session.open)
        await pilot.press("ctrl+s")
        await closed(bench, pilot)
        await until(pilot, lambda: disk(bench) != AGENT_TEXT)
