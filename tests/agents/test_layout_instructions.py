"""Which folders along a path an agent reads instructions in: down to the user, up to the root, and no further."""

import os
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from memtui.agents.layout import along, ancestors, chain, start_folder
from memtui.config.surroundings import Surroundings
from tests.agents.machine import Machine

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
