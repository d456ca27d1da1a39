"""Changes of a TOML file: they mean what was asked, and touch nothing else."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.clients import tomlfile
from memtui.errors import UsageError
from tests.clients.files import toml_texts

PATH = ("mcp_servers", "memtui")
OURS = {"command": "", "args": [], "env": {"A": "", "XDG_DATA_HOME": ""}}
SERVER: dict[str, object] = {"command": "/opt/a b/memtui", "args": ["mcp"], "env": {"XDG_DATA_HOME": "/d"}}


@given(toml_texts(), st.sampled_from([SERVER, {"command": "/x"}]))
def test_putting_in_and_taking_out(text: str, server: dict[str, object]) -> None:
    try:
        before = tomlfile.parse(text)
    except UsageError:
        return
    after = tomlfile.put(text, PATH, server)
    blank = not text.removeprefix("\ufeff").strip()
    assert after.startswith(text) or blank
    assert tomlfile.get(after, PATH) == server
    other = tomlfile.put(after, PATH, {"command": "/other", "args": []})
    assert tomlfile.get(other, PATH) == {"command": "/other", "args": []}
    taken = tomlfile.take(other, PATH, OURS)
    assert tomlfile.parse(taken) == before
    if text.endswith("\n") and not blank:
        assert taken == text
    again = tomlfile.put(other + "\n# later\n[zz]\nq = 1\n", PATH, server)
    assert tomlfile.parse(tomlfile.take(again, PATH, OURS)) == before | {"zz": {"q": 1}}
    assert "# later" in again


def test_a_table_in_the_middle_keeps_its_place() -> None:
    text = '# top\n[mcp_servers.memtui]\ncommand = "old"\n\n[mcp_servers.memtui.env]\nA = "b"\n\n# next\n[z]\nq = 1\n'
    after = tomlfile.put(text, PATH, {"command": "new"})
    assert after == '# top\n[mcp_servers.memtui]\ncommand = "new"\n\n# next\n[z]\nq = 1\n'
    assert tomlfile.take(after, PATH, OURS) == "# top\n\n# next\n[z]\nq = 1\n"


def test_a_table_that_gets_another_setting_keeps_what_stands_around_it() -> None:
    text = 'a = 1\r\n[mcp_servers.memtui] # ours\r\ncommand = "x" # c\r\n\r\n# next\r\n[z]\r\nq = 1\r\n'
    after = tomlfile.put(text, PATH, {"command": "x", "args": ["mcp"]})
    assert after == text.replace("# c\r\n", '# c\r\nargs = ["mcp"]\r\n')
    assert tomlfile.take(after, PATH, OURS) == "a = 1\r\n\r\n# next\r\n[z]\r\nq = 1\r\n"


def test_what_others_wrote_into_our_table_stays_as_comments() -> None:
    text = '[mcp_servers.memtui]\ncommand = "x"\n# theirs\n"a b".c = 1\n[mcp_servers.memtui.t]\nq = [\n  1,\n]\n# z\n'
    assert tomlfile.take(text, PATH, OURS) == (
        '# [mcp_servers.memtui]\n# # theirs\n# "a b".c = 1\n# [mcp_servers.memtui.t]\n# q = [\n#   1,\n# ]\n# z\n'
    )


def test_lines_end_as_they_did() -> None:
    after = tomlfile.put("a = 1\r\n", PATH, {"command": "x"})
    assert after == 'a = 1\r\n\r\n[mcp_servers.memtui]\r\ncommand = "x"\r\n'
    assert tomlfile.put("", PATH, {"command": "x"}) == '[mcp_servers.memtui]\ncommand = "x"\n'
    assert tomlfile.put("a = 1", PATH, {"command": "x"}).startswith("a = 1\n\n[mcp")


@pytest.mark.parametrize("value", ["plain", 'quo"te', "back\\slash", "🙂", "tab\t", "new\nline", "\x1b[0m", "ä"])
def test_any_text_comes_back(value: str) -> None:
    assert tomllib.loads(tomlfile.put("", PATH, {"command": value}))["mcp_servers"]["memtui"] == {"command": value}


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
        tomlfile.put(text, PATH, SERVER)
    assert error.value.code == "E_CONFIG"
    assert "by hand" in error.value.hint


def test_what_is_not_toml_is_said() -> None:
    for text in ("a = ", "a = 1\na = 2\n", "[" * 3000):
        with pytest.raises(UsageError, match="TOML"):
            tomlfile.get(text, PATH)


def test_taking_out_what_is_not_there() -> None:
    assert tomlfile.take("a = 1\n", PATH, OURS) == "a = 1\n"
    with pytest.raises(UsageError):
        tomlfile.take("[mcp_servers]\nmemtui = { command = 'x' }", PATH, OURS)


@pytest.mark.parametrize("text", ["a = {}", f"[{'.'.join('a' * 60)}]\n{'.'.join('b' * 60)} = 1"])
def test_what_is_too_deep_or_too_large_is_said(text: str) -> None:
    with pytest.raises(UsageError, match="TOML"):
        tomlfile.put(text.format("1" * 5_000), PATH, SERVER)
