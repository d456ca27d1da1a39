"""What Mux keeps beside its memories: keys become the roots memtui shows, and anything odd is left out."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.agents.known.mux import Kept, kept, project_folder
from memtui.config.surroundings import Surroundings
from tests.agents import homes
from tests.agents.machine import Machine

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
