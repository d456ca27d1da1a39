"""Mux: AGENTS.md, and memories that are read on demand; what it makes of them is worked out elsewhere."""

from tests.agents import homes
from tests.agents.machine import Machine
from tests.agents.test_session_start_agents import started


def test_a_home_as_it_leaves_it(machine: Machine) -> None:
    homes.mux(machine.home, machine.app)
    machine.write("app/AGENTS.md")
    found = started(machine, "mux")
    assert (found[0].path, found[0].mark) == (str(machine.app / "AGENTS.md"), "")
    assert {one.mark for one in found[1:]} == {"on demand"}
    assert len(found) > 1
