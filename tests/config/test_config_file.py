"""config.toml: what is read, and that every complaint names the file, the line, the key and a way out."""

import os
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.config.config_file import ConfigFile, read_config
from memtui.config.settings import FIELDS
from memtui.errors import UsageError
from tests.config.test_settings_page import PAGE


def read(folder: Path, content: str | bytes) -> ConfigFile:
    file = folder / "config.toml"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_config(str(file), "/home/ann")


def refused(folder: Path, content: str | bytes) -> UsageError:
    with pytest.raises(UsageError) as error:
        read(folder, content)
    assert error.value.code == "E_CONFIG"
    assert "No memory" in error.value.unharmed
    assert error.value.hint
    assert error.value.details["file"] == str(folder / "config.toml")
    assert str(folder / "config.toml") in error.value.message
    return error.value


def test_an_empty_file_says_nothing(tmp_path: Path) -> None:
    assert read(tmp_path, "") == ConfigFile()
    assert read(tmp_path, b"\xef\xbb\xbf# only a comment\r\n") == ConfigFile()


def test_a_setting_of_an_older_version_is_named_and_the_rest_is_read(tmp_path: Path) -> None:
    chosen = read(tmp_path, 'calm = true\ndigits = "counts"\n')
    assert chosen.values == (("calm", True, "config.toml, line 1"),)
    assert chosen.removed == ("config.toml, line 2: memtui has no setting 'digits' any more and ignores it.",)


def test_the_example_of_the_page_is_sound(tmp_path: Path) -> None:
    example = PAGE.read_text("utf-8").split("```toml\n")[1].split("```")[0]
    chosen = read(tmp_path, example)
    assert {key for key, _, _ in chosen.values} == {
        "project_memory",
        "editor",
        "retention.versions",
        "merge.when_mergeable",
    }
    assert chosen.keys == (("pin", "P"),)
    assert [(rule.client, rule.scope, rule.access) for rule in chosen.access] == [
        ("*", "*", "plan"),
        ("claude-code", "*", "rw"),
        ("codex", "global", "ro"),
        ("codex", "workspace", "off"),
    ]
    assert [(root.name, root.dir, root.agent, root.scope) for root in chosen.roots] == [
        ("notes", "/home/ann/notes/agents", "files", "global"),
        ("team", "/srv/team/memory", "claude-code", "project"),
    ]
    assert chosen.roots[0].origin.startswith("config.toml, line ")


def test_every_setting_can_be_written(tmp_path: Path) -> None:
    for field in FIELDS:
        value = (
            f'"{field.default}"'
            if isinstance(field.default, str)
            else str([] if field.default == () else field.default).lower()
        )
        assert read(tmp_path, f"{field.key} = {value}").values == ((field.key, field.default, "config.toml, line 1"),)


@pytest.mark.parametrize(
    ("text", "key", "line", "hint"),
    [
        ("project_memroy = 'host'", "project_memroy", 1, "project_memory"),
        ("\n[retention]\nversion = 3", "retention.version", 3, "retention.versions"),
        ("[retention]\ndays = 'x'", "retention.days", 2, "0 to 36500"),
        ("[retention]\ndays = -1", "retention.days", 2, "0 to 36500"),
        ("[retention]\nversions = 0", "retention.versions", 2, "1 to"),
        ("[retention]\ndays = true", "retention.days", 2, "number"),
        ("retention.days = 1.5", "retention.days", 1, "number"),
        ("calm = 'yes'", "calm", 1, "true or false"),
        ("ascii = 1", "ascii", 1, "true or false"),
        ("editor = ''", "editor", 1, "text"),
        ('editor = "a\\u001bb"', "editor", 1, "text"),
        ("theme = ['x']", "theme", 1, "text"),
        ("# c\nproject_memory = 'hosts'", "project_memory", 2, "host"),
        ("[merge]\nwhen_mergeable = 'never'", "merge.when_mergeable", 2, "ask, save"),
        ("versions = 3", "versions", 1, "retention.versions"),
        ("retention = 3", "retention", 1, "retention"),
        ("[colours]\nx = 1", "colours", 1, "project_memory"),
        ("[keys]\npin = 1", "keys.pin", 2, "quotes"),
        ("keys = 'p'", "keys", 1, "[keys]"),
        ("roots = 'x'", "roots", 1, "[[roots]]"),
        ("roots = ['x']", "roots", 1, "[[roots]]"),
        ("access = 'ro'", "access", 1, "[access]"),
        ("[access]\ncodex = 'read'", "access.codex", 2, "rw, plan, ro, off"),
        ("[access]\ncodex = 'pln'", "access.codex", 2, "Did you mean plan?"),
        ("[access]\ncodex = false", "access.codex", 2, "quotes"),
        ("[access]\n\n[access.codex]\nglobl = 'ro'", "access.codex.globl", 4, "Did you mean global?"),
        ("[access.codex]\nproject = 1", "access.codex.project", 2, "quotes"),
        ("access.codex.global = {x = 'ro'}", "access.codex.global", 1, "quotes"),
        ("[access]\n' ' = 'ro'", "access. ", 2, "codex"),
        ("[agents]\nenable = true", "agents.enable", 2, "agents.enabled"),
        ("[agents]\nenabled = 'no'", "agents.enabled", 2, "true or false"),
        ("[[roots]]\nname = 'n'", "roots.dir", 1, "dir"),
        ("[[roots]]\ndir = '/n'", "roots.name", 1, "name"),
        ("[[roots]]\nname = 'n'\ndir = '/n'\npath = '/n'", "roots.path", 4, "dir"),
        ("[[roots]]\nname = 'n'\ndir = 'n'", "roots.dir", 3, "~/"),
        ("[[roots]]\nname = 'n'\ndir = '/n'\n[[roots]]\nname = 'n'\ndir = '/m'", "roots.name", 5, "another"),
        ("[[roots]]\nname = 'n'\ndir = '/n'\n\n[[roots]]\nname = 'm'\ndir = '/m'\nscope = 'all'", "roots", 5, "global"),
        ("[[roots]]\nname = 'a/b'\ndir = '/n'", "roots", 1, "/"),
        ("[[roots]]\nname = 3\ndir = '/n'", "roots.name", 2, "quotes"),
    ],
)
def test_a_mistake_is_named(tmp_path: Path, text: str, key: str, line: int, hint: str) -> None:
    error = refused(tmp_path, text)
    assert (error.details["key"], error.details["line"]) == (key, line)
    assert hint in error.hint
    assert f"line {line}" in error.message


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("calm = \n", 1),
        ("calm = true\ncalm = true\n", 2),
        ("a = 1\nb = [1,", 2),
        ('x = """', 1),
        (b"a = 1\nb = '\xff'", 2),
        ("editor = vim", 1),
    ],
)
def test_what_is_not_toml_is_said_with_its_line(tmp_path: Path, content: str | bytes, line: int) -> None:
    assert refused(tmp_path, content).details["line"] == line


@pytest.mark.parametrize("text", ["a = " + "[" * 5000, "a" + ".a" * 5000 + " = 1", "a = {" * 3000, "a = " + "1" * 5000])
def test_deep_nesting_is_an_answer(tmp_path: Path, text: str) -> None:
    refused(tmp_path, text)


def test_what_cannot_be_read_is_an_answer(tmp_path: Path) -> None:
    (tmp_path / "config.toml").mkdir()
    with pytest.raises(UsageError, match="regular file"):
        read_config(str(tmp_path / "config.toml"), None)
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(UsageError, match="cannot be read"):
        read_config(str(tmp_path / "loop"), None)
    (tmp_path / "dangling").symlink_to("nowhere")
    with pytest.raises(UsageError, match="regular file"):
        read_config(str(tmp_path / "dangling"), None)
    with (tmp_path / "large").open("wb") as file:
        file.truncate(5_000_000_000)
    with pytest.raises(UsageError, match="1,048,576"):
        read_config(str(tmp_path / "large"), None)


def test_a_pipe_is_an_answer(tmp_path: Path) -> None:
    if not hasattr(os, "mkfifo"):
        pytest.skip("no named pipes here")
    os.mkfifo(tmp_path / "config.toml")
    with pytest.raises(UsageError, match="regular file"):
        read_config(str(tmp_path / "config.toml"), None)


def test_keys_with_dots_and_tables(tmp_path: Path) -> None:
    chosen = read(tmp_path, '[keys]\npin = "P"\n"tree.open" = "l"\nview.history = "H"\n')
    assert chosen.keys == (("pin", "P"), ("tree.open", "l"), ("view.history", "H"))


def test_access_for_a_client_and_for_its_scopes(tmp_path: Path) -> None:
    text = "[access]\n'*' = 'plan'\n'My Editor' = 'off'\n[access.codex]\nglobal = 'ro'\n'*' = 'rw'\n"
    assert [tuple(rule) for rule in read(tmp_path, text).access] == [
        ("*", "*", "plan", "config.toml, line 2"),
        ("My Editor", "*", "off", "config.toml, line 3"),
        ("codex", "global", "ro", "config.toml, line 5"),
        ("codex", "*", "rw", "config.toml, line 6"),
    ]
    assert read(tmp_path, "access = {}").access == ()


@given(st.binary(max_size=200))
def test_any_bytes_are_settings_or_a_complaint(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    folder = tmp_path_factory.getbasetemp()
    try:
        read(folder, content)
    except UsageError:
        refused(folder, content)


names = st.sampled_from(
    ["calm", "ascii", "editor", "theme", "retention", "merge", "keys", "roots", "access", "name", "dir", "x"]
)
values = st.recursive(
    st.sampled_from(["true", "3", "-1", "1.5", "'x'", "'/x'", "2020-01-01", "''", "inf"]),
    lambda inner: (
        st.lists(inner, max_size=2).map(lambda items: f"[{', '.join(items)}]")
        | st.dictionaries(names, inner, max_size=2).map(
            lambda table: "{" + ", ".join(f"{key} = {value}" for key, value in table.items()) + "}"
        )
    ),
    max_leaves=4,
)


@given(st.dictionaries(names, values, max_size=3))
def test_any_toml_is_settings_or_a_complaint(tmp_path_factory: pytest.TempPathFactory, table: dict[str, str]) -> None:
    text = "\n".join(f"{key} = {value}" for key, value in table.items())
    tomllib.loads(text)
    folder = tmp_path_factory.getbasetemp()
    try:
        chosen = read(folder, text)
    except UsageError:
        assert isinstance(refused(folder, text).details["line"], int)
    else:
        assert all(any(field.key == key for field in FIELDS) for key, _, _ in chosen.values)
