"""Rows have fixed columns at every width, say everything without colour, and are safe."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.engine.model import Address, Memory, Problem, Root, RootStatus
from memtui.safe_text import cell_width
from memtui.ui.draw.text import RowStyle, both_ends, count_words, fit, size_words
from memtui.workbench.tree.cells import columns_for, description, row_runs
from memtui.workbench.tree.forest import Forest

NOW = 1_767_225_600_000
MINUTE = 60_000


def row(name: str = "notes.md", width: int = 79, *, plain: bool = False, **fields: object) -> str:
    memory = Memory(Address("r", name), "global", "files", 10, NOW, "a" * 64)._replace(**fields)  # type: ignore[arg-type]
    forest = Forest()
    forest.load([Root("r", "/r")], [memory])
    node = forest.nodes[memory.address]
    look = RowStyle(NOW, plain)
    return "".join(text for text, _ in row_runs(node, forest, columns_for(width), look, cursor=True, marked=True))


def group(width: int, count: int = 3, **fields: object) -> str:
    memories = [
        Memory(Address("r", f"dir/{n}.md"), "global", "files", 2000, NOW, "a")._replace(**fields)  # type: ignore[arg-type]
        for n in range(count)
    ]
    forest = Forest()
    forest.load([Root("r", "/r", label="Mine")], memories)
    node = forest.rows()[0]
    return "".join(
        text for text, _ in row_runs(node, forest, columns_for(width), RowStyle(NOW), cursor=False, marked=False)
    )


def test_a_row_says_everything() -> None:
    text = row(pinned=True, unseen=True, description="Short notes", uses=17, modified_at=NOW - 12 * MINUTE)
    assert text == f"{'>*    notes.md':<34}{'PA':<5}{'Short notes':<30}{'x17':>5}{'12m':>5}"


@pytest.mark.parametrize("width", [57, 79, 120])
def test_a_missing_memory_says_so_at_every_width(width: int) -> None:
    assert row(width=width, missing=True, uses=17).endswith("missing")


def test_a_root_that_cannot_be_read_says_so() -> None:
    forest = Forest()
    root = Root("r", "/r", label="Mine")
    forest.load([root], [])
    problem = Problem("E_PERMISSION", "Opening the folder of r failed: Permission denied.")
    forest.statuses = {"r": RootStatus(root, True, False, True, 0, 0, False, (problem,))}  # noqa: FBT003
    node = forest.rows()[0]
    for width in (40, 79):
        runs = row_runs(node, forest, columns_for(width), RowStyle(NOW), cursor=False, marked=False)
        assert "".join(text for text, _ in runs).endswith("? unreadable")


def test_a_row_without_room_for_a_description_gives_it_to_the_name() -> None:
    name = "session_2025_09_01_review_of_the_checkout.md"
    text = row(name, width=64, description="Short notes", uses=17, modified_at=NOW - 12 * MINUTE)
    assert name[:36] in text
    assert "Short" not in text
    assert text.endswith("  x17  12m")


def test_a_short_name_leaves_room_for_a_description_and_for_more_of_it_without_signs() -> None:
    words = "Text messages to standby passengers are sent ten minutes before boarding"
    text = row("fares.md", width=62, description=words, uses=17)
    assert text.endswith("… x17  now")
    assert "Text messages to standby" in text
    assert "standby passen" in row("fares.md", width=62, description=words)
    signed = row("fares.md", width=62, description=words, unseen=True)
    assert signed.index("A ") == row("much_longer_name_than_that_one.md", width=62, unseen=True).index("A ")
    assert "Text messages" in signed
    assert "Text" in row("project_accounts_secrets.md", width=62, description=words)


@pytest.mark.parametrize("width", [40, 57, 62, 79, 120])
def test_a_fault_has_a_sign_at_every_width_and_what_its_agent_does_with_it_has_none(width: int) -> None:
    fault = (Problem("hidden-characters", "It holds characters that cannot be seen."),)
    assert "? " in row(width=width, problems=fault)
    assert "?" not in row(width=width, problems=(Problem("generated", "The agent regenerates it."),))
    assert "PA? " in row(width=width, problems=fault, pinned=True, unseen=True)


def test_a_narrow_row_has_name_and_signs() -> None:
    text = row(width=39, pinned=True, description="Short notes", uses=17)
    assert text.split() == [">*", "notes.md", "P"]


def test_a_group_has_sums_files_and_size() -> None:
    assert group(79, unseen=True).split() == ["▾", "GLOBAL", "Mine", "A3", "3", "files", "6.0", "kB"]
    assert group(39).split() == ["▾", "GLOBAL", "Mine", "3"]


def test_a_root_whose_agent_loads_nothing_says_so() -> None:
    forest = Forest()
    forest.load(
        [Root("r", "/r", label="Mine", switched_off="in ~/x")],
        [Memory(Address("r", "a.md"), "global", "files", 2000, NOW, "a")],
    )
    said = [
        "".join(
            text for text, _ in row_runs(node, forest, columns_for(width), RowStyle(NOW), cursor=False, marked=False)
        )
        for width in (79, 30)
        for node in forest.rows()[:2]
    ]
    assert ["switched off  1 file" in text for text in said[:2]] == [True, False]
    assert ["off  1" in text for text in said[2:]] == [True, False]
    assert [cell_width(text) for text in said] == [79, 79, 30, 30]


@given(
    st.text(min_size=1, max_size=60).filter(lambda text: "/" not in text),
    st.text(max_size=120),
    st.sampled_from([20, 39, 55, 56, 64, 79, 119, 199]),
    st.booleans(),
)
def test_every_row_is_exactly_as_wide_as_its_columns(name: str, words: str, width: int, plain: bool) -> None:
    text = row(name, width, plain=plain, description=words, unseen=True, uses=3)
    assert cell_width(text) == width
    assert not any(ord(letter) < 32 or 0x7F <= ord(letter) < 0xA0 for letter in text)


@pytest.mark.parametrize("width", [39, 56, 79, 119])
@pytest.mark.parametrize("count", [1, 1200])
def test_every_group_is_exactly_as_wide_as_its_columns(width: int, count: int) -> None:
    assert cell_width(group(width, count, unseen=True, pinned=True)) == width


@pytest.mark.parametrize(
    ("size", "words"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (2_100, "2.1 kB"), (88_000, "88 kB"), (1_400_000, "1.4 MB")],
)
def test_sizes(size: int, words: str) -> None:
    assert size_words(size) == words


def test_counts() -> None:
    assert [count_words(n, "memory") for n in (1, 2)] == ["1 memory", "2 memories"]
    assert count_words(1234, "file") == "1,234 files"


def test_fit_pads_and_cuts_on_either_side() -> None:
    assert fit("abc", 5) == "abc  "
    assert fit("abc", 5, right=True) == "  abc"
    assert fit("abcdef", 4) == "abc…"
    assert fit("abc", 0) == ""


def test_a_fault_comes_before_the_description() -> None:
    memory = Memory(
        Address("r", "a"), "global", "files", 0, 0, None, "Says", problems=(Problem("E_SYMLINK", "a link"),)
    )
    assert description(memory) == ("a link", "problem")
    assert description(memory._replace(problems=(Problem("look-alike", "x"),))) == ("Says", "description")
    assert description(memory._replace(problems=(Problem("being-written", "x"),)))[0] == "being written"
    assert description(memory._replace(problems=(), missing=True))[0] == "gone from disk"


def test_ascii_rows_have_only_ascii() -> None:
    assert row("a\x1bb\u202e.md", plain=True, description="\x1b[31m" + "x" * 100).isascii()
    assert group(79).replace("▾", "").isascii()


def test_a_name_of_spaces_can_be_seen() -> None:
    assert '" "' in row(" ")


def test_an_address_without_room_keeps_root_and_name() -> None:
    address = "claude-code:project:agent-memory/reviewer/user_role.md"
    assert both_ends(address, 60) == address
    assert both_ends(address, 36) == "claude-code:proje…iewer/user_role.md"
    assert both_ends(address, 24, plain=True) == "claude-c.../user_role.md"
    assert both_ends("root/a_name_longer_than_half_of_it.md", 32) == "root/a_…onger_than_half_of_it.md"
    assert both_ends("Somebody has this name. Choose another.", 21) == "Somebody h…e another."


@given(st.text(max_size=60), st.integers(1, 50), st.booleans())
def test_what_keeps_both_ends_fits(text: str, width: int, plain: bool) -> None:
    shown = both_ends(text, width, plain=plain)
    assert cell_width(shown) <= width
    assert shown.isascii() or not plain or not text.isascii()
