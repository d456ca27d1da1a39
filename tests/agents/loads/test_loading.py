"""Where a session starts, which folders lie on the way, and which agents left a trace."""

from memtui.agents.loads.cutting import CUT, DROPPED, Gap
from memtui.agents.loads.loading import (
    CUT_OFF,
    HOME,
    ON_DEMAND,
    Loaded,
    Source,
    Table,
    chain,
)
from tests.agents.machine import Machine

TABLE = Table("x", "X", (Source("a", HOME, ("A.md",)),), variables=("CODEX_HOME",), at_home=(".x",), in_project=(".x",))


def test_a_chain_goes_from_the_top_down() -> None:
    assert chain("/a", "/a/b/c") == ("/a", "/a/b", "/a/b/c")
    assert chain("/a", "/a") == ("/a",)
    assert chain("/", "/a/b") == ("/", "/a", "/a/b")


def test_traces(machine: Machine) -> None:
    assert not TABLE.in_use(machine.surroundings())
    (machine.home / ".x").mkdir()
    assert TABLE.in_use(machine.surroundings())
    (machine.home / ".x").rmdir()
    machine.write("app/.x/a")
    assert TABLE.in_use(machine.surroundings())
    assert TABLE.homes(machine.surroundings()) == (str(machine.home / ".x"),)
    moved = machine.surroundings(CODEX_HOME=str(machine.folder / "moved"))
    assert TABLE.homes(moved) == (str(machine.folder / "moved"),)
    assert TABLE._replace(inside=".x").homes(moved) == (str(machine.folder / "moved" / ".x"),)


def test_what_is_loaded_of_a_file() -> None:
    gaps = (Gap(0, 2, DROPPED), Gap(4, 9, CUT))
    found = Loaded("a", "/a", CUT_OFF, raw=b"012345678", gaps=gaps)
    assert (found.text, found.cut, found.at_start) == (b"23", gaps[1], True)
    assert Loaded("a", "/a", ON_DEMAND, raw=b"x").text == b""
