"""Where the user stands: project, checkout and workspace, from any working directory."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.config.read import load_settings
from memtui.config.settings import Settings
from memtui.config.surroundings import Surroundings, find_checkout, folder_id, surroundings_from
from memtui.errors import NotFoundError, UsageError


@pytest.fixture
def settings(home: Path) -> Settings:
    return load_settings({"HOME": str(home), "MEMTUI_HOME": str(home / "m")})


def test_the_project_is_the_nearest_checkout(settings: Settings, tmp_path: Path) -> None:
    inner = tmp_path / "app" / "src" / "deep"
    inner.mkdir(parents=True)
    (tmp_path / "app" / ".git").mkdir()
    found = surroundings_from(settings, cwd=str(inner))
    assert (found.project, found.checkout, found.cwd) == (str(tmp_path / "app"), str(tmp_path / "app"), str(inner))
    assert found.workspace == folder_id(str(tmp_path / "app"))
    assert found.data_dir == settings.data_dir


@pytest.mark.parametrize("kind", ["file", "broken link", "empty folder"])
def test_any_kind_of_git_entry_counts(settings: Settings, tmp_path: Path, kind: str) -> None:
    entry = tmp_path / ".git"
    {"file": entry.touch, "broken link": lambda: entry.symlink_to("nowhere"), "empty folder": entry.mkdir}[kind]()
    (tmp_path / "a").mkdir()
    assert surroundings_from(settings, cwd=str(tmp_path / "a")).project == str(tmp_path)


def test_without_a_checkout_the_project_is_the_working_directory(settings: Settings) -> None:
    here = str(Path.cwd())
    found = surroundings_from(settings, cwd=here)
    assert (found.project, found.checkout) == (here, None)
    assert find_checkout("/") is None


def test_links_are_resolved_once(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "app" / ".git").mkdir(parents=True)
    (tmp_path / "link").symlink_to("app")
    assert surroundings_from(settings, cwd=str(tmp_path / "link")).project == str(tmp_path / "app")


def test_a_named_project_wins(settings: Settings, tmp_path: Path, home: Path) -> None:
    (tmp_path / "app" / ".git").mkdir(parents=True)
    (tmp_path / "app" / "part").mkdir()
    found = surroundings_from(settings, cwd=str(tmp_path), project="app/part")
    assert (found.project, found.checkout) == (str(tmp_path / "app" / "part"), str(tmp_path / "app"))
    assert found.workspace == folder_id(str(tmp_path / "app"))
    assert surroundings_from(settings, cwd=str(tmp_path), project="~").project == str(home)


def test_a_named_project_that_is_missing_is_refused(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for name in ("missing", "file"):
        with pytest.raises(NotFoundError, match="--project"):
            surroundings_from(settings, cwd=str(tmp_path), project=name)


def test_options_come_before_the_settings_roots(home: Path) -> None:
    (home / "config.toml").write_text('[[roots]]\nname = "b"\ndir = "/b"\n')
    settings = load_settings({"HOME": str(home), "MEMTUI_HOME": str(home)})
    found = surroundings_from(settings, cwd=str(home), roots=["a=x"])
    assert [(root.name, root.dir, root.origin) for root in found.roots] == [
        ("a", str(home / "x"), "--root"),
        ("b", "/b", "config.toml, line 1"),
    ]
    with pytest.raises(UsageError):
        surroundings_from(settings, cwd=str(home), roots=["nonsense"])


def test_an_agents_folder_is_read_as_the_agent_would() -> None:
    here = Surroundings("/home/ann", "/work", "/work", None, "w", "/data", variables=(("QWEN_HOME", "~/q"),))
    assert here.variable("QWEN_HOME") == "~/q"
    assert here.variable("MUX_ROOT") is None
    assert [here.folder(text) for text in ("~/q", "/q/", "q", "../q")] == ["/home/ann/q", "/q", "/work/q", "/q"]


@given(st.binary(max_size=60).filter(lambda name: not set(b"\0/") & set(name)))
def test_a_folder_id_is_a_folder_name(name: bytes) -> None:
    made = folder_id("/" + os.fsdecode(name))
    assert made.isascii()
    assert 0 < len(made) <= 53
    assert not made.startswith((".", "-"))
    assert not {"/", "\\", " ", ":"} & set(made)


@pytest.mark.parametrize(
    ("named", "expected"), [(None, "/home/ann/.config"), ("/conf", "/conf"), ("conf", "/home/ann/.config")]
)
def test_the_folder_of_settings_that_agents_share(named: str | None, expected: str) -> None:
    variables = () if named is None else (("XDG_CONFIG_HOME", named),)
    here = Surroundings("/home/ann", "/p", "/p", None, "w", "/data", variables=variables)
    assert here.config_home() == expected
    assert here._replace(home=None, variables=()).config_home() is None
