"""The words of the inbox, at every width, with hostile names."""

from __future__ import annotations

import pytest

from memtui.engine.model import Address, Change, Root
from memtui.features.actors import by, common_place, did, who_words
from memtui.features.changes.bursts import MASS
from memtui.features.changes.view_rows import ReviewData, ReviewItem, ReviewRows, RootNote, burst_words, row_runs
from memtui.features.changes.view_texts import heading
from memtui.safe_text import cell_width
from memtui.ui.draw.text import RowStyle

T = 1_767_225_600_000
NOW = T + 60_000


def change(name: str, *, kind: str = "modified", old: str | None = None, actor: str = "outside") -> Change:
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
    found = items(change("decisions/auth.md"))[1]
    row = text(found, 78, {change("decisions/auth.md"): (2, 1)})
    assert row.split() == ["1m", "outside", "memtui", "changed", "r/decisions/auth.md", "+2", "-1"]


def test_a_burst_says_how_many_of_what_and_where() -> None:
    burst = items(change("d/a"), change("d/b", kind="created"), change("d/e/c", kind="deleted"))[1].burst
    assert burst is not None
    assert burst_words(burst) == "1 changed, 1 new, 1 deleted  in r/d"


def test_a_renamed_folder_and_a_checkout_say_so() -> None:
    moved = items(*(change(f"new/{n}", kind="renamed", old=f"old/{n}") for n in "abc"))[1].burst
    assert moved is not None
    assert burst_words(moved) == "3 renamed: old/ -> new/"
    mass = items(*(change(f"n{n}") for n in range(MASS + 1)))[1].burst
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
    found = items(change(name), change(name + "2", kind="renamed", old=name + "3"))
    for item in found:
        row = text(item, width, {change(name): (12, 3)})
        assert "\x1b" not in row
        assert "\u202e" not in row
        if width >= 58:
            assert cell_width(row) <= width


def test_what_stands_above_a_difference() -> None:
    found = heading(change("b.md", old="a.md"), [("agent:x", T), ("outside", T - 60_000)], T, NOW)
    assert found == [
        "Changed outside memtui, 1m ago.",
        "You last saw it as a.md.",
        "2 versions since you looked: x 1m, outside memtui 2m.",
    ]
    made = heading(change("b.md", kind="created"), [("outside", T), ("mcp:codex", T - 60_000)], T, NOW)
    assert made[0] == "Created by Codex, 2m ago."
    assert heading(change("b.md", kind="deleted"), [], T, NOW) == ["Deleted outside memtui, 1m ago."]
