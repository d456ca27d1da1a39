"""What a row and a budget say, at any width: nothing cut but the path, and every number against its limit."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memtui.engine.model import Address
from memtui.features.hot_set.model import NOTHING, Block, Budgets, Context, GivenMemory, LeftOut, Unlisted
from memtui.features.hot_set.shares import Door, Given
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
from memtui.ui.draw.spans import Run

ADDRESS = Address("memtui:global", "a.md")


def item(path: str = "/memories/global/a.md", **changes: object) -> GivenMemory:
    made = GivenMemory(ADDRESS, path, 1, True, 2.5, 3, 500, 400, 120, False, 0)  # noqa: FBT003
    return made._replace(**changes)  # type: ignore[arg-type]


def left(reason: str, needs: int = 0, room: int = 0) -> LeftOut:
    return LeftOut(Address("memtui:global", "b.md"), "/memories/global/b.md", reason, False, 1.0, 1, 9, needs, room)  # noqa: FBT003


def context(*items: GivenMemory, left_out: tuple[LeftOut, ...] = (), **changes: object) -> Context:
    index = Block("i", 24_000, 2_000, 0)
    made = Context(index, NOTHING, items, left_out, 20, 20, (), (), Budgets())
    return made._replace(**changes)  # type: ignore[arg-type]


def share(found: Context) -> Given:
    return Given(Door(), found, left_out=found.left_out)


def words(runs: object) -> str:
    return "".join(text for text, _ in runs)  # type: ignore[attr-defined]


def test_what_is_given_stands_above_the_line_and_the_index_last() -> None:
    found = context(item(), left_out=(left("no-place"),), unreviewed=("memtui:project",))
    assert [row.kind for row in rows_of(share(found))] == ["all", "item", CUT, "left", ROOT, INDEX]
    assert [row.kind for row in rows_of(share(context()))] == ["all", INDEX]
    assert HotSetRow("item", item=item()).key == HotSetRow("left", left=left("no-place")._replace(address=ADDRESS)).key


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
