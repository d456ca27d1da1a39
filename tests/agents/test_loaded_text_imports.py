"""Imports as each agent reads them: outside of code, at the beginning of a word, and in bounded time."""

import time

import pytest

from memtui.agents.agent import ImportRule
from memtui.agents.loaded_text import MOST_IMPORTS, find_imports

CLAUDE = ImportRule(depth=4, markdown=True, approval=True)
GEMINI = ImportRule(depth=5, markdown=False, approval=False, home=False)


def targets(text: str, rule: ImportRule = CLAUDE) -> list[str]:
    return [one.target for one in find_imports(text, rule)]


def test_imports_stand_at_the_beginning_of_a_word() -> None:
    assert targets("See @README.md and @docs/a.md\n@./b.md mail@example.org (@c.md)") == [
        "README.md",
        "docs/a.md",
        "./b.md",
    ]
    assert targets("@~/x.md") == ["~/x.md"]
    assert targets("@~/x.md @./y.md", GEMINI) == ["./y.md"]
    assert targets("@ @1 @-x @\0a @~x @/") == ["1", "-x"]
    assert targets("@ @1 @-x @_a", GEMINI) == []


@pytest.mark.parametrize("rule", [CLAUDE, GEMINI])
def test_code_is_not_looked_into(rule: ImportRule) -> None:
    assert targets("```\n@a.md\n```\n`@b.md` @c.md\n", rule) == ["c.md"]
    assert targets("````\n```\n@a.md\n````\n@c.md\n", rule) == ["c.md"]


def test_a_fence_that_never_ends_is_code_to_the_end() -> None:
    assert targets("@a.md\n~~~\n@b.md\n") == ["a.md"]
    assert targets("@a.md\n```\n@b.md\n", GEMINI) == ["a.md", "b.md"]


def test_names_of_people_and_packages_are_not_certain() -> None:
    found = {one.target: one.certain for one in find_imports("@alice @types/node @a.md @./b @notes.txt.", CLAUDE)}
    assert found == {"alice": False, "types/node": False, "a.md": True, "./b": True, "notes.txt.": True}


def test_there_is_a_limit() -> None:
    assert len(find_imports("@a.md " * (MOST_IMPORTS + 50), CLAUDE)) == MOST_IMPORTS


@pytest.mark.parametrize("piece", ["`", "` ``", "@", "@a`", "```\n", "`" * 9 + " "])
@pytest.mark.parametrize("rule", [CLAUDE, GEMINI])
def test_hostile_texts_take_no_longer_than_others(piece: str, rule: ImportRule) -> None:
    text = piece * (400_000 // len(piece))
    plain = "word @a.md\n" * 40_000
    took = []
    for one in (plain, text):
        start = time.thread_time()
        find_imports(one, rule)
        took.append(time.thread_time() - start)
    assert took[1] < max(50 * took[0], 3.0)
