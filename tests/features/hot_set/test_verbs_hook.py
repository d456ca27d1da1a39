"""context --format hook: an agent's session begins, whatever is wrong with memtui."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Cli


@pytest.mark.parametrize("text", ["agents.enabled = false\n", "[access]\nclaude-code = 'off'\n"])
def test_what_the_user_switched_off_is_quiet(cli: Cli, config: Path, text: str) -> None:
    config.write_text(text)
    result = cli("context", "--format", "hook", "--client", "claude-code")
    assert (result.status, result.json, result.err) == (0, {}, "")
    assert cli("context", "--client", "claude-code").status == 5


def test_what_is_wrong_is_told_to_the_user_and_stops_nobody(cli: Cli, config: Path) -> None:
    config.write_text("calm = maybe\n")
    result = cli("context", "--format", "hook")
    assert (result.status, list(result.json)) == (0, ["systemMessage"])
    assert "E_CONFIG" in str(result.json["systemMessage"])
    assert "doctor" in str(result.json["systemMessage"])
    assert str(config.parent.parent) not in result.out  # an agent may read it too
    assert "config.toml" in result.err
    assert cli("context").status == 2


def test_a_hook_is_asked_for_alone(cli: Cli) -> None:
    for words in (("--json",), ("--part", "hot")):
        result = cli("context", "--format", "hook", *words)
        assert result.status == 2
        assert "hookSpecificOutput" not in json.dumps(result.out)
