"""Projects that went, share a folder or have worktrees, and how sure each answer is."""

import json
from pathlib import Path

import pytest

from memtui.agents.discovery import discover
from memtui.agents.layout import slug
from memtui.features.moved_projects.orphans import (
    EXACT,
    LIKELY,
    SEVERAL,
    SHARED,
    SPLIT,
    UNKNOWN,
    Survey,
    survey,
    where,
)
from tests.agents.machine import Machine
from tests.agents.test_projects_checkout import worktree


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    home = tmp_path / "home"
    home.mkdir(exist_ok=True)
    return Machine(home, tmp_path)


def memories(machine: Machine, project: str, *, agent: str = ".claude", cwd: str | None = None) -> str:
    """Keep a memory of a project, and a session file that names it."""
    folder = f"~/{agent}/projects/{slug(project)}"
    machine.write(f"{folder}/memory/a.md")
    if cwd is not None:
        machine.write(f"{folder}/{cwd.rpartition('/')[2]}.jsonl", json.dumps({"cwd": cwd}) + "\n")
    name = "claude-code" if agent == ".claude" else "qwen-code"
    return f"{name}:project:{slug(project)}"


def look(machine: Machine) -> Survey:
    return survey(discover(machine.surroundings(), all_projects=True), str(machine.home))


def test_a_living_project_is_no_orphan(machine: Machine) -> None:
    machine.write("~/src/web/README")
    memories(machine, str(machine.home / "src/web"))
    assert look(machine) == Survey((), (), ())


def test_a_project_the_agent_names_is_exact_and_its_new_place_is_found_by_its_name(machine: Machine) -> None:
    old = str(machine.home / "src/my_app")
    root = memories(machine, old, cwd=old)
    (machine.home / "work/my_app").mkdir(parents=True)
    (orphan,) = look(machine).orphans
    assert orphan.root.id == root
    assert orphan.decoded.sure == EXACT
    assert orphan.decoded.projects == (old,)
    assert [(one.path, one.why) for one in orphan.moved] == [
        (str(machine.home / "work/my_app"), "it has the same name")
    ]
    assert orphan.sure == "one candidate"


def test_several_folders_of_its_name_are_all_said_the_nearest_first(machine: Machine) -> None:
    old = str(machine.home / "src/team/app")
    memories(machine, old, cwd=old)
    for place in ("elsewhere/app", "src/other/app"):
        (machine.home / place).mkdir(parents=True)
    memories(machine, str(machine.home / "elsewhere/app"))
    (orphan,) = look(machine).orphans
    assert orphan.sure == "2 candidates"
    assert orphan.moved[0].why == "it has the same name, and an agent has memories of it"


def test_without_a_word_of_the_agent_nothing_is_known(machine: Machine) -> None:
    memories(machine, "/nowhere/at-all")
    (orphan,) = look(machine).orphans
    assert orphan.decoded.sure == UNKNOWN
    assert orphan.decoded.projects == ()
    assert orphan.moved == ()
    assert orphan.sure.startswith("unknown")


def test_an_old_project_whose_slug_another_one_took_is_an_orphan_too(machine: Machine) -> None:
    old, other = machine.home / "src/a_b", machine.home / "src/a/b"
    other.mkdir(parents=True)
    memories(machine, str(old), cwd=str(old))
    (orphan,) = look(machine).orphans
    assert orphan.decoded.there == (str(other),)
    assert orphan.moved[0].why == "its path makes the same slug"


def test_a_living_project_is_no_place_for_itself_to_have_gone(machine: Machine) -> None:
    app = str(machine.home / "src/harbour")
    Path(app).mkdir(parents=True)
    root = memories(machine, app, cwd=app)
    roots = discover(machine.surroundings(), all_projects=True)
    found = where(next(one for one in roots if one.id == root), roots, str(machine.home))
    assert (found.decoded.sure, found.decoded.there, found.moved) == (EXACT, (app,), ())


def test_two_projects_on_one_slug_collide_and_it_says_how_sure(machine: Machine) -> None:
    one, two = str(machine.home / "src/a_b"), str(machine.home / "src/a-b")
    for path in (one, two):
        Path(path).mkdir(parents=True)
    root = memories(machine, one)
    found = look(machine)
    assert found.orphans == ()
    assert [(both.root.id, set(both.projects), both.sure) for both in found.collisions] == [(root, {one, two}, SEVERAL)]
    memories(machine, one, cwd=one)
    memories(machine, one, cwd=two)
    assert [both.sure for both in look(machine).collisions] == [EXACT]


def test_worktrees_share_claude_s_folder_and_split_qwen_s(machine: Machine) -> None:
    app = machine.home / "src/app"
    worktree(app, machine.home / "src/fix")
    memories(machine, str(app))
    assert [(one.kind, one.checkouts) for one in look(machine).worktrees] == [
        (SHARED, (str(machine.home / "src/fix"),))
    ]
    for place in ("app", "fix"):
        memories(machine, str(machine.home / "src" / place), agent=".qwen")
    split = [one for one in look(machine).worktrees if one.kind == SPLIT]
    assert [(one.agent, one.main, len(one.roots)) for one in split] == [("qwen-code", str(app), 2)]


def test_one_folder_that_fits_is_only_likely(machine: Machine) -> None:
    (machine.home / "src/web").mkdir(parents=True)
    memories(machine, str(machine.home / "src/web"))
    from memtui.agents.projects import SlugDecoder
    from memtui.features.moved_projects.orphans import decode

    roots = discover(machine.surroundings(), all_projects=True)
    (root,) = (one for one in roots if one.id.startswith("claude-code:project"))
    found = decode(root, SlugDecoder())
    assert found is not None
    assert found.sure == LIKELY


def test_mux_names_its_projects_itself(machine: Machine) -> None:
    from memtui.agents.known.mux import project_folder

    gone = "/home/ann/gone"
    machine.write(f"~/.xum/memory/project/{project_folder(gone)}/a.md")
    machine.write("~/.xum/config.json", json.dumps({"projects": [[gone, {"workspaces": []}]]}))
    (orphan,) = look(machine).orphans
    assert orphan.root.agent == "mux"
    assert (orphan.decoded.sure, orphan.decoded.projects) == (EXACT, (gone,))


def test_a_home_of_links_and_many_folders_ends_the_search(machine: Machine) -> None:
    old = str(machine.home / "src/app")
    memories(machine, old, cwd=old)
    (machine.home / "loop").symlink_to(machine.home)
    deep = machine.home
    for _ in range(8):
        deep = deep / "d"
    (deep / "app").mkdir(parents=True)
    (orphan,) = look(machine).orphans
    assert orphan.moved == ()
