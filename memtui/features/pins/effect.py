"""Effect of a pin: whether its agent is given the memory, how, and what prevents it; consistent with view 4."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from memtui.agents.agent import WHOLE
from memtui.agents.table import agents
from memtui.engine.model import BROUGHT, Address
from memtui.features.health.apply import Chosen, apply, prepare
from memtui.features.health.model import BELOW
from memtui.features.health.survey import IndexChecker
from memtui.features.hot_set.model import REASONS
from memtui.features.hot_set.shares import BY_HOOK, IMPOSSIBLE, Door, Given, door_of, load
from memtui.given.reach import is_person, withheld

if TYPE_CHECKING:
    from memtui.agents.agent import KnownAgent
    from memtui.config.settings import Settings
    from memtui.config.surroundings import Surroundings
    from memtui.engine import Engine
    from memtui.engine.model import Actor, Root
    from memtui.features.health.model import IndexFinding


class PinEffect(NamedTuple):
    """The effect of one pin."""

    address: Address
    given: bool
    """Whether an agent begins its next session with the text."""
    words: str
    """How it is given, or why not, as a clause; may be empty."""
    client: str = ""
    """Client in which memtui has to be installed for it; empty when that is not missing."""
    below: IndexFinding | None = None
    """The finding about its index line, if that is not loaded; only set for a single pin."""


class _Reader(NamedTuple):
    """An agent and its share."""

    agent: KnownAgent
    door: Door
    given: Given
    whole: frozenset[str]
    """Real paths of the files it loads whole by itself."""


def agent_of_root(root: Root) -> KnownAgent | None:
    """Return the agent of a folder; None for memtui's own and for none."""
    return next((one for one in agents() if root.agent in (one.id, *one.also)), None)


def pin_effects(
    engine: Engine,
    settings: Settings,
    around: Surroundings | None,
    roots: Iterable[Root],
    addresses: Iterable[Address],
) -> tuple[PinEffect, ...]:
    """Determine the effect of pins on existing memories; nothing is recorded.

    `roots` are those in reach, without other projects'; `around` is None where it is unknown where the user is.
    """
    here = {root.id: root for root in roots}
    readers: dict[str, _Reader | None] = {}
    found = []
    for address in addresses:
        root = engine.roots.find(address.root)
        if root.agent not in readers:
            readers[root.agent] = _reader(engine, settings, around, tuple(here.values()), root)
        found.append(_effect(engine, root, readers[root.agent], address, here=root.id in here))
    if len(found) == 1 and (chosen := find_lift(engine, found[0].address)) is not None:
        found[0] = found[0]._replace(below=chosen.findings[0])
    return tuple(found)


def _reader(
    engine: Engine, settings: Settings, around: Surroundings | None, roots: tuple[Root, ...], root: Root
) -> _Reader | None:
    agent = agent_of_root(root)
    if agent is None or around is None:
        return None
    door = door_of(agent, settings, around)
    given = load(engine, settings, door, around, roots)
    whole = frozenset(os.path.realpath(one.path) for one in given.itself if one.mark == WHOLE)
    return _Reader(agent, door, given, whole)


def _effect(engine: Engine, root: Root, reader: _Reader | None, address: Address, *, here: bool) -> PinEffect:
    row = engine.rows.get(address)
    if is_person(engine) and withheld(engine)(address, row.sha256):
        return PinEffect(address, given=False, words=REASONS["withheld"])
    if root.agent == "memtui":
        waits = "nobody reviewed it yet; g a reviews it" if row.trust == BROUGHT else ""
        return PinEffect(address, not waits, waits)
    if reader is None:
        return PinEffect(address, given=False, words="it lies in no folder of an agent that memtui knows")
    title, way = reader.agent.title, reader.door.way
    if os.path.realpath(engine.roots.file_path(address)) in reader.whole:
        return PinEffect(address, given=True, words=f"{title} loads it by itself")
    if way == IMPOSSIBLE:
        return PinEffect(address, given=False, words=f"memtui cannot be installed in {title}")
    if way != BY_HOOK:
        return PinEffect(address, given=False, words=f"no hook in {title}", client=reader.door.client)
    if not here:
        return PinEffect(address, given=True, words=f"{title} is given it in that project")
    context = reader.given.context
    if context is not None and any(item.row.address == address for item in context.items):
        return PinEffect(address, given=True, words=f"{title} is given it from its next session on")
    why = next((REASONS[one.reason] for one in reader.given.left_out if one.row.address == address), reader.given.off)
    return PinEffect(address, given=False, words=why.removesuffix("."))


def find_lift(engine: Engine, address: Address) -> Chosen | None:
    """Find the index line of a memory that is not loaded, with the fix that moves it up."""
    root = engine.roots.find(address.root)
    for report in IndexChecker().look(engine, [root]):
        for finding in report.of(BELOW):
            if finding.memory == address:
                return Chosen(report, (finding,))
    return None


def lift(engine: Engine, address: Address, *, actor: Actor) -> str:
    """Move the index line of a memory above the cut, as one undo step; return the outcome in sentences."""
    chosen = find_lift(engine, address)
    if chosen is None:
        return f"No line for {address.name} lies below the cut of an index."
    finding = chosen.findings[0]
    if finding.fix is None:
        return f"Its line in {finding.address.path} stays where it is: {finding.why}"
    apply(engine, prepare(engine, [chosen]), actor=actor, label=f"lift the line of {address}")
    return f"The line of {address.name} is above the cut of {finding.address.path} now. u takes it back."
