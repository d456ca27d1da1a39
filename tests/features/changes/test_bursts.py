"""Grouping what others did: by writer and time, mass changes and renamed folders as one; and who wrote."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.engine.model import Address, Change, Version
from memtui.features.actors import who_words
from memtui.features.changes.bursts import MASS, PAUSE_MS, STROKE_MS, Burst, bursts, in_words, since_seen, writers

T = 1_767_225_600_000
MINUTE = 60_000


def change(
    name: str, at: int = 0, *, actor: str = "outside", root: str = "r", old: str | None = None, kind: str = "modified"
) -> Change:
    was = None if old is None else Address(root, old)
    after = None if kind == "deleted" else "b" * 64
    return Change(Address(root, name), kind, actor, "a" * 64, after, T + at, was)


def grouped(*changes: Change, written: dict[Address, int] | None = None) -> list[Burst]:
    return bursts(changes, written=written or {})


def names(burst: Burst) -> list[str]:
    return [one.address.path for one in burst.changes]


def test_changes_of_one_session_are_one_burst_newest_first() -> None:
    (burst,) = grouped(change("a"), change("b", 10 * MINUTE), change("c", 35 * MINUTE))
    assert names(burst) == ["c", "b", "a"]
    assert (burst.start, burst.end, burst.mass) == (T, T + 35 * MINUTE, False)


def test_a_pause_begins_another_burst() -> None:
    first, second = grouped(change("a"), change("b", PAUSE_MS + 1))
    assert (names(first), names(second)) == (["b"], ["a"])


def test_writers_are_kept_apart_also_unknown_ones_by_whose_folder_it_is() -> None:
    found = grouped(change("a"), change("b", 1, actor="agent:claude"), change("c", 2, root="claude-code:project"))
    assert [one.who for one in found] == ["Claude Code?", "claude", "outside memtui"]


def test_a_checkout_in_the_middle_of_a_session_is_a_burst_of_its_own() -> None:
    rush = [change(f"n{n}", 5 * MINUTE + n) for n in range(MASS + 1)]
    found = grouped(change("a"), *rush, change("b", 10 * MINUTE))
    assert [(one.mass, len(one.changes)) for one in found] == [(False, 2), (True, MASS + 1)]
    assert names(found[0]) == ["b", "a"]


def test_a_few_at_once_are_no_mass_change() -> None:
    (burst,) = grouped(*(change(f"n{n}") for n in range(MASS)))
    assert not burst.mass


def test_a_long_session_is_a_mass_change_as_a_whole() -> None:
    (burst,) = grouped(*(change(f"n{n:02}", n * 2 * STROKE_MS) for n in range(MASS + 1)))
    assert burst.mass


def test_a_renamed_folder_is_one_thing() -> None:
    moved = [change(f"new/{n}.md", old=f"old/{n}.md", kind="renamed") for n in ("a", "b", "sub/c")]
    found = grouped(*moved, change("x"))
    assert [one.moved for one in found] == [(Address("r", "old"), Address("r", "new")), None]
    assert sorted(names(found[0])) == ["new/a.md", "new/b.md", "new/sub/c.md"]


def test_a_folder_below_others_is_named_by_what_differs() -> None:
    (burst,) = grouped(*(change(f"p/new/deep/{n}", old=f"p/old/deep/{n}", kind="renamed") for n in "ab"))
    assert burst.moved == (Address("r", "p/old"), Address("r", "p/new"))


def test_one_renamed_memory_is_no_folder() -> None:
    (burst,) = grouped(change("new/a.md", old="old/a.md", kind="renamed"), change("b2", old="b1", kind="renamed"))
    assert burst.moved is None
    assert len(burst.changes) == 2


def test_what_was_noticed_at_once_is_told_apart_by_the_files_own_times() -> None:
    night, morning = change("a"), change("b")
    found = grouped(night, morning, written={night.address: T - 8 * 60 * MINUTE, morning.address: T + 5 * MINUTE})
    assert [names(one) for one in found] == [["b"], ["a"]]
    assert found[0].end == T


CHANGES = st.builds(
    change,
    st.sampled_from([f"{folder}{name}" for folder in ("", "f/", "f/g/") for name in "abcdef"]),
    st.integers(0, 3 * PAUSE_MS),
    actor=st.sampled_from(["outside", "agent:claude", "mcp:x"]),
    root=st.sampled_from(["r", "codex:global"]),
    old=st.none() | st.sampled_from(["o/a", "o/b", "f/c"]),
    kind=st.sampled_from(["modified", "created", "deleted", "renamed"]),
)


@given(st.lists(CHANGES, max_size=60, unique_by=lambda one: one.address))
def test_each_change_is_in_exactly_one_burst(found: list[Change]) -> None:
    result = bursts(found, written={})
    assert sorted(one for burst in result for one in burst.changes) == sorted(found)
    assert [burst.end for burst in result] == sorted((burst.end for burst in result), reverse=True)
    for burst in result:
        assert {who_words(one.actor, one.address.root) for one in burst.changes} == {burst.who}
        assert burst.mass == (len(burst.changes) > MASS or burst.moved is not None)
        times = [one.at for one in burst.changes]
        assert (burst.start, burst.end) == (min(times), max(times))
        if burst.mass:
            assert list(burst.changes) == sorted(burst.changes)
        else:
            assert times == sorted(times, reverse=True)


A, B, C = "a" * 64, "b" * 64, "c" * 64


def noticed(
    kind: str = "created", before: str | None = None, after: str | None = C, actor: str = "mcp:gemini"
) -> Change:
    return Change(Address("r", "a.md"), kind, actor, before, after, 0)


def version(sha: str, actor: str, operation: str = "modified") -> Version:
    return Version(sha, 1, actor, 0, operation)


HISTORY = [version(C, "mcp:gemini"), version(B, "mcp:codex"), version(A, "mcp:claude-code", "created")]


def test_who_made_it_comes_first() -> None:
    assert writers(noticed(), HISTORY) == ("mcp:claude-code", "mcp:codex", "mcp:gemini")
    assert [one.sha256 for one in since_seen(noticed(), HISTORY)] == [C, B, A]


def test_what_was_seen_and_before_does_not_count() -> None:
    assert writers(noticed("modified", before=A), HISTORY) == ("mcp:codex", "mcp:gemini")
    assert writers(noticed("modified", before=B), HISTORY) == ("mcp:gemini",)
    assert since_seen(noticed("modified", before=C), HISTORY) == []


def test_a_name_that_was_free_again_has_no_past() -> None:
    past = [version(C, "mcp:gemini", "created"), version(B, "mcp:codex", "deleted"), version(B, "mcp:codex", "created")]
    assert writers(noticed(), past) == ("mcp:gemini",)


def test_a_writer_counts_once_and_people_not_at_all() -> None:
    history = [version(C, "mcp:gemini"), version(B, "cli"), version(A, "mcp:gemini", "created")]
    assert writers(noticed(), history) == ("mcp:gemini",)


def test_who_is_not_in_history_yet_is_the_last() -> None:
    assert writers(noticed(actor="outside"), HISTORY[2:]) == ("mcp:claude-code", "outside")
    assert writers(noticed(actor="outside"), []) == ("outside",)


@pytest.mark.parametrize(
    ("actors", "kind", "said"),
    [
        (("a",), "created", "a"),
        (("a", "b"), "created", "a, then b"),
        (("a", "b", "c"), "modified", "a, then c and 1 more"),
        (("a", "b"), "deleted", "b"),
        (("a", "b"), "renamed", "b"),
    ],
)
def test_in_words(actors: tuple[str, ...], kind: str, said: str) -> None:
    assert in_words(actors, kind) == said
