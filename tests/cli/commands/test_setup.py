"""config, keys, completion."""

from pathlib import Path

import pytest

from memtui.config.fields import FIELDS
from memtui.tui.actions import ACTIONS
from tests.cli.conftest import Cli


@pytest.fixture
def config(home: Path) -> Path:
    """Where the settings file is looked for; not there yet."""
    (home / ".memtui-test").mkdir()
    return home / ".memtui-test" / "config.toml"


def test_config_shows_each_setting_and_where_it_came_from(cli: Cli, config: Path) -> None:
    config.write_text(
        'calm = true\n[retention]\ndays = 7\n[access]\ncodex = "ro"\nqwen.global = "off"\nqwen."*" = "plan"\n'
        '"*" = "ro"\n[[roots]]\nname = "notes"\ndir = "~/notes"\n'
    )
    rows = {row["name"]: row for row in cli("config", "--ascii", "--json").items}
    assert {field.key for field in FIELDS} <= rows.keys()
    assert (rows["calm"]["value"], rows["calm"]["source"]) == (True, "config.toml, line 1")
    assert (rows["retention.days"]["value"], rows["retention.days"]["default"]) == (7, 30)
    assert rows["ascii"]["source"] == "--ascii"
    assert rows["editor"]["source"] == "default"
    assert str(rows["roots.notes"]["value"]).endswith("/home/notes")
    assert (rows["access.codex"]["value"], rows["access.codex"]["source"]) == ("ro", "config.toml, line 5")
    assert rows["access.qwen.global"]["value"] == "off"
    assert rows['access.qwen."*"']["value"] == "plan"
    assert rows['access."*"']["value"] == "ro"
    assert (rows["agents.enabled"]["value"], rows["agents.enabled"]["source"]) == (True, "default")
    shown = cli("config", terminal=True)
    assert str(config) in shown.err
    assert "yes" in shown.out


def test_config_path_and_check_without_a_file(cli: Cli, config: Path) -> None:
    assert cli("config", "path").out == f"{config}\n"
    assert cli("config", "path", "--json").json == {"path": str(config), "exists": False}
    assert cli("config", "check", "--json").json == {"ok": True, "path": str(config)}
    assert "not there" in cli("config", "check").out


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("calm = maybe\n", "config.toml"),
        ("clam = true\n", "clam"),
        ('[keys]\nqiut = "Q"\n', "keys.qiut"),
        ('[access]\ncladue-code = "off"\n', "access.cladue-code"),
        ('[access]\ncodex = "of"\n', "access.codex"),
        ('[[roots]]\nname = "a"\ndir = "/x"\nagent = "nobody"\n', "nobody"),
    ],
)
def test_config_check_finds_what_is_wrong(cli: Cli, config: Path, text: str, said: str) -> None:
    config.write_text(text)
    result = cli("config", "check", "--json")
    assert (result.status, result.error["code"]) == (2, "E_CONFIG")
    assert said in str(result.error["message"])
    assert result.error["hint"]


def test_keys_lists_every_action_with_the_users_own_keys(cli: Cli, config: Path) -> None:
    config.write_text('[keys]\nquit = "Q"\n')
    rows = {row["id"]: row for row in cli("keys", "--json").items}
    assert rows.keys() == {action.id for action in ACTIONS}
    assert rows["quit"]["keys"] == ["Q"]
    assert any(line.startswith("everywhere\tQ\tquit\t") for line in cli("keys").lines)
