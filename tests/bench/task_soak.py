"""Ten thousand requests and five hundred dreams in one daemon while an agent writes: what it holds does not grow.

The first fifth counts as warming up: until then each thing has been done once, and what is kept of it is there.
"""

import os
from collections.abc import Iterator

from tests.bench.case import Case, Figure, Plan
from tests.daemon.running import Machine, Running, machine

TASKS, BATCH = 10_000, 20
"""How many requests there are, and after how many of them one dream is asked for and the agent writes."""
WAITING = 10
"""So many are asked for before one is waited for: a lane has room for 16."""
FACTS = 100
"""So many different ones are asked for; later they are known, as most of what an agent asks for is."""
FILES = 50
GROWTH = 1.05


def cases(plan: Plan) -> Iterator[Case]:
    """One soak, two figures."""
    tasks = plan.pick(600, TASKS)
    with machine() as made, made.serve() as running:
        size = f"{tasks:,} tasks, {tasks // BATCH} dreams"
        before, after = soak(made, running, tasks)
        yield Case("memory of the daemon, grown", size, lambda: grown(before[0], after[0], "KiB"), GROWTH)
        yield Case("open files of the daemon, grown", size, lambda: grown(before[1], after[1], "files"), GROWTH)


def soak(made: Machine, running: Running, tasks: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """Ask for so many; returns memory in KiB and open files after the first fifth and at the end."""
    notes = made.project / ".memtui" / "memory"
    notes.mkdir(parents=True)
    before = (0, 0)
    for number in range(0, tasks, BATCH):
        if number == tasks // 5 // BATCH * BATCH:
            before = held(running)
        (notes / f"agent-{number // BATCH % FILES}.md").write_text(f"Berth {number} was free before {number + 7}.\n")
        for one in range(number, number + BATCH):
            answer = running.remember(f"Berth {one % FACTS} is for ferry {one % FACTS}.")
            assert answer.status_code == 202, answer.text
            if one % WAITING == WAITING - 1:
                assert running.done(answer.json()["taskId"])["status"] == "completed"
        assert running.http.post("/workspace/memory/dream", json={}).status_code == 202
    return before, held(running)


def held(running: Running) -> tuple[int, int]:
    """The memory in KiB that the daemon has, and how many files it has open, when nothing waits any more."""
    assert running.done(running.remember("Berth 0 is for ferry 0.").json()["taskId"])["status"] == "completed"
    process = f"/proc/{running.process.pid}"
    with open(f"{process}/status", encoding="ascii") as file:
        memory = next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))
    return memory, len(os.listdir(f"{process}/fd"))


def grown(before: int, after: int, unit: str) -> Figure:
    """How many times as much it is."""
    value = after / before
    return Figure(value, value, value, f"{after:,} {unit}", f"before {before:,} {unit}")
