"""Mux's folders: its two homes, projects known by a hash, and workspaces of the project at hand."""

import hashlib
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.agents.known.mux import Kept, kept, project_folder
from memtui.config.surroundings import Surroundings
from tests.agents import homes
from tests.agents.machine import NATIVE, Machine
from tests.agents.test_layout import worktree
from tests.agents.test_session_start_memories import started


def listing(machine: Machine, projects: dict[Path, list[tuple[str, Path]]], home: str = "~/.xum") -> None:
    """Write Mux's own list of projects and workspaces."""
    table = [
        [str(project), {"workspaces": [{"id": name, "path": str(path), "name": path.name} for name, path in found]}]
        for project, found in projects.items()
    ]
    machine.write(f"{home}/config.json", json.dumps({"projects": table}))


def test_a_projects_folder() -> None:
    digest = hashlib.sha256(b"/home/ann/my app").hexdigest()[:12]
    assert project_folder("/home/ann/my app") == f"my_app-{digest}"
    assert project_folder("/x/" + "n" * 60).startswith("n" * 40 + "-")
    assert project_folder("/").startswith("unknown-")


def test_what_is_found(machine: Machine) -> None:
    machine.write("~/.xum/memory/global/a.md")
    machine.write(f"~/.xum/memory/project/{project_folder(str(machine.app))}/a.md")
    machine.write("~/.xum/memory/project/other-0123456789ab/a.md")
    machine.write("app/AGENTS.md")
    roots = machine.roots()
    project = f"mux:project:{project_folder(str(machine.app))}"
    assert list(roots) == [*NATIVE, "mux:global", project, "mux:project:instructions"]
    assert (roots[project].aliases, roots[project].project) == (("mux:project",), str(machine.app))
    assert roots["mux:global"].policy.shown_bytes == 102_400
    assert roots["mux:global"].policy.max_files is None
    assert roots["mux:global"].policy.write_bytes == 262_144


def test_an_older_home(machine: Machine) -> None:
    machine.write("~/.mux/memory/global/a.md")
    assert machine.roots()["mux:global"].path == str(machine.home / ".mux" / "memory" / "global")


def test_one_home_under_two_names_is_one(machine: Machine) -> None:
    machine.write("~/.xum/memory/global/a.md")
    machine.path("~/.mux").symlink_to(".xum")
    roots = machine.roots()
    assert [name for name in roots if name.startswith("mux")] == ["mux:global"]
    assert "~/.mux is the same folder" in roots["mux:global"].note


def test_two_homes_are_told_apart(machine: Machine) -> None:
    folder = project_folder(str(machine.app))
    for home in ("~/.xum", "~/.mux"):
        machine.write(f"{home}/memory/global/a.md")
        machine.write(f"{home}/memory/project/{folder}/a.md")
    roots = machine.roots()
    assert [name for name in roots if name.startswith("mux")] == [
        "mux:global",
        f"mux:project:{folder}",
        "mux:global:old",
        f"mux:project:old-{folder}",
    ]
    assert roots[f"mux:project:{folder}"].aliases == ("mux:project",)
    assert roots[f"mux:project:old-{folder}"].aliases == ()


def test_a_folder_that_is_both_homes_memory(machine: Machine) -> None:
    machine.write("~/.xum/memory/global/a.md")
    machine.path("~/.mux/memory").mkdir(parents=True)
    machine.path("~/.mux/memory/global").symlink_to(machine.path("~/.xum/memory/global"))
    root = machine.roots()["mux:global"]
    assert root.aliases == ("mux:global:old",)
    assert "mux:global:old" in root.note


@pytest.mark.parametrize("variable", ["XUM_ROOT", "MUX_ROOT"])
def test_a_variable_moves_it(machine: Machine, variable: str) -> None:
    machine.write("mux/memory/global/a.md")
    machine.write("~/.xum/memory/global/a.md")
    roots = machine.moved(variable, "mux")
    assert [roots[name].path for name in roots if name.startswith("mux")] == [
        str(machine.folder / "mux" / "memory" / "global")
    ]


def test_workspaces_of_this_project(machine: Machine) -> None:
    tree = machine.folder / "trees" / "fix"
    tree.parent.mkdir()
    worktree(machine.app, tree)
    other = machine.folder / "other"
    for name in ("one", "two", "gone"):
        machine.write(f"~/.xum/sessions/{name}/memory/a.md")
    machine.write("~/.xum/sessions/empty/chat.jsonl")
    listing(machine, {machine.app: [("one", tree)], other: [("two", other / "x"), ("odd", other)]})
    roots = machine.roots()
    assert [name for name in roots if name.startswith("mux")] == ["mux:workspace:one"]
    assert (roots["mux:workspace:one"].scope, roots["mux:workspace:one"].project) == ("workspace", str(machine.app))
    assert roots["mux:workspace:one"].label.endswith("fix")
    assert "mux:workspace:one" in machine.roots("trees/fix")
    everything = machine.roots(all_projects=True)
    assert {name for name in everything if name.startswith("mux")} == {
        "mux:workspace:one",
        "mux:workspace:two",
        "mux:workspace:gone",
    }


def test_memories_of_a_worktree_are_the_projects(machine: Machine) -> None:
    worktree(machine.app, machine.folder / "fix")
    folder = project_folder(str(machine.app))
    machine.write(f"~/.xum/memory/project/{folder}/a.md")
    assert machine.roots("fix")[f"mux:project:{folder}"].project == str(machine.app)


def test_all_projects_are_named_by_its_own_list(machine: Machine) -> None:
    there, gone = machine.home / "there", machine.folder / "gone"
    there.mkdir()
    for project in (there, gone, machine.folder / "unlisted"):
        machine.write(f"~/.xum/memory/project/{project_folder(str(project))}/a.md")
    listing(machine, {there: [], gone: []})
    roots = machine.roots(all_projects=True)
    assert roots[f"mux:project:{project_folder(str(there))}"].label.endswith("~/there")
    assert "gone" in roots[f"mux:project:{project_folder(str(gone))}"].note
    unlisted = roots[f"mux:project:{project_folder(str(machine.folder / 'unlisted'))}"]
    assert unlisted.project is None
    assert "unlisted-" in unlisted.label


def test_what_does_not_match_is_shown_as_plain_files(machine: Machine) -> None:
    machine.write("~/.mux/memory/preferences.md")
    machine.write("~/.mux/memory/topics/a.md")
    machine.write("~/.mux/memory/.lock")
    root = machine.roots()["mux:global:other"]
    assert root.policy.include == ("preferences.md", "topics/")
    assert root.note


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[]",
        "{",
        '{"projects": 3}',
        '{"projects": [1, [], ["x", {}], ["/a"], ["/a", 1], ["/\\ud800", {}], ["/a\\u0000", {}]]}',
        '{"projects": [["/a", {"workspaces": [1, {"id": 2}, {"id": "w"}, {"id": "w", "path": "x"}]}]]}',
        '{"projects": [["/a", {"workspaces": {}}]]}',
        "[" * 100_000,
    ],
)
def test_any_list_of_its_own_is_survived(machine: Machine, text: str) -> None:
    machine.write("~/.xum/sessions/w/memory/a.md")
    machine.write("~/.xum/memory/project/x/a.md")
    machine.write("~/.xum/config.json", text)
    assert {"mux:workspace:w", "mux:project:x"} <= set(machine.roots(all_projects=True))


def test_instructions_of_its_own_and_of_the_project(machine: Machine) -> None:
    homes.mux(machine.home, machine.app)
    machine.write("~/.xum/AGENTS.local.md")
    machine.write("~/.mux/AGENTS.md")
    roots = machine.roots()
    kinds = {name: root.kind for name, root in roots.items() if name.endswith("instructions")}
    assert kinds == {
        "mux:global:instructions": "instructions",
        "mux:global:old-instructions": "instructions",
        "mux:project:instructions": "instructions",
    }
    assert roots["mux:project:instructions"].policy.include == ("AGENTS.md", "AGENTS.local.md")


def test_agents_md_is_loaded_and_memories_are_read_on_demand(machine: Machine) -> None:
    homes.mux(machine.home, machine.app)
    machine.write("app/AGENTS.md")
    first, *others = started(machine, "mux")
    assert (first.path, first.mark) == (str(machine.app / "AGENTS.md"), "")
    assert {one.mark for one in others} == {"on demand"}


USED = {"pinned": True, "accessCount": 3, "lastAccessedAt": 5, "lastWriteAt": 4}


def write(machine: Machine, entries: object, home: str = "~/.xum") -> None:
    machine.write(f"{home}/memory-meta.json", json.dumps({"entries": entries}))


def told(machine: Machine) -> list[Kept]:
    return list(kept(machine.surroundings()))


def test_every_scope(machine: Machine) -> None:
    homes.mux(machine.home, machine.app)
    project = f"mux:project:{project_folder(str(machine.app))}"
    assert [(one.root, one.path, one.pinned, one.uses) for one in told(machine)] == [
        ("mux:global", "preferences.md", True, 3),
        ("mux:global", "topics/a:b.md", True, 3),
        ("mux:global", "gone.md", True, 3),
        (project, "build.md", False, 3),
        ("mux:workspace:fix-login", "plan.md", True, 9),
    ]
    assert {one.root for one in told(machine)} <= set(machine.roots())


def test_names_with_its_own_signs_in_them(machine: Machine) -> None:
    write(machine, {"project:/w/a%3Ab%252F:c%3Ad%2Fe%25.md": USED})
    machine.path("~/.xum").mkdir(exist_ok=True)
    assert told(machine) == [
        Kept(
            f"mux:project:{project_folder('/w/a:b%2F')}",
            "c:d/e%.md",
            pinned=True,
            uses=3,
            last_used_at=5,
            last_written_at=4,
        )
    ]


def test_two_homes_have_two_of_them(machine: Machine) -> None:
    for home in ("~/.xum", "~/.mux"):
        write(machine, {"global:a.md": USED, "workspace:w:a.md": USED}, home)
    assert [one.root for one in told(machine)] == [
        "mux:global",
        "mux:workspace:w",
        "mux:global:old",
        "mux:workspace:old-w",
    ]


@pytest.mark.parametrize(
    "key", ["", "global:", "global", "a.md", "global:x:a.md", "project:a.md", "workspace:", "team:x:a.md", "global:\0"]
)
def test_a_key_of_another_form_is_left_out(machine: Machine, key: str) -> None:
    write(machine, {key: USED})
    assert told(machine) == []


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ({}, (False, 0, None, None)),
        ({"pinned": 1, "accessCount": "3", "lastAccessedAt": True, "lastWriteAt": []}, (False, 0, None, None)),
        ({"pinned": True, "accessCount": 2.9, "lastAccessedAt": 5.5, "lastWriteAt": -1}, (True, 2, 5, None)),
        ({"accessCount": 1e300, "lastAccessedAt": 1e300, "lastWriteAt": 0}, (False, 0, None, None)),
    ],
)
def test_values_that_are_none_count_as_nothing(
    machine: Machine, entry: object, expected: tuple[bool, int, int | None, int | None]
) -> None:
    write(machine, {"global:a.md": entry})
    (one,) = told(machine)
    assert (one.pinned, one.uses, one.last_used_at, one.last_written_at) == expected


@pytest.mark.parametrize(
    "text", ["", "null", "[]", "{", '{"entries": []}', '{"entries": {"global:a": 1}}', "[" * 100_000]
)
def test_any_file_is_survived(machine: Machine, text: str) -> None:
    machine.write("~/.xum/memory-meta.json", text)
    assert told(machine) == []


@given(st.dictionaries(st.text(), st.dictionaries(st.text(), st.none() | st.booleans() | st.floats() | st.text())))
def test_anything_in_it_is_survived(tmp_path_factory: pytest.TempPathFactory, entries: object) -> None:
    home = tmp_path_factory.getbasetemp() / "odd"
    (home / ".xum").mkdir(parents=True, exist_ok=True)
    Path(home, ".xum", "memory-meta.json").write_text(json.dumps({"entries": entries}))
    here = Surroundings(str(home), str(home), str(home), None, "w", str(home))
    assert all(one.path and one.root.startswith("mux:") for one in kept(here))
