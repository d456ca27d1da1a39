"""Names that can be taken for each other are flagged on both sides of a clash and on the imitation of a look-alike."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.engine.disk.paths import flags, fold, skeleton

NAMES = st.lists(st.text("abAB\u0430\u0435\u00e9\u0301e.", min_size=1, max_size=4), unique=True, max_size=6)


def codes(names: list[str]) -> dict[str, list[str]]:
    return {name: [problem.code for problem in found] for name, found in flags(names).items()}


@given(NAMES)
def test_plain_names_are_never_called_imitations(names: list[str]) -> None:
    found = codes(names)
    for name in names:
        alike = any(skeleton(other) == skeleton(name) and fold(other) != fold(name) for other in names)
        assert ("look-alike" in found.get(name, ())) == (alike and not name.isascii())


@pytest.mark.parametrize(
    ("real", "imitation"),
    [
        ("notes.md", "n\u043etes.md"),
        ("api.md", "\u0430\u0440\u0456.md"),
        ("user.md", "us\u0435r.md"),
        ("a-b.md", "a\u2010b.md"),
        ("tau.md", "\u03c4au.md"),
    ],
)
def test_letters_of_other_alphabets_do_not_pass_for_latin_ones(real: str, imitation: str) -> None:
    assert codes([real, imitation]) == {imitation: ["look-alike"]}
    assert codes([imitation]) == {}
