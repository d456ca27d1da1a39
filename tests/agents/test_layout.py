"""Building blocks of layouts: folders, instructions and places of roots, slugs, checkouts and session files."""

import json
import os
import shutil
import subprocess
import tempfile
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memtui.agents.agent import Transcripts
from memtui.agents.layout import (
    FILES,
    HEAD_BYTES,
    ORPHANED,
    SlugDecoder,
    along,
    ancestors,
    chain,
    fits,
    id_part,
    is_too_wide,
    main_checkout,
    named_projects,
    on_the_way,
    slug,
    start_folder,
    worktrees,
)
from memtui.agents.settings import agent_setting, number_setting, quoted_settings, toml_flags, yaml_list, yaml_setting
from memtui.config.surroundings import Surroundings
from memtui.engine.model import Root
from tests.agents.machine import Machine
from tests.examples import examples


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/home/ann/my_app", "-home-ann-my-app"),
        ("/home/ann/app", "-home-ann-app"),
        ("/a.b c", "-a-b-c"),
        ("/ä", "--"),
        ("/𝄞", "---"),
        ("/²", "--"),
    ],
)
def test_a_slug(path: str, expected: str) -> None:
    assert slug(path) == expected


@given(st.text())
def test_a_slug_has_one_dash_for_each_unit(path: str) -> None:
    made = slug(path)
    assert len(made) == len(path.encode("utf-16-le", "surrogatepass")) // 2
    assert set(made) <= set("-abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")


def test_an_id_can_be_printed() -> None:
    assert id_part("-home-ann") == "-home-ann"
    first, second = id_part("a\x1b[m"), id_part("a\u202e[m")
    assert first.isprintable()
    assert first != second
    assert id_part(os.fsdecode(b"\xff")).isprintable()


@pytest.mark.parametrize(
    ("content", "value"),
    [
        ('{"a": {"dir": "/x"}}', "/x"),
        ('{"a": {"dir": ""}}', None),
        ('{"a": {"dir": 3}}', None),
        ('{"a": "dir"}', None),
        ('["dir"]', None),
        ('{"a": {"dir": "x\\u0000"}}', None),
        ('{"a": {"dir": "\\ud800"}}', None),
        ('{"dir": ', None),
        ("[" * 100_000 + '"dir"', None),
        ("{}", None),
        ('// mine\n{"a": {"dir": "/x",}} /* so */', "/x"),
        ('{"a": {"dir": "/x"}} //' + " " * 262_144, "/x"),
    ],
)
def test_an_agents_setting(tmp_path: Path, content: str, value: str | None) -> None:
    file = tmp_path / "settings.json"
    file.write_text(content)
    assert agent_setting(str(file), "a", "dir") == value


PARTS = st.lists(st.sampled_from(["a", "b", "ab", "ä"]), max_size=5)


def standing(project: str, cwd: str, checkout: str | None = None) -> Surroundings:
    return Surroundings("/home/ann", cwd, project, checkout, "w", "/data")


def test_down_to_the_user() -> None:
    here = standing("/w/app", "/w/app/src/api")
    assert chain(here, "/w/app") == ("", "src/", "src/api/")
    assert along(here, "/w/app", ("A.md", "x/B.md")) == (
        "A.md",
        "x/B.md",
        "src/A.md",
        "src/x/B.md",
        "src/api/A.md",
        "src/api/x/B.md",
    )


def test_who_stands_outside_sees_the_project_alone() -> None:
    for cwd in ("/w", "/w/app2", "/elsewhere"):
        assert chain(standing("/w/app", cwd), "/w/app") == ("",)


@given(PARTS, PARTS)
def test_each_folder_is_below_the_one_before(top: list[str], below: list[str]) -> None:
    project = "/" + "/".join(top)
    found = chain(standing(project, os.path.join(project, *below)), project)
    assert len(found) == len(below) + 1
    for outer, inner in pairwise(found):
        assert inner.startswith(outer)
        assert inner.endswith("/")
    assert os.path.normpath(os.path.join(project, found[-1])) == os.path.normpath(os.path.join(project, *below))


def test_up_to_the_root_but_without_it() -> None:
    assert list(ancestors("/home/ann/src/app")) == ["/home", "/home/ann", "/home/ann/src"]
    assert list(ancestors("/home/ann/src/app", "/home/ann")) == ["/home/ann", "/home/ann/src"]
    assert list(ancestors("/home/ann", "/home/ann")) == ["/home"]
    assert list(ancestors("/")) == []
    assert list(ancestors("/app")) == []


def test_a_session_starts_in_the_folder_below_the_project_else_in_the_project(machine: Machine) -> None:
    (machine.app / "api").mkdir()
    assert start_folder(machine.surroundings("app/api")) == str(machine.app / "api")
    assert start_folder(machine.surroundings()) == str(machine.app)
    assert start_folder(machine.surroundings(".", project=str(machine.app))) == str(machine.app)


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


def test_a_slug_with_endless_ways_leaves_something_for_the_others(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    for name in ("x", "x-x"):
        (tmp_path / "x" / name).symlink_to(tmp_path / "x")
    app = tmp_path / "other" / "app"
    app.mkdir(parents=True)
    decoder = SlugDecoder()
    endless = slug(str(tmp_path)) + "-x" * 25
    for ending in range(20):
        assert decoder.decode(f"{endless}-{ending}") is None
    assert decoder.decode(slug(str(app))) == (str(app),)


def test_every_folder_that_shares_the_slug_is_found(tmp_path: Path) -> None:
    shared = [tmp_path / "a" / "b-c", tmp_path / "a-b" / "c", tmp_path / "a_b.c"]
    for project in shared:
        project.mkdir(parents=True)
    assert SlugDecoder().decode(slug(str(shared[0]))) == tuple(sorted(map(str, shared)))


def test_a_project_that_is_gone_has_no_folder(tmp_path: Path) -> None:
    (tmp_path / "app").mkdir()
    (tmp_path / "ap").mkdir()
    assert SlugDecoder().decode(slug(str(tmp_path / "apple"))) == ()


def test_a_file_is_no_project(tmp_path: Path) -> None:
    (tmp_path / "app").touch()
    assert SlugDecoder().decode(slug(str(tmp_path / "app"))) == ()


def test_what_is_no_slug_of_a_path_cannot_be_told() -> None:
    decoder = SlugDecoder()
    assert decoder.decode("C--Users-ann") is None
    assert decoder.decode("-" + "a" * 300) is None
    assert decoder.decode("") is None


def test_answers_are_few(tmp_path: Path) -> None:
    for sign in "_.+=@,":
        (tmp_path / f"a{sign}b").mkdir()
    found = SlugDecoder().decode(slug(str(tmp_path / "a-b")))
    assert found is not None
    assert len(found) == SlugDecoder.most_answers


def test_the_walk_ends_when_it_has_looked_enough(tmp_path: Path) -> None:
    decoder = SlugDecoder()
    decoder.most_folders = 1
    (tmp_path / "app").mkdir()
    assert decoder.decode(slug(str(tmp_path / "app"))) is None


@settings(max_examples=examples(30))
@given(
    st.lists(
        st.text(alphabet="ab-_.é", min_size=1, max_size=4).filter(lambda name: name not in (".", "..")), max_size=3
    )
)
def test_a_folder_is_always_among_the_answers(names: list[str]) -> None:
    with tempfile.TemporaryDirectory() as base:
        project = Path(base, *names)
        project.mkdir(parents=True, exist_ok=True)
        found = SlugDecoder().decode(slug(str(project)))
        assert found is not None
        assert str(project) in found


def test_what_session_files_name_is_shown_and_believed_for_no_more(tmp_path: Path) -> None:
    machine = Machine(tmp_path / "home", tmp_path)
    old = str(tmp_path / "gone" / "my_app")
    folder = f"~/.claude/projects/{slug(old)}"
    machine.write(f"{folder}/memory/a.md")
    root_id = f"claude-code:project:{slug(old)}"
    assert machine.roots(all_projects=True)[root_id].label == f"Claude Code memory, {slug(old)}"
    machine.write(f"{folder}/s.jsonl", json.dumps({"cwd": old}) + "\n")
    found = machine.roots(all_projects=True)[root_id]
    assert found.label == f"Claude Code memory, {old}"
    assert found.project is None
    assert found.note == ORPHANED


def test_hostile_names_of_project_folders(tmp_path: Path) -> None:
    machine = Machine(tmp_path / "home", tmp_path)
    for name in ("-a\nb", "-\x1b[2J", "-\u202egnp", "--", "-", "no-slug", os.fsdecode(b"-\xff\xfe")):
        machine.write(f"~/.claude/projects/{name}/memory/a.md")
    (machine.path("~/.claude/projects") / "-loop").symlink_to(machine.path("~/.claude/projects"))
    found = machine.roots(all_projects=True)
    assert len([root for root in found.values() if root.agent == "claude-code" and root.scope == "project"]) == 7
    assert all(root_id.isprintable() for root_id in found)


def worktree(main: Path, tree: Path) -> Path:
    """Lay out what `git worktree add` lays out, and return the worktree's own git folder."""
    own = main / ".git" / "worktrees" / tree.name
    own.mkdir(parents=True)
    tree.mkdir()
    (tree / ".git").write_text(f"gitdir: {own}\n")
    (own / "gitdir").write_text(f"{tree / '.git'}\n")
    (own / "commondir").write_text("../..\n")
    return own


def test_a_checkout_is_its_own(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    assert main_checkout(str(tmp_path)) == str(tmp_path)


def test_a_worktree_belongs_to_the_main_checkout(tmp_path: Path) -> None:
    worktree(tmp_path / "app", tmp_path / "fix")
    assert main_checkout(str(tmp_path / "fix")) == str(tmp_path / "app")


def test_a_worktree_that_git_made(tmp_path: Path) -> None:
    git = shutil.which("git")
    if git is None:
        pytest.skip("no git here")
    identity = ["-c", "user.name=a", "-c", "user.email=a@b.invalid", "-c", "commit.gpgsign=false"]
    for command in (["init", "-q", "app"], ["-C", "app", *identity, "commit", "-q", "--allow-empty", "-m", "x"]):
        subprocess.run([git, *command], cwd=tmp_path, check=True)
    subprocess.run([git, "-C", "app", "worktree", "add", "-q", "../fix"], cwd=tmp_path, check=True, capture_output=True)
    assert main_checkout(str(tmp_path / "fix")) == str(tmp_path / "app")


def test_relative_pointers(tmp_path: Path) -> None:
    own = worktree(tmp_path / "app", tmp_path / "fix")
    (tmp_path / "fix" / ".git").write_text("gitdir: ../app/.git/worktrees/fix")
    (own / "gitdir").write_text("../../../../fix/.git")
    assert main_checkout(str(tmp_path / "fix")) == str(tmp_path / "app")


def test_a_pointer_that_is_not_returned_is_not_believed(tmp_path: Path) -> None:
    own = worktree(tmp_path / "app", tmp_path / "fix")
    planted = tmp_path / "planted"
    planted.mkdir()
    (planted / ".git").write_text(f"gitdir: {own}\n")
    assert main_checkout(str(planted)) == str(planted)


def test_a_submodule_is_its_own(tmp_path: Path) -> None:
    (tmp_path / "app" / ".git" / "modules" / "lib").mkdir(parents=True)
    part = tmp_path / "app" / "lib"
    part.mkdir()
    (part / ".git").write_text("gitdir: ../.git/modules/lib\n")
    assert main_checkout(str(part)) == str(part)


def test_a_repository_laid_out_by_hand_to_point_back_must_be_a_git_folder(tmp_path: Path) -> None:
    own = worktree(tmp_path / "app", tmp_path / "fix")
    (own / "commondir").write_text(str(tmp_path))
    assert main_checkout(str(tmp_path / "fix")) == str(tmp_path / "fix")


@pytest.mark.parametrize(
    "content", [b"", b"gitdir:", b"gitdir: \0", b"gitdir: nowhere", b"garbage", b"gitdir: a\nb", b"\xff" * 9000]
)
def test_a_broken_git_file_is_no_reason_to_fail(tmp_path: Path, content: bytes) -> None:
    (tmp_path / ".git").write_bytes(content)
    assert main_checkout(str(tmp_path)) == str(tmp_path)


def test_a_git_entry_that_is_no_file(tmp_path: Path) -> None:
    (tmp_path / ".git").symlink_to(".git")
    assert main_checkout(str(tmp_path)) == str(tmp_path)


def test_the_worktrees_of_a_checkout_are_those_that_point_back(tmp_path: Path) -> None:
    app = tmp_path / "app"
    worktree(app, tmp_path / "fix")
    gone = worktree(app, tmp_path / "gone")
    shutil.rmtree(tmp_path / "gone")
    planted = app / ".git" / "worktrees" / "planted"
    planted.mkdir()
    (planted / "gitdir").write_text("/etc/.git\n")
    assert gone.is_dir()
    assert worktrees(str(app)) == (str(tmp_path / "fix"),)
    assert worktrees(str(tmp_path / "fix")) == ()


OLD, BESIDE = "/home/ann/my_app", Transcripts()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / slug(OLD)
    made.mkdir()
    return made


def session(folder: Path, name: str, *lines: object) -> None:
    file = folder / f"{name}.jsonl"
    file.parent.mkdir(exist_ok=True)
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def test_the_working_directory_of_a_session_or_the_folder_above_it_names_the_project(folder: Path) -> None:
    session(folder, "a", {"type": "summary"}, {"cwd": OLD})
    assert named_projects(str(folder), BESIDE) == (OLD,)
    session(folder, "a", {"cwd": f"{OLD}/web/src"})
    assert named_projects(str(folder), BESIDE) == (OLD,)


def test_qwen_keeps_its_sessions_one_level_down(folder: Path) -> None:
    session(folder / "chats", "a", {"cwd": OLD})
    assert named_projects(str(folder), Transcripts("chats")) == (OLD,)
    assert named_projects(str(folder), BESIDE) == ()


def test_two_projects_in_one_folder_are_both_named(folder: Path) -> None:
    session(folder, "a", {"cwd": OLD})
    session(folder, "b", {"cwd": "/home/ann/my-app"})
    assert set(named_projects(str(folder), BESIDE)) == {OLD, "/home/ann/my-app"}


def test_what_does_not_fit_the_name_is_not_believed(folder: Path) -> None:
    session(
        folder, "a", {"cwd": "/etc"}, {"cwd": "home/ann/my_app"}, {"cwd": 7}, {"cwd": "/x\0"}, {"cwd": "\ud800"},
        {"cwd": "/" + "a" * 5_000}, ["cwd"], "cwd", {"cwd": "/home/ann\x1b[2J/other"},
    )  # fmt: skip
    with open(folder / "b.jsonl", "wb") as file:
        file.write(b'{"cwd": "' + b"\xff\xfe\n" + b"[" * 9_000 + b'"cwd"\n')
    assert named_projects(str(folder), BESIDE) == ()


def test_only_the_first_lines_of_few_files_are_read(folder: Path) -> None:
    session(folder, "z", {"text": "x" * HEAD_BYTES}, {"cwd": OLD})
    assert named_projects(str(folder), BESIDE) == ()
    session(folder, "a", {"cwd": OLD})
    for number in range(FILES):
        session(folder, f"b{number}", {"text": "nothing"})
    assert named_projects(str(folder), BESIDE) == ()


def test_links_out_pipes_and_unreadable_places_say_nothing(folder: Path, tmp_path: Path) -> None:
    session(tmp_path, "outside", {"cwd": OLD})
    (folder / "link.jsonl").symlink_to(tmp_path / "outside.jsonl")
    os.mkfifo(folder / "pipe.jsonl")
    (folder / "dir.jsonl").mkdir()
    assert named_projects(str(folder), BESIDE) == ()
    assert named_projects(str(tmp_path / "missing"), BESIDE) == ()


def test_a_long_path_fits_a_name_that_was_cut() -> None:
    long = "/home/" + "a" * 300
    assert fits(long, slug(long)[:200] + "-x1y2")
    assert not fits(long, slug(long))
    assert not fits(OLD, slug(OLD) + "-x")
