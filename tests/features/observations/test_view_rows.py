"""What is typed above the cards means the same as the options of the command; what is half typed filters nothing."""

import pytest

from memtui.features.observations.store.generations import CardFilter
from memtui.features.observations.view_rows import KINDS, cycle_value, parse_line
from tests.conftest import START

BASE = CardFilter((1,), private=True)


@pytest.mark.parametrize(
    ("line", "words", "changes"),
    [
        ("retry budget", "retry budget", {}),
        ("retry type:decision budget", "retry budget", {"types": ("decision",)}),
        ("state:deleted", "", {"state": "deleted", "hidden": True}),
        ("state:private kind:note", "", {"state": "private", "kind": "note"}),
        ("agent:codex path:src/a", "", {"agent": "codex", "file": "src/a"}),
        ("since:2d x", "x", {"since": START - 2 * 86_400_000}),
        ("type: retry", "retry", {}),
        ("https://type:x", "https://type:x", {}),
    ],
)
def test_words_and_filters(line: str, words: str, changes: dict[str, object]) -> None:
    asked = parse_line(line, BASE, START)
    assert (asked.words, asked.problem) == (words, "")
    assert asked.wanted == BASE._replace(**changes)  # type: ignore[arg-type]


@pytest.mark.parametrize("line", ["type:deci", "state:x", "kind:memories", "since:never", "until:x"])
def test_what_means_nothing_says_so_and_filters_nothing(line: str) -> None:
    asked = parse_line(line, BASE, START)
    assert asked.problem
    assert asked.wanted == BASE


def test_a_key_goes_from_value_to_value_and_back_to_none() -> None:
    lines = ["retry"]
    for _ in range(4):
        lines.append(cycle_value(lines[-1], "kind", KINDS))
    assert lines == ["retry", "kind:memory retry", "kind:note retry", "kind:session retry", "retry"]
