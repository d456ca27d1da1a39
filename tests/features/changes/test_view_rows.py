"""Review as values: rows, folds, marks, filter, and their words at every width, with hostile names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.engine.model import Address, Change, Root
from memtui.features.actors import by, common_place, did, who_words
from memtui.features.changes.bursts import MASS, PAUSE_MS
from memtui.features.changes.view_rows import (
    BURST,
    CHANGE,
    NOTE,
    ReviewData,
    ReviewItem,
    ReviewRows,
    RootNote,
    burst_words,
    row_runs,
)
from memtui.features.changes.view_texts import heading
from memtui.safe_text import cell_width
from memtui.ui.draw.text import RowStyle

T = 1_767_225_600_000


def change(name: str, at: int = 0, *, actor: str = "outside", kind: str = "modified") -> Change:
    return Change(Address("r", name), kind, actor, "a" * 64, "b" * 64, T + at)


def inbox(*changes: Change) -> ReviewRows:
    made = ReviewRows()
    made.update(ReviewData(changes))
    return made


def names(made: ReviewRows) -> list[str]:
    return [item.change.address.path if item.change is not None else item.kind for item in made.shown]


def test_a_change_alone_is_one_row_and_several_have_one_above_them() -> None:
    made = inbox(change("a"), change("b", PAUSE_MS * 2), change("c", PAUSE_MS * 2 + 1))
    assert names(made) == [BURST, "c", "b", "a"]
    assert [item.alone for item in made.shown] == [False, False, False, True]


def test_a_mass_change_is_one_row_that_opens() -> None:
    made = inbox(*(change(f"n{n:02}") for n in range(MASS + 1)))
    assert names(made) == [BURST]
    burst = made.shown[0].burst
    assert burst is not None
    made.set_open((burst,), wide=True)
    assert len(made.shown) == MASS + 2
    made.set_open((burst,), wide=False)
    assert names(made) == [BURST]


def test_a_burst_that_was_open_stays_so_when_it_grows_past_the_limit() -> None:
    some = [change(f"n{n:02}", n) for n in range(MASS)]
    made = inbox(*some)
    assert len(made.shown) == MASS + 1
    made.update(ReviewData((*some, change("one-more", MASS))))
    assert len(made.shown) == MASS + 2


def test_the_filter_asks_for_every_word_and_opens_what_holds_them() -> None:
    made = inbox(*(change(f"n{n:02}") for n in range(MASS + 1)), change("x", actor="agent:claude"))
    made.filter(("n0", "outside"))
    assert names(made)[0] == BURST
    assert len(made.shown) == 11
    made.filter(("claude",))
    assert names(made) == ["x"]
    assert made.of_all == f"1 of {MASS + 2}"


def test_a_root_that_is_gone_comes_first_unless_a_filter_asks_for_changes() -> None:
    made = ReviewRows()
    made.update(ReviewData((change("a"),), {}, (RootNote(Root("w", "/gone"), "gone", (), T),)))
    assert [item.kind for item in made.shown] == [NOTE, CHANGE]
    assert made.shown[0].changes == ()
    made.filter(("a",))
    assert [item.kind for item in made.shown] == [CHANGE]


def test_marks_are_targets_and_a_burst_stands_for_its_changes() -> None:
    a, b, c = change("a"), change("b", 1), change("c", PAUSE_MS * 2)
    made = inbox(a, b, c)
    assert made.chosen(1) == (b, a)
    made.toggle(1)
    assert made.marks == {(CHANGE, a.address), (CHANGE, b.address)}
    assert made.marked(made.shown[1])
    assert set(made.chosen(0)) == {a, b}
    made.toggle(1)
    assert not made.marks
    made.mark_all()
    assert len(made.marks) == 3
    made.mark_all()
    assert not made.marks
    made.mark_range(0, 2, frozenset())
    assert made.marks == {(CHANGE, c.address), (CHANGE, b.address)}


def test_what_was_taken_back_in_part_stays_until_it_is_let_go() -> None:
    a = change("a")
    made = inbox(a)
    made.keep(a._replace(after="c" * 64))
    made.update(ReviewData())
    assert names(made) == ["a"]
    assert made.matching[0].after == "c" * 64
    newer = a._replace(before="c" * 64, after="d" * 64)
    made.update(ReviewData((newer,)))
    assert made.matching == (newer,)
    made.release()
    made.update(ReviewData())
    assert names(made) == []


CHANGES = st.lists(
    st.builds(
        change, st.sampled_from("abcdefgh"), st.integers(0, 3 * PAUSE_MS), actor=st.sampled_from(["outside", "x"])
    ),
    max_size=8,
    unique_by=lambda one: one.address,
)


@given(CHANGES, CHANGES, st.integers(0, 12), st.booleans())
def test_a_change_that_is_no_row_any_more_is_found_in_its_group_and_nowhere_else(
    before: list[Change], after: list[Change], at: int, wide: bool
) -> None:
    made = inbox(*before)
    item = made.shown[at % len(made.shown)] if made.shown else ReviewItem(NOTE)
    made.update(ReviewData(tuple(after)))
    made.set_open([one.burst for one in made.shown if one.kind == BURST and one.burst is not None], wide=wide)
    group = made.group_of(item)
    address = item.change.address if item.change is not None else None
    hidden = address in {one.address for one in after} and item.key not in {one.key for one in made.shown}
    assert (group >= 0) == hidden
    assert not hidden or address in {one.address for one in made.shown[group].changes}


def test_what_was_kept_follows_what_it_holds_and_goes_when_it_is_as_it_was() -> None:
    a = change("a")
    made = inbox(a)
    made.keep(a._replace(after="c" * 64))
    made.update(ReviewData(kept={a.address: a.after}))
    assert made.matching == (a,)
    made.update(ReviewData(kept={a.address: a.before}))
    assert not made.matching


def test_a_row_of_the_last_run_is_found_also_in_a_closed_burst() -> None:
    some = [change(f"n{n:02}") for n in range(MASS + 1)]
    made = inbox(*some, change("alone", PAUSE_MS * 2, actor="agent:claude"))
    burst, alone = (str(item.key) for item in made.shown)
    if made.shown[0].alone:
        burst, alone = alone, burst
    for name in (alone, burst, "gone", ""):
        made.open_for(name)
        assert len(made.shown) == 2
    row = str(ReviewItem(CHANGE, change=some[3]).key)
    made.open_for(row)
    assert len(made.shown) == MASS + 3
    assert row in {str(item.key) for item in made.shown}


def test_marks_of_what_is_gone_go() -> None:
    a, b = change("a"), change("b", PAUSE_MS * 2)
    made = inbox(a, b)
    made.mark_all()
    made.update(ReviewData((a,)))
    assert made.marks == {(CHANGE, a.address)}


NOW = T + 60_000


def changed(name: str, *, kind: str = "modified", old: str | None = None, actor: str = "outside") -> Change:
    was = None if old is None else Address("r", old)
    return Change(Address("r", name), kind, actor, "a" * 64, None if kind == "deleted" else "b" * 64, T, was)


def items(*changes: Change) -> list[ReviewItem]:
    made = ReviewRows()
    made.update(
        ReviewData(changes, {}, (RootNote(Root("w", "/gone"), "folder gone: Work, 34 memories were in it", (), T),))
    )
    return list(made.shown)


def text(item: ReviewItem, width: int, counts: dict[Change, tuple[int, int]] | None = None) -> str:
    runs = row_runs(item, width, RowStyle(NOW, ascii=True), opened=True, counts=counts or {})
    return "".join(words for words, _ in runs)


@pytest.mark.parametrize(
    ("actor", "root", "words"),
    [
        ("outside", "codex:global", "Codex?"),
        ("outside", "claude-code:project:-home-me-app", "Claude Code?"),
        ("outside", "claude-code:project:instructions", "outside memtui"),
        ("outside", "codex:project:above-home", "outside memtui"),
        ("outside", "agents-md:global:amp", "outside memtui"),
        ("outside", "memtui:project", "outside memtui"),
        ("outside", "notes", "outside memtui"),
        ("outside", "codex", "outside memtui"),
        ("agent:claude", "codex:global", "claude"),
        ("agent:claude-code", "", "Claude Code"),
        ("agent:codex/reviewer", "", "Codex (reviewer)"),
        ("agent:crush", "", "Crush"),
        ("mcp:codex-mcp-client", "claude-code:project", "Codex"),
        ("mcp:gemini-cli-mcp-client", "", "Gemini CLI"),
        ("http:claude-code", "", "Claude Code"),
        ("http", "", "HTTP client"),
        ("mcp:x", "", "x"),
        ("tool:my loop", "", "my loop"),
        ("tool", "", "memory tool"),
        ("lifecycle:dream", "", "memtui"),
        ("reviewer", "", "reviewer"),
        ("night:run", "", "night:run"),
        ("tui", "codex:global", "you"),
        ("cli", "", "you"),
        ("tui:ssh", "", "you"),
    ],
)
def test_writers(actor: str, root: str, words: str) -> None:
    assert who_words(actor, root) == words


def test_sentences_about_writers() -> None:
    assert (did("Claude Code?", "saved"), by("Claude Code?")) == ("Claude Code? saved", "by Claude Code?")
    assert (did("outside memtui", "saved"), by("outside memtui")) == ("saved outside memtui", "outside memtui")
    assert did("", "wrote again", begins=True) == "Somebody outside memtui wrote again"


def test_a_change_says_who_when_what_and_where() -> None:
    found = items(changed("decisions/auth.md"))[1]
    row = text(found, 78, {changed("decisions/auth.md"): (2, 1)})
    assert row.split() == ["1m", "outside", "memtui", "changed", "r/decisions/auth.md", "+2", "-1"]


def test_a_burst_says_how_many_of_what_and_where() -> None:
    burst = items(changed("d/a"), changed("d/b", kind="created"), changed("d/e/c", kind="deleted"))[1].burst
    assert burst is not None
    assert burst_words(burst) == "1 changed, 1 new, 1 deleted  in r/d"


def test_a_renamed_folder_and_a_checkout_say_so() -> None:
    moved = items(*(changed(f"new/{n}", kind="renamed", old=f"old/{n}") for n in "abc"))[1].burst
    assert moved is not None
    assert burst_words(moved) == "3 renamed: old/ -> new/"
    mass = items(*(changed(f"n{n}") for n in range(MASS + 1)))[1].burst
    assert mass is not None
    assert burst_words(mass) == f"{MASS + 1} changed  in r"


def test_a_root_that_is_gone_is_named() -> None:
    assert text(items()[0], 78).strip() == "folder gone: Work, 34 memories were in it"


def test_common_places() -> None:
    assert common_place([Address("r", "a/b"), Address("r", "a/c/d")]) == "r/a"
    assert common_place([Address("r", "a"), Address("r", "b/c")]) == "r"
    assert common_place([Address("r", "a"), Address("s", "a")]) == "2 roots"


@pytest.mark.parametrize("width", [10, 30, 58, 78, 118])
@pytest.mark.parametrize("name", ["a.md", "x" * 300 + "/y.md", "evil\x1b[31m\u202e.md", "日本語" * 40])
def test_rows_fit_and_are_harmless(width: int, name: str) -> None:
    found = items(changed(name), changed(name + "2", kind="renamed", old=name + "3"))
    for item in found:
        row = text(item, width, {changed(name): (12, 3)})
        assert "\x1b" not in row
        assert "\u202e" not in row
        if width >= 58:
            assert cell_width(row) <= width


def test_what_stands_above_a_difference() -> None:
    found = heading(changed("b.md", old="a.md"), [("agent:x", T), ("outside", T - 60_000)], T, NOW)
    assert found == [
        "Changed outside memtui, 1m ago.",
        "You last saw it as a.md.",
        "2 versions since you looked: x 1m, outside memtui 2m.",
    ]
    made = heading(changed("b.md", kind="created"), [("outside", T), ("mcp:codex", T - 60_000)], T, NOW)
    assert made[0] == "Created by Codex, 2m ago."
    assert heading(changed("b.md", kind="deleted"), [], T, NOW) == ["Deleted outside memtui, 1m ago."]
