"""Entries in files: found, put in, brought up to date, taken out."""

import json
import tomllib

import pytest

from memtui.clients import entries
from memtui.clients.client import Entry, Target, hook_group
from memtui.clients.entries import ABSENT, CURRENT, OTHER

HOOK = {"type": "command", "command": "/m/memtui context --format hook", "timeout": 10}
SERVER = Entry("server", ("mcpServers", "memtui"), {"command": "/m/memtui", "args": ["mcp"]})
GROUPED = Entry("hook", ("hooks", "SessionStart"), hook_group(HOOK))
FLAT = Entry("hook", ("hooks", "SessionStart"), HOOK)
JSON = Target("/x/settings.json", "json", (SERVER, GROUPED))
TABLE = Entry("server", ("mcp_servers", "memtui"), {"command": "/m/memtui", "args": ["mcp"]})
TOML = Target("/x/config.toml", "toml", (TABLE,))


@pytest.mark.parametrize(("target", "entry"), [(JSON, SERVER), (JSON, GROUPED), (JSON, FLAT), (TOML, TABLE)])
def test_in_and_out(target: Target, entry: Entry) -> None:
    assert entries.state(target, "", entry) == ABSENT
    text = entries.put(target, "", entry)
    assert entries.state(target, text, entry) == CURRENT
    assert entries.put(target, text, entry) == text
    assert entries.take(target, text, entry, "").strip() in ("", "{}")


def test_what_the_user_added_to_a_server_stays() -> None:
    text = json.dumps({"mcpServers": {"memtui": {"command": "memtui", "args": [], "trust": True, "timeout": 5}}})
    assert entries.state(JSON, text, SERVER) == OTHER
    after = entries.put(JSON, text, SERVER)
    assert json.loads(after)["mcpServers"]["memtui"] == {
        "command": "/m/memtui",
        "args": ["mcp"],
        "trust": True,
        "timeout": 5,
    }
    assert entries.state(JSON, after, SERVER) == CURRENT
    text = '[mcp_servers.memtui]\ncommand = "memtui"\nenabled = false\n[mcp_servers.memtui.env]\nA = "b"\n'
    assert entries.state(TOML, text, TABLE) == OTHER
    assert tomllib.loads(entries.put(TOML, text, TABLE))["mcp_servers"]["memtui"] == {
        "command": "/m/memtui",
        "args": ["mcp"],
        "enabled": False,
        "env": {"A": "b"},
    }


def test_a_setting_of_ours_that_is_no_longer_wanted_goes() -> None:
    text = json.dumps({"mcpServers": {"memtui": {"command": "/m/memtui", "args": ["mcp"], "cwd": "/old"}}})
    assert entries.state(JSON, text, SERVER) == OTHER
    assert "cwd" not in entries.put(JSON, text, SERVER)


@pytest.mark.parametrize(
    "group",
    [
        {"hooks": [{"type": "command", "command": "memtui context"}]},
        {"matcher": "startup", "hooks": [{"type": "command", "command": "memtui context"}]},
        {"type": "command", "command": "memtui context"},
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
    hooks = [{"command": "other"}, {"command": "memtui context"}, {"command": "memtui context --part hot"}]
    text = json.dumps({"hooks": {"SessionStart": [{"matcher": "x", "hooks": hooks}]}})
    after = entries.put(JSON, text, GROUPED)
    assert json.loads(after)["hooks"]["SessionStart"] == [{"matcher": "x", "hooks": [hooks[0], HOOK]}]
    taken = entries.take(JSON, after, GROUPED, text)
    assert json.loads(taken)["hooks"]["SessionStart"] == [{"matcher": "x", "hooks": [hooks[0]]}]


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
