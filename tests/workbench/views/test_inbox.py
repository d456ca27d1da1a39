"""The inbox as values: rows, folds, marks, filter, and the cursor's row in new rows."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memtui.engine.model import Address, Change, Root, Vanished
from memtui.features.changes.bursts import MASS, PAUSE_MS
from memtui.workbench.views.inbox import BURST, CHANGE, VANISHED, Inbox, Item, Loaded

T = 1_767_225_600_000


def change(name: str, at: int = 0, *, actor: str = "outside", kind: str = "modified") -> Change:
    return Change(Address("r", name), kind, actor, "a" * 64, "b" * 64, T + at)


def inbox(*changes: Change) -> Inbox:
    made = Inbox()
    made.load(Loaded(changes, {}, {"r": "files"}))
    return made


def names(made: Inbox) -> list[str]:
    return [item.change.address.path if item.change is not None else item.kind for item in made.items]


def test_a_change_alone_is_one_row_and_several_have_one_above_them() -> None:
    made = inbox(change("a"), change("b", PAUSE_MS * 2), change("c", PAUSE_MS * 2 + 1))
    assert names(made) == [BURST, "c", "b", "a"]
    assert [item.alone for item in made.items] == [False, False, False, True]


def test_a_mass_change_is_one_row_that_opens() -> None:
    made = inbox(*(change(f"n{n:02}") for n in range(MASS + 1)))
    assert names(made) == [BURST]
    burst = made.items[0].burst
    assert burst is not None
    made.set_open(burst, wide=True)
    assert len(made.items) == MASS + 2
    made.set_open(burst, wide=False)
    assert names(made) == [BURST]


def test_a_burst_that_was_open_stays_so_when_it_grows_past_the_limit() -> None:
    some = [change(f"n{n:02}", n) for n in range(MASS)]
    made = inbox(*some)
    assert len(made.items) == MASS + 1
    made.load(Loaded((*some, change("one-more", MASS)), {}, {"r": "files"}))
    assert len(made.items) == MASS + 2


def test_the_filter_asks_for_every_word_and_opens_what_holds_them() -> None:
    made = inbox(*(change(f"n{n:02}") for n in range(MASS + 1)), change("x", actor="agent:claude"))
    made.words = ("n0", "outside")
    made.rebuild()
    assert names(made)[0] == BURST
    assert len(made.items) == 11
    made.words = ("claude",)
    made.rebuild()
    assert names(made) == ["x"]
    assert made.total == MASS + 2


def test_only_what_lies_below_a_place() -> None:
    made = inbox(change("a"), change("f/b"))
    made.below = lambda one: one.address.path.startswith("f/")
    made.rebuild()
    assert names(made) == ["f/b"]
    assert [one.address.path for one in made.all_changes] == ["f/b"]


def test_a_root_that_is_gone_comes_first_unless_a_filter_asks_for_changes() -> None:
    made = Inbox()
    made.load(Loaded((change("a"),), {}, {}, (Vanished(Root("w", "/gone"), 3, T),)))
    assert [item.kind for item in made.items] == [VANISHED, CHANGE]
    assert made.items[0].changes == ()
    made.words = ("a",)
    made.rebuild()
    assert [item.kind for item in made.items] == [CHANGE]


def test_marks_are_targets_and_a_burst_stands_for_its_changes() -> None:
    a, b, c = change("a"), change("b", 1), change("c", PAUSE_MS * 2)
    made = inbox(a, b, c)
    assert made.targets(1) == (b, a)
    made.toggle_mark(1)
    assert made.marks == {a.address, b.address}
    assert made.marked(made.items[1])
    assert set(made.targets(0)) == {a, b}
    made.toggle_mark(1)
    assert not made.marks
    made.mark_all()
    assert len(made.marks) == 3
    made.mark_all()
    assert not made.marks
    made.mark_range(0, 2, frozenset())
    assert made.marks == {c.address, b.address}


def test_marks_of_what_is_gone_go() -> None:
    a, b = change("a"), change("b", PAUSE_MS * 2)
    made = inbox(a, b)
    made.mark_all()
    made.load(Loaded((a,), {}, {}))
    assert made.marks == {a.address}


def test_what_was_taken_back_in_part_stays_until_it_is_let_go() -> None:
    a = change("a")
    made = inbox(a)
    made.keep(a._replace(after="c" * 64))
    made.load(Loaded())
    assert names(made) == ["a"]
    assert made.all_changes[0].after == "c" * 64
    newer = a._replace(before="c" * 64, after="d" * 64)
    made.load(Loaded((newer,)))
    assert made.all_changes == (newer,)
    made.let_go()
    made.load(Loaded())
    assert names(made) == []


CHANGES = st.lists(
    st.builds(
        change, st.sampled_from("abcdefgh"), st.integers(0, 3 * PAUSE_MS), actor=st.sampled_from(["outside", "x"])
    ),
    max_size=8,
    unique_by=lambda one: one.address,
)


@given(CHANGES, CHANGES, st.integers(0, 12))
def test_the_cursor_stays_with_its_row_whatever_comes_and_goes(
    before: list[Change], after: list[Change], at: int
) -> None:
    made = inbox(*before)
    item: Item | None = made.items[at % len(made.items)] if made.items else None
    made.load(Loaded(tuple(after), {}, {}))
    place = made.place_of(item, at)
    if not made.items:
        assert place == 0
        return
    assert 0 <= place < len(made.items)
    if item is not None and item.change is not None:
        kept = [one for one in made.items if one.change is not None and one.change.address == item.change.address]
        assert not kept or made.items[place].key == item.key


def test_what_was_kept_follows_what_it_holds_and_goes_when_it_is_as_it_was() -> None:
    a = change("a")
    made = inbox(a)
    made.keep(a._replace(after="c" * 64))
    made.load(Loaded(kept={a.address: a.after}))
    assert made.all_changes == (a,)
    made.load(Loaded(kept={a.address: a.before}))
    assert not made.all_changes


def test_a_row_in_a_burst_that_closed_is_found_in_it() -> None:
    a, b = change("a"), change("b", 1)
    made = inbox(a, b)
    item = made.items[2]
    assert made.items[0].burst is not None
    made.set_open(made.items[0].burst, wide=False)
    assert made.place_of(item, 2) == 0


def test_a_row_of_the_last_run_is_found_also_in_a_closed_burst() -> None:
    some = [change(f"n{n:02}") for n in range(MASS + 1)]
    made = inbox(*some, change("alone", PAUSE_MS * 2, actor="agent:claude"))
    burst, alone = (str(item.key) for item in made.items)
    if made.items[0].alone:
        burst, alone = alone, burst
    assert names(made)[made.place_named(alone)] == "alone"
    assert names(made)[made.place_named(burst)] == BURST
    assert len(made.items) == 2
    row = str(Item(CHANGE, change=some[3]).key)
    place = made.place_named(row)
    assert names(made)[place] == "n03"
    assert len(made.items) == MASS + 3
    assert made.place_named("gone") == -1
