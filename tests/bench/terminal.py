"""The workbench in a real terminal, as ratios to an empty Textual app of the same widget tree in the same run.

Start, memory, keys in the tree, the filter, the text of a memory, the editor, and what is used while nothing happens.
What a person waits for has its limit in milliseconds, what a slow line must carry in bytes.
"""

import contextlib
import itertools
import os
import sys
from collections.abc import Iterator, Mapping

from tests.bench import starts, world
from tests.bench.case import Case, Plan
from tests.bench.commands import START
from tests.bench.presses import Idle, Pressed, filtering, go_to_top, going_down, still
from tests.bench.screen import COLUMNS, ROWS, Screen
from tests.bench.starts import Program

COUNT, MANY = 3_000, 100_000
HEADS = 3
"""Rows above the first memory: the scope, memtui's own root, the root."""
LARGE, SMALL, COLOURED = 102_400, 4_096, 32_000
"""Bytes of a large memory, of a usual one, and of one that is just highlighted."""
REST = 0.07
"""Seconds the cursor rests before its memory is read; on purpose, so that a held key reads nothing."""
FOCUSED = "\x1b[I"
"""What a terminal says when somebody looks at it; everything is looked at more often then."""
OPENED = 0.2
"""Seconds without a byte after which a memory is open."""
IDLE_CPU, POLLING_CPU = 1.4, 1.4
WIDE = (200, 60)
DOWN, PAGE = (10.0, 2_048), (16.0, 10_240)
"""What an answer may take in milliseconds, and its bytes."""
DEAF = """
import memtui.engine.watch.hints as hints
class Refused(hints.Source):
    def wait(self, timeout):
        return hints.Batch(broken=OSError(38, "no events here"))
hints.Watchfiles = Refused
"""
"""Lets the workbench find no source of events, as on a network file system, so that it polls."""


def cases(plan: Plan) -> Iterator[Case]:
    """Everything, from the start of the process to an idle hour."""
    yield from starts.cases(plan)
    for count in plan.sizes((COUNT,), (COUNT, 5_000, 10_000)):
        env = new_home(plan)
        ours = starts.workbench(world.make_new(plan.folder), env, count)
        starts.recorded(ours)
        if count <= 5_000:
            yield from keys(plan, ours, count)
        if count != 5_000:
            yield from idling(plan, ours, count)
    yield from growth(plan, new_home(plan))
    yield from texts(plan, new_home(plan))


def new_home(plan: Plan) -> Mapping[str, str]:
    """An environment in which nobody left a memory open; the byte code is kept."""
    code = os.path.join(plan.folder, "bytecode")
    return world.environment(world.make_new(plan.folder), PYTHONPYCACHEPREFIX=code)


@contextlib.contextmanager
def running(program: Program, size: tuple[int, int] = (COLUMNS, ROWS)) -> Iterator[Screen]:
    """A program with everything recorded and its screen still."""
    with Screen(program.command, program.env, size=size) as screen:
        screen.wait_for(*program.full)
        screen.settle(0.7)
        yield screen


def in_memory(env: Mapping[str, str], count: int) -> Program:
    """The main screen on rows that no disk holds."""
    return Program([sys.executable, "-m", "tests.bench.many_rows", str(count)], env, (b"memory-000013", b"help"))


def keys(plan: Plan, ours: Program, count: int) -> Iterator[Case]:
    """Keys in the tree of real memories, at two sizes of the screen."""
    yield from keys_at(plan, ours, f"{count:,} rows", (COLUMNS, ROWS))
    if not plan.short and count == COUNT:
        yield from keys_at(plan, ours._replace(full=starts.KEYS), f"{count:,} rows, {WIDE[0]}x{WIDE[1]}", WIDE)


def keys_at(plan: Plan, ours: Program, size: str, shape: tuple[int, int]) -> Iterator[Case]:
    """The cursor, a page, a letter of the filter, and no key at all."""
    presses = plan.pick(10, 25 if shape[1] == ROWS else 15)  # three tries must not come to the end of the list
    with running(ours, shape) as screen, running(starts.empty_program(ours.env), shape) as empty:
        for key, below, (milliseconds, most) in (("down", HEADS, DOWN), ("pagedown", 0, PAGE)):
            pressed = Pressed(
                screen, [key] * presses, empty, before=going_down(screen, below=below, pages=pages(key, presses))
            )
            # A page of a larger screen has more rows to send; a step of the cursor has not.
            most_here = most * shape[1] / ROWS if key == "pagedown" else most
            yield from figures(key, size, pressed, milliseconds, most_here)
        letters = ["m", "e", "m", "o", *"00", *["backspace"] * 6]
        yield Case("filter, letter", size, filtering(screen, letters), 25.0, "ms")
        yield Case("idle, bytes sent", size, still(screen, plan.pick(2, 10)), 0, "B")


def pages(key: str, presses: int) -> int:
    """How many pages so many presses go over."""
    return presses + 1 if key == "pagedown" else 1


def figures(what: str, size: str, pressed: Pressed, milliseconds: float | None, most: float | None) -> Iterator[Case]:
    """One measurement as three lines."""
    yield Case(f"{what}, to last byte", size, pressed.times, milliseconds, "ms")
    yield Case(f"{what}, against", size, pressed.ratio, None)
    if most is not None:
        yield Case(f"{what}, bytes", size, pressed.sizes, most, "B")


def growth(plan: Plan, env: Mapping[str, str]) -> Iterator[Case]:
    """The same keys in a tree of 100,000 rows against one of 3,000, and in smaller ones."""
    presses = plan.pick(8, 25)
    with running(in_memory(env, COUNT)) as few:
        for count in plan.sizes((MANY,), (100, 1_000, 10_000, MANY)):
            size = f"{count:,} rows"
            with running(in_memory(env, count)) as many:
                for key, below, (milliseconds, most) in (("down", HEADS, DOWN), ("pagedown", 0, PAGE)):
                    if key == "pagedown" and count < COUNT:
                        continue
                    pressed = Pressed(
                        many,
                        [key] * presses,
                        few,
                        name=f"{COUNT:,} rows",
                        before=going_down(many, few, below=below, pages=pages(key, presses)),
                    )
                    yield Case(f"{key}, to last byte", size, pressed.times, milliseconds, "ms")
                    yield Case(f"{key}, against", size, pressed.ratio, 1.2)
                    yield Case(f"{key}, bytes", size, pressed.sizes, most, "B")


def texts(plan: Plan, env: Mapping[str, str]) -> Iterator[Case]:
    """Looking at memories, opening large ones and typing into them."""
    folder = world.make_new(plan.folder)
    notes = world.make(folder, "notes")
    for number in range(60):
        size = LARGE if number < 2 else COLOURED if number == 2 else SMALL
        with open(os.path.join(notes, f"memory-{number:05d}.md"), "w", encoding="utf-8") as file:
            file.write(world.text(size, number))
    command = [sys.executable, "-c", START, f"--root=notes={notes}", "--only-root"]
    ours = Program(command, env, (b"memory-00020", b"help"))
    starts.recorded(ours)
    looked = ["down"] * plan.pick(8, 16)
    with running(ours) as screen:
        at_memory(screen, 3)
        with running(starts.empty_program(env, os.path.join(notes, "memory-00020.md"))) as bare:
            # Each try goes on where the last one ended: what was looked at once is kept.
            looks = Pressed(
                screen, looked, bare, theirs=["l"] * len(looked), name="bare TextArea", gap=OPENED, less=REST,
            )  # fmt: skip
            yield Case("look at a memory", "4 KB", looks.ratio, 1.5)
        with running(starts.empty_program(env, os.path.join(notes, "memory-00000.md"))) as bare:
            yield from large_texts(plan, screen, bare)


def at_memory(screen: Screen, number: int) -> None:
    """Put the cursor on a memory by its number, from anywhere in the tree."""
    go_to_top(screen, below=HEADS + number)


def large_texts(plan: Plan, screen: Screen, bare: Screen) -> Iterator[Case]:
    """Open and type, in ours and in a bare text area."""
    opened = ["enter"] * plan.pick(4, 10)
    bare.press("esc")
    bare.settle()
    turns = itertools.cycle(("down", "up"))

    def leave() -> None:
        """Go on to the other large memory; one that is still open would open at once."""
        for key in ("esc", next(turns)):
            screen.press(key)
            screen.settle(0.2)
        bare.press("esc")
        bare.settle(0.2)

    at_memory(screen, 0)
    first = Pressed(screen, ["enter"], bare, theirs=["o"], name="bare TextArea", gap=OPENED, after=leave)
    yield Case("open a memory, the first", "100 KB", first.ratio, None)
    opens = Pressed(
        screen, opened, bare, theirs=["o"] * len(opened), name="bare TextArea", gap=OPENED, after=leave
    )  # fmt: skip
    yield Case("open a memory", "100 KB", opens.ratio, 1.5)
    for number, size in ((0, "100 KB"), (2, "32 KB, highlighted"))[: plan.pick(1, 2)]:
        for one in (screen, bare):
            one.press("esc")
            one.settle(0.2)
        at_memory(screen, number)
        for one, key in ((screen, "enter"), (bare, "o")):
            one.press(key)
            one.settle(0.4)
        name = f"bare TextArea{', 100 KB' if number else ''}"
        typed = Pressed(screen, ["x"] * plan.pick(10, 40), bare, name=name)
        yield from figures("type a letter", size, typed, None if number else 35.0, None)
    yield Case(
        "idle in the editor, bytes sent", "100 KB" if plan.short else "32 KB", still(screen, plan.pick(2, 10)), 0, "B"
    )


def idling(plan: Plan, ours: Program, count: int) -> Iterator[Case]:
    """What is used while nothing happens: with events, and where there are none."""
    *python, program, root, only = ours.command
    deaf = ours._replace(command=[*python, DEAF + program, root, only])
    # A look at every file comes round several times a minute: in a few seconds there is one of them or none.
    seconds, size = plan.pick(15, 20), f"{count:,} memories"
    ours, deaf = (one._replace(full=starts.KEYS) for one in (ours, deaf))  # they come back where somebody was
    with running(ours) as screen, running(deaf) as polling, running(starts.empty_program(ours.env)) as empty:
        for one in (screen, polling, empty):
            one.press(FOCUSED)
        idle = Idle((screen, polling, empty), seconds)
        yield Case("idle, processor", size, idle.processor(screen), IDLE_CPU, "%")
        yield Case("idle, processor, polling", size, idle.processor(polling), POLLING_CPU, "%")
        yield Case("idle, processor, empty app", size, idle.processor(empty), None, "%")
