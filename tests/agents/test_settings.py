"""Agents' settings: read as data, and patterns in them matched in bounded time."""

import fnmatch
import os
import re
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.agents.agent import BY_FOLDER, BY_NAME, Excluded
from memtui.agents.settings import (
    LONGEST,
    Exclusions,
    File,
    Matching,
    below,
    file_names,
    last,
    problems,
    read_json,
    read_json5,
    read_text,
    read_toml,
    shell_patterns,
    texts,
)
from memtui.config.smallfile import LIMIT


def test_what_cannot_be_read_is_empty_and_said(tmp_path: Path) -> None:
    file = tmp_path / "a"
    for read in (read_json, read_toml, read_text):
        assert read(str(file)) == File(str(file), {}), "a file that is not there is no problem"
    for data in (b"[1]", b"\xff", b"[" * 5_000, b"null", b'{"a": 1} // \xff'):
        file.write_bytes(data)
        found = read_json(str(file))
        assert (found.values, "no JSON object" in found.problem) == ({}, True), data
    for data in (b"a = \xff", b"a = [", b"a = " + b"[" * 5_000):
        file.write_bytes(data)
        assert (read_toml(str(file)).values, "no TOML" in read_toml(str(file)).problem) == ({}, True), data
    file.write_bytes(b"")
    assert [read(str(file)).problem for read in (read_json, read_toml, read_text)] == ["", "", ""]
    file.write_bytes(b"a = 1")
    assert read_toml(str(file)) == File(str(file), {"a": 1})
    assert read_text(str(file)) == File(str(file), {}, "a = 1")


def test_what_is_no_small_file_is_said_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "loop").symlink_to("loop")
    with (tmp_path / "huge").open("wb") as huge:
        huge.truncate(LIMIT + 1)
    for name in ("pipe", "folder", "huge", "loop"):
        for read in (read_json, read_toml, read_text):
            found = read(str(tmp_path / name))
            assert (found.values, found.text) == ({}, "")
            assert found.problem.endswith("None of its settings is known here."), name
    assert problems((File("/a", {}, problem="It is odd."), File("/b", {}))) == (("/a", "It is odd."),)


def test_json_may_have_comments(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text('// mine\n{"a": {"b": 1,},}  /* so */\n')
    assert read_json(str(file)) == File(str(file), {"a": {"b": 1}})


def test_the_last_file_that_says_something_counts() -> None:
    files = (File("/a", {"x": {"y": 1}, "z": 1}), File("/b", {"x": {"y": 2}}), File("/c", {"x": 3}))
    assert last(files, "x", "y") == (2, "/b")
    assert last(files, "z") == (1, "/a")
    assert last(files, "x", "n") == (None, "")
    assert last((), "x") == (None, "")


def test_values_of_another_kind_are_left_out() -> None:
    assert below({"a": {"b": 1}}, "a") == {"b": 1}
    assert below({"a": 1}, "a") == {}
    assert texts(["a", 1, "b"]) == ("a", "b")
    assert texts("a") == ("a",)
    assert texts(None) == ()
    assert file_names(["A.md", "../A.md", "*.md", "", "..", "a\\b", "a\0", "\ud800.md"]) == ("A.md",)


def test_settings_of_a_checkout_are_not_read_through_a_link_out(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "secret").mkdir()
    for folder in ("in", "secret"):
        (tmp_path / folder / "s.json").write_text('{"a": 1}')
    (tmp_path / "in" / "link.json").symlink_to("../secret/s.json")
    (tmp_path / "in" / "near.json").symlink_to("s.json")
    (tmp_path / "in" / "out").symlink_to("../secret")
    inside = str(tmp_path / "in")
    for name in ("s.json", "near.json"):
        assert read_json(f"{inside}/{name}", inside).values == {"a": 1}
    for name in ("link.json", "out/s.json"):
        assert read_json(f"{inside}/{name}", inside) == File(f"{inside}/{name}", {}), "its folder tells of it"
    assert read_json(f"{inside}/out/s.json").values == {"a": 1}


def test_a_key_of_many_parts_is_no_toml(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text("x = 1\na" + ".a" * 40_000 + " = 1")
    began = time.thread_time()
    found = read_toml(str(file), str(tmp_path))
    assert time.thread_time() - began < 1
    assert found.values == {}
    assert "a key has more than 64 parts (at line 2). None of its" in found.problem


def test_json_with_bare_keys_is_not_parsed_and_what_cannot_be_any_is_said(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    for text in ("// mine\n{workspace: '/a',}", "{}", "", " \n", "{a: " + "[" * 400 + "]" * 400 + "}"):
        file.write_text(text)
        assert read_json5(str(file)) == File(str(file), {}, text)
    for text in ("[1]", "no", "\x00"):
        file.write_text(text)
        assert read_json5(str(file)).problem == "It is no JSON object. None of its settings is known here."
    for text in ('{"a":' * 600, "[{" * 300 + "]}" * 300):
        file.write_text(text)
        assert "nested too deeply" in read_json5(str(file)).problem
    (tmp_path / "folder").mkdir()
    assert "no regular file" in read_json5(str(tmp_path / "folder")).problem


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


def test_why_a_file_is_left_out() -> None:
    found = Exclusions(
        (Excluded("**/a.md", "path"), Excluded("/b*", "folder", BY_FOLDER), Excluded("c/*", "name", BY_NAME))
    )
    assert found.why_not("/x/a.md", "") == "path"
    assert found.why_not("/b*/y.md", "") == "folder"
    assert found.why_not("/bc/y.md", "") == "", "no sign of a folder's name is a pattern"
    assert found.why_not("/x/y.md", "c/d/e") == "name"
    assert Exclusions((Excluded("*", "name", BY_NAME),)).why_not("/x/y.md", "") == "", "it has no name"
    assert Exclusions(()).why_not("/x/a.md", "a") == ""
    assert found.problems() == ()


def test_what_was_not_compared_any_more_is_said() -> None:
    excluded = (Excluded("**/a*.md", "path", file="/s/one"), Excluded("b*", "name", BY_NAME, "/s/two"))
    found = Exclusions(excluded, steps=3_000)
    assert found.why_not("/x/a.md", "a") == "path"
    for number in range(200):
        assert not found.why_not(f"/x/{number}.md", str(number))
    assert found.why_not("/x/a.md", "a") == ""
    ((file, why),) = found.problems()
    assert file in ("/s/one", "/s/two")
    count = int(why.partition(": ")[2].partition(" ")[0])
    assert 1 < count < 201
    assert why == f"What it leaves out takes too long to find: {count} files are counted that it may leave out."
    one = Exclusions(excluded, steps=1)
    assert not one.why_not("/x/a.md", "a")
    assert "1 file is counted" in one.problems()[0][1]


def test_patterns_that_are_not_followed_in_all_they_name_are_said() -> None:
    patterns = ("{a,b}" * 6, "{a,b}" * 5, "x" * 2_000)
    found = Exclusions(tuple(Excluded(one, "Out.", file="/s") for one in patterns))
    assert not found.why_not("/c", "")
    assert found.problems() == (
        ("/s", f"Of a pattern that leaves files out: only 50 of the paths it stands for are tried: {patterns[0]}"),
        (
            "/s",
            "Of a pattern that leaves files out: it is longer than 1,024 characters and leaves out nothing: "
            + "x" * 100,
        ),
    )


def _seconds(excluded: tuple[Excluded, ...], files: int) -> float:
    began = time.thread_time()
    found = Exclusions(excluded)
    for number in range(files):
        name = f"{'a' * 200}{number}"
        found.why_not(f"/home/ann/src/shop/.claude/rules/{name}.md", name)
    return time.thread_time() - began


def test_many_patterns_and_many_files_take_no_longer_in_all() -> None:
    for patterns in (
        [f"**/{number}{('**/{*a,*b}' * 100)[:990]}" for number in range(50)],
        [("**/{*a,*b}" * 100)[: 1_000 - number] for number in range(50)],
        [f"**/{{*a,*b}}{number}*" + "*a" * 400 for number in range(50)],
        [f"**/{number}" * 90 for number in range(100)],
        ["**/" + "?*" * 300 + str(number) for number in range(100)],
        [("{" + "," * 400 + "}") * 2 + str(number) for number in range(100)],
    ):
        assert _seconds(tuple(Excluded(one, "Out.") for one in patterns), 900) < 8, patterns[0]
    names = tuple(Excluded(f"*{number}*" + "a*" * 20 + "b", "Out.", BY_NAME) for number in range(50_000))
    assert _seconds(names, 2_000) < 8


def test_what_people_write_is_compared_to_the_end() -> None:
    excluded = tuple(Excluded(f"**/package-{number}/**/CLAUDE*.md", "Out.") for number in range(50))
    found = Exclusions(excluded)
    for number in range(2_000):
        assert not found.why_not(f"/home/ann/src/shop/packages/part/src/{number}/CLAUDE.md", "")
    assert found.problems() == ()
