"""How much a test tries: little with the tests, and all of what a promise states in a campaign of `tests.faults`.

The examples are others in each run, so that many runs see as many as one long one.
"""

import os
import random
from pathlib import Path

ALL = "MEMTUI_ALL_EXAMPLES"
"""The variable that asks for all of them; the campaign `properties` of `tests.faults` sets it."""
LEAST = 10
STATED = "MEMTUI_STATED_SIZE"
"""The variable that asks for the stated sizes: `SEED:FILE`, where the file gets a line for what was tried."""


def examples(many: int) -> int:
    """Give the number of examples for a property that deserves so many."""
    return many if ALL in os.environ else min(many, max(LEAST, many // 8))


_STATED = os.environ.get(STATED, "")
"""Read before a test takes the user's variables away."""


def sized(short: int, stated: int) -> int:
    """Give how many to try: with the tests, or as the promise states it."""
    return stated if _STATED else short


def chosen_seed() -> int:
    """Give the seed of the campaign, else one that nobody chose."""
    return int(_STATED.partition(":")[0]) if _STATED else random.randrange(2**32)


def tried(**counts: int) -> None:
    """Write down for the campaign what was tried; call it once nothing of it failed."""
    if _STATED:
        with Path(_STATED.partition(":")[2]).open("a") as file:
            file.writelines(f"{count} {what.replace('_', ' ')}\n" for what, count in counts.items())
