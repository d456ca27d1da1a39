"""Where a session starts, which folders lie on the way, and which agents left a trace."""

import pytest

from memtui.agents.agent import CUT_OFF, HOME, ON_DEMAND, AgentHome, KnownAgent, Loads, LoadSource
from memtui.agents.loaded_text import CUT, DROPPED, Gap
from memtui.agents.session_start import LoadedFile
from memtui.errors import UsageError
from tests.agents.machine import Machine

OWN = AgentHome(("CODEX_HOME",), (".x",))
AGENT = KnownAgent("x", "X", home=OWN, loads=Loads((LoadSource("a", HOME, ("A.md",)),), in_project=(".x",)))


def test_traces(machine: Machine) -> None:
    assert not AGENT.in_use(machine.surroundings())
    (machine.home / ".x").mkdir()
    assert AGENT.in_use(machine.surroundings())
    (machine.home / ".x").rmdir()
    machine.write("app/.x/a")
    assert AGENT.in_use(machine.surroundings())


def test_a_variable_is_stronger_than_the_home_folder(machine: Machine) -> None:
    here, moved = machine.surroundings(), machine.surroundings(CODEX_HOME=str(machine.folder / "moved"))
    assert OWN.folders(here) == (str(machine.home / ".x"),)
    assert OWN.folders(moved) == (str(machine.folder / "moved"),)
    assert OWN._replace(inside=".x").folders(moved) == (str(machine.folder / "moved" / ".x"),)
    assert AgentHome(in_config=("x",)).folder(here) == str(machine.home / ".config" / "x")
    assert OWN.folder(here._replace(home=None)) is None
    with pytest.raises(UsageError, match="no home folder"):
        OWN.needed(here._replace(home=None))


def test_what_is_loaded_of_a_file() -> None:
    gaps = (Gap(0, 2, DROPPED), Gap(4, 9, CUT))
    found = LoadedFile("a", "/a", CUT_OFF, raw=b"012345678", gaps=gaps)
    assert (found.text, found.cut, found.at_start) == (b"23", gaps[1], True)
    assert LoadedFile("a", "/a", ON_DEMAND, raw=b"x").text == b""
