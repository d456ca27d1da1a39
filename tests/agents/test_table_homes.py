"""Each agent's own home, looked at with the engine: all of it is found, and nothing changes by a byte or a time."""

import os
from pathlib import Path

import pytest

from memtui.agents.table import KNOWN
from memtui.engine import Engine
from memtui.engine.model import Root
from tests.agents import homes, homes_more
from tests.agents.machine import Machine, snapshot

HOMES = {**homes.HOMES, **homes_more.HOMES_MORE}


def state(machine: Machine) -> dict[str, tuple[object, ...]]:
    """Everything on the machine but what memtui keeps itself: what it is, its time of change, and what is in it."""
    own = tuple(str(machine.folder / name) for name in ("own", "state"))
    found: dict[str, tuple[object, ...]] = {}
    for name, *rest in snapshot(machine.folder):
        if name.startswith(own) or name == str(machine.folder):
            continue
        path = Path(name)
        content: object = os.readlink(path) if path.is_symlink() else None
        if path.is_file() and not path.is_symlink():
            content = path.read_bytes()
        found[name] = (*rest, content)
    return found


def looked_at(machine: Machine, cwd: str) -> tuple[dict[str, Root], dict[str, bytes]]:
    """Find all roots, then open, list, read and close them; give the roots and every memory's text."""
    roots = machine.roots(cwd, all_projects=True)
    with Engine.open(roots.values(), state_dir=str(machine.folder / "state")) as engine:
        listing = engine.rows.list()
        texts = {str(row.address): engine.read_bytes(row.address) for row in listing.items}
        assert not listing.truncated
    return roots, texts


def test_every_agent_has_a_home() -> None:
    assert set(HOMES) == {one.id for one in KNOWN if one.folders}


@pytest.mark.parametrize("agent", HOMES)
def test_looking_changes_nothing(machine: Machine, agent: str) -> None:
    HOMES[agent](machine.home, machine.app)
    before = state(machine)
    assert before
    roots, texts = looked_at(machine, "app")
    assert state(machine) == before
    mine = [root for root in roots.values() if root.agent == agent]
    assert mine, f"nothing of {agent} was found"
    assert [name for name in texts if any(name.startswith(f"{root.id}/") for root in mine)], "its roots hold nothing"


def test_all_homes_on_one_machine(machine: Machine) -> None:
    for write in HOMES.values():
        write(machine.home, machine.app)
    roots, texts = looked_at(machine, "app")
    assert {root.agent for root in roots.values()} >= set(HOMES) - {"agents-md"}
    places: dict[str, str] = {}
    for address in texts:
        root, _, path = address.partition("/")
        place = os.path.realpath(os.path.join(roots[root].path, path))
        assert places.setdefault(place, address) == address, "one file under two roots"
