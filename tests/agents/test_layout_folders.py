"""What agents' layouts share: slugs, folders that may be missing, and an agent's own settings."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.agents.layout import id_part, slug
from memtui.agents.settings import agent_setting


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/home/ann/my_app", "-home-ann-my-app"),
        ("/home/ann/app", "-home-ann-app"),
        ("/a.b c", "-a-b-c"),
        ("/ä", "--"),
        ("/𝄞", "---"),
        ("/²", "--"),
    ],
)
def test_a_slug(path: str, expected: str) -> None:
    assert slug(path) == expected


@given(st.text())
def test_a_slug_has_one_dash_for_each_unit(path: str) -> None:
    made = slug(path)
    assert len(made) == len(path.encode("utf-16-le", "surrogatepass")) // 2
    assert set(made) <= set("-abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")


def test_an_id_can_be_printed() -> None:
    assert id_part("-home-ann") == "-home-ann"
    first, second = id_part("a\x1b[m"), id_part("a\u202e[m")
    assert first.isprintable()
    assert first != second
    assert id_part(os.fsdecode(b"\xff")).isprintable()


@pytest.mark.parametrize(
    ("content", "value"),
    [
        ('{"a": {"dir": "/x"}}', "/x"),
        ('{"a": {"dir": ""}}', None),
        ('{"a": {"dir": 3}}', None),
        ('{"a": "dir"}', None),
        ('["dir"]', None),
        ('{"a": {"dir": "x\\u0000"}}', None),
        ('{"a": {"dir": "\\ud800"}}', None),
        ('{"dir": ', None),
        ("[" * 100_000 + '"dir"', None),
        ("{}", None),
        ('// mine\n{"a": {"dir": "/x",}} /* so */', "/x"),
        ('{"a": {"dir": "/x"}} //' + " " * 262_144, "/x"),
    ],
)
def test_an_agents_setting(tmp_path: Path, content: str, value: str | None) -> None:
    file = tmp_path / "settings.json"
    file.write_text(content)
    assert agent_setting(str(file), "a", "dir") == value
