"""The simulated agent."""

import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from memtui.demo import agent
from memtui.demo.agent import Agent, Orders, work
from memtui.engine import Engine
from memtui.engine.model import Address, Policy, Root

ROLE = Address("claude-code:project", "role.md")


@pytest.fixture
def orders(tmp_path: Path) -> Orders:
    made = tmp_path / "memory"
    made.mkdir()
    (made / "MEMORY.md").write_text("- [Role](role.md) — a role\n")
    (made / "role.md").write_text("---\ndescription: A role\n---\nText\n")
    policy = Policy(index_file="MEMORY.md", index_format="links")
    root = Root(ROLE.root, str(made), "claude-code", "project", policy=policy)
    return Orders((root,), str(tmp_path / "state"), (root.id,), "/project", seed=7)


@pytest.fixture
def engine(orders: Orders) -> Iterator[Engine]:
    with Engine.open(orders.roots, state_dir=orders.state_dir) as opened:
        yield opened


def texts(orders: Orders) -> dict[str, str]:
    return {path.name: path.read_text("utf-8") for path in Path(orders.roots[0].path).iterdir()}


def test_it_does_everything_an_agent_does_and_signs_it(orders: Orders, engine: Engine) -> None:
    worker = Agent(engine, orders)
    done = {worker.act().split()[0] for _ in range(60)}
    assert done == {"created", "edited", "deleted"}
    assert {record.actor for record in engine.history.audit(limit=500)} - {"outside"} == {str(agent.ACTOR)}


@pytest.mark.parametrize("seed", [3, 5])
def test_it_leaves_whole_memories_that_its_index_names_and_does_not_grow_for_ever(
    orders: Orders, engine: Engine, seed: int
) -> None:
    worker = Agent(engine, orders._replace(seed=seed))
    for _ in range(150):
        worker.act()
    found = texts(orders)
    assert len(found) <= len(agent.TOPICS) + 2
    assert max(map(len, found.values())) < 3_000
    assert found["role.md"].startswith("---\ndescription: A role\n---\nText\n")
    named = {line.partition("](")[2].partition(")")[0] for line in found["MEMORY.md"].splitlines()}
    assert named == found.keys() - {"MEMORY.md"}


def test_it_works_eight_times_edits_what_is_open_once_and_rests(
    orders: Orders, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    for name in ("act", "meet"):
        does = getattr(Agent, name)

        def noted(self: Agent, *args: Address, name: str = name, does: object = does) -> str:
            done.append(name)
            return str(does(self, *args))  # type: ignore[operator]

        monkeypatch.setattr(Agent, name, noted)
    turns = iter([True] * 30 + [False])
    with Engine.open(orders.roots, state_dir=orders.state_dir) as other:

        def wait(_: float) -> bool:
            if len(done) == 2:
                other.places.keep("/project", {"editing": ["memory", *ROLE]})
            return next(turns)

        work(orders._replace(pace=0), wait=wait)
    assert done == ["act", "act", "meet", *["act"] * (agent.WRITES - 2)]
    assert any(line[2:] in agent.FACTS for line in texts(orders)["role.md"].splitlines())


def test_a_folder_that_is_gone_does_not_stop_it(orders: Orders) -> None:
    os.rename(orders.roots[0].path, orders.roots[0].path + "-away")
    waits = iter([True, True, True, False])
    work(orders._replace(pace=0), wait=lambda seconds: next(waits))


def test_it_removes_only_a_throw_away_folder(tmp_path: Path, orders: Orders) -> None:
    kept, thrown = tmp_path / "mine", tmp_path / "memtui-demo-x"
    for made in (kept, thrown):
        made.mkdir()
        work(orders._replace(remove=str(made)), wait=lambda seconds: False)
    assert (kept.exists(), thrown.exists()) == (True, False)


def test_it_ends_with_its_parent_and_tidies_up(tmp_path: Path, orders: Orders) -> None:
    thrown = tmp_path / "memtui-demo-y"
    thrown.mkdir()
    asked = orders._replace(pace=0.01, remove=str(thrown))
    process = subprocess.Popen([sys.executable, "-I", agent.__file__], stdin=subprocess.PIPE)
    assert process.stdin is not None
    process.stdin.write(pickle.dumps(tuple(asked)))
    process.stdin.flush()
    before = texts(orders)
    while texts(orders) == before:
        assert process.poll() is None
    process.stdin.close()
    assert process.wait(timeout=100) == 0
    assert not thrown.exists()
