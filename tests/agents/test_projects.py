"""From a slug back to the folders it can have been made from."""

import json
import os
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from memtui.agents.layout import slug
from memtui.agents.projects import ORPHANED, SlugDecoder
from tests.agents.machine import Machine
from tests.examples import examples


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
