"""What a client may do, scope by scope, in words."""

from pathlib import Path

import pytest

from memtui.engine.look.roots import OFF, PLAN, READ_ONLY, READ_WRITE, Access
from memtui.memory_tool.call import Rights, rights
from tests.memory_tool.conftest import open_tool

ALL = ("global", "project", "workspace")


@pytest.mark.parametrize(
    ("access", "readable", "writable"),
    [
        (READ_WRITE, ALL, ALL),
        (PLAN, ALL, ("global", "workspace")),
        (READ_ONLY, ALL, ()),
        (OFF, (), ()),
        (Access("rw", (("global", "off"),)), ("project", "workspace"), ("project", "workspace")),
    ],
)
def test_they_are_the_engines(
    tmp_path: Path, access: Access, readable: tuple[str, ...], writable: tuple[str, ...]
) -> None:
    with open_tool(tmp_path, access=access).engine as engine:
        assert rights(engine) == Rights(readable, writable)


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (Rights(ALL, ALL), ""),
        (Rights(("global",), ("global",)), ""),
        (Rights(ALL, ()), "You may only read memories, not change them."),
        (
            Rights(ALL, ("global", "workspace")),
            "You may write in /memories/global and /memories/workspace; /memories/project you may only read.",
        ),
        (
            Rights(ALL, ("workspace",)),
            "You may write in /memories/workspace; /memories/global and /memories/project you may only read.",
        ),
    ],
)
def test_in_words(found: Rights, said: str) -> None:
    assert found.in_words == said
