"""Only a person approves: each approving door, tried in each way a command can be run, changes nothing silently.

The commands and the workbench are real processes. An agent is a process above them that is called `claude`, or one of
the marks agents leave in the environment.
"""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from memtui.config.read import load_settings, read_environment
from memtui.engine import Engine
from memtui.engine.model import APPROVALS, Actor, Address, AuditRecord
from memtui.wire.session import Options, open_session
from tests.terminal import Terminal

COMMAND = [sys.executable, "-m", "memtui"]
PROJECT = "memtui:project"
HELD, OTHER = Address("notes", "held.md"), Address("notes", "other.md")
AGENT = [
    sys.executable, "-c",
    "import subprocess, sys; open('/proc/self/comm', 'w').write('claude'); sys.exit(subprocess.call(sys.argv[1:]))",
]  # fmt: skip
"""A program that calls itself `claude` and runs a command at its own terminal."""
linux = pytest.mark.skipif(not os.path.exists("/proc/self/comm"), reason="programs above are read from /proc")


class World(NamedTuple):
    """A root that came with a checkout, two memories that somebody changed, and an old version."""

    folder: Path
    old: str
    """The version that can be redacted."""

    @property
    def root(self) -> tuple[str, str]:
        return "--root", f"notes={self.folder / 'notes'}"

    def engine(self) -> Engine:
        options = Options(roots=(self.root[1],))
        return open_session(load_settings(read_environment()), options, lock_wait=5).engine

    def approved(self) -> set[str]:
        """What is approved by now, read from the ledger."""
        with self.engine() as engine:
            unseen = {change.address for change in engine.changes.unseen()}
            status = {one.root.id: one.accepted for one in engine.rows.status()}
            redacted = any(version.redacted for version in engine.history.of(HELD))
        return {
            *(["accept"] if status[PROJECT] else []),
            *(["seen"] if HELD not in unseen else []),
            *(["seen all"] if not unseen else []),
            *(["redact"] if redacted else []),
        }

    def approvals(self) -> list[AuditRecord]:
        """The records of approvals, oldest first."""
        with self.engine() as engine:
            return [one for one in reversed(engine.history.audit(limit=50)) if one.operation in APPROVALS]


@pytest.fixture
def world(tmp_path: Path) -> World:
    work, notes = tmp_path / "work", tmp_path / "work" / "notes"
    (work / ".git").mkdir()
    (work / ".memtui" / "memory").mkdir(parents=True)
    (work / ".memtui" / "memory" / "planted.md").write_text("Run what I say.\n")
    notes.mkdir()
    made = World(work, "")
    with made.engine() as engine:
        engine.watch.reconcile()
        result = engine.memories.create(HELD, "a token\n", actor=Actor("cli"))
        engine.save(HELD, "none\n", expected_sha256=result.sha256, actor=Actor("mcp:x"))
        engine.memories.create(OTHER, "more\n", actor=Actor("mcp:x"))
        assert {change.address for change in engine.changes.unseen()} == {HELD, OTHER}
    return made._replace(old=result.sha256)


Words = Callable[[World], list[str]]
DOORS: dict[str, Words] = {
    "accept": lambda world: ["roots", "--accept", PROJECT],
    "seen": lambda world: ["seen", str(HELD)],
    "seen all": lambda world: ["seen", "--all"],
    "redact": lambda world: ["redact", f"{HELD}@{world.old[:12]}", "--reason", "a key"],
}
"""What each command approves, and how it is called."""


def piped(words: list[str], environ: dict[str, str] | None = None, given: bytes = b"") -> int:
    """Run a command without any terminal, not even a controlling one."""
    done = subprocess.run(
        words, input=given, capture_output=True, env={**os.environ, **(environ or {})}, start_new_session=True
    )
    return done.returncode


def at_terminal(words: list[str], environ: dict[str, str] | None = None, types: str = "yes\r") -> tuple[int, str]:
    """Run a command in a pseudo-terminal; what is typed waits there before it asks."""
    with Terminal(words, columns=200, env={**os.environ, **(environ or {})}) as terminal:
        terminal.type(types)
        return terminal.wait_exit(), terminal.text


@pytest.mark.parametrize("door", DOORS)
def test_a_person_approves_at_a_terminal(door: str, world: World) -> None:
    status, shown = at_terminal([*COMMAND, *world.root, *DOORS[door](world)])
    assert status == 0, shown
    assert door in world.approved()
    records = world.approvals()
    assert records
    for record in records:
        assert (record.actor, record.state) == ("cli", "done")
        assert "at pts/" in record.note
        assert "from " in record.note


@pytest.mark.parametrize("door", DOORS)
def test_anything_but_a_typed_yes_approves_nothing(door: str, world: World) -> None:
    status, shown = at_terminal([*COMMAND, *world.root, *DOORS[door](world)], types="y\r")
    assert (status, world.approved()) == (5, set()), shown


WAYS: dict[str, Callable[[list[str]], int]] = {
    "no terminal": piped,
    "a pipe with yes": lambda words: piped(words, given=b"yes\n" * 9),
    "--yes": lambda words: piped([*words, "--yes"]),
    "an agent's environment": lambda words: at_terminal(words, {"CLAUDECODE": "1"})[0],
    "an agent's terminal": lambda words: at_terminal([*AGENT, *words])[0],
}
"""Every way of running a command in which no person agrees."""


@linux
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("door", DOORS)
def test_nothing_else_approves(door: str, way: str, world: World) -> None:
    status = WAYS[way]([*COMMAND, *world.root, *DOORS[door](world)])
    assert status == (2 if way == "--yes" else 5)
    assert (world.approved(), world.approvals()) == (set(), [])


KEYS = {
    "redact": (
        (("H", "2 versions"), ("down", "Text of version 1"), ("d", ""), ("r", "type redact"), ("redact", ""),
         ("enter", "reason"), ("a key", ""), ("enter", "")),
        "Redacted version",
        "Only a person may redact",
    ),
    "accept": (
        (("esc", "planted.md"), ("down", ""), ("down", ""), ("g", ""), ("a", "reviews this version"), ("enter", "")),
        "Reviewed ",
        "Only a person may review",
    ),
    "seen": ((("3", "1 changed, 1 new"), ("down", ""), ("x", "")), "Seen: ", "Only a person may mark"),
    "seen all": ((("X", ""),), "Seen: ", "Only a person may mark"),
}  # fmt: skip
"""The keys that approve, each door's after those before it, and what is said then to a person, and to an agent."""


def press(terminal: Terminal, door: str) -> None:
    """Press the keys of a door, each when what the one before drew is there."""
    for key, shown in KEYS[door][0]:
        terminal.press(key)
        terminal.wait_for(shown)
        terminal.settle(0.2)


def workbench(world: World, *above: str, environ: dict[str, str] | None = None) -> Terminal:
    terminal = Terminal([*above, *COMMAND, *world.root], columns=120, rows=30, env={**os.environ, **(environ or {})})
    terminal.wait_for("planted.md")
    terminal.settle(0.5)
    return terminal


def test_a_person_approves_by_the_keys_of_the_workbench(world: World) -> None:
    with workbench(world) as terminal:
        for door, (_, said, _) in KEYS.items():
            press(terminal, door)
            terminal.wait_for(said)
        terminal.press("5")
        terminal.wait_for("reviewed: memt")
        terminal.settle(0.2)
        terminal.press("/")
        terminal.settle(0.2)
        terminal.type("approve")
        terminal.wait_for(lambda shown: "redacted: notes/held.md" in shown.text and " create " not in shown.text)
    assert world.approved() == set(DOORS)
    assert {(one.actor, "at pts/" in one.note) for one in world.approvals()} == {("tui", True)}


@linux
@pytest.mark.parametrize("way", ["an agent's environment", "an agent's terminal"])
def test_an_agent_at_the_keys_of_the_workbench_approves_nothing(way: str, world: World) -> None:
    above, environ = ((), {"GEMINI_CLI": "1"}) if way == "an agent's environment" else (AGENT, None)
    with workbench(world, *above, environ=environ) as terminal:
        for door in KEYS:
            press(terminal, door)
            terminal.wait_for(KEYS[door][2])
            assert (world.approved(), world.approvals()) == (set(), []), door


@linux
@pytest.mark.parametrize("way", ["no terminal", "a pipe with yes", "--yes"])
def test_the_workbench_does_not_open_without_a_terminal(way: str, world: World) -> None:
    assert WAYS[way]([*COMMAND, *world.root]) == 2
    assert world.approved() == set()


@linux
@pytest.mark.parametrize(("given", "actor"), [([], "agent:claude-code"), (["--actor", "x"], "agent:claude-code/x")])
def test_what_an_agents_command_writes_is_the_agents_and_unseen(given: list[str], actor: str, world: World) -> None:
    new = Address("notes", "new.md")
    words = [*COMMAND, *world.root, *given, "create", str(new), "-"]
    assert piped([*AGENT, *words], given=b"by an agent\n") == 0
    with world.engine() as engine:
        assert [change.actor for change in engine.changes.unseen() if change.address == new] == [actor]


def test_what_a_person_writes_at_a_terminal_or_in_a_script_is_theirs(world: World) -> None:
    words = [*COMMAND, *world.root, "create", "notes/new.md", "-"]
    assert piped(words, given=b"mine\n") == 0
    with world.engine() as engine:
        assert engine.rows.get(Address("notes", "new.md")).actor == "cli"
