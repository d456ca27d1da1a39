"""How work grows with its size: measured in the time of this thread, so that other programs do not count."""

import time
from collections.abc import Callable


def growth(job: Callable[[int], object], few: int, many: int) -> float:
    """How many times as long the larger size takes: the best of some turns each, or what is plainly linear."""
    times: dict[int, list[float]] = {few: [], many: []}
    ratio = 0.0
    for _ in range(3):
        for size, taken in times.items():
            start = time.thread_time()
            job(size)
            taken.append(time.thread_time() - start)
        ratio = min(times[many]) / max(min(times[few]), 1e-6)
        if ratio < 1.5 * many / few:
            break
    return ratio
