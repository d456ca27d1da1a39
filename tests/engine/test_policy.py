"""What a layout says about files, asked for one path."""

import pytest

from memtui.engine.policy import Policy


@pytest.mark.parametrize(
    ("wanted", "path", "expected"),
    [
        (None, "MEMORY.md", False),
        ("MEMORY.md", "MEMORY.md", True),
        ("MEMORY.md", "a/MEMORY.md", False),
        ("*/MEMORY.md", "a/MEMORY.md", True),
        ("*/MEMORY.md", "MEMORY.md", False),
        ("*/MEMORY.md", "a/b/MEMORY.md", False),
        ("**/MEMORY.md", "MEMORY.md", True),
        ("**/MEMORY.md", "a/b/MEMORY.md", True),
        ("**/MEMORY.md", "a/OLD_MEMORY.md", False),
    ],
)
def test_which_files_are_an_index(wanted: str | None, path: str, expected: bool) -> None:
    assert Policy(index_file=wanted).is_index(path) is expected
