"""Entries of memtui's in a configuration: what is memtui's is found, put in, renewed and taken out, nothing else."""

import json
import shlex
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.agents.agent import ClientEntry, ClientFile, hook_group
from memtui.clients import entries
from memtui.clients.entries import ABSENT, CURRENT, FOREIGN, OTHER, hook_client, how_to_start, is_server
from memtui.config.directories import Directories
from memtui.config.settings import Settings
from memtui.errors import ConflictError, UsageError

BARE = "memtui context --format hook --client qwen"
HOOK = {"type": "command", "command": "/m/memtui context --format hook --client qwen", "timeout": 10}
SERVER = ClientEntry("server", ("mcpServers", "memtui"), {"command": "/m/memtui", "args": ["mcp"]})
GROUPED = ClientEntry("hook", ("hooks", "SessionStart"), hook_group(HOOK))
FLAT = ClientEntry("hook", ("hooks", "SessionStart"), HOOK)
JSON = ClientFile("/x/settings.json", "json", (SERVER, GROUPED))
TABLE = ClientEntry("server", ("mcp_servers", "memtui"), {"command": "/m/memtui", "args": ["mcp"]})
TOML = ClientFile("/x/config.toml", "toml", (TABLE,))


@pytest.mark.parametrize(("target", "entry"), [(JSON, SERVER), (JSON, GROUPED), (JSON, FLAT), (TOML, TABLE)])
def test_in_and_out(target: ClientFile, entry: ClientEntry) -> None:
    assert entries.state(target, "", entry) == ABSENT
    text = entries.put(target, "", entry)
    assert entries.state(target, text, entry) == CURRENT
    assert entries.put(target, text, entry) == text
    assert entries.take(target, text, entry, "").strip() in ("", "{}")


def test_what_the_user_added_to_a_server_stays() -> None:
    text = json.dumps({"mcpServers": {"memtui": {"command": "memtui", "args": ["mcp"], "trust": True, "timeout": 5}}})
    assert entries.state(JSON, text, SERVER) == OTHER
    after = entries.put(JSON, text, SERVER)
    assert json.loads(after)["mcpServers"]["memtui"] == {
        "command": "/m/memtui",
        "args": ["mcp"],
        "trust": True,
        "timeout": 5,
    }
    assert entries.state(JSON, after, SERVER) == CURRENT
    text = (
        '[mcp_servers.memtui]\ncommand = "memtui"\nargs = ["mcp"]\nenabled = false\n[mcp_servers.memtui.env]\nA = "b"\n'
    )
    assert entries.state(TOML, text, TABLE) == OTHER
    assert tomllib.loads(entries.put(TOML, text, TABLE))["mcp_servers"]["memtui"] == {
        "command": "/m/memtui",
        "args": ["mcp"],
        "enabled": False,
        "env": {"A": "b"},
    }


def test_a_setting_of_ours_that_is_no_longer_wanted_goes() -> None:
    text = json.dumps(
        {"mcpServers": {"memtui": {"command": "/m/memtui", "args": ["mcp"], "cwd": "${workspaceFolder}"}}}
    )
    assert entries.state(JSON, text, SERVER) == OTHER
    assert "cwd" not in entries.put(JSON, text, SERVER)


@pytest.mark.parametrize(
    "group",
    [
        {"hooks": [{"type": "command", "command": BARE}]},
        {"matcher": "startup", "hooks": [{"type": "command", "command": BARE}]},
        {"type": "command", "command": BARE},
    ],
)
def test_a_hook_typed_by_hand_is_brought_up_to_date_in_its_place(group: object) -> None:
    text = json.dumps({"hooks": {"SessionStart": [{"hooks": [{"command": "other"}]}, group]}})
    assert entries.state(JSON, text, GROUPED) == OTHER
    after = entries.put(JSON, text, GROUPED)
    assert after.count("memtui") == 1
    assert str(HOOK["command"]) in json.dumps(json.loads(after)["hooks"]["SessionStart"][1])
    assert json.loads(after)["hooks"]["SessionStart"][0] == {"hooks": [{"command": "other"}]}
    assert entries.put(JSON, after, GROUPED) == after


def test_hooks_of_ours_beside_others() -> None:
    hooks: list[dict[str, object]] = [
        {"command": "other"},
        {"command": BARE, "timeout": 99},
        {"command": BARE, "note": "x"},
    ]
    text = json.dumps({"hooks": {"SessionStart": [{"matcher": "x", "hooks": hooks}]}})
    after = entries.put(JSON, text, GROUPED)
    renewed = [hooks[0]] + [hook | {"type": "command", "command": HOOK["command"]} for hook in hooks[1:]]
    assert json.loads(after)["hooks"]["SessionStart"] == [{"matcher": "x", "hooks": renewed}]
    assert json.loads(entries.take(JSON, after, GROUPED, text)) == json.loads(text)
    taken = entries.take(JSON, after, GROUPED, None)
    assert json.loads(taken)["hooks"]["SessionStart"] == [{"matcher": "x", "hooks": [hooks[0]]}]


def test_a_group_of_the_users_stays_when_ours_goes() -> None:
    text = json.dumps({"hooks": {"SessionStart": [{"note": "mine", "hooks": [{"command": BARE}]}, {"hooks": []}]}})
    taken = entries.take(JSON, text, GROUPED, None)
    assert json.loads(taken) == {"hooks": {"SessionStart": [{"note": "mine", "hooks": []}, {"hooks": []}]}}


def test_settings_of_an_entry_keep_their_order_and_comments() -> None:
    text = '{"mcpServers": {"memtui": {"env": {"A": "b"}, "x": 1, "command": "memtui", "cwd": "/", "args": ["mcp"]}}}\n'
    wanted = SERVER._replace(value=SERVER.value | {"env": {"XDG_DATA_HOME": "/d"}, "cwd": "${workspaceFolder}"})  # type: ignore[operator]
    after = entries.put(JSON, text, wanted)
    assert after == text.replace('"memtui", "cwd', '"/m/memtui", "cwd').replace('"b"}', '"b", "XDG_DATA_HOME": "/d"}')
    text = '[mcp_servers.memtui] # mine\ncommand = "memtui" # a "#"\n\n# long\nargs = [\n  "mcp", # it\n]\nx = 1\n'
    after = entries.put(TOML, text, TABLE)
    assert after == text.replace('"memtui" #', '"/m/memtui" #')
    with_env = TABLE._replace(value=TABLE.value | {"env": {"XDG_DATA_HOME": "/d"}})  # type: ignore[operator]
    assert tomllib.loads(entries.put(TOML, text, with_env))["mcp_servers"]["memtui"] == {
        "command": "/m/memtui",
        "args": ["mcp"],
        "x": 1,
        "env": {"XDG_DATA_HOME": "/d"},
    }


def test_an_entry_that_is_not_ours_is_told_and_left_alone() -> None:
    for value in ({"command": "mine", "args": ["--x"]}, "x", {"url": "u"}):
        text = json.dumps({"mcpServers": {"memtui": value}})
        assert entries.state(JSON, text, SERVER) == FOREIGN
        assert entries.take(JSON, text, SERVER, None) == text
        assert entries.take(JSON, text, SERVER, "{}") == text
        with pytest.raises(ConflictError) as error:
            entries.put(JSON, text, SERVER)
        assert error.value.code == "E_EXISTS"
        assert str(error.value) == str(entries.taken(JSON, text))
    for text in ("[mcp_servers.memtui]\nurl = 'u'\n", "['mcp_servers'.'memtui']\ncommand = 'mine'\n"):
        assert entries.state(TOML, text, TABLE) == FOREIGN
        assert entries.take(TOML, text, TABLE, None) == text
        with pytest.raises(ConflictError):
            entries.put(TOML, text, TABLE)
    version = ClientEntry("value", ("version",), 1)
    with pytest.raises(UsageError, match="'version' is 2"):
        entries.put(JSON, '{"version": 2}', version)
    assert entries.take(JSON, '{"version": 2}', version, "{}") == '{"version": 2}'


def test_an_older_value_comes_back_after_another_edit() -> None:
    mine = '{"mcpServers": {"memtui": {"command": "memtui", "args": ["mcp"], "trust": true}}}'
    for before in (mine, '{"mcpServers": {"memtui": null}}'):
        edited = entries.put(JSON, before, SERVER).replace("}}}", '}}, "theme": 1}')
        assert "theme" in edited
        taken = json.loads(entries.take(JSON, edited, SERVER, before))
        assert taken["mcpServers"] == json.loads(before)["mcpServers"]


def test_only_what_was_made_for_us_goes_with_us() -> None:
    text = entries.put(JSON, '{"mcpServers": {}}', SERVER)
    assert json.loads(entries.take(JSON, text, SERVER, '{"mcpServers": {}}')) == {"mcpServers": {}}
    assert json.loads(entries.take(JSON, text, SERVER, "{}")) == {}
    assert json.loads(entries.take(JSON, text, SERVER, None)) == {"mcpServers": {}}


def test_a_null_of_the_users_comes_back() -> None:
    before = '{"hooks": {"SessionStart": null}}'
    text = entries.put(JSON, before, GROUPED)
    assert entries.take(JSON, text, GROUPED, before) == before


@pytest.mark.parametrize("hooks", [None, [], {}, "x", [1, None, {"hooks": 3}, {"hooks": [1, {}]}, {"command": 5}]])
def test_what_is_no_hook_is_no_hook(hooks: object) -> None:
    assert entries.state(JSON, json.dumps({"hooks": {"SessionStart": hooks}}), GROUPED) == ABSENT


HOOK_LINE = "context --format hook --client codex"
WORDS = st.sampled_from(
    ["memtui", "/m/memtui", "context", "--format", "hook", "--client", "codex", "--home", "/h", "-m", "&&", ";", "echo"]
)


@pytest.mark.parametrize(
    "line",
    [
        f"memtui {HOOK_LINE}",
        f"/opt/bin/memtui {HOOK_LINE}",
        f"'/my tools/memtui' {HOOK_LINE} --home '/x y'",
        f"/usr/bin/python3.11 -P -m memtui {HOOK_LINE}",
        f"python3 -m memtui {HOOK_LINE}",
    ],
)
def test_a_hook_of_ours(line: str) -> None:
    assert hook_client(line) == "codex"


@pytest.mark.parametrize(
    "line",
    [
        "echo memtui context",
        "cat notes # memtui context",
        "memtui ls && memtui context | tee /tmp/x",
        f"/usr/bin/memtui {HOOK_LINE} && mine",
        f"/usr/bin/memtui {HOOK_LINE}; mine",
        f"/usr/bin/memtui {HOOK_LINE};mine",
        f"/usr/bin/memtui {HOOK_LINE}>/tmp/x",
        f"/usr/bin/memtui {HOOK_LINE} --home $(mine)",
        f"/usr/bin/memtui {HOOK_LINE} --home `mine`",
        f"/usr/bin/memtui {HOOK_LINE} --home ~/notes",
        f"/usr/bin/memtui {HOOK_LINE}\nmine",
        f"/usr/bin/memtui {HOOK_LINE} # mine",
        f"/usr/bin/memtui  {HOOK_LINE}",
        f"A=b memtui {HOOK_LINE}",
        f"echo memtui {HOOK_LINE}",
        f"/bin/echo -m memtui {HOOK_LINE}",
        f"./memtui {HOOK_LINE}",
        f"/usr/bin/memtui-other {HOOK_LINE}",
        f"/usr/bin/memtui {HOOK_LINE} --root notes=/n",
        f"/usr/bin/memtui {HOOK_LINE} --part hot",
        f"/usr/bin/memtui {HOOK_LINE} --home",
        f"/usr/bin/memtui {HOOK_LINE} --home --home",
        f"/usr/bin/memtui {HOOK_LINE} --home /a --home /b",
        "memtui context",
        "memtui context --root notes=/n",
        "memtui context --format hook",
        "memtui context --format hook --client",
        "memtui --home /x context --format hook --client codex",
        "memtui 'context",
        "memtui",
        "",
        None,
        ["memtui", "context"],
    ],
)
def test_a_hook_of_the_users(line: object) -> None:
    assert hook_client(line) is None


@given(st.lists(WORDS, max_size=9))
def test_only_one_shape_is_ours(words: list[str]) -> None:
    if hook_client(" ".join(words)) is not None:
        assert words[-5:] == HOOK_LINE.split() or words[-7:] == [*HOOK_LINE.split(), "--home", words[-1]]
        assert {"&&", ";", "echo"}.isdisjoint(words)


@pytest.mark.parametrize("access", [None, "rw", "plan", "ro"])
@pytest.mark.parametrize("home", ["per user", "--home"])
@pytest.mark.parametrize("words", [("/m y/memtui",), ("/opt/python3", "-P", "-m", "memtui")])
@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("context", ["full", "short", "none"])
def test_whatever_is_written_is_known_again(
    access: str | None, home: str, words: tuple[str, ...], shared: bool, context: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memtui.clients.entries.found_command", lambda *_: words)
    settings = Settings(Directories("/c d", "/s", "/d", home), "/home/ann")
    start = how_to_start(settings, "qwen", access=access, shared=shared, context=context)
    assert hook_client(start.hook) == "qwen"
    assert is_server(start.server)
    assert is_server({"type": "stdio", "cwd": "${workspaceFolder}"} | start.server)
    assert is_server(start.server | {"trust": True, "env": {"A": "b"}})
    assert not is_server(start.server | {"type": "http"})
    assert not is_server(start.server | {"env": "x"})
    assert not is_server(start.server | {"args": [*start.args, "--root", "notes=/n"]})
    assert hook_client(f"{start.hook} {shlex.quote('a b')}") is None


@pytest.mark.parametrize(
    "value",
    [
        {"command": "mine", "env": {"A": "b"}},
        {"command": "mine", "args": ["mcp"]},
        {"command": "memtui"},
        {"command": "memtui", "args": "mcp"},
        {"command": "memtui", "args": []},
        {"command": "memtui", "args": ["mcp", 1]},
        {"command": "memtui", "args": ["mcp", "--access=ro"]},
        {"command": "memtui", "args": ["mcp", "--access", "all"]},
        {"command": "memtui", "args": ["mcp", "--access"]},
        {"command": "memtui", "args": ["mcp", "--no-context", "--no-context"]},
        {"command": "memtui", "args": ["mcp", "--no-context", "--access", "ro"]},
        {"command": "sh", "args": ["-c", "memtui mcp"]},
        {"command": "uvx", "args": ["memtui", "mcp"]},
        {"command": ["memtui", "mcp"]},
        {"url": "http://localhost"},
        {"env": {"A": "b"}},
        {},
        [],
        "memtui",
        None,
    ],
)
def test_a_server_of_the_users(value: object) -> None:
    assert not is_server(value)
