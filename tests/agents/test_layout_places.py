"""What simple layouts are made of: what counts as there, and what is read of an agent's own settings."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.agents.layout import is_too_wide, on_the_way
from memtui.agents.settings import number_setting, quoted_settings, toml_flags, yaml_list, yaml_setting
from memtui.config.surroundings import Surroundings
from memtui.engine.model import Root

HERE = Surroundings("/home/ann", "/p", "/p", None, "w", "/data", variables=(("X_HOME", "~/x"),))


def test_folders_on_the_way_down_to_the_user(tmp_path: Path) -> None:
    for name in ("x", "a/b/x"):
        (tmp_path / name).mkdir(parents=True)
    here = HERE._replace(project=str(tmp_path), checkout=str(tmp_path), cwd=str(tmp_path / "a/b/c"))
    found = [*on_the_way(here, Root("me:project", "", label="Mine"), "x")]
    assert [(root.id, root.label, root.in_checkout) for root in found] == [
        ("me:project", "Mine", True),
        ("me:project:below-a-b", "Mine, a/b", True),
    ]
    assert [root.path for root in found] == [str(tmp_path / "x"), str(tmp_path / "a/b/x")]


@pytest.mark.parametrize(
    ("folder", "wide"),
    [("/", True), ("/home", True), ("/home/ann", True), ("/home/ann/", True), ("/home/ann/x", False), ("/srv", False)],
)
def test_a_folder_around_the_home_folder_is_too_wide(folder: str, *, wide: bool) -> None:
    assert is_too_wide(HERE, folder) is wide


YAML = """# key: no
other: 1
  key: one   # of us
key: two
"quoted" : "a # b" # c
single: '/a b'
empty:
nested:
  limit: 2200  # about 800
"""


@pytest.mark.parametrize(
    ("key", "value"),
    [("key", "one"), ("quoted", "a # b"), ("single", "/a b"), ("empty", None), ("gone", None), ("limit", "2200")],
)
def test_a_line_of_yaml(key: str, value: str | None) -> None:
    assert yaml_setting(YAML, key) == value


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("k:\n- a\n-  'b # c'\n# no\n\n- d # e\nother:\n- f\n", ("a", "b # c", "d")),
        ("k:\n  - a\n  - b\nx: 1\n- c\n", ("a", "b")),
        ("k: [a, \"[b], c\" , 'd'] # e\n", ("a", "[b], c", "d")),
        ("k: [\"a\\\\.b\", 'c\\d']\n", ("a\\.b", "c\\d")),
        ("k: []\n", ()),
        ("k: [a, b", ("a", "b")),
        ("  k:\n- a\n", ()),
        ("kk:\n- a\n", ()),
        ("k: a\n", ()),
        ("k:\n" + "- a\n" * 99, ("a",) * 50),
        ("k: [" + "a," * 500_000, ("a",) * 50),
    ],
)
def test_a_list_of_yaml(text: str, values: tuple[str, ...]) -> None:
    assert yaml_list(text, "k") == values


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("[t]\nk = true\n", True),
        ("[t]  # so\n  k=false # or\n", False),
        ("t.k = true\n", True),
        ("[t]\n[x]\nk = true\n", None),
        ("k = true\n", None),
        ("[t]\nother = true\nk = false\n", False),
        ('[t]\nk = "true"\n', None),
        ("t = { k = true }\n", None),
        ("[t]\nk = 1\n", None),
        ("[t]\n# k = true\n", None),
    ],
)
def test_a_switch_of_toml(text: str, value: bool | None) -> None:
    assert toml_flags(text, "t.k", "t.other").get("t.k") is value


@pytest.mark.parametrize(
    ("text", "number"), [("n: 12", 12), ("n: '9'", 9), ("n: -1", 7), ("n: ²", 7), ("n: 99999999999", 7), ("m: 1", 7)]
)
def test_a_number_that_can_be_believed(text: str, number: int) -> None:
    assert number_setting(text, "n", 7) == number


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ('{"folder": "file:///a"}', ("file:///a",)),
        ("{ agents: { defaults: { workspace: '~/a', }, }, // workspace: \"b\"\n }", ("~/a", "b")),
        ("{ 'workspace' : \"/a\", myworkspace: '/b', workspaces: '/c', \"workspace\": 4 }", ("/a",)),
        ('{"workspace": "C:\\\\x", "workspace": ""}', ()),
        ('workspace: "open', ()),
        ("workspace", ()),
    ],
)
def test_quoted_values_of_a_key(text: str, values: tuple[str, ...]) -> None:
    assert quoted_settings(text, "folder" if "folder" in text else "workspace") == values


@given(st.text(alphabet="workspace:\"' {}\\\n\x00/é", max_size=60))
def test_any_settings_are_read_without_an_error(text: str) -> None:
    for value in quoted_settings(text, "workspace"):
        assert value in text
    assert yaml_setting(text, "workspace") != ""
    assert "" not in yaml_list(text, "workspace")
    assert toml_flags(text, "workspace.a") == {}
