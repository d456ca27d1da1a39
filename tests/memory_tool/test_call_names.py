"""One rule says which names an agent can write: what it takes no door refuses, what it refuses no door lists."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.memory_tool.call import Refusal, listable, parse_path, reachable, reachable_path, segment_problem


@pytest.mark.parametrize("name", ["a.md", "a b.md", "ü.md", "a..b.md", "~a.md", "<a>.md", "a%2eb.md"])
def test_names_that_can_be_written(name: str) -> None:
    assert reachable(name)


@pytest.mark.parametrize(
    "name", ["", ".", "..", ".hidden", "a\nb.md", "a\\b", "bad\udcff.md", " a.md", "a.md ", "\x7f"]
)
def test_names_that_cannot(name: str) -> None:
    assert not reachable(name)
    assert not reachable_path(f"folder/{name}")
    assert not reachable_path(f"{name}/a.md")


@pytest.mark.parametrize("path", ["<x>.md", "a/</memory_index>.md", 'a"b.md', ".hid/y.md"])
def test_paths_that_a_list_would_change_are_not_listed(path: str) -> None:
    assert not listable(path)


@given(st.lists(st.text(min_size=1), min_size=1, max_size=4).map("/".join))
def test_whatever_can_be_written_is_taken_as_it_is(path: str) -> None:
    given_path = f"/memories/global/{path}"
    if reachable_path(path):
        assert parse_path(given_path).canonical == given_path
    elif any(segment_problem(part)[1] for part in path.split("/")):
        with pytest.raises(Refusal):
            parse_path(f"{given_path}/x")
