"""Modules and public functions say what they are for, briefly."""

import pytest

from tests.house.rules import long_docstring, undocumented
from tests.house.source import Source, sources

LINES = 6
"""Of a module's docstring, blank ones not counted."""

LONGER = {"memtui/errors.py": 14}
"""It draws the error tree."""

SPOKEN_BY_ITS_BASE = ("memtui/ui/", "memtui/workbench/")
"""Screens and widgets answer Textual's own methods; what those mean is Textual's to say."""


def test_module_docstrings_are_there_and_short() -> None:
    found = [
        str(offence)
        for source in sources("memtui", "tests", "screenshots")
        for offence in long_docstring(source, LONGER.get(source.name, LINES))
    ]
    assert not found, "\n".join(found)


def test_public_functions_are_documented() -> None:
    found = [
        str(offence)
        for source in sources("memtui")
        if not source.name.startswith(SPOKEN_BY_ITS_BASE)
        for offence in undocumented(source)
    ]
    assert not found, "\n".join(found)


def test_a_missing_or_long_docstring_is_found() -> None:
    assert list(long_docstring(Source.of("x = 1"), LINES))
    assert list(long_docstring(Source.of('"""' + "word\n" * 7 + '"""'), LINES))
    assert not list(long_docstring(Source.of('"""' + "word\n\n" * 6 + '"""'), LINES))


@pytest.mark.parametrize(
    "text",
    ["def act(): ...", "class Thing:\n    '''One.'''\n    def act(self): ...", "def act():\n    '''do it'''"],
)
def test_an_undocumented_function_is_found(text: str) -> None:
    assert [offence for offence in undocumented(Source.of(text)) if "act" in offence.what]


def test_private_ones_may_be_silent() -> None:
    assert not list(undocumented(Source.of("def _act(): ...\nclass _Thing:\n    def act(self): ...")))
