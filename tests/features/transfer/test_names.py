"""Names where a memory goes: what a file system that ignores case would confuse with what is there."""

import pytest

from memtui.features.transfer.names import TakenNames


@pytest.mark.parametrize(
    ("path", "other"),
    [
        ("README.md", ""),
        ("readme.md", "README.md"),
        ("Docs/a.md", ""),
        ("docs/a.md", "Docs"),
        ("Docs/A.md", "Docs/a.md"),
        ("Docs/README.md", ""),
        ("Docs/Deep/a.md", "Docs/deep"),
        ("new/readme.md", ""),
        ("Docs/b.md", ""),
        ("ﬁle.md", "file.md"),
    ],
)
def test_a_name_clashes_with_a_sibling_of_it_or_of_a_folder_above(path: str, other: str) -> None:
    assert TakenNames(["README.md", "Docs/a.md", "Docs/deep/x.md", "file.md"]).clash(path) == other
