"""Take the pictures: run the real `memtui demo` in a pseudo-terminal, press keys, draw what is on the screen.

    python3 -m screenshots.take [NAME ...]

Every picture is taken in an empty home and at a fixed size. What the simulated agent did meanwhile differs each time.
"""

import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from screenshots.svg import picture
from tests.terminal import Terminal

HERE = Path(__file__).resolve().parent


class Shot(NamedTuple):
    """One picture."""

    title: str
    """What it shows, in words, for those who cannot see it."""
    columns: int
    rows: int
    act: Callable[[Terminal], object]
    """What a user does until the screen is as wanted; waits for what it expects to see."""


def workbench(terminal: Terminal) -> None:
    """Wait until the simulated agent has been heard of, then go to a memory of the user's own."""
    terminal.wait_for("Activity", seconds=30)
    terminal.wait_for("agent edit", seconds=60)
    for _ in range(60):
        terminal.press("j")
        terminal.settle(0.15, seconds=60)
        if "preferences.md" in terminal.text.partition("\n")[2].partition("\n")[0]:
            break
    terminal.wait_for(lambda shown: "preferences.md" in shown.text.splitlines()[1])


SHOTS = {
    "workbench": Shot("The memtui workbench: a tree of memories by scope, and one memory", 120, 36, workbench),
}


def take(shot: Shot) -> str:
    """Run the demo once and return its picture as SVG."""
    with tempfile.TemporaryDirectory() as folder:
        kept = {name: os.environ[name] for name in ("PATH", "VIRTUAL_ENV") if name in os.environ}
        environment = {**kept, "HOME": folder, "LANG": "C.UTF-8", "TZ": "UTC", "PYTHONPATH": str(HERE.parent)}
        command = [sys.executable, "-m", "memtui", "demo"]
        with Terminal(command, columns=shot.columns, rows=shot.rows, env=environment, cwd=folder) as terminal:
            shot.act(terminal)
            return picture(terminal.screen, shot.title)


def main(names: list[str]) -> int:
    """Take the pictures named, or all of them."""
    unknown = set(names) - SHOTS.keys()
    if unknown:
        print(f"no such picture: {', '.join(sorted(unknown))}; there are {', '.join(SHOTS)}", file=sys.stderr)
        return 2
    for name in names or SHOTS:
        target = HERE / f"{name}.svg"
        target.write_text(take(SHOTS[name]), "utf-8")
        print(target.relative_to(HERE.parent))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
