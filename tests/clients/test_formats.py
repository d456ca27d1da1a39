"""Changes of a JSON or TOML file: they mean what was asked, and touch nothing else."""

import copy
import json
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.clients import formats
from memtui.config.jsonc import parse
from memtui.errors import UsageError
from tests.clients.files import NAMES, NEWLINES, VALUES, json_texts, toml_texts

SERVER = {"command": "/opt/memtui", "args": ["mcp", "--access", "plan"]}


def value_of(text: str) -> dict[str, object]:
    value = parse(text) or {}
    assert isinstance(value, dict)
    return value


def is_plain(text: str) -> bool:
    """Whether Python itself reads the text."""
    try:
        return isinstance(json.loads(text.removeprefix("\ufeff").strip() or "{}"), dict)
    except ValueError:
        return False


@given(json_texts(), st.sampled_from([("mcpServers", "memtui"), ("new",), ("a", "b", "c")]))
def test_putting_in_and_taking_out(text: str, path: tuple[str, ...]) -> None:
    before = copy.deepcopy(value_of(text))
    try:
        after = formats.json_put(text, path, SERVER)
    except formats.CommentedError:
        assert not is_plain(text)
        return
    except UsageError:
        return
    assert formats.json_get(after, path) == SERVER
    assert formats.json_put(after, path, SERVER) == after
    if not formats.json_has(text, path):
        taken = formats.json_take(after, path)
        assert not formats.json_has(taken, path)
        for end in range(len(path) - 1, 0, -1):
            if not formats.json_has(text, path[:end]):
                taken = formats.json_take(taken, path[:end])
        assert value_of(taken) == before
        assert json.dumps(value_of(taken)) == json.dumps(before)  # the order too


@given(st.dictionaries(NAMES, VALUES, min_size=1), st.sampled_from([None, 1, 2, 4, "\t"]), st.booleans(), NEWLINES)
def test_everything_else_keeps_its_bytes(
    value: dict[str, object], indent: int | str | None, escaped: bool, newline: str
) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=escaped).replace("\n", newline) + newline
    path = ("memtui",)
    assert formats.json_take(formats.json_put(text, path, SERVER), path) == text


@given(json_texts())
def test_items_of_an_array(text: str) -> None:
    path = ("hooks", "SessionStart")
    try:
        after = formats.json_append(text, path, {"x": [1]})
    except UsageError:
        return
    items = formats.json_get(after, path)
    assert isinstance(items, list)
    assert items[-1] == {"x": [1]}
    changed = formats.json_put(after, (*path, len(items) - 1, "x"), [2])
    assert formats.json_get(changed, (*path, len(items) - 1)) == {"x": [2]}
    taken = formats.json_take(changed, (*path, len(items) - 1))
    assert formats.json_get(taken, path) == items[:-1]


@pytest.mark.parametrize("text", ['{"a": 1, // c\n}', '{"a": 1 /* c */}', '{"a": [1,]}', "{// c\n}"])
def test_a_file_with_comments_is_read_and_not_changed(text: str) -> None:
    for change in (formats.json_put, formats.json_append):
        with pytest.raises(formats.CommentedError) as error:
            change(text, ("b",), 2)
        assert error.value.code == "E_CONFIG"
    if formats.json_has(text, ("a",)):
        assert formats.json_put(text, ("a",), formats.json_get(text, ("a",))) == text
        with pytest.raises(formats.CommentedError):
            formats.json_take(text, ("a",))
    assert formats.json_take(text, ("b",)) == text


def test_a_formatted_file_stays_formatted() -> None:
    text = '{\n\t"theme": "dark",\n\t"mcpServers": {\n\t\t"other": {}\n\t}\n}\n'
    assert formats.json_put(text, ("mcpServers", "memtui"), SERVER) == (
        '{\n\t"theme": "dark",\n\t"mcpServers": {\n\t\t"other": {},\n\t\t"memtui": {\n\t\t\t"command": "/opt/memtui",\n'
        '\t\t\t"args": [\n\t\t\t\t"mcp",\n\t\t\t\t"--access",\n\t\t\t\t"plan"\n\t\t\t]\n\t\t}\n\t}\n}\n'
    )


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "{}\n",
        '{\n  "a": 1\n}\n',
        '{\r\n    "a": 1\r\n}\r\n',
        '{"a":1}',
        ' {\n  "a": "ä \U0001f642"\n}',
        '{"a": "\\u00e4 \\ud83d", "b": 1000.0}',
        '{\n  "mcpServers": {\n    "x": {}\n  }\n}\n',
        '\ufeff{\n  "a": [\n    1\n  ]\n}',
    ],
)
def test_what_was_put_in_comes_out_without_a_trace(text: str) -> None:
    path = ("mcpServers", "memtui")
    after = formats.json_take(formats.json_put(text, path, SERVER), path)
    if "mcpServers" not in text:
        after = formats.json_take(after, path[:1])
    assert after == text


def test_new_files_are_formatted() -> None:
    assert formats.json_put("", ("servers", "memtui"), {"type": "stdio"}) == (
        '{\n  "servers": {\n    "memtui": {\n      "type": "stdio"\n    }\n  }\n}\n'
    )


@pytest.mark.parametrize(
    "text",
    [
        '{"a": {"x": 1}, "a": {"b": 2}}',
        '{"a": {"b": 1, "b": 2}}',
        '{"a": {"b": 1, "\\u0062": 2}}',
        '{"a": {"b": {"z": 1, "z": 2}}}',
        '{"a": {"b": 1e400}}',
    ],
)
def test_what_would_not_come_out_as_it_was_is_left_alone(text: str) -> None:
    with pytest.raises(UsageError, match=r"is there twice|out of range") as error:
        formats.json_take(text, ("a", "b"))
    assert error.value.hint
    with pytest.raises(UsageError, match=r"is there twice|out of range"):
        formats.json_put(text, ("a", "b"), 3)


@pytest.mark.parametrize(
    ("text", "path", "said"),
    [
        ('{"mcpServers": []}', ("mcpServers", "memtui"), "'mcpServers' is not an object."),
        ('{"mcpServers": "x"}', ("mcpServers", "memtui"), "'mcpServers' is not an object."),
        ('{"a": {"b": 1}}', ("a", "b", "c"), "'a.b' is not an object."),
        ('{"hooks": "x"}', ("hooks", "SessionStart"), "'hooks' is not an object."),
        ('{"hooks": {"SessionStart": {}}}', ("hooks", "SessionStart"), "'hooks.SessionStart' is not a list."),
        ("[]", ("hooks", "SessionStart"), "the whole is not an object."),
        ('{"mcpServers": null}', ("mcpServers", "memtui"), "'mcpServers' is not an object."),
    ],
)
def test_what_is_in_the_way_is_named(text: str, path: tuple[str, ...], said: str) -> None:
    change = formats.json_append if path[0] == "hooks" else formats.json_put
    with pytest.raises(UsageError) as error:
        change(text, path, {"x": 1})
    assert error.value.message == said
    assert error.value.hint


PATH = ("mcp_servers", "memtui")
OURS = {"command": "", "args": [], "env": {"A": "", "XDG_DATA_HOME": ""}}
TOML_SERVER: dict[str, object] = {"command": "/opt/a b/memtui", "args": ["mcp"], "env": {"XDG_DATA_HOME": "/d"}}


@given(toml_texts(), st.sampled_from([TOML_SERVER, {"command": "/x"}]))
def test_putting_a_table_in_and_taking_it_out(text: str, server: dict[str, object]) -> None:
    try:
        before = formats.toml_parse(text)
    except UsageError:
        return
    after = formats.toml_put(text, PATH, server)
    blank = not text.removeprefix("\ufeff").strip()
    assert after.startswith(text) or blank
    assert formats.toml_get(after, PATH) == server
    other = formats.toml_put(after, PATH, {"command": "/other", "args": []})
    assert formats.toml_get(other, PATH) == {"command": "/other", "args": []}
    taken = formats.toml_take(other, PATH, OURS)
    assert formats.toml_parse(taken) == before
    if text.endswith("\n") and not blank:
        assert taken == text
    again = formats.toml_put(other + "\n# later\n[zz]\nq = 1\n", PATH, server)
    assert formats.toml_parse(formats.toml_take(again, PATH, OURS)) == before | {"zz": {"q": 1}}
    assert "# later" in again


def test_a_table_in_the_middle_keeps_its_place() -> None:
    text = '# top\n[mcp_servers.memtui]\ncommand = "old"\n\n[mcp_servers.memtui.env]\nA = "b"\n\n# next\n[z]\nq = 1\n'
    after = formats.toml_put(text, PATH, {"command": "new"})
    assert after == '# top\n[mcp_servers.memtui]\ncommand = "new"\n\n# next\n[z]\nq = 1\n'
    assert formats.toml_take(after, PATH, OURS) == "# top\n\n# next\n[z]\nq = 1\n"


def test_a_table_that_gets_another_setting_keeps_what_stands_around_it() -> None:
    text = 'a = 1\r\n[mcp_servers.memtui] # ours\r\ncommand = "x" # c\r\n\r\n# next\r\n[z]\r\nq = 1\r\n'
    after = formats.toml_put(text, PATH, {"command": "x", "args": ["mcp"]})
    assert after == text.replace("# c\r\n", '# c\r\nargs = ["mcp"]\r\n')
    assert formats.toml_take(after, PATH, OURS) == "a = 1\r\n\r\n# next\r\n[z]\r\nq = 1\r\n"


def test_what_others_wrote_into_our_table_stays_as_comments() -> None:
    text = '[mcp_servers.memtui]\ncommand = "x"\n# theirs\n"a b".c = 1\n[mcp_servers.memtui.t]\nq = [\n  1,\n]\n# z\n'
    assert formats.toml_take(text, PATH, OURS) == (
        '# [mcp_servers.memtui]\n# # theirs\n# "a b".c = 1\n# [mcp_servers.memtui.t]\n# q = [\n#   1,\n# ]\n# z\n'
    )


def test_lines_end_as_they_did() -> None:
    after = formats.toml_put("a = 1\r\n", PATH, {"command": "x"})
    assert after == 'a = 1\r\n\r\n[mcp_servers.memtui]\r\ncommand = "x"\r\n'
    assert formats.toml_put("", PATH, {"command": "x"}) == '[mcp_servers.memtui]\ncommand = "x"\n'
    assert formats.toml_put("a = 1", PATH, {"command": "x"}).startswith("a = 1\n\n[mcp")


@pytest.mark.parametrize("value", ["plain", 'quo"te', "back\\slash", "🙂", "tab\t", "new\nline", "\x1b[0m", "ä"])
def test_any_text_comes_back(value: str) -> None:
    assert tomllib.loads(formats.toml_put("", PATH, {"command": value}))["mcp_servers"]["memtui"] == {"command": value}


@pytest.mark.parametrize(
    "text",
    [
        "mcp_servers = { other = { command = 'x' } }",
        "[mcp_servers]\nmemtui = { command = 'x' }",
        "mcp_servers.memtui.command = 'x'",
        "mcp_servers = 'none'",
        "[mcp_servers]\nmemtui.command = 'x'",
    ],
)
def test_what_cannot_be_changed_line_by_line_is_left_alone(text: str) -> None:
    with pytest.raises(UsageError) as error:
        formats.toml_put(text, PATH, TOML_SERVER)
    assert error.value.code == "E_CONFIG"
    assert "by hand" in error.value.hint


def test_what_is_not_toml_is_said() -> None:
    for text in ("a = ", "a = 1\na = 2\n", "[" * 3000):
        with pytest.raises(UsageError, match="TOML"):
            formats.toml_get(text, PATH)


def test_taking_out_what_is_not_there() -> None:
    assert formats.toml_take("a = 1\n", PATH, OURS) == "a = 1\n"
    with pytest.raises(UsageError):
        formats.toml_take("[mcp_servers]\nmemtui = { command = 'x' }", PATH, OURS)


@pytest.mark.parametrize("text", ["a = {}", f"[{'.'.join('a' * 60)}]\n{'.'.join('b' * 60)} = 1"])
def test_what_is_too_deep_or_too_large_is_said(text: str) -> None:
    with pytest.raises(UsageError, match="TOML"):
        formats.toml_put(text.format("1" * 5_000), PATH, TOML_SERVER)
