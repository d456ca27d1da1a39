"""Jobs of one lane keep their order, lanes do not hold each other up, and the end waits only for what was named."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from memtui.workbench.bridge import Lanes


def hold(gate: threading.Event) -> Callable[[], None]:
    """A job that waits for the gate."""

    def job() -> None:
        gate.wait(100)

    return job


def test_closing_waits_for_the_named_lane_and_for_no_other() -> None:
    lanes, stuck, ran = Lanes(), threading.Event(), []
    lanes.submit("read", hold(stuck))
    lanes.submit("write", lambda: ran.append("saved"))
    start = time.monotonic()
    lanes.close(wait_for=("write",))
    assert ran == ["saved"]
    assert time.monotonic() - start < 50
    lanes.submit("write", lambda: ran.append("late"))
    assert ran == ["saved"]
    stuck.set()


def test_threads_never_keep_the_process_alive() -> None:
    lanes = Lanes()
    lanes.submit("read", lambda: None)
    assert all(thread.daemon for thread in threading.enumerate() if thread.name.startswith("memtui-"))
    lanes.close()


def test_jobs_of_a_lane_run_in_order_and_a_stuck_lane_holds_up_no_other() -> None:
    lanes, stuck, done, ran = Lanes(), threading.Event(), threading.Event(), list[int]()
    lanes.submit("read", hold(stuck))
    for number in range(100):
        lanes.submit("write", lambda number=number: ran.append(number))  # type: ignore[misc]
    lanes.submit("write", done.set)
    assert done.wait(100)
    assert ran == list(range(100))
    stuck.set()
