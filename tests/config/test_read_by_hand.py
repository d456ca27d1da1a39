"""Roots named by hand: the `--root` option, and the rules for names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.config.read import parse_root
from memtui.config.settings import SCOPES, RootEntry, root_problem
from memtui.engine import model
from memtui.errors import UsageError


def parse(text: str) -> RootEntry:
    return parse_root(text, cwd="/work/here", home="/home/ann")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("notes=/n", ("notes", "/n", "files", "global")),
        ("notes=n/./m/..", ("notes", "/work/here/n", "files", "global")),
        ("notes=~/n", ("notes", "/home/ann/n", "files", "global")),
        ("n=/n,agent=mux", ("n", "/n", "mux", "global")),
        ("n=/n,scope=project,agent=mux", ("n", "/n", "mux", "project")),
        ("n=/a, b,c=d,agent=mux", ("n", "/a, b,c=d", "mux", "global")),
        ("n=/a=b", ("n", "/a=b", "files", "global")),
        ("codex:global=/n", ("codex:global", "/n", "files", "global")),
        ("n=/a,agent=x,agent=mux", ("n", "/a,agent=x", "mux", "global")),
    ],
)
def test_an_option_is_read(text: str, expected: tuple[str, ...]) -> None:
    assert parse(text) == (*expected, "--root")


MALFORMED = ["", "notes", "=/n", "notes=", "notes=,agent=mux", "a/b=/n", " n=/n", "n\x1b=/n", "n\n=/n", "-n=/n"]
MALFORMED += ["~n=/n", ".=/n", "n=/n,scope=all", "n=/n\0"]


@pytest.mark.parametrize("text", MALFORMED)
def test_a_malformed_option_is_refused(text: str) -> None:
    with pytest.raises(UsageError) as error:
        parse(text)
    assert (error.value.code, bool(error.value.hint)) == ("E_USAGE", True)


@given(st.text(max_size=40))
def test_any_text_is_a_root_or_a_complaint(text: str) -> None:
    try:
        entry = parse(text)
    except UsageError:
        return
    assert root_problem(entry) is None
    assert entry.dir.startswith("/")


def test_the_scopes_are_the_engines() -> None:
    assert SCOPES == model.SCOPES
