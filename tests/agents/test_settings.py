"""Agents' settings: data, small, and never a folder or a pattern where a name is wanted."""

import os
import time
from pathlib import Path

from memtui.agents.settings import (
    File,
    below,
    file_names,
    last,
    problems,
    read_json,
    read_json5,
    read_text,
    read_toml,
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
