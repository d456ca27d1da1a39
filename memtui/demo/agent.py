"""A simulated agent: a process of its own that writes plain files, as real agents do, and knows nothing of memtui.

`python -m memtui.demo.agent DIR…` works in the folders given until its standard input ends, which is when its parent
is gone, however that came about. It creates, edits (in place, and by a new file renamed over the old one) and deletes.
At the end it removes the throw-away folder, because a parent that was killed cannot.
"""

import os
import random
import select
import shutil
import sys
from collections.abc import Callable, Sequence
from typing import NamedTuple

TOPICS = (
    ("standby-texts", "Text messages to standby passengers are sent ten minutes before boarding"),
    ("lane-three", "Lane 3 of the Halcyon is two metres shorter than the plan says"),
    ("august-load", "Load test for the August bank holiday: 312 bookings a second, one deadlock"),
    ("refund-wording", "Marit wants refunds called repayments in every text passengers read"),
    ("importer-noon", "The timetable importer is late when the harbour office closes at noon"),
    ("bike-rack", "Bicycles on crowded sailings: the rack takes 40, the rest go on the car deck"),
    ("canary-sailings", "A canary deploy has to outlive two closed sailings before it goes on"),
    ("resident-fares", "Resident fares are checked against the island register once a day"),
)
"""Name and description of the memories it writes."""

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
"""How the name of a throw-away folder begins; nothing else is ever removed."""
PACE = 3.0
"""Seconds between two actions, on average."""
MOST_FACTS = 8
"""Lines it keeps at the end of a memory; older ones go."""


class Agent:
    """One agent at work in some folders."""

    def __init__(self, folders: Sequence[str], rng: random.Random) -> None:
        """Choose where to work."""
        self._folders = folders
        self._rng = rng

    def act(self) -> str:
        """Do one thing; returns what, as `created PATH`."""
        folder = self._rng.choice(list(self._folders))
        own = [os.path.join(folder, name + ".md") for name, _ in TOPICS]
        mine = [path for path in own if os.path.exists(path)]
        others = [path for path in _memories(folder) if path not in own]
        moves: list[Callable[[], str]] = [lambda: self._edit(self._rng.choice(others or mine))] * bool(others or mine)
        moves += [lambda: self._edit(self._rng.choice(mine))] * (2 * bool(mine))
        moves += [lambda: self._create(folder)] * (3 if len(mine) < 3 else 1) * (len(mine) < len(TOPICS))
        moves += [lambda: self._delete(self._rng.choice(mine))] * (len(mine) > 2)
        return self._rng.choice(moves)()

    def _create(self, folder: str) -> str:
        free = [topic for topic in TOPICS if not os.path.exists(os.path.join(folder, topic[0] + ".md"))]
        name, description = self._rng.choice(free)
        path = os.path.join(folder, name + ".md")
        with open(path, "x", encoding="utf-8") as file:
            file.write(f"---\ndescription: {description}\n---\n{description}.\n\n- {self._rng.choice(FACTS)}\n")
        _reindex(folder, name, description)
        return f"created {path}"

    def _edit(self, path: str) -> str:
        with open(path, encoding="utf-8", newline="") as file:
            lines = file.read().split("\n")
        facts = [line for line in lines if line[2:] in FACTS]
        for old in facts[: len(facts) - MOST_FACTS + 1]:
            lines.remove(old)
        while lines and not lines[-1]:
            lines.pop()
        text = "\n".join([*lines, f"- {self._rng.choice(FACTS)}", ""])
        if self._rng.random() < 0.5:
            with open(path, "w", encoding="utf-8", newline="") as file:
                file.write(text)
            return f"edited {path}"
        spare = f"{path}.{os.getpid()}.tmp"
        with open(spare, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        os.replace(spare, path)
        return f"replaced {path}"

    def _delete(self, path: str) -> str:
        os.unlink(path)
        _reindex(os.path.dirname(path), os.path.basename(path).removesuffix(".md"), None)
        return f"deleted {path}"


class Orders(NamedTuple):
    """What the command line asks for."""

    folders: tuple[str, ...]
    pace: float = PACE
    seed: int | None = None
    remove: str | None = None
    """The throw-away folder, to be removed at the end."""


def _memories(folder: str) -> list[str]:
    """List what it may edit; the index follows from the rest."""
    names = sorted(name for name in os.listdir(folder) if name.endswith(".md") and name != INDEX)
    return [os.path.join(folder, name) for name in names]


def _reindex(folder: str, name: str, description: str | None) -> None:
    """Put a memory on the folder's index, in place, or take it off; a folder without an index stays without."""
    path = os.path.join(folder, INDEX)
    if not os.path.exists(path):
        return
    with open(path, encoding="utf-8", newline="") as file:
        lines = [line for line in file.read().splitlines() if f"({name}.md)" not in line]
    if description is not None:
        lines.append(f"- [{name.replace('-', ' ').capitalize()}]({name}.md) — {description}")
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write("".join(f"{line}\n" for line in lines))


def work(orders: Orders, *, wait: Callable[[float], bool]) -> None:
    """Act until there is a reason to stop, then tidy up.

    Args:
        orders: where, and how fast.
        wait: waits so many seconds; False when the agent is to end.
    """
    rng = random.Random(orders.seed)
    agent = Agent(orders.folders, rng)
    while wait(orders.pace * rng.uniform(0.5, 1.5)):
        try:
            agent.act()
        except (OSError, UnicodeDecodeError):
            continue  # somebody else changed the file meanwhile, which is what a demonstration is about
    if orders.remove and os.path.basename(orders.remove).startswith(PREFIX):
        shutil.rmtree(orders.remove, ignore_errors=True)


def _parent_lives(seconds: float) -> bool:
    """Wait; False as soon as standard input ends."""
    return not select.select([sys.stdin], [], [], seconds)[0]


def read_orders(words: Sequence[str]) -> Orders:
    """Read `[--pace=SECONDS] [--seed=NUMBER] [--remove=DIR] DIR…`."""
    orders = Orders(tuple(word for word in words if not word.startswith("--")))
    for word in words:
        name, _, value = word.partition("=")
        if name == "--pace":
            orders = orders._replace(pace=float(value))
        elif name == "--seed":
            orders = orders._replace(seed=int(value))
        elif name == "--remove":
            orders = orders._replace(remove=value)
    return orders


if __name__ == "__main__":
    work(read_orders(sys.argv[1:]), wait=_parent_lives)
