"""Settings: what is chosen where, what wins, and what the environment alone decides."""

import sys
from pathlib import Path

import pytest

from memtui.config.read import load_settings
from memtui.config.settings import AGENT_VARIABLES, Settings
from memtui.engine.model import Retention
from memtui.errors import UsageError
from tests.config.fresh import imported_by


def load(home: Path, *, text: str = "", **environ: str) -> Settings:
    if text:
        (home / "config.toml").write_text(text, "utf-8")
    return load_settings({"HOME": str(home), "MEMTUI_HOME": str(home), **environ})


def test_without_anything_every_setting_is_at_its_default(home: Path) -> None:
    settings = load(home)
    assert (settings.project_memory, settings.editor, settings.calm, settings.ascii) == ("checkout", "vi", False, False)
    assert settings.origins == ()
    assert settings.origin("retention.days") == "default"
    assert settings.value("retention.days") == 30
    assert not list(home.iterdir())


def test_retention_is_the_engines_own() -> None:
    default = Retention()
    fields = Settings._field_defaults
    assert (default.versions, default.days) == (fields["retention_versions"], fields["retention_days"])


def test_the_file_is_read_and_says_where(home: Path) -> None:
    settings = load(home, text='theme = "nord"\n\n[retention]\nversions = 5\n')
    assert (settings.theme, settings.retention_versions) == ("nord", 5)
    assert settings.origin("retention.versions") == "config.toml, line 4"
    assert settings.origin("theme") == "config.toml, line 1"


def test_options_beat_the_file_and_the_file_the_environment(home: Path) -> None:
    text = 'calm = false\neditor = "hx"\n'
    settings = load(home, text=text, SSH_CONNECTION="a b c d", EDITOR="nano")
    assert (settings.calm, settings.editor) == (False, "hx")
    chosen = load_settings({"MEMTUI_HOME": str(home), "HOME": str(home)}, options={"calm": True})
    assert (chosen.calm, chosen.origin("calm")) == (True, "--calm")


@pytest.mark.parametrize(
    ("environ", "editor", "origin"),
    [
        ({"EDITOR": "nano"}, "nano", "EDITOR"),
        ({"EDITOR": "nano", "VISUAL": "code --wait"}, "code --wait", "VISUAL"),
        ({"EDITOR": "nano", "VISUAL": "code --wait", "MEMTUI_EDITOR": "hx"}, "hx", "MEMTUI_EDITOR"),
        ({"EDITOR": "nano", "VISUAL": " "}, "nano", "EDITOR"),
        ({"EDITOR": ""}, "vi", "default"),
    ],
)
def test_the_editor(home: Path, environ: dict[str, str], editor: str, origin: str) -> None:
    settings = load(home, **environ)
    assert (settings.editor, settings.origin("editor")) == (editor, origin)


@pytest.mark.parametrize(
    ("environ", "ascii_only"),
    [
        ({"LANG": "C.UTF-8"}, False),
        ({"LANG": "de_DE.utf8@euro"}, False),
        ({"LANG": "C"}, False),
        ({"LANG": "de_DE.ISO-8859-1"}, True),
        ({"LANG": "de_DE.ISO-8859-1", "LC_ALL": "C.UTF-8"}, False),
        ({"LC_CTYPE": "ja_JP.eucJP", "LANG": "C.UTF-8"}, True),
    ],
)
def test_a_locale_that_is_not_utf8_draws_ascii(home: Path, environ: dict[str, str], ascii_only: bool) -> None:
    assert load(home, **environ).ascii is ascii_only


def test_the_terminal(home: Path) -> None:
    settings = load(
        home, TERM="dumb", NO_COLOR="1", SSH_CONNECTION="1 2 3 4", TMUX="/t,1,0", WAYLAND_DISPLAY="wayland-0"
    )
    assert settings.terminal == ("dumb", True, True, True, True, False)
    assert (settings.calm, settings.origin("calm")) == (True, "SSH_CONNECTION")
    assert load(home, NO_COLOR="").terminal == ("", False, False, False, False, False)
    assert load(home, TEXTUAL_DRIVER="textual.drivers.web_driver:WebDriver").terminal.web


def test_only_the_agents_variables_that_are_set_are_kept(home: Path) -> None:
    environ = dict.fromkeys(AGENT_VARIABLES, "") | {"QWEN_HOME": "/q", "SECRET_TOKEN": "s"}
    assert load(home, **environ).variables == (("QWEN_HOME", "/q"),)


@pytest.mark.parametrize("name", ["..", ".hidden", "a/b", "-x", "x" * 65, "ä", "a b", "\x1b[m"])
def test_a_workspace_name_that_is_no_folder_name_is_refused(home: Path, name: str) -> None:
    with pytest.raises(UsageError, match="MEMTUI_WORKSPACE") as error:
        load(home, MEMTUI_WORKSPACE=name)
    assert error.value.code == "E_CONFIG"


def test_a_workspace_name(home: Path) -> None:
    assert load(home, MEMTUI_WORKSPACE="review-2.b_c").workspace == "review-2.b_c"
    assert load(home, MEMTUI_WORKSPACE="").workspace is None


@pytest.mark.skipif(sys.platform == "win32", reason="modes are Unix's")
def test_a_read_only_home_is_no_obstacle_to_reading(home: Path) -> None:
    home.chmod(0o500)
    try:
        assert load_settings({"HOME": str(home)}).home == str(home)
    finally:
        home.chmod(0o700)
    assert not list(home.iterdir())


def test_a_home_that_is_a_link_or_a_file_is_no_obstacle(home: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(home)
    assert load_settings({"HOME": str(tmp_path / "link")}).home == str(tmp_path / "link")
    (tmp_path / "file").touch()
    assert load_settings({"HOME": str(tmp_path / "file")}).editor == "vi"


def test_importing_settings_is_light() -> None:
    heavy = {"dataclasses", "pathlib", "inspect", "tomllib", "platformdirs", "json", "difflib", "memtui.engine"}
    assert not heavy & imported_by("import memtui.config.read, memtui.config.surroundings")


def test_a_missing_file_costs_no_parser(home: Path) -> None:
    environ = {"HOME": str(home), "MEMTUI_HOME": str(home)}
    code = f"from memtui.config.read import load_settings; load_settings({environ!r})"
    assert not {"tomllib", "memtui.config.toml"} & imported_by(code)
    (home / "config.toml").write_text("calm = true\n")
    assert {"tomllib", "memtui.config.toml"} <= imported_by(code)
