"""config, keys, completion, and web."""

import json
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from memtui.cli.main import run
from memtui.config.settings import FIELDS
from memtui.workbench.actions import ACTIONS
from tests.cli.conftest import Cli, FakeWorkbench


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
    assert str(config) in shown.err.replace("\n", " ")  # the terminal breaks lines at blanks
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
        ('digits = "counts"\n', "config.toml, line 1: memtui has no setting 'digits' any more and ignores it."),
        ('[keys]\nqiut = "Q"\n', "config.toml, line 2: No action is called 'qiut'. Did you mean 'quit'?"),
        (
            'calm = true\n\n[keys]\npin = "n"\n',
            "config.toml, line 4: n is used by new and pin; the first one wins. Free",
        ),
        ('[keys]\nhot_client = "z"\n', "line 2: z is used by hot_client and zoom"),
        ('[keys]\npin = "ctrl-p"\n', "line 2: 'pin': no key is called 'ctrl-p'. Did you mean 'ctrl+p'?"),
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


def test_keys_tells_what_cannot_be_used_and_lists_the_rest(cli: Cli, config: Path) -> None:
    config.write_text('digits = "counts"\n[keys]\npin = "n"\nview_changes = "g 3"\n')
    result = cli("keys")
    assert result.status == 0
    assert "config.toml, line 3: n is used by new and pin" in result.err
    assert any(line.startswith("views\tg 3\tview_changes\t") for line in result.lines)


def test_keys_can_be_tried_in_a_terminal_only(cli: Cli, workbench: FakeWorkbench) -> None:
    assert cli("keys", "--test").status == 2
    assert not workbench.tested
    assert cli("keys", "--test", terminal=True).status == 0
    assert len(workbench.tested) == 1


@pytest.mark.parametrize(
    ("words", "handed_on"),
    [
        ([], ["--read-only"]),
        (["--write"], []),
        (["--write", "--read-only"], ["--read-only"]),
        (["--demo"], ["--read-only", "demo"]),
        (
            ["--write", "--root", "a=/x", "--root", "b=/y", "--only-root", "--actor", "ann"],
            ["--root", "a=/x", "--root", "b=/y", "--only-root", "--actor", "ann"],
        ),
    ],
)
def test_what_each_visitor_is_started_with(workbench: FakeWorkbench, words: list[str], handed_on: list[str]) -> None:
    assert run(["web", *words]) == 0
    assert workbench.served == [(handed_on, 0)]


def test_the_address_is_data_and_the_rest_is_not(workbench: FakeWorkbench, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["web", "--json", "--port", "8017"]) == 0
    out, err = capfd.readouterr()
    assert json.loads(out) == {"address": "http://127.0.0.1:1/?token=x", "write": False}
    assert "can read your memories" in err
    assert "said by a workbench" in err


def test_a_browser_is_told_a_file_that_only_the_user_reads(
    workbench: FakeWorkbench, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    opened: list[tuple[str, int, str]] = []

    def browse(address: str) -> bool:
        file = Path(unquote(urlsplit(address).path))
        opened.append((urlsplit(address).scheme, file.stat().st_mode & 0o777, file.read_text("utf-8")))
        return False

    monkeypatch.setenv("MEMTUI_HOME", str(tmp_path / "own"))
    monkeypatch.setattr("webbrowser.open", browse)
    assert run(["web", "--open"]) == 0
    ((scheme, mode, text),) = opened
    assert (scheme, mode) == ("file", 0o600)
    assert "http://127.0.0.1:1/?code=y" in text
    assert "No browser could be opened here" in capfd.readouterr().err
    assert not list((tmp_path / "own").rglob("open-in-browser*"))


def test_a_workbench_without_the_extra_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import sys

    from memtui import __main__ as front

    monkeypatch.setattr(sys, "argv", ["memtui", "web"])
    monkeypatch.delitem(sys.modules, "memtui.web.server", raising=False)
    monkeypatch.setitem(sys.modules, "textual_serve", None)
    assert front.main() == 5
    assert "python3 -m pip install 'memtui[web]'" in capsys.readouterr().err
