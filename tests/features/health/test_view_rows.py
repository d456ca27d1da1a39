"""The rows of the health view: their order, what stays under the cursor, and how they look at every width."""

from __future__ import annotations

import pytest

from memtui.engine.model import Address, Policy, Root
from memtui.features.health.model import (
    BELOW,
    CUT,
    DANGLING,
    DUPLICATE,
    LONG,
    UNNAMED,
    Fix,
    IndexFinding,
    IndexReport,
    Stray,
)
from memtui.features.health.view_rows import (
    HealthRows,
    Reports,
    found_words,
    row_runs,
)
from memtui.pointers.lines import Measure
from memtui.safe_text import cell_width

ROOTS = {"notes": Root("notes", "/x", label="Notes"), "other": Root("other", "/y")}
INDEX = Address("notes", "MEMORY.md")


def finding(kind: str, path: str, *, fix: bool = True, root: str = "notes", line: int | None = 3) -> IndexFinding:
    made = Fix("remove the line", ()) if fix else None
    return IndexFinding(kind, Address(root, "MEMORY.md"), line, path, f"what is wrong with {path}", made)


def reports(*findings: IndexFinding) -> Reports:
    found: dict[str, tuple[IndexReport, ...]] = {}
    for root in dict.fromkeys(one.address.root for one in findings):
        mine = tuple(one for one in findings if one.address.root == root)
        found[root] = (IndexReport(Address(root, "MEMORY.md"), "0" * 64, Measure(3, 30, 0), Policy(), mine),)
    return found


def board(*findings: IndexFinding) -> HealthRows:
    made = HealthRows()
    made.update(reports(*findings), ROOTS)
    return made


def paths(made: HealthRows) -> list[str]:
    return [row.finding.path if row.finding is not None else f"[{row.root}]" for row in made.shown]


def test_each_root_has_a_row_above_its_findings() -> None:
    made = board(finding(DANGLING, "a.md"), finding(UNNAMED, "b.md"), finding(DANGLING, "c.md", root="other"))
    assert paths(made) == ["[notes]", "a.md", "b.md", "[other]", "c.md"]
    assert made.counts == "3 findings"
    assert (made.label("notes"), made.label("other"), made.label("gone")) == ("Notes", "other", "gone")


def test_what_the_tab_does_not_count_is_counted_apart() -> None:
    some = [finding(CUT, "MEMORY.md"), finding(DANGLING, "a.md"), finding(BELOW, "b.md"), finding(BELOW, "c.md")]
    made = board(*some, finding(LONG, "d.md"))
    assert made.counts == "2 findings, 2 not loaded, 1 long"
    assert "2 findings, 2 not loaded, 1 long" in "".join(
        text for text, _ in row_runs(made.shown[0], made, 80, plain=False)
    )
    assert found_words([finding(LONG, "d.md")], 2) == "1 long, 2 projects"
    assert found_words(()) == "0 findings"


def test_what_no_agent_loads_is_said_in_the_row_of_its_root() -> None:
    (report,) = reports(finding(CUT, "MEMORY.md"))["notes"]
    made = HealthRows()
    made.update({"notes": (report._replace(off="Nothing is loaded."),)}, ROOTS)
    assert "switched off | 1 finding" in "".join(text for text, _ in row_runs(made.shown[0], made, 80, plain=False))


def test_a_root_goes_by_its_short_name() -> None:
    made = board(finding(DANGLING, "a.md"))
    made.name_of = lambda address: f"short/{address.path}"
    assert "Notes  short " in "".join(text for text, _ in row_runs(made.shown[0], made, 80, plain=False))
    made.name_of = lambda address: f"~/src/web: {address.path}"
    assert "Notes  ~/src/web " in "".join(text for text, _ in row_runs(made.shown[0], made, 80, plain=False))


def test_an_index_that_could_not_be_read_has_one() -> None:
    made = HealthRows()
    made.update({"notes": (IndexReport(INDEX, None, Measure(0, 0, 0), Policy(), problem="It is too big."),)}, ROOTS)
    assert "It is too big." in "".join(text for text, _ in row_runs(made.shown[1], made, 60, plain=False))


def test_what_is_twice_has_keys_of_its_own() -> None:
    made = board(finding(DUPLICATE, "a.md"), finding(DUPLICATE, "a.md"))
    assert len({row.key for row in made.shown}) == 3


def test_the_row_under_the_cursor_stays_when_it_is_over() -> None:
    first = [finding(DANGLING, name) for name in ("a.md", "b.md", "c.md")]
    made = board(*first)
    made.update(reports(first[0], first[2]), ROOTS, made.shown[2])
    assert paths(made) == ["[notes]", "a.md", "b.md", "c.md"]
    assert [row.over for row in made.shown] == [False, False, True, False]
    made.drop_over(2)
    assert made.has_over
    made.drop_over(3)
    assert paths(made) == ["[notes]", "a.md", "c.md"]


def test_it_stays_when_everything_else_goes() -> None:
    made = board(finding(DANGLING, "a.md"))
    made.update({}, ROOTS, made.shown[1])
    assert paths(made) == ["a.md"]


def test_only_what_can_be_done_with_others_is_counted_as_fixable() -> None:
    offered = finding(DANGLING, "o.md")._replace(fix=Fix("move it", (), offered=True))
    made = board(finding(DANGLING, "a.md"), finding(DANGLING, "b.md", fix=False), offered, finding(CUT, "c.md"))
    assert [one.path for one in made.fixable("notes", (DANGLING,))] == ["a.md"]
    assert made.fixable("nowhere", (DANGLING,)) == ()


@pytest.mark.parametrize("width", [20, 40, 62, 80, 108, 160])
@pytest.mark.parametrize("plain", [False, True])
def test_rows_are_as_wide_as_they_should_be(width: int, plain: bool) -> None:
    made = board(
        finding(CUT, "MEMORY.md", fix=False, line=1_234),
        finding(DANGLING, "a-very-long-folder/with/a/very-long-name-of-a-memory-indeed.md"),
        finding(UNNAMED, "日本語の記憶.md", line=None),
        finding(DANGLING, "\x1b[31m.md"),
    )
    for row in made.shown:
        line = "".join(text for text, _ in row_runs(row, made, width, plain=plain))
        assert cell_width(line) <= max(width, 30)
        assert "\x1b" not in line


def test_signs_say_what_can_be_fixed() -> None:
    made = board(finding(DANGLING, "a.md"), finding(DANGLING, "b.md", fix=False))
    signs = [row_runs(row, made, 80, plain=False)[0][0] for row in made.shown[1:]]
    assert signs == ["f ", "  "]


def test_projects_that_moved_stand_below() -> None:
    made = board(finding(DANGLING, "a.md"))
    made.strays = (Stray("orphan", "claude-code:project:x", "~/code/harbour", "gone; one candidate", ("What.",)),)
    made.update(made.reports, ROOTS)
    assert [row.heads for row in made.shown] == [True, False, True, False]
    for width in (40, 80, 120):
        line = "".join(text for text, _ in row_runs(made.shown[3], made, width, plain=False))
        assert cell_width(line) <= width
        assert "harbour" in line
    assert "Projects that moved" in "".join(text for text, _ in row_runs(made.shown[2], made, 80, plain=False))
    made.filter(("harbour",))
    assert len(made.shown) == 2
