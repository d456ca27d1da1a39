"""Virtual paths: what is taken, what is refused, and in which words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.memory_tool.call import SCOPES, Refusal, listable, parse_path, reachable, reachable_path, segment_problem


@pytest.mark.parametrize(
    ("given", "canonical"),
    [
        ("/memories", "/memories"),
        ("/memories/", "/memories"),
        ("  /memories//  ", "/memories"),
        ("/memories/global", "/memories/global"),
        (" /memories/project/a b/c.md/ ", "/memories/project/a b/c.md"),
        ("/memories/workspace/it's: ü 日本.md", "/memories/workspace/it's: ü 日本.md"),
        ("/memories/global/CON", "/memories/global/CON"),
    ],
)
def test_paths_that_are_taken(given: str, canonical: str) -> None:
    place = parse_path(given)
    assert (place.canonical, place.doubt) == (canonical, "")


EMPTY = "empty or '.' path segments are not allowed"
UP = "path traversal ('..') is not allowed"
ENCODED = "URL-encoded traversal sequences are not allowed"
CONTROL = "control characters are not allowed"
START = "paths must start with /memories/ (e.g. /memories/global/notes.md)"


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ("", START),
        ("memories/global/a", START),
        ("/Memories/global/a", START),
        ("/memories/global/./a", EMPTY),
        ("/memories/global/...", UP),
        ("/memories/global/.. /a", UP),
        ("/memories/global/..\\b", UP),
        ("/memories/global/a\x00b", CONTROL),
        ("/memories/global/a\x7fb", CONTROL),
        ("/memories/global/.hidden", "names that begin with '.' are hidden, and hidden files are not memories"),
        ("/memories/global/a\udcff", "it holds a character that has no UTF-8 form"),
    ],
)
def test_paths_that_are_refused(given: str, reason: str) -> None:
    with pytest.raises(Refusal) as caught:
        parse_path(given)
    echo = given.encode("utf-8", "backslashreplace").decode()
    assert caught.value.text == f"Invalid memory path '{echo}': {reason}"


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ("a..b.md", UP),
        ("~user.md", "'~' is not allowed in memory paths"),
        ("%2e%2e%2fx", ENCODED),
        ("<a>.md", "'<', '>' and '\"' are not allowed in memory paths"),
    ],
)
def test_names_that_nothing_is_given_but_that_may_be_there(given: str, reason: str) -> None:
    path = f"/memories/global/{given}"
    assert parse_path(path).doubt == f"Invalid memory path '{path}': {reason}"
    assert reachable(given)


@pytest.mark.parametrize("scope", ["", "Global", "channels", "notes", "global.md", " "])
def test_scopes_that_are_none(scope: str) -> None:
    with pytest.raises(Refusal) as caught:
        parse_path(f"/memories/{scope}/a.md")
    assert caught.value.text == f"Invalid memory scope '{scope}': expected one of {', '.join(SCOPES)}"


@given(st.text())
def test_whatever_is_taken_stays_below_its_scope(text: str) -> None:
    for path in (text, f"/memories/{text}", f"/memories/global/{text}"):
        try:
            place = parse_path(path)
        except Refusal as refusal:
            refusal.text.encode()
            continue
        assert place.scope in (*SCOPES, None)
        assert all(part not in ("", ".", "..") and "/" not in part and "\0" not in part for part in place.parts)
        assert parse_path(place.canonical).parts == place.parts


def test_an_absurdly_long_path_is_not_repeated_whole() -> None:
    with pytest.raises(Refusal) as caught:
        parse_path("x" * 10_000_000)
    assert len(caught.value.text) < 3_000


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
