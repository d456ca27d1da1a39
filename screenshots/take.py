"""Take the pictures: run the real program on a stage, press keys, draw what is on the screen.

    python3 -m screenshots.take [NAME ...]

Without names all are taken, which takes some minutes. Whoever takes them again gets the same ones: samples, clock and
sizes are fixed, and so is what agents do. The one of the browser needs Chromium.
"""

import fcntl
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from screenshots.shots import SHOTS, WEB, Shot
from screenshots.stage import Stage
from screenshots.svg import picture
from screenshots.visit import Visit
from tests.terminal import Terminal

HERE = Path(__file__).resolve().parent
PLACE = "/tmp/harbour"
"""Where the stage is built: always the same, because names that are made from a path show in some pictures."""


@contextmanager
def kept_free(place: str) -> Iterator[None]:
    """Wait until no other run uses a place, and take away what an interrupted one left there, and nothing else."""
    with open(f"{place}.lock", "a+") as held:
        fcntl.flock(held, fcntl.LOCK_EX)  # given back by the system, however a run ends
        held.seek(0)
        if held.read() and os.path.lexists(place):
            shutil.rmtree(place)
        held.truncate(0)
        if not os.path.lexists(place):
            held.write("a stage is put up\n")
            held.flush()
        yield
        held.truncate(0)


def take(shot: Shot, size: tuple[int, int], place: str | None = PLACE) -> str:
    """Run the program once and return its picture as SVG.

    Args:
        shot: which screen.
        size: columns and rows.
        place: the folder of the stage, which must not exist; None: anywhere.
    """
    with Stage(place, empty=shot.empty, newcomer=shot.newcomer) as stage:
        if shot.config:
            stage.configure(shot.config)
        if shot.waits:
            stage.disagrees()
        environment = {**stage.environment, **({"NO_COLOR": "1"} if shot.no_color else {})}
        command = [*stage.command, "--calm", *shot.options]
        columns, rows = size
        with Terminal(command, columns=columns, rows=rows, env=environment, cwd=stage.world.project) as terminal:
            shot.act(Visit(terminal, stage))
            return picture(terminal.screen, shot.title)


def main(names: Sequence[str]) -> int:
    """Take the pictures named, or all of them."""
    known = [*SHOTS, WEB]
    unknown = [name for name in names if name not in known]
    if unknown:
        print(f"no such picture: {', '.join(unknown)}; there are {', '.join(known)}", file=sys.stderr)
        return 2
    with kept_free(PLACE):
        for name in names or known:
            if name == WEB:
                from screenshots.page import take_page

                take_page(HERE / f"{WEB}.png", PLACE)
                print(f"screenshots/{WEB}.png")
                continue
            for columns, rows in SHOTS[name].sizes:
                target = HERE / f"{name}-{columns}x{rows}.svg"
                target.write_text(take(SHOTS[name], (columns, rows)), "utf-8")
                print(target.relative_to(HERE.parent), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
