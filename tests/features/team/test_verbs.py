"""The team's verbs at a terminal: nothing leaves before a person joins, and leaving keeps what is here."""

from pathlib import Path

from memtui.features.schedules.due import TeamSchedules
from memtui.features.team.postgres import script, team_server_of
from tests.cli.conftest import Cli, Person
from tests.team_server import Server, needed

pytestmark = needed


def test_a_person_joins_after_seeing_what_leaves_and_leaves_again(
    server: Server, cli: Cli, config: Path, person: Person
) -> None:
    assert cli("team").status == 5
    assert "There is no team" in cli("team", "init").err
    config.write_text(f'[team]\nurl = "{server.url("ann")}"\n')
    assert "not joined" in cli("team").err
    assert "0 records" in cli("team", "join", "--dry-run").out
    assert "E_PERSON" in cli("team", "join", "--json").out
    assert server.sql("SELECT * FROM memtui.store") == []
    person("yes\n")
    joined = cli("team", "join", "--json").json
    assert (joined["login"], joined["records"]) == ("ann", 3)
    found = cli("team", "--json").json
    assert (found["joined"], found["away"]) == (True, None)
    assert "joined" in cli("team", "log").out
    assert [row["kind"] for row in cli("team", "log", "--json").items] == ["begin", "team", "setting"]
    person("yes\n")
    assert cli("team", "leave").status == 0
    assert cli("team", "--json").json["joined"] is False
    assert cli("log", "--verify").status == 0
    server.stop()
    try:
        assert "cannot be used now" in cli("team").err
        assert "away since" in cli("status").out
        assert cli("schedule").status == 0
    finally:
        server.start()


def test_an_owner_makes_the_team_and_the_command_line_makes_its_schedules(
    server: Server, cli: Cli, config: Path, person: Person
) -> None:
    server.sql("DROP SCHEMA memtui CASCADE")
    config.write_text(f'[team]\nurl = "{server.url("owner")}"\n')
    assert cli("team", "init", "--dry-run").out == script()
    assert "no team of memtui" in cli("schedule", "add", "look", "@daily", "check", "--team").err
    person("yes\n")
    assert cli("team", "init").status == 0
    assert "there already" in cli("team", "init").out
    server.sql("GRANT memtui_member TO ann")
    config.write_text(f'[team]\nurl = "{server.url("ann")}"\n')
    assert cli("schedule", "add", "look", "@daily", "check", "--zone", "UTC", "--team").status == 0
    assert "E_EXISTS" in cli("schedule", "add", "look", "@daily", "check", "--team").err
    assert "of the team" in cli("schedule").out
    assert cli("schedule", "pause", "look", "--team").status == 0
    (row,) = cli("schedule", "--json").items
    assert (row["by"], row["paused"]) == ("team:ann", "paused: by hand")
    assert cli("schedule", "resume", "look", "--team").status == 0
    assert cli("schedule", "run", "look", "--team").status == 0
    assert cli("schedule", "--json").items[0]["last"] is not None
    assert cli("schedule", "rm", "look", "--team").status == 0
    assert TeamSchedules(team_server_of(server.url("ann"))).all() == ()
