"""Patterns of agents' settings: what they name, what is not understood, and none that takes long."""

import fnmatch
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.agents.patterns import LONGEST, Matching, shell_patterns


@pytest.mark.parametrize(
    ("pattern", "path", "named"),
    [
        ("/a/CLAUDE.md", "/a/CLAUDE.md", True),
        ("**/CLAUDE.md", "/a/b/CLAUDE.md", True),
        ("**/CLAUDE.md", "/CLAUDE.md", True),
        ("**/x/CLAUDE.md", "/a/x/CLAUDE.md", True),
        ("**/x/CLAUDE.md", "/a/y/CLAUDE.md", False),
        ("/a/*/CLAUDE.md", "/a/b/CLAUDE.md", True),
        ("/a/*/CLAUDE.md", "/a/b/c/CLAUDE.md", False),
        ("/a/**/CLAUDE.md", "/a/CLAUDE.md", True),
        ("/a/**/CLAUDE.md", "/a/b/c/CLAUDE.md", True),
        ("/a/.claude/rules/**", "/a/.claude/rules/b/c.md", True),
        ("/a/.claude/rules/**", "/a/.claude/CLAUDE.md", False),
        ("**/b/**/d.md", "/a/b/b/c/d.md", True),
        ("**/.*/CLAUDE.md", "/a/.claude/CLAUDE.md", True),
        ("*.md", "/a/CLAUDE.md", False),
        ("**/{one,two}/*.md", "/a/two/x.md", True),
        ("**/{one,two}/*.md", "/a/three/x.md", False),
        ("**/{a,b{c,d}}.md", "/bd.md", True),
        ("**/[^ab].md", "/c.md", True),
        ("**/[^ab].md", "/a.md", False),
        ("\\a\\CLAUDE.md", "/a/CLAUDE.md", True),
        ("", "/a", False),
        ("**/" + "x" * LONGEST, "/" + "x" * LONGEST, False),
    ],
)
def test_what_a_pattern_names(pattern: str, path: str, named: bool) -> None:
    assert Matching().names_path(path, pattern) is named


@pytest.mark.parametrize(
    ("regex", "patterns"),
    [
        ("_archive/.*", ("_archive/*",)),
        (r".*[.]sync-conflict-.*", ("*[.]sync-conflict-*",)),
        (r"^core\.md$", ("core.md",)),
        ("a.c", ("a?c",)),
        (".+/x", ("?*/x",)),
        (".*?", ("*",)),
        ("a|b/.*", ("a", "b/*")),
        (r"a\*\[", ("a[*][[]",)),
        ("[^a]x", ("[!a]x",)),
        ("(a|b)/.*", None),
        ("a*", None),
        ("a?", None),
        (".{3}", None),
        (r"\d+", None),
        ("[!a]", None),
        ("[a", None),
        ("a\\", None),
        ("(?:", None),
        ("a^b", None),
        ("x" * (LONGEST + 1), None),
    ],
)
def test_regular_expressions_that_are_no_more_than_shell_patterns(regex: str, patterns: tuple[str, ...] | None) -> None:
    assert shell_patterns(regex) == patterns


@given(st.lists(st.sampled_from(["a", "b", "/", r"\.", ".", ".*", ".+", "[ab]", "[^a]", "|"]), max_size=8), st.data())
def test_a_shell_pattern_names_what_its_regular_expression_names(parts: list[str], data: st.DataObject) -> None:
    regex = "".join(parts)
    found = shell_patterns(regex)
    assert found is not None
    name = data.draw(st.text("ab/.x", max_size=8))
    assert any(fnmatch.fnmatchcase(name, one) for one in found) is (re.fullmatch(regex, name) is not None)


def test_no_pattern_takes_long() -> None:
    path = "/" + "/".join("a" * 20 for _ in range(100)) + "/b"
    began = time.thread_time()
    for pattern in ("**/a/" * 200 + "c", "**/" + "*a" * 500 + "c", "{a,b}" * 200 + "c", "{" * 1_000, "{a,{" * 200):
        assert not Matching().names_path(path, pattern)
    found = shell_patterns(".*a" * 300)
    assert found is not None
    assert not fnmatch.fnmatchcase("a" * 250, found[0])
    assert time.thread_time() - began < 2


def test_all_questions_together_take_no_longer_than_the_steps() -> None:
    matching = Matching(steps=10_000)
    assert matching.names_path("/a/b.md", "/a/*.md")
    assert matching.names("a/b", "*b")
    assert not matching.names("", "*")
    asked = 0
    while not matching.is_spent:
        assert not matching.names_path("/a/c.md", "/a/b*.md")
        asked += 1
    assert 10 < asked < 1_000
    assert not matching.names_path("/a/b.md", "/a/*.md")
    assert not matching.names("a/b", "*b")
