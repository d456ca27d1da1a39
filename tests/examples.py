"""How many examples a property is tried on: an eighth of them with the tests, all of them in the campaign.

The examples are others in each run, so that many runs see as many as one long one.
"""

import os

ALL = "MEMTUI_ALL_EXAMPLES"
"""The variable that asks for all of them; the campaign `properties` of `tests.faults` sets it."""
LEAST = 10


def examples(many: int) -> int:
    """Give the number of examples for a property that deserves so many."""
    return many if ALL in os.environ else min(many, max(LEAST, many // 8))
