"""Nothing grows past its budget."""

import pytest

from tests.house.budgets import FOLDERS, too_large
from tests.house.source import Source, python_files, sources


def test_nothing_is_over_its_budget() -> None:
    found = [str(offence) for source in sources(*FOLDERS) for offence in too_large(source)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x = 1\n" * 601, "the file has 601 lines"),
        ("def big():\n" + "    x = 1\n" * 60, "function big has 61 lines"),
        ("class A:\n    async def big(self):\n" + "        x = 1\n" * 60, "function big has 61 lines"),
    ],
)
def test_what_is_too_large_is_found(text: str, words: str) -> None:
    assert [offence.what for offence in too_large(Source.of(text)) if offence.what.startswith(words)]


def test_what_just_fits_passes() -> None:
    assert not list(too_large(Source.of("def fits():\n" + "    x = 1\n" * 59 + "x = 1\n" * 540)))


def test_the_walk_sees_the_package() -> None:
    assert {"memtui/errors.py", "memtui/engine/model.py"} <= {source.name for source in sources("memtui")}
    assert len(list(python_files(*FOLDERS))) > 20
