"""Letta Code's repositories of memories: which layout each is in, and what a variable adds."""

from pathlib import Path

import pytest

from memtui.agents.known.letta import OLD, POLICY
from tests.agents import homes_more
from tests.agents.listing import listed
from tests.agents.machine import NATIVE, Machine

FIRST = "letta:global:agent-8f31ed67-bc7d-40e7-abde-5a8bc4f7e601"
LOCAL = "letta:global:local-agent-local-1"


def test_what_is_found(machine: Machine, tmp_path: Path) -> None:
    homes_more.letta(machine.home, machine.app)
    roots = machine.roots()
    assert list(roots) == [*NATIVE, FIRST, LOCAL]
    assert {roots[name].scope for name in (FIRST, LOCAL)} == {"global"}
    assert [roots[name].policy for name in (FIRST, LOCAL)] == [OLD, POLICY]
    assert listed(roots, tmp_path / "state") == {
        FIRST: ["reference/api.md", "skills/deploy/SKILL.md", "system/persona.md", "system/project/gotchas.md"],
        LOCAL: ["MEMORY.md", "persona.md", "project/MEMORY.md", "project/build.md"],
    }


def test_the_new_layout_forbids_front_matter_on_indexes_and_asks_for_it_elsewhere() -> None:
    for path, index in (("MEMORY.md", True), ("a/b/MEMORY.md", True), ("persona.md", False), ("a/b.md", False)):
        assert POLICY.is_index(path) is index
    assert (POLICY.front_matter, POLICY.index_format, POLICY.whole) == (
        "required",
        "links",
        ("MEMORY.md", "*/MEMORY.md"),
    )
    assert (POLICY.limit_of("a/b.md"), POLICY.limit_of("picture.png")) == (20_000, None)
    assert OLD.index_file is None
    assert OLD.front_matter == "required"


def test_its_variables_move_and_add(machine: Machine) -> None:
    homes_more.letta(machine.home, machine.app)
    machine.write("store/memfs/agent-2/memory/MEMORY.md")
    roots = machine.roots(LETTA_LOCAL_BACKEND_DIR=str(machine.folder / "store"))
    assert list(roots) == [*NATIVE, FIRST, "letta:global:local-agent-2"]


@pytest.mark.parametrize("variable", ["LETTA_MEMORY_DIR", "MEMORY_DIR"])
def test_a_variable_is_believed_only_for_a_repository_of_memories(machine: Machine, variable: str) -> None:
    machine.write("mine/system/persona.md")
    assert list(machine.moved(variable, "mine")) == NATIVE
    machine.write("mine/.git/HEAD")
    assert machine.roots()["letta:global:named"].path == str(machine.folder / "mine")
    machine.write("~/.git/HEAD")
    machine.write("~/MEMORY.md")
    assert list(machine.moved(variable, "~/")) == NATIVE


def test_the_agent_that_is_running_is_not_listed_twice(machine: Machine) -> None:
    homes_more.letta(machine.home, machine.app)
    where = machine.home / ".letta/lc-local-backend/memfs/agent-local-1/memory"
    roots = machine.roots(MEMORY_DIR=str(where))
    assert list(roots) == [*NATIVE, FIRST, LOCAL]
    assert roots[LOCAL].aliases == ()
