"""A simulated agent: a process that works through memtui under its own name, as a client would.

`python memtui/demo/agent.py`, with its orders pickled on standard input, works until that input ends, which is when its
parent is gone. It creates, edits and deletes a few times, edits once what is open in the editor of the workbench, and
rests. At the end it removes the throw-away folder, because a parent that was killed cannot.
"""

import os
import random
import select
import shutil
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

if __name__ == "__main__":  # in isolated mode nothing else says where memtui is
    sys.path.append(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from memtui.engine import Engine
from memtui.engine.model import Actor, Address
from memtui.errors import MemtuiError, NotFoundError
from memtui.pointers import references

if TYPE_CHECKING:
    from memtui.engine.model import Root

TOPICS = (
    ("standby-texts", "Text messages to standby passengers are sent ten minutes before boarding"),
    ("lane-three", "Lane 3 of the Halcyon is two metres shorter than the plan says"),
    ("august-load", "Load test for the August bank holiday, 312 bookings a second and one deadlock"),
    ("refund-wording", "Marit wants refunds called repayments in every text passengers read"),
    ("importer-noon", "The timetable importer is late when the harbour office closes at noon"),
    ("bike-rack", "Bicycles on crowded sailings, where the rack takes 40, the rest go on the car deck"),
    ("canary-sailings", "A canary deploy has to outlive two closed sailings before it goes on"),
    ("resident-fares", "Resident fares are checked against the island register once a day"),
)
"""Names and descriptions of the memories it writes."""

FACTS = (
    "Seen again today; the cause is still open.",
    "Confirmed by a test that fails without the fix.",
    "Okonkwo says the harbour plans to change this in spring.",
    "The old behaviour is kept behind a switch for one release.",
    "Ines agreed; no further review is needed.",
    "Measured twice, the second run agrees with the first.",
)
INDEX = "MEMORY.md"
PREFIX = "memtui-demo-"
"""The prefix of a throw-away folder's name; nothing else is ever removed."""
PACE = 3.0
"""Seconds between two actions, on average."""
WRITES = 8
MOST_FACTS = 8
"""Lines it keeps at the end of a memory; older ones go."""
ACTOR = Actor("mcp:claude-code")


class Orders(NamedTuple):
    """What the agent works on; all paths are absolute."""

    roots: "tuple[Root, ...]"
    state_dir: str
    worked_in: tuple[str, ...]
    place: str
    """The project by which the workbench keeps its place, which tells what is open in it."""
    pace: float = PACE
    seed: int | None = None
    remove: str | None = None


class Agent:
    """One agent at work in some roots."""

    def __init__(self, engine: Engine, orders: Orders) -> None:
        """Choose where to work."""
        self._engine = engine
        self._orders = orders
        self._rng = random.Random(orders.seed)
        self._met: set[Address] = set()
        """What was open and edited."""

    def opened(self) -> Address | None:
        """Return the memory that is open in the workbench, if it was not edited there yet."""
        place = self._engine.places.load(self._orders.place).value
        key = place.get("editing") if isinstance(place, dict) else None
        if not isinstance(key, list) or len(key) != 3:
            return None
        address = Address(*key[1:])
        return address if address not in self._met else None

    def meet(self, address: Address) -> str:
        """Edit what is open in the workbench."""
        self._met.add(address)
        return self._edit(address)

    def act(self) -> str:
        """Make one change and describe it, as `created ADDRESS`."""
        root = self._engine.roots.find(self._rng.choice(self._orders.worked_in)).id
        there = [row.address for row in self._engine.rows.list([root]).items if row.address.name != INDEX]
        names = [f"{name}.md" for name, _ in TOPICS]
        mine, others = [one for one in there if one.path in names], [one for one in there if one.path not in names]
        moves: list[Callable[[], str]] = [lambda: self._edit(self._rng.choice(others or mine))] * bool(others or mine)
        moves += [lambda: self._edit(self._rng.choice(mine))] * (2 * bool(mine))
        moves += [lambda: self._create(root, mine)] * (3 if len(mine) < 3 else 1) * (len(mine) < len(TOPICS))
        moves += [lambda: self._delete(self._rng.choice(mine))] * (len(mine) > 2)
        return self._rng.choice(moves)()

    def _create(self, root: str, mine: list[Address]) -> str:
        free = [topic for topic in TOPICS if Address(root, f"{topic[0]}.md") not in mine]
        name, description = self._rng.choice(free)
        address = Address(root, f"{name}.md")
        text = f"---\ndescription: {description}\n---\n{description}.\n\n- {self._rng.choice(FACTS)}\n"
        self._engine.memories.create(address, text, actor=ACTOR)
        index = Address(root, INDEX)
        try:
            before = self._engine.read(index)
        except NotFoundError:
            return f"created {address}"  # a root without an index stays without
        line = f"- [{name.replace('-', ' ').capitalize()}]({name}.md) — {description}\n"
        self._engine.save(index, before.text + line, expected_sha256=before.sha256, actor=ACTOR)
        return f"created {address}"

    def _edit(self, address: Address) -> str:
        before = self._engine.read(address)
        lines = before.text.split("\n")
        facts = [line for line in lines if line[2:] in FACTS]
        for old in facts[: len(facts) - MOST_FACTS + 1]:
            lines.remove(old)
        while lines and not lines[-1]:
            lines.pop()
        text = "\n".join([*lines, f"- {self._rng.choice(FACTS)}", ""])
        self._engine.save(address, text, expected_sha256=before.sha256, actor=ACTOR)
        return f"edited {address}"

    def _delete(self, address: Address) -> str:
        references.trash(self._engine, [address], actor=ACTOR)
        return f"deleted {address}"


def work(orders: Orders, *, wait: Callable[[float], bool]) -> None:
    """Make a few changes until `wait(seconds)` returns False; then tidy up."""
    rng, left = random.Random(orders.seed), WRITES
    with Engine.open(orders.roots, state_dir=orders.state_dir) as engine:
        agent = Agent(engine, orders)
        while wait(orders.pace * rng.uniform(0.5, 1.5)):
            try:
                if (address := agent.opened()) is not None:
                    agent.meet(address)
                elif left:
                    agent.act()
                    left -= 1
            except MemtuiError:
                continue  # somebody else changed the file meanwhile, which is what a demonstration is about
    if orders.remove and os.path.basename(orders.remove).startswith(PREFIX):
        shutil.rmtree(orders.remove, ignore_errors=True)


def _parent_lives(seconds: float) -> bool:
    return not select.select([sys.stdin], [], [], seconds)[0]


if __name__ == "__main__":
    import pickle

    work(Orders(*pickle.load(sys.stdin.buffer)), wait=_parent_lives)  # noqa: S301 - it comes from the parent
