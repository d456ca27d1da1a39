"""Gives the samples a past: versions, uses, pins and seen marks of two weeks, and two changes nobody has seen yet.

A tree in which everything happened just now shows nothing of what memtui is for.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from memtui.agents.discovery import discover
from memtui.config.surroundings import Surroundings
from memtui.engine import Engine
from memtui.engine.model import BROUGHT, Actor, Address
from memtui.errors import NotFoundError

HOUR = 3_600_000
DAY = 24 * HOUR


class _Written(NamedTuple):
    """A memory that grew: who wrote it, and how many hours ago, oldest first."""

    root: str
    path: str
    steps: tuple[tuple[int, str], ...]


_GREW = (
    _Written("memtui:project", "decisions.md", ((13 * 24, "tui"), (6 * 24, "agent:claude-code"), (50, "tui"))),
    _Written("memtui:project", "deploy.md", ((12 * 24, "tui"), (75, "agent:claude-code"))),
    _Written("memtui:project", "domain/fares.md", ((11 * 24, "agent:qwen-code"), (30, "tui"))),
    _Written("memtui:workspace", "current-task.md", ((3 * 24, "tui"), (26, "agent:claude-code"), (4, "tui"))),
    _Written("claude-code:project", "feedback_testing.md", ((9 * 24, "agent:claude-code"), (40, "tui"))),
)
_PINNED = (("memtui:global", "preferences.md"), ("claude-code:project", "feedback_testing.md"))
_USED = (
    ("memtui:global", "preferences.md", 14),
    ("memtui:global", "style/python.md", 9),
    ("memtui:project", "architecture.md", 6),
    ("memtui:project", "decisions.md", 5),
    ("claude-code:project", "feedback_testing.md", 7),
    ("claude-code:project", "project_payments.md", 2),
    ("qwen-code:global", "feedback/commits.md", 3),
)
_UNSEEN = (
    ("claude-code:project", "project_payments.md", "\nUpdate: the audit ends on the 30th; Ines will say so here.\n"),
    ("memtui:project", "domain/sailings.md", "- A sailing that leaves early counts as closed when the ramp goes up.\n"),
)
"""What agents wrote since the user last looked."""


def live(around: Surroundings, state_dir: str, *, now: int) -> None:
    """Let the last two weeks happen.

    Args:
        around: where the user of the demonstration stands.
        state_dir: memtui's folder for the ledger there.
        now: milliseconds since the epoch.
    """
    roots = discover(around, all_projects=True)
    clock = _Clock(now)
    with Engine.open(roots, state_dir=state_dir, clock=clock) as engine:
        clock.now = now - 14 * DAY
        brought = [(row.address, row.sha256) for row in engine.rows.list().items if row.sha256 and row.trust == BROUGHT]
        engine.history.review(brought, actor=Actor("tui"))
        for hours, deed in sorted((*_growth(engine), (-40, _pin)), key=lambda entry: entry[0]):
            clock.now = now + hours * HOUR
            deed(engine)
        for root_id, path, times in _USED:
            for number in range(times):
                clock.now = now - number * 17 * HOUR - HOUR
                engine.pins.record_use(_address(engine, root_id, path), actor=Actor("mcp:claude-code"))
        _age(engine, now)
        clock.now = now
        engine.watch.reconcile()
        engine.changes.mark_seen(None)
        for root_id, path, text in _UNSEEN:
            with open(engine.roots.file_path(_address(engine, root_id, path)), "a", encoding="utf-8") as file:
                file.write(text)


class _Clock:
    """A clock that is set by hand. Call it for milliseconds since the epoch."""

    def __init__(self, now: int) -> None:
        self.now = now

    def __call__(self) -> int:
        return self.now


def _address(engine: Engine, root_id: str, path: str) -> Address:
    return Address(engine.roots.find(root_id).id, path)


def _pin(engine: Engine) -> None:
    engine.pins.set([_address(engine, *place) for place in _PINNED], pinned=True, actor=Actor("tui"))


def _growth(engine: Engine) -> Iterator[tuple[int, Callable[[Engine], None]]]:
    """What the writers of the memories that grew did, each with its hour; the last of each is the sample itself."""
    for written in _GREW:
        address = _address(engine, written.root, written.path)
        texts = _younger(engine.read(address).text, len(written.steps))
        os.unlink(engine.roots.file_path(address))
        for (hours, actor), text in zip(written.steps, texts, strict=True):
            yield -hours, partial(_write, address, text, Actor(actor))


def _write(address: Address, text: str, actor: Actor, engine: Engine) -> None:
    try:
        expected = engine.read(address).sha256
    except NotFoundError:
        expected = None
    engine.save(address, text, expected_sha256=expected, actor=actor)


def _younger(text: str, steps: int) -> Sequence[str]:
    """Make the texts a memory had before: each without the last lines of the next."""
    lines = text.splitlines(keepends=True)
    head = next((n + 1 for n, line in enumerate(lines) if n and line == "---\n"), 0) + 1
    body = len(lines) - head
    return ["".join(lines[: head + body * step // steps]) for step in range(1, steps)] + [text]


def _age(engine: Engine, now: int) -> None:
    """Give the files the times at which they were last written."""
    grown = {_address(engine, written.root, written.path): written.steps[-1][0] for written in _GREW}
    for number, row in enumerate(engine.rows.list().items, start=1):
        hours = grown.get(row.address, 40 + number * 37 % 600)
        os.utime(engine.roots.file_path(row.address), ns=((now - hours * HOUR) * 1_000_000,) * 2)
