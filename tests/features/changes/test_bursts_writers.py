"""Who is behind a change: the writers since the user looked, in turn."""

import pytest

from memtui.engine.model import Address, Change, Version
from memtui.features.changes.bursts import in_words, since_seen, writers

A, B, C = "a" * 64, "b" * 64, "c" * 64


def change(
    kind: str = "created", before: str | None = None, after: str | None = C, actor: str = "mcp:gemini"
) -> Change:
    return Change(Address("r", "a.md"), kind, actor, before, after, 0)


def version(sha: str, actor: str, operation: str = "modified") -> Version:
    return Version(sha, 1, actor, 0, operation)


HISTORY = [version(C, "mcp:gemini"), version(B, "mcp:codex"), version(A, "mcp:claude-code", "created")]


def test_who_made_it_comes_first() -> None:
    assert writers(change(), HISTORY) == ("mcp:claude-code", "mcp:codex", "mcp:gemini")
    assert [one.sha256 for one in since_seen(change(), HISTORY)] == [C, B, A]


def test_what_was_seen_and_before_does_not_count() -> None:
    assert writers(change("modified", before=A), HISTORY) == ("mcp:codex", "mcp:gemini")
    assert writers(change("modified", before=B), HISTORY) == ("mcp:gemini",)
    assert since_seen(change("modified", before=C), HISTORY) == []


def test_a_name_that_was_free_again_has_no_past() -> None:
    past = [version(C, "mcp:gemini", "created"), version(B, "mcp:codex", "deleted"), version(B, "mcp:codex", "created")]
    assert writers(change(), past) == ("mcp:gemini",)


def test_a_writer_counts_once_and_people_not_at_all() -> None:
    history = [version(C, "mcp:gemini"), version(B, "cli"), version(A, "mcp:gemini", "created")]
    assert writers(change(), history) == ("mcp:gemini",)


def test_who_is_not_in_history_yet_is_the_last() -> None:
    assert writers(change(actor="outside"), HISTORY[2:]) == ("mcp:claude-code", "outside")
    assert writers(change(actor="outside"), []) == ("outside",)


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
