"""The switch for reading agents' sessions: asked of a person, kept in the settings, seen in the activity."""

from collections.abc import Callable
from pathlib import Path

import pytest

from memtui.config.read import load_settings, read_environment
from memtui.config.surroundings import surroundings_from
from memtui.features.sessions.shown import question
from memtui.transcripts.sessions import DISABLED, NOT_ASKED, allowed_files, consent
from tests.cli.conftest import Cli
from tests.transcripts import made

Person = Callable[[str], None]


@pytest.fixture
def session(home: Path) -> Path:
    folder = home / ".claude" / "projects" / "-p"
    folder.mkdir(parents=True)
    agent, lines = next(one for one in made.SESSIONS.values() if one[0] == "claude-code")
    assert agent == "claude-code"
    return made.write(folder / "s.jsonl", lines())


def test_nothing_is_read_before_somebody_typed_yes(cli: Cli, config: Path, session: Path, person: Person) -> None:
    shown = cli("sessions", "--json").json
    assert shown == {"read": "ask", "keep": "places", "since": None, "by": None, "agents": []}
    assert cli("sessions", "on", "--json").error["code"] == "E_PERSON"
    person("no\n")
    assert cli("sessions", "on", "--json").error["code"] == "E_PERSON"
    assert not config.exists()
    person("yes\n")
    answer = cli("sessions", "on", "--keep", "cards", "--json").json
    assert (answer["read"], answer["keep"], answer["by"]) == ("all", "cards", "cli")
    assert "{'agent': 'claude-code', 'files': 1}" in str(answer["agents"])
    assert 'read = "all"' in config.read_text()
    assert "Claude Code 1" in cli("sessions").err
    block = cli("status", "--json").json["sessions"]
    assert isinstance(block, dict)
    assert (str(block["read"]).split(" since ")[0], block["keep"]) == ("all", "cards")
    said = cli("sessions", "off")
    assert "`memtui obs clear` takes them out for good." in f"{said.out}{said.err}"


def test_what_the_file_held_stays_and_the_activity_has_each_change_once(cli: Cli, config: Path, person: Person) -> None:
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text('# mine\ncalm = true\n\n[transcripts]\nread = "project" # by hand\n\n[keys]\npin = "P"\n')
    for _ in range(2):
        assert cli("sessions", "--json").json["by"] == "outside"
    assert cli("sessions", "off", "--json").json["read"] == "off"
    assert config.read_text().startswith('# mine\ncalm = true\n\n[transcripts]\nread = "off" # by hand\n')
    assert '[keys]\npin = "P"\n' in config.read_text()
    records = [one for one in cli("log", "--json").items if one["operation"] == "setting"]
    notes = [(one["kind"], one["actor"], str(one["note"]).split(", ")[0]) for one in records]
    assert notes == [
        ("setting", "cli", "transcripts.read = off"),
        ("setting", "outside", "transcripts.read = project"),
    ]


def test_an_agent_and_a_memtui_that_only_looks_change_nothing(
    cli: Cli, config: Path, person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cli("sessions", "off", "--read-only", "--json").error["code"] == "E_READ_ONLY"
    monkeypatch.setenv("CLAUDECODE", "1")
    person("yes\n")
    for word in ("on", "off"):
        assert cli("sessions", word, "--json").error["code"] == "E_PERSON"
    assert not config.exists()


def test_a_table_that_cannot_be_changed_line_by_line_is_left_alone(cli: Cli, config: Path) -> None:
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text('transcripts = { read = "project" }\n')
    assert cli("sessions", "off", "--json").error["code"] == "E_CONFIG"
    assert config.read_text() == 'transcripts = { read = "project" }\n'


@pytest.mark.parametrize(
    ("read", "skipped", "files", "here", "there"),
    [("ask", NOT_ASKED, 0, 0, 0), ("off", DISABLED, 0, 0, 0), ("project", "", 1, 1, 0), ("all", "", 1, 1, 1)],
)
def test_what_may_be_read_is_said_once_for_all(
    read: str, skipped: str, files: int, here: bool, there: bool, session: Path, tmp_path: Path
) -> None:
    settings = load_settings(read_environment())._replace(transcripts_read=read)
    place = surroundings_from(settings, cwd=str(tmp_path / "work"))
    found = consent(settings, place)
    assert found.skipped == skipped
    assert allowed_files(settings, place) == [("claude-code", str(session))] * files
    work = str(tmp_path / "work")
    assert [found.covers(cwd) for cwd in (work, f"{work}/below")] == [bool(here)] * 2
    assert [found.covers(cwd) for cwd in (f"{work}er", str(tmp_path), "")] == [bool(there)] * 3


def test_the_question_names_both_uses_and_a_worker() -> None:
    plain, sent = question("all", "cards", "none"), question("project", "places", "claude")
    assert "cards" in plain
    assert "places of reads and writes" in plain
    assert "worker" not in plain
    assert "of this project" in sent
    assert "sent to the worker claude" in sent
