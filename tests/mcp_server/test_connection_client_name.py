"""A client's own name becomes an actor that is safe to show, short, and never a person's."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.engine.model import is_person
from memtui.mcp_server.connection import MAX_NAME, actor_of, client_name


@pytest.mark.parametrize(
    ("given_name", "name"),
    [
        ("claude-code", "claude-code"),
        ("Visual Studio Code", "Visual Studio Code"),
        ("  a \n b\t", "a b"),
        ("", "unknown"),
        (None, "unknown"),
        ("\n", "unknown"),
        ("You", "unknown"),
        (" tui ", "unknown"),
        ("a\x1b[2Jb", "a␛[2Jb"),
        ("x" * 500, "x" * (MAX_NAME - 1) + "…"),
    ],
)
def test_a_name(given_name: str | None, name: str) -> None:
    assert client_name(given_name) == name


@given(st.text(st.characters(codec=None), max_size=200))
def test_any_name_makes_an_actor_of_ours(given_name: str) -> None:
    actor = actor_of(client_name(given_name)).name
    assert actor.startswith("mcp:")
    assert actor.isprintable()
    assert len(actor) <= MAX_NAME + len("mcp:")
    assert actor.encode()
    assert not is_person(actor)
