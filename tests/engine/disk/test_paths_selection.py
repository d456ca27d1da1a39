"""Patterns mean what the shell's do, and a layout's names select exactly the files it names."""

from fnmatch import fnmatchcase

from hypothesis import given
from hypothesis import strategies as st

from memtui.engine.disk.paths import Patterns, Selection
from memtui.engine.model import Policy

TEXT = st.text("ab.*?[]/-", max_size=6)


@given(patterns=st.lists(TEXT.filter(bool), max_size=4), text=TEXT)
def test_patterns_are_the_shell_s(patterns: list[str], text: str) -> None:
    whole = [pattern + "*" if pattern.endswith("/") else pattern for pattern in patterns]
    assert Patterns(patterns).match(text) == any(fnmatchcase(text, pattern) for pattern in whole)


def selected(policy: Policy, path: str) -> bool:
    """Whether a scan would come to list this path."""
    return Selection.of(policy).covers(path)


PARTS = st.sampled_from(["a", "b", ".c"])
PATHS = st.lists(PARTS, min_size=1, max_size=3).map("/".join)
ENTRIES = st.lists(st.tuples(PATHS, st.booleans()).map(lambda pair: pair[0] + "/" * pair[1]), max_size=4)


def covers(entry: str, path: str) -> bool:
    """What `Policy.include` says of one of its entries."""
    return path.startswith(entry) if entry.endswith("/") else path == entry


@given(include=ENTRIES, elsewhere=ENTRIES, path=PATHS)
def test_a_layout_s_names_select_what_they_say(include: list[str], elsewhere: list[str], path: str) -> None:
    policy = Policy(include=tuple(include), elsewhere=tuple(elsewhere))
    named = path in include
    below = [entry for entry in include if entry.endswith("/") and path.startswith(entry)]
    hidden = any("/." in path[len(entry) - 1 :] for entry in below)
    wanted = (named or bool(below)) and not any(covers(entry, path) for entry in elsewhere)
    # A folder named whole wins over a name in it, so a hidden file below it needs a name that is not below another one.
    if not hidden:
        assert selected(policy, path) == wanted
    elif not named:
        assert not selected(policy, path)
