"""The simulated agent."""

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from memtui.demo import agent
from memtui.demo.agent import Agent, Orders, read_orders, work


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "memory"
    made.mkdir()
    (made / "MEMORY.md").write_text("- [Role](role.md) — a role\n")
    (made / "role.md").write_text("---\ndescription: A role\n---\nText\n")
    return made


def test_it_does_everything_an_agent_does(folder: Path) -> None:
    worker = Agent([str(folder)], random.Random(7))
    done = {worker.act().split()[0] for _ in range(200)}
    assert done == {"created", "edited", "replaced", "deleted"}


def test_it_leaves_whole_memories_and_does_not_grow_for_ever(folder: Path) -> None:
    worker = Agent([str(folder)], random.Random(3))
    for _ in range(500):
        worker.act()
    texts = {path.name: path.read_text("utf-8") for path in folder.iterdir()}
    assert all(name.endswith(".md") for name in texts)
    assert len(texts) <= len(agent.TOPICS) + 2
    assert max(map(len, texts.values())) < 3_000
    assert texts["role.md"].startswith("---\ndescription: A role\n---\nText\n")


def test_the_index_follows(folder: Path) -> None:
    worker = Agent([str(folder)], random.Random(5))
    for _ in range(100):
        worker.act()
    index = (folder / "MEMORY.md").read_text("utf-8")
    names = {path.name for path in folder.iterdir()} - {"MEMORY.md"}
    assert {line.partition("](")[2].partition(")")[0] for line in index.splitlines()} == names


def test_a_folder_that_is_gone_does_not_stop_it(folder: Path, tmp_path: Path) -> None:
    waits = iter([True, True, True, False])
    work(Orders((str(tmp_path / "gone"),), pace=0), wait=lambda seconds: next(waits))


def test_it_removes_only_a_throw_away_folder(tmp_path: Path) -> None:
    kept, thrown = tmp_path / "mine", tmp_path / "memtui-demo-x"
    for made in (kept, thrown):
        made.mkdir()
        work(Orders((), remove=str(made)), wait=lambda seconds: False)
    assert (kept.exists(), thrown.exists()) == (True, False)


def test_orders_are_read() -> None:
    assert read_orders(["--pace=0.5", "--seed=4", "--remove=/x", "/a", "/b"]) == Orders(("/a", "/b"), 0.5, 4, "/x")
    assert read_orders(["/a"]).pace == agent.PACE


def test_it_ends_with_its_parent_and_tidies_up(tmp_path: Path) -> None:
    thrown = tmp_path / "memtui-demo-y"
    (thrown / "memory").mkdir(parents=True)
    reader, writer = os.pipe()
    words = [sys.executable, "-I", agent.__file__, "--pace=0.01", "--seed=1", f"--remove={thrown}", f"{thrown}/memory"]
    process = subprocess.Popen(words, stdin=reader)
    os.close(reader)
    while len(list((thrown / "memory").iterdir())) < 2:
        assert process.poll() is None
    os.close(writer)
    assert process.wait(timeout=100) == 0
    assert not thrown.exists()
