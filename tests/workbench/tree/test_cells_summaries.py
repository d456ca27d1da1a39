"""What header, titles, details and footer say at each width."""

from __future__ import annotations

import pytest

from memtui.engine.model import Address, Health, Memory, Problem
from memtui.safe_text import cell_width
from memtui.ui.action import in_room
from memtui.ui.draw import bars
from memtui.ui.draw.text import Line, RowStyle
from memtui.workbench.actions import ACTIONS, BROWSER_ROOMS, BY_ID
from memtui.workbench.tree import cells
from memtui.workbench.tree.nodes import NO_SIGNS, Signs

NOW = 1_767_225_600_000
LOOK = RowStyle(NOW)
WIDTHS = [20, 39, 60, 80, 100, 120, 160, 200]
MEMORY = Memory(Address("memtui:project", "decisions/retry.md"), "project", "memtui", 2_100, NOW, "a" * 64, "Retries")


def words(line: Line) -> str:
    return "".join(text for text, _ in line)


@pytest.mark.parametrize("width", WIDTHS)
def test_the_header_is_as_wide_as_the_screen(width: int) -> None:
    state = cells.State("acme-api", "fix-login", Signs(1, 3, 1, 2), 4, Health("polling", "no events"), read_only=True)
    assert cell_width(words(cells.header(state, width))) in (width, width + 1) or width < 60


def test_the_header_counts_what_needs_the_user() -> None:
    state = cells.State("acme-api", "fix-login", Signs(5, 3, 1, 2), 4)
    assert words(cells.header(state, 80)).split() == [
        "memtui", "|", "acme-api", "|", "fix-login", "!1", "conflict", "A4", "agent", "edits", "~2", "drafts",
    ]  # fmt: skip
    assert "A4 agent edits" in words(cells.header(state, 120))


@pytest.mark.parametrize(
    ("width", "said"), [(90, "R2 proposed  A4 agent"), (80, "R2 proposed  A4 edits"), (70, "R2  A4 edits")]
)
def test_what_waits_in_review_gets_shorter_word_by_word(width: int, said: str) -> None:
    assert said in words(cells.header(cells.State("acme-api", "fix-login", Signs(5, 3, 1, 2), 4, proposed=2), width))


@pytest.mark.parametrize("count", [1, 4])
def test_the_header_leaves_out_a_word_whole_where_there_is_no_room(count: int) -> None:
    state = cells.State("acme-api", "fix-login", Signs(5, 3, 1, 2), count, read_only=True, health=Health("polling", ""))
    line = words(cells.header(state, 86))
    assert f"A{count} edit{'s' if count > 1 else ''}  ~2 drafts" in line
    assert "memtui | acme-api | fix-login " in line
    assert "agent" not in line


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("focused", [True, False])
def test_titles_fill_their_line(width: int, focused: bool) -> None:
    line = bars.title("memtui:project/decisions/retry.md", [("7 kept", "title")], width, focused=focused, plain=True)
    assert cell_width(words(line)) == width
    assert words(line).isascii()
    assert (">" in words(line)) == focused


def test_what_has_to_be_known_stays_in_a_title_where_not_all_notes_fit() -> None:
    notes: Line = [("newest 385 found", "title"), (" | /shard", "agent"), (" | rebuild: 1,500 of 6,005", "agent")]
    told = {100: "newest 385 found | /shard | rebuild: 1,500 of 6,005", 60: "/shard | rebuild: 1,500 of 6,005"}
    told |= {50: "rebuild: 1,500 of 6,005", 40: ""}
    for width, kept in told.items():
        line = words(bars.title("Observed", notes, width, focused=False, plain=True))
        assert len(line) == width
        assert line.removeprefix("-- Observed ").strip("- ") == kept


def test_a_memorys_title_says_how_many_versions_are_kept_and_its_marks() -> None:
    assert words(cells.memory_notes(MEMORY._replace(version=1), NO_SIGNS)) == "1 version"
    assert words(cells.memory_notes(MEMORY._replace(version=7), Signs(1, 0, 0, 1))) == "7 versions P ~"


def test_the_trees_title_says_what_is_shown() -> None:
    notes = cells.tree_notes(3, 20, filtered=True, sort="age", reverse=True, marked=2, only="unseen")
    assert words(notes) == "3 of 20 | unseen | age reversed | 2 marked"
    assert words(cells.tree_notes(20, 20, filtered=False, sort="name", reverse=False, marked=0, only="")) == "20 | name"
    for room, told in ((80, "3 of 20 | /scratch | name | 18 marked"), (35, "3 of 20 | /scratch | 18 marked"),
                       (25, "3 of 20 | 18 marked"), (5, "3 of 20 | 18 marked")):  # fmt: skip
        notes = cells.tree_notes(
            3, 20, filtered=True, sort="name", reverse=False, marked=18, only="/scratch", room=room
        )
        assert words(notes) == told, "the count of the marks is always there"


def test_details_say_what_a_memory_asks_for() -> None:
    memory = MEMORY._replace(uses=17, last_used_at=NOW, problems=(Problem("clash", "Two names differ only by case."),))
    text = [words(line) for line in cells.detail(memory, Signs(1, 1, 1, 1), LOOK, 80)]
    assert text[0].strip() == "Retries"
    assert "pinned | used 17x, last just now | 2.1 kB" in text[1]
    assert text[2].startswith(" ! your draft")
    assert text[3].startswith(" A changed")
    assert text[4].startswith(" ? Two names")
    assert not cells.detail(MEMORY, NO_SIGNS, LOOK, 80)[2:]


@pytest.mark.parametrize("width", [80, 100, 120, 200])
def test_the_footer_fits_and_ends_with_help(width: int) -> None:
    end = [action for action in ACTIONS if action.id in ("help", "palette")]
    text = words(bars.footer(in_room(*BROWSER_ROOMS, actions=ACTIONS), width, end=end))
    assert cell_width(text) <= width
    assert text.rstrip().endswith("? help  : commands")
    assert text.startswith(" enter edit  / filter  space mark")


def test_the_footer_leads_with_what_is_done_with_marked_ones() -> None:
    end = [action for action in ACTIONS if action.id in ("help", "palette")]
    text = words(bars.footer(cells.ranked(in_room(*BROWSER_ROOMS, actions=ACTIONS), cells.MARKED), 80, end=end))
    assert text.startswith(" d t trash  r move  C copy to  p pin  u undo  esc unmark ")
    assert cell_width(text) <= 80


def test_the_footer_drops_whole_keys_only() -> None:
    text = words(bars.footer([BY_ID["pin"], BY_ID["new"]], 12, end=()))
    assert text.split() == ["p", "pin"] or text.split() == []


def test_a_message_keeps_the_ends_of_addresses_and_points_at_what_is_left_out() -> None:
    said = " claude-code:project:-home-ann-some-long-path/notes.md moved to the trash; u brings it back."
    line: Line = [(said, "good")]
    assert bars.message(line, 120) == line
    assert words(bars.message(line, 80)).endswith("/notes.md moved to the trash; u brings it back.")
    assert words(bars.message(line, 50)).endswith("…  M shows it whole")


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("plain", [False, True])
def test_a_message_fits(width: int, plain: bool) -> None:
    line: Line = [(" " + "word " * 60 + "memtui:global/" + "folder/" * 20, "error")]
    assert cell_width(words(bars.message(line, width, plain=plain))) <= width
