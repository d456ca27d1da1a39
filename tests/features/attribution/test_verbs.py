"""Turns, who and the journal, as they are typed."""

import pytest

from tests.cli.conftest import Cli, Person, cli

__all__ = ["cli"]

ROOM = ("--session", "s", "--channel", "team-eng", "--chat", "c1", "--person", "u1", "--name", "Ann")


def test_who_asked_is_told_by_a_person_at_a_terminal_and_shown(
    cli: Cli, person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = cli("turn", "request", *ROOM, "--json")
    assert (refused.status, refused.error["code"]) == (5, "E_ACCESS")
    person("")
    turn = str(cli("turn", "request", *ROOM, "--json").json["turn"])
    assert cli("turn", "begin", turn).out == "[Ann] \n"
    assert cli("turn", "begin", turn, "--json").error["code"] == "E_TURN"
    found = cli("who", "--json").json
    assert [one["name"] for one in found["turns"]] == ["Ann"]  # type: ignore[attr-defined]
    assert cli("turn", "end", turn, "--in", "10", "--out", "2", "--model", "m", "--json").json["state"] == "ended"
    assert cli("turn", "end", "none", "--json").status == 4
    cli("create", "memtui:global/a.md", "-", stdin=b"a\n")
    assert [row["kind"] for row in cli("log", "--kind", "change", "--json").items] == ["change"]
    assert len(cli("log", "--person", "Ann", "--json").items) == 3
    head = cli("log", "--verify", "--json").json
    assert cli("log", "--verify", "--head", str(head["head"]), "--json").json == head
    assert cli("log", "--person", "Nobody", "--json").status == 4
    assert cli("who", "memtui:global/a.md", "--json").items[0]["turn"] is None
    person("yes\n")
    assert cli("who", "--forget", "Ann", "--json").json == {"forgotten": 1}
    assert cli("log", "--verify", "--json").json == head
    assert "person" in cli("who").err
    monkeypatch.setenv("CLAUDECODE", "1")
    assert cli("turn", "request", *ROOM, "--json").error["code"] == "E_ACCESS"


def test_who_configures_nothing_sees_nothing(cli: Cli) -> None:
    cli("create", "memtui:global/a.md", "-", stdin=b"a\n")
    assert cli("who", "--json").json == {"turns": [], "spoke": []}
    assert cli("log", "--verify", "--json").json == {"records": 0, "head": None}
    assert cli("log", "--json").items[0]["who"] is None
